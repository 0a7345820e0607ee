//! Which line of which file a row of a table came from.

use std::sync::Arc;

use crate::error::Place;

/// Where the rows stand in their file, in constant memory for files of one line a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LineNumbers {
    /// Runs of rows on consecutive lines: (first row of the run, its line).
    Lines(Vec<(usize, u64)>),
    /// A file without lines; the number of its first row here, from 1.
    Rows(u64),
    /// Rows of several files.
    Files(Vec<Run>),
}

/// Rows that stand one after the other in one file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    /// The first of them in the table.
    first: usize,
    file: Arc<str>,
    /// Where that one stands.
    place: Place,
}

impl LineNumbers {
    /// Row `row` of the table stands in line `line`.
    pub(crate) fn push_line(&mut self, row: usize, line: u64) {
        if let LineNumbers::Lines(runs) = self {
            let expected = runs.last().map(|(first, at)| at + (row - first) as u64);
            if expected != Some(line) {
                runs.push((row, line));
            }
        }
    }

    /// Row `row` of a table of several files stands there.
    pub(crate) fn push_place(&mut self, row: usize, file: &Arc<str>, place: Place) {
        let LineNumbers::Files(runs) = self else { return };
        let goes_on = |run: &Run| *file == run.file && place == run.place.plus(row - run.first);
        if !runs.last().is_some_and(goes_on) {
            runs.push(Run { first: row, file: Arc::clone(file), place });
        }
    }

    /// From row `row` on, the table of several files has these rows of a file.
    pub(crate) fn append(&mut self, row: usize, file: &Arc<str>, more: LineNumbers) {
        match more {
            LineNumbers::Rows(first) => self.push_place(row, file, Place::Row(first)),
            LineNumbers::Lines(runs) => {
                for (first, line) in runs {
                    self.push_place(row + first, file, Place::Line(line));
                }
            }
            LineNumbers::Files(runs) => {
                for run in runs {
                    self.push_place(row + run.first, &run.file, run.place);
                }
            }
        }
    }

    pub(crate) fn place(&self, row: usize) -> Place {
        match self {
            LineNumbers::Rows(first) => Place::Row(first + row as u64),
            LineNumbers::Lines(runs) => match runs[..runs.partition_point(|(first, _)| *first <= row)].last()
            {
                Some((first, line)) => Place::Line(line + (row - first) as u64),
                None => Place::Row(row as u64 + 1),
            },
            LineNumbers::Files(runs) => match run_of(runs, row) {
                Some(run) => run.place.plus(row - run.first),
                None => Place::Row(row as u64 + 1),
            },
        }
    }

    /// The file of a row, in a table of several.
    pub(crate) fn file(&self, row: usize) -> Option<&Arc<str>> {
        match self {
            LineNumbers::Files(runs) => run_of(runs, row).map(|run| &run.file),
            LineNumbers::Lines(_) | LineNumbers::Rows(_) => None,
        }
    }
}

fn run_of(runs: &[Run], row: usize) -> Option<&Run> {
    runs[..runs.partition_point(|run| run.first <= row)].last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_remember_their_lines_across_gaps() {
        let mut lines = LineNumbers::Lines(Vec::new());
        for (row, line) in [2, 3, 6, 7, 9].into_iter().enumerate() {
            lines.push_line(row, line);
        }
        assert_eq!(lines, LineNumbers::Lines(vec![(0, 2), (2, 6), (4, 9)]));
        let places: Vec<Place> = (0..5).map(|row| lines.place(row)).collect();
        assert_eq!(places, [2, 3, 6, 7, 9].map(Place::Line));
    }

    #[test]
    fn rows_of_several_files_remember_both() {
        let (one, two): (Arc<str>, Arc<str>) = ("1.csv".into(), "2.parquet".into());
        let mut lines = LineNumbers::Files(Vec::new());
        lines.append(0, &one, LineNumbers::Lines(vec![(0, 2), (2, 6)]));
        lines.append(3, &two, LineNumbers::Rows(1));
        lines.push_place(5, &two, Place::Row(9));
        let file = |row| lines.file(row).map(|file| (&**file, lines.place(row)));
        assert_eq!(file(1), Some(("1.csv", Place::Line(3))));
        assert_eq!(file(2), Some(("1.csv", Place::Line(6))));
        assert_eq!(file(4), Some(("2.parquet", Place::Row(2))));
        assert_eq!(file(5), Some(("2.parquet", Place::Row(9))));
    }
}
