//! Rows of a table as the matrix x (docs/model-file.md, section 5): one input of the model for each column.

use crate::error::ExportError;
use crate::graph::{Dim, Graph, Type, Value};
use data::{ColumnType, Encoding, InputColumn, Scale, TableSchema};

/// Encoded rows.
pub(crate) struct Encoded {
    /// `[N, width]`, 32 bits.
    pub(crate) x: Value,
    /// Columns whose cells may be absent, each with the rows where they are, `[N, 1]`.
    pub(crate) absent: Vec<(usize, Value)>,
}

/// One column's features and where its cell is absent.
struct Column {
    numeric: Vec<Value>,
    indicators: Vec<Value>,
    absent: Option<Value>,
}

/// The type of a column's input.
fn input_type(column: &InputColumn) -> Result<Type, ExportError> {
    match column.encoding.column_type() {
        ColumnType::Category => Ok(Type::Text),
        ColumnType::Number | ColumnType::Boolean | ColumnType::DateTime => Ok(Type::F64),
        _ => Err(ExportError::Inputs(format!("a model of texts (column `{}`)", column.name))),
    }
}

/// Inputs by columns, and the matrix.
pub(crate) fn by_columns(graph: &mut Graph, schema: &TableSchema) -> Result<Encoded, ExportError> {
    let mut cells = Vec::new();
    for column in &schema.inputs {
        let ty = input_type(column)?;
        cells.push(graph.input(&column.name, ty, &[Dim::Rows, Dim::Of(1)]));
    }
    Ok(encode(graph, schema, &cells))
}

/// One input `array [N, columns]` of numbers, and the matrix.
pub(crate) fn by_array(graph: &mut Graph, name: &str, schema: &TableSchema) -> Result<Encoded, ExportError> {
    let other = schema.inputs.iter().find(|column| column.encoding.column_type() != ColumnType::Number);
    if let Some(column) = other {
        return Err(ExportError::Option {
            problem: format!("`--array` is for tables of numbers, and column `{}` is none", column.name),
            hint: "leave it out: every column is then an input of its own".into(),
        });
    }
    let columns = schema.inputs.len();
    let array = graph.input(name, Type::F64, &[Dim::Rows, Dim::Of(columns)]);
    let cells: Vec<Value> = (0..columns).map(|at| graph.one(array, 1, at as i64)).collect();
    Ok(encode(graph, schema, &cells))
}

fn encode(graph: &mut Graph, schema: &TableSchema, cells: &[Value]) -> Encoded {
    let (mut numeric, mut indicators, mut absent) = (Vec::new(), Vec::new(), Vec::new());
    for (at, (column, &cell)) in schema.inputs.iter().zip(cells).enumerate() {
        let encoded = encode_column(graph, &column.encoding, cell);
        numeric.extend(encoded.numeric);
        indicators.extend(encoded.indicators);
        absent.extend(encoded.absent.map(|absent| (at, absent)));
    }
    numeric.extend(indicators);
    Encoded { x: graph.concat(&numeric, 1), absent }
}

