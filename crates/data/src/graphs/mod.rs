//! Graphs in memory: undirected, without loops and multiple edges, their nodes with labels or attributes.
//!
//! ```text
//! path, name or pipe ──GraphSource──▶ read_graphs ──▶ GraphSet ──GraphSchema──▶ node features [N, D]
//! ```
//! `tu.rs` reads the files of the TU Dortmund collection (`archive.rs` finds them in a zip or folder),
//! `json.rs` one graph a line, `assemble.rs` makes lists of neighbours of lists of edges.
//!
//! ```
//! use inducing_data::{GraphOptions, GraphSchema, GraphSource, read_graphs};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("graphs.jsonl");
//! let lines = r#"{"nodes": 3, "edges": [[0, 1], [1, 2]], "label": "path"}
//! {"nodes": 3, "edges": [[0, 1], [1, 2], [0, 2]], "label": "ring"}
//! {"nodes": 2, "edges": [[0, 1]], "label": "path"}"#;
//! std::fs::write(&path, lines)?;
//!
//! let (set, _notices) = read_graphs(&GraphSource::Path(path), true)?;
//! assert_eq!((set.len(), set.node_count(), set.edge_count()), (3, 8, 6));
//! let (schema, _) = GraphSchema::fit(&set, &[0, 1, 2], &GraphOptions::default())?;
//! let features = schema.encode(&set)?;
//! assert_eq!(features.width, 3); // one-hot of the degrees 0, 1 and 2
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod archive;
mod assemble;
mod features;
mod json;
mod lines;
mod options;
mod problem;
mod schema;
mod source;
mod tu;

use std::ops::Range;

pub use features::{AttributeScale, DegreeScale, GraphFeatures};
pub use options::{DegreeFeature, GraphOptions};
pub use problem::GraphProblem;
pub use schema::GraphSchema;
pub use source::{GraphSource, read_graphs};
pub(crate) use source::{graphs_are_in, is_graph_folder};

/// Many graphs. N counts the nodes of all of them, G the graphs.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphSet {
    /// Where the nodes of each graph begin, and at last N, [G + 1].
    pub nodes: Vec<usize>,
    /// Where the neighbours of each node begin in `edges`, and at last the length of `edges`, [N + 1].
    pub neighbours: Vec<usize>,
    /// Neighbours, ascending, numbered from 0 within their own graph; every edge stands here twice.
    pub edges: Vec<u32>,
    /// For each node a position in `node_levels`, if nodes have labels, `[N]`.
    pub node_labels: Option<Vec<u32>>,
    /// The distinct labels of nodes: numbers in their order, all else by the alphabet.
    pub node_levels: Vec<String>,
    /// [N, attribute_width] row-major, all finite.
    pub attributes: Vec<f32>,
    /// Numbers that each node has, 0 if none.
    pub attribute_width: usize,
    /// For each graph a position in `classes`, if the classes are known, `[G]`.
    pub labels: Option<Vec<u32>>,
    /// Names of the classes: numbers in their order, all else by the alphabet.
    pub classes: Vec<String>,
    /// What was read, as the user named it.
    pub origin: String,
}

impl GraphSet {
    /// Number of graphs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len() - 1
    }

    /// Whether there are no graphs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nodes of all graphs.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.neighbours.len() - 1
    }

    /// Undirected edges of all graphs.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.edges.len() / 2
    }

    /// The nodes of one graph, in the numbering of the whole set.
    ///
    /// # Panics
    /// If `graph` is out of range.
    #[must_use]
    pub fn nodes_of(&self, graph: usize) -> Range<usize> {
        self.nodes[graph]..self.nodes[graph + 1]
    }

    /// The neighbours of a node of the whole set, numbered within its graph.
    ///
    /// # Panics
    /// If `node` is out of range.
    #[must_use]
    pub fn neighbours_of(&self, node: usize) -> &[u32] {
        &self.edges[self.neighbours[node]..self.neighbours[node + 1]]
    }

    /// Graphs of each class, in the order of `classes`; zeros without labels.
    #[must_use]
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        self.labels.iter().flatten().for_each(|label| counts[*label as usize] += 1);
        counts
    }

    /// The same graphs, whose classes do not matter.
    #[must_use]
    pub fn unlabelled(self) -> Self {
        GraphSet { labels: None, classes: Vec::new(), ..self }
    }

    /// The graphs at `rows`, in this order.
    ///
    /// # Panics
    /// If a row is beyond the set.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let mut chosen = GraphSet {
            nodes: vec![0],
            neighbours: vec![0],
            edges: Vec::new(),
            node_labels: self.node_labels.as_ref().map(|_| Vec::new()),
            node_levels: self.node_levels.clone(),
            attributes: Vec::new(),
            attribute_width: self.attribute_width,
            labels: self.labels.as_ref().map(|labels| rows.iter().map(|row| labels[*row]).collect()),
            classes: self.classes.clone(),
            origin: self.origin.clone(),
        };
        for row in rows {
            let nodes = self.nodes_of(*row);
            for node in nodes.clone() {
                chosen.edges.extend_from_slice(self.neighbours_of(node));
                chosen.neighbours.push(chosen.edges.len());
            }
            if let (Some(labels), Some(all)) = (&mut chosen.node_labels, &self.node_labels) {
                labels.extend_from_slice(&all[nodes.clone()]);
            }
            let width = self.attribute_width;
            chosen.attributes.extend_from_slice(&self.attributes[nodes.start * width..nodes.end * width]);
            chosen.nodes.push(chosen.neighbours.len() - 1);
        }
        chosen
    }
}
