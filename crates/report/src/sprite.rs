//! Sprite sheets: many thumbnails in few images, which compress better than one by one.
//!
//! Positions are shares of a sheet, so that neither the page nor its script needs to know pixels.

use crate::Image;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, RgbImage, imageops};

/// Longest side of a thumbnail.
pub(crate) const THUMBNAIL: usize = 64;
/// Thumbnails in a row of a sheet at most, so that no side has more than 4,096 pixels.
const MAX_COLUMNS: usize = 60;
/// Images up to this side are shown with sharp pixels.
pub(crate) const SMALL: usize = 40;
/// Bytes of all sheets of a page, before base64 adds a third.
const BYTE_BUDGET: usize = 1_250_000;
/// Longest side and JPEG quality, tried in turn until the sheets fit.
const ATTEMPTS: [(usize, u8); 4] = [(THUMBNAIL, 85), (THUMBNAIL, 65), (48, 60), (32, 50)];

/// How thumbnails are arranged in sheets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    pub(crate) columns: usize,
    pub(crate) images: usize,
    /// Width by height of every thumbnail.
    pub(crate) aspect: f64,
    /// Longest side of the largest image, in pixels.
    pub(crate) longest: usize,
}

impl Grid {
    pub(crate) fn new(images: &[&Image]) -> Self {
        let columns = (images.len() as f64).sqrt().ceil().clamp(1.0, MAX_COLUMNS as f64) as usize;
        let (width, height) = size(images);
        Self {
            columns,
            images: images.len(),
            aspect: width as f64 / height as f64,
            longest: width.max(height),
        }
    }

    fn per_sheet(&self) -> usize {
        self.columns * self.columns
    }

    fn rows(&self, sheet: usize) -> usize {
        (self.images - sheet * self.per_sheet()).min(self.per_sheet()).div_ceil(self.columns)
    }

    /// Sheet, and CSS `background-size` and `background-position` of a thumbnail.
    pub(crate) fn place(&self, image: usize) -> (usize, String, String) {
        let (sheet, place) = (image / self.per_sheet(), image % self.per_sheet());
        let (column, row) = (place % self.columns, place / self.columns);
        let rows = self.rows(sheet);
        let share = |k: usize, of: usize| if of < 2 { 0.0 } else { 100.0 * k as f64 / (of - 1) as f64 };
        (
            sheet,
            format!("{}% {}%", self.columns * 100, rows * 100),
            format!("{:.4}% {:.4}%", share(column, self.columns), share(row, rows)),
        )
    }
}

/// The smallest size that all images fit into.
fn size(images: &[&Image]) -> (usize, usize) {
    images.iter().fold((1, 1), |(w, h), p| (w.max(p.width), h.max(p.height)))
}

/// Data URLs of all sheets of the grid.
pub(crate) fn sheets(grid: &Grid, images: &[&Image]) -> Vec<String> {
    let mut urls = Vec::new();
    for (longest, quality) in ATTEMPTS {
        let chunks = images.chunks(grid.per_sheet());
        let encoded: Vec<_> =
            chunks.map(|chunk| sheet(chunk, grid.columns, size(images), longest, quality)).collect();
        let bytes: usize = encoded.iter().map(|(_, bytes)| bytes.len()).sum();
        urls = encoded.iter().map(|(kind, bytes)| data_url(kind, bytes)).collect();
        if bytes <= BYTE_BUDGET {
            break;
        }
    }
    urls
}

/// All images in one, `columns` in a row: its data URL, and its width by its height.
pub(crate) fn single(images: &[&Image], columns: usize) -> (String, f64) {
    let (width, height) = size(images);
    let (kind, bytes) = sheet(images, columns, (width, height), THUMBNAIL, 90);
    let rows = images.len().div_ceil(columns).max(1);
    (data_url(kind, &bytes), (columns * width) as f64 / (rows * height) as f64)
}

/// One image as PNG in full size.
pub(crate) fn png_file(image: &Image) -> Vec<u8> {
    png(&pixels(image), image.channels != 3)
}

fn data_url(kind: &str, bytes: &[u8]) -> String {
    format!("data:image/{kind};base64,{}", base64(bytes))
}

