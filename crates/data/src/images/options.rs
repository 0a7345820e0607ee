//! What to read of a set of images, and in which shape.

use std::fmt;
use std::str::FromStr;

/// Called with the number of pieces that are done and of all: pictures of a folder, files of CIFAR-10.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// A side of an image has at most so many pixels.
const LONGEST_SIDE: usize = 4096;

/// The part of a set. A folder that is not divided is always read as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Part {
    /// What is trained on: `train-images…`, `data_batch_…`, `train/`.
    #[default]
    Train,
    /// What is held out by the makers of the set: `t10k-images…`, `test_batch…`, `test/`.
    Test,
    /// Both, the training part first.
    All,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Train => "training",
            Part::Test => "test",
            Part::All => "whole",
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

impl fmt::Display for ImageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.height, self.width)
    }
}

impl FromStr for ImageSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| match text.trim().parse() {
            Ok(pixels) if (1..=LONGEST_SIDE).contains(&pixels) => Some(pixels),
            _ => None,
        };
        let (height, width) = text.split_once(['x', 'X', '×']).unwrap_or((text, text));
        match (side(height), side(width)) {
            (Some(height), Some(width)) => Ok(ImageSize { height, width }),
            _ => {
                Err(format!("expected height x width such as 28x28, each 1 to {LONGEST_SIDE}, got {text:?}"))
            }
        }
    }
}

/// How to read images; the default suits training.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageOptions {
    /// Which part, where a set has parts.
    pub part: Part,
    /// The size of all images; by default their common size, or the most common one.
    pub size: Option<ImageSize>,
    /// 1 for grey or 3 for colour; by default colour if any image has it.
    pub channels: Option<usize>,
    /// Whether a picture that cannot be read is left out with a notice instead of an error.
    pub skip_unreadable: bool,
    /// Whether images without classes are an error.
    pub need_labels: bool,
}

impl Default for ImageOptions {
    fn default() -> Self {
        ImageOptions {
            part: Part::Train,
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
        for text in ["", "0x5", "5x", "5x5x5", "-1x2", "99999x1", "a"] {
            assert!(text.parse::<ImageSize>().is_err(), "{text}");
        }
        assert_eq!(ImageSize { height: 3, width: 4 }.to_string(), "3x4");
    }
}
