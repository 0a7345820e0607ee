//! `[data]`: from files to matrices.

use super::Share;
use data::{ColumnType, GraphOptions, ReadOptions, Scaling, Task, TextOptions};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// From files to matrices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// Regression or classification; by default what the target looks like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Columns to predict.
    pub target: Vec<String>,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Types that inference must not decide.
    pub columns: BTreeMap<String, ColumnType>,
    /// Cells that mean "missing"; empty for the usual ones.
    pub missing_values: Vec<String>,
    /// Scaling of numeric columns.
    pub scaling: Scaling,
    /// Integer columns with at most this many values get a one-hot code too; 0 turns it off.
    pub discrete_levels: usize,
    /// Categories that are kept; rarer ones share one level.
    pub max_categories: usize,
    /// Part of the rows that is held out, never trained on, and reported on at the end.
    pub test_share: Share,
    /// Number of cross-validation folds, one of which is the test part; 0 is none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folds: usize,
    /// Which of them, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fold: usize,
    /// How texts become words.
    #[serde(default)]
    pub text: TextOptions,
    /// How nodes of graphs become numbers.
    #[serde(default)]
    pub graph: GraphOptions,
}

impl DataConfig {
    /// Reading options with these cells for "missing" and types of columns; what `given` says of columns rules.
    pub fn read_options(&self, given: &ReadOptions) -> ReadOptions {
        let mut options = given.clone();
        if !self.missing_values.is_empty() {
            options.missing_values = self.missing_values.clone();
        }
        let ignored = self.ignore.iter().map(|name| (name, &ColumnType::Ignore));
        for (name, kind) in self.columns.iter().chain(ignored) {
            options.column_types.insert(name.clone(), *kind);
        }
        options
    }
}

fn is_zero(x: &usize) -> bool {
    *x == 0
}