/// RFC 4648 with padding.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |k: usize| u32::from(chunk.get(k).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for k in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * k)) as usize & 63];
            out.push(if k <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

fn sheet(
    images: &[&Image],
    columns: usize,
    (width, height): (usize, usize),
    longest: usize,
    quality: u8,
) -> (&'static str, Vec<u8>) {
    let shrink = (longest as f64 / width.max(height) as f64).min(1.0);
    let side = |length: usize| ((length as f64 * shrink).round() as u32).max(1);
    let (w, h) = (side(width), side(height));
    let grey = images.iter().all(|p| p.channels != 3);
    // JPEG's blocks have eight pixels: a thumbnail that fills whole ones does not bleed into its neighbour.
    let blocks = (w.next_multiple_of(8), h.next_multiple_of(8));
    let jpeg = jpeg(&lay_out(images, columns, (width, height), blocks), grey, quality);
    // Photographs: PNG would be larger, and is the slowest.
    if !grey && w.max(h) > SMALL as u32 && !jpeg.is_empty() {
        return ("jpeg", jpeg);
    }
    let png = png(&lay_out(images, columns, (width, height), (w, h)), grey);
    // Small and grey, such as digits: sharp edges are worth the bytes.
    let sharp = grey && quality >= 85 && w.max(h) <= SMALL as u32 && png.len() <= BYTE_BUDGET;
    if jpeg.is_empty() || sharp || jpeg.len() * 5 > png.len() * 3 { ("png", png) } else { ("jpeg", jpeg) }
}

fn lay_out(images: &[&Image], columns: usize, of: (usize, usize), (w, h): (u32, u32)) -> RgbImage {
    let rows = images.len().div_ceil(columns).max(1) as u32;
    let mut sheet = RgbImage::from_pixel(columns as u32 * w, rows * h, image::Rgb([128; 3]));
    for (k, image) in images.iter().enumerate() {
        let mut thumbnail = pixels(image);
        let side = |length: usize, all: usize, to: u32| {
            ((length as f64 / all as f64 * f64::from(to)).round() as u32).clamp(1, to)
        };
        let (tw, th) = (side(image.width, of.0, w), side(image.height, of.1, h));
        if thumbnail.dimensions() != (tw, th) {
            thumbnail = if tw < thumbnail.width() {
                imageops::thumbnail(&thumbnail, tw, th)
            } else {
                imageops::resize(&thumbnail, tw, th, imageops::FilterType::Triangle)
            };
        }
        let (x, y) = ((k % columns) as u32 * w + (w - tw) / 2, (k / columns) as u32 * h + (h - th) / 2);
        imageops::replace(&mut sheet, &thumbnail, i64::from(x), i64::from(y));
    }
    sheet
}

/// Missing pixels are black.
fn pixels(image: &Image) -> RgbImage {
    let (w, h) = (image.width.max(1) as u32, image.height.max(1) as u32);
    RgbImage::from_fn(w, h, |x, y| {
        let at = (y as usize * image.width + x as usize) * image.channels;
        let channel =
            |c: usize| image.pixels.get(at + c.min(image.channels.max(1) - 1)).copied().unwrap_or(0);
        image::Rgb([channel(0), channel(1), channel(2)])
    })
}

fn grey_of(sheet: &RgbImage) -> Vec<u8> {
    sheet.as_raw().iter().step_by(3).copied().collect()
}

/// Empty if the encoder refuses, which it does only for sizes that no sheet has.
fn png(sheet: &RgbImage, grey: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Best, FilterType::Adaptive);
    let (w, h) = sheet.dimensions();
    let done = if grey {
        encoder.write_image(&grey_of(sheet), w, h, ExtendedColorType::L8)
    } else {
        encoder.write_image(sheet.as_raw(), w, h, ExtendedColorType::Rgb8)
    };
    if done.is_ok() { bytes } else { Vec::new() }
}

fn jpeg(sheet: &RgbImage, grey: bool, quality: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
    let (w, h) = sheet.dimensions();
    let done = if grey {
        encoder.encode(&grey_of(sheet), w, h, ExtendedColorType::L8)
    } else {
        encoder.encode(sheet.as_raw(), w, h, ExtendedColorType::Rgb8)
    };
    if done.is_ok() { bytes } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::base64::Engine;
    use ::base64::engine::general_purpose::STANDARD;

    #[test]
    fn base64_agrees_with_the_reference() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in [0, 1, 2, 3, 4, 255, 256] {
            assert_eq!(base64(&bytes[..length]), STANDARD.encode(&bytes[..length]));
        }
    }

    fn image(value: u8) -> Image {
        Image { width: 4, height: 4, channels: 1, pixels: vec![value; 16] }
    }

    #[test]
    fn a_sheet_holds_each_image_in_its_cell() {
        let all: Vec<Image> = (0..5).map(|k| image(k * 50)).collect();
        let all: Vec<&Image> = all.iter().collect();
        let grid = Grid::new(&all);
        assert_eq!(grid.columns, 3);
        let url = sheets(&grid, &all).remove(0);
        let bytes = STANDARD.decode(url.trim_start_matches("data:image/png;base64,")).expect("base64");
        let sheet = image::load_from_memory(&bytes).expect("an image").to_luma8();
        assert_eq!(sheet.dimensions(), (12, 8));
        assert_eq!(sheet.get_pixel(5, 5).0, [200]);
        assert_eq!(grid.place(4), (0, "300% 200%".into(), "50.0000% 100.0000%".into()));
    }

    #[test]
    fn an_image_without_pixels_is_black() {
        let broken = Image { width: 0, height: 3, channels: 3, pixels: vec![] };
        let urls = sheets(&Grid::new(&[&broken]), &[&broken]);
        assert!(urls[0].starts_with("data:image/"));
    }
}
