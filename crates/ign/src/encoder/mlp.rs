//! The encoder of tables, and the paper's of pictures: numeric embeddings, then dense layers with ReLU, then a linear feature layer.
//!
//! ```text
//! u = [ periodic(x_num) | x | tables(x_serial) ]        one u for each member k
//! h₀ = u     hₗ = relu(hₗ₋₁ Wₗ + bₗ)     Φ_k = h_L W_Φ + b_Φ (+ x W_skip)     Φ = [Φ₁ | … | Φ_K]  [N, D]
//! ```
//! *Periodic embedding* of a column (Gorishniy et al. 2022): `relu([sin 2πfx | cos 2πfx] A + a)` with learned
//! frequencies `f`. *Tables* of a serial column (time, row number): linear interpolation in learned tables of
//! several resolutions, because no network of reasonable size resolves 40,000 hours from one number.

use super::{Encoder, Mode, parameters};
use crate::inputs::Inputs;
use burn::module::{Module, Param};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Int, Tensor, TensorData};
use rand::{Rng, RngExt, SeedableRng};
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
    /// Tables of the serial columns.
    pub tables: Vec<TableShape>,
    /// Outputs of one table for one member.
    pub table_width: usize,
    /// Share of embedding outputs that are dropped in training.
    pub dropout: f64,
}

impl MlpShape {
    /// Inputs of the first layer.
    fn inputs(&self) -> u128 {
        let product = |a: usize, b: usize| (a as u128).saturating_mul(b as u128);
        let embedded = self.periodic.map_or(0, |p| product(self.numeric, p.width));
        embedded
            .saturating_add(self.width as u128)
            .saturating_add(product(self.tables.len(), self.table_width))
    }

    /// Number of parameters, without making them: a hostile file's sizes must not be allocated.
    pub(crate) fn parameters(&self) -> u128 {
        let sum = |terms: &[u128]| terms.iter().fold(0_u128, |sum, &term| sum.saturating_add(term));
        let product =
            |factors: &[u128]| factors.iter().fold(1_u128, |all, &factor| all.saturating_mul(factor));
        let [k, each] = [self.members as u128, (self.features / self.members) as u128];
        let embedding = self.periodic.filter(|_| self.numeric > 0).map_or(0, |p| {
            let [f, e] = [p.frequencies as u128, p.width as u128];
            product(&[k, self.numeric as u128, sum(&[f, product(&[2, f, e]), e])])
        });
        let knots = self.tables.iter().fold(0_u128, |sum, t| sum.saturating_add(t.knots as u128));
        let skip = if self.skip { product(&[k, self.width as u128, each]) } else { 0 };
        let (mut inputs, mut layers) = (self.inputs(), 0);
        for outputs in self.hidden.iter().map(|&units| units as u128).chain([each]) {
            layers = sum(&[layers, product(&[k, sum(&[inputs, 1]), outputs])]);
            inputs = outputs;
        }
        sum(&[embedding, product(&[knots, k, self.table_width as u128]), layers, skip])
    }
}

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

/// One table over one column: equally spaced knots from `low` to `high`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableShape {
    /// Which column of the scaled matrix.
    pub column: usize,
    /// First knot.
    pub low: f32,
    /// Last knot.
    pub high: f32,
    /// How many.
    pub knots: usize,
}

/// One layer of all members.
#[derive(Module, Debug)]
pub(super) struct Dense {
    pub(super) weight: Param<Tensor<3>>, // [K, in, out]
    bias: Param<Tensor<3>>,              // [K, 1, out]
}

impl Dense {
    /// Glorot-uniform weight `[K, in, out]`, zero bias.
    pub(super) fn new(shape: [usize; 3], rng: &mut ChaCha8Rng, device: &Device) -> Self {
        Self { weight: glorot(shape, rng, device), bias: zeros([shape[0], 1, shape[2]], device) }
    }

    /// `h W + b`, `[K, N, in]` to `[K, N, out]`.
    pub(super) fn forward(&self, h: Tensor<3>) -> Tensor<3> {
        h.matmul(self.weight.val()) + self.bias.val()
    }
}

/// Embedding of all numeric columns for all members.
#[derive(Module, Debug)]
struct Periodic {
    frequency: Param<Tensor<3>>, // [K·columns, 1, F]
    map: Param<Tensor<3>>,       // [K·columns, 2F, E]
    offset: Param<Tensor<3>>,    // [K·columns, 1, E]
}

/// The network; see the module's equations.
#[derive(Module, Debug)]
pub struct Mlp {
    periodic: Option<Periodic>,
    tables: Option<Param<Tensor<2>>>, // [Σ knots, K·table_width]
    layers: Vec<Dense>,
    skip: Option<Param<Tensor<3>>>, // [K, width, D/K]
    #[module(skip)]
    shape: MlpShape,
}

