//! Graphs in memory, and some of them side by side as one graph with many parts: no padding.

use super::pool::Bags;
use std::sync::Arc;

/// Graphs with numbers at their nodes.
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
    pub(super) x: Vec<f32>,           // [n, width]
    pub(super) neighbours: Arc<Bags>, // a bag of nodes for each node
    pub(super) graphs: Arc<Bags>,     // a bag of nodes for each graph
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

    /// What is wrong with it, if anything; the encoder takes graphs without fault only.
    pub fn fault(&self) -> Option<String> {
        let n = self.nodes.last().copied().unwrap_or(0);
        let rise = |starts: &[usize], end: usize| {
            starts.first() == Some(&0) && starts.is_sorted() && starts.last() == Some(&end)
        };
        if !rise(&self.nodes, n) || !rise(&self.neighbours, self.edges.len()) {
            return Some("starts of graphs or of neighbours do not rise from zero to the end".into());
        }
        if self.neighbours.len() != n + 1 || n.checked_mul(self.width) != Some(self.x.len()) {
            let (x, width, rows) = (self.x.len(), self.width, self.neighbours.len() - 1);
            return Some(format!(
                "{n} nodes of {width} numbers have {x} numbers and {rows} lists of neighbours"
            ));
        }
        (0..self.len()).find_map(|graph| {
            let (first, last) = (self.nodes[graph], self.nodes[graph + 1]);
            let edges = &self.edges[self.neighbours[first]..self.neighbours[last]];
            let stray = edges.iter().find(|&&to| to as usize >= last - first)?;
            Some(format!("graph {graph} has {} nodes, an edge leads to node {stray}", last - first))
        })
    }

    /// The graphs of the given rows, side by side.
    pub(super) fn batch(&self, rows: &[usize]) -> Batch {
        let (mut x, mut members) = (Vec::new(), Vec::new());
        let (mut starts, mut graphs) = (vec![0], vec![0]);
        for &row in rows {
            let nodes = self.nodes[row]..self.nodes[row + 1];
            let before = starts.len() - 1;
            x.extend_from_slice(&self.x[nodes.start * self.width..nodes.end * self.width]);
            for node in nodes {
                let edges = &self.edges[self.neighbours[node]..self.neighbours[node + 1]];
                members.extend(edges.iter().map(|&to| before as u32 + to));
                starts.push(members.len());
            }
            graphs.push(starts.len() - 1);
        }
        let n = starts.len() - 1;
        Batch {
            x,
            neighbours: Arc::new(Bags::new(starts, members, n)),
            graphs: Arc::new(Bags::consecutive(graphs)),
        }
    }
}
