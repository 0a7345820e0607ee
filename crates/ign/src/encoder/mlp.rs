//! The encoder of tables, and the paper's of pictures: numeric embeddings, then dense layers with ReLU, then a linear feature layer.
//!
//! ```text
//! u = [ periodic(x_num) | x | tables(x_serial) ]        one u for each member k
//! h₀ = u     hₗ = relu(hₗ₋₁ Wₗ + bₗ)     Φ_k = h_L W_Φ + b_Φ (+ x W_skip)     Φ = [Φ₁ | … | Φ_K]  [N, D]
//! ```
//! *Periodic embedding* of a column (Gorishniy et al. 2022): `relu([sin 2πfx | cos 2πfx] A + a)` with learned
//! frequencies `f`. *Tables* of a serial column (time, row number): linear interpolation in learned tables of
//! several resolutions, because no network of reasonable size resolves 40,000 hours from one number.
//!
//! Forward and backward pass are written by hand ([`network`], [`way_back`]). Training calls them on its flat vector ([`ByHand`]); in
//! burn's autodiff they are one operation of the parameters and of x ([`MlpOps`]). docs/performance.md has the times.

mod network;
mod waves;
mod way_back;

use super::tensors::{from_shape, from_vec, to_vec};
use super::{ByHand, Encoder, Mode, WayBack, parameters};
use crate::inputs::Inputs;
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Dispatch, Flex, backend_extension};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};
use network::{Sizes, Tape};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use way_back::{Wanted, pull_back};

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
        let flat = |parameter: &Param<Tensor<3>>| parameter.val().reshape([-1]);
        let mut parts = Vec::new();
        if let Some(Periodic { frequency, map, offset }) = &self.periodic {
            parts.extend([frequency, map, offset].map(flat));
        }
        parts.extend(self.tables.iter().map(|tables| tables.val().reshape([-1])));
        parts.extend(self.layers.iter().flat_map(|layer| [&layer.weight, &layer.bias]).map(flat));
        parts.extend(self.skip.iter().map(flat));
        let parameters = Tensor::<1>::cat(parts, 0).into_dispatch();
        let pass = Pass { shape: self.shape.clone(), mask: self.mask(x.dims()[0], mode) };
        Tensor::from_dispatch(<Dispatch as MlpOps>::mlp(parameters, x.into_dispatch(), pass))
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

    fn features(&self, inputs: &Inputs, rows: &[usize], mode: Mode) -> Tensor<2> {
        let x = TensorData::new(inputs.gather(rows, mode), [rows.len(), self.shape.width]);
        self.forward(Tensor::from_data(x, &self.device()), mode)
    }

    fn features_at(&self, x: Tensor<2>) -> Option<Tensor<2>> {
        Some(self.forward(x, Mode::Predict))
    }

    fn by_hand(&self) -> Option<&dyn ByHand> {
        Some(self)
    }
}

impl ByHand for Mlp {
    fn record<'a>(
        &'a self,
        parameters: &'a [f32],
        inputs: &Inputs,
        rows: &[usize],
        mode: Mode,
        threads: usize,
    ) -> (Vec<f32>, WayBack<'a>) {
        let mask = self.mask(rows.len(), mode);
        let x = inputs.gather(rows, mode);
        let (phi, tape) = network::record(&self.shape, parameters, x, mask, threads);
        let wanted = Wanted { parameters: true, x: false };
        let way_back = move |d_phi: &[f32], gradient: &mut [f32]| {
            pull_back(&self.shape, parameters, &tape, d_phi, wanted, gradient);
        };
        (phi, Box::new(way_back))
    }
}

/// Some rows on their way through the network.
#[derive(Debug, Clone)]
pub struct Pass {
    shape: MlpShape,
    /// What dropout multiplies the embeddings by, or nothing.
    mask: Vec<f32>,
}

/// The network as one operation of burn.
#[backend_extension(Flex, Autodiff)]
pub trait MlpOps: Backend {
    /// Φ `[N, D]` of all parameters, in the module's order, and `x [N, width]`.
    fn mlp(parameters: FloatTensor<Self>, x: FloatTensor<Self>, pass: Pass) -> FloatTensor<Self>;
}

impl MlpOps for Flex {
    fn mlp(parameters: FloatTensor<Self>, x: FloatTensor<Self>, pass: Pass) -> FloatTensor<Self> {
        let Pass { shape, mask } = pass;
        from_vec(network::forward(&shape, &to_vec(parameters), to_vec(x), mask), shape.features)
    }
}

impl<C: CheckpointStrategy> MlpOps for Autodiff<Flex, C> {
    fn mlp(parameters: FloatTensor<Self>, x: FloatTensor<Self>, pass: Pass) -> FloatTensor<Self> {
        let prepared = PullBack.prepare::<C>([parameters.node(), x.node()]).compute_bound().stateful();
        let (parameters, x) = (parameters.into_primitive(), x.into_primitive());
        match prepared {
            OpsKind::Tracked(prepared) => {
                let (Pass { shape, mask }, parameters) = (pass, to_vec(parameters));
                let threads = rayon::current_num_threads();
                let (phi, tape) = network::record(&shape, &parameters, to_vec(x), mask, threads);
                let phi = from_vec(phi, shape.features);
                prepared.finish(Arc::new(Recorded { shape, parameters, tape }), phi)
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::mlp(parameters, x, pass)),
        }
    }
}

#[derive(Debug)]
struct Recorded {
    shape: MlpShape,
    parameters: Vec<f32>,
    tape: Tape,
}

/// From ∂Φ to the gradients of the parameters and of x.
#[derive(Debug)]
struct PullBack;

impl Backward<Flex, 2> for PullBack {
    type State = Arc<Recorded>;

    fn backward(self, ops: Ops<Self::State, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let d_phi = to_vec(grads.consume::<Flex>(&ops.node));
        let Recorded { shape, parameters, tape } = &*ops.state;
        let [of_parameters, of_x] = ops.parents;
        let wanted = Wanted { parameters: of_parameters.is_some(), x: of_x.is_some() };
        let mut gradient = vec![0.0; parameters.len()];
        let d_x = pull_back(shape, parameters, tape, &d_phi, wanted, &mut gradient);
        if let Some(node) = of_parameters {
            let len = gradient.len();
            grads.register::<Flex>(node.id, from_shape(gradient, [len]));
        }
        if let Some(node) = of_x {
            grads.register::<Flex>(node.id, from_vec(d_x, shape.width));
        }
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
