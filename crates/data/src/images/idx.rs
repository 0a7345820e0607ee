//! The idx format of MNIST: two zero bytes, a type, the number of dimensions, their sizes (big-endian), the
//! values.
//!
//! Images are `train-images-idx3-ubyte` and labels `train-labels-idx1-ubyte` (`t10k-…` for the test part),
//! plain or compressed.

use std::path::{Path, PathBuf};

use super::ImageSet;
use super::problem::ImageProblem;
use super::stream::Stream;
use crate::error::{DataError, Problem};
use crate::io::compression::without_ending;

const IMAGES: [u8; 4] = [0, 0, 8, 3]; // unsigned bytes, [N, H, W]
const LABELS: [u8; 4] = [0, 0, 8, 1]; // unsigned bytes, [N]

/// A file of images with its labels, if there are any.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) images: PathBuf,
    pub(crate) labels: Option<PathBuf>,
}

/// Whether the file begins as an idx file of images or labels.
pub(crate) fn is_idx(path: &Path) -> bool {
    let mut magic = [0; 4];
    Stream::open(path).and_then(|mut stream| stream.fill(&mut magic)).is_ok()
        && matches!(magic, IMAGES | LABELS)
}

/// Whether the file begins as an idx file of labels.
pub(crate) fn holds_labels(path: &Path) -> bool {
    let mut magic = [0; 4];
    Stream::open(path).and_then(|mut stream| stream.fill(&mut magic)).is_ok() && magic == LABELS
}

/// The files of one part in a folder: `prefixes` are `train`, or `t10k` and `test`.
pub(crate) fn find(folder: &Path, prefixes: &[&str]) -> Option<Pair> {
    let stems = ["images-idx3-ubyte", "images.idx3-ubyte"];
    prefixes.iter().flat_map(|prefix| stems.map(|stem| format!("{prefix}-{stem}"))).find_map(|stem| {
        let images = first_file(&folder.join(stem))?;
        Some(Pair::from_images(images))
    })
}

/// The path itself, or with `.gz` or `.xz`, whichever exists.
pub(crate) fn first_file(path: &Path) -> Option<PathBuf> {
    let with = |end: &str| PathBuf::from(format!("{}{end}", path.display()));
    [path.to_owned(), with(".gz"), with(".xz")].into_iter().find(|path| path.is_file())
}

impl Pair {
    /// Images with the labels that belong to them by name.
    pub(crate) fn from_images(images: PathBuf) -> Self {
        let labels = labels_path(&images).and_then(|path| first_file(&path));
        Pair { images, labels }
    }

    /// Reads both. With `classes`, labels are below that number and all have names; otherwise the classes are
    /// the labels that occur.
    pub(crate) fn read(&self, need_labels: bool, classes: Option<usize>) -> Result<ImageSet, DataError> {
        let (pixels, [images, height, width]) = read_idx(&self.images, "images", IMAGES)?;
        let failed =
            |path: &Path, problem| DataError::new(path.display().to_string(), Problem::Image(problem));
        if pixels.is_empty() {
            return Err(failed(&self.images, ImageProblem::NoPixels { images, height, width }));
        }
        let mut set = ImageSet {
            pixels,
            height,
            width,
            channels: 1,
            labels: None,
            classes: Vec::new(),
            names: Vec::new(),
            origin: self.images.display().to_string(),
        };
        let Some(path) = &self.labels else {
            if need_labels {
                let looked = labels_path(&self.images).unwrap_or_else(|| "…labels-idx1-ubyte".into());
                let looked = looked.display().to_string();
                return Err(failed(&self.images, ImageProblem::NoLabelFile { looked }));
            }
            return Ok(set);
        };
        let (labels, [count]) = read_idx(path, "labels", LABELS)?;
        if count != images {
            return Err(failed(path, ImageProblem::CountsDiffer { images, labels: count }));
        }
        if let Some(classes) = classes
            && let Some(row) = labels.iter().position(|label| usize::from(*label) >= classes)
        {
            let mut error = failed(path, ImageProblem::LabelOutOfRange { label: labels[row], classes });
            error.row = Some(row as u64 + 1);
            return Err(error);
        }
        set.classes = (0..classes.unwrap_or(256)).map(|class| class.to_string()).collect();
        set.labels = Some(labels.into_iter().map(u32::from).collect());
        if classes.is_none() {
            set.drop_empty_classes();
        }
        Ok(set)
    }
}

/// Where the labels of a file of images should be: no `.gz` or `.xz` at its end.
fn labels_path(images: &Path) -> Option<PathBuf> {
    let name = images.file_name()?.to_str()?;
    let name = without_ending(name);
    let labels = name.replace("images", "labels").replace("idx3", "idx1");
    (labels != name).then(|| images.with_file_name(labels))
}

/// The values and the sizes of the dimensions.
fn read_idx<const D: usize>(
    path: &Path,
    what: &'static str,
    expected: [u8; 4],
) -> Result<(Vec<u8>, [usize; D]), DataError> {
    let mut stream = Stream::open(path)?;
    let mut magic = [0; 4];
    let read = stream.fill(&mut magic)?;
    if read == 0 {
        return Err(DataError::new(path.display().to_string(), Problem::Empty));
    }
    if magic != expected {
        return Err(stream.problem(ImageProblem::WrongMagic { expected: what, got: magic[..read].to_vec() }));
    }
    let mut sizes = [0; D];
    for size in &mut sizes {
        let mut bytes = [0; 4];
        if stream.fill(&mut bytes)? < 4 {
            let expected = 4 + 4 * D as u64;
            return Err(stream.problem(ImageProblem::Truncated { expected, got: stream.position() }));
        }
        *size = u32::from_be_bytes(bytes) as usize;
    }
    let bytes = sizes.iter().try_fold(1usize, |all, size| all.checked_mul(*size));
    let values = stream.rest(bytes.unwrap_or(usize::MAX / 2))?;
    Ok((values, sizes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_stand_beside_their_images() {
        let of = |name: &str| labels_path(Path::new(name)).map(|path| path.display().to_string());
        assert_eq!(of("d/train-images-idx3-ubyte.gz").as_deref(), Some("d/train-labels-idx1-ubyte"));
        assert_eq!(of("t10k-images.idx3-ubyte").as_deref(), Some("t10k-labels.idx1-ubyte"));
        assert_eq!(of("digits.bin"), None);
    }
}
