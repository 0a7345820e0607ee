//! One run: prepare, fit, score; interrupted, it leaves a checkpoint and goes on from it to the same figures.

use super::machine::Machine;
use super::records::{Record, Records};
use super::request::Request;
use super::score::figures;
use super::source::Sets;
use crate::commands::Failure;
use crate::progress::interrupted;
use ign::train::{EpochRecord, Phase};
use ign::{Fit, FitEvent, Model};
use std::time::{Duration, Instant};

/// A checkpoint is written at the first epoch after so long.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(120);

/// Where runs find what they need.
pub(crate) struct Bench {
    pub(crate) sets: Sets,
    pub(crate) records: Records,
    pub(crate) machine: Machine,
}

/// What a run says on its way.
pub(crate) enum Word {
    /// Share of its steps that are done.
    Done(f64),
    /// Something to be told.
    Note(String),
}

impl Bench {
    /// Runs to the end and writes the record; `None` after Ctrl-C.
    pub(crate) fn run(
        &self,
        request: &Request,
        threads: usize,
        say: &(dyn Fn(Word) + Sync),
    ) -> Result<Option<Record>, Failure> {
        let mut config = request.config()?;
        let fingerprint = request.fingerprint(&config);
        let loaded = self.sets.load(request)?;
        // Files are read once for all repeats; what follows is the run's own.
        let started = Instant::now();
        let prepared = loaded.known.prepare(&config)?;
        let data = prepared.fingerprint();
        let (resume, before) = match self.records.standing(request, &config, &data) {
            Ok(Some((standing, seconds))) => (Some(standing), seconds),
            Ok(None) => (None, 0.0),
            Err(reason) => {
                let reason = reason.lines().next().unwrap_or_default();
                say(Word::Note(format!("{}: begins anew; {reason}", request.title())));
                (None, 0.0)
            }
        };
        let seconds = || before + started.elapsed().as_secs_f64();
        let (mut saved, mut failed, mut reached) = (Instant::now(), None, None);
        let stop_below = request.stop_below();
        let fit = prepared.fit(&config, threads, resume, &mut |event| {
            match event {
                FitEvent::Step { done, planned, .. } => {
                    if done.is_multiple_of(64) {
                        say(Word::Done(done as f64 / planned.max(1) as f64));
                    }
                }
                FitEvent::Record { record, .. } => {
                    if good_enough(record, stop_below) {
                        reached = Some(record.epoch);
                    }
                }
                // The beginning of the next epoch: what is reached is what stands here.
                FitEvent::Standing(_) if reached.is_some() => return false,
                FitEvent::Standing(standing) if saved.elapsed() > CHECKPOINT_EVERY => {
                    saved = Instant::now();
                    if let Err(error) = self.records.keep(request, &config, &data, standing, seconds()) {
                        failed = Some(error);
                        return false;
                    }
                }
                FitEvent::Standing(_) => {}
                FitEvent::Notice(text) => say(Word::Note(format!("{}: {text}", request.title()))),
            }
            !interrupted()
        })?;
        if let Some(error) = failed {
            return Err(error);
        }
        let planned = config.train.epochs;
        let model = match (fit, reached) {
            (Fit::Finished(model), _) => model,
            (Fit::Interrupted(standing), Some(epoch)) => {
                // The same run with as many epochs as it took: nothing is left to do but to make the model.
                config.train.epochs = epoch;
                match prepared.fit(&config, threads, Some(standing), &mut |_| true)? {
                    Fit::Finished(model) => model,
                    Fit::Interrupted(_) => unreachable!("nobody asks it to stop"),
                }
            }
            (Fit::Interrupted(standing), None) => {
                self.records.keep(request, &config, &data, &standing, seconds())?;
                return Ok(None);
            }
        };
        let scores = figures(&model, &prepared, &loaded)?;
        let (steps, epochs) = work(&model);
        let record = Record {
            experiment: request.experiment.name.into(),
            preset: request.preset.name().into(),
            variant: request.variant.name(),
            noise: request.noise,
            seed: request.seed,
            overrides: request.overrides.clone(),
            scores,
            rows: prepared.rows(),
            inputs: prepared.schema.width(),
            seconds: seconds(),
            threads,
            steps,
            epochs,
            best_epoch: model.header().best_epoch,
            stopped_of: reached.filter(|&epoch| epoch < planned).map(|_| planned),
            fingerprint,
            data,
            version: env!("CARGO_PKG_VERSION").into(),
            commit: self.machine.commit.clone(),
            cores: self.machine.cores,
            cpu: self.machine.cpu.clone(),
            finished: super::machine::now(),
        };
        self.records.write(request, &record)?;
        Ok(Some(record))
    }
}

