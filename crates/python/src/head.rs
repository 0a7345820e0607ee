//! The Gaussian process head for networks that live elsewhere: loss and gradients of a batch of features, predictions.
//!
//! Arrays are C-contiguous, in the precision of the computation. They are copied before the interpreter is released, so that
//! other threads may write to them meanwhile. What a user may get wrong is checked in Python; here only what would panic.

use gp::{
    Coupling, InducingPoints, Kernel, Likelihood, Link, Objective, Posterior, Process, Real,
    class_probabilities, classes_of,
};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// Rows of an uncoupled batch that are evaluated at a time: the work space grows with their square.
const ROWS: usize = 2048;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<HeadObjective>()?;
    module.add_class::<HeadPosterior>()?;
    module.add_function(wrap_pyfunction!(head_probabilities, module)?)
}

/// What a latent function is compared with.
#[derive(Debug, Clone, Copy)]
enum Task {
    Regression,
    Classification(Link),
}

fn kernel_of(family: &str) -> PyResult<Kernel> {
    Ok(match family {
        "rbf" => Kernel::Rbf { scale: 1.0, gamma: 1.0 },
        "matern32" => Kernel::Matern32 { scale: 1.0, gamma: 1.0 },
        "matern52" => Kernel::Matern52 { scale: 1.0, gamma: 1.0 },
        "linear" => Kernel::Linear { scale: 1.0, offset: 1.0 },
        _ => return Err(PyValueError::new_err(format!("unknown kernel {family:?}"))),
    })
}

fn link_of(link: &str) -> PyResult<Link> {
    match link {
        "probit" => Ok(Link::Probit),
        "logit" => Ok(Link::Logit),
        _ => Err(PyValueError::new_err(format!("unknown link {link:?}"))),
    }
}

/// The library's error in the words of `GPHead`'s arguments.
fn failure(error: gp::Error) -> PyErr {
    let text = match error {
        gp::Error::NotPositiveDefinite { matrix, size, jitter } => format!(
            "{matrix} ({size}×{size}) is not positive definite even with jitter {jitter:e}\n\
             hint: raise `jitter`, lower the learning rate, or use fewer inducing points"
        ),
        gp::Error::NotFinite { what } => format!(
            "{what} holds a value that is not finite\n\
             hint: lower the learning rate, clip gradients, or look for extreme inputs"
        ),
    };
    PyRuntimeError::new_err(text)
}

fn vector<T: Element + Copy>(name: &str, array: &Bound<'_, PyAny>) -> PyResult<Vec<T>> {
    let array: PyReadonlyArray1<'_, T> = array.extract().map_err(|error| wrong(name, &error))?;
    Ok(array.as_slice()?.to_vec())
}

/// A matrix with its number of rows and columns.
fn matrix<T: Element + Copy>(name: &str, array: &Bound<'_, PyAny>) -> PyResult<(Vec<T>, [usize; 2])> {
    let array: PyReadonlyArray2<'_, T> = array.extract().map_err(|error| wrong(name, &error))?;
    let shape = [array.shape()[0], array.shape()[1]];
    Ok((array.as_slice()?.to_vec(), shape))
}

fn wrong(name: &str, error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("`{name}`: {error}"))
}

/// Z, w and b, which fit each other.
fn inducing_points<T: Real + Element>(
    z: &Bound<'_, PyAny>,
    w: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
) -> PyResult<InducingPoints<T>> {
    let ((z, [m, d]), (w, [rows, c]), b) = (matrix::<T>("z", z)?, matrix::<T>("w", w)?, vector::<T>("b", b)?);
    if [m, d, c].contains(&0) || rows != d || b.len() != c {
        let text = format!("z [{m}, {d}], w [{rows}, {c}] and b [{}] do not fit each other", b.len());
        return Err(PyValueError::new_err(text));
    }
    Ok(InducingPoints { z, w, b })
}

