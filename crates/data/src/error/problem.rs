//! Everything that can be wrong with data, one variant a kind, each with its numbers.

use thiserror::Error;

use crate::error::counted::{counted, counted_rows};
use crate::graphs::GraphProblem;
use crate::images::ImageProblem;
use crate::table::dates::format::DateFormat;
use crate::table::options::ColumnType;

/// What is wrong. The place stands in [`DataError`](crate::DataError), the remedy in its `hint()`.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// The path does not exist.
    #[error("no such file")]
    NoSuchFile,
    /// A pattern of file names that no file has.
    #[error("no file matches")]
    NothingMatches,
    /// A pattern of file names that is none.
    #[error("not a pattern of file names: {message}")]
    BadPattern {
        /// What is wrong with it.
        message: String,
    },
    /// A file of a table in several files that has other columns than the first.
    #[error("{}", if *.lacks { format!("the column is missing here, and {first} has it") } else { format!("the column is not in {first}") })]
    OtherSchema {
        /// Whether the column is not in this file.
        lacks: bool,
        /// The first file.
        first: String,
    },
    /// The path is a folder.
    #[error("is a directory, not a file")]
    IsDirectory,
    /// The operating system refused.
    #[error("cannot {action}: {message}")]
    Io {
        /// What was tried, as a verb: `read`, `write`, `create`.
        action: &'static str,
        /// The system's own words.
        message: String,
    },
    /// A device, socket or pipe where only a regular file can be read.
    #[error("is not a regular file")]
    NotARegularFile,
    /// The disk, the quota or the file-size limit is exhausted.
    #[error("cannot {action}: {message}")]
    NoSpace {
        /// What was tried, as a verb.
        action: String,
        /// The system's own words.
        message: String,
        /// The folder that is full, if it is not that of the file.
        folder: Option<String>,
    },
    /// The reader of our output went away.
    #[error("broken pipe")]
    BrokenPipe,
    /// Zero bytes, or nothing but blank lines.
    #[error("the file is empty")]
    Empty,
    /// A header and no rows.
    #[error("there is a header of {} but not one row", counted(*.columns, "column", "columns"))]
    HeaderOnly {
        /// Columns of the header.
        columns: usize,
    },
    /// A row with more or fewer fields than the header.
    #[error("expected {} as in the header, got {got}", counted(*.expected, "field", "fields"))]
    RaggedRow {
        /// Fields of the header.
        expected: usize,
        /// Fields of this row.
        got: usize,
    },
    /// The header is one field that contains another usual delimiter.
    #[error("the header is a single field with {delimiter:?} as delimiter, but contains {found:?}")]
    WrongDelimiter {
        /// The delimiter in use.
        delimiter: char,
        /// The one that stands in the header.
        found: char,
    },
    /// A delimiter that is not one ASCII character, or is the quote or a line end.
    #[error("{delimiter:?} cannot be a delimiter")]
    BadDelimiter {
        /// What was asked for.
        delimiter: char,
    },
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 text")]
    NotUtf8,
    /// A quote that opens here and never closes.
    #[error("a quoted field opens here and never closes")]
    UnclosedQuote,
    /// Lines that end with a bare carriage return, as on computers before 2001.
    #[error("the lines end with carriage returns alone, so the whole file is one line")]
    CarriageReturns,
    /// One record above the limit.
    #[error("one line is longer than {limit_mib} MiB")]
    RecordTooLong {
        /// The limit.
        limit_mib: usize,
    },
    /// A codec that is not a table.
    #[error("this is {what}, not a csv, parquet or json-lines file")]
    NotATable {
        /// What the first bytes say.
        what: &'static str,
    },
    /// Damaged or cut gzip data.
    #[error("the gzip data is {}: {message}", if *.truncated { "cut off" } else { "damaged" })]
    BrokenGzip {
        /// Whether the end is missing.
        truncated: bool,
        /// The decoder's own words.
        message: String,
    },
    /// Damaged or cut xz data.
    #[error("the xz data is damaged or cut off: {message}")]
    BrokenXz {
        /// The decoder's own words.
        message: String,
    },
    /// Damaged or cut Parquet data.
    #[error("not a readable parquet file: {message}")]
    BrokenParquet {
        /// The decoder's own words.
        message: String,
    },
    /// Record batches that are not what their schema says, or a stream of them that failed.
    #[error("not a readable arrow stream: {message}")]
    BrokenArrow {
        /// In the words of the program that made it.
        message: String,
    },
    /// A file that is read several times, and is another one now.
    #[error("the file changed while it was learned from")]
    FileChanged,
    /// Processes whose files are not copies of each other.
    #[error("processes read different files: {message}")]
    DifferentFiles {
        /// The first file that differs, and how.
        message: String,
    },
    /// What another process met.
    #[error("{message}")]
    Elsewhere {
        /// The problem in its words.
        message: String,
        /// The remedy.
        hint: Option<String>,
    },
    /// A stream of record batches that was read before.
    #[error("the stream was read already")]
    StreamIsSpent,
    /// Damaged or cut NumPy data.
    #[error("not a readable numpy array: {message}")]
    BrokenNpy {
        /// What is wrong.
        message: String,
    },
    /// A NumPy array of anything but plain little-endian numbers.
    #[error("the numpy array holds values of type {descr:?}, which cannot be used")]
    NpyType {
        /// The type in NumPy's words.
        descr: String,
    },
    /// A NumPy array of no, too many or other dimensions.
    #[error("the numpy array has the shape {shape}")]
    NpyShape {
        /// The shape in NumPy's words.
        shape: String,
    },
    /// A line that is not JSON.
    #[error("not valid json: {message}")]
    BrokenJson {
        /// The parser's own words.
        message: String,
    },
    /// A line that is JSON, but not an object.
    #[error("expected one json object a line, got {got}")]
    NotAJsonObject {
        /// What the line is instead.
        got: &'static str,
    },
    /// A column that the file does not have.
    #[error("not among the {} of the file", counted(.available.len(), "column", "columns"))]
    NoSuchColumn {
        /// The closest name, if one is close.
        nearest: Option<String>,
        /// All names of the file.
        available: Vec<String>,
    },
    /// Two columns of the same name.
    #[error("the name stands twice, as column {first} and column {second}")]
    DuplicateColumn {
        /// Position of the first, from 1.
        first: usize,
        /// Position of the second, from 1.
        second: usize,
    },
    /// A cell that is not a number.
    #[error("expected a number, got {got:?}")]
    ExpectedNumber {
        /// The cell.
        got: String,
    },
    /// A cell that is not a boolean.
    #[error("expected true/false or yes/no, got {got:?}")]
    ExpectedBoolean {
        /// The cell.
        got: String,
    },
    /// A cell that is no date in the format of its column.
    #[error("expected {}, got {got:?}", .format.expected())]
    ExpectedDateTime {
        /// The format.
        format: DateFormat,
        /// The cell.
        got: String,
    },
    /// A column of dates that does not show the order of day and month.
    #[error("{got:?} can be {}, and no other row shows which is meant", alternatives(.readings))]
    AmbiguousDate {
        /// A date.
        got: String,
        /// Formats in which all dates of the column can be read, with what they make of this one.
        readings: Vec<(DateFormat, String)>,
    },
    /// A column of dates in different orders.
    #[error("{got:?} has the {order}, but {other:?} in {other_place} has the {other_order}")]
    ContradictingDates {
        /// The date that contradicts the ones before, and its order.
        got: Box<str>,
        /// As above.
        order: Box<str>,
        /// A date before, and where that is.
        other: Box<str>,
        /// As above.
        other_place: Box<str>,
        /// The order of the other date.
        other_order: Box<str>,
    },
    /// A number in a column of dates, whose format nothing tells.
    #[error("{got} is a number, and nothing tells which date it is")]
    UnclearEpoch {
        /// The number.
        got: f64,
    },
    /// Infinite, or too large for a 64-bit float.
    #[error("{got:?} is not a finite number")]
    InfiniteNumber {
        /// The cell.
        got: String,
    },
    /// Two types in one typed column (JSON).
    #[error("{got} here, but {first} in the rows before")]
    MixedTypes {
        /// The type of the rows before.
        first: &'static str,
        /// The type of this cell.
        got: &'static str,
    },
    /// Nested, binary and other types that are no table cell.
    #[error("values of type {type_name} cannot be used")]
    UnsupportedType {
        /// The type's name.
        type_name: String,
    },
    /// A table whose column has another type than the model was trained with.
    #[error("the model was trained with {expected} values, got {got} values")]
    TypeChanged {
        /// Type in training.
        expected: ColumnType,
        /// Type now.
        got: ColumnType,
    },
    /// Columns of different lengths.
    #[error("expected {}, got {got}", counted_rows(*.expected))]
    UnequalLengths {
        /// Rows of the first column.
        expected: usize,
        /// Rows of this column.
        got: usize,
    },
    /// A target that is not a number column.
    #[error("the target is not numeric but {kind}, with values such as {}", .examples.join(", "))]
    TargetNotNumeric {
        /// Its type.
        kind: ColumnType,
        /// A few of its values.
        examples: Vec<String>,
    },
    /// A target of dates.
    #[error("the target is a date, such as {}", .examples.join(", "))]
    TargetIsDate {
        /// A few of its values.
        examples: Vec<String>,
    },
    /// Several targets, though classes are to be learned.
    #[error("{targets} targets are named, but classes can be learned for one only")]
    SeveralClassTargets {
        /// How many.
        targets: usize,
    },
    /// Labels that are all the same.
    #[error("the target has one class only: {label:?} in all {}", counted_rows(*.rows))]
    OneClass {
        /// The class.
        label: String,
        /// Rows (or images) with a label.
        rows: usize,
    },
    /// More classes than can be meant.
    #[error("the target has {} in {}", counted(*.classes, "class", "classes"), counted_rows(*.rows))]
    TooManyClasses {
        /// Distinct labels.
        classes: usize,
        /// Rows with a label.
        rows: usize,
        /// The column's type.
        kind: ColumnType,
    },
    /// A label that did not occur in training.
    #[error("the model does not know the class {label:?}")]
    UnknownLabel {
        /// The label.
        label: String,
        /// Those that it knows.
        known: Vec<String>,
    },
    /// A target without a value.
    #[error("the target has no value in any of {}", counted_rows(*.rows))]
    TargetAllMissing {
        /// Rows looked at.
        rows: usize,
    },
    /// A target of one value.
    #[error("the target is {value} in all {}", counted_rows(*.rows))]
    ConstantTarget {
        /// The value.
        value: f64,
        /// Rows looked at.
        rows: usize,
    },
    /// A target whose square is not finite.
    #[error("{value:e} is too large for a target, whose values are at most {most:e}")]
    TargetTooLarge {
        /// The value.
        value: f64,
        /// The largest.
        most: f64,
    },
    /// A target whose deviation has no square.
    #[error("the target varies by {deviation:e}, which is below {least:e}")]
    TargetTooSmall {
        /// Its standard deviation.
        deviation: f64,
        /// The smallest.
        least: f64,
    },
    /// No target was named.
    #[error("no target column is named")]
    NoTarget,
    /// Too few rows to learn from.
    #[error("training needs at least 2 rows, got {rows}")]
    TooFewRows {
        /// Rows there are.
        rows: usize,
    },
    /// No column is left to learn from.
    #[error("no input column is left to learn from")]
    NoInputs,
    /// An option of text columns that makes no sense.
    #[error("`data.text.{option}` is {got}, but has to be at least {least} and at most {most}")]
    TextOption {
        /// Its name.
        option: &'static str,
        /// Its value.
        got: usize,
        /// The least value.
        least: usize,
        /// The largest value.
        most: usize,
    },
    /// What can be wrong with graphs.
    #[error(transparent)]
    Graph(GraphProblem),
    /// What can be wrong with images.
    #[error(transparent)]
    Image(#[from] ImageProblem),
    /// A kept column whose cells are no numbers any more, in a format of one type a column.
    #[error(
        "column `{column}` has other values here than in the first rows, but a parquet column has one type"
    )]
    PassthroughTypeChanged {
        /// The column.
        column: String,
    },
    /// A batch that does not fit the writer's schema, or cannot be written in its format.
    #[error("cannot write these rows: {message}")]
    Unwritable {
        /// The encoder's own words.
        message: String,
    },
}

/// `2020-02-01 (day-first) or 2020-01-02 (month-first)`.
fn alternatives(readings: &[(DateFormat, String)]) -> String {
    let readings = readings.iter().map(|(format, date)| format!("{date} ({format})"));
    readings.collect::<Vec<_>>().join(" or ")
}
