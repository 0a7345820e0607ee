//! `[data]`: from files to matrices.

use super::Share;
use super::target::{Bounds, TargetTransform};
use data::{ColumnType, DateFormats, GraphOptions, ReadOptions, Scaling, Task, TextOptions};
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
    /// How dates are written: for all columns that do not show it, or by column.
    #[serde(default, skip_serializing_if = "DateFormats::is_empty")]
    pub date_format: DateFormats,
    /// Cells that mean "missing"; empty for the usual ones.
    pub missing_values: Vec<String>,
    /// Scaling of numeric columns.
    pub scaling: Scaling,
    /// Integer columns with at most this many values get a one-hot code too; 0 turns it off.
    pub discrete_levels: usize,
    /// Categories that are kept; rarer ones share one level.
    pub max_categories: usize,
    /// Column whose order the parts follow: the test part is the latest. A date or a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_column: Option<String>,
    /// Column whose equal values stay in one part, such as a household or a patient. It is no input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Column with the weight of a row in losses, calibration and scores. It is no input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<String>,
    /// The range of a target, such as "0," or "0,100"; by default what its values suggest, and "," for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Bounds>,
    /// The scale on which a number is modelled.
    #[serde(default)]
    pub target_transform: TargetTransform,
    /// Part of the rows that is held out, never trained on, and reported on at the end; by default a tenth of 1,000 rows or more,
    /// a fifth of 100 or more where parts follow times or groups, at most 5,000 rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_share: Option<Share>,
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
        if !self.date_format.is_empty() {
            options.date_formats = self.date_format.clone();
        }
        let roles = [&self.time_column, &self.group, &self.weight];
        let has_role = |name: &String| roles.iter().any(|role| role.as_ref() == Some(name));
        let ignored =
            self.ignore.iter().filter(|name| !has_role(name)).map(|name| (name, &ColumnType::Ignore));
        for (name, kind) in self.columns.iter().chain(ignored) {
            options.column_types.insert(name.clone(), *kind);
        }
        options
    }
}

impl DataConfig {
    /// Columns of the table that are no inputs.
    pub fn excluded(&self) -> Vec<String> {
        self.ignore.iter().chain(&self.group).chain(&self.weight).cloned().collect()
    }

    /// The share of `rows` that is held out.
    pub fn held_out_share(&self, rows: usize) -> f64 {
        const MOST: f64 = 5000.0;
        // New times and new groups are harder than held-out rows among the others: what is said of them needs a part of its own.
        let (fewest, share) =
            if self.time_column.is_some() || self.group.is_some() { (100, 0.2) } else { (1000, 0.1) };
        match self.test_share {
            Some(share) => share.get(),
            None if rows < fewest => 0.0,
            None => f64::min(share, MOST / rows as f64),
        }
    }
}

pub(super) fn is_zero(x: &usize) -> bool {
    *x == 0
}
