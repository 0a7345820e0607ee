//! Folders with one sub-folder for each class.

use std::sync::atomic::{AtomicUsize, Ordering};

use inducing_data::{DatasetPart, ImageOptions, ImageSource, Notice, read_images};

use super::make::{colour, grey, read, read_with, unlabelled};
use crate::folder::Folder;

#[test]
fn sub_folders_are_classes_in_natural_order_and_files_come_sorted() {
    let folder = Folder::new();
    for (name, value) in
        [("10/a.png", 1), ("9/z.bmp", 2), ("9/b.png", 3), ("9/deep/c.gif", 4), ("10/A.PNG", 5)]
    {
        folder.image(name, &grey(4, 3, value));
    }
    folder.put("9/.hidden.png", b"no image");
    folder.put(".cache/x.png", b"no image");
    let calls = AtomicUsize::new(0);
    let count = |_: usize, all: usize| {
        assert_eq!(all, 5);
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let (set, notices) =
        read_images(&folder.images(""), &ImageOptions::default(), Some(&count)).expect("readable");
    assert_eq!(calls.into_inner(), 5);
    assert_eq!(set.classes, ["9", "10"]);
    let names: Vec<&str> = set.names.iter().map(|name| name.rsplit_once('/').expect("a path").1).collect();
    assert_eq!(names, ["A.PNG", "a.png", "b.png", "z.bmp", "c.gif"]);
    assert_eq!(set.labels, Some(vec![1, 1, 0, 0, 0]));
    assert_eq!((set.len(), set.height, set.width), (5, 3, 4));
    let firsts: Vec<u8> = (0..5).map(|i| set.image(i)[0]).collect();
    assert_eq!(firsts, [5, 1, 3, 2, 4]);
    assert_eq!(notices, [Notice::MixedColours { colour: 2, grey: 3 }], "gif and bmp are always in colour");
    assert!(set.names.iter().all(|name| std::path::Path::new(name).is_file()));
}

#[test]
fn train_and_test_folders_are_parts() {
    let folder = Folder::new();
    for (name, value) in
        [("Train/cat/1.png", 1), ("Train/dog/1.png", 2), ("test/cat/1.png", 3), ("test/dog/1.png", 4)]
    {
        folder.image(name, &grey(2, 2, value));
    }
    let values = |part| {
        let options = ImageOptions { part, ..ImageOptions::default() };
        let (set, notices) = read_with(&folder.images(""), &options);
        assert!(notices.is_empty(), "{notices:?}");
        assert_eq!(set.classes, ["cat", "dog"]);
        (0..set.len()).map(|i| set.image(i)[0]).collect::<Vec<u8>>()
    };
    assert_eq!(values(DatasetPart::Train), [1, 2]);
    assert_eq!(values(DatasetPart::Test), [3, 4]);
    assert_eq!(values(DatasetPart::All), [1, 2, 3, 4]);
    folder.image("val/cat/1.png", &grey(2, 2, 9));
    let (_, notices) = read(&folder.images(""));
    assert!(matches!(&notices[..], [Notice::FolderNotUsed { folder }] if folder.ends_with("val")));
}

#[test]
fn trains_and_tests_can_be_classes_and_validation_can_be_the_test() {
    let folder = Folder::new();
    folder.image("train/1.png", &grey(2, 2, 1));
    folder.image("plane/1.png", &grey(2, 2, 2));
    assert_eq!(read(&folder.images("")).0.classes, ["plane", "train"]);
    let folder = Folder::new();
    folder.image("train/a/1.png", &grey(2, 2, 1));
    folder.image("val/a/1.png", &grey(2, 2, 2));
    let (set, _) =
        read_with(&folder.images(""), &ImageOptions { part: DatasetPart::Test, ..ImageOptions::default() });
    assert_eq!(set.image(0)[0], 2);
}

#[test]
fn every_usual_format_is_read_whatever_the_ending_says() {
    let folder = Folder::new();
    let red = colour(6, 5, [200, 30, 40]);
    for name in ["c/a.png", "c/b.jpg", "c/d.bmp", "c/e.webp", "c/f.tiff", "c/g.gif"] {
        folder.image(name, &red);
    }
    folder.put("c/h.jpeg", super::make::encoded(&red, "x.png"));
    let (set, notices) = read(&folder.images(""));
    assert_eq!((set.len(), set.channels), (7, 3));
    assert!(notices.is_empty(), "{notices:?}");
    for index in 0..7 {
        for (value, expected) in set.image(index)[..3].iter().zip([200, 30, 40]) {
            // JPEG rounds in its own colour space.
            assert!(value.abs_diff(expected) <= 3, "{}: {value}", set.names[index]);
        }
    }
}

#[test]
fn single_files_and_flat_folders_have_no_classes() {
    let folder = Folder::new();
    folder.image("b.png", &grey(2, 3, 7));
    folder.image("a.png", &grey(2, 3, 8));
    let files = ImageSource::Files(vec![folder.path("b.png"), folder.path("a.png")]);
    let (set, _) = read_with(&files, &unlabelled());
    assert_eq!((set.image(0)[0], set.image(1)[0], set.labels), (7, 8, None), "in the order given");
    let (set, _) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((set.image(0)[0], set.image(1)[0]), (8, 7), "sorted");
    let (set, _) = read_with(&folder.images("b.png"), &unlabelled());
    assert_eq!(set.names, [folder.path("b.png").display().to_string()]);
}

#[test]
fn what_is_no_image_or_empty_is_passed_over_with_a_notice() {
    let folder = Folder::new();
    folder.image("a/1.png", &grey(2, 2, 1));
    folder.image("b/1.png", &grey(2, 2, 1));
    folder.put("a/notes.txt", b"x");
    folder.put("readme.md", b"x");
    std::fs::create_dir(folder.path("c")).expect("writable");
    let (set, notices) = read(&folder.images(""));
    assert_eq!(set.classes, ["a", "b"]);
    assert!(
        matches!(&notices[..], [Notice::EmptyClassFolder { folder }, Notice::OtherFilesIgnored { count: 2, .. }]
            if folder.ends_with("c")),
        "{notices:?}"
    );
    assert!(notices.iter().all(|notice| notice.to_string().lines().count() == 1));
}
