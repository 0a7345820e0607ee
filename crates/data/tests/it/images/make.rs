//! Small files of images.

use std::io::{Cursor, Write};
use std::path::Path;

use image::{DynamicImage, GrayImage, ImageFormat, Luma, Rgb, RgbImage};
use inducing_data::{
    DataError, ImageOptions, ImageProblem, ImageSet, ImageSource, Notice, Problem, read_images,
};
use lzma_rust2::{XzOptions, XzWriter};

use crate::folder::Folder;

/// An idx file of images: image i has all pixels i.
pub(crate) fn idx_images(count: usize, height: usize, width: usize) -> Vec<u8> {
    let mut file = vec![0, 0, 8, 3];
    [count, height, width].iter().for_each(|size| file.extend((*size as u32).to_be_bytes()));
    file.extend((0..count).flat_map(|i| vec![i as u8; height * width]));
    file
}

pub(crate) fn idx_labels(labels: &[u8]) -> Vec<u8> {
    let mut file = vec![0, 0, 8, 1];
    file.extend((labels.len() as u32).to_be_bytes());
    file.extend(labels);
    file
}

/// A CIFAR-10 file: red is the label, green 100, blue the position in the image (modulo 256).
pub(crate) fn cifar(labels: &[u8]) -> Vec<u8> {
    let record = |label: &u8| {
        let planes = [vec![*label; 1024], vec![100; 1024], (0..1024).map(|i| i as u8).collect()];
        [vec![*label], planes.concat()].concat()
    };
    labels.iter().flat_map(record).collect()
}

/// Compressed with the delta filter, as the public files may be.
pub(crate) fn xz(content: &[u8]) -> Vec<u8> {
    let mut options = XzOptions::with_preset(1);
    options.prepend_pre_filter(lzma_rust2::FilterType::Delta, 1);
    let mut writer = XzWriter::new(Vec::new(), options).expect("memory is writable");
    writer.write_all(content).expect("memory is writable");
    writer.finish().expect("memory is writable")
}

pub(crate) fn grey(width: u32, height: u32, value: u8) -> DynamicImage {
    GrayImage::from_pixel(width, height, Luma([value])).into()
}

pub(crate) fn colour(width: u32, height: u32, rgb: [u8; 3]) -> DynamicImage {
    RgbImage::from_pixel(width, height, Rgb(rgb)).into()
}

/// The image in the format that the name tells.
pub(crate) fn encoded(image: &DynamicImage, name: &str) -> Vec<u8> {
    let format = ImageFormat::from_path(name).expect("a known ending");
    let mut bytes = Cursor::new(Vec::new());
    // The encoder of GIF takes no grey.
    let image = if format == ImageFormat::Gif { &image.to_rgb8().into() } else { image };
    image.write_to(&mut bytes, format).expect("encodable");
    bytes.into_inner()
}

impl Folder {
    /// Writes a file below folders that are made if need be.
    pub(crate) fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("below the folder")).expect("writable");
        std::fs::write(path, content).expect("writable");
    }

    pub(crate) fn image(&self, name: &str, image: &DynamicImage) {
        self.put(name, encoded(image, name));
    }

    pub(crate) fn images(&self, name: &str) -> ImageSource {
        ImageSource::Path(if name.is_empty() { self.path("x").with_file_name("") } else { self.path(name) })
    }
}

pub(crate) fn read(source: &ImageSource) -> (ImageSet, Vec<Notice>) {
    read_images(source, &ImageOptions::default(), None).expect("readable")
}

pub(crate) fn read_with(source: &ImageSource, options: &ImageOptions) -> (ImageSet, Vec<Notice>) {
    read_images(source, options, None).expect("readable")
}

/// The problem, which has a remedy, and the name of the file at fault.
#[track_caller]
pub(crate) fn problem(source: &ImageSource, options: &ImageOptions) -> (ImageProblem, DataError) {
    let error = read_images(source, options, None).expect_err("unreadable");
    assert!(error.to_string().contains("\nhint: "), "{error}");
    match &*error.problem {
        Problem::Image(problem) => (problem.clone(), error),
        other => panic!("{other:?}"),
    }
}

/// The end of a path, to compare files by.
#[track_caller]
pub(crate) fn assert_file(error: &DataError, name: &str) {
    assert!(Path::new(&error.file).ends_with(name), "{error}");
}

/// Options that take images without classes.
pub(crate) fn unlabelled() -> ImageOptions {
    ImageOptions { need_labels: false, ..ImageOptions::default() }
}
