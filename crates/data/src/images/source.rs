//! [`ImageSource`]: what the user named, and [`read_images`], the one door to all of it.

use std::path::{Path, PathBuf};

use super::ImageSet;
use super::decode::Shape;
use super::folder::{self, ImageFiles, is_image};
use super::named::{read_cifar, read_idx};
use super::options::{ImageOptions, ImageSize, Progress};
use super::problem::ImageProblem;
use super::resize::reshaped;
use super::{cifar, collect, idx};
use crate::datasets::named::{NamedSet, SetKind, bare_name};
use crate::error::{DataError, Notice, Problem};
use crate::graphs::is_graph_folder;
use crate::io::shards::Shards;

/// Where images come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImageSource {
    /// A public set, below a data directory.
    Named {
        /// Which.
        set: NamedSet,
        /// The directory.
        data_dir: PathBuf,
    },
    /// A folder, an idx file (its labels are found beside it), a CIFAR-10 file, or one image.
    Path(PathBuf),
    /// Single images, or a pair of idx files.
    Files(Vec<PathBuf>),
}

impl ImageSource {
    /// The images that `names` stand for, or `None` if they look like a table or graphs.
    ///
    /// A path that exists goes before a named set, and any folder below the data directory is a named set
    /// too. `data_dir` is what [`data_dir`](crate::data_dir) gives.
    ///
    /// # Errors
    /// If a public set is named without a data directory, or a name without an ending is neither a path nor a
    /// set while there is a data directory.
    pub fn recognise(names: &[String], data_dir: Option<&Path>) -> Result<Option<Self>, DataError> {
        let [name] = names else {
            let files: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
            let known = |path: &PathBuf| is_image(path) || idx::is_idx(path);
            return Ok((!files.is_empty() && files.iter().all(known)).then_some(ImageSource::Files(files)));
        };
        if Shards::recognise(name)?.is_some() {
            return Ok(None);
        }
        let path = PathBuf::from(name);
        if path.exists() {
            let images = path.is_dir() && !is_graph_folder(&path)
                || is_image(&path)
                || cifar::is_batch(&path)
                || idx::is_idx(&path);
            return Ok(images.then_some(ImageSource::Path(path)));
        }
        if is_image(&path) {
            return Ok(Some(ImageSource::Path(path)));
        }
        let elsewhere = NamedSet::from_name(name).is_some_and(|set| set.kind() != SetKind::Images)
            || data_dir.is_some_and(|dir| is_graph_folder(&dir.join(name)));
        if !bare_name(name) || elsewhere {
            return Ok(None);
        }
        Self::named(name, data_dir).map(Some).or_else(|error| match (&*error.problem, data_dir) {
            (Problem::Image(ImageProblem::UnknownSet { .. }), None) => Ok(None),
            _ => Err(error),
        })
    }

    /// The set of this name.
    ///
    /// # Errors
    /// If there is none, or no data directory to look in.
    pub fn named(name: &str, data_dir: Option<&Path>) -> Result<Self, DataError> {
        let failed = |problem| Err(DataError::new(name, Problem::Image(problem)));
        match (NamedSet::from_name(name), data_dir) {
            (Some(set), _) if set.kind() != SetKind::Images => failed(ImageProblem::NotImages),
            (Some(set), Some(data_dir)) => Ok(ImageSource::Named { set, data_dir: data_dir.to_owned() }),
            (Some(_), None) => failed(ImageProblem::NoDataDir),
            (None, Some(data_dir)) if data_dir.join(name).is_dir() => {
                Ok(ImageSource::Path(data_dir.join(name)))
            }
            (None, data_dir) => {
                let looked = data_dir.map_or_else(|| ".".into(), |dir| dir.display().to_string());
                let known = NamedSet::ALL.map(|set| set.name().to_owned()).into();
                failed(ImageProblem::UnknownSet { name: name.to_owned(), known, looked })
            }
        }
    }
}

