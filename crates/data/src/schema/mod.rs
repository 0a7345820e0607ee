//! [`TableSchema`]: how a table becomes a matrix. Fitted on training rows (`fit.rs`), applied to any
//! (`encode.rs`), stored in the model file as JSON.
//!
//! ```text
//! matrix = [ numeric features | indicators ]    [N, numeric_width + indicator_width]
//! number     scaled value                       one-hot of few integer values?, missing?
//! boolean                                       true, missing?
//! category                                      one-hot of levels, other?, missing?
//! date       seconds, month, day, hour, …       missing?
//! text       nothing: its words go beside the matrix
//! ```
//!
//! ```
//! use inducing_data::{Column, EncodeOptions, Table, TableSchema, TargetValues, Task};
//!
//! let colours = Column::Category { codes: vec![Some(0), Some(1), None], levels: vec!["red".into(), "blue".into()] };
//! let table = Table::new(
//!     "memory",
//!     vec![
//!         ("size".into(), Column::Number(vec![1.0, 2.0, 3.0])),
//!         ("colour".into(), colours),
//!         ("price".into(), Column::Number(vec![10.0, 20.0, 30.0])),
//!     ],
//! )?;
//! let targets = ["price".to_owned()];
//! let (schema, _notices) =
//!     TableSchema::fit(&table, &targets, Some(Task::Regression), &[0, 1, 2], &EncodeOptions::default())?;
//! assert_eq!(schema.feature_names(), ["size", "colour=blue", "colour=red", "colour=(missing)"]);
//! let inputs = schema.encode(&table, Some(&[1]))?;
//! assert_eq!(inputs.x, [0.0, 1.0, 0.0, 0.0]);
//! assert_eq!(schema.targets(&table, Some(&[1]))?, TargetValues::Numbers(vec![0.0]));
//! # Ok::<(), inducing_data::DataError>(())
//! ```

pub(crate) mod classes;
mod date_part;
pub(crate) mod encode;
pub(crate) mod fault;
mod fit;
pub(crate) mod natural_order;
mod outliers;
pub(crate) mod scale;
pub(crate) mod target;
pub(crate) mod target_scale;
pub(crate) mod task;

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::schema::scale::{Scale, Scaling};
use crate::schema::target::Target;
use crate::table::dates::format::DateFormat;
use crate::table::dates::formats::DateFormats;
use crate::table::options::{ColumnType, ReadOptions};
use crate::text::{TextOptions, Tokenizer};
pub use date_part::DatePart;

/// Choices in turning a table into a matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EncodeOptions {
    /// How numbers are scaled.
    pub scaling: Scaling,
    /// Integer columns with 3 to `discrete_levels` distinct values also get a one-hot encoding; 0 turns it off.
    pub discrete_levels: usize,
    /// Maximum number of indicators of a category; rarer levels share the last one.
    pub max_categories: usize,
    /// Whether a column with missing values in training gets an indicator for "missing".
    pub missing_indicator: bool,
    /// How texts are read.
    pub text: TextOptions,
    /// Columns that are no inputs.
    pub exclude: Vec<String>,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        EncodeOptions {
            scaling: Scaling::Standard,
            discrete_levels: 0,
            max_categories: 64,
            missing_indicator: true,
            text: TextOptions::default(),
            exclude: Vec::new(),
        }
    }
}

/// How a table becomes a matrix of inputs and a matrix of targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableSchema {
    /// The columns that are used, in the order of the training table.
    pub inputs: Vec<InputColumn>,
    /// What is predicted.
    pub targets: Target,
}

/// One input and its features.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputColumn {
    /// The column's name.
    pub name: String,
    /// How its values become features.
    pub encoding: Encoding,
}

