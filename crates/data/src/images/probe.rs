//! What an image is, from its header alone.

use std::fs::File;
use std::io::{BufReader, Cursor};
use std::path::Path;

use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::{AnimationDecoder, ColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits};

use super::problem::ImageProblem;

/// Memory limit of one decoded image.
pub(crate) const LIMIT_MIB: u64 = 512;

/// Size and kind of an image as it will be seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Probe {
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) colour: bool,
    /// Memory of the decoded image.
    pub(crate) bytes: u64,
}

pub(crate) fn probe(path: &Path) -> Result<Probe, ImageProblem> {
    // A pipe would wait for its writer, a device may never end.
    if !path.metadata().map_err(|error| unreadable(&error))?.is_file() {
        return Err(ImageProblem::Unreadable { message: "it is not a regular file".into() });
    }
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let mut decoder = decoder(BufReader::new(file))?;
    let (width, height) = decoder.dimensions();
    if decoder.total_bytes() > LIMIT_MIB << 20 {
        return Err(ImageProblem::TooLarge { width, height, limit_mib: LIMIT_MIB });
    }
    if width == 0 || height == 0 {
        return Err(ImageProblem::Unreadable { message: "it has no pixels".into() });
    }
    let turned = decoder.orientation().is_ok_and(|orientation| orientation.to_exif() >= 5);
    let (width, height) = if turned { (height, width) } else { (width, height) };
    let colour =
        !matches!(decoder.color_type(), ColorType::L8 | ColorType::La8 | ColorType::L16 | ColorType::La16);
    Ok(Probe { height: height as usize, width: width as usize, colour, bytes: decoder.total_bytes() })
}

/// A decoder for whatever the first bytes say, within the limits.
pub(crate) fn decoder<'a, R: std::io::BufRead + std::io::Seek + 'a>(
    input: R,
) -> Result<impl ImageDecoder + 'a, ImageProblem> {
    let mut reader = ImageReader::new(input).with_guessed_format().map_err(|error| unreadable(&error))?;
    if reader.format().is_none() {
        let message = "it does not begin like a PNG, JPEG, GIF, BMP, WebP or TIFF file".into();
        return Err(ImageProblem::Unreadable { message });
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(LIMIT_MIB << 20);
    reader.limits(limits);
    reader.into_decoder().map_err(|error| refusal(&error))
}

pub(crate) fn unreadable(error: &dyn std::error::Error) -> ImageProblem {
    ImageProblem::Unreadable { message: error.to_string() }
}

pub(crate) fn refusal(error: &ImageError) -> ImageProblem {
    unreadable(error)
}

/// Whether there is more than one frame.
pub(crate) fn is_animated(bytes: &[u8]) -> bool {
    match image::guess_format(bytes) {
        Ok(ImageFormat::Png) => {
            PngDecoder::new(Cursor::new(bytes)).and_then(|decoder| decoder.is_apng()).unwrap_or(false)
        }
        Ok(ImageFormat::WebP) => WebPDecoder::new(Cursor::new(bytes)).is_ok_and(|d| d.has_animation()),
        Ok(ImageFormat::Gif) => {
            GifDecoder::new(Cursor::new(bytes)).is_ok_and(|d| d.into_frames().take(2).flatten().count() == 2)
        }
        _ => false,
    }
}

/// Whether a JPEG file stops before its end mark. Its decoder would fill the rest with grey and say nothing.
pub(crate) fn is_cut_jpeg(bytes: &[u8]) -> bool {
    const START_OF_SCAN: u8 = 0xda;
    if !matches!(image::guess_format(bytes), Ok(ImageFormat::Jpeg)) {
        return false;
    }
    let mut at = 2;
    while let Some([0xff, marker, high, low]) = bytes.get(at..at + 4) {
        if *marker == START_OF_SCAN {
            return memchr::memmem::find(&bytes[at..], &[0xff, 0xd9]).is_none();
        }
        at += 2 + usize::from(u16::from_be_bytes([*high, *low]));
    }
    true
}
