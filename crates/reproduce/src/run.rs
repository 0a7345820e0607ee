//! One run: prepare, fit, score. An interrupted run leaves a checkpoint and resumes from it to the same figures.

use crate::Error;
use crate::datasets::{Datasets, Loaded};
use crate::experiment::Origin;
use crate::machine::{Machine, Program};
use crate::observer::Observer;
use crate::records::{Record, Records};
use crate::request::Request;
use crate::score::figures;
use crate::wave;
use data::Table;
use inducing::dataset::Prepared;
use inducing::train::{EpochRecord, Event, Fit, Phase};
use inducing::{Dataset, Model, Trainer};
use std::time::{Duration, Instant};

/// How often a run saves a checkpoint.
pub(crate) const CHECKPOINT_EVERY: Duration = Duration::from_secs(120);

/// What all runs share.
pub(crate) struct Context {
    pub(crate) datasets: Datasets,
    pub(crate) records: Records,
    pub(crate) machine: Machine,
    pub(crate) program: Program,
    /// A checkpoint is written at the first epoch after this time.
    pub(crate) checkpoint_every: Duration,
}

impl Context {
    /// Runs to the end and writes the record; `None` if the observer stopped it.
    pub(crate) fn run(
        &self,
        request: &Request,
        threads: usize,
        observer: &dyn Observer,
    ) -> Result<Option<Record>, Error> {
        let name = request.name();
        let mut config = request.config()?;
        let fingerprint = request.fingerprint(&config);
        let loaded = self.datasets.load(request)?;
        // Files are read once for all repeats; what follows is the run's own.
        let started = Instant::now();
        let (prepared, _) = Trainer::new(&loaded.train).config(config.clone()).prepare()?;
        let data = prepared.fingerprint();
        let (resume, before) = match self.records.checkpoint(request, &config, &data) {
            Ok(Some((checkpoint, seconds))) => (Some(checkpoint), seconds),
            Ok(None) => (None, 0.0),
            Err(reason) => {
                let reason = reason.lines().next().unwrap_or_default();
                observer.note(&format!("{}: starts over; {reason}", request.title()));
                (None, 0.0)
            }
        };
        let seconds = || before + started.elapsed().as_secs_f64();
        let (mut saved, mut reached) = (Instant::now(), None);
        let stop_below = request.stop_below();
        let fit = prepared.fit(&config, threads, resume, &mut |event| {
            match event {
                Event::Step { done, planned, .. } if done.is_multiple_of(64) => {
                    observer.progressed(&name, done as f64 / planned.max(1) as f64);
                }
                Event::Record { record, .. } if good_enough(record, stop_below) => {
                    reached = Some(record.epoch);
                }
                // The beginning of the next epoch: what is reached is what stands here.
                Event::Checkpoint(_) if reached.is_some() => return false,
                Event::Checkpoint(checkpoint) if saved.elapsed() >= self.checkpoint_every => {
                    saved = Instant::now();
                    // The disk may have room again at the next checkpoint, and the run itself needs none.
                    let kept = self.records.save_checkpoint(request, &config, &data, checkpoint, seconds());
                    if let Err(error) = kept {
                        let title = request.title();
                        observer.note(&format!("{title}: checkpoint not saved, the run continues: {error}"));
                    }
                }
                Event::Notice(text) => observer.note(&format!("{}: {text}", request.title())),
                _ => {}
            }
            !observer.should_stop()
        })?;
        let planned = config.train.epochs;
        let model = match (fit, reached) {
            (Fit::Finished(model), _) => model,
            (Fit::Interrupted(checkpoint), Some(epoch)) => {
                // The same run with as many epochs as it took: nothing is left to do but to make the model.
                config.train.epochs = epoch;
                match prepared.fit(&config, threads, Some(checkpoint), &mut |_| true)? {
                    Fit::Finished(model) => model,
                    Fit::Interrupted(_) => unreachable!("nobody asks it to stop"),
                }
            }
            (Fit::Interrupted(checkpoint), None) => {
                self.records.save_checkpoint(request, &config, &data, &checkpoint, seconds())?;
                return Ok(None);
            }
        };
        let mut scores = figures(&model, &prepared, &loaded)?;
        let mut curve = Vec::new();
        if request.experiment.origin == Origin::Wave {
            scores.extend(wave::figures(&model, request.seed)?.into_iter().filter(|(_, x)| x.is_finite()));
            curve = wave::curve(&model)?;
        }
        let (steps, epochs) = work(&model);
        let record = Record {
            experiment: request.experiment.name.into(),
            preset: request.preset.name().into(),
            variant: request.variant.name(),
            noise: request.noise,
            seed: request.seed,
            overrides: request.overrides.clone(),
            scores,
            rows: rows(&prepared, &loaded),
            curve,
            inputs: prepared.schema.width(),
            seconds: seconds(),
            threads,
            steps,
            epochs,
            best_epoch: model.header().best_epoch,
            stopped_of: reached.filter(|&epoch| epoch < planned).map(|_| planned),
            fingerprint,
            data,
            version: self.program.version.clone(),
            commit: self.program.commit.clone(),
            cores: self.machine.cores,
            cpu: self.machine.cpu.clone(),
            finished: crate::machine::now(),
        };
        self.records.write(request, &record)?;
        Ok(Some(record))
    }
}