/// How the values of one column become features. `missing` says whether there is an indicator of missing
/// values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Encoding {
    /// A number.
    Number {
        /// Stands in for a missing value: the median of the training rows.
        impute: f64,
        /// The scale of the numeric feature.
        scale: Scale,
        /// Values with an indicator each.
        one_hot: Vec<f64>,
        /// See above.
        missing: bool,
    },
    /// A truth value: one indicator.
    Boolean {
        /// Stands in for a missing value: the more frequent one.
        impute: bool,
        /// See above.
        missing: bool,
    },
    /// One indicator for each level.
    Category {
        /// Levels with an indicator each.
        levels: Vec<String>,
        /// Whether all other levels share one more indicator.
        other: bool,
        /// See above.
        missing: bool,
    },
    /// A date: one numeric feature for each part.
    DateTime {
        /// Stands in for a missing value: the median of the training rows, in microseconds.
        impute: i64,
        /// The parts that vary, with their scales.
        parts: Vec<(DatePart, Scale)>,
        /// See above.
        missing: bool,
        /// How the dates were written in the training table, and are read for a prediction.
        #[serde(default, skip_serializing_if = "DateFormat::is_plain")]
        format: DateFormat,
    },
    /// Words in their order; a missing value is an empty text.
    Text {
        /// The words that are known.
        tokenizer: Tokenizer,
    },
    /// A column of one value with gaps: the indicator of missing values is all there is to learn from.
    MissingOnly {
        /// The type to read it as.
        column_type: ColumnType,
        /// How to read its dates.
        #[serde(default, skip_serializing_if = "DateFormat::is_plain")]
        format: DateFormat,
    },
}

impl TableSchema {
    /// Name and type of each input: what to read for prediction.
    #[must_use]
    pub fn columns(&self) -> Vec<(String, ColumnType)> {
        self.inputs.iter().map(|input| (input.name.clone(), input.encoding.column_type())).collect()
    }

    /// These options, with the formats of dates that the training table had.
    #[must_use]
    pub fn read_options(&self, mut options: ReadOptions) -> ReadOptions {
        let formats = self.inputs.iter().filter_map(|input| match &input.encoding {
            Encoding::DateTime { format, .. }
            | Encoding::MissingOnly { column_type: ColumnType::DateTime, format } => {
                Some((input.name.clone(), format.clone()))
            }
            _ => None,
        });
        options.date_formats = DateFormats { every: None, columns: formats.collect() };
        options
    }

    /// Number of numeric features, which come first.
    #[must_use]
    pub fn numeric_width(&self) -> usize {
        self.inputs.iter().map(|input| input.encoding.numeric_width()).sum()
    }

    /// Number of indicators, which come last.
    #[must_use]
    pub fn indicator_width(&self) -> usize {
        self.inputs.iter().map(|input| input.encoding.indicator_width()).sum()
    }

    /// Where the features of each input are in the matrix: the numeric ones and the indicators.
    #[must_use]
    pub fn feature_ranges(&self) -> Vec<[Range<usize>; 2]> {
        let (mut numeric, mut indicator) = (0, self.numeric_width());
        let ranges = self.inputs.iter().map(|input| {
            let (first, second) = (numeric, indicator);
            numeric += input.encoding.numeric_width();
            indicator += input.encoding.indicator_width();
            [first..numeric, second..indicator]
        });
        ranges.collect()
    }

    /// Name and words of each text column, in the order of [`Encoded::texts`](crate::Encoded::texts).
    pub fn text_columns(&self) -> impl Iterator<Item = (&str, &Tokenizer)> {
        self.inputs.iter().filter_map(|input| match &input.encoding {
            Encoding::Text { tokenizer } => Some((input.name.as_str(), tokenizer)),
            _ => None,
        })
    }

    /// Names of the features in the order of the matrix: `age`, `date:month`, `colour=red`, `age=(missing)`.
    #[must_use]
    pub fn feature_names(&self) -> Vec<String> {
        let numeric = self.inputs.iter().flat_map(InputColumn::numeric_names);
        numeric.chain(self.inputs.iter().flat_map(InputColumn::indicator_names)).collect()
    }

    /// For each input the place of its number in a row of the matrix; `None` if it is no number, if it has indicators
    /// of some values, which would contradict another number, or if it is missing in this row.
    #[must_use]
    pub fn free_numbers(&self, row: &[f32]) -> Vec<Option<usize>> {
        let (mut numeric, mut indicator) = (0, self.numeric_width());
        let place = |input: &InputColumn| {
            let encoding = &input.encoding;
            let place = numeric;
            numeric += encoding.numeric_width();
            indicator += encoding.indicator_width();
            match encoding {
                // An indicator of missing values is the last of its column's.
                Encoding::Number { missing: true, .. } if row[indicator - 1] != 0.0 => None,
                Encoding::Number { one_hot, .. } if one_hot.is_empty() => Some(place),
                _ => None,
            }
        };
        self.inputs.iter().map(place).collect()
    }

