//! Dense layers: from the matrix x to what one network says of it, before its scale (docs/model-file.md, section 6).

use crate::error::ExportError;
use crate::graph::{Graph, Type, Value};
use crate::tensors::Tensors;
use inducing::nn::mlp::MlpShape;

/// g `[n, D]` of network k at `x [n, width]`.
pub(crate) fn features(
    graph: &mut Graph,
    tensors: &Tensors<'_>,
    k: usize,
    shape: &MlpShape,
    x: Value,
) -> Result<Value, ExportError> {
    let of_member = |member| of_member(graph, tensors, k, shape, x, member);
    let members: Vec<Value> = (0..shape.members).map(of_member).collect::<Result<_, _>>()?;
    Ok(graph.concat(&members, 1))
}

fn of_member(
    graph: &mut Graph,
    tensors: &Tensors<'_>,
    k: usize,
    shape: &MlpShape,
    x: Value,
    member: usize,
) -> Result<Value, ExportError> {
    let tensor = |name: &str| tensors.of_network(k, &format!("encoder.{name}"));
    let mut inputs = Vec::new();
    if shape.periodic.is_some() && shape.numeric > 0 {
        inputs.push(periodic(graph, tensors, k, shape, x, member)?);
    }
    inputs.push(x);
    let mut start = 0;
    for table in &shape.tables {
        let values = tensor("tables")?;
        let (all, width) = (values.shape[1], shape.table_width);
        let rows = values.values[start * all..(start + table.knots) * all].chunks_exact(all);
        let own: Vec<f32> = rows.flat_map(|row| &row[member * width..][..width]).copied().collect();
        let own = graph.f32s(&[table.knots, width], &own);
        let column = graph.one(x, 1, table.column as i64); // [n, 1]
        let from_low = graph.plus(column, f64::from(-table.low));
        let whole = graph.over(from_low, f64::from(table.high - table.low));
        let whole = graph.clip(whole, 0.0, 1.0);
        let position = graph.times(whole, (table.knots - 1) as f64);
        let lower = graph.cast(position, Type::I64);
        let lower = graph.at_most(lower, (table.knots - 2) as f64); // [n, 1]
        let floor = graph.cast(lower, Type::F32);
        let share = graph.sub(position, floor); // [n, 1]
        let lower = graph.reshape(lower, &[-1]);
        let upper = graph.plus(lower, 1.0);
        let [below, above] = [lower, upper].map(|at| graph.gather(own, at, 0)); // [n, W]
        let rise = graph.sub(above, below);
        let risen = graph.mul(rise, share);
        inputs.push(graph.add(below, risen));
        start += table.knots;
    }
    let mut h = graph.concat(&inputs, 1);
    for layer in 0..=shape.hidden.len() {
        let weight = tensor(&format!("layers.{layer}.weight"))?.part(member);
        let bias = tensor(&format!("layers.{layer}.bias"))?.part(member);
        let (weight, bias) =
            (graph.f32s(weight.shape, weight.values), graph.f32s(&[bias.values.len()], bias.values));
        let product = graph.matmul(h, weight);
        h = graph.add(product, bias);
        if layer < shape.hidden.len() {
            h = graph.map("Relu", h);
        }
    }
    if shape.skip {
        let skip = tensor("skip")?.part(member);
        let skip = graph.f32s(skip.shape, skip.values);
        let straight = graph.matmul(x, skip);
        h = graph.add(h, straight);
    }
    Ok(h)
}

/// `relu([ sin 2πfx | cos 2πfx ] A + a)` of every numeric column, `[n, numeric·E]`.
fn periodic(
    graph: &mut Graph,
    tensors: &Tensors<'_>,
    k: usize,
    shape: &MlpShape,
    x: Value,
    member: usize,
) -> Result<Value, ExportError> {
    let columns = shape.numeric;
    let mut own = |name: &str| -> Result<Value, ExportError> {
        let tensor = tensors.of_network(k, &format!("encoder.periodic.{name}"))?;
        let each = tensor.values.len() / shape.members;
        let of_shape = [&[columns], &tensor.shape[1..]].concat();
        Ok(graph.f32s(&of_shape, &tensor.values[member * each..][..each]))
    };
    let (frequency, map, offset) = (own("frequency")?, own("map")?, own("offset")?);
    let numbers = graph.slice(x, 1, 0, columns as i64); // [n, columns]
    let by_column = graph.transpose(numbers, &[1, 0]);
    let by_column = graph.unsqueeze(by_column, 2); // [columns, n, 1]
    // Counted in turns, an angle is reduced without an error, as the program does.
    let turns = graph.mul(by_column, frequency); // [columns, n, F]
    let whole = graph.map("Round", turns);
    let rest = graph.sub(turns, whole);
    let angle = graph.times(rest, std::f64::consts::TAU);
    let [sine, cosine] = ["Sin", "Cos"].map(|op| graph.map(op, angle));
    let waves = graph.concat(&[sine, cosine], 2); // [columns, n, 2F]
    let mapped = graph.matmul(waves, map);
    let shifted = graph.add(mapped, offset);
    let embedded = graph.map("Relu", shifted); // [columns, n, E]
    let by_row = graph.transpose(embedded, &[1, 0, 2]);
    let width = shape.periodic.map_or(0, |periodic| periodic.width);
    Ok(graph.reshape(by_row, &[-1, (columns * width) as i64]))
}
