//! The Gaussian process head as a flat vector: `z [M,D] | w [D,C] | b [C] | log σ [C] | log kernel [2]`.
//!
//! The one place where the configured precision becomes a type.

use crate::config::{Config, Precision};
use crate::error::Error;
use crate::train::EncoderPass;
use gp::{Coupling, InducingPoints, Kernel, Likelihood, Link, Objective, Posterior, Process, Real, Value};
use linalg::threads::{both, in_pool};

/// What training needs to know of the head besides its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeadShape {
    pub(crate) inducing: usize,
    pub(crate) features: usize,
    pub(crate) outputs: usize,
    pub(crate) kernel: Kernel,
    pub(crate) jitter: f64,
    /// The least log σ; −∞ is none.
    pub(crate) log_noise_floor: f32,
    pub(crate) precision: Precision,
    pub(crate) coupling: Coupling,
    /// Labels ±1 instead of numbers: no noise.
    pub(crate) classes: bool,
    pub(crate) link: Link,
}

/// The parameters of the head, from the flat vector.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadParameters {
    /// Z, row-major `[M, D]`.
    pub z: Vec<f32>,
    /// w, row-major `[D, C]`.
    pub w: Vec<f32>,
    /// b `[C]`.
    pub b: Vec<f32>,
    /// log σ `[C]`; empty for classes.
    pub log_sigma: Vec<f32>,
    /// `[log s, log γ]`.
    pub log_kernel: [f32; 2],
}

impl HeadShape {
    pub(crate) fn new(
        config: &Config,
        inducing: usize,
        features: usize,
        outputs: usize,
        classes: bool,
    ) -> Self {
        Self {
            inducing,
            features,
            outputs,
            kernel: config.kernel(),
            jitter: config.gp.jitter.get(),
            log_noise_floor: config.gp.noise_floor.ln() as f32,
            precision: config.gp.precision,
            coupling: config.gp.coupling,
            classes,
            link: config.gp.link,
        }
    }

    /// Lengths of the five stretches.
    pub(crate) fn lengths(&self) -> [usize; 5] {
        let (m, d, c) = (self.inducing, self.features, self.outputs);
        [m * d, d * c, c, if self.classes { 0 } else { c }, 2]
    }

    /// Keeps σ from falling below its floor.
    pub(crate) fn keep_noise(&self, theta: &mut [f32]) {
        let [z, w, b, sigma, _] = self.lengths();
        for log_sigma in &mut theta[z + w + b..][..sigma] {
            *log_sigma = log_sigma.max(self.log_noise_floor);
        }
    }

    pub(crate) fn unflatten(&self, theta: &[f32]) -> HeadParameters {
        let [z, w, b, log_sigma, log_kernel] = self.stretches(theta);
        HeadParameters {
            z: z.to_vec(),
            w: w.to_vec(),
            b: b.to_vec(),
            log_sigma: log_sigma.to_vec(),
            log_kernel: [log_kernel[0], log_kernel[1]],
        }
    }

    /// The five stretches.
    fn stretches<'a>(&self, theta: &'a [f32]) -> [&'a [f32]; 5] {
        let mut rest = theta;
        self.lengths().map(|len| {
            let (stretch, others) = rest.split_at(len);
            rest = others;
            stretch
        })
    }
}

impl HeadParameters {
    pub(crate) fn flat(&self) -> Vec<f32> {
        [&self.z[..], &self.w, &self.b, &self.log_sigma, &self.log_kernel].concat()
    }

    /// The kernel of `family` with these parameters.
    pub(crate) fn kernel(&self, family: &Kernel) -> Kernel {
        family.with_log_parameters(self.log_kernel.map(f64::from))
    }

    fn inducing<T: Real>(&self) -> InducingPoints<T> {
        InducingPoints { z: cast(&self.z), w: cast(&self.w), b: cast(&self.b) }
    }
}

/// Work space of the likelihood in the configured precision.
#[derive(Debug)]
pub(crate) enum Head {
    Single(Option<Objective<f32>>),
    Double(Option<Objective<f64>>),
}

impl Head {
    pub(crate) fn new(precision: Precision) -> Self {
        match precision {
            Precision::F32 => Self::Single(None),
            Precision::F64 => Self::Double(None),
        }
    }

    /// Loss of one batch; writes the gradients by the encoder's and by the head's parameters.
    pub(crate) fn evaluate(
        &mut self,
        shape: &HeadShape,
        batch: HeadBatch<'_>,
        encoder: EncoderPass<'_>,
    ) -> Result<Value, Error> {
        match self {
            Self::Single(objective) => evaluate(objective, shape, batch, encoder),
            Self::Double(objective) => evaluate(objective, shape, batch, encoder),
        }
    }
}

