//! One size and one number of channels for all.

use inducing_data::{ImageOptions, ImageSize, Notice};

use super::make::{colour, grey, idx_images, idx_labels, read, read_with, unlabelled};
use crate::folder::Folder;

#[test]
fn mixed_sizes_become_the_most_common_one_with_a_notice() {
    let folder = Folder::new();
    for (name, width, height) in [("a/1.png", 6, 4), ("a/2.png", 9, 9), ("b/1.png", 6, 4)] {
        folder.image(name, &grey(width, height, 3));
    }
    let (set, notices) = read(&folder.images(""));
    assert_eq!((set.height, set.width), (4, 6));
    let size = ImageSize { height: 4, width: 6 };
    assert_eq!(notices, [Notice::ImagesResized { sizes: 2, common: size, size }]);
    assert!(notices[0].to_string().contains("`--image-size HxW`"));
    let options = ImageOptions { size: Some(ImageSize { height: 2, width: 2 }), ..ImageOptions::default() };
    let (set, notices) = read_with(&folder.images(""), &options);
    assert_eq!((set.height, set.width, notices.len()), (2, 2, 0), "a size that was asked for is no news");
}

#[test]
fn large_images_of_mixed_sizes_are_reduced_in_proportion() {
    let folder = Folder::new();
    for (name, width, height) in [("1.png", 200, 100), ("2.png", 90, 90), ("3.png", 200, 100)] {
        folder.image(name, &grey(width, height, 3));
    }
    let (set, notices) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((set.height, set.width), (32, 64));
    assert_eq!(notices.len(), 1);
}

#[test]
fn colour_wins_over_grey_with_a_notice() {
    let folder = Folder::new();
    folder.image("a.png", &grey(2, 2, 60));
    folder.image("b.png", &colour(2, 2, [1, 2, 3]));
    let (set, notices) = read_with(&folder.images(""), &unlabelled());
    assert_eq!((set.channels, &set.image(0)[..3], &set.image(1)[..3]), (3, &[60; 3][..], &[1, 2, 3][..]));
    assert_eq!(notices, [Notice::MixedColours { colour: 1, grey: 1 }]);
    let options = ImageOptions { channels: Some(1), ..unlabelled() };
    let (set, notices) = read_with(&folder.images(""), &options);
    assert_eq!((set.channels, set.image(0), notices.len()), (1, &[60; 4][..], 0));
}

#[test]
fn a_size_that_is_asked_for_holds_for_containers_too() {
    let folder = Folder::new();
    folder.put("train-images-idx3-ubyte", idx_images(3, 4, 4));
    folder.put("train-labels-idx1-ubyte", idx_labels(&[0, 1, 1]));
    let size = Some(ImageSize { height: 2, width: 6 });
    let options = ImageOptions { size, channels: Some(3), ..ImageOptions::default() };
    let (set, _) = read_with(&folder.images(""), &options);
    assert_eq!((set.height, set.width, set.channels, set.len()), (2, 6, 3, 3));
    assert_eq!(set.image(2), [2; 36]);
}

#[test]
fn reducing_averages() {
    let folder = Folder::new();
    let mut image = image::GrayImage::new(8, 8);
    image.enumerate_pixels_mut().for_each(|(x, y, pixel)| pixel.0 = [if (x + y) % 2 == 0 { 0 } else { 200 }]);
    folder.image("a.png", &image.into());
    let options = ImageOptions { size: Some(ImageSize { height: 2, width: 2 }), ..unlabelled() };
    let (set, _) = read_with(&folder.images(""), &options);
    // A triangle over a chessboard is its mean, but for the border.
    assert!(set.pixels.iter().all(|value| value.abs_diff(100) < 10), "{:?}", set.pixels);
}
