//! Public sets by name, and how a name on the command line is understood.

use inducing_data::{DatasetPart, ImageOptions, ImageProblem, ImageSource, NamedSet, Problem, data_dir};

use super::make::{assert_file, cifar, idx_images, idx_labels, problem, read, read_with, unlabelled};
use crate::folder::{Folder, gzip};

fn data() -> Folder {
    let folder = Folder::new();
    folder.put("mnist/train-images-idx3-ubyte.gz", gzip(&idx_images(5, 2, 2)));
    folder.put("mnist/train-labels-idx1-ubyte.gz", gzip(&idx_labels(&[6, 0, 5, 9, 6])));
    folder.put("FashionMNIST/raw/t10k-images-idx3-ubyte", idx_images(2, 2, 2));
    folder.put("FashionMNIST/raw/t10k-labels-idx1-ubyte", idx_labels(&[1, 8]));
    folder.put("cifar10/data_batch_1.bin", cifar(&[2, 3]));
    folder
}

fn named(folder: &Folder, name: &str) -> ImageSource {
    ImageSource::named(name, Some(&folder.path("x").with_file_name(""))).expect("a known name")
}

#[test]
fn named_sets_are_found_below_the_data_directory() {
    let folder = data();
    let (set, _) = read(&named(&folder, "mnist"));
    assert_eq!((set.len(), set.classes.len(), set.origin.as_str()), (5, 10, "mnist"));
    assert_eq!(set.labels, Some(vec![6, 0, 5, 9, 6]));
    let (set, _) = read(&named(&folder, "toy-mnist"));
    assert_eq!((set.classes.join(" "), set.labels.clone()), ("5 6".into(), Some(vec![1, 0, 1])));
    assert_eq!((set.image(0)[0], set.image(1)[0], set.image(2)[0]), (0, 2, 4));
    assert_eq!(read(&named(&folder, "cifar10")).0.len(), 2);
    let test = ImageOptions { part: DatasetPart::Test, ..ImageOptions::default() };
    assert_eq!(read_with(&named(&folder, "fashion-mnist"), &test).0.len(), 2);
}

#[test]
fn a_set_without_training_part_cannot_be_trained_on() {
    let folder = data();
    let (what, error) = problem(&named(&folder, "fashion-mnist"), &ImageOptions::default());
    assert!(matches!(what, ImageProblem::NoSuchPart { part: DatasetPart::Train, .. }));
    assert!(error.to_string().contains("FashionMNIST/raw: there is no training part"), "{error}");
}

#[test]
fn a_set_that_is_not_there_is_told_with_where_it_was_looked_for() {
    let folder = Folder::new();
    let (what, error) = problem(&named(&folder, "mnist"), &ImageOptions::default());
    assert!(
        matches!(&what, ImageProblem::SetNotFound { looked } if looked.len() == 2 && looked[0].ends_with("mnist"))
    );
    assert!(error.hint().is_some_and(|hint| hint.contains("IGN_DATA") && hint.contains("--data-dir")));
    folder.put("file", b"x");
    let source = ImageSource::Named { set: NamedSet::Mnist, data_dir: folder.path("file") };
    let (what, error) = problem(&source, &ImageOptions::default());
    assert_eq!(what, ImageProblem::NotADirectory);
    assert_file(&error, "file");
}

#[test]
fn labels_beyond_ten_classes_are_not_mnist() {
    let folder = Folder::new();
    folder.put("mnist/train-images-idx3-ubyte", idx_images(2, 2, 2));
    folder.put("mnist/train-labels-idx1-ubyte", idx_labels(&[3, 12]));
    let (what, error) = problem(&named(&folder, "mnist"), &ImageOptions::default());
    assert_eq!((what, error.row), (ImageProblem::LabelOutOfRange { label: 12, classes: 10 }, Some(2)));
}

#[test]
fn names_are_paths_first_then_sets_and_tables_are_left_alone() {
    let folder = data();
    folder.put("t.csv", b"a,b\n1,2\n");
    folder.image("photos/a/1.png", &super::make::grey(2, 2, 1));
    let here = folder.path("x").with_file_name("");
    let recognise = |names: &[&str], dir| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        ImageSource::recognise(&names, dir)
    };
    let path = |name: &str| folder.path(name).display().to_string();
    assert_eq!(recognise(&[&path("t.csv")], None).expect("no set"), None);
    assert_eq!(recognise(&["no-such.csv"], Some(&here)).expect("no set"), None);
    assert_eq!(recognise(&["-"], Some(&here)).expect("no set"), None);
    assert_eq!(recognise(&["churn"], None).expect("no set"), None);
    for name in ["photos", "photos/a/1.png", "cifar10/data_batch_1.bin", "mnist/train-images-idx3-ubyte.gz"] {
        let found = recognise(&[&path(name)], None).expect("a path");
        assert_eq!(found, Some(ImageSource::Path(folder.path(name))), "{name}");
    }
    let images = [path("photos/a/1.png"), "other.jpg".into()];
    let found = recognise(&[&images[0], &images[1]], None).expect("images");
    assert_eq!(found, Some(ImageSource::Files(images.map(Into::into).into())));
    let found = recognise(&["mnist"], Some(&here)).expect("a set");
    assert_eq!(found, Some(ImageSource::Named { set: NamedSet::Mnist, data_dir: here.clone() }));
    let found = recognise(&["photos"], Some(&here)).expect("a folder below the data directory");
    assert_eq!(found, Some(ImageSource::Path(folder.path("photos"))));
    let error = recognise(&["mnist"], None).expect_err("where?");
    assert_eq!(*error.problem, Problem::Image(ImageProblem::NoDataDir));
    let error = recognise(&["mnst"], Some(&here)).expect_err("a typo");
    assert!(error.to_string().contains(&here.display().to_string()), "{error}");
    assert_eq!(error.hint().as_deref(), Some("did you mean `mnist`?"));
    assert_eq!(data_dir(Some(&here)), Some(here.clone()));
    let (set, _) = read_with(&ImageSource::Path(folder.path("photos")), &unlabelled());
    assert_eq!(set.len(), 1);
}