impl Mlp {
    /// Glorot-uniform weights, zero biases, normal frequencies and tables; `seed` decides every number.
    pub fn new(shape: MlpShape, seed: u64, device: &Device) -> Self {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let (k, columns) = (shape.members, shape.numeric);
        let periodic = shape.periodic.filter(|_| columns > 0).map(|p| Periodic {
            frequency: normal([k * columns, 1, p.frequencies], p.scale, rng, device),
            map: glorot([k * columns, 2 * p.frequencies, p.width], rng, device),
            offset: zeros([k * columns, 1, p.width], device),
        });
        let knots: usize = shape.tables.iter().map(|t| t.knots).sum();
        let tables = (knots > 0).then(|| normal([knots, k * shape.table_width], 0.1, rng, device));
        let mut inputs = shape.inputs() as usize;
        let feature_layer = shape.features / k;
        let mut layers = Vec::new();
        for outputs in shape.hidden.iter().copied().chain([feature_layer]) {
            layers.push(Dense::new([k, inputs, outputs], rng, device));
            inputs = outputs;
        }
        let skip = shape.skip.then(|| glorot([k, shape.width, feature_layer], rng, device));
        Self { periodic, tables, layers, skip, shape }
    }

    /// The same network, but computing `x β + β₀` in the first `C` features of every member and nothing else: what
    /// training then adds to a linear model is what a linear model cannot do. `beta` is row-major `[width, C]`.
    ///
    /// # Panics
    /// When the network has no skip path or fewer than `C` features a member.
    #[must_use]
    pub fn with_linear_start(self, beta: &[f32], intercept: &[f32]) -> Self {
        let device = self.device();
        let (k, each, c) = (self.shape.members, self.shape.features / self.shape.members, intercept.len());
        assert!(
            self.skip.is_some() && c <= each,
            "a linear start needs a skip path and a feature for each output"
        );
        let (slots, mut values) = parameters::read(&self);
        let last = format!("layers.{}", self.layers.len() - 1);
        let mut start = 0;
        for slot in &slots {
            let mine = &mut values[start..start + slot.len()];
            start += slot.len();
            if slot.path == format!("{last}.weight") || slot.path == "skip" {
                mine.fill(0.0);
            }
            for member in 0..k {
                for output in 0..c {
                    if slot.path == format!("{last}.bias") {
                        mine[member * each + output] = intercept[output];
                    } else if slot.path == "skip" {
                        for input in 0..self.shape.width {
                            mine[(member * self.shape.width + input) * each + output] =
                                beta[input * c + output];
                        }
                    }
                }
            }
        }
        parameters::write(self, &values, &device)
    }

    /// The shape that it was made with.
    pub fn shape(&self) -> &MlpShape {
        &self.shape
    }

    fn device(&self) -> Device {
        self.layers[0].weight.val().device()
    }

    /// Differentiable in the parameters and in `x [N, width]`.
    fn forward(&self, x: Tensor<2>, mode: Mode) -> Tensor<2> {
        let (k, n) = (self.shape.members, x.dims()[0]);
        let raw = x.clone().unsqueeze_dim::<3>(0).repeat_dim(0, k);
        let mut parts = vec![raw.clone()];
        if let Some(periodic) = &self.periodic {
            parts.insert(0, self.embed(periodic, x.clone(), mode));
        }
        if let Some(tables) = &self.tables {
            parts.push(self.look_up(&tables.val(), x));
        }
        let mut h = if parts.len() == 1 { parts.remove(0) } else { Tensor::cat(parts, 2) };
        for (depth, layer) in self.layers.iter().enumerate() {
            h = layer.forward(h);
            if depth + 1 < self.layers.len() {
                h = relu(h);
            }
        }
        if let Some(skip) = &self.skip {
            h = h + raw.matmul(skip.val());
        }
        let d = self.shape.features;
        if k == 1 { h.reshape([n, d]) } else { h.swap_dims(0, 1).reshape([n, d]) }
    }

    fn embed(&self, periodic: &Periodic, x: Tensor<2>, mode: Mode) -> Tensor<3> {
        let (k, columns, n) = (self.shape.members, self.shape.numeric, x.dims()[0]);
        let x = x.narrow(1, 0, columns).transpose() * std::f32::consts::TAU;
        let x = x.reshape([columns, n, 1]).repeat_dim(0, k);
        let angle = x * periodic.frequency.val(); // [K·columns, N, F]
        let waves = Tensor::cat(vec![angle.clone().sin(), angle.cos()], 2);
        let outputs = relu(waves.matmul(periodic.map.val()) + periodic.offset.val()); // [K·columns, N, E]
        let width = outputs.dims()[2];
        let outputs =
            outputs.reshape([k, columns, n, width]).swap_dims(1, 2).reshape([k, n, columns * width]);
        match mode {
            Mode::Train { seed } if self.shape.dropout > 0.0 => {
                let mask = dropout_mask(k * n * columns * width, self.shape.dropout, seed);
                let mask = TensorData::new(mask, [k, n, columns * width]);
                outputs * Tensor::from_data(mask, &self.device())
            }
            _ => outputs,
        }
    }