/// Work space for one size of batch.
struct Space<T: Real> {
    sizes: [usize; 5], // N, M, D, C, threads
    objective: Objective<T>,
}

type Slot<T> = Mutex<Option<Space<T>>>;

enum AnySpace {
    Single(Slot<f32>),
    Double(Slot<f64>),
}

/// Evaluates the loss of batches; keeps its work space between calls.
#[pyclass(frozen, module = "inducing._core")]
struct HeadObjective {
    kernel: Kernel,
    task: Task,
    coupling: Coupling,
    jitter: f64,
    space: AnySpace,
}

/// What one batch is evaluated with, owned.
struct Batch<T: Real> {
    phi: Vec<T>, // [N, D]
    y: Vec<T>,   // [N, C]
    rows: usize,
    inducing: InducingPoints<T>,
    settings: Settings,
}

/// The part of it that is the same in both precisions.
struct Settings {
    weights: Vec<f64>,   // [N] or empty
    log_sigma: Vec<f64>, // [C]
    kernel: Kernel,
    threads: usize,
    gradient: bool,
}

/// Means over rows, and the gradient if it was asked for.
struct Outcome<T: Real> {
    loss: f64,
    utilisation: f64,
    gradient: Option<gp::Gradient<T>>,
}

#[pymethods]
impl HeadObjective {
    #[new]
    #[pyo3(signature = (kernel, *, link, coupling, jitter, precision))]
    fn new(kernel: &str, link: Option<&str>, coupling: &str, jitter: f64, precision: &str) -> PyResult<Self> {
        let task = match link {
            None => Task::Regression,
            Some(link) => Task::Classification(link_of(link)?),
        };
        let coupling = match coupling {
            "rows" => Coupling::Rows,
            "batch" => Coupling::Batch,
            _ => return Err(PyValueError::new_err(format!("unknown coupling {coupling:?}"))),
        };
        let space = match precision {
            "f32" => AnySpace::Single(Mutex::new(None)),
            "f64" => AnySpace::Double(Mutex::new(None)),
            _ => return Err(PyValueError::new_err(format!("unknown precision {precision:?}"))),
        };
        Ok(Self { kernel: kernel_of(kernel)?, task, coupling, jitter, space })
    }

    /// Mean loss, utilisation, and the gradients `(phi, z, w, b, log_sigma, log_kernel)` if they are asked for.
    #[pyo3(signature = (phi, y, weights, z, w, b, log_sigma, log_kernel, *, gradient, threads))]
    #[expect(clippy::too_many_arguments, reason = "the signature is Python's")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        phi: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
        weights: Option<PyReadonlyArray1<'py, f64>>,
        z: &Bound<'py, PyAny>,
        w: &Bound<'py, PyAny>,
        b: &Bound<'py, PyAny>,
        log_sigma: Option<PyReadonlyArray1<'py, f64>>,
        log_kernel: [f64; 2],
        gradient: bool,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let vector = |array: Option<PyReadonlyArray1<'py, f64>>| match array {
            None => Ok(Vec::new()),
            Some(array) => array.as_slice().map(<[f64]>::to_vec),
        };
        let (weights, log_sigma) = (vector(weights)?, vector(log_sigma)?);
        let settings = Settings {
            weights,
            log_sigma,
            kernel: self.kernel.with_log_parameters(log_kernel),
            threads: threads.max(1),
            gradient,
        };
        match &self.space {
            AnySpace::Single(slot) => self.evaluate_in(py, slot, [phi, y, z, w, b], settings),
            AnySpace::Double(slot) => self.evaluate_in(py, slot, [phi, y, z, w, b], settings),
        }
    }
}

