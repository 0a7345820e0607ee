//! All examples that the page shows, each once, whichever models and figures speak of it.

use crate::layout::{self, Placed};
use crate::sprite::{self, Grid};
use crate::{Body, Example, Graph, ModelRecord, Picture, Report, TargetRecord, escape};
use serde_json::{Value, json};
use std::collections::HashMap;

/// More inducing points of a network are not listed.
pub(crate) const MOST_INDUCING: usize = 64;
/// Longer cells are cut.
const LONGEST_CELL: usize = 700;

/// Examples of all models.
#[derive(Debug)]
pub(crate) struct Pool<'a> {
    entries: Vec<Entry<'a>>,
    /// Place in `entries` of each model's examples.
    places: Vec<HashMap<usize, usize>>,
    /// Names of cells; entries refer to them.
    columns: Vec<&'a [String]>,
    pictures: Vec<&'a Picture>,
    pub(crate) grid: Grid,
    /// Labels of nodes, the most frequent first.
    labels: Vec<&'a str>,
}

#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: Kind<'a>,
}

#[derive(Debug)]
pub(crate) enum Kind<'a> {
    /// Names and values.
    Cells(usize, &'a [String]),
    /// In the sheets.
    Picture(usize),
    Graph(&'a Graph, Placed),
}

impl<'a> Pool<'a> {
    pub(crate) fn new(report: &'a Report) -> Self {
        let mut pool = Self {
            entries: Vec::new(),
            places: Vec::new(),
            columns: Vec::new(),
            pictures: Vec::new(),
            grid: Grid::new(&[]),
            labels: Vec::new(),
        };
        let mut known: HashMap<Key<'a>, usize> = HashMap::new();
        let mut frequency: HashMap<&'a str, usize> = HashMap::new();
        for model in &report.models {
            let set = match pool.columns.iter().position(|columns| *columns == model.columns) {
                Some(set) => set,
                None => {
                    pool.columns.push(&model.columns);
                    pool.columns.len() - 1
                }
            };
            let mut places = HashMap::new();
            for place in used(model) {
                if let Some(example) = model.examples.get(place) {
                    let entry = *known
                        .entry(Key::of(example, set))
                        .or_insert_with(|| pool.add(example, set, &mut frequency));
                    places.insert(place, entry);
                }
            }
            pool.places.push(places);
        }
        pool.grid = Grid::new(&pool.pictures);
        pool.labels = frequency.keys().copied().collect();
        pool.labels.sort_by_key(|label| (usize::MAX - frequency[label], *label));
        pool
    }

    fn add(&mut self, example: &'a Example, set: usize, frequency: &mut HashMap<&'a str, usize>) -> usize {
        let kind = match &example.body {
            Body::Cells(cells) => Kind::Cells(set, cells),
            Body::Picture(picture) => {
                self.pictures.push(picture);
                Kind::Picture(self.pictures.len() - 1)
            }
            Body::Graph(graph) => {
                for label in &graph.labels {
                    *frequency.entry(label).or_default() += 1;
                }
                Kind::Graph(graph, layout::place(graph))
            }
        };
        self.entries.push(Entry { name: &example.name, kind });
        self.entries.len() - 1
    }

    /// Where a model's example is.
    pub(crate) fn place(&self, model: usize, example: usize) -> Option<usize> {
        self.places.get(model)?.get(&example).copied()
    }

    /// A model's example.
    pub(crate) fn entry(&self, model: usize, example: usize) -> Option<&Entry<'a>> {
        Some(&self.entries[self.place(model, example)?])
    }

    /// Names of cells.
    pub(crate) fn columns(&self, set: usize) -> &'a [String] {
        self.columns.get(set).copied().unwrap_or(&[])
    }

    /// Which label a node has, the most frequent being 0.
    pub(crate) fn label(&self, graph: &Graph, node: usize) -> Option<usize> {
        let label = graph.labels.get(node)?;
        self.labels.iter().position(|known| known == label)
    }

    /// What a label is called.
    pub(crate) fn label_name(&self, label: usize) -> &'a str {
        self.labels.get(label).copied().unwrap_or("")
    }

    /// Data URLs of the pictures.
    pub(crate) fn sheets(&self) -> Vec<String> {
        if self.pictures.is_empty() { Vec::new() } else { sprite::sheets(&self.grid, &self.pictures) }
    }

    /// For the page's script: `[0, name, columns, cells]`, `[1, name, picture]` or
    /// `[2, name, coordinates, edges, labels, nodes]`.
    pub(crate) fn json(&self) -> Value {
        let entry = |entry: &Entry<'_>| {
            let name = escape::plain(&escape::cut(entry.name, 120));
            match &entry.kind {
                Kind::Cells(set, cells) => {
                    let cells: Vec<_> =
                        cells.iter().map(|cell| escape::plain(&escape::cut(cell, LONGEST_CELL))).collect();
                    json!([0, name, set, cells])
                }
                Kind::Picture(picture) => json!([1, name, picture]),
                Kind::Graph(graph, placed) => {
                    let at: Vec<u8> = placed.at.iter().flatten().copied().collect();
                    let edges: Vec<usize> = placed.edges.iter().flatten().copied().collect();
                    let labels: Vec<_> = placed.nodes.iter().filter_map(|&n| self.label(graph, n)).collect();
                    json!([2, name, at, edges, labels, graph.nodes])
                }
            }
        };
        let names =
            |names: &[String]| names.iter().map(|n| escape::plain(&escape::cut(n, 80))).collect::<Vec<_>>();
        json!({
            "examples": self.entries.iter().map(entry).collect::<Vec<_>>(),
            "columns": self.columns.iter().map(|c| names(c)).collect::<Vec<_>>(),
            "labels": self.labels.iter().take(200).map(|l| escape::plain(&escape::cut(l, 40))).collect::<Vec<_>>(),
            "pictures": self.grid.pictures,
            "across": self.grid.columns,
        })
    }
}

