//! Images in memory brought to another size or number of channels.

use image::imageops::FilterType;
use image::{GenericImageView, ImageBuffer, Luma, Pixel, Rgb};
use rayon::prelude::*;

use super::ImageSet;
use super::decode::{Shape, check_resize, grey_of};
use crate::error::{DataError, Problem};

/// The image at another size, by a triangle filter; unchanged if the size is the same.
pub(crate) fn resized<I>(image: &I, width: u32, height: u32) -> Vec<u8>
where
    I: GenericImageView,
    I::Pixel: Pixel<Subpixel = u8> + 'static,
{
    image::imageops::resize(image, width, height, FilterType::Triangle).into_raw()
}

/// The same images in another shape; nothing is copied if it is the same.
pub(crate) fn reshaped(mut set: ImageSet, shape: Shape) -> Result<ImageSet, DataError> {
    let from = Shape { height: set.height, width: set.width, channels: set.channels };
    if from == shape {
        return Ok(set);
    }
    check_resize(set.width as u32, set.height as u32, shape)
        .map_err(|problem| DataError::new(&set.origin, Problem::Image(problem)))?;
    let mut pixels = shape.zeros(set.len(), &set.origin)?;
    pixels
        .par_chunks_mut(shape.bytes())
        .zip(set.pixels.par_chunks(from.bytes()))
        .for_each(|(out, image)| reshape_one(image, from, shape, out));
    set.pixels = pixels;
    Ok(ImageSet { height: shape.height, width: shape.width, channels: shape.channels, ..set })
}

fn reshape_one(image: &[u8], from: Shape, to: Shape, out: &mut [u8]) {
    let (width, height) = (from.width as u32, from.height as u32);
    let (new_width, new_height) = (to.width as u32, to.height as u32);
    const FITS: &str = "as many bytes as pixels and channels";
    let greyed: Vec<u8>;
    let image = match (from.channels, to.channels) {
        (3, 1) => {
            greyed = image.chunks_exact(3).map(|rgb| grey_of([rgb[0], rgb[1], rgb[2]])).collect();
            &greyed
        }
        _ => image,
    };
    if from.channels == 3 && to.channels == 3 {
        let image = ImageBuffer::<Rgb<u8>, &[u8]>::from_raw(width, height, image).expect(FITS);
        out.copy_from_slice(&resized(&image, new_width, new_height));
        return;
    }
    let image = ImageBuffer::<Luma<u8>, &[u8]>::from_raw(width, height, image).expect(FITS);
    let grey = resized(&image, new_width, new_height);
    for (pixel, value) in out.chunks_exact_mut(to.channels).zip(grey) {
        pixel.fill(value);
    }
}
