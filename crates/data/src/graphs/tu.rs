//! Graphs in the format of the TU Dortmund collection: one line an edge, a node or a graph.
//!
//! ```text
//! NAME_A.txt                 "i, j"     an edge; nodes count from 1 over all graphs
//! NAME_graph_indicator.txt   "g"        the graph of each node, ascending from 1
//! NAME_graph_labels.txt      "c"        the class of each graph
//! NAME_node_labels.txt       "l"        the label of each node, if there
//! NAME_node_attributes.txt   "a, b, …"  the attributes of each node, if there
//! ```

use std::str::FromStr;
use std::sync::Arc;

use super::archive::{Member, Members};
use super::assemble::Draft;
use super::problem::GraphProblem;
use crate::error::{DataError, Place, Problem};

pub(crate) fn read(members: &Members, need_labels: bool) -> Result<Draft, DataError> {
    let labels = match &members.graph_labels {
        Some(member) => Some((member, graph_labels(member)?)),
        None if need_labels => {
            let problem = GraphProblem::MissingFile { name: members.graph_labels_name.clone() };
            return Err(DataError::new(&members.indicator.name, Problem::Graph(problem)));
        }
        None => None,
    };
    let graph_of = indicator(&members.indicator, labels.as_ref().map(|(_, labels)| labels.len()))?;
    let graphs = graph_of.last().map_or(0, |graph| *graph as usize);
    if let Some((member, labels)) = &labels
        && labels.len() > graphs
    {
        let problem = GraphProblem::LabelWithoutGraph { labels: labels.len(), graphs };
        return Err(at(member, labels[graphs].0, problem));
    }
    let mut nodes = vec![0; graphs + 1];
    graph_of.iter().for_each(|graph| nodes[*graph as usize] += 1);
    (0..graphs).for_each(|graph| nodes[graph + 1] += nodes[graph]);
    let edges = edges(&members.edges, &graph_of)?;
    let node_labels = members.node_labels.as_ref().map(|member| node_labels(member, graph_of.len()));
    let attributes = members.node_attributes.as_ref().map(|member| attributes(member, graph_of.len()));
    let (attributes, attribute_width) = attributes.transpose()?.unwrap_or_default();
    Ok(Draft {
        nodes,
        edges,
        node_labels: node_labels.transpose()?,
        attributes,
        attribute_width,
        labels: labels.map(|(_, labels)| labels.into_iter().map(|(_, label)| label).collect()),
    })
}

/// The graph of each node, from 1.
fn indicator(member: &Member, labels: Option<usize>) -> Result<Vec<u32>, DataError> {
    let mut graph_of: Vec<u32> = Vec::new();
    let mut before = 0;
    for line in lines(member) {
        let (line, text) = line?;
        let graph: u32 = number(member, line, text, "the number of a graph, from 1")?;
        let problem = if graph < before {
            GraphProblem::NotInOrder { graph: graph as usize, before: before as usize }
        } else if graph > before + 1 || graph == 0 {
            GraphProblem::EmptyGraph { graph: before as usize + usize::from(graph > 0) }
        } else if let Some(labels) = labels.filter(|labels| graph as usize > *labels) {
            GraphProblem::GraphWithoutLabel { graph: graph as usize, labels }
        } else {
            graph_of.push(graph);
            before = graph;
            continue;
        };
        return Err(at(member, line, problem));
    }
    if graph_of.is_empty() {
        return Err(DataError::new(&member.name, Problem::Empty));
    }
    Ok(graph_of)
}

/// Edges by nodes from 0.
fn edges(member: &Member, graph_of: &[u32]) -> Result<Vec<(u32, u32)>, DataError> {
    let mut edges = Vec::with_capacity(member.bytes.len() / 12);
    for line in lines(member) {
        let (line, text) = line?;
        let mut ends = parts(text);
        let (Some(from), Some(to), None) = (ends.next(), ends.next(), ends.next()) else {
            let problem = GraphProblem::NotANumber { expected: "two nodes such as `1, 2`", got: shown(text) };
            return Err(at(member, line, problem));
        };
        let node = |text: &str| {
            let node: i64 = number(member, line, text, "the number of a node, from 1")?;
            match usize::try_from(node).ok().filter(|node| (1..=graph_of.len()).contains(node)) {
                Some(node) => Ok(node - 1),
                None => {
                    Err(at(member, line, GraphProblem::NoSuchNode { node, first: 1, last: graph_of.len() }))
                }
            }
        };
        let (from, to) = (node(from)?, node(to)?);
        if graph_of[from] != graph_of[to] {
            let (from, to) = (graph_of[from] as usize, graph_of[to] as usize);
            return Err(at(member, line, GraphProblem::EdgeBetweenGraphs { from, to }));
        }
        edges.push((from as u32, to as u32));
    }
    Ok(edges)
}