/// Reads images, all in one size and as bytes.
///
/// # Errors
/// If files are missing, damaged or contradict each other, each time with the file's name; if there are no
/// classes where they are needed; or if all images are a single pixel.
pub fn read_images(
    source: &ImageSource,
    options: &ImageOptions,
    progress: Option<Progress<'_>>,
) -> Result<(ImageSet, Vec<Notice>), DataError> {
    let mut notices = Vec::new();
    let set = match source {
        ImageSource::Named { set, data_dir } => set.read(data_dir, options, progress),
        ImageSource::Path(path) => read_path(path, options, progress, &mut notices),
        ImageSource::Files(files) => read_files(files, options, progress, &mut notices),
    }?;
    let shape = Shape {
        height: options.size.map_or(set.height, |size| size.height),
        width: options.size.map_or(set.width, |size| size.width),
        channels: options.channels.unwrap_or(set.channels),
    };
    if (shape.height, shape.width) == (1, 1) {
        return Err(DataError::new(&set.origin, Problem::Image(ImageProblem::OnePixel)));
    }
    if !ImageSize::new(shape.height, shape.width).is_sensible() {
        let (images, Shape { height, width, .. }) = (set.len(), shape);
        let problem = ImageProblem::TooManyPixels { images, height, width };
        return Err(DataError::new(&set.origin, Problem::Image(problem)));
    }
    Ok((reshaped(set, shape)?, notices))
}

fn read_path(
    path: &Path,
    options: &ImageOptions,
    progress: Option<Progress<'_>>,
    notices: &mut Vec<Notice>,
) -> Result<ImageSet, DataError> {
    let name = path.display().to_string();
    if !path.is_dir() {
        return read_files(&[path.to_owned()], options, progress, notices);
    }
    let set = read_idx(path, options, None).or_else(|| read_cifar(path, options.part, progress));
    let mut set = set.unwrap_or_else(|| {
        let found = folder::find(path, options, notices)?;
        collect::read(found, name.clone(), options, progress, notices)
    })?;
    set.origin = name;
    Ok(set)
}

fn read_files(
    files: &[PathBuf],
    options: &ImageOptions,
    progress: Option<Progress<'_>>,
    notices: &mut Vec<Notice>,
) -> Result<ImageSet, DataError> {
    if let Some(missing) = files.iter().find(|path| !path.exists()) {
        return Err(DataError::new(missing.display().to_string(), Problem::NoSuchFile));
    }
    let origin = files.first().map(|path| path.display().to_string()).unwrap_or_default();
    match files {
        [file] if cifar::is_batch(file) => return cifar::read(files, progress),
        [file] if idx::is_idx(file) => {
            return idx::Pair::from_images(file.clone()).read(options.need_labels, None);
        }
        [a, b] if idx::is_idx(a) && idx::is_idx(b) => {
            let (images, labels) = if idx::holds_labels(a) { (b, a) } else { (a, b) };
            let pair = idx::Pair { images: images.clone(), labels: Some(labels.clone()) };
            return pair.read(options.need_labels, None);
        }
        _ => {}
    }
    if let Some(other) = files.iter().find(|path| !is_image(path) && image_format(path).is_none()) {
        return Err(DataError::new(other.display().to_string(), Problem::Image(ImageProblem::NotImages)));
    }
    if options.need_labels {
        return Err(DataError::new(origin, Problem::Image(ImageProblem::NoClasses)));
    }
    let found = ImageFiles { files: files.to_vec(), ..ImageFiles::default() };
    collect::read(found, origin, options, progress, notices)
}

/// What the first bytes of a file say, for images without the usual ending.
fn image_format(path: &Path) -> Option<image::ImageFormat> {
    if !path.is_file() {
        return None; // a pipe would wait for its writer
    }
    let mut head = [0; 16];
    let read =
        std::fs::File::open(path).and_then(|mut file| std::io::Read::read(&mut file, &mut head)).ok()?;
    image::guess_format(&head[..read]).ok()
}