    /// For each input its number in a row of the matrix, in its own units; `None` as in [`Self::free_numbers`].
    #[must_use]
    pub fn decode(&self, row: &[f32]) -> Vec<Option<f64>> {
        let decoded = |(place, input): (Option<usize>, &InputColumn)| match &input.encoding {
            Encoding::Number { scale, .. } => Some(scale.invert(row[place?])),
            _ => None,
        };
        self.free_numbers(row).into_iter().zip(&self.inputs).map(decoded).collect()
    }
}

impl InputColumn {
    fn numeric_names(&self) -> Vec<String> {
        match &self.encoding {
            Encoding::Number { .. } => vec![self.name.clone()],
            Encoding::DateTime { parts, .. } => {
                parts.iter().map(|(part, _)| format!("{}:{}", self.name, part.name())).collect()
            }
            Encoding::Boolean { .. }
            | Encoding::Category { .. }
            | Encoding::Text { .. }
            | Encoding::MissingOnly { .. } => Vec::new(),
        }
    }

    fn indicator_names(&self) -> Vec<String> {
        let mut values: Vec<String> = match &self.encoding {
            Encoding::Number { one_hot, .. } => one_hot.iter().map(f64::to_string).collect(),
            Encoding::Boolean { .. } => vec!["true".into()],
            Encoding::Category { levels, other, .. } => {
                levels.iter().cloned().chain(other.then(|| "(other)".into())).collect()
            }
            Encoding::DateTime { .. } | Encoding::Text { .. } | Encoding::MissingOnly { .. } => Vec::new(),
        };
        if self.encoding.has_missing_indicator() {
            values.push("(missing)".into());
        }
        values.iter().map(|value| format!("{}={value}", self.name)).collect()
    }
}

impl Encoding {
    /// The type that the column is read as.
    #[must_use]
    pub fn column_type(&self) -> ColumnType {
        match self {
            Encoding::Number { .. } => ColumnType::Number,
            Encoding::Boolean { .. } => ColumnType::Boolean,
            Encoding::Category { .. } => ColumnType::Category,
            Encoding::DateTime { .. } => ColumnType::DateTime,
            Encoding::Text { .. } => ColumnType::Text,
            Encoding::MissingOnly { column_type, .. } => *column_type,
        }
    }

    /// The same encoding of dates that are written in this format.
    fn with_date_format(mut self, written: DateFormat) -> Self {
        if let Encoding::DateTime { format, .. }
        | Encoding::MissingOnly { column_type: ColumnType::DateTime, format } = &mut self
        {
            *format = written;
        }
        self
    }

    pub(crate) fn has_missing_indicator(&self) -> bool {
        match self {
            Encoding::Number { missing, .. }
            | Encoding::Boolean { missing, .. }
            | Encoding::Category { missing, .. }
            | Encoding::DateTime { missing, .. } => *missing,
            Encoding::Text { .. } => false,
            Encoding::MissingOnly { .. } => true,
        }
    }

    pub(crate) fn numeric_width(&self) -> usize {
        match self {
            Encoding::Number { .. } => 1,
            Encoding::DateTime { parts, .. } => parts.len(),
            Encoding::Boolean { .. }
            | Encoding::Category { .. }
            | Encoding::Text { .. }
            | Encoding::MissingOnly { .. } => 0,
        }
    }

    pub(crate) fn indicator_width(&self) -> usize {
        let values = match self {
            Encoding::Number { one_hot, .. } => one_hot.len(),
            Encoding::Boolean { .. } => 1,
            Encoding::Category { levels, other, .. } => levels.len() + usize::from(*other),
            Encoding::DateTime { .. } | Encoding::Text { .. } | Encoding::MissingOnly { .. } => 0,
        };
        values + usize::from(self.has_missing_indicator())
    }
}
