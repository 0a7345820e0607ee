//! One image as bytes of a given shape.

use std::io::Cursor;
use std::path::Path;

use image::{DynamicImage, ImageBuffer, ImageDecoder, Luma, Rgb, RgbaImage};

use super::probe::{decoder, is_animated, is_cut_jpeg, refusal, unreadable};
use super::problem::ImageProblem;
use super::resize::resized;
use crate::error::{DataError, Problem};

/// The resizing of an image takes at most this much memory.
const RESIZE_LIMIT_MIB: u64 = 1024;

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

    /// A zeroed buffer for `images` images of this shape; `origin` names them in errors.
    pub(crate) fn zeros(&self, images: usize, origin: &str) -> Result<Vec<u8>, DataError> {
        let mut pixels = Vec::new();
        // The system promises more memory than it has, so that `try_reserve` alone does not tell.
        let available = available_memory();
        let room = self
            .bytes()
            .checked_mul(images)
            .filter(|bytes| *bytes <= available && pixels.try_reserve_exact(*bytes).is_ok());
        let Some(room) = room else {
            let problem = ImageProblem::TooManyPixels { images, height: self.height, width: self.width };
            return Err(DataError::new(origin, Problem::Image(problem)));
        };
        pixels.resize(room, 0);
        Ok(pixels)
    }
}

/// Decodes an image into `out`, [H, W, C]; returns whether it is the first of several frames.
///
/// The right way up, with transparency over white, reduced to 8 bits, resized last.
pub(crate) fn decode(path: &Path, shape: Shape, out: &mut [u8]) -> Result<bool, ImageProblem> {
    let bytes = std::fs::read(path).map_err(|error| unreadable(&error))?;
    if is_cut_jpeg(&bytes) {
        return Err(ImageProblem::Unreadable { message: "the JPEG data is cut off".into() });
    }
    let mut decoder = decoder(Cursor::new(&bytes))?;
    let orientation = decoder.orientation().ok();
    let mut image = DynamicImage::from_decoder(decoder).map_err(|error| refusal(&error))?;
    if let Some(orientation) = orientation {
        image.apply_orientation(orientation);
    }
    let (width, height) = (shape.width as u32, shape.height as u32);
    check_resize(image.width(), image.height(), shape)?;
    let image = without_alpha(image);
    if shape.channels == 1 {
        out.copy_from_slice(&resized(&into_grey(image), width, height));
    } else {
        out.copy_from_slice(&resized(&image.into_rgb8(), width, height));
    }
    Ok(is_animated(&bytes))
}

/// The image over white.
fn without_alpha(image: DynamicImage) -> DynamicImage {
    if !image.color().has_alpha() {
        return image;
    }
    let grey = !image.color().has_color();
    let mut image: RgbaImage = image.into_rgba8();
    for pixel in image.pixels_mut() {
        let [.., alpha] = pixel.0;
        for value in &mut pixel.0[..3] {
            *value = over_white(*value, alpha);
        }
        pixel.0[3] = u8::MAX;
    }
    if grey {
        let (width, height) = image.dimensions();
        let values = image.pixels().map(|pixel| pixel.0[0]).collect();
        let grey: Option<ImageBuffer<Luma<u8>, Vec<u8>>> = ImageBuffer::from_raw(width, height, values);
        return DynamicImage::ImageLuma8(grey.expect("one value a pixel"));
    }
    DynamicImage::ImageRgba8(image)
}

/// Refuses an image whose resizing takes too much memory: long and flat ones pass the limit of the decoder.
///
/// `image` first makes the rows of the new height, as four 32-bit floats a pixel, in the old width.
pub(crate) fn check_resize(width: u32, height: u32, shape: Shape) -> Result<(), ImageProblem> {
    let same = (width as usize, height as usize) == (shape.width, shape.height);
    if !same && u64::from(width) * shape.height as u64 * 16 > RESIZE_LIMIT_MIB << 20 {
        return Err(ImageProblem::TooLarge { width, height, limit_mib: RESIZE_LIMIT_MIB });
    }
    Ok(())
}

/// Memory that is free or can be freed, in bytes; without limit where the system does not tell.
fn available_memory() -> usize {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<usize>().ok());
    kib.map_or(usize::MAX, |kib| kib.saturating_mul(1024))
}

fn over_white(value: u8, alpha: u8) -> u8 {
    let (value, alpha) = (u32::from(value), u32::from(alpha));
    ((value * alpha + 255 * (255 - alpha) + 127) / 255) as u8 // at most 255
}

fn into_grey(image: DynamicImage) -> ImageBuffer<Luma<u8>, Vec<u8>> {
    image.into_luma8()
}

/// The same grey as of a decoded image, for pixels in memory.
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
