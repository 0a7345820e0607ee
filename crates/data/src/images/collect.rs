//! Many images as one set: first all headers, then all pixels, each image decoded straight into its
//! place.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::ImageSet;
use super::decode::{Shape, check_resize, decode};
use super::folder::ImageFiles;
use super::options::{ImageOptions, ImageSize, Progress};
use super::probe::{Probe, probe};
use super::problem::ImageProblem;
use crate::error::{DataError, Notice, Problem};

/// Longest side, in pixels, to which images of several sizes are reduced.
const LONGEST_MIXED: usize = 64;
/// Images of one size are reduced likewise if a side is longer than this.
const LONGEST_UNIFORM: usize = 256;
/// Images above this are decoded one at a time, so that two of them do not fill the memory.
const LARGE_BYTES: u64 = 64 << 20;

/// Reads all images; `origin` names them as a whole.
pub(crate) fn read(
    images: ImageFiles,
    origin: String,
    options: &ImageOptions,
    progress: Option<Progress<'_>>,
    notices: &mut Vec<Notice>,
) -> Result<ImageSet, DataError> {
    let ImageFiles { files, labels, classes } = images;
    let failures = Failures { skip: options.skip_unreadable, first: AtomicUsize::new(usize::MAX) };
    let probes: Vec<Seen<Probe>> =
        files.par_iter().enumerate().map(|(i, path)| failures.watch(i, || probe(path))).collect();
    failures.check(&files, &probes)?;
    let known: Vec<Probe> = probes.iter().flatten().copied().collect();
    let Some(shape) = common_shape(&known, options, notices) else {
        let message = |problem: &ImageProblem| problem.to_string();
        let first = probes.iter().find_map(|probe| probe.as_ref().err().map(message)).unwrap_or_default();
        return Err(none_readable(origin, &files, first));
    };
    if !ImageSize::new(shape.height, shape.width).is_sensible() {
        let (images, Shape { height, width, .. }) = (files.len(), shape);
        let problem = ImageProblem::TooManyPixels { images, height, width };
        return Err(DataError::new(origin, Problem::Image(problem)));
    }
    let done = AtomicUsize::new(0);
    let one_at_a_time = Mutex::new(());
    let mut pixels = shape.zeros(files.len(), &origin)?;
    let slots = pixels.par_chunks_mut(shape.bytes()).zip(&files).zip(probes).enumerate();
    let decoded = slots.map(|(i, ((out, path), probe))| {
        let result = failures.watch(i, || {
            let probe = probe?;
            // Told by the header, before anything is decoded.
            check_resize(probe.width as u32, probe.height as u32, shape)?;
            let large = probe.bytes > LARGE_BYTES;
            let _turn = large.then(|| one_at_a_time.lock());
            decode(path, shape, out)
        });
        if let Some(progress) = progress {
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, files.len());
        }
        result
    });
    let decoded: Vec<Seen<bool>> = decoded.collect();
    failures.check(&files, &decoded)?;
    let animated: Vec<usize> = (0..files.len()).filter(|i| decoded[*i] == Ok(true)).collect();
    let name = |path: &Path| path.display().to_string();
    if let Some(first) = animated.first() {
        notices.push(Notice::FirstFrames { count: animated.len(), first: name(&files[*first]) });
    }
    let mut set = ImageSet {
        pixels,
        height: shape.height,
        width: shape.width,
        channels: shape.channels,
        labels,
        classes,
        names: files.iter().map(|path| name(path)).collect(),
        origin,
    };
    if let Some((first, Err(problem))) = decoded.iter().enumerate().find(|(_, result)| result.is_err()) {
        let count = decoded.iter().filter(|result| result.is_err()).count();
        if count == files.len() {
            return Err(none_readable(set.origin, &files, problem.to_string()));
        }
        let (first, message) = (name(&files[first]), problem.to_string());
        notices.push(Notice::UnreadableSkipped { count, first, message });
        set.retain(|index| decoded[index].is_ok());
        set.drop_empty_classes();
    }
    Ok(set)
}