impl HeadObjective {
    fn evaluate_in<'py, T: Real + Element>(
        &self,
        py: Python<'py>,
        slot: &Slot<T>,
        arrays: [&Bound<'py, PyAny>; 5],
        settings: Settings,
    ) -> PyResult<Bound<'py, PyAny>> {
        let batch = Batch::<T>::new(arrays, settings)?;
        self.check(&batch)?;
        let outcome = py.detach(|| {
            // A panic in an evaluation leaves a work space that the next one fills anew.
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            self.run(&mut slot, &batch)
        });
        to_python(py, outcome.map_err(failure)?, &batch)
    }

    /// What would panic below.
    fn check<T: Real>(&self, batch: &Batch<T>) -> PyResult<()> {
        let (n, c) = (batch.rows, batch.inducing.outputs());
        let regression = matches!(self.task, Task::Regression);
        let couples = self.coupling == Coupling::Batch;
        if ![0, n].contains(&batch.settings.weights.len())
            || (regression && couples && !batch.settings.weights.is_empty())
        {
            return Err(PyValueError::new_err(format!(
                "{} weights for {n} rows",
                batch.settings.weights.len()
            )));
        }
        if regression && batch.settings.log_sigma.len() != c {
            return Err(PyValueError::new_err(format!(
                "{} log σ for {c} outputs",
                batch.settings.log_sigma.len()
            )));
        }
        Ok(())
    }

    fn run<T: Real>(&self, slot: &mut Option<Space<T>>, batch: &Batch<T>) -> Result<Outcome<T>, gp::Error> {
        let couples =
            self.coupling == Coupling::Batch && !matches!(self.task, Task::Classification(Link::Logit));
        let step = if couples { batch.rows } else { ROWS };
        let mut sum: Option<Outcome<T>> = None;
        for start in (0..batch.rows).step_by(step) {
            let part = self.run_rows(slot, batch, start..batch.rows.min(start + step))?;
            sum = Some(match sum {
                None => part,
                Some(sum) => sum.plus(part),
            });
        }
        Ok(sum.expect("a batch has rows"))
    }

    fn run_rows<T: Real>(
        &self,
        slot: &mut Option<Space<T>>,
        batch: &Batch<T>,
        rows: std::ops::Range<usize>,
    ) -> Result<Outcome<T>, gp::Error> {
        let inducing = &batch.inducing;
        let (n, d, c) = (rows.len(), inducing.dim(), inducing.outputs());
        let sizes = [n, inducing.len(), d, c, batch.settings.threads];
        let space = match slot {
            Some(space) if space.sizes == sizes => space,
            _ => slot.insert(Space {
                sizes,
                objective: Objective::new(n, &batch.settings.kernel, inducing, batch.settings.threads),
            }),
        };
        let weights = batch.settings.weights.get(rows.clone()).unwrap_or(&[]);
        let process = Process {
            kernel: &batch.settings.kernel,
            inducing,
            likelihood: match self.task {
                Task::Regression => Likelihood::Gaussian { log_sigma: &batch.settings.log_sigma, weights },
                Task::Classification(Link::Probit) => Likelihood::Probit { weights },
                Task::Classification(Link::Logit) => Likelihood::Logit { weights },
            },
            jitter: self.jitter,
            coupling: self.coupling,
        };
        let phi = &batch.phi[rows.start * d..rows.end * d];
        let y = &batch.y[rows.start * c..rows.end * c];
        let objective = &mut space.objective;
        let (value, gradient) = if batch.settings.gradient {
            let value = objective.evaluate_batch(&process, phi, y)?;
            (value, Some(objective.gradient().clone()))
        } else {
            let (points, of_rows) = objective.begin(&process);
            points.factor()?;
            of_rows.set_features(phi);
            (objective.evaluate(&process, y)?, None)
        };
        let share = n as f64 / batch.rows as f64;
        let outcome = Outcome { loss: value.loss, utilisation: value.utilisation, gradient };
        Ok(if share < 1.0 { outcome.times(share) } else { outcome })
    }
}

