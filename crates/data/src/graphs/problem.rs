//! Everything that can be wrong with graphs, and the remedies.

use thiserror::Error;

use crate::error::counted::{are, counted};

/// What is wrong with graphs; part of [`Problem`](crate::Problem). Graphs and nodes count as in their file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GraphProblem {
    /// Text where a number should be.
    #[error("expected {expected}, got {got:?}")]
    NotANumber {
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        got: String,
    },
    /// An edge of a node that does not exist.
    #[error("an edge of node {node}, but the nodes are {first} to {last}")]
    NoSuchNode {
        /// The node.
        node: i64,
        /// The first one.
        first: usize,
        /// The last one.
        last: usize,
    },
    /// An edge that leads from one graph into another.
    #[error("an edge between a node of graph {from} and one of graph {to}")]
    EdgeBetweenGraphs {
        /// Graph of the first node.
        from: usize,
        /// Graph of the second node.
        to: usize,
    },
    /// A graph number below that of the line before.
    #[error("a node of graph {graph} after one of graph {before}: the graphs are not in order")]
    NotInOrder {
        /// The graph.
        graph: usize,
        /// The graph of the node before.
        before: usize,
    },
    /// A graph without nodes.
    #[error("graph {graph} has no nodes")]
    EmptyGraph {
        /// The graph.
        graph: usize,
    },
    /// Graphs beyond the last label.
    #[error("a node of graph {graph}, but labels for {}", counted(*.labels, "graph", "graphs"))]
    GraphWithoutLabel {
        /// The graph.
        graph: usize,
        /// Labels there are.
        labels: usize,
    },
    /// Labels beyond the last graph.
    #[error("there {} for {}", are(*.labels, "label", "labels"), counted(*.graphs, "graph", "graphs"))]
    LabelWithoutGraph {
        /// Labels there are.
        labels: usize,
        /// Graphs there are.
        graphs: usize,
    },
    /// A file of one line for each node that has more or fewer.
    #[error("expected a line for each of {nodes} nodes, got {lines}")]
    NodeLines {
        /// Nodes of all graphs.
        nodes: usize,
        /// Lines of this file.
        lines: usize,
    },
    /// A node with more or fewer attributes than the first.
    #[error("the node has {}, but {expected} are expected", counted(*.got, "attribute", "attributes"))]
    AttributeWidth {
        /// Attributes of the nodes before, or of the model's.
        expected: usize,
        /// Attributes of this node.
        got: usize,
    },
    /// Nodes with labels and nodes without.
    #[error("the nodes of this graph have {got}, but those before have {expected}")]
    NodesDiffer {
        /// What the nodes before have.
        expected: &'static str,
        /// What the nodes of this graph have.
        got: &'static str,
    },
    /// Graphs without what the model was trained with.
    #[error("the model was trained with {expected} of nodes, which these graphs do not have")]
    MissingFeatures {
        /// Labels or attributes.
        expected: &'static str,
    },
    /// A graph without a class among others that have one, or where classes are needed.
    #[error("the graph has no label")]
    NoLabel,
    /// Graphs without classes where classes are needed.
    #[error("the graphs have no labels")]
    NoClasses,
    /// Not the expected shape of a graph in JSON.
    #[error("not a graph: {message}")]
    NotAGraph {
        /// What is not as expected.
        message: String,
    },
    /// A zip archive that cannot be read.
    #[error("the zip archive is damaged: {message}")]
    BrokenZip {
        /// The decoder's own words.
        message: String,
    },
    /// A zip archive that would fill the memory.
    #[error("the archive unpacks to more than {limit_mib} MiB{}", if *.bomb { ", from next to nothing" } else { "" })]
    TooLarge {
        /// The limit.
        limit_mib: u64,
        /// Whether it is the ratio that gives it away.
        bomb: bool,
    },
    /// Files of graphs without one that is needed.
    #[error("there is no file {name}")]
    MissingFile {
        /// What its name would be.
        name: String,
    },
    /// Several sets in one place.
    #[error("there are several sets of graphs: {first} and {second}")]
    SeveralSets {
        /// File of edges of one.
        first: String,
        /// File of edges of another.
        second: String,
    },
    /// Neither of the forms that are read.
    #[error("neither a zip or folder with files such as NAME_A.txt, nor json lines of graphs")]
    NotGraphs,
    /// More nodes than can be counted.
    #[error("there are more than {most} nodes")]
    TooManyNodes {
        /// The limit.
        most: usize,
    },
}

impl GraphProblem {
    /// What the user can do about it.
    pub(crate) fn hint(&self) -> String {
        const JSON: &str =
            r#"write one graph a line, such as {"nodes": 3, "edges": [[0, 1], [1, 2]], "label": "a"}"#;
        match self {
            GraphProblem::NotANumber { .. } => "correct the line; one entry a line, numbers only".into(),
            GraphProblem::NoSuchNode { first: 0, .. } => {
                "nodes are numbered from 0 within their graph".into()
            }
            GraphProblem::NoSuchNode { .. } | GraphProblem::EdgeBetweenGraphs { .. } => {
                "nodes are numbered from 1 over all graphs, in the order of the graph indicator".into()
            }
            GraphProblem::NotInOrder { .. } => {
                "sort the lines of the graph indicator, and renumber the nodes to match".into()
            }
            GraphProblem::EmptyGraph { .. } => "remove the graph, or give it a node".into(),
            GraphProblem::GraphWithoutLabel { .. } | GraphProblem::LabelWithoutGraph { .. } => {
                "the graph labels need one line for each graph of the graph indicator".into()
            }
            GraphProblem::NodeLines { .. } => {
                "the file needs one line for each line of the graph indicator".into()
            }
            GraphProblem::AttributeWidth { .. } => "give all nodes the same number of attributes".into(),
            GraphProblem::NodesDiffer { .. } => {
                "give all nodes of all graphs labels, or attributes, or both, or nothing".into()
            }
            GraphProblem::MissingFeatures { .. } => "add them, or train without them".into(),
            GraphProblem::NoLabel | GraphProblem::NoClasses => {
                r#"add NAME_graph_labels.txt or, in json, "label": "…" to each graph"#.into()
            }
            GraphProblem::NotAGraph { .. } => JSON.into(),
            GraphProblem::BrokenZip { .. } => "copy or download the file again; `unzip -t` checks it".into(),
            GraphProblem::TooLarge { .. } => "unpack it and name the folder, if you trust it".into(),
            GraphProblem::MissingFile { .. } => {
                "a set has NAME_A.txt, NAME_graph_indicator.txt and NAME_graph_labels.txt".into()
            }
            GraphProblem::SeveralSets { .. } => "put each set into its own folder".into(),
            GraphProblem::NotGraphs => JSON.into(),
            GraphProblem::TooManyNodes { .. } => "divide the set".into(),
        }
    }
}
