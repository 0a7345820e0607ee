//! What to read of a set of images, and in which shape.

use std::fmt;
use std::str::FromStr;

/// Called with the number of pieces that are done and of all: images of a folder, files of CIFAR-10.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Pixels of the longest side of an image.
const LONGEST_SIDE: usize = 4096;
/// Pixels of an image at most: a network holds many floats for each.
const MOST_PIXELS: usize = 1 << 22;

/// The part of a set. A folder that is not divided is always read as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DatasetPart {
    /// What is trained on: `train-images…`, `data_batch_…`, `train/`.
    #[default]
    Train,
    /// What is held out by the makers of the set: `t10k-images…`, `test_batch…`, `test/`.
    Test,
    /// Both, the training part first.
    All,
}

impl fmt::Display for DatasetPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DatasetPart::Train => "training",
            DatasetPart::Test => "test",
            DatasetPart::All => "whole",
        })
    }
}

/// Height and width in pixels, written `28x28`; one number is a square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageSize {
    /// Rows.
    pub height: usize,
    /// Columns.
    pub width: usize,
}

impl ImageSize {
    /// Height and width in pixels.
    #[must_use]
    pub const fn new(height: usize, width: usize) -> Self {
        ImageSize { height, width }
    }

    /// Whether a network can read images of this size: sides of 1 to 4096 pixels, 2²² pixels in all.
    pub(crate) fn is_sensible(self) -> bool {
        let side = |pixels: usize| (1..=LONGEST_SIDE).contains(&pixels);
        side(self.height) && side(self.width) && self.height * self.width <= MOST_PIXELS
    }
}

impl fmt::Display for ImageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.height, self.width)
    }
}

impl FromStr for ImageSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (height, width) = text.split_once(['x', 'X', '×']).unwrap_or((text, text));
        match (height.trim().parse(), width.trim().parse()) {
            (Ok(height), Ok(width)) if ImageSize::new(height, width).is_sensible() => {
                Ok(ImageSize { height, width })
            }
            _ => Err(format!(
                "expected height x width such as 28x28, each 1 to {LONGEST_SIDE} and {MOST_PIXELS} pixels in all, got {text:?}"
            )),
        }
    }
}

/// How to read images; the default suits training.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOptions {
    /// Which part, where a set has parts.
    pub part: DatasetPart,
    /// The size of all images; by default their common size, or the most common one.
    pub size: Option<ImageSize>,
    /// 1 for grey or 3 for colour; by default colour if any image has it.
    pub channels: Option<usize>,
    /// Whether an image that cannot be read is left out with a notice instead of an error.
    pub skip_unreadable: bool,
    /// Whether images without classes are an error.
    pub need_labels: bool,
}

impl Default for ImageOptions {
    fn default() -> Self {
        ImageOptions {
            part: DatasetPart::Train,
            size: None,
            channels: None,
            skip_unreadable: false,
            need_labels: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_height_times_width() {
        assert_eq!("28x32".parse(), Ok(ImageSize { height: 28, width: 32 }));
        assert_eq!("64".parse(), Ok(ImageSize { height: 64, width: 64 }));
        for text in ["", "0x5", "5x", "5x5x5", "-1x2", "99999x1", "a", "4096x4096"] {
            assert!(text.parse::<ImageSize>().is_err(), "{text}");
        }
        assert_eq!(ImageSize { height: 3, width: 4 }.to_string(), "3x4");
    }
}
