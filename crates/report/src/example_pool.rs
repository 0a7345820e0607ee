//! All examples of the page, each stored once however many models and figures refer to it.

use crate::graph_layout::{self, PlacedGraph};
use crate::sprite::{self, Grid};
use crate::{Body, Example, Graph, Image, ModelRecord, RunRecord, TargetRecord, escape};
use serde_json::{Value, json};
use std::collections::HashMap;

/// Inducing points of a network that are listed.
pub(crate) const MAX_LISTED_POINTS: usize = 64;
/// Longer cells are truncated.
const MAX_CELL_CHARS: usize = 700;

/// Examples of all models.
#[derive(Debug)]
pub(crate) struct ExamplePool<'a> {
    entries: Vec<Entry<'a>>,
    /// Index in `entries` of each model's examples.
    indices: Vec<HashMap<usize, usize>>,
    /// Column names; entries refer to them by index.
    columns: Vec<&'a [String]>,
    images: Vec<&'a Image>,
    pub(crate) grid: Grid,
    /// Labels of nodes, the most frequent first.
    labels: Vec<&'a str>,
}

#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    pub(crate) body: EntryBody<'a>,
}

#[derive(Debug)]
pub(crate) enum EntryBody<'a> {
    /// Index of the column names, and values.
    Cells(usize, &'a [String]),
    /// Index of the thumbnail.
    Image(usize),
    Graph(&'a Graph, PlacedGraph),
}

impl<'a> ExamplePool<'a> {
    pub(crate) fn new(run: &'a RunRecord) -> Self {
        let mut pool = Self {
            entries: Vec::new(),
            indices: Vec::new(),
            columns: Vec::new(),
            images: Vec::new(),
            grid: Grid::new(&[]),
            labels: Vec::new(),
        };
        let mut known: HashMap<Identity<'a>, usize> = HashMap::new();
        let mut frequency: HashMap<&'a str, usize> = HashMap::new();
        for model in &run.models {
            let set = match pool.columns.iter().position(|columns| *columns == model.columns) {
                Some(set) => set,
                None => {
                    pool.columns.push(&model.columns);
                    pool.columns.len() - 1
                }
            };
            let mut indices = HashMap::new();
            for index in used(model) {
                if let Some(example) = model.examples.get(index) {
                    let entry = *known
                        .entry(Identity::new(example, set))
                        .or_insert_with(|| pool.add(example, set, &mut frequency));
                    indices.insert(index, entry);
                }
            }
            pool.indices.push(indices);
        }
        pool.grid = Grid::new(&pool.images);
        pool.labels = frequency.keys().copied().collect();
        pool.labels.sort_by_key(|label| (usize::MAX - frequency[label], *label));
        pool
    }

    fn add(&mut self, example: &'a Example, set: usize, frequency: &mut HashMap<&'a str, usize>) -> usize {
        let body = match &example.body {
            Body::Cells(cells) => EntryBody::Cells(set, cells),
            Body::Image(image) => {
                self.images.push(image);
                EntryBody::Image(self.images.len() - 1)
            }
            Body::Graph(graph) => {
                for label in &graph.labels {
                    *frequency.entry(label).or_default() += 1;
                }
                EntryBody::Graph(graph, graph_layout::place(graph))
            }
        };
        self.entries.push(Entry { name: &example.name, body });
        self.entries.len() - 1
    }

    /// Index of a model's example in the pool.
    pub(crate) fn index(&self, model: usize, example: usize) -> Option<usize> {
        self.indices.get(model)?.get(&example).copied()
    }

    /// A model's example.
    pub(crate) fn entry(&self, model: usize, example: usize) -> Option<&Entry<'a>> {
        Some(&self.entries[self.index(model, example)?])
    }

    /// A set of column names.
    pub(crate) fn columns(&self, set: usize) -> &'a [String] {
        self.columns.get(set).copied().unwrap_or(&[])
    }

    /// Index of a node's label; the most frequent is 0.
    pub(crate) fn label(&self, graph: &Graph, node: usize) -> Option<usize> {
        let label = graph.labels.get(node)?;
        self.labels.iter().position(|known| known == label)
    }

    /// Name of a label.
    pub(crate) fn label_name(&self, label: usize) -> &'a str {
        self.labels.get(label).copied().unwrap_or("")
    }

    /// Data URLs of the thumbnail sheets.
    pub(crate) fn sheets(&self) -> Vec<String> {
        if self.images.is_empty() { Vec::new() } else { sprite::sheets(&self.grid, &self.images) }
    }

    /// For the page's script: `[0, name, columns, cells]`, `[1, name, image]` or
    /// `[2, name, coordinates, edges, labels, nodes]`.
    pub(crate) fn json(&self) -> Value {
        let entry = |entry: &Entry<'_>| {
            let name = escape::plain(&escape::truncate(entry.name, 120));
            match &entry.body {
                EntryBody::Cells(set, cells) => {
                    let cells: Vec<_> = cells
                        .iter()
                        .map(|cell| escape::plain(&escape::truncate(cell, MAX_CELL_CHARS)))
                        .collect();
                    json!([0, name, set, cells])
                }
                EntryBody::Image(image) => json!([1, name, image]),
                EntryBody::Graph(graph, placed) => {
                    let at: Vec<u8> = placed.at.iter().flatten().copied().collect();
                    let edges: Vec<usize> = placed.edges.iter().flatten().copied().collect();
                    let labels: Vec<_> = placed.nodes.iter().filter_map(|&n| self.label(graph, n)).collect();
                    json!([2, name, at, edges, labels, graph.nodes])
                }
            }
        };
        let names = |names: &[String]| {
            names.iter().map(|n| escape::plain(&escape::truncate(n, 80))).collect::<Vec<_>>()
        };
        json!({
            "examples": self.entries.iter().map(entry).collect::<Vec<_>>(),
            "columns": self.columns.iter().map(|c| names(c)).collect::<Vec<_>>(),
            "labels": self.labels.iter().take(200).map(|l| escape::plain(&escape::truncate(l, 40))).collect::<Vec<_>>(),
            "images": self.grid.images,
            "across": self.grid.columns,
        })
    }
}

