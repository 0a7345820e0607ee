//! What the graph reads: columns of a table, one array, encoded numbers, or images.

use crate::absent::Absent;
use crate::error::ExportError;
use crate::graph::{Dim, Graph, Type, Value};
use crate::table;
use data::ImageSchema;
use inducing::dataset::Schema;
use inducing::model::ModelHeader;
use inducing::nn::EncoderShape;

/// The inputs of an exported model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InputForm {
    /// One for each column of a table; bytes of images.
    #[default]
    Columns,
    /// One array of numbers, a column for each of a table that has numbers alone.
    Array,
    /// The encoded matrix x of docs/model-file.md, section 5.
    Features,
}

/// The names of single inputs.
const ARRAY: &str = "array";
const FEATURES: &str = "features";
const IMAGES: &str = "images";

/// What is read.
pub(crate) struct Read<'a> {
    /// Encoded rows `[N, width]`, or bytes of images `[N, H, W, C]`.
    pub(crate) rows: Value,
    pub(crate) absent: Option<Absent>,
    images: Option<&'a ImageSchema>,
}

/// Names of the inputs; an error where the model reads what ONNX does not.
pub(crate) fn names(
    schema: &Schema,
    encoder: &EncoderShape,
    form: InputForm,
) -> Result<Vec<String>, ExportError> {
    let table = match (schema, encoder) {
        (Schema::Custom(_), _) | (_, EncoderShape::Custom(_)) => {
            return Err(ExportError::Inputs("a model of a custom encoder".into()));
        }
        (Schema::Graphs(_), _) | (_, EncoderShape::Graph(_)) => {
            return Err(ExportError::Inputs("a model of graphs".into()));
        }
        (_, EncoderShape::Text(_)) => return Err(ExportError::Inputs("a model of texts".into())),
        (Schema::Images(_), _) => None,
        (Schema::Table(table), _) => Some(table),
    };
    match (form, table) {
        (InputForm::Features, _) => Ok(vec![FEATURES.into()]),
        (InputForm::Columns, None) => Ok(vec![IMAGES.into()]),
        (InputForm::Columns, Some(table)) => {
            Ok(table.inputs.iter().map(|column| column.name.clone()).collect())
        }
        (InputForm::Array, Some(_)) => Ok(vec![ARRAY.into()]),
        (InputForm::Array, None) => Err(ExportError::Option {
            problem: "`--array` is for tables of numbers, and the model reads images".into(),
            hint: "leave it out".into(),
        }),
    }
}

/// Makes the inputs.
pub(crate) fn read<'a>(
    graph: &mut Graph,
    header: &'a ModelHeader,
    form: InputForm,
) -> Result<Read<'a>, ExportError> {
    let none = |rows: Value| Read { rows, absent: None, images: None };
    match (form, &header.schema) {
        (InputForm::Features, schema) => {
            let rows = graph.input(FEATURES, Type::F32, &[Dim::Rows, Dim::Of(schema.width())]);
            Ok(none(rows))
        }
        (_, Schema::Images(images)) => {
            let size = [images.height, images.width, images.channels].map(Dim::Of);
            let [h, w, c] = size;
            let rows = graph.input(IMAGES, Type::Byte, &[Dim::Rows, h, w, c]);
            Ok(Read { images: Some(images), ..none(rows) })
        }
        (form, Schema::Table(schema)) => {
            let encoded = match form {
                InputForm::Array => table::by_array(graph, ARRAY, schema)?,
                _ => table::by_columns(graph, schema)?,
            };
            let absent = Absent::new(graph, header, schema, &encoded);
            Ok(Read { rows: encoded.x, absent, images: None })
        }
        _ => Err(ExportError::Inputs("this model".into())),
    }
}

impl Read<'_> {
    /// The numbers `[n, width]` that the network sees of some rows.
    pub(crate) fn numbers(&self, graph: &mut Graph, rows: Value) -> Value {
        let Some(images) = self.images else { return rows };
        let pixels = (images.height * images.width) as i64;
        let channels = images.channels;
        let bytes = graph.cast(rows, Type::F32);
        let bytes = graph.reshape(bytes, &[-1, pixels, channels as i64]);
        let whole = graph.over(bytes, 255.0);
        let [mean, std] = [&images.mean, &images.std].map(|values| graph.f32s(&[channels], values));
        let from_mean = graph.sub(whole, mean);
        let scaled = graph.div(from_mean, std);
        graph.reshape(scaled, &[-1, pixels * channels as i64])
    }
}
