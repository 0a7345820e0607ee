//! What the user should know about the data, though it is no error.

use std::fmt;

/// One line for the user each.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// An input that never changes.
    ConstantColumnDropped {
        /// Its name.
        column: String,
    },
    /// An input without any value in the training rows.
    AllMissingColumnDropped {
        /// Its name.
        column: String,
    },
    /// A text input where nearly every value is distinct.
    IdentifierLikeColumnDropped {
        /// Its name.
        column: String,
        /// Distinct values.
        distinct: usize,
        /// Rows with a value.
        rows: usize,
    },
    /// Rows that cannot be learned from; made by the caller of
    /// [`rows_with_targets`](crate::rows_with_targets).
    RowsWithoutTargetDropped {
        /// How many.
        count: usize,
    },
    /// Missing inputs that were filled in.
    MissingImputed {
        /// Name of the column.
        column: String,
        /// Training rows without a value.
        count: usize,
    },
    /// Rare levels of a category that share one indicator.
    RareLevelsMerged {
        /// Name of the column.
        column: String,
        /// Distinct levels.
        levels: usize,
        /// Levels with an indicator of their own.
        kept: usize,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::ConstantColumnDropped { column } => {
                write!(f, "column `{column}` is constant in the training rows and is not used")
            }
            Notice::AllMissingColumnDropped { column } => {
                write!(f, "column `{column}` has no value in the training rows and is not used")
            }
            Notice::IdentifierLikeColumnDropped { column, distinct, rows } => write!(
                f,
                "column `{column}` looks like an identifier ({distinct} distinct texts in {rows} rows) and is not used"
            ),
            Notice::RowsWithoutTargetDropped { count: 1 } => f.write_str("1 row without target is not used"),
            Notice::RowsWithoutTargetDropped { count } => {
                write!(f, "{count} rows without target are not used")
            }
            Notice::MissingImputed { column, count } => {
                write!(f, "column `{column}`: {count} missing values are filled in")
            }
            Notice::RareLevelsMerged { column, levels, kept } => {
                write!(f, "column `{column}`: of {levels} levels the {kept} most frequent are told apart")
            }
        }
    }
}
