//! Graphs in memory, and some of them side by side as one graph with many parts: no padding.

use super::pool::Bags;

/// Graphs with numbers at their nodes.
///
/// ```
/// use inducing::nn::graph::Graphs;
/// // A triangle, and a node without neighbours.
/// let graphs = Graphs {
///     x: vec![0.1, 0.2, 0.3, 0.4],
///     width: 1,
///     nodes: vec![0, 3, 4],
///     neighbours: vec![0, 2, 4, 6, 6],
///     edges: vec![1, 2, 0, 2, 0, 1],
/// };
/// assert_eq!((graphs.len(), graphs.fault()), (2, None));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graphs {
    /// Numbers of the nodes of all graphs, row-major `[n, width]`.
    pub x: Vec<f32>,
    /// Numbers of a node.
    pub width: usize,
    /// Where each graph's nodes begin, `[G + 1]`.
    pub nodes: Vec<usize>,
    /// Where each node's neighbours begin in `edges`, `[n + 1]`.
    pub neighbours: Vec<usize>,
    /// Neighbours, numbered within their own graph.
    pub edges: Vec<u32>,
}

/// Some graphs side by side.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) x: Vec<f32>,      // [n, width]
    pub(super) neighbours: Bags, // a bag of nodes for each node
    pub(super) graphs: Bags,     // a bag of nodes for each graph
}

impl Graphs {
    /// G
    pub fn len(&self) -> usize {
        self.nodes.len().saturating_sub(1)
    }

    /// Whether there is no graph.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is wrong with it, if anything; the encoder refuses graphs with a fault. O(n + E).
    pub fn fault(&self) -> Option<String> {
        self.fault_of_sizes().or_else(|| (0..self.len()).find_map(|graph| self.fault_of(graph)))
    }

    /// What is wrong with the lengths of the lists: O(1).
    fn fault_of_sizes(&self) -> Option<String> {
        let spans = |starts: &[usize], end: usize| starts.first() == Some(&0) && starts.last() == Some(&end);
        let n = self.nodes.last().copied().unwrap_or(0);
        if !spans(&self.nodes, n) || !spans(&self.neighbours, self.edges.len()) {
            return Some("starts of graphs or of neighbours do not rise from zero to the end".into());
        }
        let (x, width, lists) = (self.x.len(), self.width, self.neighbours.len() - 1);
        (lists != n || n.checked_mul(width) != Some(x))
            .then(|| format!("{n} nodes of {width} numbers have {x} numbers and {lists} lists of neighbours"))
    }

    /// What is wrong with one graph, where the lengths are right.
    fn fault_of(&self, graph: usize) -> Option<String> {
        let (first, last) = (self.nodes[graph], self.nodes[graph + 1]);
        let rising = |starts: &&[usize]| first <= last && starts.is_sorted();
        let starts = self.neighbours.get(first..=last).filter(rising);
        let edges = starts.and_then(|starts| self.edges.get(starts[0]..starts[last - first]));
        let Some(edges) = edges else {
            return Some(format!("starts of nodes or of neighbours do not rise in graph {graph}"));
        };
        let stray = edges.iter().find(|&&to| to as usize >= last - first)?;
        Some(format!("graph {graph} has {} nodes, an edge leads to node {stray}", last - first))
    }

    /// The graphs of the given rows, side by side; a fault of theirs or of the lists' lengths, where there is one. Other
    /// graphs are not looked at: a step costs what its own graphs cost.
    pub(super) fn batch(&self, rows: &[usize]) -> Result<Batch, String> {
        if let Some(fault) = self.fault_of_sizes() {
            return Err(fault);
        }
        let (mut x, mut members) = (Vec::new(), Vec::new());
        let (mut starts, mut graphs) = (vec![0], vec![0]);
        for &row in rows {
            if row >= self.len() {
                return Err(format!("graph {row} of {}", self.len()));
            }
            if let Some(fault) = self.fault_of(row) {
                return Err(fault);
            }
            let nodes = self.nodes[row]..self.nodes[row + 1];
            let before = starts.len() - 1;
            x.extend_from_slice(&self.x[nodes.start * self.width..nodes.end * self.width]);
            for node in nodes {
                let edges = &self.edges[self.neighbours[node]..self.neighbours[node + 1]];
                members.extend(edges.iter().map(|&to| (before as u32).wrapping_add(to)));
                starts.push(members.len());
            }
            graphs.push(starts.len() - 1);
        }
        let n = starts.len() - 1;
        if n.max(members.len()).max(rows.len()) > u32::MAX as usize {
            return Err(format!("a batch of {n} nodes and {} edges", members.len()));
        }
        let neighbours = Bags::new(starts, members, n);
        Ok(Batch { x, neighbours, graphs: Bags::consecutive(graphs) })
    }
}

impl Batch {
    /// n, nodes of all its graphs.
    pub(super) fn nodes(&self) -> usize {
        self.neighbours.len()
    }
}
