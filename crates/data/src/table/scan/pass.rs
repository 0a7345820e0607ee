//! One pass over all files of a table, side by side on threads and processes.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use rayon::prelude::*;

use super::file_list::FileList;
use super::file_part::{FilePart, fault_after};
use super::merge::{Found, Merged, Refused};
use super::messages::gathered;
use crate::error::DataError;
use crate::io::input::Input;
use crate::table::options::ReadOptions;
use crate::table::text_detection::TextDetector;
use crate::together::Together;

/// Hashes of texts that are held before the samples of all files are thinned to what one table needs.
const HELD: usize = 1 << 20;

/// What the files of this process hold.
#[derive(Default)]
struct Own {
    parts: Vec<(usize, FilePart)>,
    /// Hashes in the samples of texts since they were thinned.
    held: usize,
    errors: HashMap<usize, DataError>,
}

/// Names and types of the columns of one input, and its number of rows.
pub(crate) fn scan_input(input: &mut Input, options: &ReadOptions) -> Result<Found, DataError> {
    let files = [input.name.clone()];
    let mut merged = Merged::default();
    match FilePart::read(0, input, options) {
        (_, Some(error)) => return Err(error),
        (FilePart::Read(scan), None) => {
            // Nothing before a first file contradicts it.
            let _ = merged.add(0, scan, &files);
        }
        (FilePart::Empty | FilePart::Closed(_), None) => {}
    }
    merged.resolve(&files[0], &files, options)
}

/// Names and types of the columns of several files, and their number of rows: the same at all processes, each of which reads some.
pub(crate) fn scan_files(
    files: &FileList,
    options: &ReadOptions,
    together: &dyn Together,
) -> Result<Found, DataError> {
    let Own { mut parts, mut errors, .. } = own_parts(files, options, together);
    thin(&mut parts);
    let mut parts: Vec<(usize, FilePart)> = gathered(&parts, together)?.into_iter().flatten().collect();
    parts.sort_by_key(|(index, _)| *index);
    thin(&mut parts);
    let mut merged = Merged::default();
    for (index, part) in parts {
        let scan = match part {
            FilePart::Empty => continue,
            FilePart::Closed(fault) => return Err(errors.remove(&index).unwrap_or_else(|| fault.into())),
            FilePart::Read(scan) => scan,
        };
        merged.add(index, scan, files.names()).map_err(|refused| match refused {
            Refused::Fault(fault) => errors.remove(&index).unwrap_or_else(|| (*fault).into()),
            Refused::Columns(error) => error,
            Refused::Kinds => second_look(files, index, options, &merged),
        })?;
    }
    merged.resolve(&files.name, files.names(), options)
}

/// Scans the files of this process; what stands after a fault is left out.
fn own_parts(files: &FileList, options: &ReadOptions, together: &dyn Together) -> Own {
    let own = Mutex::new(Own::default());
    files.of(together).into_par_iter().with_max_len(1).for_each(|index| {
        if lock(&own).errors.keys().any(|faulty| *faulty < index) {
            return;
        }
        let (mut part, error) = match files.find(index) {
            Ok(None) => (FilePart::Empty, None),
            Ok(Some(mut input)) => FilePart::read(index, &mut input, options),
            Err(error) => (FilePart::Closed((&error).into()), Some(error)),
        };
        let held = part.inferences().map(|(_, infer)| infer.prose().held()).sum::<usize>();
        let mut own = lock(&own);
        own.held += held;
        own.parts.push((index, part));
        own.errors.extend(error.map(|error| (index, error)));
        if own.held > HELD {
            thin(&mut own.parts);
            own.held = 0;
        }
    });
    std::mem::take(&mut lock(&own))
}

pub(super) fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().expect("who holds it does not panic")
}

/// Makes the columns of several files ready to be put together; see [`TextDetector::thin`].
fn thin(parts: &mut [(usize, FilePart)]) {
    let mut columns: HashMap<&String, Vec<&mut TextDetector>> = HashMap::new();
    for (_, part) in parts {
        let texts = part.inferences().map(|(name, infer)| (name, infer.prose()));
        for (name, prose) in texts.filter(|(_, prose)| prose.held() > 0) {
            columns.entry(name).or_default().push(prose);
        }
    }
    columns.values_mut().for_each(|files| TextDetector::thin(files));
}

/// The fault of a file that has cells of another kind than those before.
fn second_look(files: &FileList, index: usize, options: &ReadOptions, before: &Merged) -> DataError {
    match files.find(index) {
        Ok(Some(mut input)) => fault_after(&mut input, options, &before.kinds()),
        Ok(None) => files.changed(index),
        Err(error) => error,
    }
}
