//! Rows of rare levels: a sample has some of each, however few there are.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::chosen::{Chosen, RowKey};
use super::rows::Rows;
use crate::schema::task::MOST_NUMBER_CLASSES;
use crate::table::{Column, Table};

/// Rows that a sample has of each level at least, if there are as many: enough to know it, and so few that its share stays about what it is.
pub(super) const ROWS_OF_A_LEVEL: usize = 3;
/// A column of more levels has no strata, nor has one of numbers that are not whole or have more values than can be classes.
const MOST_LEVELS: usize = 1000;

/// The first rows of each level that are not drawn anyway, of some of the files.
#[derive(Debug, Default)]
pub(super) struct Strata {
    keys: HashMap<String, BTreeSet<RowKey>>,
    /// The rows of `keys`, and some that others have replaced.
    rows: Rows,
    /// Whether there are so many levels that none is a stratum.
    pub(super) too_many: bool,
    are_numbers: bool,
}

impl Strata {
    /// Takes the rows of a block into account, each of which has its key.
    pub(super) fn push(&mut self, table: &Table, column: &Column, keys: &[RowKey], chosen: &Chosen) {
        if self.too_many {
            return;
        }
        let Some(levels) = rows_by_level(column) else {
            *self = Strata { too_many: true, ..Strata::default() };
            return;
        };
        self.are_numbers |= matches!(column, Column::Number(_));
        let mut entered = Vec::new();
        for (level, rows) in levels {
            let own = self.keys.entry(level).or_default();
            for row in rows.into_iter().filter(|row| !chosen.has(&keys[*row])) {
                if is_among_first(own, &keys[row]) {
                    entered.push(row);
                    own.insert(keys[row]);
                    if own.len() > ROWS_OF_A_LEVEL {
                        own.pop_last();
                    }
                }
            }
        }
        self.rows.push(table, &entered, entered.iter().map(|row| keys[*row]).collect());
        self.tidy();
    }

    /// Takes the rows of other files into account.
    pub(super) fn append(&mut self, more: Self) {
        self.too_many |= more.too_many;
        self.are_numbers |= more.are_numbers;
        for (level, keys) in more.keys {
            let own = self.keys.entry(level).or_default();
            own.extend(keys);
            while own.len() > ROWS_OF_A_LEVEL {
                own.pop_last();
            }
        }
        self.rows.append(more.rows);
        self.tidy();
    }

    /// The rows, and no others.
    pub(super) fn into_rows(mut self) -> Rows {
        self.keep_live();
        self.rows
    }

    /// Forgets what was replaced, as soon as it is more than what is left.
    fn tidy(&mut self) {
        if self.too_many || self.keys.len() > most_levels(self.are_numbers) {
            *self = Strata { too_many: true, ..Strata::default() };
        } else if self.rows.len() > 2 * ROWS_OF_A_LEVEL * self.keys.len().max(100) {
            self.keep_live();
        }
    }

    fn keep_live(&mut self) {
        let live: HashSet<RowKey> = self.keys.values().flatten().copied().collect();
        self.rows.retain(&live);
    }
}

fn is_among_first(keys: &BTreeSet<RowKey>, key: &RowKey) -> bool {
    keys.len() < ROWS_OF_A_LEVEL || keys.last().is_some_and(|last| key < last)
}

fn most_levels(are_numbers: bool) -> usize {
    if are_numbers { MOST_NUMBER_CLASSES } else { MOST_LEVELS }
}

/// Rows of each level; those without a value have none. Nothing of a column that has no levels.
pub(super) fn rows_by_level(column: &Column) -> Option<HashMap<String, Vec<usize>>> {
    let mut found: HashMap<String, Vec<usize>> = HashMap::new();
    match column {
        Column::Category { codes, levels } => {
            let mut rows: Vec<Vec<usize>> = vec![Vec::new(); levels.len()];
            for (row, code) in codes.iter().enumerate() {
                if let Some(code) = code {
                    rows[*code as usize].push(row);
                }
            }
            found.extend(levels.iter().cloned().zip(rows).filter(|(_, rows)| !rows.is_empty()));
        }
        Column::Boolean(values) => {
            for (row, value) in values.iter().enumerate() {
                if let Some(value) = value {
                    found.entry(value.to_string()).or_default().push(row);
                }
            }
        }
        Column::Number(values) => {
            let mut rows: HashMap<u64, Vec<usize>> = HashMap::new();
            for (row, value) in values.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                if value.fract() != 0.0 || rows.len() > MOST_NUMBER_CLASSES {
                    return None;
                }
                rows.entry((value + 0.0).to_bits()).or_default().push(row); // −0 is 0
            }
            found.extend(rows.into_iter().map(|(bits, rows)| (f64::from_bits(bits).to_string(), rows)));
        }
        Column::Text(_) | Column::DateTime(_) => return None,
    }
    Some(found)
}

/// Keys of the candidates that a sample needs beside the rows that are drawn.
pub(super) fn needed(drawn: Option<&Column>, candidates: &Column, keys: &[RowKey]) -> HashSet<RowKey> {
    let most = most_levels(matches!(candidates, Column::Number(_)));
    let drawn = drawn.map_or_else(|| Some(HashMap::new()), rows_by_level);
    let (Some(drawn), Some(candidates)) = (drawn, rows_by_level(candidates)) else { return HashSet::new() };
    let levels: HashSet<&String> = drawn.keys().chain(candidates.keys()).collect();
    if levels.len() > most {
        return HashSet::new();
    }
    let first = |(level, rows): (&String, &Vec<usize>)| {
        let mut own: Vec<RowKey> = rows.iter().map(|row| keys[*row]).collect();
        own.sort_unstable();
        own.truncate(ROWS_OF_A_LEVEL.saturating_sub(drawn.get(level).map_or(0, Vec::len)));
        own
    };
    candidates.iter().flat_map(first).collect()
}