/// Rows of each part. A published test part is the set's own and does not count; one that was held out before does.
fn rows(prepared: &Prepared, loaded: &Loaded) -> [usize; 3] {
    let [train, validation, test] = prepared.rows();
    let numbers = prepared.schema.classes().is_none();
    let apart = loaded.test.as_ref().filter(|_| numbers).and_then(Dataset::table);
    [train, validation, apart.map_or(test, Table::rows)]
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
        histories.map(|history| of_phase(history, Phase::Pretraining) + of_phase(history, Phase::Likelihood));
    let epochs = header.history.iter().filter(|record| record.phase == Phase::Likelihood);
    (steps.sum(), epochs.map(|record| record.epoch).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Preset};
    use crate::observer::Silent;
    use crate::variant::Variant;
    use data::Simulated;
    use std::path::Path;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Easy enough to be learned a little in a few epochs.
    static EASY: Experiment = Experiment {
        name: "easy",
        title: "Easy",
        origin: Origin::Simulated(Simulated::OtlCircuit, 400),
        size: "400 × 6",
        presets: &Preset::ALL,
        usual_presets: &Preset::ALL,
        gaps: None,
        settings: &["train.validation_share=0.2"],
        paper: None,
        others: &[],
        stop_below: Some(0.8),
        seconds: [1.0, 1.0],
        all_threads: &[],
        memory: 1,
    };
    static WITHOUT_STOP: Experiment = Experiment { stop_below: None, name: "whole", ..EASY };

    /// Checkpoints after every epoch.
    fn context(folder: &Path) -> Context {
        Context {
            datasets: Datasets::new(None),
            records: Records::new(folder),
            machine: Machine::here(),
            program: Program { version: "test".into(), commit: None },
            checkpoint_every: Duration::ZERO,
        }
    }

    fn request(experiment: &'static Experiment, epochs: usize) -> Request {
        let overrides =
            ["gp.inducing=16", "encoder.hidden=[16]", "encoder.features=8", "train.batch_size=32"];
        let mut overrides: Vec<String> = overrides.map(str::to_owned).into();
        overrides.push(format!("train.epochs={epochs}"));
        let (preset, variant) = (Preset::Paper, Variant::Plain);
        Request { experiment, preset, variant, seed: 0, noise: None, overrides }
    }

    fn run(experiment: &'static Experiment, epochs: usize) -> Record {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let request = request(experiment, epochs);
        context(folder.path()).run(&request, 1, &Silent).expect("it runs").expect("nobody interrupts")
    }

    /// Keeps the notes.
    #[derive(Default)]
    struct Listener(Mutex<Vec<String>>);

    impl Observer for Listener {
        fn note(&self, text: &str) {
            self.0.lock().expect("nobody panicked").push(text.to_owned());
        }
    }

    #[test]
    fn a_checkpoint_that_cannot_be_written_is_noted_and_the_run_continues() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (request, listener) = (request(&WITHOUT_STOP, 2), Listener::default());
        // A folder in the checkpoint's place.
        std::fs::create_dir(folder.path().join(format!("{}.checkpoint", request.name()))).expect("writable");
        let record = context(folder.path()).run(&request, 1, &listener).expect("it runs");
        assert_eq!(record.expect("nobody interrupts").scores, run(&WITHOUT_STOP, 2).scores);
        let notes = listener.0.into_inner().expect("nobody panicked");
        assert!(
            notes.iter().any(|note| note.contains("checkpoint not saved, the run continues")),
            "{notes:?}"
        );
    }

    #[test]
    fn a_run_that_stops_at_the_papers_figure_equals_a_run_of_that_many_epochs() {
        let stopped = run(&EASY, 200);
        assert_eq!(stopped.stopped_of, Some(200));
        assert!((1..200).contains(&stopped.epochs), "{} epochs", stopped.epochs);
        let whole = run(&WITHOUT_STOP, stopped.epochs);
        assert_eq!(whole.stopped_of, None);
        assert_eq!((whole.epochs, whole.steps), (stopped.epochs, stopped.steps));
        assert_eq!(whole.scores, stopped.scores);
        assert!(stopped.scores["rmse"] < 1.0);
    }
    /// Asks for a stop when it was asked so often.
    struct Impatient(AtomicUsize);

    impl Observer for Impatient {
        fn should_stop(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) > 100
        }
    }

    #[test]
    fn an_interrupted_wave_goes_on_to_the_same_figures_and_the_same_curve() {
        let wave = Experiment::from_name("wave").expect("in the catalogue");
        let (request, whole) = (request(wave, 10), run(wave, 10));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let context = context(folder.path());
        let stopped = context.run(&request, 1, &Impatient(AtomicUsize::new(0))).expect("it runs");
        assert_eq!(stopped, None, "it was to stop");
        assert!(folder.path().join(format!("{}.checkpoint", request.name())).exists());
        let resumed = context.run(&request, 1, &Silent).expect("it runs").expect("nobody interrupts");
        assert_eq!((&resumed.scores, &resumed.curve), (&whole.scores, &whole.curve));
        assert_eq!(resumed.rows[2], 1346, "rows to judge by are no training rows");
        for name in ["gap_std_ratio", "noise_std_ratio", "gap_nll", "beyond_nll", "truth_nll", "baseline_nll"]
        {
            assert!(resumed.scores.contains_key(name), "no {name}: {:?}", resumed.scores);
        }
        let (kept, faults) = context.records.all();
        assert!(faults.is_empty() && kept == [resumed], "as it was written: {faults:?}");
    }
}
