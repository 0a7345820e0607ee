//! Everything that can be wrong with images, and the remedies.

use thiserror::Error;

use super::options::DatasetPart;
use crate::error::counted::{are, counted};
use crate::error::hint::listed;
use crate::error::nearest;

/// What is wrong with images; part of [`Problem`](crate::Problem).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ImageProblem {
    /// An image that cannot be decoded.
    #[error("not a readable image: {message}")]
    Unreadable {
        /// The decoder's own words.
        message: String,
    },
    /// An image that would not fit into memory.
    #[error("the image has {width} × {height} pixels and would take more than {limit_mib} MiB")]
    TooLarge {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
        /// The limit.
        limit_mib: u64,
    },
    /// Every image is unreadable.
    #[error("none of the {count} images can be read; the first is {first}: {message}")]
    NoneReadable {
        /// How many.
        count: usize,
        /// The first file.
        first: String,
        /// What is wrong with it.
        message: String,
    },
    /// An idx file that does not begin as one.
    #[error("not an idx file of {expected}: it begins with {}", hex(.got))]
    WrongMagic {
        /// `images` or `labels`.
        expected: &'static str,
        /// The first bytes.
        got: Vec<u8>,
    },
    /// A file that ends too early.
    #[error("the file is cut off: expected {expected} bytes, got {got}")]
    Truncated {
        /// Bytes that its header or its last record promises.
        expected: u64,
        /// Bytes there are.
        got: u64,
    },
    /// A file with more than its header says.
    #[error("the file goes on after the {expected} bytes that its header promises")]
    Overlong {
        /// Bytes that its header promises.
        expected: u64,
    },
    /// Damaged or cut xz data.
    #[error("the xz data is damaged or cut off: {message}")]
    BrokenXz {
        /// The decoder's own words.
        message: String,
    },
    /// An idx file without its labels.
    #[error("there are images but no file of labels; looked for {looked}")]
    NoLabelFile {
        /// The path that was looked for.
        looked: String,
    },
    /// Unequal numbers.
    #[error("there {} for {}", are(*.labels, "label", "labels"), counted_images(*.images))]
    CountsDiffer {
        /// Images.
        images: usize,
        /// Labels.
        labels: usize,
    },
    /// A label beyond the classes of the set.
    #[error("the label {label} is beyond the {classes} classes, 0 to {}", .classes - 1)]
    LabelOutOfRange {
        /// The label.
        label: u8,
        /// Classes of the set.
        classes: usize,
    },
    /// Training and test part do not fit together.
    #[error("the images are {got} pixels, but those of the other part {expected}")]
    SizesDiffer {
        /// Height x width of the first part.
        expected: String,
        /// Height x width of this part.
        got: String,
    },
    /// Images without pixels, or no images.
    #[error("the file holds {} of {height} × {width} pixels", counted_images(*.images))]
    NoPixels {
        /// Images.
        images: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// Images larger than a network reads, or more than fit into memory.
    #[error("{} of {height} × {width} pixels: too large, or more than fits into memory", counted_images(*.images))]
    TooManyPixels {
        /// Images.
        images: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
    },
    /// All images are one pixel.
    #[error("all images are 1 × 1 pixel")]
    OnePixel,
    /// Nothing at all in a folder.
    #[error("the folder is empty")]
    EmptyFolder,
    /// Images, but not in folders of classes.
    #[error("the folder holds {} but no sub-folder for each class", counted_images(*.images))]
    NoClassFolders {
        /// Images directly in the folder.
        images: usize,
    },
    /// Folders without images.
    #[error("no image files are in the folder or its sub-folders")]
    NoImages,
    /// Images without classes where classes are needed.
    #[error("single image files have no classes")]
    NoClasses,
    /// A file that is no set of images.
    #[error("neither an image, nor a folder of images, nor an idx or CIFAR-10 file")]
    NotImages,
    /// A file where a folder should be.
    #[error("not a directory")]
    NotADirectory,
    /// A set whose other part is there.
    #[error("there is no {part} part; looked for {looked}")]
    NoSuchPart {
        /// The part that was asked for.
        part: DatasetPart,
        /// What would be it.
        looked: String,
    },
    /// A name that stands for no set.
    #[error("no data set has this name, and there is no such file or folder; looked in {looked}")]
    UnknownSet {
        /// The name.
        name: String,
        /// Names that are known.
        known: Vec<String>,
        /// Where it was looked for.
        looked: String,
    },
    /// A known set that is not where it should be.
    #[error("the files of this set are not there; looked for {}", .looked.join(", "))]
    SetNotFound {
        /// Where it was looked for.
        looked: Vec<String>,
    },
    /// A known set, and no directory to look in.
    #[error("a named data set, but no data directory is given")]
    NoDataDir,
}

fn hex(bytes: &[u8]) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(" ")
}

impl ImageProblem {
    /// What the user can do about it.
    pub(crate) fn hint(&self) -> String {
        const FOLDERS: &str = "put the images into one sub-folder for each class, such as cats/ and dogs/";
        const AGAIN: &str = "copy or download the file again";
        match self {
            ImageProblem::Unreadable { .. } => {
                "replace or remove it, or pass `--skip-unreadable` to go on without it".into()
            }
            ImageProblem::TooLarge { .. } => {
                "reduce it, or pass `--skip-unreadable` to go on without it".into()
            }
            ImageProblem::NoneReadable { .. } => "give PNG, JPEG, GIF, BMP, WebP or TIFF files".into(),
            ImageProblem::WrongMagic { expected: "images", got } if got.get(2..) == Some(&[8, 1]) => {
                "this is the file of labels; name the file of images beside it".into()
            }
            ImageProblem::WrongMagic { .. } => {
                "images begin with 00 00 08 03, labels with 00 00 08 01 (unsigned bytes)".into()
            }
            ImageProblem::Truncated { .. }
            | ImageProblem::Overlong { .. }
            | ImageProblem::BrokenXz { .. }
            | ImageProblem::NoPixels { .. } => AGAIN.into(),
            ImageProblem::NoLabelFile { .. } => "put the file of labels beside the images".into(),
            ImageProblem::CountsDiffer { .. } => {
                "images and labels must come from the same part of the same set".into()
            }
            ImageProblem::LabelOutOfRange { .. } => "check that the file belongs to this set".into(),
            ImageProblem::SizesDiffer { .. } => "name one part only, or pass `--image-size HxW`".into(),
            ImageProblem::TooManyPixels { .. } => "pass a smaller `--image-size HxW`".into(),
            ImageProblem::OnePixel => "give larger images; a single pixel shows nothing".into(),
            ImageProblem::EmptyFolder | ImageProblem::NoClassFolders { .. } | ImageProblem::NoClasses => {
                FOLDERS.into()
            }
            ImageProblem::NoImages => format!("{FOLDERS}; PNG, JPEG, GIF, BMP, WebP and TIFF are read"),
            ImageProblem::NotImages => "for a table, end its name with .csv, .parquet or .jsonl".into(),
            ImageProblem::NotADirectory => "name the folder that holds the data sets".into(),
            ImageProblem::NoSuchPart { .. } => "add the files of that part, or use another set".into(),
            ImageProblem::UnknownSet { name, known, .. } => match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known names are {}; otherwise give a path", listed(known)),
            },
            ImageProblem::SetNotFound { .. } | ImageProblem::NoDataDir => {
                "pass the folder that holds the sets as `--data-dir`, or set IGN_DATA to it; \
                 `ign data fetch` downloads the public ones"
                    .into()
            }
        }
    }
}

fn counted_images(n: usize) -> String {
    counted(n, "image", "images")
}
