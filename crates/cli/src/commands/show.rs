//! Inputs as a person can look at them: rows in their own units, pictures, graphs.

use super::given::Known;
use data::{Column, GraphSet, ImageSet, Table};
use ign::{Inputs, Schema};
use report::{Body, Example, Graph, Moved, Picture, Show};

/// Words of a text that are shown of its beginning and of its end.
const WORDS: usize = 25;

/// Inputs with where they come from.
pub(crate) struct Shown<'a> {
    look: Look<'a>,
    schema: &'a Schema,
    /// Rows of the table that the inputs are made of; all if `None`.
    rows: Option<&'a [usize]>,
}

#[derive(Clone, Copy)]
enum Look<'a> {
    Table(&'a Table),
    Images(&'a ImageSet),
    Graphs(&'a GraphSet),
}

impl<'a> Shown<'a> {
    /// Inputs whose originals are `known`; pictures are their own originals.
    pub(crate) fn new(
        inputs: &'a Inputs,
        known: Option<&'a Known>,
        schema: &'a Schema,
        rows: Option<&'a [usize]>,
    ) -> Self {
        let look = match (inputs, known) {
            (Inputs::Images(images), _) => Look::Images(images.set()),
            (_, Some(Known::Table(table))) => Look::Table(table),
            (_, Some(Known::Graphs(set))) => Look::Graphs(set),
            (_, Some(Known::Images(set))) => Look::Images(set),
            (_, None) => unreachable!("what is no picture comes with its original"),
        };
        Self { look, schema, rows }
    }

    fn row(&self, row: usize) -> usize {
        self.rows.map_or(row, |rows| rows[row])
    }

    fn cells(&self, table: &Table, row: usize) -> Vec<String> {
        let columns = self.schema.table().into_iter().flat_map(|schema| &schema.inputs);
        columns.map(|input| table.column(&input.name).map_or(String::new(), |c| cell(c, row))).collect()
    }
}

impl Show for Shown<'_> {
    fn example(&self, row: usize) -> Example {
        let row = self.row(row);
        match self.look {
            Look::Table(table) => {
                let name = match table.line(row) {
                    Some(line) => format!("line {line}"),
                    None => format!("row {}", row + 1),
                };
                Example { name, body: Body::Cells(self.cells(table, row)) }
            }
            Look::Images(set) => {
                let name = set.names.get(row).cloned().unwrap_or_else(|| format!("picture {}", row + 1));
                Example { name, body: picture(set, set.image(row)) }
            }
            Look::Graphs(set) => Example { name: format!("graph {}", row + 1), body: graph(set, row) },
        }
    }

    fn truth(&self, row: usize) -> String {
        let row = self.row(row);
        let class = |labels: &Option<Vec<u32>>, classes: &[String]| {
            labels.as_ref().map_or(String::new(), |labels| classes[labels[row] as usize].clone())
        };
        match self.look {
            Look::Table(table) => {
                let names = self.schema.target_names();
                let values =
                    names.iter().map(|name| table.column(name).map_or(String::new(), |c| cell(c, row)));
                values.collect::<Vec<_>>().join(", ")
            }
            Look::Images(set) => class(&set.labels, &set.classes),
            Look::Graphs(set) => class(&set.labels, &set.classes),
        }
    }

    fn moved(&self, row: usize, to: Moved<'_>) -> Example {
        let mut example = self.example(row);
        example.name += ", moved";
        match (&mut example.body, to, self.look, self.schema.table()) {
            (Body::Cells(cells), Moved::Row { from, to }, _, Some(schema)) => {
                for ((cell, from), to) in cells.iter_mut().zip(schema.decode(from)).zip(schema.decode(to)) {
                    if let Some(to) = to.filter(|_| from != to) {
                        *cell = crate::output::number(to);
                    }
                }
            }
            (body, Moved::Picture(bytes), Look::Images(set), _) => *body = picture(set, bytes),
            _ => {}
        }
        example
    }
}

fn picture(set: &ImageSet, bytes: &[u8]) -> Body {
    let &ImageSet { width, height, channels, .. } = set;
    Body::Picture(Picture { width, height, channels, pixels: bytes.to_vec() })
}

fn graph(set: &GraphSet, row: usize) -> Body {
    let nodes = set.nodes_of(row);
    let first = nodes.start;
    let later = |node: usize| {
        let others = set.neighbours_of(node).iter().map(|&other| other as usize);
        others.filter(move |other| *other > node - first).map(move |other| [node - first, other])
    };
    let label = |node: usize| match &set.node_labels {
        Some(labels) => set.node_levels[labels[node] as usize].clone(),
        None => String::new(),
    };
    let labels = match set.node_labels {
        Some(_) => nodes.clone().map(label).collect(),
        None => Vec::new(),
    };
    Body::Graph(Graph { nodes: nodes.len(), edges: nodes.flat_map(later).collect(), labels })
}

/// More letters than a number needs that someone wrote down.
const LONGEST_NUMBER: usize = 10;

/// A cell as it is read; a computed number to six digits, a long text without its middle.
fn cell(column: &Column, row: usize) -> String {
    let text = column.text(row);
    if let (Column::Number(values), true) = (column, text.len() > LONGEST_NUMBER) {
        return format!("{:.5e}", values[row]).parse::<f64>().map_or(text, |rounded| rounded.to_string());
    }
    if !matches!(column, Column::Text(_)) {
        return text;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() <= 2 * WORDS {
        return text;
    }
    format!("{} … {}", words[..WORDS].join(" "), words[words.len() - WORDS..].join(" "))
}