fn good_enough(record: &EpochRecord, stop_below: Option<f64>) -> bool {
    let below = record.rmse.zip(stop_below).is_some_and(|(rmse, limit)| rmse <= limit);
    below && record.phase == Phase::Likelihood && record.epoch > 0
}

/// Steps of all networks, and epochs of the first one's likelihood.
fn work(model: &Model) -> (usize, usize) {
    let header = model.header();
    let histories = std::iter::once(&header.history).chain(header.others.iter().map(|other| &other.history));
    let of_phase = |history: &[EpochRecord], phase: Phase| {
        history.iter().filter(|record| record.phase == phase).map(|record| record.steps).max().unwrap_or(0)
    };
    let steps =
        histories.map(|history| of_phase(history, Phase::WarmStart) + of_phase(history, Phase::Likelihood));
    let epochs = header.history.iter().filter(|record| record.phase == Phase::Likelihood);
    (steps.sum(), epochs.map(|record| record.epoch).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::reproduce::experiments::{Experiment, Origin, Preset};
    use crate::commands::reproduce::request::Variant;
    use data::Simulated;

    /// Easy enough to be learned a little in a few epochs.
    static EASY: Experiment = Experiment {
        name: "easy",
        title: "Easy",
        origin: Origin::Simulated(Simulated::OtlCircuit, 400),
        size: "400 × 6",
        presets: &Preset::ALL,
        settings: &["train.validation_share=0.2"],
        paper: None,
        others: &[],
        stop_below: Some(0.8),
        seconds: [1.0, 1.0],
        all_threads: &[],
        memory: 1,
    };
    static WITHOUT_STOP: Experiment = Experiment { stop_below: None, name: "whole", ..EASY };

    fn run(experiment: &'static Experiment, epochs: usize) -> Record {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sets = Sets::new(None);
        let bench = Bench { sets, records: Records::new(folder.path()), machine: Machine::here() };
        let overrides =
            ["gp.inducing=16", "encoder.hidden=[16]", "encoder.features=8", "train.batch_size=32"];
        let mut overrides: Vec<String> = overrides.map(str::to_owned).into();
        overrides.push(format!("train.epochs={epochs}"));
        let (preset, variant) = (Preset::Paper, Variant::Plain);
        let request = Request { experiment, preset, variant, seed: 0, noise: None, overrides };
        bench.run(&request, 1, &|_| ()).expect("it runs").expect("nobody interrupts")
    }

    #[test]
    fn a_run_that_stops_at_the_papers_figure_is_a_run_of_so_many_epochs() {
        let stopped = run(&EASY, 200);
        assert_eq!(stopped.stopped_of, Some(200));
        assert!((1..200).contains(&stopped.epochs), "{} epochs", stopped.epochs);
        let whole = run(&WITHOUT_STOP, stopped.epochs);
        assert_eq!(whole.stopped_of, None);
        assert_eq!((whole.epochs, whole.steps), (stopped.epochs, stopped.steps));
        assert_eq!(whole.scores, stopped.scores);
        assert!(stopped.scores["rmse"] < 1.0);
    }
}