/// What makes two examples the same on the page.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Cells(usize, &'a str, &'a [String]),
    Picture(&'a str, usize, usize, &'a [u8]),
    Graph(&'a str, usize, &'a [[usize; 2]], &'a [String]),
}

impl<'a> Key<'a> {
    fn of(example: &'a Example, set: usize) -> Self {
        let name = example.name.as_str();
        match &example.body {
            Body::Cells(cells) => Self::Cells(set, name, cells),
            Body::Picture(p) => Self::Picture(name, p.width, p.height, &p.pixels),
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

/// Of a target's points.
pub(crate) fn examples_of(target: &TargetRecord) -> Vec<usize> {
    match target {
        TargetRecord::Number(number) => number.points.iter().map(|p| p.example).collect(),
        TargetRecord::Classes(classes) => classes.points.iter().map(|p| p.example).collect(),
    }
}

/// The inducing points that are listed, the most leaned on first.
pub(crate) fn listed(inducing: &[crate::InducingRecord]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..inducing.len()).collect();
    order.sort_by_key(|&m| (usize::MAX - inducing[m].leaning, m));
    order.truncate(MOST_INDUCING);
    order
}

/// Bytes of a page that its examples may take.
const BUDGET: usize = 1_600_000;
/// Most points that are drawn, whatever they are.
const MOST: usize = 2_000;

/// How many points of such examples should be drawn at most, so that the page stays below 2.5 MB.
///
/// Where examples differ in size, ask for a large one.
pub fn drawn(body: &Body) -> usize {
    let each = match body {
        Body::Cells(cells) => cells.iter().map(|cell| cell.len().min(2 * LONGEST_CELL) + 4).sum::<usize>(),
        Body::Picture(picture) => {
            let shrink =
                (sprite::THUMBNAIL as f64 / picture.width.max(picture.height).max(1) as f64).min(1.0);
            let area = picture.width as f64 * picture.height as f64 * shrink * shrink;
            // Bytes of a pixel after compression (colour is JPEG), and a third for base64.
            (area * if picture.channels == 3 { 0.45 } else { 0.55 } * 4.0 / 3.0) as usize
        }
        Body::Graph(graph) => {
            let nodes = graph.nodes.min(layout::MOST_NODES);
            let share = nodes as f64 / graph.nodes.max(1) as f64;
            nodes * 9 + (graph.edges.len() as f64 * share * 8.0) as usize
        }
    };
    (BUDGET / (each + 200)).clamp(100, MOST)
}
