//! From data made ready to a model: training of one network or one for each class, recalibration, scores.

use super::collective::{Alone, Collective, Share};
use super::crossfit::{HeldOutFold, Member, held_out};
use super::decision::decision;
use super::join::{Begin, Joining, calibrate, calibrate_classes};
use super::{
    Fitted, NetworkEvent, NetworkState, NetworkTrainer, Outcome, Phase, Targets, Team, TrainError,
    TrainingData,
};
use crate::config::{Config, Multiclass};
use crate::dataset::{Prepared, Values};
use crate::error::Error;
use crate::explain::Observed;
use crate::head::FittedHead;
use crate::model::{Calibration, Ensemble, FORMAT_VERSION, Model, ModelHeader, NetworkHeader};
use crate::nn::{Encoder, EncoderShape};
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

/// Where a run stands: each network at the beginning of an epoch or some steps later, `None` before its first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checkpoint {
    /// One for each network.
    pub networks: Vec<Option<NetworkState>>,
}

impl Checkpoint {
    /// Of two checkpoints of one run, such as those of two processes, each network where it got further.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        let how_far = |state: &Option<NetworkState>| {
            state.as_ref().map(|s| (s.phase == Phase::Likelihood, s.epoch, s.so_far.steps))
        };
        let places = self.networks.len().max(other.networks.len());
        self.networks.resize(places, None);
        for (own, other) in self.networks.iter_mut().zip(other.networks) {
            if how_far(&other) > how_far(own) {
                *own = other;
            }
        }
        self
    }
}

