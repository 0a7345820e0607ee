//! The type of a column from all of its cells.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{At, Place, Problem};
use crate::table::cell::{Cell, parse_boolean, parse_number};
use crate::table::dates::epochs::Epochs;
use crate::table::dates::evidence::Evidence;
use crate::table::dates::format::DateFormat;
use crate::table::dates::notation::read_date;
use crate::table::number_format::notation_of;
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::text_detection::TextDetector;

/// From this share of numbers or dates on, a column with other cells is a mistake rather than a category.
const MOSTLY: f64 = 0.95;
/// Epochs of an undeclared column lie between these: 1980 and 2100, in microseconds.
const EPOCHS: std::ops::Range<i64> = 315_532_800_000_000..4_102_444_800_000_000;

/// Counts what the cells of one column could be.
///
/// What nothing is known of takes little space: of many files with many columns each has one.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Inference {
    /// Which of several files this is.
    #[serde(skip)]
    file: usize,
    /// Whether the user says that these are dates.
    #[serde(skip_serializing_if = "is_default")]
    is_date: bool,
    /// A format of dates that the user gives for all columns.
    #[serde(skip_serializing_if = "is_default")]
    format: Option<DateFormat>,
    first_kind: Option<CellKind>,
    cells: u64,
    /// Cells in the format that the user gives, as long as all are.
    #[serde(skip_serializing_if = "is_default")]
    in_format: u64,
    #[serde(skip_serializing_if = "is_default")]
    numbers: u64,
    #[serde(skip_serializing_if = "is_default")]
    booleans: u64,
    #[serde(skip_serializing_if = "is_default")]
    dates: u64,
    /// Numbers in a notation that is not read: no prose, however many blanks they have.
    #[serde(skip_serializing_if = "is_default")]
    foreign: u64,
    #[serde(skip_serializing_if = "is_default")]
    prose: TextDetector,
    #[serde(skip_serializing_if = "is_default")]
    first_not_number: Option<(At, String)>,
    #[serde(skip_serializing_if = "is_default")]
    first_not_date: Option<(At, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<Box<Evidence>>,
    /// Of numbers in a column of dates.
    #[serde(skip_serializing_if = "is_default")]
    epochs: Epochs,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A type, and the format of dates.
type Inferred = (ColumnType, Option<DateFormat>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CellKind {
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
    /// For the column of this name; nothing if the user gave all there is to find.
    pub(crate) fn new(name: &str, options: &ReadOptions) -> Option<Self> {
        let format = options.date_formats.of(name);
        match options.given_type(name) {
            None => Some(Inference { format: format.cloned(), ..Inference::default() }),
            Some(ColumnType::DateTime) if format.is_none() => {
                Some(Inference { is_date: true, ..Inference::default() })
            }
            Some(_) => None,
        }
    }

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
        if let Some(format) = &self.format
            && self.in_format == self.cells
        {
            self.in_format += u64::from(is_in(format, cell));
        }
        self.cells += 1;
        match cell {
            Cell::Text(text) => self.push_text(text, At { file: self.file, place }),
            Cell::Number(value) if self.is_date => self.epochs.push(value, At { file: self.file, place }),
            _ => {}
        }
        Ok(())
    }

    fn push_text(&mut self, text: &str, at: At) {
        let number = parse_number(text);
        let date = if number.is_some() { None } else { read_date(text) };
        if date.is_none() && self.first_not_date.is_none() {
            self.first_not_date = Some((at, text.to_owned()));
        }
        if let Some(value) = number {
            self.numbers += 1;
            if self.is_date {
                self.epochs.push(value, at);
            }
            return;
        }
        if self.first_not_number.is_none() {
            self.first_not_number = Some((at, text.to_owned()));
        }
        if let Some(date) = date {
            self.dates += 1;
            self.evidence.get_or_insert_default().push(text, date, at);
        } else if parse_boolean(text).is_some() {
            self.booleans += 1;
        } else {
            self.foreign += u64::from(notation_of(text).is_some());
        }
        self.prose.push(text, self.file);
    }

    /// What the first cell with a value was.
    pub(crate) fn kind(&self) -> Option<CellKind> {
        self.first_kind
    }

    /// The same column in rows after others, of which a cell was of this kind.
    pub(crate) fn after(self, kind: Option<CellKind>) -> Self {
        Inference { first_kind: kind, ..self }
    }

    /// Whether one cell of a column whose cells are all of its kind tells as much as all.
    pub(crate) fn is_told_by_one(&self, kind: CellKind) -> bool {
        let reads_numbers = |format: &DateFormat| format.is_epoch() || format.is_pattern();
        match kind {
            _ if self.is_date => false,
            CellKind::Text => false,
            CellKind::Boolean | CellKind::DateTime => true,
            CellKind::Number => !self.format.as_ref().is_some_and(reads_numbers),
        }
    }

    /// The same column in this of several files.
    pub(crate) fn in_file(self, file: usize) -> Self {
        Inference { file, ..self }
    }

    /// What tells texts from categories.
    pub(crate) fn prose(&mut self) -> &mut TextDetector {
        &mut self.prose
    }

    /// The column with its cells in the next file, which are of the same kind.
    pub(crate) fn extend(&mut self, next: Self) {
        self.first_kind = self.first_kind.or(next.first_kind);
        if self.in_format == self.cells {
            self.in_format += next.in_format;
        }
        self.cells += next.cells;
        self.numbers += next.numbers;
        self.booleans += next.booleans;
        self.dates += next.dates;
        self.foreign += next.foreign;
        self.prose.extend(next.prose);
        self.first_not_number = self.first_not_number.take().or(next.first_not_number);
        self.first_not_date = self.first_not_date.take().or(next.first_not_date);
        if let Some(evidence) = next.evidence {
            self.evidence.get_or_insert_default().extend(*evidence);
        }
        self.epochs.extend(next.epochs);
    }

    /// The type with the format of dates, or the place of the cell that spoils a column of numbers or dates.
    ///
    /// A column without any value counts as numbers, all missing. With `keep_spelling`, `yes` and `no` are two texts
    /// instead of a boolean, and numbers are never dates. Messages name `files`.
    pub(crate) fn resolve(self, keep_spelling: bool, files: &[Arc<str>]) -> Result<Inferred, (At, Problem)> {
        if self.cells > 0 && self.in_format == self.cells && !keep_spelling && self.format.is_some() {
            return Ok((ColumnType::DateTime, self.format));
        }
        match self.first_kind {
            Some(CellKind::DateTime) => return Ok((ColumnType::DateTime, None)),
            _ if self.is_date => return self.resolve_dates(files),
            None | Some(CellKind::Number) => return Ok((ColumnType::Number, None)),
            Some(CellKind::Boolean) => return Ok((ColumnType::Boolean, None)),
            Some(CellKind::Text) => {}
        }
        let most = MOSTLY * self.cells as f64;
        let column_type = match self.first_not_number {
            None => ColumnType::Number,
            Some((at, got)) if self.numbers as f64 >= most => {
                return Err((at, Problem::ExpectedNumber { got }));
            }
            Some(_) if self.booleans == self.cells && !keep_spelling => ColumnType::Boolean,
            Some(_) if self.dates as f64 >= most && !(keep_spelling && self.dates < self.cells) => {
                return match (
                    self.evidence.unwrap_or_default().resolve(self.format.as_ref(), files),
                    self.first_not_date,
                ) {
                    // A target of dates is refused as such, whatever they mean.
                    (Err((_, Problem::AmbiguousDate { readings, .. })), None) if keep_spelling => {
                        let format = readings.into_iter().next().map(|(format, _)| format);
                        Ok((ColumnType::DateTime, format))
                    }
                    (Ok(format), Some((at, got))) => Err((at, Problem::ExpectedDateTime { format, got })),
                    (format, _) => Ok((ColumnType::DateTime, Some(format?))),
                };
            }
            Some(_) if self.prose.is_likely() && 2 * (self.foreign + self.dates) < self.cells => {
                ColumnType::Text
            }
            Some(_) => ColumnType::Category,
        };
        Ok((column_type, None))
    }

    /// The format of a column of which the user says that it holds dates.
    fn resolve_dates(self, files: &[Arc<str>]) -> Result<Inferred, (At, Problem)> {
        let all_numbers = self.first_kind == Some(CellKind::Number) || self.numbers == self.cells;
        let format = if self.cells > 0 && all_numbers {
            self.epochs.resolve(self.cells)?
        } else {
            let format = self.evidence.unwrap_or_default().resolve(None, files)?;
            if let Some((at, got)) = self.first_not_date {
                return Err((at, Problem::ExpectedDateTime { format, got }));
            }
            format
        };
        Ok((ColumnType::DateTime, Some(format)))
    }
}

/// Whether a cell of an undeclared column is a date in a format of all columns. Orders of numbers are left to
/// [`Evidence`].
fn is_in(format: &DateFormat, cell: Cell<'_>) -> bool {
    let micros = || format.read(cell);
    match cell {
        Cell::DateTime(_) => false,
        Cell::Number(value) if value.fract() != 0.0 => false,
        _ if format.is_epoch() => micros().is_some_and(|micros| EPOCHS.contains(&micros)),
        _ => format.is_pattern() && micros().is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inferred(cells: &[&str]) -> Result<ColumnType, (Place, Problem)> {
        with_format(cells, None).map(|(column_type, _)| column_type)
    }

    fn with_format(cells: &[&str], format: Option<&str>) -> Result<Inferred, (Place, Problem)> {
        let format = format.map(|format| format.parse().expect("a format"));
        let mut inference = Inference { format, ..Inference::default() };
        for (i, cell) in cells.iter().enumerate() {
            inference.push(Cell::Text(cell), Place::Line(i as u64 + 2)).expect("text throughout");
        }
        resolved(inference)
    }

    fn resolved(inference: Inference) -> Result<Inferred, (Place, Problem)> {
        inference.resolve(false, &["t.csv".into()]).map_err(|(at, problem)| (at.place, problem))
    }

    #[test]
    fn a_column_is_what_all_of_its_cells_are() {
        assert_eq!(inferred(&["1", "2.5"]), Ok(ColumnType::Number));
        assert_eq!(inferred(&["yes", "No"]), Ok(ColumnType::Boolean));
        assert_eq!(inferred(&["0", "1"]), Ok(ColumnType::Number));
        assert_eq!(inferred(&["2016-01-11", "2016-01-11 17:00:00"]), Ok(ColumnType::DateTime));
        assert_eq!(inferred(&["2016-01-11", "21/01/2016"]), Ok(ColumnType::DateTime));
        assert_eq!(inferred(&["2016-01-11", "in spring", "11/01/2016"]), Ok(ColumnType::Category));
        assert_eq!(inferred(&["1", "a"]), Ok(ColumnType::Category));
        assert_eq!(inferred(&["a film to remember", "not my kind of film"]), Ok(ColumnType::Text));
        assert_eq!(inferred(&["5 Jan 2016 17:00", "6 Jan 2016 18:00"]), Ok(ColumnType::DateTime));
        assert_eq!(inferred(&["20201231", "1609459200"]), Ok(ColumnType::Number));
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

    #[test]
    fn one_number_above_twelve_settles_the_order_of_a_column() {
        for (cells, format) in [
            (["01/02/2020", "13/02/2020", "03/04/2020"], "day-first"),
            (["1.2.2020", "31.2.2020 ", "1.3.2020"], ""),
            (["01-02-2020", "02-13-2020 14:05", "03-04-2020"], "month-first"),
            (["20/12/05", "20/12/31", "99/01/02"], "year-first"),
            (["05/06/20", "25/06/20", "05/06/99"], "day-first"),
            (["2020-01-02", "3 Jan 2020", "2020-W01"], "unambiguous"),
        ] {
            match with_format(&cells, None) {
                Ok((ColumnType::DateTime, Some(found))) => assert_eq!(found.to_string(), format, "{cells:?}"),
                other => assert!(format.is_empty(), "{cells:?} {other:?}"),
            }
        }
    }

    #[test]
    fn an_order_that_no_date_shows_has_to_be_declared() {
        let cells = ["01/02/2020", "03/04/2020"];
        let Err((place, Problem::AmbiguousDate { got, readings })) = with_format(&cells, None) else {
            panic!("the order is not known")
        };
        assert_eq!((place, got.as_str()), (Place::Line(2), "01/02/2020"));
        let dates: Vec<&str> = readings.iter().map(|(_, date)| date.as_str()).collect();
        assert_eq!(dates, ["2020-02-01", "2020-01-02"]);
        for format in ["day-first", "month-first", "%m/%d/%Y"] {
            let found = with_format(&cells, Some(format)).map(|(_, found)| found.map(|f| f.to_string()));
            assert_eq!(found, Ok(Some(format.to_owned())));
        }
    }

    #[test]
    fn two_orders_in_one_column_are_refused_with_both_places() {
        let cells = ["01/02/2020", "31/12/2020", "03/04/2020", "12/31/2020", "30/12/2020"];
        let Err((place, problem)) = with_format(&cells, None) else { panic!("two orders") };
        assert_eq!(place, Place::Line(5));
        let text = problem.to_string();
        assert!(text.contains("month first") && text.contains("\"31/12/2020\" in line 3"), "{text}");
    }

    #[test]
    fn a_date_that_the_declared_order_does_not_allow_is_refused_at_its_line() {
        let refused = with_format(&["01/02/2020", "12/31/2020"], Some("day-first"));
        assert!(matches!(refused, Err((Place::Line(3), Problem::ExpectedDateTime { .. }))), "{refused:?}");
    }

    #[test]
    fn one_impossible_date_among_many_is_an_error_at_its_line() {
        let mut cells = vec!["30/01/2020"; 30];
        cells[4] = "30/02/2020";
        let refused = with_format(&cells, None);
        assert!(matches!(refused, Err((Place::Line(6), Problem::ExpectedDateTime { .. }))), "{refused:?}");
    }

    #[test]
    fn a_format_of_all_columns_leaves_those_alone_that_are_not_written_in_it() {
        let of =
            |cells: &[&str], format| with_format(cells, Some(format)).map(|(column_type, _)| column_type);
        assert_eq!(of(&["20201231", "20200101"], "%Y%m%d"), Ok(ColumnType::DateTime));
        assert_eq!(of(&["20201231", "20201332"], "%Y%m%d"), Ok(ColumnType::Number));
        assert_eq!(of(&["1609459200", "1609459260"], "epoch-seconds"), Ok(ColumnType::DateTime));
        assert_eq!(of(&["160", "1609459260"], "epoch-seconds"), Ok(ColumnType::Number), "of 1970");
        assert_eq!(of(&["2020-12-31"], "epoch-seconds"), Ok(ColumnType::DateTime));
        assert_eq!(of(&["red", "blue"], "%Y%m%d"), Ok(ColumnType::Category));
    }

    #[test]
    fn a_column_of_numbers_that_is_declared_as_dates_shows_its_epoch() {
        let declared = |cells: &[&str]| {
            let mut inference = Inference { is_date: true, ..Inference::default() };
            for cell in cells {
                inference.push(Cell::Text(cell), Place::Line(2)).expect("text throughout");
            }
            resolved(inference).map(|(_, format)| format.map(|format| format.to_string()))
        };
        assert_eq!(declared(&["20201231", "20210101"]), Ok(Some("%Y%m%d".into())));
        assert_eq!(
            declared(&["1609459200", "20201232"]),
            Err((Place::Line(2), Problem::UnclearEpoch { got: 1609459200.0 }))
        );
        assert_eq!(declared(&["1609459200", "1609459200.5"]), Ok(Some("epoch-seconds".into())));
        assert_eq!(declared(&["1609459200000"]), Ok(Some("epoch-milliseconds".into())));
        assert_eq!(declared(&["13/01/2020"]), Ok(Some("day-first".into())));
        assert!(matches!(declared(&["2020-01-01", "soon"]), Err((_, Problem::ExpectedDateTime { .. }))));
    }
}
