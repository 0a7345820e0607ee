//! Inputs as people look at them: rows in the units of the table, images, graphs.

use inducing::Dataset;
use inducing::data::{Column, GraphSet, ImageSet, Table};
use inducing::dataset::{Inputs, Schema};
use inducing::model::EncodedData;

use crate::gather::{ExampleSource, RefinedValues};
use crate::number_format::plain_number;
use crate::record::{Body, Example, Graph, Image};

/// Words shown of a text's beginning, and of its end.
const WORDS: usize = 25;

/// Renders inputs from the data that they were encoded from.
#[derive(Debug)]
pub struct ExampleRenderer<'a> {
    original: Original<'a>,
    schema: &'a Schema,
    /// Rows of the table that were encoded; all if `None`.
    rows: Option<&'a [usize]>,
}

#[derive(Debug, Clone, Copy)]
enum Original<'a> {
    Table(&'a Table),
    Images(&'a ImageSet),
    Graphs(&'a GraphSet),
}

impl<'a> ExampleRenderer<'a> {
    /// Renders `inputs`, which were encoded from `data`.
    ///
    /// # Panics
    /// Where they are inputs of a custom encoder, which only its own program can show.
    pub fn new(inputs: &'a Inputs, data: &'a Dataset, schema: &'a Schema, rows: Option<&'a [usize]>) -> Self {
        let original = match (inputs, data.table(), data.graphs()) {
            (Inputs::Images(images), ..) => Original::Images(images.set()),
            (_, Some(table), _) => Original::Table(table),
            (_, _, Some(set)) => Original::Graphs(set),
            _ => panic!("inputs of a custom encoder cannot be shown"),
        };
        Self { original, schema, rows }
    }

    /// Renders inputs that were encoded for a model.
    pub fn of_encoded(data: &'a EncodedData, schema: &'a Schema) -> Self {
        Self::new(&data.inputs, &data.data, schema, data.rows.as_deref())
    }

    fn row(&self, row: usize) -> usize {
        self.rows.map_or(row, |rows| rows[row])
    }

    fn cells(&self, table: &Table, row: usize) -> Vec<String> {
        let columns = self.schema.table().into_iter().flat_map(|schema| &schema.inputs);
        columns.map(|input| table.column(&input.name).map_or(String::new(), |c| cell(c, row))).collect()
    }
}

impl ExampleSource for ExampleRenderer<'_> {
    fn example(&self, row: usize) -> Example {
        let row = self.row(row);
        match self.original {
            Original::Table(table) => {
                let name = match table.line(row) {
                    Some(line) => format!("line {line}"),
                    None => format!("row {}", table.row_in_file(row)),
                };
                let file = table.file_of(row);
                let name = if file == table.file() { name } else { format!("{name} of {}", file_name(file)) };
                Example { name, body: Body::Cells(self.cells(table, row)) }
            }
            Original::Images(set) => {
                let name = set.names.get(row).cloned().unwrap_or_else(|| format!("image {}", row + 1));
                Example { name, body: image(set, set.image(row)) }
            }
            Original::Graphs(set) => Example { name: format!("graph {}", row + 1), body: graph(set, row) },
        }
    }

    fn truth(&self, row: usize) -> String {
        let row = self.row(row);
        let class = |labels: &Option<Vec<u32>>, classes: &[String]| {
            labels.as_ref().map_or(String::new(), |labels| classes[labels[row] as usize].clone())
        };
        match self.original {
            Original::Table(table) => {
                let names = self.schema.target_names();
                let values =
                    names.iter().map(|name| table.column(name).map_or(String::new(), |c| cell(c, row)));
                values.collect::<Vec<_>>().join(", ")
            }
            Original::Images(set) => class(&set.labels, &set.classes),
            Original::Graphs(set) => class(&set.labels, &set.classes),
        }
    }

    fn refined(&self, row: usize, to: RefinedValues<'_>) -> Example {
        let mut example = self.example(row);
        example.name += ", refined";
        match (&mut example.body, to, self.original, self.schema.table()) {
            (Body::Cells(cells), RefinedValues::Row { from, to }, _, Some(schema)) => {
                for ((cell, from), to) in cells.iter_mut().zip(schema.decode(from)).zip(schema.decode(to)) {
                    if let Some(to) = to.filter(|_| from != to) {
                        *cell = plain_number(to);
                    }
                }
            }
            (body, RefinedValues::Image(bytes), Original::Images(set), _) => *body = image(set, bytes),
            _ => {}
        }
        example
    }
}

fn image(set: &ImageSet, bytes: &[u8]) -> Body {
    let &ImageSet { width, height, channels, .. } = set;
    Body::Image(Image { width, height, channels, pixels: bytes.to_vec() })
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

/// A number that a person wrote down is hardly longer.
const LONGEST_NUMBER: usize = 10;

/// A cell as the file has it, but a computed number to six digits and a long text without its middle.
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

fn file_name(path: &str) -> std::borrow::Cow<'_, str> {
    std::path::Path::new(path).file_name().unwrap_or_default().to_string_lossy()
}
