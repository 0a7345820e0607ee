//! One network's features of training rows, kept: how far an input is from all of them says how unsure the network should be.
//!
//! ```text
//! v = 1 − k_φNᵀ (K_NN + τI)⁻¹ k_Nφ        N: the nearest training rows in [φ/ℓ₁ | t/ℓ₂], k = exp(−r)
//! ```
//! φ are features, t latent means (of classes tanh(f/4)): v is large where an input is like none, and between the classes, where few
//! are. v joins the latent variance before it is recalibrated. Both ℓ are chosen by the validation rows, whose features are as honest
//! as those of new inputs; their distances say what is usual.

use super::class_stack::{Near, fit_prior};
use super::join::{calibrate, calibrate_classes};
use crate::config::{Config, HeadKind};
use crate::dataset::{Inputs, Prepared, Values};
use crate::error::Error;
use crate::metrics::{average, gaussian_nll, row_nll};
use crate::model::{ClassStack, Distances, Features, Model};
use crate::neighbours::{ClassNeighbours, KeptRows, MOST_IMAGES, Reconstruction};
use crate::nn::Mode;
use gp::{LocalProcess, Matern};

/// Noise of a training row: one row counts, ten count more.
const NOISE: f64 = 0.1;
/// Fewer validation rows say too little.
const FEWEST_VALIDATION: usize = 20;
/// Length scales of features that are tried, in usual distances of a neighbour; of latent means, as parts of the spread of
/// numbers, or of the two from one end of `tanh` to the other.
const LENGTHS: [f64; 2] = [4.0, 16.0];
const LATENT_LENGTHS: [f64; 2] = [0.03, 0.1];

impl Prepared {
    /// Whether one network is to keep features of training rows.
    pub(super) fn keeps_features(&self, model: &Model, config: &Config) -> bool {
        config.neighbours.count > 0
            && config.head == HeadKind::Gp
            && config.train.recalibrate
            && model.networks().len() == 1
            && self.train.len() > config.neighbours.count
            && self.validation.len() >= FEWEST_VALIDATION
    }

    /// Keeps features, and recalibrates the network with what they say of the validation part.
    pub(super) fn keep_features(&self, model: &mut Model, config: &Config) -> Result<(), Error> {
        let (rows, c) = (self.kept(config), model.outputs());
        let coordinates = |rows: &[usize]| -> Result<(Features, Vec<f32>), Error> {
            let features = model.encode(&self.inputs, rows)?;
            let mean = model.latent(&features).mean;
            let x = model.feature_coordinates(&features, &mean);
            Ok((features, x))
        };
        let (_, x) = coordinates(&rows)?;
        let (held_out, held_out_x) = coordinates(&self.validation)?;
        let width = x.len() / rows.len();
        let y = match self.values.select(&rows, c) {
            Values::Numbers(y) => y,
            Values::Classes(labels) => labels.into_iter().map(|label| label as f32).collect(),
        };
        let kept = KeptRows { x, y, errors: Vec::new(), folds: Vec::new(), width };
        let reconstruction = self.reconstruction(&rows, config.seed)?;
        let counts = self.schema.class_counts();
        let total: usize = counts.iter().sum();
        let process = LocalProcess {
            family: Matern::Half,
            groups: [vec![0; width - c], vec![1; c]].concat(),
            log_lengths: vec![0.0, 0.0],
            log_scale: 0.0,
            log_noise: NOISE.ln(),
        };
        let mut stack = ClassStack {
            process,
            count: config.neighbours.count,
            prior: None,
            reach: 1.0,
            frequencies: counts.iter().map(|&n| n as f64 / total as f64).collect(),
            distances: Distances::default(),
            reconstruction: None,
        };
        let labels = self.values.select(&self.validation, c);
        let weights = self.weights_of(&self.validation);
        let usual = ClassNeighbours::new(kept.clone(), &stack).distances(&stack, &held_out_x);
        let median = super::stack::quantile(usual, 0.5).max(1e-6);
        let spread = match labels {
            Values::Numbers(_) => spread(&kept.x, width, c).max(1e-6),
            Values::Classes(_) => 1.0,
        };
        let mut best = (f64::INFINITY, Vec::new());
        for length in LENGTHS {
            for share in LATENT_LENGTHS {
                stack.process.log_lengths = vec![(length * median).ln(), (share * spread).ln()];
                model.set_feature_neighbours(stack.clone(), kept.clone(), None);
                let score = recalibrated(model, &held_out, &labels, &weights);
                if score < best.0 {
                    best = (score, stack.process.log_lengths.clone());
                }
            }
        }
        stack.process.log_lengths = best.1;
        let neighbours = ClassNeighbours::new(kept.clone(), &stack);
        stack.distances = Distances::new(neighbours.distances(&stack, &held_out_x));
        model.set_feature_neighbours(stack.clone(), kept.clone(), reconstruction.clone());
        let errors = model.reconstruction_errors(&self.inputs, &self.validation)?;
        stack.reconstruction = errors.map(Distances::new);
        recalibrated(model, &held_out, &labels, &weights);
        if let Values::Classes(labels) = &labels {
            let p = model.classes(&model.latent(&held_out)).p;
            let near = neighbours.around(&stack, &held_out_x).into_iter();
            let near: Vec<Near> = near.map(|(r, classes)| Near { r, classes }).collect();
            fit_prior(&mut stack, &p, &near, (labels, &weights));
        }
        model.set_feature_neighbours(stack, kept, reconstruction);
        Ok(())
    }

    /// Principal components of some images; none of other inputs.
    fn reconstruction(&self, rows: &[usize], seed: u64) -> Result<Option<Reconstruction>, Error> {
        if !matches!(self.inputs, Inputs::Images(_)) {
            return Ok(None);
        }
        let step = rows.len().div_ceil(MOST_IMAGES);
        let rows: Vec<usize> = rows.iter().copied().step_by(step).collect();
        let width = self.inputs.width();
        let x = self.inputs.numbers(width, &rows, Mode::Predict)?;
        Ok(Reconstruction::fit(&x, width, seed))
    }
}

/// Root mean square deviation of the last `c` of `width` coordinates from their means.
fn spread(x: &[f32], width: usize, c: usize) -> f64 {
    let n = (x.len() / width) as f64;
    let variance = |at: usize| {
        let values = || x.iter().skip(at).step_by(width).map(|&x| f64::from(x));
        let mean = values().sum::<f64>() / n;
        values().map(|x| (x - mean).powi(2)).sum::<f64>() / n
    };
    (width - c..width).map(variance).sum::<f64>().sqrt()
}

/// Recalibrates, and returns the score of the same rows.
fn recalibrated(model: &mut Model, features: &Features, labels: &Values, weights: &[f64]) -> f64 {
    let latent = model.latent(features);
    match labels {
        Values::Classes(labels) => {
            calibrate_classes(model, &latent, labels, weights);
            let k = gp::classes_of(model.outputs());
            let p = model.classes(&latent).p;
            average(labels.len(), weights)(&|i| row_nll(&p[i * k..][..k], labels[i] as usize))
        }
        Values::Numbers(y) => {
            calibrate(model, &latent, y, weights);
            let c = model.outputs();
            let of_value = |at: usize| {
                let std = model.header().calibration[at % c].std(
                    latent.mean[at],
                    latent.var[at],
                    model.sigma(at % c),
                );
                gaussian_nll(f64::from(y[at]), latent.mean[at], std)
            };
            let of_row = |i: usize| (i * c..(i + 1) * c).map(of_value).sum();
            average(y.len() / c, weights)(&of_row)
        }
    }
}