fn none_readable(origin: String, files: &[PathBuf], message: String) -> DataError {
    let first = files.first().map(|path| path.display().to_string()).unwrap_or_default();
    let problem = ImageProblem::NoneReadable { count: files.len(), first, message };
    DataError::new(origin, Problem::Image(problem))
}

/// Stops early at an image that cannot be read, and always at the same one, whatever the threads do.
struct Failures {
    skip: bool,
    /// The first image known to fail; those behind it need no look.
    first: AtomicUsize,
}

type Seen<T> = Result<T, ImageProblem>;

impl Failures {
    fn watch<T>(&self, index: usize, look: impl FnOnce() -> Seen<T>) -> Seen<T> {
        if !self.skip && index > self.first.load(Ordering::Relaxed) {
            return Err(ImageProblem::Unreadable { message: String::new() }); // after the one that is reported
        }
        let result = look();
        if result.is_err() {
            self.first.fetch_min(index, Ordering::Relaxed);
        }
        result
    }

    fn check<T>(&self, files: &[PathBuf], results: &[Seen<T>]) -> Result<(), DataError> {
        match results.iter().zip(files).find_map(|(result, path)| Some((result.as_ref().err()?, path))) {
            Some((problem, path)) if !self.skip => {
                Err(DataError::new(path.display().to_string(), Problem::Image(problem.clone())))
            }
            _ => Ok(()),
        }
    }
}

/// The shape of all images; `None` without any.
fn common_shape(probes: &[Probe], options: &ImageOptions, notices: &mut Vec<Notice>) -> Option<Shape> {
    let coloured = probes.iter().filter(|probe| probe.colour).count();
    let channels = options.channels.unwrap_or(if coloured > 0 { 3 } else { 1 });
    if options.channels.is_none() && coloured > 0 && coloured < probes.len() {
        notices.push(Notice::MixedColours { colour: coloured, grey: probes.len() - coloured });
    }
    let mut sizes: HashMap<(usize, usize), usize> = HashMap::new();
    probes.iter().for_each(|probe| *sizes.entry((probe.height, probe.width)).or_default() += 1);
    // The most frequent; the smaller one of equals.
    let ((height, width), _) =
        sizes.iter().max_by_key(|(size, count)| (**count, std::cmp::Reverse(**size)))?;
    let common = ImageSize { height: *height, width: *width };
    let limit = if sizes.len() == 1 { LONGEST_UNIFORM } else { LONGEST_MIXED };
    let size = options
        .size
        .unwrap_or_else(|| if common.height.max(common.width) > limit { reduced(common) } else { common });
    if options.size.is_none() && (sizes.len() > 1 || size != common) {
        notices.push(Notice::ImagesResized { sizes: sizes.len(), common, size });
    }
    Some(Shape { height: size.height, width: size.width, channels })
}

/// The same proportions with 64 pixels on the longer side.
fn reduced(size: ImageSize) -> ImageSize {
    let longest = size.height.max(size.width);
    let side = |pixels: usize| ((pixels * LONGEST_MIXED + longest / 2) / longest).max(1);
    ImageSize { height: side(size.height), width: side(size.width) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probes(sizes: &[(usize, usize)]) -> Vec<Probe> {
        sizes
            .iter()
            .map(|(height, width)| Probe { height: *height, width: *width, colour: false, bytes: 1 })
            .collect()
    }

    #[test]
    fn the_size_is_the_common_one_or_the_most_common_one_within_bounds() {
        let shape = |sizes: &[(usize, usize)]| {
            let mut notices = Vec::new();
            let shape = common_shape(&probes(sizes), &ImageOptions::default(), &mut notices).expect("some");
            (shape.height, shape.width, notices.len())
        };
        assert_eq!(shape(&[(96, 80), (96, 80)]), (96, 80, 0));
        assert_eq!(shape(&[(30, 20), (10, 10), (30, 20)]), (30, 20, 1));
        assert_eq!(shape(&[(480, 640), (100, 100), (480, 640)]), (48, 64, 1));
        assert_eq!(shape(&[(20, 20), (10, 10)]), (10, 10, 1));
        assert_eq!(shape(&[(480, 640)]), (48, 64, 1));
        assert_eq!(shape(&[(10_000, 1), (2, 2), (10_000, 1)]), (64, 1, 1));
    }
}