/// What a fit says on its way.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Where the run stands: what a checkpoint must hold.
    Checkpoint(&'a Checkpoint),
    /// All networks of this process are trained; where it stands, as for a checkpoint.
    Trained(&'a Checkpoint),
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
        let fit = self.fit_together(&Alone, config, threads, resume, listen)?;
        Ok(fit.expect("a process alone is the first"))
    }

    /// The same with other processes: each trains some of the networks or, where there are more processes than networks, shares the
    /// batches of a network's steps with others. The first has the model; for the others there is nothing. The checkpoint of a
    /// process holds networks that no other checkpoint does.
    pub fn fit_together(
        &self,
        processes: &dyn Collective,
        config: &Config,
        threads: usize,
        resume: Option<Checkpoint>,
        listen: Listener<'_>,
    ) -> Result<Option<Fit>, Error> {
        self.check(config)?;
        self.agree(processes, config)?;
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
                .map(|(labels, weights)| Targets::Classes {
                    labels,
                    classes: 2,
                    weights,
                    row_weights: &self.row_weights,
                })
                .collect(),
        };
        let members = if one_each.is_empty() { self.members(config) } else { Vec::new() };
        let blocked = if members.is_empty() { Vec::new() } else { self.blocked_members(config) };
        let runs: Vec<Run<'_>> = match &members[..] {
            [] => {
                let whole = |targets| Run { targets, train: &self.train, validation: &self.validation };
                runs.into_iter().map(whole).collect()
            }
            members => {
                let all = members.iter().chain(&blocked);
                all.map(|m| Run { targets, train: &m.train, validation: m.validation() }).collect()
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
        // Networks of their own share nothing: a thread each is the best use of threads.
        let (all, each) = (runs.len(), if runs.len() > 1 { 1 } else { threads });
        let lanes = self.lanes(config);
        let teams = Teams::new(processes, all, lanes)?;
        if let Some(idle) = teams.idle(processes.size(), all, lanes) {
            listen(Event::Notice(idle));
        }
        let team = Team { lanes, processes: teams.own() };
        self.take_over(&mut checkpoint, team.processes, teams.first_network, config)?;
        let runs: Vec<(usize, Run<'_>)> =
            runs.into_iter().enumerate().filter(|(k, _)| teams.trains(*k)).collect();
        // Of a team the first keeps the network, for the checkpoint and for all others.
        let keeps = teams.keeps();
        let (runs_here, inner) = (runs.len().max(1), Mutex::new((checkpoint, listen)));
        let hub = EventHub { all, runs: runs_here, keeps, done: AtomicUsize::new(0), inner };
        let train =
            |(k, run): (usize, Run<'_>)| Ok((k, self.train(config, encoder, run, k, (each, team), &hub)?));
        let outcomes: Result<Vec<(usize, Outcome)>, Error> = if threads > 1 && runs.len() > 1 {
            runs.into_par_iter().with_max_len(1).map(train).collect()
        } else {
            runs.into_iter().map(train).collect()
        };
        let (checkpoint, listen) = hub.inner.into_inner().expect("no listener panicked");
        // The last moment to stop: joining the networks is quick, and nothing asks in between.
        let outcomes = match outcomes {
            Ok(_) if !listen(Event::Trained(&checkpoint)) => Ok(None),
            outcomes => outcomes.map(Some),
        };
        let Some(mut fitted) = shared(processes, outcomes, (all, keeps), config)? else {
            return Ok(Some(Fit::Interrupted(checkpoint)));
        };
        if processes.rank() > 0 {
            return Ok(None);
        }
        let in_gaps = fitted.split_off(fitted.len() - blocked.len());
        let mut model = self.model(config, &shape, fitted, !members.is_empty(), threads)?;
        if members.is_empty() {
            self.recalibrate(&mut model, config)?;
        } else {
            let in_gaps = if blocked.is_empty() {
                Vec::new()
            } else {
                let networks = self.model(config, &shape, in_gaps, true, threads)?;
                self.left_out(&networks, config, &blocked)?
            };
            self.join(&mut model, config, &members, in_gaps)?;
        }
        self.score(&mut model)?;
        self.compare(&mut model, config.seed);
        Ok(Some(Fit::Finished(Box::new(model))))
    }

    /// An error where processes would train different models.
    fn agree(&self, processes: &dyn Collective, config: &Config) -> Result<(), Error> {
        if processes.size() < 2 {
            return Ok(());
        }
        let config = serde_json::to_string(config).expect("a configuration is plain data");
        let processor = format!("{:?}", pulp::Arch::new());
        let own = [env!("CARGO_PKG_VERSION"), &config, &processor, &self.fingerprint()];
        let all = processes.gather(own.join("\n").as_bytes())?;
        let first = String::from_utf8_lossy(&all[0]);
        for (rank, other) in all.iter().enumerate().skip(1) {
            let (other, mut what) =
                (String::from_utf8_lossy(other), ["version", "settings", "processor", "data"].into_iter());
            let differs = first.splitn(4, '\n').zip(other.splitn(4, '\n')).map(|(a, b)| a != b);
            if let Some(what) = differs.filter_map(|differs| what.next().filter(|_| differs)).next() {
                return Err(Error::Request(format!(
                    "the {what} of rank {rank} and of rank 0 differ\nhint: start the same program with the same files and options everywhere, on processors of one kind"
                )));
            }
        }
        Ok(())
    }

    /// Where processes share a network, all begin where the first of them does.
    fn take_over(
        &self,
        checkpoint: &mut Checkpoint,
        team: &dyn Collective,
        network: usize,
        config: &Config,
    ) -> Result<(), Error> {
        if team.size() == 1 {
            return Ok(());
        }
        let own = Checkpoint { networks: vec![checkpoint.networks[network].clone()] };
        let bytes = if team.rank() == 0 { own.to_bytes(config, "") } else { Vec::new() };
        let first = &team.gather(&bytes)?[0];
        checkpoint.networks[network] =
            Checkpoint::from_bytes("rank 0", first, config, "")?.networks.swap_remove(0);
        Ok(())
    }

    fn train(
        &self,
        config: &Config,
        encoder: &dyn Encoder,
        Run { targets, train, validation }: Run<'_>,
        k: usize,
        (threads, team): (usize, Team<'_>),
        hub: &EventHub<'_>,
    ) -> Result<Outcome, Error> {
        let start = self.start(config, encoder, targets, train, config.seed.wrapping_add(k as u64));
        let stream = self.stream.as_ref();
        let data = TrainingData { inputs: &self.inputs, targets, train, validation, stream };
        let resume = hub.inner.lock().expect("no listener panicked").0.networks[k].clone();
        NetworkTrainer::new(config, encoder, start, data, threads, team)
            .run(resume, &mut |event| hub.on_event(k, &event))
    }

    /// Puts networks together.
    fn model(
        &self,
        config: &Config,
        encoder: &EncoderShape,
        fitted: Vec<Fitted>,
        is_ensemble: bool,
        threads: usize,
    ) -> Result<Model, Error> {
        let mut headers: Vec<NetworkHeader> = fitted.iter().map(|fitted| header_of(fitted, config)).collect();
        let networks = fitted.into_iter().map(|fitted| (fitted.encoder, fitted.head)).collect();
        let first = headers.remove(0);
        let header = ModelHeader {
            format_version: FORMAT_VERSION,
            ign_version: env!("CARGO_PKG_VERSION").into(),
            config: config.clone(),
            schema: self.schema.clone(),
            encoder: encoder.clone(),
            feature_scale: first.feature_scale,
            kernel: first.kernel,
            calibration: vec![Calibration::none(); self.schema.numbers().len()],
            class_calibration: None,
            decision: None,
            rows: self.rows(),
            best_epoch: first.best_epoch,
            history: first.history,
            metrics: BTreeMap::new(),
            baselines: BTreeMap::new(),
            others: headers,
            ensemble: is_ensemble.then(Ensemble::default),
            feature_stack: None,
        };
        Model::new(header, networks, self.factory.as_ref(), threads)
    }

    /// Recalibrates one network, or one for each class, on the validation part.
    fn recalibrate(&self, model: &mut Model, config: &Config) -> Result<(), Error> {
        if self.keeps_features(model, config) {
            self.keep_features(model, config)?;
        } else if config.train.recalibrate && !self.validation.is_empty() {
            let latent = model.latent(&model.encode(&self.inputs, &self.validation)?);
            match self.values.select(&self.validation, model.outputs()) {
                Values::Numbers(y) => calibrate(model, &latent, &y, &self.weights_of(&self.validation)),
                Values::Classes(labels) => {
                    calibrate_classes(model, &latent, &labels, &self.weights_of(&self.validation))
                }
            }
        }
        if let (Observed::Classes(classes), false) =
            (self.observed(&self.validation), self.validation.is_empty())
        {
            let p = model.predict_classes(&self.inputs, &self.validation)?.p;
            let decision = decision(&config.train, &p, &classes, &self.weights_of(&self.validation));
            model.set_decision(decision)?;
        }
        Ok(())
    }

    /// Scores what was held out.
    fn score(&self, model: &mut Model) -> Result<(), Error> {
        for (part, rows) in [("validation", &self.validation), ("test", &self.test)] {
            if !rows.is_empty() {
                let weights = self.weights_of(rows);
                let scores = match self.observed(rows) {
                    Observed::Numbers(y) => {
                        model.score_weighted(&model.predict_numbers(&self.inputs, rows)?, &y, &weights)?
                    }
                    Observed::Classes(y) => model.score_weighted_classes(&self.inputs, rows, &y, &weights)?,
                };
                model.header_mut().metrics.insert(part.into(), scores);
            }
        }
        Ok(())
    }

    /// Places among the kept rows of what each member left out.
    fn places(&self, rows: &[usize], members: &[Member]) -> Vec<Vec<usize>> {
        let mut place = vec![usize::MAX; self.inputs.rows()];
        rows.iter().enumerate().for_each(|(i, &row)| place[row] = i);
        let left_out = |member: &Member| {
            member.held_out.iter().map(|&row| place[row]).filter(|&place| place != usize::MAX).collect()
        };
        members.iter().map(left_out).collect()
    }

    /// What networks say of the rows that they left out.
    fn left_out(
        &self,
        networks: &Model,
        config: &Config,
        members: &[Member],
    ) -> Result<Vec<HeldOutFold>, Error> {
        let rows = self.kept(config);
        held_out(networks, &self.inputs, &rows, &self.places(&rows, members))
    }

    /// Joins the members of an ensemble by what they say of rows they never saw, and with the nearest rows.
    fn join(
        &self,
        model: &mut Model,
        config: &Config,
        members: &[Member],
        in_gaps: Vec<HeldOutFold>,
    ) -> Result<(), Error> {
        let rows = self.kept(config);
        let joining = Joining {
            inputs: &self.inputs,
            rows: &rows,
            left_out: self.places(&rows, members),
            in_gaps,
            repeats: config.train.crossfit_repeats.get(),
            labels: self.values.select(&rows, model.outputs()),
            apart: self.apart(&rows, config),
            weights: self.weights_of(&rows),
        };
        let linear = match self.values {
            Values::Numbers(_) => self.linear_folds(&rows, &joining.apart, config.seed),
            Values::Classes(_) => None,
        };
        joining.join(model, config, &Begin::Anew(linear))
    }
}

/// All networks in their order, those of other processes too; `None` where one was stopped.
fn shared(
    processes: &dyn Collective,
    own: Result<Option<Vec<(usize, Outcome)>>, Error>,
    (all, keeps): (usize, bool),
    config: &Config,
) -> Result<Option<Vec<Fitted>>, Error> {
    let mut failure = None;
    let share = match own {
        Err(error) => {
            let text = error.to_string();
            failure = Some(error);
            Share::Failed(text)
        }
        Ok(None) => Share::Stopped,
        Ok(Some(outcomes)) => {
            let finished = outcomes.into_iter().map(|(k, outcome)| match outcome {
                Outcome::Finished(network) => Some((k, *network)),
                Outcome::Interrupted => None,
            });
            let networks = finished.collect::<Option<Vec<_>>>();
            networks.map_or(Share::Stopped, |own| Share::Trained(if keeps { own } else { Vec::new() }))
        }
    };
    let shares = match processes.size() {
        1 => vec![share],
        _ => {
            let sent = processes.gather(&share.to_bytes(|fitted| header_of(fitted, config)))?;
            let read = |bytes: &Vec<u8>| Share::from_bytes(bytes);
            let damaged = || {
                Error::Request(
                    "another process sent what is no network\nhint: use one version of the program".into(),
                )
            };
            sent.iter().map(read).collect::<Option<_>>().ok_or_else(damaged)?
        }
    };
    if let Some(error) = failure {
        return Err(error);
    }
    // The team of a process that failed has stopped.
    for (rank, share) in shares.iter().enumerate() {
        if let Share::Failed(reason) = share {
            return Err(Error::Request(format!("rank {rank} failed: {reason}")));
        }
    }
    let mut trained = Vec::new();
    for share in shares {
        match share {
            Share::Trained(own) => trained.extend(own),
            _ => return Ok(None),
        }
    }
    trained.sort_by_key(|(k, _)| *k);
    debug_assert_eq!(trained.len(), all);
    Ok(Some(trained.into_iter().map(|(_, network)| network).collect()))
}

/// Who trains which networks.
struct Teams {
    rank: usize,
    size: usize,
    networks: usize,
    /// The processes that share a network with this one, where there are more of them than networks.
    team: Option<Box<dyn Collective>>,
    /// The network that it shares.
    first_network: usize,
    /// Whether there is a batch for it.
    has_batches: bool,
}

impl Teams {
    fn new(processes: &dyn Collective, networks: usize, lanes: usize) -> Result<Self, Error> {
        let (rank, size) = (processes.rank(), processes.size());
        let (first_network, has_batches) = (rank % networks, rank / networks < lanes);
        // Those without a batch are a group of their own.
        let group = if has_batches { first_network } else { networks };
        let team = if size > networks { Some(processes.split(group)?) } else { None };
        Ok(Self { rank, size, networks, team, first_network, has_batches })
    }

    /// Whether this process trains a network.
    fn trains(&self, network: usize) -> bool {
        self.has_batches && network % self.size == self.rank % self.networks
    }

    /// Whether it is the first that does.
    fn keeps(&self) -> bool {
        self.has_batches && self.own().rank() == 0
    }

    fn own(&self) -> &dyn Collective {
        self.team.as_deref().unwrap_or(&Alone)
    }

    /// What to say where processes have nothing to do.
    fn idle(&self, size: usize, networks: usize, lanes: usize) -> Option<String> {
        let idle = size.saturating_sub(networks * lanes);
        (idle > 0).then(|| {
            format!(
                "{idle} of {size} processes have nothing to do: there are {networks} networks, and {lanes} batches in a step of each\nhint: raise `train.accumulate_batches`, and of a table that does not fit into memory the number of files"
            )
        })
    }
}

/// What a model says of a network besides its parameters.
fn header_of(fitted: &Fitted, config: &Config) -> NetworkHeader {
    let kernel = match &fitted.head {
        FittedHead::Process(parameters) => parameters.kernel(&config.kernel()),
        FittedHead::Softmax { .. } => config.kernel(),
    };
    let Fitted { scale, best_epoch, history, .. } = fitted;
    NetworkHeader { feature_scale: scale.clone(), kernel, best_epoch: *best_epoch, history: history.clone() }
}

/// What one network trains on.
#[derive(Clone, Copy)]
struct Run<'a> {
    targets: Targets<'a>,
    train: &'a [usize],
    validation: &'a [usize],
}

/// Where the networks' trainers report to.
struct EventHub<'a> {
    /// Networks of all processes, and of this one.
    all: usize,
    runs: usize,
    /// Whether this process keeps where its networks stand.
    keeps: bool,
    done: AtomicUsize,
    inner: Mutex<(Checkpoint, Listener<'a>)>,
}

impl EventHub<'_> {
    fn on_event(&self, k: usize, event: &NetworkEvent<'_>) -> bool {
        let (checkpoint, listen) = &mut *self.inner.lock().expect("no listener panicked");
        match event {
            NetworkEvent::Waypoint { state } => {
                if self.keeps {
                    checkpoint.networks[k] = Some((*state).clone());
                }
                listen(Event::Checkpoint(checkpoint))
            }
            NetworkEvent::Step { done, planned, phase, loss } => {
                let done = match self.runs {
                    1 => *done,
                    _ => self.done.fetch_add(1, Ordering::Relaxed) + 1,
                };
                listen(Event::Step { done, planned: planned * self.runs, phase: *phase, loss: *loss })
            }
            NetworkEvent::Record(record) => listen(Event::Record { network: (k, self.all), record }),
            NetworkEvent::Notice(text) => listen(Event::Notice(text.clone())),
        }
    }
}
