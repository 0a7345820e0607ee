//! The type of a column from all of its cells.

use crate::error::{Place, Problem};
use crate::table::cell::{Cell, parse_boolean, parse_number};
use crate::table::datetime::parse_datetime;
use crate::table::number_format::notation_of;
use crate::table::options::ColumnType;
use crate::table::text_detection::TextDetector;

/// From this share of numbers on, a column with other cells is a mistake rather than a category.
const MOSTLY_NUMBERS: f64 = 0.95;

/// Counts what the cells of one column could be.
#[derive(Debug, Default)]
pub(crate) struct Inference {
    first_kind: Option<CellKind>,
    cells: u64,
    numbers: u64,
    booleans: u64,
    dates: u64,
    /// Dates and numbers in a notation that is not read: no prose, however many blanks it has.
    foreign: u64,
    prose: TextDetector,
    first_not_number: Option<(Place, String)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellKind {
    Text,
    Number,
    Boolean,
    DateTime,
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            CellKind::Text => "text",
            CellKind::Number => "a number",
            CellKind::Boolean => "a boolean",
            CellKind::DateTime => "a date",
        }
    }
}

impl Inference {
    /// Takes one cell into account.
    pub(crate) fn push(&mut self, cell: Cell<'_>, place: Place) -> Result<(), Problem> {
        let kind = match cell {
            Cell::Missing => return Ok(()),
            Cell::Text(_) => CellKind::Text,
            Cell::Number(_) => CellKind::Number,
            Cell::Boolean(_) => CellKind::Boolean,
            Cell::DateTime(_) => CellKind::DateTime,
        };
        let first = *self.first_kind.get_or_insert(kind);
        if first != kind {
            return Err(Problem::MixedTypes { first: first.name(), got: cell.kind() });
        }
        self.cells += 1;
        if let Cell::Text(text) = cell {
            self.push_text(text, place);
        }
        Ok(())
    }

    fn push_text(&mut self, text: &str, place: Place) {
        if parse_number(text).is_some() {
            self.numbers += 1;
            return;
        }
        if self.first_not_number.is_none() {
            self.first_not_number = Some((place, text.to_owned()));
        }
        if parse_boolean(text).is_some() {
            self.booleans += 1;
        } else if parse_datetime(text).is_some() {
            self.dates += 1;
        } else {
            self.foreign += u64::from(notation_of(text).is_some());
        }
        self.prose.push(text);
    }

    /// The type, or the place of the cell that spoils a column of numbers.
    ///
    /// A column without any value counts as numbers, all missing. With `keep_spelling`, `yes` and `no` are two texts
    /// instead of a boolean.
    pub(crate) fn resolve(self, keep_spelling: bool) -> Result<ColumnType, (Place, Problem)> {
        match self.first_kind {
            None | Some(CellKind::Number) => return Ok(ColumnType::Number),
            Some(CellKind::Boolean) => return Ok(ColumnType::Boolean),
            Some(CellKind::DateTime) => return Ok(ColumnType::DateTime),
            Some(CellKind::Text) => {}
        }
        match self.first_not_number {
            None => Ok(ColumnType::Number),
            Some((place, got)) if self.numbers as f64 >= MOSTLY_NUMBERS * self.cells as f64 => {
                Err((place, Problem::ExpectedNumber { got }))
            }
            Some(_) if self.booleans == self.cells && !keep_spelling => Ok(ColumnType::Boolean),
            Some(_) if self.dates == self.cells => Ok(ColumnType::DateTime),
            Some(_) if self.prose.is_likely() && 2 * (self.foreign + self.dates) < self.cells => {
                Ok(ColumnType::Text)
            }
            Some(_) => Ok(ColumnType::Category),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(cells: &[&str]) -> Result<ColumnType, (Place, Problem)> {
        let mut inference = Inference::default();
        for (i, cell) in cells.iter().enumerate() {
            inference.push(Cell::Text(cell), Place::Line(i as u64 + 2)).expect("text throughout");
        }
        inference.resolve(false)
    }

    #[test]
    fn a_column_is_what_all_of_its_cells_are() {
        assert_eq!(inferred(&["1", "2.5"]), Ok(ColumnType::Number));
        assert_eq!(inferred(&["yes", "No"]), Ok(ColumnType::Boolean));
        assert_eq!(inferred(&["0", "1"]), Ok(ColumnType::Number));
        assert_eq!(inferred(&["2016-01-11", "2016-01-11 17:00:00"]), Ok(ColumnType::DateTime));
        assert_eq!(inferred(&["2016-01-11", "11/01/2016"]), Ok(ColumnType::Category));
        assert_eq!(inferred(&["1", "a"]), Ok(ColumnType::Category));
        assert_eq!(inferred(&["a film to remember", "not my kind of film"]), Ok(ColumnType::Text));
        assert_eq!(inferred(&["5 Jan 2016 17:00", "6 Jan 2016 18:00"]), Ok(ColumnType::Category));
        assert_eq!(inferred(&["1 000 000 000", "2 000 000 000"]), Ok(ColumnType::Category));
        assert_eq!(inferred(&[]), Ok(ColumnType::Number));
    }

    #[test]
    fn one_word_among_many_numbers_is_an_error_at_its_line() {
        let mut cells = vec!["1"; 19];
        cells.insert(7, "n/a");
        assert_eq!(inferred(&cells), Err((Place::Line(9), Problem::ExpectedNumber { got: "n/a".into() })));
        cells.pop();
        assert_eq!(inferred(&cells), Ok(ColumnType::Category), "below 95 % the words are meant");
    }
}