/// Two examples are the same if all of this is.
#[derive(PartialEq, Eq, Hash)]
enum Identity<'a> {
    Cells(usize, &'a str, &'a [String]),
    Image(&'a str, usize, usize, &'a [u8]),
    Graph(&'a str, usize, &'a [[usize; 2]], &'a [String]),
}

impl<'a> Identity<'a> {
    fn new(example: &'a Example, set: usize) -> Self {
        let name = example.name.as_str();
        match &example.body {
            Body::Cells(cells) => Self::Cells(set, name, cells),
            Body::Image(p) => Self::Image(name, p.width, p.height, &p.pixels),
            Body::Graph(g) => Self::Graph(name, g.nodes, &g.edges, &g.labels),
        }
    }
}

/// Examples of a model that the page can show, in order.
fn used(model: &ModelRecord) -> impl Iterator<Item = usize> {
    let points = model.targets.first().map_or_else(Vec::new, examples_of);
    let listed = model.networks.iter().flat_map(|network| {
        listed(&network.inducing).into_iter().flat_map(|m| {
            let point = &network.inducing[m];
            point.nearest.iter().map(|n| n.example).chain(point.refined.iter().map(|r| r.example))
        })
    });
    let nearest = model
        .networks
        .iter()
        .take(1)
        .flat_map(|n| &n.inducing)
        .filter_map(|p| Some(p.nearest.first()?.example));
    let mut all: Vec<usize> = points.into_iter().chain(listed).chain(nearest).collect();
    let mut seen = std::collections::HashSet::new();
    all.retain(|&example| seen.insert(example));
    all.into_iter()
}

/// Examples of a target's points.
pub(crate) fn examples_of(target: &TargetRecord) -> Vec<usize> {
    match target {
        TargetRecord::Regression(number) => number.points.iter().map(|p| p.example).collect(),
        TargetRecord::Classification(classes) => classes.points.iter().map(|p| p.example).collect(),
    }
}

/// The inducing points that are listed, those with most assigned inputs first.
pub(crate) fn listed(inducing: &[crate::InducingPointRecord]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..inducing.len()).collect();
    order.sort_by_key(|&m| (usize::MAX - inducing[m].assigned, m));
    order.truncate(MAX_LISTED_POINTS);
    order
}

/// Bytes of a page that examples may take.
const BYTE_BUDGET: usize = 1_600_000;
/// Points that are plotted, at most.
const MAX_POINTS: usize = 2_000;

/// How many examples like this one can be plotted while the page stays below 2.5 MB, at most 2,000.
///
/// Where examples differ in size, pass a large one.
///
/// ```
/// use inducing_report::{Body, max_points};
/// assert_eq!(max_points(&Body::Cells(vec!["1.5".into(); 10])), 2000);
/// assert!(max_points(&Body::Cells(vec!["a long text ".repeat(100)])) < 1200);
/// ```
pub fn max_points(body: &Body) -> usize {
    let each = match body {
        Body::Cells(cells) => cells.iter().map(|cell| cell.len().min(2 * MAX_CELL_CHARS) + 4).sum::<usize>(),
        Body::Image(image) => {
            let shrink = (sprite::THUMBNAIL as f64 / image.width.max(image.height).max(1) as f64).min(1.0);
            let area = image.width as f64 * image.height as f64 * shrink * shrink;
            // Bytes of a pixel after compression (colour is JPEG), and a third for base64.
            (area * if image.channels == 3 { 0.45 } else { 0.55 } * 4.0 / 3.0) as usize
        }
        Body::Graph(graph) => {
            let nodes = graph.nodes.min(graph_layout::MAX_NODES);
            let share = nodes as f64 / graph.nodes.max(1) as f64;
            nodes * 9 + (graph.edges.len() as f64 * share * 8.0) as usize
        }
    };
    (BYTE_BUDGET / (each + 200)).clamp(100, MAX_POINTS)
}