/// What one evaluation needs besides the shape.
pub(crate) struct HeadBatch<'a> {
    pub(crate) theta: &'a [f32],
    pub(crate) y: &'a [f32],       // [N, C], ±1 for classes
    pub(crate) weights: &'a [f64], // [N] or empty
    pub(crate) threads: usize,
    pub(crate) d_theta: &'a mut [f32],
}

/// On two threads `K_zz` is factored while the encoder runs forward, and the inducing points get their gradient while it
/// runs backward.
fn evaluate<T: Real>(
    slot: &mut Option<Objective<T>>,
    shape: &HeadShape,
    batch: HeadBatch<'_>,
    encoder: EncoderPass<'_>,
) -> Result<Value, Error> {
    let HeadBatch { theta, y, weights, threads, d_theta } = batch;
    let [z, w, b, log_sigma, log_kernel] = shape.stretches(theta);
    let kernel = shape.kernel.with_log_parameters([log_kernel[0], log_kernel[1]].map(f64::from));
    let inducing = InducingPoints::<T> { z: cast(z), w: cast(w), b: cast(b) };
    let rows = y.len() / shape.outputs;
    if slot.as_ref().is_none_or(|objective| objective.rows() != rows) {
        *slot = Some(Objective::new(rows, &kernel, &inducing, threads));
    }
    let objective = slot.as_mut().expect("just filled");
    let log_sigma: Vec<f64> = cast(log_sigma);
    let process = Process {
        kernel: &kernel,
        inducing: &inducing,
        likelihood: match (shape.classes, shape.link) {
            (false, _) => Likelihood::Gaussian { log_sigma: &log_sigma, weights },
            (true, Link::Probit) => Likelihood::Probit { weights },
            (true, Link::Logit) => Likelihood::Logit { weights },
        },
        jitter: shape.jitter,
        coupling: shape.coupling,
    };
    let value = in_pool(threads, || -> Result<Value, Error> {
        let (points, rows) = objective.begin(&process);
        let (factored, forward) = both(
            threads,
            || points.factor(),
            || {
                let (phi, backward) = encoder.forward()?;
                rows.set_features(&cast(&phi));
                Ok::<_, Error>(backward)
            },
        );
        factored?;
        let backward = forward?;
        let value = objective.evaluate(&process, &cast(y))?;
        let (points, d_phi) = objective.end(&process);
        let d_phi: Vec<f32> = d_phi.iter().map(|x| x.to_f32()).collect();
        both(threads, || points.pull_back(), || backward.pull_back(d_phi));
        Ok(value)
    })?;
    let gp::Gradient { z, w, b, log_sigma, log_kernel, .. } = objective.gradient();
    let log_sigma = if shape.classes { &[] } else { &log_sigma[..] };
    let mut rest = d_theta;
    narrow(z, &mut rest);
    narrow(w, &mut rest);
    narrow(b, &mut rest);
    narrow(log_sigma, &mut rest);
    narrow(log_kernel, &mut rest);
    Ok(value)
}

/// A conditioned process in the configured precision.
#[derive(Debug, Clone)]
pub(crate) enum AnyPosterior {
    Single(Posterior<f32>),
    Double(Posterior<f64>),
}

impl AnyPosterior {
    pub(crate) fn new(
        parameters: &HeadParameters,
        family: &Kernel,
        jitter: f64,
        precision: Precision,
        threads: usize,
    ) -> Result<Self, gp::Error> {
        let kernel = parameters.kernel(family);
        Ok(match precision {
            Precision::F32 => Self::Single(Posterior::new(kernel, parameters.inducing(), jitter, threads)?),
            Precision::F64 => Self::Double(Posterior::new(kernel, parameters.inducing(), jitter, threads)?),
        })
    }

    /// Latent mean `[N, C]` and variance `[N]`.
    pub(crate) fn predict(&self, phi: &[f32], rows: usize) -> (Vec<f64>, Vec<f64>) {
        match self {
            Self::Single(posterior) => widen(&posterior.predict(phi, rows)),
            Self::Double(posterior) => {
                let latent = posterior.predict(&cast(phi), rows);
                (latent.mean, latent.var)
            }
        }
    }
}

fn widen(latent: &gp::Latent<f32>) -> (Vec<f64>, Vec<f64>) {
    let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect();
    (wide(&latent.mean), wide(&latent.var))
}

fn cast<T: Real>(x: &[f32]) -> Vec<T> {
    x.iter().map(|&x| T::from_f32(x)).collect()
}

/// Writes `from` in single precision to the beginning of `rest`, which is then what follows.
fn narrow<T: Real>(from: &[T], rest: &mut &mut [f32]) {
    let (to, others) = std::mem::take(rest).split_at_mut(from.len());
    to.iter_mut().zip(from).for_each(|(to, from)| *to = from.to_f32());
    *rest = others;
}
