//! What an inducing point stands for: an example, moved until its features meet the point (paper, section 4.2).
//!
//! ```text
//! x* = argmin ‖φ(x) − z‖²   from the example's x, within the range of valid inputs
//! ```
//! Images move in their bytes. Of a table's rows the plain numbers move, between the smallest and the largest value
//! that the data have; what is missing, dated, true, false or one of a few values stays as it is.

mod descent;
mod space;

use crate::dataset::{Inputs, Schema};
use crate::error::Error;
use crate::head::FittedHead;
use crate::model::Model;
use crate::nn::Mode;
use data::{ImageSchema, TableSchema};
use descent::{Goal, descend};
use space::{ImageSpace, Space};

/// How far to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RefineOptions {
    /// Steps at most; each costs a forward and a backward pass.
    pub steps: usize,
}

impl Default for RefineOptions {
    fn default() -> Self {
        Self { steps: 150 }
    }
}

/// Inputs that were moved towards inducing points.
#[derive(Debug, Clone, PartialEq)]
pub struct Refined {
    /// One for each start.
    pub inputs: RefinedInputs,
    /// ‖φ(x) − z‖ of each start.
    pub before: Vec<f64>,
    /// ‖φ(x) − z‖ of what was reached, at most `before`; of a image, that of its bytes.
    pub after: Vec<f64>,
}

/// Inputs of one kind, row by row.
#[derive(Debug, Clone, PartialEq)]
pub enum RefinedInputs {
    /// Images `[N, H, W, C]`.
    Images(Vec<u8>),
    /// Rows of the matrix `[N, width]`; [`data::TableSchema::decode`] gives their numbers in their own units.
    Table(Vec<f32>),
}

/// Starts that move together: the tape of a convolutional network stays below 100 MB.
const TOGETHER: usize = 128;

impl Model {
    /// Moves rows of `inputs` towards inducing points of one network: `starts` are pairs of an inducing point and the
    /// row to begin with. `None` where there are no inducing points or inputs are more than rows of numbers.
    ///
    /// Deterministic, whatever the number of threads. `keep_going` is told the steps that are done and planned; when
    /// it says no, the result is what has been reached.
    pub fn refine(
        &self,
        network: usize,
        inputs: &Inputs,
        starts: &[(usize, usize)],
        options: RefineOptions,
        keep_going: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Option<Refined>, Error> {
        let Some(network) = self.networks().get(network) else { return Ok(None) };
        let FittedHead::Process(head) = &network.head else { return Ok(None) };
        let Some(range) = Range::new(&self.header().schema, inputs) else { return Ok(None) };
        let d = network.encoder.dim();
        if let Some((point, _)) = starts.iter().find(|(point, _)| *point >= head.z.len() / d) {
            return Err(Error::inputs(
                format!("inducing point {point}"),
                format!("{} points", head.z.len() / d),
            ));
        }
        let (mut bytes, mut table) = (Vec::new(), Vec::new());
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut going = true;
        let parts = starts.chunks(TOGETHER);
        let planned = parts.len() * options.steps;
        for (part, starts) in parts.enumerate() {
            let z =
                starts.iter().flat_map(|(point, _)| &head.z[point * d..(point + 1) * d]).copied().collect();
            let rows: Vec<usize> = starts.iter().map(|(_, row)| *row).collect();
            let x = inputs.numbers(inputs.width(), &rows, Mode::Predict)?;
            let space = range.around(&x);
            let goal = Goal { network, z };
            let steps = if going { options.steps } else { 0 };
            let reached = descend(&goal, &space, x, steps, &mut |step| {
                going = keep_going(part * options.steps + step, planned);
                going
            })?;
            before.extend(reached.before.iter().map(|squared| squared.sqrt()));
            after.extend(reached.after.iter().map(|squared| squared.sqrt()));
            match space.image {
                Some(_) => bytes.extend(space.bytes(&reached.x)),
                None => table.extend(reached.x),
            }
        }
        let inputs = match range {
            Range::Images { .. } => RefinedInputs::Images(bytes),
            Range::Table { .. } => RefinedInputs::Table(table),
        };
        Ok(Some(Refined { inputs, before, after }))
    }
}

/// The valid inputs of a model.
enum Range<'a> {
    Images {
        schema: &'a ImageSchema,
        values: Vec<[f32; 256]>,
    },
    /// With `low` = `high` for what does not move.
    Table {
        schema: &'a TableSchema,
        low: Vec<f32>,
        high: Vec<f32>,
    },
}

/// A column that takes no more values than this in the data, among at least four times as many rows, is one of levels
/// (months, hours, days of a month) and stays.
const FEW_VALUES: usize = 32;

impl<'a> Range<'a> {
    fn new(schema: &'a Schema, inputs: &Inputs) -> Option<Self> {
        match (schema, inputs) {
            (Schema::Images(schema), Inputs::Images(_)) => {
                Some(Self::Images { schema, values: schema.standardised() })
            }
            (Schema::Table(schema), Inputs::Table(matrix)) if matrix.texts.is_empty() => {
                let column = |k: usize| matrix.x.iter().skip(k).step_by(matrix.width).copied();
                let few = |k: usize| {
                    let mut seen = Vec::with_capacity(FEW_VALUES);
                    let most = FEW_VALUES.min(matrix.rows() / 4);
                    column(k).all(|x| {
                        let is_new = !seen.contains(&x);
                        if is_new {
                            seen.push(x);
                        }
                        seen.len() <= most
                    })
                };
                let range = |k: usize| match few(k) {
                    true => (0.0, 0.0),
                    false => {
                        column(k).fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)))
                    }
                };
                let (low, high) = (0..matrix.width).map(range).unzip();
                Some(Self::Table { schema, low, high })
            }
            _ => None,
        }
    }

    /// Where some inputs `[N, width]` may go.
    fn around(&self, x: &[f32]) -> Space {
        match self {
            Self::Images { schema, values } => {
                let size = [schema.height, schema.width, schema.channels];
                let of_all = |byte: usize| (0..x.len()).map(|i| values[i % schema.channels][byte]).collect();
                let image = Some(ImageSpace { size, values: values.clone() });
                Space { width: schema.image_bytes(), low: of_all(0), high: of_all(255), image }
            }
            Self::Table { schema, low, high } => {
                let width = low.len();
                let mut space = Space { width, low: x.to_vec(), high: x.to_vec(), image: None };
                for (row, x) in x.chunks_exact(width).enumerate() {
                    let free = schema.free_numbers(x).into_iter().flatten();
                    for column in free.filter(|&column| low[column] < high[column]) {
                        space.low[row * width + column] = low[column];
                        space.high[row * width + column] = high[column];
                    }
                }
                space
            }
        }
    }
}
