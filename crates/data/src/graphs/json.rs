//! Graphs as JSON, one a line.
//!
//! ```text
//! {"nodes": 3, "edges": [[0, 1], [1, 2]], "label": "a"}
//! {"nodes": ["C", "O"], "edges": [[0, 1]]}                       labels of nodes
//! {"nodes": [[0.5, 1], [2, 3]], "edges": []}                     attributes of nodes
//! {"nodes": [{"label": "C", "attributes": [0.5]}], "edges": []}  both
//! ```

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

use super::assemble::Draft;
use super::lines::Lines;
use super::problem::GraphProblem;
use crate::error::{DataError, Place, Problem};
use crate::io::source::Source;
use crate::table::json::row::JsonRow;

/// Nodes need no text (`"nodes": 5`), so a short line could ask for all memory.
const MOST_NODES: usize = 8_000_000; // each costs about 500 bytes on its way

#[derive(serde::Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    nodes: &'a RawValue,
    edges: Vec<Edge>,
    #[serde(default)]
    label: Option<Label>,
}

/// Two nodes; a list of three is no edge, and no broken JSON either.
struct Edge(i64, i64);

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Label {
    Text(String),
    Number(serde_json::Number),
    Boolean(bool),
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Node {
    Label(Label),
    Attributes(Vec<f64>),
    Both(Features),
}

#[derive(serde::Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Features {
    label: Option<Label>,
    attributes: Option<Vec<f64>>,
}

/// What all nodes of a set have alike.
#[derive(Clone, Copy, PartialEq)]
struct NodeKind {
    label: bool,
    attributes: Option<usize>,
}

impl<'de> Deserialize<'de> for Edge {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ends;
        impl<'de> Visitor<'de> for Ends {
            type Value = Edge;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an edge such as [0, 1]")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut ends: A) -> Result<Edge, A::Error> {
                let (from, to) = (ends.next_element()?, ends.next_element()?);
                match (from, to, ends.next_element::<IgnoredAny>()?) {
                    (Some(from), Some(to), None) => Ok(Edge(from, to)),
                    _ => Err(A::Error::custom("an edge has two nodes, such as [0, 1]")),
                }
            }
        }
        deserializer.deserialize_seq(Ends)
    }
}

impl Label {
    fn into_text(self) -> String {
        match self {
            Label::Text(text) => text,
            Label::Number(number) => number.to_string(),
            Label::Boolean(value) => value.to_string(),
        }
    }
}

impl NodeKind {
    fn name(self) -> &'static str {
        match (self.label, self.attributes) {
            (false, None) => "neither labels nor attributes",
            (true, None) => "labels",
            (false, Some(_)) => "attributes",
            (true, Some(_)) => "labels and attributes",
        }
    }
}

pub(crate) fn read(source: &Source, need_labels: bool) -> Result<Draft, DataError> {
    let mut lines = Lines::open(source)?;
    let mut draft = Draft { nodes: vec![0], labels: Some(Vec::new()), ..Draft::default() };
    let mut kind = None;
    while let Some(text) = lines.next()? {
        let added = push_graph(text, &mut draft, &mut kind, need_labels);
        added.map_err(|problem| DataError::at(&lines.name, Place::Line(lines.line), problem))?;
    }
    if draft.nodes.len() == 1 {
        return Err(DataError::new(lines.name.as_ref(), Problem::Empty));
    }
    Ok(draft)
}

/// Whether the first line of a file looks like a graph, though perhaps a broken one.
pub(crate) fn begins_with_graph(source: &Source) -> bool {
    let Ok(mut lines) = Lines::open(source) else { return false };
    let Ok(Some(text)) = lines.next() else { return false };
    match std::str::from_utf8(text).map(serde_json::from_str::<JsonRow<'_>>) {
        Ok(Ok(row)) => ["nodes", "edges"].iter().all(|key| row.0.iter().any(|(name, _)| name == key)),
        _ => {
            let holds = |key: &[u8]| memchr::memmem::find(text, key).is_some();
            text.starts_with(b"{") && holds(b"\"nodes\"") && holds(b"\"edges\"")
        }
    }
}