    fn look_up(&self, tables: &Tensor<2>, x: Tensor<2>) -> Tensor<3> {
        let (k, n, count, device) =
            (self.shape.members, x.dims()[0], self.shape.tables.len(), &self.device());
        let of_each = |value: fn(&TableShape) -> f32| {
            let values = self.shape.tables.iter().map(value).collect::<Vec<_>>();
            Tensor::<2>::from_data(TensorData::new(values, [1, count]), device)
        };
        let columns: Vec<i32> = self.shape.tables.iter().map(|table| table.column as i32).collect();
        let x = x.select(1, Tensor::from_data(TensorData::new(columns, [count]), device)); // [N, tables]
        let position = (x - of_each(|table| table.low)) / of_each(|table| table.high - table.low);
        let position = position.clamp(0.0, 1.0) * of_each(|table| (table.knots - 1) as f32);
        let (mut lower, mut upper, mut knots) = (Vec::new(), Vec::new(), Vec::new());
        let positions = position.to_data();
        for row in positions.as_slice::<f32>().expect("inputs are f32").chunks_exact(count) {
            let mut start = 0;
            for (table, position) in self.shape.tables.iter().zip(row) {
                let knot = (*position as usize).min(table.knots - 2);
                lower.push((start + knot) as i32);
                upper.push((start + knot + 1) as i32);
                knots.push(knot as f32);
                start += table.knots;
            }
        }
        let select = |rows: Vec<i32>| {
            let rows = Tensor::<1, Int>::from_data(TensorData::new(rows, [n * count]), device);
            tables.clone().select(0, rows) // [N·tables, K·W]
        };
        let share = position - Tensor::from_data(TensorData::new(knots, [n, count]), device);
        let share = share.reshape([n * count, 1]);
        let lower = select(lower);
        let mixed = lower.clone() + (select(upper) - lower) * share;
        mixed.reshape([n, count, k, self.shape.table_width]).permute([2, 0, 1, 3]).reshape([
            k,
            n,
            count * self.shape.table_width,
        ])
    }
}

impl Encoder for Mlp {
    fn dim(&self) -> usize {
        self.shape.features
    }

    fn members(&self) -> usize {
        self.shape.members
    }

    fn features(&self, inputs: &Inputs, rows: &[usize], mode: Mode) -> Tensor<2> {
        let x = TensorData::new(inputs.gather(rows, mode), [rows.len(), self.shape.width]);
        self.forward(Tensor::from_data(x, &self.device()), mode)
    }

    fn features_at(&self, x: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.forward(x, Mode::Predict))
    }
}

/// Zeros with probability `share`, else `1/(1−share)`.
pub(super) fn dropout_mask(len: usize, share: f64, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let keep = (1.0 / (1.0 - share)) as f32;
    let threshold = (share * 65536.0) as u32;
    let mut mask = Vec::with_capacity(len + 1);
    while mask.len() < len {
        let bits = rng.next_u32();
        mask.push(if bits & 0xffff < threshold { 0.0 } else { keep });
        mask.push(if bits >> 16 < threshold { 0.0 } else { keep });
    }
    mask.truncate(len);
    mask
}

fn parameter<const D: usize>(values: Vec<f32>, shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), device))
}

pub(super) fn zeros<const D: usize>(shape: [usize; D], device: &Device) -> Param<Tensor<D>> {
    parameter(vec![0.0; shape.iter().product()], shape, device)
}

/// Uniform with variance `2 / (in + out)` (Glorot & Bengio 2010), for each leading index of `[K, in, out]`.
pub(super) fn glorot(shape: [usize; 3], rng: &mut ChaCha8Rng, device: &Device) -> Param<Tensor<3>> {
    let bound = (6.0 / (shape[1] + shape[2]) as f32).sqrt();
    parameter((0..shape.iter().product()).map(|_| rng.random_range(-bound..bound)).collect(), shape, device)
}

/// Normal with the given deviation (Box–Muller).
pub(super) fn normal<const D: usize>(
    shape: [usize; D],
    deviation: f64,
    rng: &mut ChaCha8Rng,
    device: &Device,
) -> Param<Tensor<D>> {
    let mut draw = || {
        let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
        (deviation * (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()) as f32
    };
    parameter((0..shape.iter().product()).map(|_| draw()).collect(), shape, device)
}
