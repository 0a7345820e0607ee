//! Training.

use crate::dataset::PyDataset;
use crate::model::PyModel;
use crate::run::run;
use inducing::dataset::Prepared;
use inducing::train::{Event, Fit, Phase};
use inducing::{Config, Dataset, Error, Model, Settings, Trainer};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Arc, Mutex, PoisonError};

/// Where training stands.
#[derive(Debug, Clone, Default)]
struct Progress {
    done: usize,
    planned: usize,
    phase: &'static str,
    loss: f64,
    notices: Vec<String>,
    /// Of the notices, those that were handed on.
    told: usize,
}

/// A model, what it learned from, and what was said.
type Trained = (Model, Prepared, Dataset, Vec<String>);

#[pyfunction]
#[pyo3(signature = (data, targets, *, preset = None, toml = None, overrides = Vec::new(), threads = 1, on_progress = None))]
#[allow(clippy::too_many_arguments)] // Python's keywords
pub(crate) fn fit(
    py: Python<'_>,
    data: &PyDataset,
    targets: Vec<String>,
    preset: Option<String>,
    toml: Option<String>,
    overrides: Vec<String>,
    threads: usize,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<PyModel> {
    let mut settings = overrides.into_iter().fold(Settings::default(), Settings::set);
    if let Some(preset) = preset {
        settings = settings.preset(preset);
    }
    if let Some(text) = toml {
        settings = settings.toml("config", text);
    }
    let (data, progress) = (data.data.clone(), Arc::new(Mutex::new(Progress::default())));
    let heard = Arc::clone(&progress);
    let (model, prepared, data, cautions) = run(
        py,
        threads,
        move |stop| train(data, &targets, settings, threads, &heard, &|| !stop.is_asked_for()),
        |py| tell(py, &progress, on_progress.as_ref()),
    )?;
    let notices = progress.lock().unwrap_or_else(PoisonError::into_inner).notices.clone();
    Ok(PyModel::trained(model, prepared, data, [notices, cautions]))
}

fn train(
    data: Dataset,
    targets: &[String],
    settings: Settings,
    threads: usize,
    progress: &Mutex<Progress>,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Trained, Error> {
    let progress = || progress.lock().unwrap_or_else(PoisonError::into_inner);
    // The columns' types that a configuration gives count when the table is read.
    let data = data.with_config(&settings.data()?);
    let data = if targets.is_empty() { data } else { data.with_targets(targets)? };
    let (notices, (prepared, config)) = {
        let trainer = Trainer::new(&data).settings(settings);
        (trainer.notices()?, trainer.prepare()?)
    };
    let notices: Vec<_> = notices.iter().chain(&prepared.notices).collect();
    let cautions = notices.iter().filter(|notice| notice.is_caution()).map(ToString::to_string).collect();
    progress().notices.extend(notices.iter().map(ToString::to_string));
    let fitted = |prepared: &Prepared, config: &Config| {
        prepared.fit(config, crate::run::sensible(threads), None, &mut |event| {
            match event {
                Event::Step { done, planned, phase, loss } => {
                    let mut progress = progress();
                    let phase = match phase {
                        Phase::Pretraining => "pretraining",
                        Phase::Likelihood => "likelihood",
                    };
                    (progress.done, progress.planned, progress.phase, progress.loss) =
                        (done, planned, phase, loss);
                }
                Event::Notice(text) => progress().notices.push(text),
                _ => {}
            }
            go_on()
        })
    };
    let Fit::Finished(mut model) = fitted(&prepared, &config)? else { return Err(Error::Interrupted) };
    if let Some(config) = prepared.refit_config(&config) {
        let (all, config) = Trainer::new(&data).config(config).prepare()?;
        let Fit::Finished(again) = fitted(&all, &config)? else { return Err(Error::Interrupted) };
        let judged = std::mem::replace(&mut *model, *again);
        model.keep_test_scores(&judged);
    }
    Ok((*model, prepared, data, cautions))
}

/// Calls `listener`, if there is anything new.
fn tell(py: Python<'_>, progress: &Mutex<Progress>, listener: Option<&Py<PyAny>>) -> PyResult<()> {
    let Some(listener) = listener else { return Ok(()) };
    let now = {
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        let now = progress.clone();
        progress.told = progress.notices.len();
        now
    };
    if now.planned == 0 && now.told == now.notices.len() {
        return Ok(());
    }
    let event = PyDict::new(py);
    event.set_item("done", now.done)?;
    event.set_item("planned", now.planned)?;
    event.set_item("phase", now.phase)?;
    event.set_item("loss", now.loss)?;
    event.set_item("notices", &now.notices[now.told..])?;
    listener.call1(py, (event,)).map(|_| ())
}
