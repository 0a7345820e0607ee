//! Broken idx and CIFAR-10 files.

use inducing_data::{DatasetPart, ImageOptions, ImageProblem, ImageSource, Problem, read_images};

use super::make::{assert_file, cifar, idx_images, idx_labels, problem, unlabelled, xz};
use crate::folder::{Folder, gzip};

fn pair(images: impl AsRef<[u8]>, labels: impl AsRef<[u8]>) -> (Folder, ImageSource) {
    let folder = Folder::new();
    folder.put("train-images-idx3-ubyte", images);
    folder.put("train-labels-idx1-ubyte", labels);
    let source = folder.images("");
    (folder, source)
}

fn fault(images: impl AsRef<[u8]>, labels: impl AsRef<[u8]>) -> (ImageProblem, inducing_data::DataError) {
    let (_folder, source) = pair(images, labels);
    problem(&source, &ImageOptions::default())
}

#[test]
fn a_cut_idx_file_is_told_with_both_lengths() {
    let whole = idx_images(3, 2, 2);
    let (what, error) = fault(&whole[..20], idx_labels(&[0, 1, 0]));
    assert_eq!(what, ImageProblem::Truncated { expected: 28, got: 20 });
    assert_file(&error, "train-images-idx3-ubyte");
    let (what, _) = fault(&whole[..9], idx_labels(&[0, 1, 0]));
    assert_eq!(what, ImageProblem::Truncated { expected: 16, got: 9 });
    let (what, error) = fault(&whole, &idx_labels(&[0, 1, 0])[..10]);
    assert_eq!(what, ImageProblem::Truncated { expected: 11, got: 10 });
    assert_file(&error, "train-labels-idx1-ubyte");
    let (what, _) = fault([&whole[..], b"!"].concat(), idx_labels(&[0, 1, 0]));
    assert_eq!(what, ImageProblem::Overlong { expected: 28 });
}

#[test]
fn a_header_that_promises_the_earth_is_told_without_allocating_it() {
    let mut liar = idx_images(1, 2, 2);
    liar[4..16].fill(0xff);
    let (what, _) = fault(&liar, idx_labels(&[0]));
    assert!(matches!(what, ImageProblem::Truncated { got: 20, .. }), "{what:?}");
}

#[test]
fn wrong_first_bytes_are_told() {
    let mut floats = idx_images(2, 2, 2);
    floats[2] = 0x0d;
    let (what, error) = fault(&floats, idx_labels(&[0, 1]));
    assert_eq!(what, ImageProblem::WrongMagic { expected: "images", got: vec![0, 0, 0x0d, 3] });
    assert!(error.to_string().contains("it begins with 00 00 0d 03"), "{error}");
    let (what, error) = fault(idx_labels(&[0, 1]), idx_labels(&[0, 1]));
    assert!(matches!(what, ImageProblem::WrongMagic { .. }));
    assert!(error.hint().is_some_and(|hint| hint.contains("file of labels")), "{error}");
    let (what, _) = fault(idx_images(2, 2, 2), idx_images(2, 2, 2));
    assert!(matches!(what, ImageProblem::WrongMagic { expected: "labels", .. }));
    let (what, _) = fault(b"abc", idx_labels(&[0, 1]));
    assert_eq!(what, ImageProblem::WrongMagic { expected: "images", got: b"abc".to_vec() });
    let (_folder, source) = pair(b"", idx_labels(&[0]));
    let error = read_images(&source, &ImageOptions::default(), None).expect_err("nothing in it");
    assert_eq!(*error.problem, Problem::Empty);
}

#[test]
fn labels_and_images_of_different_counts_are_told() {
    let (what, error) = fault(idx_images(3, 2, 2), idx_labels(&[0, 1]));
    assert_eq!(what, ImageProblem::CountsDiffer { images: 3, labels: 2 });
    assert_file(&error, "train-labels-idx1-ubyte");
}

#[test]
fn images_without_labels_or_pixels_are_told() {
    let folder = Folder::new();
    folder.put("train-images-idx3-ubyte.gz", gzip(&idx_images(3, 2, 2)));
    let (what, _) = problem(&folder.images(""), &ImageOptions::default());
    assert!(
        matches!(&what, ImageProblem::NoLabelFile { looked } if looked.ends_with("train-labels-idx1-ubyte")),
        "{what:?}"
    );
    let (what, _) = fault(idx_images(3, 0, 2), idx_labels(&[0, 1, 2]));
    assert_eq!(what, ImageProblem::NoPixels { images: 3, height: 0, width: 2 });
    let (what, _) = fault(idx_images(0, 2, 2), idx_labels(&[]));
    assert_eq!(what, ImageProblem::NoPixels { images: 0, height: 2, width: 2 });
    let (what, _) = fault(idx_images(3, 1, 1), idx_labels(&[0, 1, 0]));
    assert_eq!(what, ImageProblem::OnePixel);
}

