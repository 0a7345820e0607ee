//! Public sets of images, below a data directory.

use std::path::{Path, PathBuf};

use super::ImageSet;
use super::options::{DatasetPart, ImageOptions, Progress};
use super::parts::{Parts, joined};
use super::problem::ImageProblem;
use super::{cifar, idx};
use crate::datasets::named::NamedSet;
use crate::error::{DataError, Problem};

impl NamedSet {
    /// Where its files may lie below a data directory: as here, and as others' tools unpack them.
    fn folders(self) -> &'static [&'static str] {
        match self {
            NamedSet::Mnist | NamedSet::ToyMnist => &["mnist", "MNIST/raw"],
            NamedSet::Cifar10 => &["cifar10", "cifar-10-batches-bin"],
            NamedSet::FashionMnist => &["fashion-mnist", "FashionMNIST/raw"],
            _ => &[], // no images
        }
    }

    /// Whether both parts are there.
    pub(crate) fn images_are_in(self, data_dir: &Path) -> bool {
        self.folders().iter().map(|folder| data_dir.join(folder)).any(|folder| match self {
            NamedSet::Cifar10 => cifar::find_train(&folder).is_some() && cifar::find_test(&folder).is_some(),
            _ => idx::find(&folder, &["train"]).is_some() && idx::find(&folder, &["t10k", "test"]).is_some(),
        })
    }

    pub(crate) fn read(
        self,
        data_dir: &Path,
        options: &ImageOptions,
        progress: Option<Progress<'_>>,
    ) -> Result<ImageSet, DataError> {
        let failed = |problem| DataError::new(self.name(), Problem::Image(problem));
        if data_dir.is_file() {
            let name = data_dir.display().to_string();
            return Err(DataError::new(name, Problem::Image(ImageProblem::NotADirectory)));
        }
        let folders: Vec<PathBuf> = self.folders().iter().map(|folder| data_dir.join(folder)).collect();
        let set = if self == NamedSet::Cifar10 {
            folders.iter().find_map(|folder| read_cifar(folder, options.part, progress))
        } else {
            folders.iter().find_map(|folder| read_idx(folder, options, Some(10)))
        };
        let looked = || folders.iter().map(|folder| folder.display().to_string()).collect();
        let mut set = set.unwrap_or_else(|| Err(failed(ImageProblem::SetNotFound { looked: looked() })))?;
        if self == NamedSet::ToyMnist
            && let Some(labels) = &set.labels
        {
            let keep: Vec<bool> = labels.iter().map(|label| matches!(label, 5 | 6)).collect();
            set.retain(|index| keep[index]);
            set.drop_empty_classes();
        }
        set.origin = self.name().to_owned();
        Ok(set)
    }
}

/// The idx files of a folder, if there are any.
pub(crate) fn read_idx(
    folder: &Path,
    options: &ImageOptions,
    classes: Option<usize>,
) -> Option<Result<ImageSet, DataError>> {
    let (train, test) = (idx::find(folder, &["train"]), idx::find(folder, &["t10k", "test"]));
    let parts = Parts { train, test, called: ["train-images-idx3-ubyte", "t10k-images-idx3-ubyte"] };
    read_parts(parts, options.part, folder, |pair| pair.read(options.need_labels, classes))
}

/// The CIFAR-10 files of a folder, if there are any.
pub(crate) fn read_cifar(
    folder: &Path,
    part: DatasetPart,
    progress: Option<Progress<'_>>,
) -> Option<Result<ImageSet, DataError>> {
    let (train, test) = (cifar::find_train(folder), cifar::find_test(folder));
    let parts = Parts { train, test, called: ["data_batch_1.bin", "test_batch.bin"] };
    read_parts(parts, part, folder, |files| cifar::read(files, progress))
}

fn read_parts<T>(
    parts: Parts<T>,
    part: DatasetPart,
    folder: &Path,
    read: impl Fn(&T) -> Result<ImageSet, DataError>,
) -> Option<Result<ImageSet, DataError>> {
    if parts.is_empty() {
        return None;
    }
    let name = folder.display().to_string();
    let chosen = parts.choose(part, &name);
    Some(chosen.and_then(|parts| joined(parts.iter().map(read).collect::<Result<_, _>>()?)))
}