fn push_graph(
    text: &[u8],
    draft: &mut Draft,
    kind: &mut Option<NodeKind>,
    need_labels: bool,
) -> Result<(), Problem> {
    let text = std::str::from_utf8(text).map_err(|_| Problem::NotUtf8)?;
    let line: Line<'_> = serde_json::from_str(text).map_err(|error| json_problem(&error))?;
    let first = *draft.nodes.last().expect("offsets begin with 0");
    let count = push_nodes(line.nodes, draft, kind)?;
    if count == 0 {
        return Err(Problem::Graph(GraphProblem::EmptyGraph { graph: draft.nodes.len() }));
    }
    if first + count > MOST_NODES {
        return Err(Problem::Graph(GraphProblem::TooManyNodes { most: MOST_NODES }));
    }
    let node = |node: i64| match usize::try_from(node).ok().filter(|node| *node < count) {
        Some(node) => Ok((first + node) as u32),
        None => Err(Problem::Graph(GraphProblem::NoSuchNode { node, first: 0, last: count - 1 })),
    };
    for Edge(from, to) in line.edges {
        draft.edges.push((node(from)?, node(to)?));
    }
    draft.nodes.push(first + count);
    match (line.label, &mut draft.labels) {
        (Some(label), Some(labels)) => labels.push(label.into_text()),
        (None, _) if need_labels => return Err(Problem::Graph(GraphProblem::NoLabel)),
        _ => draft.labels = None,
    }
    Ok(())
}

/// Adds the nodes of one graph and returns how many.
fn push_nodes(raw: &RawValue, draft: &mut Draft, kind: &mut Option<NodeKind>) -> Result<usize, Problem> {
    let not_a_graph = |message: &str| Problem::Graph(GraphProblem::NotAGraph { message: message.to_owned() });
    if !raw.get().starts_with('[') {
        let count: usize = serde_json::from_str(raw.get())
            .map_err(|_| not_a_graph("`nodes` is neither a number of nodes nor a list of them"))?;
        check_kind(kind, NodeKind { label: false, attributes: None })?;
        return Ok(count);
    }
    let nodes: Vec<Node> = serde_json::from_str(raw.get()).map_err(|_| {
        not_a_graph("a node is a label, a list of numbers, or an object of `label` and `attributes`")
    })?;
    let count = nodes.len();
    for node in nodes {
        let Features { label, attributes } = match node {
            Node::Label(label) => Features { label: Some(label), attributes: None },
            Node::Attributes(attributes) => Features { label: None, attributes: Some(attributes) },
            Node::Both(features) => features,
        };
        check_kind(kind, NodeKind { label: label.is_some(), attributes: attributes.as_ref().map(Vec::len) })?;
        if let Some(label) = label {
            draft.node_labels.get_or_insert_default().push(label.into_text());
        }
        for value in attributes.iter().flatten() {
            let value = *value as f32;
            if !value.is_finite() {
                return Err(Problem::InfiniteNumber { got: value.to_string() });
            }
            draft.attributes.push(value);
        }
        draft.attribute_width = attributes.map_or(0, |attributes| attributes.len());
    }
    Ok(count)
}

fn check_kind(kind: &mut Option<NodeKind>, got: NodeKind) -> Result<(), Problem> {
    let expected = *kind.get_or_insert(got);
    match (expected.attributes, got.attributes) {
        _ if expected == got => Ok(()),
        (Some(expected), Some(got)) if expected != got => {
            Err(Problem::Graph(GraphProblem::AttributeWidth { expected, got }))
        }
        _ => {
            let (expected, got) = (expected.name(), got.name());
            Err(Problem::Graph(GraphProblem::NodesDiffer { expected, got }))
        }
    }
}

fn json_problem(error: &serde_json::Error) -> Problem {
    let message = error.to_string().replace(" at line 1 column ", " at character ");
    match error.classify() {
        Category::Data => Problem::Graph(GraphProblem::NotAGraph { message }),
        _ => Problem::BrokenJson { message },
    }
}
