//! The encoder of tables, and the paper's of images: numeric embeddings, then dense layers with ReLU, then a linear
//! feature layer.
//!
//! ```text
//! u = [ periodic(x_num) | x | lookup(x_serial) ]        one u for each member k
//! h₀ = u     hₗ = relu(hₗ₋₁ Wₗ + bₗ)     Φ_k = h_L W_Φ + b_Φ (+ x W_skip)     Φ = [Φ₁ | … | Φ_K]  [N, D]
//! ```
//! *Periodic embedding* of a column (Gorishniy et al. 2022): `relu([sin 2πfx | cos 2πfx] A + a)` with learned
//! frequencies `f`. *Lookup embedding* of a serial column (time, row number): linear interpolation in learned tables of
//! several resolutions, because no network of reasonable size resolves 40,000 hours from one number.
//!
//! Forward and backward pass are written by hand; docs/performance.md has the times.

mod backward;
mod forward;
mod periodic;

use super::init::{dropout_mask, glorot, normal};
use super::{Backward, Encoder, Forward, Layout, Mode, Param};
use crate::dataset::Inputs;
use crate::error::Error;
use backward::pull_back;
use forward::{Sizes, Tape};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Everything that fixes the parameters' shapes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MlpShape {
    /// Numeric columns; they come first.
    pub numeric: usize,
    /// All columns.
    pub width: usize,
    /// Units of the hidden layers of one member.
    pub hidden: Vec<usize>,
    /// D, a multiple of `members`.
    pub features: usize,
    /// K, parallel networks with features of their own.
    pub members: usize,
    /// Embeds the numeric columns.
    pub periodic: Option<PeriodicShape>,
    /// A linear path from the inputs to the features.
    pub skip: bool,
    /// Lookup embeddings of the serial columns.
    pub tables: Vec<LookupShape>,
    /// Outputs of one lookup embedding for one member.
    pub table_width: usize,
    /// Share of embedding outputs that are dropped in training.
    pub dropout: f64,
}

impl MlpShape {
    /// Inputs of the first layer.
    fn inputs(&self) -> usize {
        let embedded = self.periodic.map_or(0, |p| self.numeric.saturating_mul(p.width));
        embedded.saturating_add(self.width).saturating_add(self.tables.len().saturating_mul(self.table_width))
    }

    /// What is wrong with it, if anything.
    pub(crate) fn fault(&self) -> Option<String> {
        let sizes = [self.width, self.features, self.members].into_iter().chain(self.hidden.iter().copied());
        let embedding = self.periodic.iter().flat_map(|periodic| [periodic.frequencies, periodic.width]);
        let sound = |t: &LookupShape| {
            t.column < self.numeric && t.knots >= 2 && t.high > t.low && (t.high - t.low).is_finite()
        };
        if sizes.chain(embedding).any(|size| size == 0) || (!self.tables.is_empty() && self.table_width == 0)
        {
            Some("all sizes of a dense network must be positive".into())
        } else if self.numeric > self.width {
            Some(format!("{} numeric columns among {}", self.numeric, self.width))
        } else if self.members > MOST_MEMBERS || !self.features.is_multiple_of(self.members) {
            Some(format!("{} features cannot be shared by {} members", self.features, self.members))
        } else if !(0.0..1.0).contains(&self.dropout) {
            Some(format!("`dropout` = {} is not a share in [0, 1)", self.dropout))
        } else if !self.tables.iter().all(sound) {
            Some("a lookup embedding needs a numeric column, two knots and a range".into())
        } else {
            None
        }
    }
}

/// More parallel networks than this are refused.
pub(super) const MOST_MEMBERS: usize = 1024;

/// Sizes of the periodic embedding of one column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeriodicShape {
    /// Frequencies of a column.
    pub frequencies: usize,
    /// Outputs of a column.
    pub width: usize,
    /// Standard deviation of the initial frequencies, in cycles per unit of the scaled column.
    pub scale: f64,
}

/// One lookup embedding of one column: equally spaced knots from `low` to `high`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LookupShape {
    /// Which column of the scaled matrix.
    pub column: usize,
    /// First knot.
    pub low: f32,
    /// Last knot.
    pub high: f32,
    /// How many.
    pub knots: usize,
}

/// The network; see the module's equations.
#[derive(Debug)]
pub struct Mlp {
    shape: MlpShape,
    layout: Layout,
    params: MlpParams,
}

/// Where each parameter stands in θ.
#[derive(Debug)]
struct MlpParams {
    periodic: Option<PeriodicParams>,
    tables: Option<Param>,   // [Σ knots, K·table_width]
    layers: Vec<[Param; 2]>, // weight [K, in, out], bias [K, 1, out]
    skip: Option<Param>,     // [K, width, D/K]
}

/// The embedding of all numeric columns for all members.
#[derive(Debug, Clone, Copy)]
struct PeriodicParams {
    frequency: Param, // [K·columns, 1, F]
    map: Param,       // [K·columns, 2F, E]
    offset: Param,    // [K·columns, 1, E]
}

