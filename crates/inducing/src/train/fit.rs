//! From data made ready to a model: training of one network or one for each class, recalibration, scores.

use super::class_stack::fit_classes;
use super::crossfit::{Member, OutOfFold};
use super::stack::{Known, sample};
use super::{
    Fitted, NetworkEvent, NetworkState, NetworkTrainer, Outcome, Phase, Targets, TrainError, TrainingData,
};
use crate::config::{Config, Multiclass};
use crate::dataset::{Inputs, Prepared, Values};
use crate::error::Error;
use crate::explain::Observed;
use crate::head::FittedHead;
use crate::metrics::row_nll;
use crate::model::{
    Calibration, ClassCalibration, Ensemble, FORMAT_VERSION, HeldOut, Latent, Model, ModelHeader,
    NetworkHeader, OutOfFoldPredictions, Predictions, Score, Scores, Stacked,
};
use crate::neighbours::KeptRows;
use crate::nn::{Encoder, EncoderShape, Mode};
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
    Interrupted(Checkpoint),
}

/// Where a run stands: each network at the beginning of an epoch, `None` before its first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checkpoint {
    /// One for each network.
    pub networks: Vec<Option<NetworkState>>,
}

/// What a fit says on its way.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Where the run stands: what a checkpoint must hold.
    Checkpoint(&'a Checkpoint),
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
pub type Listener<'a> = &'a mut (dyn FnMut(Event<'_>) -> bool + Send);

impl Prepared {
    /// Trains on `threads` threads; `listen` hears of every step and can stop the run.
    pub fn fit(
        &self,
        config: &Config,
        threads: usize,
        resume: Option<Checkpoint>,
        listen: Listener<'_>,
    ) -> Result<Fit, Error> {
        self.check(config)?;
        let shape = self.encoder_shape(config);
        let encoder = shape
            .build(self.factory.as_ref())
            .map_err(|reason| Error::inputs("an encoder that can be built", reason))?;
        let encoder = encoder.as_ref();
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
        let members = if one_each.is_empty() { self.members(config) } else { Vec::new() };
        let runs: Vec<Run<'_>> = match &members[..] {
            [] => {
                let whole = |targets| Run { targets, train: &self.train, validation: &self.validation };
                runs.into_iter().map(whole).collect()
            }
            members => {
                let runs = members.iter();
                runs.map(|m| Run { targets, train: &m.train, validation: &m.held_out }).collect()
            }
        };
        let mut checkpoint = resume.unwrap_or_default();
        if checkpoint.networks.is_empty() {
            checkpoint.networks = vec![None; runs.len()];
        }
        if checkpoint.networks.len() != runs.len() {
            let reason =
                format!("it holds {} networks, the run has {}", checkpoint.networks.len(), runs.len());
            return Err(TrainError::Checkpoint { reason }.into());
        }
        let hub =
            EventHub { runs: runs.len(), done: AtomicUsize::new(0), inner: Mutex::new((checkpoint, listen)) };
        // Networks of their own share nothing: a thread each is the best use of threads.
        let each = if runs.len() > 1 { 1 } else { threads };
        let train = |(k, run): (usize, Run<'_>)| self.train(config, encoder, run, k, each, &hub);
        let outcomes: Result<Vec<Outcome>, Error> = if threads > 1 {
            runs.into_par_iter().enumerate().with_max_len(1).map(train).collect()
        } else {
            runs.into_iter().enumerate().map(train).collect()
        };
        let (checkpoint, _) = hub.inner.into_inner().expect("no listener panicked");
        let mut fitted = Vec::new();
        for outcome in outcomes? {
            match outcome {
                Outcome::Interrupted => return Ok(Fit::Interrupted(checkpoint)),
                Outcome::Finished(network) => fitted.push(*network),
            }
        }
        Ok(Fit::Finished(Box::new(self.finish(config, shape, fitted, &members, threads)?)))
    }

    fn train(
        &self,
        config: &Config,
        encoder: &dyn Encoder,
        Run { targets, train, validation }: Run<'_>,
        k: usize,
        threads: usize,
        hub: &EventHub<'_>,
    ) -> Result<Outcome, Error> {
        let start = self.start(config, encoder, targets, train, config.seed.wrapping_add(k as u64));
        let data = TrainingData { inputs: &self.inputs, targets, train, validation };
        let resume = hub.inner.lock().expect("no listener panicked").0.networks[k].clone();
        NetworkTrainer::new(config, encoder, start, data, threads)
            .run(resume, &mut |event| hub.on_event(k, &event))
    }

    /// Recalibrates on the validation part and scores what was held out.
    fn finish(
        &self,
        config: &Config,
        encoder: EncoderShape,
        fitted: Vec<Fitted>,
        members: &[Member],
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
            format_version: FORMAT_VERSION,
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
            ensemble: (!members.is_empty()).then(Ensemble::default),
        };
        let mut model = Model::new(header, networks, self.factory.as_ref(), threads)?;
        if !members.is_empty() {
            self.join(&mut model, config, members)?;
        } else if config.train.recalibrate && !self.validation.is_empty() {
            let latent = model.latent(&model.encode(&self.inputs, &self.validation)?);
            match &self.values {
                Values::Numbers(y) => calibrate(&mut model, &latent, y, &self.validation),
                Values::Classes(labels) => calibrate_classes(&mut model, &latent, labels, &self.validation),
            }
        }
        for (part, rows) in [("validation", &self.validation), ("test", &self.test)] {
            if !rows.is_empty() {
                let scores = match self.observed(rows) {
                    Observed::Numbers(y) => model.score(&model.predict_numbers(&self.inputs, rows)?, &y)?,
                    Observed::Classes(y) => model.score_classes(&self.inputs, rows, &y)?,
                };
                model.header_mut().metrics.insert(part.into(), scores);
            }
        }
        Ok(model)
    }

    fn keeps_neighbours(&self, config: &Config) -> bool {
        config.neighbours.count > 0
            && self.train.len() >= FEWEST_NEIGHBOURS
            && (1..=MOST_COLUMNS).contains(&self.inputs.width())
            && matches!(self.inputs, Inputs::Table(_))
    }

    /// Joins the probabilities of an ensemble with the classes of the nearest rows.
    fn join_classes(
        &self,
        model: &mut Model,
        config: &Config,
        latent: &Latent,
        (labels, kept): (&[u32], &[usize]),
    ) -> Result<(), Error> {
        let labels: Vec<u32> = kept.iter().map(|&row| labels[row]).collect();
        let mut prediction = model.classes(latent);
        if self.keeps_neighbours(config) {
            let width = self.inputs.width();
            let x = self.inputs.numbers(width, kept, Mode::Predict)?;
            let (stack, familiarity) = fit_classes(&x, width, &labels, &mut prediction.p, config);
            prediction.familiarity = familiarity;
            let y = labels.iter().map(|&label| label as f32).collect();
            model
                .set_class_neighbours(stack, KeptRows { x, y, errors: Vec::new(), folds: Vec::new(), width });
        }
        let metrics = Score::Classes(model.class_metrics(&prediction, latent, &labels)?);
        let scores = Scores::from([(self.schema.target_names().remove(0), metrics)]);
        model.header_mut().metrics.insert("out_of_fold".into(), scores);
        let predictions = Predictions::classification(prediction, self.schema.classes().unwrap_or_default());
        let (rows, latent) = (kept.to_vec(), latent.clone());
        model.set_out_of_fold(OutOfFoldPredictions { rows, predictions, latent });
        Ok(())
    }

    /// Joins the members of an ensemble by what they say of rows they never saw, and with the nearest rows.
    fn join(&self, model: &mut Model, config: &Config, members: &[Member]) -> Result<(), Error> {
        let kept = self.kept(config);
        let folds = self.held_out(model, members, &kept)?;
        let oof = OutOfFold::new(&folds, kept.len(), model.outputs());
        let latent = Latent { mean: oof.mean.clone(), var: oof.var.clone(), members: Vec::new() };
        let labels = match &self.values {
            Values::Classes(labels) => {
                calibrate_classes(model, &latent, labels, &kept);
                return self.join_classes(model, config, &latent, (labels, &kept));
            }
            Values::Numbers(y) => y,
        };
        calibrate(model, &latent, labels, &kept);
        let (width, c) = (self.inputs.width(), model.outputs());
        let linear = self.ridge(self.targets(), &self.train);
        let Some(linear) = linear.filter(|_| self.keeps_neighbours(config)) else { return Ok(()) };
        let x = self.inputs.numbers(width, &kept, Mode::Predict)?;
        let y = self.targets().batch(&kept);
        let (mut stacks, mut errors, mut out_of_fold) = (Vec::new(), vec![0.0; y.len()], Vec::new());
        for k in 0..c {
            let slopes = linear.iter().skip(k).step_by(c).map(|&b| f64::from(b)).collect();
            let known = Known::new(&x, width, (&y, c, k), &oof, slopes, &folds);
            let fitted = known.stack(config);
            stacks.push(fitted.stack);
            fitted.errors.into_iter().enumerate().for_each(|(i, error)| errors[i * c + k] = error);
            out_of_fold.push(fitted.out_of_fold);
        }
        let count = out_of_fold[0].len();
        let mut columns: Vec<_> = out_of_fold.into_iter().map(Vec::into_iter).collect();
        let stacked: Vec<Stacked> =
            (0..count * c).map(|at| columns[at % c].next().expect("as many of every output")).collect();
        let predictions = model.restore(stacked);
        let places: Vec<usize> = sample(kept.len()).collect();
        let rows: Vec<usize> = places.iter().map(|&i| kept[i]).collect();
        if let Observed::Numbers(y) = self.observed(&rows) {
            let scores = model.score(&predictions, &y)?;
            model.header_mut().metrics.insert("out_of_fold".into(), scores);
        }
        let (predictions, latent) = (model.named(predictions), latent.select(&places, c));
        model.set_out_of_fold(OutOfFoldPredictions { rows, predictions, latent });
        let mut by_row = vec![Vec::new(); kept.len()];
        for (member, fold) in folds.iter().enumerate() {
            fold.places.iter().for_each(|&place| by_row[place].push(member as f32));
        }
        let folds = by_row.into_iter().flat_map(|mut members| {
            members.resize(oof.repeats, -1.0);
            members
        });
        model.set_neighbours(stacks, KeptRows { x, y, errors, folds: folds.collect(), width })
    }
}

/// Fewer rows than this are no neighbourhood, and more columns than this have none.
const FEWEST_NEIGHBOURS: usize = 16;
const MOST_COLUMNS: usize = 256;

/// What one network trains on.
#[derive(Clone, Copy)]
struct Run<'a> {
    targets: Targets<'a>,
    train: &'a [usize],
    validation: &'a [usize],
}

/// Recalibrates numbers by latent functions of some rows.
fn calibrate(model: &mut Model, latent: &Latent, y: &[f32], rows: &[usize]) {
    let c = model.outputs();
    for output in 0..c {
        let held_out = |(i, &row): (usize, &usize)| {
            let (mean, var) = (latent.mean[i * c + output], latent.var[i * c + output]);
            HeldOut { residual: f64::from(y[row * c + output]) - mean, mean, var }
        };
        let held_out: Vec<HeldOut> = rows.iter().enumerate().map(held_out).collect();
        model.header_mut().calibration[output] = Calibration::fit(&held_out, model.sigma(output));
    }
}

/// Recalibrates classes by latent functions of some rows.
fn calibrate_classes(model: &mut Model, latent: &Latent, labels: &[u32], rows: &[usize]) {
    let k = gp::classes_of(model.outputs());
    let nll = |candidate: ClassCalibration| {
        let p = model.classes_by(latent, candidate).p;
        let of_row = |(p, &row): (&[f64], &usize)| row_nll(p, labels[row] as usize);
        p.chunks_exact(k).zip(rows).map(of_row).sum::<f64>() / rows.len() as f64
    };
    let has_variance = model.heads().next().is_some();
    let calibration = ClassCalibration::fit(rows.len(), has_variance, nll);
    model.header_mut().class_calibration = Some(calibration);
}

/// Where the networks' trainers report to.
struct EventHub<'a> {
    runs: usize,
    done: AtomicUsize,
    inner: Mutex<(Checkpoint, Listener<'a>)>,
}

impl EventHub<'_> {
    fn on_event(&self, k: usize, event: &NetworkEvent<'_>) -> bool {
        let (checkpoint, listen) = &mut *self.inner.lock().expect("no listener panicked");
        match event {
            NetworkEvent::Epoch { state } => {
                checkpoint.networks[k] = Some((*state).clone());
                listen(Event::Checkpoint(checkpoint))
            }
            NetworkEvent::Step { done, planned, phase, loss } => {
                let done = match self.runs {
                    1 => *done,
                    _ => self.done.fetch_add(1, Ordering::Relaxed) + 1,
                };
                listen(Event::Step { done, planned: planned * self.runs, phase: *phase, loss: *loss })
            }
            NetworkEvent::Record(record) => listen(Event::Record { network: (k, self.runs), record }),
            NetworkEvent::Notice(text) => listen(Event::Notice(text.clone())),
        }
    }
}
