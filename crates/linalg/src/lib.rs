//! Dense kernels: matrix products, factorisation, inverse, eigenvectors, loops in whole vectors.
//!
//! A leaf crate that knows nothing of Gaussian processes or networks. Everything is for `f32` and `f64` ([`Real`]), is
//! compiled for several instruction sets and picks the best at run time, and gives the same bits on one thread and on many.
//!
//! ```
//! use inducing_linalg::gemm::{Plus, product};
//! use inducing_linalg::{Cholesky, Mat};
//! let x = Mat::from_fn(5, 2, |i, j| (i as f64 + 1.0).powi(j as i32));
//! let mut gram = Mat::zeros(2, 2);
//! product(gram.as_mut(), Plus::Nothing, x.transpose(), x.as_ref(), 1.0); // XᵀX
//! let mut chol = Cholesky::with_size(2);
//! chol.factor(gram.as_ref(), 0.0)?;
//! assert!((chol.log_determinant() - 50.0_f64.ln()).abs() < 1e-12);
//! # Ok::<(), inducing_linalg::Error>(())
//! ```
#![deny(unsafe_code)]

pub mod block_inverse;
mod buffer;
pub mod cholesky;
mod diagonal_block;
pub mod eigen;
mod error;
pub mod gemm;
#[cfg(test)]
mod oracle;
pub mod real;
mod ridge;
pub mod simd;
pub mod threads;
pub mod vector;
#[allow(unsafe_code)]
pub mod view;

pub use buffer::Buffer;
pub use cholesky::Cholesky;
pub use error::Error;
pub use real::Real;
pub use ridge::solve_ridge;
pub use view::{Mat, MatMut, MatRef};