#[test]
fn a_cut_cifar_file_is_told() {
    let folder = Folder::new();
    let whole = cifar(&[1, 2]);
    folder.put("data_batch_1.bin", cifar(&[3]));
    folder.put("data_batch_2.bin", &whole[..whole.len() - 1]);
    let (what, error) = problem(&folder.images(""), &ImageOptions::default());
    assert_eq!(what, ImageProblem::Truncated { expected: 6146, got: 6145 });
    assert_file(&error, "data_batch_2.bin");
    folder.put("data_batch_2.bin", b"");
    let error = read_images(&folder.images(""), &ImageOptions::default(), None).expect_err("nothing in it");
    assert_eq!(*error.problem, Problem::Empty);
}

#[test]
fn cut_archives_are_told() {
    let folder = Folder::new();
    let whole = xz(&cifar(&[1, 2, 3]));
    for end in [7, 40, whole.len() / 2, whole.len() - 5] {
        folder.put("test_batch.bin.xz", &whole[..end]);
        let options = ImageOptions { part: DatasetPart::Test, ..ImageOptions::default() };
        let (what, error) = problem(&folder.images(""), &options);
        assert!(matches!(what, ImageProblem::BrokenXz { .. }), "{end}: {what:?}");
        assert_file(&error, "test_batch.bin.xz");
    }
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    folder.put("test_batch.bin.xz", &damaged);
    let (what, _) = problem(&folder.images("test_batch.bin.xz"), &ImageOptions::default());
    assert!(matches!(what, ImageProblem::BrokenXz { .. }), "{what:?}");
    let whole = gzip(&idx_images(100, 9, 9));
    folder.put("train-images-idx3-ubyte.gz", &whole[..whole.len() - 9]);
    let error = read_images(&folder.images("train-images-idx3-ubyte.gz"), &unlabelled(), None)
        .expect_err("the end is missing");
    assert!(matches!(*error.problem, Problem::BrokenGzip { truncated: true, .. }), "{error}");
}

#[test]
fn a_label_out_of_range_is_told_with_its_row() {
    let folder = Folder::new();
    folder.put("data_batch_1.bin", cifar(&[3, 10, 4]));
    let (what, error) = problem(&folder.images(""), &ImageOptions::default());
    assert_eq!(what, ImageProblem::LabelOutOfRange { label: 10, classes: 10 });
    assert_eq!(error.row, Some(2));
}

#[test]
fn a_part_that_is_not_there_is_told() {
    let folder = Folder::new();
    folder.put("t10k-images-idx3-ubyte", idx_images(3, 2, 2));
    folder.put("t10k-labels-idx1-ubyte", idx_labels(&[0, 1, 1]));
    for part in [DatasetPart::Train, DatasetPart::All] {
        let options = ImageOptions { part, ..ImageOptions::default() };
        let (what, error) = problem(&folder.images(""), &options);
        assert_eq!(
            what,
            ImageProblem::NoSuchPart { part: DatasetPart::Train, looked: "train-images-idx3-ubyte".into() }
        );
        assert!(error.to_string().contains("there is no training part"), "{error}");
    }
    let folder = Folder::new();
    folder.put("data_batch_1.bin", cifar(&[3]));
    let (what, _) =
        problem(&folder.images(""), &ImageOptions { part: DatasetPart::Test, ..ImageOptions::default() });
    assert!(matches!(what, ImageProblem::NoSuchPart { part: DatasetPart::Test, .. }));
}

#[test]
fn parts_of_different_sizes_are_not_joined() {
    let folder = Folder::new();
    for (part, side) in [("train", 2), ("t10k", 3)] {
        folder.put(&format!("{part}-images-idx3-ubyte"), idx_images(3, side, side));
        folder.put(&format!("{part}-labels-idx1-ubyte"), idx_labels(&[0, 1, 1]));
    }
    let (what, _) =
        problem(&folder.images(""), &ImageOptions { part: DatasetPart::All, ..ImageOptions::default() });
    assert_eq!(what, ImageProblem::SizesDiffer { expected: "2x2".into(), got: "3x3".into() });
}