impl Mlp {
    /// The network of a shape, or what is wrong with it.
    pub fn new(shape: MlpShape) -> Result<Self, String> {
        if let Some(fault) = shape.fault() {
            return Err(fault);
        }
        let (k, columns, mut layout) = (shape.members, shape.numeric, Layout::default());
        let periodic = shape.periodic.filter(|_| columns > 0).map(|p| {
            let all = k.saturating_mul(columns);
            PeriodicParams {
                frequency: layout.add("periodic.frequency", &[all, 1, p.frequencies], false),
                map: layout.add("periodic.map", &[all, p.frequencies.saturating_mul(2), p.width], false),
                offset: layout.add("periodic.offset", &[all, 1, p.width], false),
            }
        });
        let knots = shape.tables.iter().fold(0_usize, |sum, t| sum.saturating_add(t.knots));
        let tables =
            (knots > 0).then(|| layout.add("tables", &[knots, k.saturating_mul(shape.table_width)], false));
        let (mut inputs, each) = (shape.inputs(), shape.features / k);
        let mut layers = Vec::new();
        for (index, outputs) in shape.hidden.iter().copied().chain([each]).enumerate() {
            layers.push([
                layout.add(format!("layers.{index}.weight"), &[k, inputs, outputs], true),
                layout.add(format!("layers.{index}.bias"), &[k, 1, outputs], false),
            ]);
            inputs = outputs;
        }
        let skip = shape.skip.then(|| layout.add("skip", &[k, shape.width, each], false));
        Ok(Self { shape, layout, params: MlpParams { periodic, tables, layers, skip } })
    }

    /// Changes θ so that the network computes `x β + β₀` in the first `C` features of every member and nothing else:
    /// what training then adds to a linear model is what a linear model cannot do. `beta` is row-major `[width, C]`.
    /// False, and θ as it was, where the network has no skip path or fewer than `C` features a member.
    pub(crate) fn start_linear(&self, theta: &mut [f32], beta: &[f32], intercept: &[f32]) -> bool {
        let (each, width, c) = (self.shape.features / self.shape.members, self.shape.width, intercept.len());
        let (Some(skip), Some([weight, bias])) = (self.params.skip, self.params.layers.last()) else {
            return false;
        };
        if c > each {
            return false;
        }
        weight.of_mut(theta).fill(0.0);
        for bias in bias.of_mut(theta).chunks_exact_mut(each) {
            bias[..c].copy_from_slice(intercept);
        }
        let skip = skip.of_mut(theta);
        skip.fill(0.0);
        for (row, skip) in skip.chunks_exact_mut(each).enumerate() {
            skip[..c].copy_from_slice(&beta[row % width * c..][..c]);
        }
        true
    }

    /// What dropout multiplies the embeddings by, or nothing.
    fn mask(&self, rows: usize, mode: Mode) -> Vec<f32> {
        match mode {
            Mode::Train { seed } if self.shape.dropout > 0.0 => {
                let embedded = Sizes::new(&self.shape).embedded;
                dropout_mask(self.shape.members * rows * embedded, self.shape.dropout, seed)
            }
            _ => Vec::new(),
        }
    }
}

impl Encoder for Mlp {
    fn dim(&self) -> usize {
        self.shape.features
    }

    fn members(&self) -> usize {
        self.shape.members
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Glorot-uniform weights, zero biases, normal frequencies and tables.
    fn initialise(&self, seed: u64) -> Vec<f32> {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let (mut theta, sizes) = (vec![0.0; self.layout.len()], Sizes::new(&self.shape));
        let [f, e] = sizes.waves;
        if let (Some(params), Some(shape)) = (self.params.periodic, self.shape.periodic) {
            normal(params.frequency.of_mut(&mut theta), shape.scale, rng);
            glorot(params.map.of_mut(&mut theta), [2 * f, e], rng);
        }
        if let Some(tables) = self.params.tables {
            normal(tables.of_mut(&mut theta), 0.1, rng);
        }
        for ([weight, _], &size) in self.params.layers.iter().zip(&sizes.layers) {
            glorot(weight.of_mut(&mut theta), size, rng);
        }
        if let Some(skip) = self.params.skip {
            glorot(skip.of_mut(&mut theta), [self.shape.width, sizes.features()], rng);
        }
        theta
    }

    fn forward<'a>(
        &'a self,
        theta: &'a [f32],
        inputs: &'a Inputs,
        rows: &[usize],
        mode: Mode,
    ) -> Result<Forward<'a>, Error> {
        let x = inputs.numbers(self.shape.width, rows, mode)?;
        let (phi, tape) = forward::record(self, theta, x, self.mask(rows.len(), mode));
        Ok((phi, Box::new(MlpBackward { mlp: self, theta, tape })))
    }

    fn features(&self, theta: &[f32], inputs: &Inputs, rows: &[usize]) -> Result<Vec<f32>, Error> {
        let x = inputs.numbers(self.shape.width, rows, Mode::Predict)?;
        Ok(forward::features(self, theta, x))
    }
}

struct MlpBackward<'a> {
    mlp: &'a Mlp,
    theta: &'a [f32],
    tape: Tape,
}

impl Backward for MlpBackward<'_> {
    fn pull_back(self: Box<Self>, d_phi: &[f32], d_theta: &mut [f32], d_x: Option<&mut [f32]>) {
        pull_back(self.mlp, self.theta, &self.tape, d_phi, d_theta, d_x);
    }
}

#[cfg(test)]
mod tests;
