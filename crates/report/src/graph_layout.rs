//! Graph layout by stress majorisation, started from distances to three far nodes. Deterministic: a graph always looks the
//! same.

use crate::Graph;

/// Nodes that are drawn, at most.
pub(crate) const MAX_NODES: usize = 200;

/// The part of a graph that is drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlacedGraph {
    /// Indices in the graph.
    pub(crate) nodes: Vec<usize>,
    /// Position of each node, from 0 to 100.
    pub(crate) at: Vec<[u8; 2]>,
    /// Indices in `nodes`.
    pub(crate) edges: Vec<[usize; 2]>,
}

/// Positions of the nodes. O(n²) per round, with fewer rounds for larger graphs.
pub(crate) fn place(graph: &Graph) -> PlacedGraph {
    let nodes = first_nodes(&adjacency(graph.nodes, &graph.edges));
    let mut place_of = vec![usize::MAX; graph.nodes];
    for (place, &node) in nodes.iter().enumerate() {
        place_of[node] = place;
    }
    let edges: Vec<[usize; 2]> = graph
        .edges
        .iter()
        .filter(|[a, b]| a != b && *a < graph.nodes && *b < graph.nodes)
        .map(|[a, b]| [place_of[*a], place_of[*b]])
        .filter(|edge| !edge.contains(&usize::MAX))
        .collect();
    let near = adjacency(nodes.len(), &edges);
    let at = to_frame(&minimise_stress(start(&near), &near));
    PlacedGraph { nodes, at, edges }
}

/// Neighbours of each of `n` nodes; invalid edges and loops are left out.
fn adjacency(n: usize, edges: &[[usize; 2]]) -> Vec<Vec<usize>> {
    let mut neighbours = vec![Vec::new(); n];
    for &[a, b] in edges {
        if a != b && a < n && b < n {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
    }
    neighbours
}

/// All nodes of a small graph; of a large one those around the node with most edges.
fn first_nodes(neighbours: &[Vec<usize>]) -> Vec<usize> {
    if neighbours.len() <= MAX_NODES {
        return (0..neighbours.len()).collect();
    }
    let mut seen = vec![false; neighbours.len()];
    let mut order = Vec::with_capacity(MAX_NODES);
    let hub = (0..neighbours.len()).max_by_key(|&n| (neighbours[n].len(), usize::MAX - n)).unwrap_or(0);
    for root in std::iter::once(hub).chain(0..neighbours.len()) {
        if order.len() >= MAX_NODES {
            break;
        }
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        let mut next = order.len();
        order.push(root);
        while next < order.len() && order.len() < MAX_NODES {
            for &n in &neighbours[order[next]] {
                if order.len() < MAX_NODES && !std::mem::replace(&mut seen[n], true) {
                    order.push(n);
                }
            }
            next += 1;
        }
    }
    order
}

/// Distances to three far nodes as coordinates, plus an offset that separates nodes with equal distances.
fn start(neighbours: &[Vec<usize>]) -> Vec<[f64; 2]> {
    let n = neighbours.len();
    let farthest = |from: &[f64]| (0..n).max_by(|&a, &b| from[a].total_cmp(&from[b])).unwrap_or(0);
    let first = distances(neighbours, 0);
    let a = distances(neighbours, farthest(&first));
    let b = distances(neighbours, farthest(&a));
    let nearer: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a.min(*b)).collect();
    let c = distances(neighbours, farthest(&nearer));
    (0..n)
        .map(|k| {
            let turn = k as f64 * 2.399_963; // the golden angle: no two nodes in the same direction
            [a[k] - b[k] + 0.6 * turn.cos(), 2.0 * c[k] - a[k] - b[k] + 0.6 * turn.sin()]
        })
        .collect()
}

