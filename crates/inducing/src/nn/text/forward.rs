//! The whole encoder, forward and backward: towers and the other columns' network, then the feature layer.

use super::TextEncoder;
use super::batch::{Batch, part_seed};
use super::feature_layer::{FeatureLayer, copy_columns, masks, sizes};
use super::tower::{Tower, TowerTape};
use crate::dataset::Inputs;
use crate::error::Error;
use crate::nn::init::glorot;
use crate::nn::{Backward, Encoder, Forward, Layout, Mode};
use data::Texts;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// From ∂Φ to ∂θ. It borrows θ and keeps activations alone.
struct TextBackward<'a> {
    encoder: &'a TextEncoder,
    layer: FeatureLayer<'a>,
    towers: Vec<TowerTape<'a>>,
    beside: Option<Box<dyn Backward + 'a>>,
    u: Vec<f32>,             // [K, N, U]
    masks: Option<Vec<f32>>, // [K, N, U]
    rows: usize,
}

impl Encoder for TextEncoder {
    fn dim(&self) -> usize {
        self.shape.features
    }

    fn members(&self) -> usize {
        self.shape.members
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Normal embeddings, Glorot-uniform weights, gains of one, zero biases and shifts.
    fn initialise(&self, seed: u64) -> Vec<f32> {
        let rng = &mut ChaCha8Rng::seed_from_u64(seed);
        let mut theta = vec![0.0; self.layout.len()];
        for (params, shape) in self.towers.iter().zip(self.shape.towers.iter().cycle()) {
            params.initialise(shape, &mut theta, rng);
        }
        let [_, inputs, each] = sizes(&self.shape);
        glorot(self.top.weight.of_mut(&mut theta), [inputs, each], rng);
        if let Some(beside) = &self.beside {
            let values = beside.mlp.initialise(part_seed(seed, [0]));
            beside.params.of_mut(&mut theta).copy_from_slice(&values);
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
        let texts = self.texts(inputs)?;
        let beside = self
            .beside
            .as_ref()
            .map(|beside| beside.mlp.forward(beside.params.of(theta), inputs, rows, mode))
            .transpose()?;
        let (phi_beside, beside) = beside.unzip();
        let (mut u, towers) = self.concatenate(theta, (texts, phi_beside), rows, mode, Tower::forward)?;
        let masks = masks(&self.shape, rows.len(), mode);
        multiply(&mut u, masks.as_deref());
        let layer = FeatureLayer::new(&self.shape, self.top, theta);
        let phi = layer.forward(&u);
        let rows = rows.len();
        Ok((phi, Box::new(TextBackward { encoder: self, layer, towers, beside, u, masks, rows })))
    }

    fn features(&self, theta: &[f32], inputs: &Inputs, rows: &[usize]) -> Result<Vec<f32>, Error> {
        let texts = self.texts(inputs)?;
        let beside = self
            .beside
            .as_ref()
            .map(|beside| beside.mlp.features(beside.params.of(theta), inputs, rows))
            .transpose()?;
        let pooled = |tower: Tower<'_>, batch| (tower.pooled(&batch), ());
        let (u, _) = self.concatenate(theta, (texts, beside), rows, Mode::Predict, pooled)?;
        Ok(FeatureLayer::new(&self.shape, self.top, theta).forward(&u))
    }
}

impl Backward for TextBackward<'_> {
    fn pull_back(self: Box<Self>, d_phi: &[f32], d_theta: &mut [f32], _d_x: Option<&mut [f32]>) {
        let Self { encoder, layer, towers, beside, u, masks, rows } = *self;
        let mut d_u = layer.pull_back(&u, d_phi, d_theta);
        multiply(&mut d_u, masks.as_deref());
        let d_beside = encoder.split(&d_u, &towers, rows, d_theta);
        if let (Some(backward), Some(beside)) = (beside, &encoder.beside) {
            backward.pull_back(&d_beside, beside.params.of_mut(d_theta), None);
        }
    }
}

impl TextEncoder {
    /// `u [K, N, U]` of pooled texts and Φ of the other columns, before dropout, and what `pass` keeps of each tower.
    fn concatenate<'a, T>(
        &'a self,
        theta: &'a [f32],
        (texts, beside): (&[Texts], Option<Vec<f32>>),
        rows: &[usize],
        mode: Mode,
        pass: impl Fn(Tower<'a>, Batch) -> (Vec<f32>, T),
    ) -> Result<(Vec<f32>, Vec<T>), Error> {
        let [k, inputs, _] = sizes(&self.shape);
        let count = self.shape.towers.len();
        let (size, mut kept) = (rows.len() * inputs, Vec::with_capacity(self.towers.len()));
        let mut all = vec![0.0; k * size];
        for member in 0..k {
            let (u, mut first) = (&mut all[member * size..][..size], 0);
            for (column, texts) in texts.iter().enumerate() {
                let shape = &self.shape.towers[column];
                let tower = Tower::new(shape, &self.towers[member * count + column], theta);
                let batch = Batch::new(&self.shape, [member, column], texts, rows, mode)?;
                let (pooled, tape) = pass(tower, batch);
                copy_columns((&pooled, shape.outputs(), 0), (u, inputs, first), shape.outputs());
                first += shape.outputs();
                kept.push(tape);
            }
            if let Some(phi) = &beside {
                let each = inputs - first;
                copy_columns((phi, k * each, member * each), (u, inputs, first), each);
            }
        }
        Ok((all, kept))
    }

    /// Sets the gradients of all towers from `d_u [K, N, U]`; returns that of the other columns' Φ.
    fn split(&self, d_u: &[f32], towers: &[TowerTape<'_>], rows: usize, d_theta: &mut [f32]) -> Vec<f32> {
        let [k, inputs, _] = sizes(&self.shape);
        let (count, size) = (self.shape.towers.len(), rows * inputs);
        let mut d_beside = vec![0.0; rows * self.beside.as_ref().map_or(0, |beside| beside.mlp.dim())];
        for member in 0..k {
            let (d_u, mut first) = (&d_u[member * size..][..size], 0);
            for (tape, shape) in towers[member * count..].iter().zip(&self.shape.towers) {
                let outputs = shape.outputs();
                let mut d_pooled = vec![0.0; rows * outputs];
                copy_columns((d_u, inputs, first), (&mut d_pooled, outputs, 0), outputs);
                tape.pull_back(&d_pooled, d_theta);
                first += outputs;
            }
            let each = inputs - first;
            if each > 0 {
                copy_columns((d_u, inputs, first), (&mut d_beside, k * each, member * each), each);
            }
        }
        d_beside
    }
}

/// `x ∘ mask`, where there is one.
fn multiply(x: &mut [f32], mask: Option<&[f32]>) {
    if let Some(mask) = mask {
        x.iter_mut().zip(mask).for_each(|(x, mask)| *x *= mask);
    }
}
