//! Folders and images that cannot be used.

use inducing_data::{
    DatasetPart, ImageOptions, ImageProblem, ImageSchema, ImageSize, ImageSource, Notice, Problem,
    read_images,
};

use super::make::{assert_file, encoded, grey, problem, read, read_with, unlabelled};
use crate::folder::Folder;

#[test]
fn empty_and_flat_folders_are_told_apart() {
    let options = ImageOptions::default();
    let folder = Folder::new();
    assert_eq!(problem(&folder.images(""), &options).0, ImageProblem::EmptyFolder);
    folder.put("a.txt", b"x");
    assert_eq!(problem(&folder.images(""), &options).0, ImageProblem::NoImages);
    folder.image("a.png", &grey(2, 2, 1));
    folder.image("b.png", &grey(2, 2, 1));
    let (what, error) = problem(&folder.images(""), &options);
    assert_eq!(what, ImageProblem::NoClassFolders { images: 2 });
    assert!(error.hint().is_some_and(|hint| hint.contains("one sub-folder for each class")));
    let folder = Folder::new();
    folder.put("a/x.txt", b"x");
    folder.put("b/y.txt", b"x");
    assert_eq!(problem(&folder.images(""), &options).0, ImageProblem::NoImages);
}

#[test]
fn parts_without_classes_are_not_taken_for_classes() {
    let folder = Folder::new();
    folder.image("train/a.png", &grey(2, 2, 1));
    folder.image("test/b.png", &grey(2, 2, 2));
    let (what, error) = problem(&folder.images(""), &ImageOptions::default());
    assert_eq!(what, ImageProblem::NoClassFolders { images: 1 });
    assert_file(&error, "train");
    let all = ImageOptions { part: DatasetPart::All, ..unlabelled() };
    let (set, _) = read_with(&folder.images(""), &all);
    assert_eq!((set.len(), set.labels), (2, None));
}

#[test]
fn more_pixels_than_memory_are_told() {
    let folder = Folder::new();
    folder.image("a/1.png", &grey(2, 2, 1));
    folder.image("b/1.png", &grey(2, 2, 1));
    let huge = ImageSize { height: 1 << 28, width: 1 << 28 };
    let options = ImageOptions { size: Some(huge), ..ImageOptions::default() };
    let (what, error) = problem(&folder.images(""), &options);
    assert!(matches!(what, ImageProblem::TooManyPixels { images: 2, .. }), "{what:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains("--image-size")));
}

#[test]
fn a_path_that_is_no_folder_of_images_is_told() {
    let folder = Folder::new();
    folder.put("notes.txt", b"hello");
    let (what, _) = problem(&folder.images("notes.txt"), &ImageOptions::default());
    assert_eq!(what, ImageProblem::NotImages);
    let error = read_images(&folder.images("nowhere"), &unlabelled(), None).expect_err("no such path");
    assert_eq!(*error.problem, Problem::NoSuchFile);
    folder.image("a.png", &grey(2, 2, 1));
    let (what, _) = problem(&folder.images("a.png"), &ImageOptions::default());
    assert_eq!(what, ImageProblem::NoClasses);
    let files = ImageSource::Files(vec![folder.path("a.png"), folder.path("b.png")]);
    let error = read_images(&files, &unlabelled(), None).expect_err("b is not there");
    assert_file(&error, "b.png");
}

#[test]
fn one_class_only_cannot_be_trained_on() {
    let folder = Folder::new();
    folder.image("cats/a.png", &grey(2, 2, 1));
    folder.image("cats/b.png", &grey(2, 2, 2));
    let (set, _) = read(&folder.images(""));
    let error = ImageSchema::fit(&set, &[0, 1]).expect_err("nothing to tell apart");
    assert_eq!(*error.problem, Problem::OneClass { label: "cats".into(), rows: 2 });
    assert!(error.hint().is_some());
}

fn with_two_bad_ones() -> Folder {
    let folder = Folder::new();
    for name in ["a/1.png", "a/4.png", "b/1.png"] {
        folder.image(name, &grey(8, 8, 5));
    }
    folder.put("a/2.png", b"no image at all");
    let whole = encoded(&super::make::colour(64, 64, [9, 9, 9]), "x.png");
    folder.put("a/3.png", &whole[..whole.len() - 20]);
    folder
}

#[test]
fn an_unreadable_image_is_named_and_the_first_one_always() {
    let folder = with_two_bad_ones();
    for _ in 0..10 {
        let (what, error) = problem(&folder.images(""), &ImageOptions::default());
        assert_file(&error, "a/2.png");
        assert!(matches!(what, ImageProblem::Unreadable { .. }));
        assert!(error.hint().is_some_and(|hint| hint.contains("--skip-unreadable")));
    }
}

#[test]
fn unreadable_images_can_be_skipped_and_are_counted() {
    let folder = with_two_bad_ones();
    folder.put("c/1.png", b"the only one of its class");
    let options = ImageOptions { skip_unreadable: true, ..ImageOptions::default() };
    let (set, notices) = read_with(&folder.images(""), &options);
    assert_eq!((set.len(), set.labels, set.classes.join(" ")), (3, Some(vec![0, 0, 1]), "a b".into()));
    let names: Vec<&str> = set.names.iter().map(|name| &name[name.len() - 7..]).collect();
    assert_eq!(names, ["a/1.png", "a/4.png", "b/1.png"]);
    let skipped = notices.iter().find_map(|notice| match notice {
        Notice::UnreadableSkipped { count, first, .. } => Some((*count, first.clone())),
        _ => None,
    });
    assert!(matches!(skipped, Some((3, first)) if first.ends_with("a/2.png")), "{notices:?}");
    let folder = Folder::new();
    folder.put("a/1.png", b"x");
    folder.put("b/1.png", b"x");
    let (what, _) = problem(&folder.images(""), &options);
    assert!(matches!(what, ImageProblem::NoneReadable { count: 2, .. }), "{what:?}");
}

#[test]
fn cut_images_of_every_format_are_unreadable() {
    let mut image = image::RgbImage::new(64, 64);
    image
        .enumerate_pixels_mut()
        .for_each(|(x, y, pixel)| pixel.0 = [(x * 4) as u8, (y * 4) as u8, (x * y) as u8]);
    let image = image::DynamicImage::from(image);
    for name in ["a.png", "a.jpg", "a.bmp", "a.webp", "a.tiff", "a.gif"] {
        let folder = Folder::new();
        let whole = encoded(&image, name);
        folder.put(name, &whole);
        assert!(read_images(&folder.images(name), &unlabelled(), None).is_ok(), "{name}");
        folder.put(name, &whole[..whole.len() * 3 / 4]);
        let (what, error) = problem(&folder.images(name), &unlabelled());
        assert!(matches!(what, ImageProblem::Unreadable { .. }), "{name}: {what:?}");
        assert_file(&error, name);
    }
}

#[test]
fn bytes_of_any_kind_do_not_make_the_decoders_panic() {
    let folder = Folder::new();
    for name in ["a.png", "a.jpg", "a.bmp", "a.webp", "a.tiff", "a.gif"] {
        let whole = encoded(&super::make::colour(9, 7, [1, 2, 3]), name);
        for at in (0..whole.len()).step_by(1 + whole.len() / 60) {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xff;
            folder.put(name, &damaged);
            let _ = read_images(&folder.images(name), &unlabelled(), None);
        }
    }
}
