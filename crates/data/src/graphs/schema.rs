//! [`GraphSchema`]: the node features and classes of a model's graphs. Fitted on training graphs, stored in the
//! model file as JSON.

use serde::{Deserialize, Serialize};

use super::features::{AttributeScale, DegreeScale};
use super::options::{DegreeFeature, GraphOptions};
use super::{GraphProblem, GraphSet};
use crate::error::{DataError, Notice, Problem};
use crate::schema::classes::{MOST_CLASSES, relabel};
use crate::schema::fault::{class_fault, duplicate};
use crate::schema::scale::mean_and_std;
use crate::table::options::ColumnType;

/// Maximum number of node labels with an indicator; the most frequent ones get it.
const MOST_LEVELS: usize = 1000;
/// No model that was trained here has wider features; a file that says so is forged.
const WIDEST: usize = 1 << 20;

/// What a model expects of graphs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphSchema {
    /// How the number of neighbours becomes features.
    pub degree: DegreeScale,
    /// Labels of nodes with an indicator each; empty if nodes have none.
    pub node_levels: Vec<String>,
    /// The scale of each attribute of nodes.
    pub attributes: Vec<AttributeScale>,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Training graphs of each class.
    pub counts: Vec<usize>,
}

impl GraphSchema {
    /// Fits the schema on `rows` of `set`; the classes are those that occur there.
    ///
    /// # Errors
    /// If there are fewer than 2 graphs, no labels, one class only, or too many of them.
    ///
    /// # Panics
    /// If a row is beyond the set.
    pub fn fit(
        set: &GraphSet,
        rows: &[usize],
        options: &GraphOptions,
    ) -> Result<(GraphSchema, Vec<Notice>), DataError> {
        let mut notices = Vec::new();
        let (classes, counts) = fit_classes(set, rows, &mut notices)?;
        let nodes: Vec<usize> = rows.iter().flat_map(|row| set.nodes_of(*row)).collect();
        let degrees = nodes.iter().map(|node| set.neighbours_of(*node).len());
        let degree = match options.degree {
            DegreeFeature::OneHot { cap } => {
                DegreeScale::OneHot { cap: degrees.max().unwrap_or(0).min(cap).min(WIDEST / 2) }
            }
            DegreeFeature::Number => {
                let AttributeScale { mean, std } = scale_of(degrees.map(|degree| (degree as f64).ln_1p()));
                DegreeScale::Number { mean, std }
            }
        };
        let width = set.attribute_width;
        let attribute =
            |at: usize| scale_of(nodes.iter().map(|node| f64::from(set.attributes[node * width + at])));
        let schema = GraphSchema {
            degree,
            node_levels: fit_levels(set, &nodes, &mut notices),
            attributes: (0..width).map(attribute).collect(),
            classes,
            counts,
        };
        Ok((schema, notices))
    }

    /// The set with labels by the model's classes. Without labels only the node features count.
    ///
    /// # Errors
    /// If the nodes lack features of the model, or a label is none of the model's classes.
    pub fn conform(&self, mut set: GraphSet) -> Result<GraphSet, DataError> {
        self.check_features(&set)?;
        if let Some(labels) = &mut set.labels {
            relabel(labels, &set.classes, &self.classes).map_err(|(row, problem)| {
                let mut error = DataError::new(&set.origin, problem);
                error.row = Some(row as u64 + 1);
                error
            })?;
            set.classes.clone_from(&self.classes);
        }
        Ok(set)
    }

    /// What is wrong with a schema that comes out of a file, if anything is.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        // Attributes are 32-bit floats, so their moments are within the range of one.
        let most = f64::from(f32::MAX);
        let sound = |mean: f64, std: f64| mean.abs() <= most && std > 0.0 && std <= most;
        if let DegreeScale::OneHot { cap } = self.degree
            && cap >= WIDEST
        {
            return Some(format!("degrees up to {cap} have an indicator each"));
        }
        let parts = [self.degree.width(), self.node_levels.len(), self.attributes.len()];
        if parts.iter().any(|width| *width > WIDEST) {
            return Some("the nodes have too many features".into());
        }
        if let DegreeScale::Number { mean, std } = self.degree
            && !sound(mean, std)
        {
            return Some(format!("degrees have the mean {mean} and the deviation {std}"));
        }
        if let Some(scale) = self.attributes.iter().find(|scale| !sound(scale.mean, scale.std)) {
            return Some(format!("an attribute has the mean {} and the deviation {}", scale.mean, scale.std));
        }
        if let Some(twice) = duplicate(&self.node_levels) {
            return Some(format!("the node label {twice:?} stands twice"));
        }
        class_fault(&self.classes, &self.counts)
    }
}

/// Names and training graphs of the classes that occur in `rows`.
fn fit_classes(
    set: &GraphSet,
    rows: &[usize],
    notices: &mut Vec<Notice>,
) -> Result<(Vec<String>, Vec<usize>), DataError> {
    let failed = |problem| Err(DataError::new(&set.origin, problem));
    let Some(labels) = &set.labels else {
        return failed(Problem::Graph(GraphProblem::NoClasses));
    };
    if rows.len() < 2 {
        return failed(Problem::TooFewRows { rows: rows.len() });
    }
    let everywhere = set.counts();
    let mut counts = vec![0; set.classes.len()];
    rows.iter().for_each(|row| counts[labels[*row] as usize] += 1);
    let present: Vec<usize> = (0..counts.len()).filter(|class| counts[*class] > 0).collect();
    if let [only] = present[..] {
        return failed(Problem::OneClass { label: set.classes[only].clone(), rows: rows.len() });
    }
    let (classes, graphs) = (everywhere.iter().filter(|count| **count > 0).count(), set.len());
    if classes > MOST_CLASSES || classes == graphs {
        return failed(Problem::TooManyClasses { classes, rows: graphs, kind: ColumnType::Category });
    }
    let name = |class: &usize| set.classes[*class].clone();
    let single: Vec<String> = present.iter().filter(|class| everywhere[**class] == 1).map(name).collect();
    if !single.is_empty() {
        notices.push(Notice::SingleExamples { column: None, classes: single });
    }
    Ok((present.iter().map(name).collect(), present.iter().map(|class| counts[*class]).collect()))
}

/// The labels of these nodes in their natural order, or the most frequent of them.
fn fit_levels(set: &GraphSet, nodes: &[usize], notices: &mut Vec<Notice>) -> Vec<String> {
    let Some(labels) = &set.node_labels else { return Vec::new() };
    let mut counts = vec![0usize; set.node_levels.len()];
    nodes.iter().for_each(|node| counts[labels[*node] as usize] += 1);
    let mut present: Vec<usize> = (0..counts.len()).filter(|level| counts[*level] > 0).collect();
    if present.len() > MOST_LEVELS {
        let (levels, kept) = (present.len(), MOST_LEVELS);
        notices.push(Notice::RareNodeLabels { levels, kept });
        present.sort_by_key(|level| (std::cmp::Reverse(counts[*level]), *level));
        present.truncate(MOST_LEVELS);
        present.sort_unstable();
    }
    present.iter().map(|level| set.node_levels[*level].clone()).collect()
}

fn scale_of(values: impl Iterator<Item = f64>) -> AttributeScale {
    let (mean, std) = mean_and_std(&values.collect::<Vec<_>>());
    // Rounding leaves some 1e-16 of the mean where nothing varies.
    AttributeScale { mean, std: if std > 1e-12 * mean.abs() { std } else { 1.0 } }
}
