//! A sample of the rows, drawn from all files side by side on threads and processes.

use std::sync::Mutex;

use rayon::prelude::*;

use super::TableScan;
use super::chosen::Chosen;
pub use super::chosen::SampledRows;
use super::messages::{Fault, unreadable};
use super::pass::lock;
use super::row_bytes::{Bytes, write_rows};
use super::rows::Rows;
use super::strata::Strata;
use crate::error::DataError;
use crate::table::options::ColumnType;
use crate::table::{Table, no_such_column};
use crate::together::Together;

/// Some of the rows of a scanned table.
#[derive(Debug, Clone)]
pub struct Sample {
    /// The rows, in the order of files and rows.
    pub table: Table,
    /// Which these are.
    pub rows: SampledRows,
}

/// What is drawn from some of the files.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    pub(super) rows: Rows,
    /// Rows that rare levels may need beside these.
    pub(super) candidates: Rows,
    /// Whether there are too many levels for any to be rare.
    pub(super) too_many_levels: bool,
}

/// What a process has to say.
enum Message {
    /// The first of its files with a fault.
    Fault(usize, Fault),
    Drawn(Drawn),
}

/// How rows are drawn.
struct Draw<'a> {
    chosen: Chosen,
    /// The column whose rare levels have rows of their own.
    strata: Option<&'a str>,
}

/// What this process drew so far.
#[derive(Default)]
struct Own {
    rows: Rows,
    strata: Strata,
    fault: Option<(usize, DataError)>,
}

impl TableScan {
    /// Some `count` of the rows, chosen by `seed`: the same in whatever order, on however many processes files are read.
    ///
    /// If `strata` names a column of categories or booleans with at most 1000 levels, or of so few whole numbers that they can be classes,
    /// there are rows beside these, so that each level has 3 or all that it has. A column of other numbers counts as declared: the
    /// sample may have few of its values, and they are no classes.
    ///
    /// # Errors
    /// If the files changed since they were scanned, or `strata` is no column.
    pub fn sample(
        &self,
        count: usize,
        seed: u64,
        strata: Option<&str>,
        together: &dyn Together,
    ) -> Result<Sample, DataError> {
        let strata = self.column_of_strata(strata)?;
        let draw = Draw { chosen: Chosen::new(count, self.rows, seed), strata };
        let Own { rows, strata: of_levels, mut fault } = self.draw(&draw, together);
        let own = match &fault {
            Some((index, error)) => Message::Fault(*index, Fault::from(error)),
            None => Message::Drawn(Drawn {
                rows,
                too_many_levels: of_levels.too_many,
                candidates: of_levels.into_rows(),
            }),
        };
        let (mut all, mut faults) = (Vec::new(), Vec::new());
        for (rank, bytes) in together.gather(&own.into_bytes())?.into_iter().enumerate() {
            let broken = || unreadable(rank, "what it sent cannot be read");
            match self.message(&bytes, &draw.chosen).ok_or_else(broken)? {
                Message::Fault(index, fault) => faults.push((index, fault)),
                Message::Drawn(drawn) => all.push(drawn),
            }
        }
        match faults.into_iter().min_by_key(|(index, _)| *index) {
            None => Ok(self.assembled(all, draw.chosen, strata)),
            Some((index, told)) => Err(match fault.take_if(|(own, _)| *own == index) {
                Some((_, error)) => error,
                None => told.into(),
            }),
        }
    }

    /// The column of that name, if its levels are strata.
    fn column_of_strata<'a>(&self, name: Option<&'a str>) -> Result<Option<&'a str>, DataError> {
        let Some(name) = name else { return Ok(None) };
        match self.columns.iter().find(|(known, _)| known == name) {
            Some((_, ColumnType::Category | ColumnType::Boolean | ColumnType::Number)) => Ok(Some(name)),
            Some(_) => Ok(None),
            None => {
                let names: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
                let problem = no_such_column(name, &names);
                Err(DataError::new(self.files.name.as_ref(), problem).in_column(name))
            }
        }
    }

    /// Draws from the files of this process; those after a fault are left out.
    fn draw(&self, draw: &Draw<'_>, together: &dyn Together) -> Own {
        let own = Mutex::new(Own::default());
        self.files.of(together).into_par_iter().with_max_len(1).for_each(|index| {
            if lock(&own).fault.as_ref().is_some_and(|(faulty, _)| *faulty < index) {
                return;
            }
            let drawn = self.draw_from(index, draw);
            let mut own = lock(&own);
            match drawn {
                Ok((rows, strata)) => {
                    own.rows.append(rows);
                    own.strata.append(strata);
                }
                Err(error) if own.fault.as_ref().is_none_or(|(faulty, _)| index < *faulty) => {
                    own.fault = Some((index, error));
                }
                Err(_) => {}
            }
        });
        std::mem::take(&mut lock(&own))
    }

    fn draw_from(&self, index: usize, draw: &Draw<'_>) -> Result<(Rows, Strata), DataError> {
        let (mut drawn, mut strata) = (Rows::default(), Strata::default());
        for block in self.open(index)?.into_iter().flatten() {
            let block = block?;
            let key = |row| draw.chosen.key(index, block.first_row + row);
            let table = block.table.traced();
            let keys: Vec<_> = (0..table.rows()).map(key).collect();
            let own: Vec<usize> = (0..keys.len()).filter(|row| draw.chosen.has(&keys[*row])).collect();
            drawn.push(&table, &own, own.iter().map(|row| keys[*row]).collect());
            if let Some(name) = draw.strata {
                strata.push(&table, table.column(name)?, &keys, &draw.chosen);
            }
        }
        Ok((drawn, strata))
    }

    /// What [`Message::into_bytes`] wrote.
    fn message(&self, bytes: &[u8], chosen: &Chosen) -> Option<Message> {
        let mut bytes = Bytes(bytes);
        if bytes.byte()? == 0 {
            let (index, fault) = serde_json::from_slice(bytes.0).ok()?;
            return Some(Message::Fault(index, fault));
        }
        let names = self.read_columns().map(|(name, _)| name.clone()).collect::<Vec<String>>();
        let too_many_levels = bytes.byte()? == 1;
        let mut rows = || bytes.rows(&names, self.files.names(), chosen);
        Some(Message::Drawn(Drawn { rows: rows()?, candidates: rows()?, too_many_levels }))
    }
}

impl Message {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Message::Fault(index, fault) => {
                let fault = serde_json::to_vec(&(index, fault)).expect("plain data can be written as JSON");
                [vec![0], fault].concat()
            }
            Message::Drawn(mut drawn) => {
                let mut bytes = vec![1, u8::from(drawn.too_many_levels)];
                write_rows(&mut drawn.rows, &mut bytes);
                write_rows(&mut drawn.candidates, &mut bytes);
                bytes
            }
        }
    }
}
