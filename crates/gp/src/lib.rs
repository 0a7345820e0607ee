//! Closed-form mathematics of inducing Gaussian process networks (IGN).
//!
//! Features `Φ [N, D]` come from a network; inducing points `Z [M, D]` with pseudo-labels `r = Z w + b` live in
//! the same space. This crate gives the exact batch likelihood with all its gradients in one pass
//! ([`Objective`]) and the predictive mean and variance ([`Posterior`]). It knows nothing of networks, files
//! or tasks. Symbols and shapes: `GLOSSARY.md`; equations and their tests: `docs/equations.md`.
//!
//! ```
//! use gp::{InducingPoints, Kernel, Posterior};
//! // One inducing point at the origin whose pseudo-label is b = 2.
//! let inducing = InducingPoints::<f64>::new(&[0.0, 0.0], &[1.0, 1.0], &[2.0]);
//! let posterior = Posterior::new(Kernel::paper(), inducing, 1e-9, 1)?;
//! let prediction = posterior.predict(&[0.0, 0.0], 1);
//! assert!((prediction.mean[0] - 2.0).abs() < 1e-6 && prediction.var[0] < 1e-6);
//! # Ok::<(), gp::Error>(())
//! ```
#![forbid(unsafe_code)]

mod block;
mod cholesky;
mod classes;
mod error;
mod gaussian;
mod inducing;
mod inverse;
mod kernel;
mod laplace;
mod matrix;
mod normal;
mod objective;
mod panels;
mod posterior;
mod pull_back;
mod real;
mod ridge;
mod square;
mod tile;

pub use cholesky::Cholesky;
pub use classes::{Link, class_loss, class_probabilities, classes_of};
pub use error::Error;
pub use gaussian::Coupling;
pub use inducing::InducingPoints;
pub use kernel::Kernel;
pub use normal::{LogCdf, cdf, log_cdf, log_cdf_derivatives};
pub use objective::{Gradient, Likelihood, Model, Objective, Value};
pub use posterior::{Latent, Posterior};
pub use real::Real;
pub use ridge::solve_ridge;
