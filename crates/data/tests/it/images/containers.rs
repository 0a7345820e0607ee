//! idx and CIFAR-10 files.

use std::sync::atomic::{AtomicUsize, Ordering};

use inducing_data::{DatasetPart, ImageOptions, ImageSource, read_images};

use super::make::{cifar, idx_images, idx_labels, read, read_with, unlabelled, xz};
use crate::folder::{Folder, gzip};

fn part(part: DatasetPart) -> ImageOptions {
    ImageOptions { part, ..ImageOptions::default() }
}

fn mnist_like() -> Folder {
    let folder = Folder::new();
    folder.put("train-images-idx3-ubyte.gz", gzip(&idx_images(4, 2, 3)));
    folder.put("train-labels-idx1-ubyte.gz", gzip(&idx_labels(&[7, 3, 7, 10])));
    folder.put("t10k-images-idx3-ubyte", idx_images(2, 2, 3));
    folder.put("t10k-labels-idx1-ubyte.xz", xz(&idx_labels(&[3, 4])));
    folder
}

#[test]
fn a_folder_of_idx_files_yields_the_part_asked_for() {
    let folder = mnist_like();
    let (set, notices) = read(&folder.images(""));
    assert_eq!((set.len(), set.height, set.width, set.channels), (4, 2, 3, 1));
    assert_eq!(set.image(2), [2; 6]);
    assert_eq!(set.classes, ["3", "7", "10"], "the labels that occur, as numbers");
    assert_eq!(set.labels, Some(vec![1, 0, 1, 2]));
    assert!(notices.is_empty() && set.names.is_empty());
    let (set, _) = read_with(&folder.images(""), &part(DatasetPart::Test));
    assert_eq!((set.len(), set.classes.join(" ")), (2, "3 4".into()));
    let (set, _) = read_with(&folder.images(""), &part(DatasetPart::All));
    assert_eq!(set.len(), 6);
    assert_eq!(set.classes, ["3", "7", "10", "4"]);
    assert_eq!(set.labels, Some(vec![1, 0, 1, 2, 0, 3]));
    assert_eq!(set.counts(), [2, 2, 1, 1]);
}

#[test]
fn an_idx_file_finds_its_labels_or_is_given_them() {
    let folder = mnist_like();
    let (by_folder, _) = read(&folder.images(""));
    let (by_file, _) = read(&folder.images("train-images-idx3-ubyte.gz"));
    assert_eq!((&by_file.labels, &by_file.pixels), (&by_folder.labels, &by_folder.pixels));
    for order in [[0, 1], [1, 0]] {
        let files = ["train-labels-idx1-ubyte.gz", "train-images-idx3-ubyte.gz"];
        let (pair, _) = read(&ImageSource::Files(order.map(|i| folder.path(files[i])).into()));
        assert_eq!(pair.labels, by_folder.labels);
    }
    folder.put("digits", idx_images(3, 2, 2));
    let (set, _) = read_with(&folder.images("digits"), &unlabelled());
    assert_eq!((set.len(), set.labels), (3, None));
}

#[test]
fn cifar_batches_become_rows_of_red_green_blue_in_order() {
    let folder = Folder::new();
    folder.put("data_batch_1.bin", cifar(&[3, 9]));
    folder.put("data_batch_2.bin.gz", gzip(&cifar(&[0])));
    folder.put("data_batch_3.bin.xz", xz(&cifar(&[5, 5, 1])));
    folder.put("test_batch.bin", cifar(&[8]));
    let calls = AtomicUsize::new(0);
    let progress = |done: usize, all: usize| {
        assert!(done <= all && all == 3);
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let (set, notices) =
        read_images(&folder.images(""), &ImageOptions::default(), Some(&progress)).expect("readable");
    assert_eq!(calls.into_inner(), 3);
    assert_eq!((set.len(), set.height, set.width, set.channels), (6, 32, 32, 3));
    assert_eq!(set.labels, Some(vec![3, 9, 0, 5, 5, 1]));
    assert_eq!(
        (set.classes.len(), set.classes[0].as_str(), set.classes[9].as_str()),
        (10, "airplane", "truck")
    );
    assert_eq!(set.image(1)[..6], [9, 100, 0, 9, 100, 1]);
    assert_eq!(set.image(5)[3 * 1000..][..3], [1, 100, 1000u32 as u8]);
    assert!(notices.is_empty());
    let (set, _) = read_with(&folder.images(""), &part(DatasetPart::Test));
    assert_eq!(set.labels, Some(vec![8]));
    let (set, _) = read(&folder.images("data_batch_3.bin.xz"));
    assert_eq!(set.len(), 3);
    let (set, _) = read_with(&folder.images(""), &part(DatasetPart::All));
    assert_eq!(set.len(), 7);
}
