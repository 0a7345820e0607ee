//! Which line of its file a row of a table came from.

use crate::error::Place;

/// Where the rows stand in their file, in constant memory for files of one line a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LineNumbers {
    /// Runs of rows on consecutive lines: (first row of the run, its line).
    Lines(Vec<(usize, u64)>),
    /// A file without lines; the number of its first row here, from 1.
    Rows(u64),
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

    pub(crate) fn place(&self, row: usize) -> Place {
        match self {
            LineNumbers::Rows(first) => Place::Row(first + row as u64),
            LineNumbers::Lines(runs) => match runs[..runs.partition_point(|(first, _)| *first <= row)].last()
            {
                Some((first, line)) => Place::Line(line + (row - first) as u64),
                None => Place::Row(row as u64 + 1),
            },
        }
    }
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
}
