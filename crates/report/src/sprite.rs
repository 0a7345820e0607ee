//! Many small pictures in few large ones: a sheet of thumbnails costs one header and compresses as a whole.
//!
//! Places are shares of a sheet, so that neither the page nor its script knows pixels.

use crate::Picture;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, RgbImage, imageops};

/// Longest side of a thumbnail.
pub(crate) const THUMBNAIL: usize = 64;
/// Thumbnails in a row of a sheet at most, so that no side has more than 4,096 pixels.
const MOST_COLUMNS: usize = 60;
/// Longest side of pictures whose pixels are seen one by one.
pub(crate) const SMALL: usize = 40;
/// All sheets of a page together, before base64 adds a third.
const BUDGET: usize = 1_250_000;
/// Longest side and JPEG quality, until the sheets fit.
const ATTEMPTS: [(usize, u8); 4] = [(THUMBNAIL, 85), (THUMBNAIL, 65), (48, 60), (32, 50)];

/// How thumbnails lie in sheets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    pub(crate) columns: usize,
    pub(crate) pictures: usize,
    /// Of every thumbnail: width by height.
    pub(crate) aspect: f64,
    /// Longest side of the largest picture, in pixels.
    pub(crate) longest: usize,
}

impl Grid {
    pub(crate) fn new(pictures: &[&Picture]) -> Self {
        let columns = (pictures.len() as f64).sqrt().ceil().clamp(1.0, MOST_COLUMNS as f64) as usize;
        let (width, height) = size(pictures);
        Self {
            columns,
            pictures: pictures.len(),
            aspect: width as f64 / height as f64,
            longest: width.max(height),
        }
    }

    fn per_sheet(&self) -> usize {
        self.columns * self.columns
    }

    fn rows(&self, sheet: usize) -> usize {
        (self.pictures - sheet * self.per_sheet()).min(self.per_sheet()).div_ceil(self.columns)
    }

