//! From data made ready to a model: training of one network or one for each class, recalibration, scores.

use crate::calibration::{Calibration, HeldOut};
use crate::class_calibration::ClassCalibration;
use crate::class_metrics::row_nll;
use crate::config::{Config, Multiclass};
use crate::error::Error;
use crate::importance::Observed;
use crate::model::{Latent, Model, ModelHeader, NetworkHeader};
use crate::network::{Network, NetworkShape};
use crate::prepare::{Prepared, Values};
use crate::train::{
    Event, Fitted, FittedHead, Outcome, Phase, ReadoutStart, State, Targets, TrainError, Trainer,
    TrainingData,
};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How a fit ended.
#[derive(Debug)]
pub enum Fit {
    /// The model.
    Finished(Box<Model>),
    /// The listener asked for a stop; go on from here.
    Interrupted(Standing),
}

/// Where a run stands: each network at the beginning of an epoch, `None` before its first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Standing {
    /// One for each network.
    pub networks: Vec<Option<State>>,
}

/// What a fit says on its way.
#[derive(Debug)]
pub enum FitEvent<'a> {
    /// Where the run stands: what a checkpoint must hold.
    Standing(&'a Standing),
    /// A step is done.
    Step {
        /// Steps done.
        done: usize,
        /// Steps planned.
        planned: usize,
        /// Which phase.
        phase: Phase,
        /// The batch's loss.
        loss: f64,
    },
    /// What a network's trainer says of an epoch.
    Record {
        /// Which of the networks, and how many there are.
        network: (usize, usize),
        /// The epoch.
        record: &'a crate::train::EpochRecord,
    },
    /// Something the user should know.
    Notice(String),
}

