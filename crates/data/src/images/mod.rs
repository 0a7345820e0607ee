//! Images as bytes in memory, from the files in which the common public sets come and from folders of
//! images.
//!
//! ```text
//! path, name or files ──ImageSource──▶ read_images ──▶ ImageSet [N, H, W, C] u8 ──ImageSchema──▶ batches
//! ```
//! `idx.rs` and `cifar.rs` read the two codec formats, `folder.rs` finds images, `probe.rs` and
//! `decode.rs` look at and decode one, `collect.rs` makes many of them one set, `named.rs` knows where
//! public sets lie.
//!
//! ```
//! use image::{GrayImage, Luma};
//! use inducing_data::{ImageOptions, ImageSchema, ImageSource, read_images};
//!
//! let folder = tempfile::tempdir()?;
//! for (class, grey) in [("day", 200), ("night", 20)] {
//!     std::fs::create_dir(folder.path().join(class))?;
//!     for i in 0..2 {
//!         let image = GrayImage::from_pixel(8, 8, Luma([grey + i]));
//!         image.save(folder.path().join(class).join(format!("{i}.png")))?;
//!     }
//! }
//! let (set, _notices) = read_images(&ImageSource::Path(folder.path().into()), &ImageOptions::default(), None)?;
//! assert_eq!((set.len(), set.height, set.width, set.channels), (4, 8, 8, 1));
//! let (schema, _) = ImageSchema::fit(&set, &[0, 1, 2, 3])?;
//! assert_eq!(schema.classes, ["day", "night"]);
//! assert_eq!(schema.conform(set)?.labels, Some(vec![0, 0, 1, 1]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cifar;
mod collect;
mod decode;
mod folder;
mod idx;
mod named;
mod options;
mod parts;
mod probe;
mod problem;
mod resize;
mod schema;
mod source;
mod stream;

pub use options::{DatasetPart, ImageOptions, ImageSize, Progress};
pub use problem::ImageProblem;
pub use schema::ImageSchema;
pub use source::{ImageSource, read_images};

/// Images of one size, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageSet {
    /// [N, H, W, C] row-major.
    pub pixels: Vec<u8>,
    /// Rows of an image.
    pub height: usize,
    /// Columns of an image.
    pub width: usize,
    /// 1 for grey, 3 for red, green and blue.
    pub channels: usize,
    /// For each image a position in `classes`, if the classes are known.
    pub labels: Option<Vec<u32>>,
    /// Names of the classes: numbers in their order, all else by the alphabet (CIFAR-10: in its own order).
    pub classes: Vec<String>,
    /// The file of each image where each has its own, otherwise empty.
    pub names: Vec<String>,
    /// What was read, as the user named it.
    pub origin: String,
}

impl ImageSet {
    /// Number of images.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pixels.len() / self.image_bytes().max(1)
    }

    /// Whether there are no images.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pixels.is_empty()
    }

    /// Bytes of one image, H · W · C.
    #[must_use]
    pub fn image_bytes(&self) -> usize {
        self.height * self.width * self.channels
    }

    /// One image, [H, W, C].
    ///
    /// # Panics
    /// If `index` is out of range.
    #[must_use]
    pub fn image(&self, index: usize) -> &[u8] {
        &self.pixels[index * self.image_bytes()..][..self.image_bytes()]
    }

    /// Images of each class, in the order of `classes`; zeros without labels.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        self.labels.iter().flatten().for_each(|label| counts[*label as usize] += 1);
        counts
    }

    /// The same images, whose classes do not matter (such as those of another data set).
    #[must_use]
    pub fn unlabelled(self) -> Self {
        ImageSet { labels: None, classes: Vec::new(), ..self }
    }

    /// The images at which `keep` says so, in place.
    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        let (bytes, count) = (self.image_bytes(), self.len());
        let mut kept = 0;
        for index in (0..count).filter(|index| keep(*index)) {
            if kept != index {
                self.pixels.copy_within(index * bytes..(index + 1) * bytes, kept * bytes);
                if let Some(labels) = &mut self.labels {
                    labels[kept] = labels[index];
                }
                if !self.names.is_empty() {
                    self.names.swap(kept, index);
                }
            }
            kept += 1;
        }
        self.pixels.truncate(kept * bytes);
        self.pixels.shrink_to_fit();
        self.names.truncate(kept);
        self.labels.iter_mut().for_each(|labels| labels.truncate(kept));
    }

    /// Only the classes that have images, with labels to match.
    fn drop_empty_classes(&mut self) {
        let counts = self.counts();
        let mut place = vec![0; counts.len()];
        let mut kept = Vec::new();
        for (class, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            debug_assert!(*count > 0);
            place[class] = kept.len() as u32;
            kept.push(std::mem::take(&mut self.classes[class]));
        }
        self.classes = kept;
        self.labels.iter_mut().flatten().for_each(|label| *label = place[*label as usize]);
    }
}