    /// Sheet, and CSS `background-size` and `background-position` of a thumbnail.
    pub(crate) fn place(&self, picture: usize) -> (usize, String, String) {
        let (sheet, place) = (picture / self.per_sheet(), picture % self.per_sheet());
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

/// The smallest size that all pictures fit into.
fn size(pictures: &[&Picture]) -> (usize, usize) {
    pictures.iter().fold((1, 1), |(w, h), p| (w.max(p.width), h.max(p.height)))
}

/// Data URLs of all sheets of the grid.
pub(crate) fn sheets(grid: &Grid, pictures: &[&Picture]) -> Vec<String> {
    let mut urls = Vec::new();
    for (longest, quality) in ATTEMPTS {
        let chunks = pictures.chunks(grid.per_sheet());
        let encoded: Vec<_> =
            chunks.map(|chunk| sheet(chunk, grid.columns, size(pictures), longest, quality)).collect();
        let bytes: usize = encoded.iter().map(|(_, bytes)| bytes.len()).sum();
        urls = encoded.iter().map(|(kind, bytes)| data_url(kind, bytes)).collect();
        if bytes <= BUDGET {
            break;
        }
    }
    urls
}

/// All pictures in one, `columns` in a row: its data URL, and its width by its height.
pub(crate) fn single(pictures: &[&Picture], columns: usize) -> (String, f64) {
    let (width, height) = size(pictures);
    let (kind, bytes) = sheet(pictures, columns, (width, height), THUMBNAIL, 90);
    let rows = pictures.len().div_ceil(columns).max(1);
    (data_url(kind, &bytes), (columns * width) as f64 / (rows * height) as f64)
}

/// One picture as PNG, as it is.
pub(crate) fn file(picture: &Picture) -> Vec<u8> {
    png(&pixels(picture), picture.channels != 3)
}

fn data_url(kind: &str, bytes: &[u8]) -> String {
    format!("data:image/{kind};base64,{}", STANDARD.encode(bytes))
}

fn sheet(
    pictures: &[&Picture],
    columns: usize,
    (width, height): (usize, usize),
    longest: usize,
    quality: u8,
) -> (&'static str, Vec<u8>) {
    let shrink = (longest as f64 / width.max(height) as f64).min(1.0);
    let side = |length: usize| ((length as f64 * shrink).round() as u32).max(1);
    let (w, h) = (side(width), side(height));
    let grey = pictures.iter().all(|p| p.channels != 3);
    // JPEG's blocks have eight pixels: a thumbnail that fills whole ones does not bleed into its neighbour.
    let blocks = (w.next_multiple_of(8), h.next_multiple_of(8));
    let jpeg = jpeg(&lay_out(pictures, columns, (width, height), blocks), grey, quality);
    // Photographs: PNG has no chance, and takes the longest.
    if !grey && w.max(h) > SMALL as u32 && !jpeg.is_empty() {
        return ("jpeg", jpeg);
    }
    let png = png(&lay_out(pictures, columns, (width, height), (w, h)), grey);
    // Small and grey, such as digits: sharp edges are worth their bytes.
    let sharp = grey && quality >= 85 && w.max(h) <= SMALL as u32 && png.len() <= BUDGET;
    if jpeg.is_empty() || sharp || jpeg.len() * 5 > png.len() * 3 { ("png", png) } else { ("jpeg", jpeg) }
}

fn lay_out(pictures: &[&Picture], columns: usize, of: (usize, usize), (w, h): (u32, u32)) -> RgbImage {
    let rows = pictures.len().div_ceil(columns).max(1) as u32;
    let mut sheet = RgbImage::from_pixel(columns as u32 * w, rows * h, image::Rgb([128; 3]));
    for (k, picture) in pictures.iter().enumerate() {
        let mut thumbnail = pixels(picture);
        let side = |length: usize, all: usize, to: u32| {
            ((length as f64 / all as f64 * f64::from(to)).round() as u32).clamp(1, to)
        };
        let (tw, th) = (side(picture.width, of.0, w), side(picture.height, of.1, h));
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
fn pixels(picture: &Picture) -> RgbImage {
    let (w, h) = (picture.width.max(1) as u32, picture.height.max(1) as u32);
    RgbImage::from_fn(w, h, |x, y| {
        let at = (y as usize * picture.width + x as usize) * picture.channels;
        let channel =
            |c: usize| picture.pixels.get(at + c.min(picture.channels.max(1) - 1)).copied().unwrap_or(0);
        image::Rgb([channel(0), channel(1), channel(2)])
    })
}

fn grey_of(sheet: &RgbImage) -> Vec<u8> {
    sheet.as_raw().iter().step_by(3).copied().collect()
}

/// Empty where the encoder refuses, which it does for sizes alone that no sheet has.
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

    fn picture(value: u8) -> Picture {
        Picture { width: 4, height: 4, channels: 1, pixels: vec![value; 16] }
    }

    #[test]
    fn a_sheet_holds_each_picture_in_its_place() {
        let all: Vec<Picture> = (0..5).map(|k| picture(k * 50)).collect();
        let all: Vec<&Picture> = all.iter().collect();
        let grid = Grid::new(&all);
        assert_eq!(grid.columns, 3);
        let url = sheets(&grid, &all).remove(0);
        let bytes = STANDARD.decode(url.trim_start_matches("data:image/png;base64,")).expect("base64");
        let sheet = image::load_from_memory(&bytes).expect("a picture").to_luma8();
        assert_eq!(sheet.dimensions(), (12, 8));
        assert_eq!(sheet.get_pixel(5, 5).0, [200]);
        assert_eq!(grid.place(4), (0, "300% 200%".into(), "50.0000% 100.0000%".into()));
    }

    #[test]
    fn a_picture_without_pixels_is_black() {
        let broken = Picture { width: 0, height: 3, channels: 3, pixels: vec![] };
        let urls = sheets(&Grid::new(&[&broken]), &[&broken]);
        assert!(urls[0].starts_with("data:image/"));
    }
}
