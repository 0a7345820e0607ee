//! One picture as bytes of a given shape.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, ImageBuffer, ImageDecoder, Luma, Rgb, RgbaImage};

use super::probe::{decoder, is_animated, is_cut_jpeg, refusal, unreadable};
use super::problem::ImageProblem;
use super::resize::resized;
use crate::error::DataError;
use crate::problem::Problem;

/// Height, width and channels of every image of a set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) channels: usize,
}

impl Shape {
    pub(crate) fn bytes(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// Room for so many images of this shape; `origin` names them.
    pub(crate) fn zeros(&self, images: usize, origin: &str) -> Result<Vec<u8>, DataError> {
        let mut pixels = Vec::new();
        let room = self.bytes().checked_mul(images).filter(|bytes| pixels.try_reserve_exact(*bytes).is_ok());
        let Some(room) = room else {
            let problem = ImageProblem::TooManyPixels { images, height: self.height, width: self.width };
            return Err(DataError::new(origin, Problem::Image(problem)));
        };
        pixels.resize(room, 0);
        Ok(pixels)
    }
}

/// Decodes a picture into `out`, [H, W, C]; returns whether it is the first of several frames.
///
/// The right way up, with transparency over white, reduced to 8 bits, resized last.
pub(crate) fn decode(path: &Path, shape: Shape, out: &mut [u8]) -> Result<bool, ImageProblem> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    if is_cut_jpeg(&bytes) {
        return Err(ImageProblem::Unreadable { message: "the JPEG data is cut off".into() });
    }
    let mut decoder = decoder(Cursor::new(&bytes))?;
    let orientation = decoder.orientation().ok();
    let mut picture = DynamicImage::from_decoder(decoder).map_err(|error| refusal(&error))?;
    if let Some(orientation) = orientation {
        picture.apply_orientation(orientation);
    }
    let (width, height) = (shape.width as u32, shape.height as u32);
    let picture = without_alpha(picture);
    if shape.channels == 1 {
        out.copy_from_slice(&resized(&into_grey(picture), width, height));
    } else {
        out.copy_from_slice(&resized(&picture.into_rgb8(), width, height));
    }
    Ok(is_animated(&bytes))
}

/// The picture over white.
fn without_alpha(picture: DynamicImage) -> DynamicImage {
    if !picture.color().has_alpha() {
        return picture;
    }
    let grey = !picture.color().has_color();
    let mut picture: RgbaImage = picture.into_rgba8();
    for pixel in picture.pixels_mut() {
        let [.., alpha] = pixel.0;
        for value in &mut pixel.0[..3] {
            *value = over_white(*value, alpha);
        }
        pixel.0[3] = u8::MAX;
    }
    if grey {
        let (width, height) = picture.dimensions();
        let values = picture.pixels().map(|pixel| pixel.0[0]).collect();
        let grey: Option<ImageBuffer<Luma<u8>, Vec<u8>>> = ImageBuffer::from_raw(width, height, values);
        return DynamicImage::ImageLuma8(grey.expect("one value a pixel"));
    }
    DynamicImage::ImageRgba8(picture)
}

fn over_white(value: u8, alpha: u8) -> u8 {
    let (value, alpha) = (u32::from(value), u32::from(alpha));
    ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8 // at most 255
}

fn into_grey(picture: DynamicImage) -> ImageBuffer<Luma<u8>, Vec<u8>> {
    picture.into_luma8()
}

/// The same grey as of a decoded picture, for pixels in memory.
pub(crate) fn grey_of(rgb: [u8; 3]) -> u8 {
    use image::Pixel;
    Rgb(rgb).to_luma().0[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transparency_shows_white() {
        assert_eq!((over_white(0, 0), over_white(0, 255), over_white(100, 255)), (255, 0, 100));
        assert_eq!(over_white(0, 128), 127);
    }
}