impl<T: Real> Batch<T> {
    /// From `[phi, y, z, w, b]`.
    fn new([phi, y, z, w, b]: [&Bound<'_, PyAny>; 5], settings: Settings) -> PyResult<Self>
    where
        T: Element,
    {
        let ((phi, [rows, width]), (y, [labelled, outputs])) =
            (matrix::<T>("phi", phi)?, matrix::<T>("y", y)?);
        let inducing = inducing_points::<T>(z, w, b)?;
        let (d, c) = (inducing.dim(), inducing.outputs());
        if rows == 0 || width != d || [labelled, outputs] != [rows, c] {
            let text = format!("phi [{rows}, {width}], y [{labelled}, {outputs}] with D = {d} and C = {c}");
            return Err(PyValueError::new_err(text));
        }
        Ok(Self { phi, y, rows, inducing, settings })
    }
}

impl<T: Real> Outcome<T> {
    /// A mean over a share of the rows as a part of the mean over all.
    fn times(mut self, share: f64) -> Self {
        self.loss *= share;
        self.utilisation *= share;
        if let Some(gradient) = &mut self.gradient {
            let gp::Gradient { phi, z, w, b, log_sigma, log_kernel } = gradient;
            for x in [phi, z, w, b].into_iter().flatten() {
                *x *= T::from_f64(share);
            }
            log_sigma.iter_mut().chain(log_kernel).for_each(|x| *x *= share);
        }
        self
    }

    /// The sum of two parts; features of the rows one after the other.
    fn plus(mut self, other: Self) -> Self {
        self.loss += other.loss;
        self.utilisation += other.utilisation;
        if let (Some(to), Some(from)) = (&mut self.gradient, other.gradient) {
            to.phi.extend(from.phi);
            for (to, from) in [(&mut to.z, from.z), (&mut to.w, from.w), (&mut to.b, from.b)] {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            }
            to.log_sigma.iter_mut().zip(from.log_sigma).for_each(|(to, from)| *to += from);
            to.log_kernel.iter_mut().zip(from.log_kernel).for_each(|(to, from)| *to += from);
        }
        self
    }
}

fn to_python<'py, T: Real + Element>(
    py: Python<'py>,
    outcome: Outcome<T>,
    batch: &Batch<T>,
) -> PyResult<Bound<'py, PyAny>> {
    let (m, d, c) = (batch.inducing.len(), batch.inducing.dim(), batch.inducing.outputs());
    let gradient = match outcome.gradient {
        None => py.None().into_bound(py),
        Some(gp::Gradient { phi, z, w, b, log_sigma, log_kernel }) => (
            PyArray1::from_vec(py, phi).reshape([batch.rows, d])?,
            PyArray1::from_vec(py, z).reshape([m, d])?,
            PyArray1::from_vec(py, w).reshape([d, c])?,
            PyArray1::from_vec(py, b),
            PyArray1::from_vec(py, log_sigma),
            PyArray1::from_vec(py, log_kernel.to_vec()),
        )
            .into_pyobject(py)?
            .into_any(),
    };
    Ok((outcome.loss, outcome.utilisation, gradient).into_pyobject(py)?.into_any())
}

enum AnyPosterior {
    Single(Posterior<f32>),
    Double(Posterior<f64>),
}

/// A conditioned process, ready to predict.
#[pyclass(frozen, module = "inducing._core")]
struct HeadPosterior {
    posterior: AnyPosterior,
}

#[pymethods]
impl HeadPosterior {
    /// Factors `K_zz`. The arrays' type decides the precision.
    #[new]
    #[pyo3(signature = (kernel, z, w, b, log_kernel, *, jitter, precision, threads))]
    #[expect(clippy::too_many_arguments, reason = "the signature is Python's")]
    fn new(
        py: Python<'_>,
        kernel: &str,
        z: &Bound<'_, PyAny>,
        w: &Bound<'_, PyAny>,
        b: &Bound<'_, PyAny>,
        log_kernel: [f64; 2],
        jitter: f64,
        precision: &str,
        threads: usize,
    ) -> PyResult<Self> {
        let kernel = kernel_of(kernel)?.with_log_parameters(log_kernel);
        let threads = threads.max(1);
        let posterior = match precision {
            "f32" => {
                let inducing = inducing_points::<f32>(z, w, b)?;
                let posterior = py.detach(|| Posterior::new(kernel, inducing, jitter, threads));
                AnyPosterior::Single(posterior.map_err(failure)?)
            }
            "f64" => {
                let inducing = inducing_points::<f64>(z, w, b)?;
                let posterior = py.detach(|| Posterior::new(kernel, inducing, jitter, threads));
                AnyPosterior::Double(posterior.map_err(failure)?)
            }
            _ => return Err(PyValueError::new_err(format!("unknown precision {precision:?}"))),
        };
        Ok(Self { posterior })
    }