/// Line and label of each graph.
fn graph_labels(member: &Member) -> Result<Vec<(u64, String)>, DataError> {
    let label = |line: Result<(u64, &str), DataError>| {
        let (line, text) = line?;
        let label: i64 = number(member, line, text, "a whole number as the graph's class")?;
        Ok((line, label.to_string()))
    };
    lines(member).map(label).collect()
}

/// The label of each node; several numbers in a line are one label.
fn node_labels(member: &Member, nodes: usize) -> Result<Vec<String>, DataError> {
    let label = |line: Result<(u64, &str), DataError>| {
        let (line, text) = line?;
        let numbers =
            parts(text).map(|part| number::<i64>(member, line, part, "a whole number as the node's label"));
        let numbers: Vec<String> =
            numbers.map(|number| Ok(number?.to_string())).collect::<Result<_, DataError>>()?;
        Ok(numbers.join(","))
    };
    let labels: Vec<String> = lines(member).map(label).collect::<Result<_, DataError>>()?;
    check_lines(member, nodes, labels.len())?;
    Ok(labels)
}

/// The attributes of each node, and how many each has.
fn attributes(member: &Member, nodes: usize) -> Result<(Vec<f32>, usize), DataError> {
    let (mut values, mut width, mut rows) = (Vec::new(), None, 0);
    for line in lines(member) {
        let (line, text) = line?;
        let before = values.len();
        for part in parts(text) {
            let value: f32 = number(member, line, part, "a number")?;
            if !value.is_finite() {
                let problem = Problem::InfiniteNumber { got: part.to_owned() };
                return Err(DataError::at(&member.name.as_str().into(), Place::Line(line), problem));
            }
            values.push(value);
        }
        let got = values.len() - before;
        let expected = *width.get_or_insert(got);
        if got != expected {
            return Err(at(member, line, GraphProblem::AttributeWidth { expected, got }));
        }
        rows += 1;
    }
    check_lines(member, nodes, rows)?;
    Ok((values, width.unwrap_or(0)))
}

fn check_lines(member: &Member, nodes: usize, lines: usize) -> Result<(), DataError> {
    if lines == nodes {
        return Ok(());
    }
    Err(DataError::new(&member.name, Problem::Graph(GraphProblem::NodeLines { nodes, lines })))
}

/// Lines that are not blank, with their numbers from 1.
fn lines(member: &Member) -> impl Iterator<Item = Result<(u64, &str), DataError>> {
    let numbered = member.bytes.split(|byte| *byte == b'\n').zip(1..);
    numbered.filter(|(bytes, _)| !bytes.trim_ascii().is_empty()).map(
        |(bytes, line)| match std::str::from_utf8(bytes.trim_ascii()) {
            Ok(text) => Ok((line, text)),
            Err(_) => Err(DataError::at(&member.name.as_str().into(), Place::Line(line), Problem::NotUtf8)),
        },
    )
}

/// What stands between commas and blanks.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c == ',' || c.is_ascii_whitespace()).filter(|part| !part.is_empty())
}

fn number<T: FromStr>(
    member: &Member,
    line: u64,
    text: &str,
    expected: &'static str,
) -> Result<T, DataError> {
    text.parse().map_err(|_| at(member, line, GraphProblem::NotANumber { expected, got: shown(text) }))
}

/// The start of a text that may be long.
fn shown(text: &str) -> String {
    text.chars().take(60).collect()
}

fn at(member: &Member, line: u64, problem: GraphProblem) -> DataError {
    let name: Arc<str> = member.name.as_str().into();
    DataError::at(&name, Place::Line(line), Problem::Graph(problem))
}
