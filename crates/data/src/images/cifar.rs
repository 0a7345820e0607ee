//! The binary version of CIFAR-10: records of one label byte and 32 × 32 red, then green, then blue bytes.
//!
//! The training part is `data_batch_1.bin` to `data_batch_5.bin`, the test part `test_batch.bin`, plain or
//! compressed.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::ImageSet;
use super::idx::first_file;
use super::options::Progress;
use super::problem::ImageProblem;
use super::stream::Stream;
use crate::error::{DataError, Problem};
use crate::io::compression::without_ending;

const SIDE: usize = 32;
const PLANE: usize = SIDE * SIDE;
const RECORD: usize = 1 + 3 * PLANE;
const CLASSES: [&str; 10] =
    ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"];

/// The files of the training part in a folder, in their order.
pub(crate) fn find_train(folder: &Path) -> Option<Vec<PathBuf>> {
    let batches = (1..=99).map_while(|batch| first_file(&folder.join(format!("data_batch_{batch}.bin"))));
    let batches: Vec<PathBuf> = batches.collect();
    (!batches.is_empty()).then_some(batches)
}

/// The file of the test part in a folder.
pub(crate) fn find_test(folder: &Path) -> Option<Vec<PathBuf>> {
    first_file(&folder.join("test_batch.bin")).map(|path| vec![path])
}

/// Whether the file's name is that of a batch.
pub(crate) fn is_batch(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = without_ending(name);
    name.ends_with(".bin") && (name.starts_with("data_batch") || name.starts_with("test_batch"))
}

/// All images of some files, in the order of the files.
pub(crate) fn read(files: &[PathBuf], progress: Option<Progress<'_>>) -> Result<ImageSet, DataError> {
    let done = AtomicUsize::new(0);
    // Unpacking xz is what takes the time, and each file can be unpacked on its own thread.
    let batches: Vec<Result<_, DataError>> = files
        .par_iter()
        .map(|path| {
            let batch = read_batch(path);
            if let Some(progress) = progress {
                progress(done.fetch_add(1, Ordering::Relaxed) + 1, files.len());
            }
            batch
        })
        .collect();
    let batches = batches.into_iter().collect::<Result<Vec<_>, DataError>>()?;
    let mut pixels = Vec::with_capacity(batches.iter().map(|(pixels, _)| pixels.len()).sum());
    let mut labels = Vec::with_capacity(batches.iter().map(|(_, labels)| labels.len()).sum());
    for (batch_pixels, batch_labels) in batches {
        pixels.extend_from_slice(&batch_pixels); // each batch is freed before the next is copied
        labels.extend(batch_labels);
    }
    Ok(ImageSet {
        pixels,
        height: SIDE,
        width: SIDE,
        channels: 3,
        labels: Some(labels),
        classes: CLASSES.map(String::from).into(),
        names: Vec::new(),
        origin: files.first().map_or_else(String::new, |path| path.display().to_string()),
    })
}

fn read_batch(path: &Path) -> Result<(Vec<u8>, Vec<u32>), DataError> {
    let mut stream = Stream::open(path)?;
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    let mut record = vec![0; RECORD];
    loop {
        match stream.fill(&mut record)? {
            0 if labels.is_empty() => {
                return Err(DataError::new(path.display().to_string(), Problem::Empty));
            }
            0 => return Ok((pixels, labels)),
            RECORD => {}
            _ => {
                let expected = RECORD as u64 * (labels.len() as u64 + 1);
                return Err(stream.problem(ImageProblem::Truncated { expected, got: stream.position() }));
            }
        }
        let label = record[0];
        if usize::from(label) >= CLASSES.len() {
            let problem = ImageProblem::LabelOutOfRange { label, classes: CLASSES.len() };
            let mut error = stream.problem(problem);
            error.row = Some(labels.len() as u64 + 1);
            return Err(error);
        }
        labels.push(label.into());
        let (red, rest) = record[1..].split_at(PLANE);
        let (green, blue) = rest.split_at(PLANE);
        pixels.extend(red.iter().zip(green).zip(blue).flat_map(|((r, g), b)| [*r, *g, *b]));
    }
}
