//! Lists of neighbours from a list of edges in any order, with any repetitions.

use super::GraphSet;
use crate::schema::natural_order::natural_order;

/// Graphs while they are read; nodes are numbered over all graphs, from 0.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Where the nodes of each graph begin, and at last N, [G + 1].
    pub(crate) nodes: Vec<usize>,
    /// Edges within one graph each, in one direction or both, once or more often.
    pub(crate) edges: Vec<(u32, u32)>,
    /// The label of each node, if nodes have labels.
    pub(crate) node_labels: Option<Vec<String>>,
    /// [N, attribute_width].
    pub(crate) attributes: Vec<f32>,
    pub(crate) attribute_width: usize,
    /// The class of each graph, if it is known.
    pub(crate) labels: Option<Vec<String>>,
}

impl Draft {
    /// The finished set, and the number of loops that were left out.
    pub(crate) fn finish(self, origin: String) -> (GraphSet, usize) {
        let all = *self.nodes.last().expect("offsets end with N");
        let mut edges = self.edges;
        let before = edges.len();
        edges.retain(|(from, to)| from != to);
        let loops = before - edges.len();
        edges.extend_from_within(..);
        let half = edges.len() / 2;
        edges[half..].iter_mut().for_each(|(from, to)| std::mem::swap(from, to));
        edges.sort_unstable();
        edges.dedup();
        let mut neighbours = vec![0; all + 1];
        edges.iter().for_each(|(from, _)| neighbours[*from as usize + 1] += 1);
        (0..all).for_each(|node| neighbours[node + 1] += neighbours[node]);
        let mut local = Vec::with_capacity(edges.len());
        for graph in self.nodes.windows(2) {
            let mine = &edges[neighbours[graph[0]]..neighbours[graph[1]]];
            local.extend(mine.iter().map(|(_, to)| to - graph[0] as u32));
        }
        let (node_labels, node_levels) = coded(self.node_labels);
        let (labels, classes) = coded(self.labels);
        let set = GraphSet {
            nodes: self.nodes,
            neighbours,
            edges: local,
            node_labels,
            node_levels,
            attributes: self.attributes,
            attribute_width: self.attribute_width,
            labels,
            classes,
            origin,
        };
        (set, loops)
    }
}

/// Names as positions among the distinct names in natural order.
fn coded(names: Option<Vec<String>>) -> (Option<Vec<u32>>, Vec<String>) {
    let Some(names) = names else { return (None, Vec::new()) };
    let mut distinct: Vec<&str> = names.iter().map(String::as_str).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let mut place = vec![0; distinct.len()];
    let order = natural_order(&distinct);
    order.iter().zip(0..).for_each(|(at, code)| place[*at] = code);
    let code = |name: &String| place[distinct.binary_search(&name.as_str()).expect("it is among them")];
    let codes = names.iter().map(code).collect();
    let levels = order.iter().map(|at| distinct[*at].to_owned()).collect();
    (Some(codes), levels)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn draft(edges: &[(u32, u32)]) -> Draft {
        Draft { nodes: vec![0, 4, 9], edges: edges.to_vec(), ..Draft::default() }
    }

    #[test]
    fn edges_become_symmetric_and_loops_are_counted() {
        let (set, loops) = draft(&[(2, 0), (0, 2), (0, 2), (1, 1), (8, 4), (0, 1)]).finish("g".into());
        assert_eq!(loops, 1);
        assert_eq!(set.edge_count(), 3);
        assert_eq!((set.neighbours_of(0), set.neighbours_of(2)), (&[1, 2][..], &[0][..]));
        assert_eq!(
            (set.neighbours_of(3), set.neighbours_of(4), set.neighbours_of(8)),
            (&[][..], &[4][..], &[0][..])
        );
        let only = set.select(&[1]);
        assert_eq!((only.len(), only.node_count(), only.neighbours_of(0)), (1, 5, &[4][..]));
        assert_eq!(set.select(&[0, 1]), set);
    }

    proptest! {
        #[test]
        fn order_direction_and_repetition_of_edges_do_not_matter(
            edges in prop::collection::vec((0..4u32, 0..4u32), 0..20),
            flips in prop::collection::vec(any::<bool>(), 20),
        ) {
            let (expected, _) = draft(&edges).finish("g".into());
            let mut other: Vec<(u32, u32)> =
                edges.iter().zip(&flips).map(|((a, b), flip)| if *flip { (*b, *a) } else { (*a, *b) }).collect();
            other.extend(edges.iter().zip(flips.iter().rev()).filter(|(_, twice)| **twice).map(|(edge, _)| *edge));
            other.reverse();
            prop_assert_eq!(draft(&other).finish("g".into()).0, expected);
        }
    }
}
