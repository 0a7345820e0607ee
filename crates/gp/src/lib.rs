//! Closed-form mathematics of inducing Gaussian process networks (IGN).
//!
//! Features `Φ [N, D]` come from a network; inducing points `Z [M, D]` with pseudo-labels `r = Z w + b` live in
//! the same space. This crate gives the exact batch likelihood with all its gradients in one pass
//! ([`Objective`]) and the predictive mean and variance ([`Posterior`]). It knows nothing of networks, files
//! or tasks. Symbols and shapes: `GLOSSARY.md`; equations and their tests: `docs/equations.md`.
//!
//! ```
//! use inducing_gp::{InducingPoints, Kernel, Posterior};
//! // One inducing point at the origin whose pseudo-label is b = 2.
//! let inducing = InducingPoints::<f64>::new(&[0.0, 0.0], &[1.0, 1.0], &[2.0]);
//! let posterior = Posterior::new(Kernel::paper(), inducing, 1e-9, 1)?;
//! let prediction = posterior.predict(&[0.0, 0.0], 1);
//! assert!((prediction.mean[0] - 2.0).abs() < 1e-6 && prediction.var[0] < 1e-6);
//! # Ok::<(), inducing_gp::Error>(())
//! ```
#![forbid(unsafe_code)]

mod conditional;
mod error;
mod inducing;
mod kernel;
mod likelihood;
mod link;
mod local;
mod normal_cdf;
mod objective;
mod posterior;
mod process;

pub use error::Error;
pub use inducing::InducingPoints;
pub use kernel::Kernel;
pub use likelihood::{Coupling, Likelihood};
pub use linalg::{Cholesky, Real, solve_ridge};
pub use link::{Link, class_loss, class_probabilities, classes_of};
pub use local::{LocalGradient, LocalProcess, LocalSpace, Matern};
pub use normal_cdf::{LogCdf, cdf, log_cdf, log_cdf_derivatives};
pub use objective::{Gradient, Objective, PointsBackward, PointsForward, RowsForward, Value};
pub use posterior::{Latent, Posterior};
pub use process::Process;