    /// Latent mean `[N, C]` and variance `[N]`.
    fn predict<'py>(&self, py: Python<'py>, phi: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match &self.posterior {
            AnyPosterior::Single(posterior) => predict(py, posterior, phi),
            AnyPosterior::Double(posterior) => predict(py, posterior, phi),
        }
    }

    /// Whitened coordinates `K_*z L⁻ᵀ [N, M]`.
    fn whiten<'py>(&self, py: Python<'py>, phi: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match &self.posterior {
            AnyPosterior::Single(posterior) => whiten(py, posterior, phi),
            AnyPosterior::Double(posterior) => whiten(py, posterior, phi),
        }
    }

    /// The jitter that `K_zz` needed.
    #[getter]
    fn jitter(&self) -> f64 {
        match &self.posterior {
            AnyPosterior::Single(posterior) => posterior.jitter(),
            AnyPosterior::Double(posterior) => posterior.jitter(),
        }
    }
}

fn features_for<T: Real + Element>(
    posterior: &Posterior<T>,
    phi: &Bound<'_, PyAny>,
) -> PyResult<(Vec<T>, usize)> {
    let (phi, [rows, width]) = matrix::<T>("phi", phi)?;
    let d = posterior.inducing().dim();
    if width != d {
        return Err(PyValueError::new_err(format!("phi [{rows}, {width}] with D = {d}")));
    }
    Ok((phi, rows))
}

fn predict<'py, T: Real + Element>(
    py: Python<'py>,
    posterior: &Posterior<T>,
    phi: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (phi, rows) = features_for(posterior, phi)?;
    let latent = py.detach(|| posterior.predict(&phi, rows));
    let mean = PyArray1::from_vec(py, latent.mean).reshape([rows, posterior.inducing().outputs()])?;
    Ok((mean, PyArray1::from_vec(py, latent.var)).into_pyobject(py)?.into_any())
}

fn whiten<'py, T: Real + Element>(
    py: Python<'py>,
    posterior: &Posterior<T>,
    phi: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (phi, rows) = features_for(posterior, phi)?;
    let whitened = py.detach(|| posterior.whiten(&phi, rows));
    Ok(PyArray1::from_vec(py, whitened).reshape([rows, posterior.inducing().len()])?.into_any())
}

/// Class probabilities `[N, classes]` from latent means `[N, C]` and their common variance `[N]`.
#[pyfunction]
fn head_probabilities<'py>(
    py: Python<'py>,
    link: &str,
    mean: PyReadonlyArray2<'py, f64>,
    var: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let link = link_of(link)?;
    let (rows, outputs) = (mean.shape()[0], mean.shape()[1]);
    let (mean, var) = (mean.as_slice()?.to_vec(), var.as_slice()?.to_vec());
    if outputs == 0 || var.len() != rows {
        return Err(PyValueError::new_err(format!("mean [{rows}, {outputs}] and var [{}]", var.len())));
    }
    let p: Vec<f64> = py.detach(|| {
        let of_row = |(mean, &var): (&[f64], &f64)| class_probabilities(link, mean, var);
        mean.chunks_exact(outputs).zip(&var).flat_map(of_row).collect()
    });
    PyArray1::from_vec(py, p).reshape([rows, classes_of(outputs)])
}