fn distances(neighbours: &[Vec<usize>], from: usize) -> Vec<f64> {
    let mut distance = vec![f64::INFINITY; neighbours.len()];
    let mut queue = std::collections::VecDeque::new();
    if let Some(own) = distance.get_mut(from) {
        *own = 0.0;
        queue.push_back(from);
    }
    while let Some(node) = queue.pop_front() {
        for &n in &neighbours[node] {
            if distance[n].is_infinite() {
                distance[n] = distance[node] + 1.0;
                queue.push_back(n);
            }
        }
    }
    let largest = distance.iter().copied().filter(|d| d.is_finite()).fold(0.0, f64::max);
    distance.into_iter().map(|d| if d.is_finite() { d } else { largest + 1.0 }).collect()
}

/// Moves nodes until distances on the page match those along edges: stress majorisation, one node at a time (Gansner, Koren & North 2004, eq. 8 with weights d⁻²).
fn minimise_stress(mut at: Vec<[f64; 2]>, neighbours: &[Vec<usize>]) -> Vec<[f64; 2]> {
    let n = at.len();
    let target: Vec<Vec<f64>> = (0..n).map(|node| distances(neighbours, node)).collect();
    for _ in 0..(300_000 / (n * n).max(1)).clamp(12, 80) {
        for a in 0..n {
            let (mut x, mut y, mut total) = (0.0, 0.0, 0.0);
            for b in (0..n).filter(|&b| b != a) {
                let (dx, dy) = (at[a][0] - at[b][0], at[a][1] - at[b][1]);
                let (d, weight) = (target[a][b], 1.0 / (target[a][b] * target[a][b]));
                let scale = d / (dx * dx + dy * dy).sqrt().max(1e-6);
                x += weight * (at[b][0] + dx * scale);
                y += weight * (at[b][1] + dy * scale);
                total += weight;
            }
            if total > 0.0 {
                at[a] = [x / total, y / total];
            }
        }
    }
    at
}

/// To the range 0 to 100, with both directions scaled alike.
fn to_frame(at: &[[f64; 2]]) -> Vec<[u8; 2]> {
    let range = |k: usize| {
        let values = || at.iter().map(|p| p[k]);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((x0, x1), (y0, y1)) = (range(0), range(1));
    let side = (x1 - x0).max(y1 - y0).max(1e-9);
    let to =
        |value: f64, low: f64, high: f64| (50.0 + 100.0 * (value - (low + high) / 2.0) / side).round() as u8;
    at.iter().map(|p| [to(p[0], x0, x1).min(100), to(p[1], y0, y1).min(100)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: usize) -> Graph {
        Graph { nodes: n, edges: (0..n).map(|k| [k, (k + 1) % n]).collect(), labels: vec![] }
    }

    #[test]
    fn a_ring_is_drawn_as_a_ring() {
        let placed = place(&ring(12));
        let radius = |p: &[u8; 2]| (f64::from(p[0]) - 50.0).hypot(f64::from(p[1]) - 50.0);
        assert!(placed.at.iter().all(|p| radius(p) > 30.0), "{:?}", placed.at);
        assert_eq!(placed, place(&ring(12)));
    }

    #[test]
    fn large_graphs_are_cut_and_broken_edges_left_out() {
        let placed = place(&ring(1000));
        assert_eq!((placed.nodes.len(), placed.edges.len()), (MAX_NODES, MAX_NODES - 1));
        let broken = Graph { nodes: 2, edges: vec![[0, 0], [0, 7], [1, 0]], labels: vec![] };
        assert_eq!(place(&broken).edges, [[1, 0]]);
        let empty = place(&Graph { nodes: 0, edges: vec![], labels: vec![] });
        assert!(empty.at.is_empty());
    }

    #[test]
    fn unconnected_components_stay_apart() {
        let placed = place(&Graph { nodes: 4, edges: vec![[0, 1], [2, 3]], labels: vec![] });
        let mut places = placed.at.clone();
        places.dedup();
        assert_eq!(places.len(), 4, "{:?}", placed.at);
    }
}