fn encode_column(graph: &mut Graph, encoding: &Encoding, cell: Value) -> Column {
    let is_missing = match (cell.ty, encoding) {
        // Where the empty text is a level it is not missing.
        (Type::Text, Encoding::Category { levels, .. }) if levels.iter().any(String::is_empty) => None,
        (Type::Text, _) => {
            let empty = graph.texts(&[String::new()]);
            Some(graph.is("Equal", cell, empty))
        }
        _ => Some(graph.node("IsNaN", &[cell], Vec::new(), Type::Bool)),
    };
    let mut column = Column { numeric: Vec::new(), indicators: Vec::new(), absent: None };
    let (mut unseen, has_indicator) = (None, has_missing_indicator(encoding));
    match encoding {
        Encoding::Number { impute, scale, one_hot, .. } => {
            let known = imputed(graph, cell, is_missing, *impute);
            column.numeric.push(scaled(graph, scale, known));
            for value in one_hot {
                let is = graph.is_number("Equal", cell, *value);
                column.indicators.push(graph.cast(is, Type::F32));
            }
        }
        Encoding::Boolean { impute, .. } => {
            let known = imputed(graph, cell, is_missing, f64::from(u8::from(*impute)));
            let is_false = graph.is_number("Equal", known, 0.0);
            let is_true = graph.map("Not", is_false);
            column.indicators.push(graph.cast(is_true, Type::F32));
        }
        Encoding::Category { levels, other, .. } => {
            let mut any = None;
            if !levels.is_empty() {
                let levels = graph.texts(levels);
                let is = graph.is("Equal", cell, levels); // [N, levels]
                let is = graph.cast(is, Type::F32);
                column.indicators.push(is);
                any = Some(graph.reduce("ReduceMax", is, &[1], true));
            }
            // 1 where the cell is neither a level nor missing.
            let missing = is_missing.map(|missing| graph.cast(missing, Type::F32));
            let one = graph.f32s(&[1, 1], &[1.0]);
            let rest = any.into_iter().chain(missing).fold(one, |rest, part| graph.sub(rest, part));
            if *other {
                column.indicators.push(rest);
            } else {
                unseen = Some(graph.is_number("Greater", rest, 0.5));
            }
        }
        Encoding::DateTime { impute, parts, .. } => {
            let known = imputed(graph, cell, is_missing, *impute as f64);
            let date = graph.date(known);
            for (part, scale) in parts {
                let value = graph.date_part(&date, *part);
                column.numeric.push(scaled(graph, scale, value));
            }
        }
        Encoding::Text { .. } | Encoding::MissingOnly { .. } => {}
    }
    let gap = match is_missing {
        Some(missing) if has_indicator => {
            column.indicators.push(graph.cast(missing, Type::F32));
            None
        }
        None if has_indicator => {
            let never = graph.is_number("Less", column.indicators[0], -1.0);
            let never = graph.cast(never, Type::F32);
            column.indicators.push(graph.reduce("ReduceMax", never, &[1], true));
            None
        }
        missing => missing,
    };
    column.absent = match (gap, unseen) {
        (Some(gap), Some(unseen)) => Some(graph.is("Or", gap, unseen)),
        (gap, unseen) => gap.or(unseen),
    };
    column
}

/// Whether the matrix says that a cell is missing.
fn has_missing_indicator(encoding: &Encoding) -> bool {
    match encoding {
        Encoding::Number { missing, .. }
        | Encoding::Boolean { missing, .. }
        | Encoding::Category { missing, .. }
        | Encoding::DateTime { missing, .. } => *missing,
        Encoding::Text { .. } => false,
        Encoding::MissingOnly { .. } => true,
    }
}

fn imputed(graph: &mut Graph, cell: Value, is_missing: Option<Value>, impute: f64) -> Value {
    let Some(is_missing) = is_missing else { return cell };
    let impute = graph.number(cell, impute);
    graph.choose(is_missing, impute, cell)
}

/// A value on its scale, 32 bits.
fn scaled(graph: &mut Graph, scale: &Scale, x: Value) -> Value {
    let z = match scale {
        Scale::Standard { mean, std } => {
            let from_mean = graph.plus(x, -mean);
            let z = graph.over(from_mean, *std);
            graph.clip(z, -1e6, 1e6)
        }
        Scale::None => graph.clip(x, -1e30, 1e30),
        Scale::Quantile { knots, scores, std } => {
            let inside = graph.between(x, knots, scores);
            let (Some(&low), Some(&high)) = (knots.first(), knots.last()) else { return inside };
            // Beyond the first and the last knot the scale goes on with the slope 1/std.
            let (below, above) = (graph.from(low, x), graph.plus(x, -high));
            let (below, above) = (graph.at_least(below, 0.0), graph.at_least(above, 0.0));
            let (below, above) = (graph.over(below, *std), graph.over(above, *std));
            let z = graph.sub(inside, below);
            let z = graph.add(z, above);
            graph.clip(z, -5.0, 5.0)
        }
    };
    graph.cast(z, Type::F32)
}