/// Hears of every step; false asks for a stop.
pub type Listener<'a> = &'a mut (dyn FnMut(FitEvent<'_>) -> bool + Send);

impl Prepared {
    /// Trains on `threads` threads; `listen` hears of every step and can stop the run.
    pub fn fit(
        &self,
        config: &Config,
        threads: usize,
        resume: Option<Standing>,
        listen: Listener<'_>,
    ) -> Result<Fit, Error> {
        let shape = self.network_shape(config);
        let targets = self.targets();
        let one_each: Vec<Vec<u32>> = match targets {
            Targets::Classes { labels, classes, .. }
                if classes > 2 && config.gp.multiclass == Multiclass::Independent =>
            {
                let own = |class: u32| labels.iter().map(|&label| u32::from(label == class)).collect();
                (0..classes as u32).map(own).collect()
            }
            _ => Vec::new(),
        };
        let weights: Vec<Vec<f64>> =
            (0..one_each.len()).map(|class| self.weights_against_the_rest(config, class)).collect();
        let runs: Vec<Targets<'_>> = match &one_each[..] {
            [] => vec![targets],
            each => each
                .iter()
                .zip(&weights)
                .map(|(labels, weights)| Targets::Classes { labels, classes: 2, weights })
                .collect(),
        };
        let mut standing = resume.unwrap_or_default();
        if standing.networks.is_empty() {
            standing.networks = vec![None; runs.len()];
        }
        if standing.networks.len() != runs.len() {
            let reason = format!("it holds {} networks, the run has {}", standing.networks.len(), runs.len());
            return Err(TrainError::Checkpoint { reason }.into());
        }
        let desk =
            Desk { runs: runs.len(), done: AtomicUsize::new(0), inner: Mutex::new((standing, listen)) };
        // Networks of their own share nothing: a thread each is the best use of threads.
        let each = if runs.len() > 1 { 1 } else { threads };
        let train = |(k, targets): (usize, Targets<'_>)| self.train(config, &shape, targets, k, each, &desk);
        let outcomes: Result<Vec<Outcome>, TrainError> = if threads > 1 {
            runs.into_par_iter().enumerate().with_max_len(1).map(train).collect()
        } else {
            runs.into_iter().enumerate().map(train).collect()
        };
        let (standing, _) = desk.inner.into_inner().expect("no listener panicked");
        let mut fitted = Vec::new();
        for outcome in outcomes? {
            match outcome {
                Outcome::Interrupted => return Ok(Fit::Interrupted(standing)),
                Outcome::Finished(network) => fitted.push(*network),
            }
        }
        Ok(Fit::Finished(Box::new(self.finish(config, shape, fitted, threads)?)))
    }

    fn train(
        &self,
        config: &Config,
        shape: &NetworkShape,
        targets: Targets<'_>,
        k: usize,
        threads: usize,
        desk: &Desk<'_>,
    ) -> Result<Outcome, TrainError> {
        let seed = config.seed.wrapping_add(k as u64);
        let (encoder, start): (Box<dyn Network>, _) = match shape {
            NetworkShape::Mlp(shape) => {
                let (encoder, start) = self.mlp(shape, targets, seed);
                (Box::new(encoder), start)
            }
            other => {
                let encoder = other.make(seed, self.maker.as_ref());
                let linear =
                    matches!(other, NetworkShape::Identity(_)).then(|| self.ridge(targets)).flatten();
                let start = linear.map_or(ReadoutStart::Random, ReadoutStart::Linear);
                (encoder.expect("data of an outside encoder come with its maker"), start)
            }
        };
        let (train, validation) = (&self.train[..], &self.validation[..]);
        let data = TrainingData { inputs: &self.inputs, targets, train, validation };
        let resume = desk.inner.lock().expect("no listener panicked").0.networks[k].clone();
        Trainer::with_network(config, encoder.as_ref(), start, data, threads)
            .run(resume, &mut |event| desk.hear(k, &event))
    }

    /// Recalibrates on the validation part and scores what was held out.
    fn finish(
        &self,
        config: &Config,
        encoder: NetworkShape,
        fitted: Vec<Fitted>,
        threads: usize,
    ) -> Result<Model, Error> {
        let kernel = |head: &FittedHead| match head {
            FittedHead::Process(parameters) => parameters.kernel(&config.kernel()),
            FittedHead::Softmax { .. } => config.kernel(),
        };
        let (mut headers, mut networks) = (Vec::new(), Vec::new());
        for Fitted { encoder, head, scale, best_epoch, history } in fitted {
            headers.push(NetworkHeader { feature_scale: scale, kernel: kernel(&head), best_epoch, history });
            networks.push((encoder, head));
        }
        let first = headers.remove(0);
        let header = ModelHeader {
            format_version: crate::artifact::FORMAT_VERSION,
            ign_version: env!("CARGO_PKG_VERSION").into(),
            config: config.clone(),
            schema: self.schema.clone(),
            encoder,
            feature_scale: first.feature_scale,
            kernel: first.kernel,
            calibration: vec![Calibration::none(); self.schema.numbers().len()],
            class_calibration: None,
            rows: self.rows(),
            best_epoch: first.best_epoch,
            history: first.history,
            metrics: BTreeMap::new(),
            others: headers,
        };
        let mut model = Model::new(header, networks, self.maker.as_ref(), threads)?;
        if config.train.recalibrate && !self.validation.is_empty() {
            let latent = model.latent(&model.encode(&self.inputs, &self.validation));
            match &self.values {
                Values::Numbers(y) => self.calibrate(&mut model, &latent, y),
                Values::Classes(labels) => self.calibrate_classes(&mut model, &latent, labels),
            }
        }
        for (part, rows) in [("validation", &self.validation), ("test", &self.test)] {
            if !rows.is_empty() {
                let scores = match self.observed(rows) {
                    Observed::Numbers(y) => model.score(&model.predict_rows(&self.inputs, rows), &y),
                    Observed::Classes(y) => model.score_classes(&self.inputs, rows, &y),
                };
                model.header_mut().metrics.insert(part.into(), scores);
            }
        }
        Ok(model)
    }

    fn calibrate(&self, model: &mut Model, latent: &Latent, y: &[f32]) {
        let c = model.outputs();
        for output in 0..c {
            let held_out = |(i, &row): (usize, &usize)| {
                let (mean, var) = (latent.mean[i * c + output], latent.var[i * c + output]);
                HeldOut { residual: f64::from(y[row * c + output]) - mean, mean, var }
            };
            let held_out: Vec<HeldOut> = self.validation.iter().enumerate().map(held_out).collect();
            model.header_mut().calibration[output] = Calibration::fit(&held_out, model.sigma(output));
        }
    }

    fn calibrate_classes(&self, model: &mut Model, latent: &Latent, labels: &[u32]) {
        let (k, n) = (gp::classes_of(model.outputs()), self.validation.len());
        let nll = |candidate: ClassCalibration| {
            let p = model.classes_by(latent, candidate).p;
            let of_row = |(p, &row): (&[f64], &usize)| row_nll(p, labels[row] as usize);
            p.chunks_exact(k).zip(&self.validation).map(of_row).sum::<f64>() / n as f64
        };
        let has_variance = model.heads().next().is_some();
        let calibration = ClassCalibration::fit(n, has_variance, nll);
        model.header_mut().class_calibration = Some(calibration);
    }
}

/// Where the networks' trainers report to.
struct Desk<'a> {
    runs: usize,
    done: AtomicUsize,
    inner: Mutex<(Standing, Listener<'a>)>,
}

impl Desk<'_> {
    fn hear(&self, k: usize, event: &Event<'_>) -> bool {
        let (standing, listen) = &mut *self.inner.lock().expect("no listener panicked");
        match event {
            Event::Epoch { state } => {
                standing.networks[k] = Some((*state).clone());
                listen(FitEvent::Standing(standing))
            }
            Event::Step { done, planned, phase, loss } => {
                let done = match self.runs {
                    1 => *done,
                    _ => self.done.fetch_add(1, Ordering::Relaxed) + 1,
                };
                listen(FitEvent::Step { done, planned: planned * self.runs, phase: *phase, loss: *loss })
            }
            Event::Record(record) => listen(FitEvent::Record { network: (k, self.runs), record }),
            Event::Notice(text) => listen(FitEvent::Notice(text.clone())),
        }
    }
}
