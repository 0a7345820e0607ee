//! What passes over the files of a table found, put together in the order of the files: exactly what one pass over all would find.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::file_part::FileScan;
use super::messages::Fault;
use crate::error::{DataError, Problem};
use crate::table::dates::formats::DateFormats;
use crate::table::infer::{CellKind, Inference};
use crate::table::no_such_column;
use crate::table::options::{ColumnType, ReadOptions};

/// What a pass over a table finds.
pub(crate) struct Found {
    /// Names and types of all columns.
    pub(crate) columns: Vec<(String, ColumnType)>,
    /// Formats of those with dates.
    pub(crate) date_formats: DateFormats,
    pub(crate) rows: usize,
}

/// The files so far.
#[derive(Default)]
pub(super) struct Merged {
    columns: Vec<(String, Option<Inference>)>,
    position: HashMap<String, usize>,
    /// The first file that has a byte.
    first: Option<usize>,
    rows: usize,
}

/// Why a file does not go with those before.
pub(super) enum Refused {
    /// A fault in it.
    Fault(Box<Fault>),
    /// It has other columns.
    Columns(DataError),
    /// Cells of another kind, unless a fault stands before them: a second look tells.
    Kinds,
}

impl Merged {
    /// The next file that has a byte.
    pub(super) fn add(&mut self, index: usize, scan: FileScan, files: &[Arc<str>]) -> Result<(), Refused> {
        let first = *self.first.get_or_insert(index);
        if first != index && !scan.names_in_rows {
            self.check_columns(&scan, &files[first]).map_err(|(column, problem)| {
                Refused::Columns(DataError::new(files[index].as_ref(), problem).in_column(&column))
            })?;
        }
        if scan.columns.iter().any(|(name, infer)| self.contradicts(name, infer.as_ref())) {
            return Err(Refused::Kinds);
        }
        if let Some(fault) = scan.fault {
            return Err(Refused::Fault(fault.into()));
        }
        self.rows += scan.rows;
        for (name, infer) in scan.columns {
            match (self.position.get(&name), infer) {
                (None, infer) => {
                    self.position.insert(name.clone(), self.columns.len());
                    self.columns.push((name, infer));
                }
                (Some(at), Some(infer)) => {
                    if let Some(before) = &mut self.columns[*at].1 {
                        before.extend(infer);
                    }
                }
                (Some(_), None) => {}
            }
        }
        Ok(())
    }

    /// Each column with the kind of its cells.
    pub(super) fn kinds(&self) -> Vec<(String, Option<CellKind>)> {
        let kind = |infer: &Option<Inference>| infer.as_ref().and_then(Inference::kind);
        self.columns.iter().map(|(name, infer)| (name.clone(), kind(infer))).collect()
    }

    /// The column that only one of the file and those before has.
    fn check_columns(&self, scan: &FileScan, first: &str) -> Result<(), (String, Problem)> {
        let own: HashSet<&String> = scan.columns.iter().map(|(name, _)| name).collect();
        let other = |name: &String, lacks| {
            Err((name.clone(), Problem::OtherSchema { lacks, first: first.to_owned() }))
        };
        let wanted = self.columns.iter().filter(|(_, infer)| infer.is_some());
        if let Some((name, _)) = wanted.into_iter().find(|(name, _)| !own.contains(name)) {
            return other(name, true);
        }
        let learns = self.columns.iter().any(|(_, infer)| infer.is_some());
        match scan.columns.iter().find(|(name, _)| learns && !self.position.contains_key(name)) {
            Some((name, _)) => other(name, false),
            None => Ok(()),
        }
    }

    fn contradicts(&self, name: &str, infer: Option<&Inference>) -> bool {
        let before = self.position.get(name).and_then(|at| self.columns[*at].1.as_ref()?.kind());
        let own = infer.and_then(Inference::kind);
        before.zip(own).is_some_and(|(before, own)| before != own)
    }

    /// The types of all columns.
    pub(super) fn resolve(
        self,
        table: &str,
        files: &[Arc<str>],
        options: &ReadOptions,
    ) -> Result<Found, DataError> {
        if self.first.is_none() {
            return Err(DataError::new(table, Problem::Empty));
        }
        let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        if self.rows == 0 {
            return Err(DataError::new(table, no_rows(Some(names.len()).filter(|count| *count > 0))));
        }
        let mut asked = options.given().chain(&options.keep_spelling);
        if let Some(name) = asked.find(|name| !self.position.contains_key(*name)) {
            return Err(DataError::new(table, no_such_column(name, &names)).in_column(name));
        }
        let spelled: HashSet<&String> = options.keep_spelling.iter().collect();
        let mut columns = Vec::with_capacity(names.len());
        let mut date_formats = DateFormats { every: None, columns: options.date_formats.columns.clone() };
        for (name, infer) in self.columns {
            let (column_type, format) = match infer {
                None => {
                    let given = options.given_type(&name).unwrap_or(ColumnType::Ignore);
                    (given, options.date_formats.of(&name).cloned())
                }
                Some(infer) => infer.resolve(spelled.contains(&name), files).map_err(|(at, problem)| {
                    DataError::at(&files[at.file], at.place, problem).in_column(&name)
                })?,
            };
            date_formats.columns.extend(format.map(|format| (name.clone(), format)));
            columns.push((name, column_type));
        }
        Ok(Found { columns, date_formats, rows: self.rows })
    }
}

/// A file of JSON lines has no header, so without rows it has nothing.
pub(crate) fn no_rows(header: Option<usize>) -> Problem {
    header.map_or(Problem::Empty, |columns| Problem::HeaderOnly { columns })
}
