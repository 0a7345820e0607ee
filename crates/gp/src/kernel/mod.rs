//! Kernels: `k(a, b)` for all pairs of two sets of points. [`gradient`] has their gradients.
//!
//! Points are the columns of `[D, ·]` matrices (row-major `[N, D]` features without a copy).
//! ```text
//! rbf       s·exp(−γ‖a−b‖²)                                   the paper: s = γ = 1
//! matern32  s·(1+u)·exp(−u)          u = √3·√(2γ)·‖a−b‖       √(2γ) = 1/length-scale, as in rbf
//! matern52  s·(1+u+u²/3)·exp(−u)     u = √5·√(2γ)·‖a−b‖
//! linear    s·aᵀb + c                                          the paper's dot product
//! ```
//! A point that is not finite has kernel values that are not finite: it is never taken for a near one.

pub(crate) mod gradient;
mod linear;
mod matern;
mod rbf;

use linalg::gemm::{Packed, Part, Plus};
use linalg::threads::strips_of;
use linalg::vector::{dot, squared_norms};
use linalg::{MatMut, MatRef, Real};
use pulp::{Simd, WithSimd};
use serde::{Deserialize, Serialize};

/// A positive definite function of two feature vectors.
///
/// ```text
/// rbf       s·exp(−γ‖a−b‖²)                                   the paper: s = γ = 1
/// matern32  s·(1+u)·exp(−u)          u = √3·√(2γ)·‖a−b‖       √(2γ) = 1/length-scale, as in rbf
/// matern52  s·(1+u+u²/3)·exp(−u)     u = √5·√(2γ)·‖a−b‖
/// linear    s·aᵀb + c                                          the paper's dot product
/// ```
/// ```
/// use inducing_gp::Kernel;
/// assert_eq!(Kernel::paper().similarity(&[1.0, 2.0], &[1.0, 2.0]), 1.0);
/// assert!(Kernel::paper().similarity(&[1.0, 2.0], &[1.0, 9.0]) < 1e-20);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "family", rename_all = "snake_case", deny_unknown_fields)]
pub enum Kernel {
    /// Squared exponential.
    Rbf {
        /// s
        scale: f64,
        /// γ
        gamma: f64,
    },
    /// Matérn with ν = 3/2.
    Matern32 {
        /// s
        scale: f64,
        /// γ
        gamma: f64,
    },
    /// Matérn with ν = 5/2.
    Matern52 {
        /// s
        scale: f64,
        /// γ
        gamma: f64,
    },
    /// Dot product with an offset.
    Linear {
        /// s
        scale: f64,
        /// c
        offset: f64,
    },
}

/// Points as the left side of products.
#[derive(Debug, Clone)]
pub(crate) struct PackedPoints<T: Real> {
    rows: Packed<T>,              // [A, D]
    pub(crate) across: Packed<T>, // [D, A]
    pub(crate) norms: Vec<T>,     // [A]  ‖aᵢ‖²
}

impl<T: Real> PackedPoints<T> {
    pub(crate) fn new() -> Self {
        Self { rows: Packed::new(), across: Packed::new(), norms: Vec::new() }
    }

    /// Takes over the columns of `a [D, A]`.
    pub(crate) fn set(&mut self, a: MatRef<'_, T>) {
        self.rows.pack(a.transpose());
        self.across.pack(a);
        self.norms = squared_norms(a);
    }
}

impl Kernel {
    /// The paper's kernel: rbf with `s = γ = 1`.
    pub fn paper() -> Self {
        Self::Rbf { scale: 1.0, gamma: 1.0 }
    }

    /// `[log s, log γ]`, or `[log s, log c]` for the linear kernel: what an optimiser moves.
    pub fn log_parameters(&self) -> [f64; 2] {
        match *self {
            Self::Rbf { scale, gamma }
            | Self::Matern32 { scale, gamma }
            | Self::Matern52 { scale, gamma } => [scale.ln(), gamma.ln()],
            Self::Linear { scale, offset } => [scale.ln(), offset.ln()],
        }
    }

    /// The same family with other parameters.
    pub fn with_log_parameters(&self, [log_scale, log_shape]: [f64; 2]) -> Self {
        let (scale, shape) = (log_scale.exp(), log_shape.exp());
        match self {
            Self::Rbf { .. } => Self::Rbf { scale, gamma: shape },
            Self::Matern32 { .. } => Self::Matern32 { scale, gamma: shape },
            Self::Matern52 { .. } => Self::Matern52 { scale, gamma: shape },
            Self::Linear { .. } => Self::Linear { scale, offset: shape },
        }
    }

    /// `k(a, b) / √(k(a, a) k(b, b))`: at most 1, and 1 for equal points.
    pub fn similarity(&self, a: &[f64], b: &[f64]) -> f64 {
        let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        match *self {
            Self::Rbf { gamma, .. } => (-gamma * squares).exp(),
            Self::Matern32 { gamma, .. } => {
                let u = (6.0 * gamma * squares).sqrt();
                (1.0 + u) * (-u).exp()
            }
            Self::Matern52 { gamma, .. } => {
                let u = (10.0 * gamma * squares).sqrt();
                (1.0 + u + u * u / 3.0) * (-u).exp()
            }
            Self::Linear { scale, offset } => {
                let k = |a: &[f64], b: &[f64]| scale * dot(a, b) + offset;
                k(a, b) / (k(a, a) * k(b, b)).sqrt()
            }
        }
    }

    /// `k(x, x)` for each column of `x [D, N]`.
    pub(crate) fn diagonal<T: Real>(&self, x: MatRef<'_, T>) -> Vec<T> {
        match *self {
            Self::Rbf { scale, .. } | Self::Matern32 { scale, .. } | Self::Matern52 { scale, .. } => {
                vec![T::from_f64(scale); x.ncols()]
            }
            Self::Linear { scale, offset } => linear::diagonal(x, scale, offset),
        }
    }

    /// The most that is known of `f` at a point that is not finite: `k(x, x)`, which for the linear kernel grows with x.
    pub(crate) fn prior_variance_anywhere<T: Real>(&self) -> T {
        match *self {
            Self::Rbf { scale, .. } | Self::Matern32 { scale, .. } | Self::Matern52 { scale, .. } => {
                T::from_f64(scale)
            }
            Self::Linear { .. } => T::from_f64(f64::INFINITY),
        }
    }

    /// All pairs of points: `k[i, j] = k(aᵢ, bⱼ)  [A, B]`, and where it is needed the slope
    /// `h[i, j] = ∂k/∂‖aᵢ−bⱼ‖²` (the rbf kernel's is `−γk`; the linear kernel has none).
    pub(crate) fn gram<T: Real>(
        &self,
        a: &PackedPoints<T>,
        b: MatRef<'_, T>,
        k: MatMut<'_, T>,
        h: Option<MatMut<'_, T>>,
        threads: usize,
    ) {
        let b_norms = squared_norms(b);
        strips_of([Some(k), h], threads, &|start, [k, h]| {
            let mut k = k.expect("it is given");
            let (rows, width) = (k.nrows(), k.ncols());
            let part = Part::All;
            a.rows.times((0, 0), k.as_mut(), part, Plus::Nothing, b.subcols(start, width), T::from_f64(1.0));
            let (a_norms, b_norms) = (&a.norms[..rows], &b_norms[start..start + width]);
            pulp::Arch::new().dispatch(Finish { kernel: self, a_norms, b_norms, k, h, part });
        });
    }

    /// The upper triangle of `k(aᵢ, aⱼ)  [A, A]`; entries below the diagonal are left as they are.
    pub(crate) fn gram_upper<T: Real>(
        &self,
        left: &PackedPoints<T>,
        a: MatRef<'_, T>,
        k: MatMut<'_, T>,
        h: Option<MatMut<'_, T>>,
        threads: usize,
    ) {
        strips_of([Some(k), h], threads, &|start, [k, h]| {
            let k = k.expect("it is given");
            let (width, end) = (k.ncols(), start + k.ncols());
            let (mut k, h) = (k.subrows_mut(0, end), h.map(|h| h.subrows_mut(0, end)));
            let (part, right) = (Part::Upper { from: start }, a.subcols(start, width));
            left.rows.times((0, 0), k.as_mut(), part, Plus::Nothing, right, T::from_f64(1.0));
            let (a_norms, b_norms) = (&left.norms[..end], &left.norms[start..end]);
            pulp::Arch::new().dispatch(Finish { kernel: self, a_norms, b_norms, k, h, part });
        });
    }

    /// Whether [`gram`](Self::gram) must be given room for slopes.
    pub(crate) fn needs_slopes(&self) -> bool {
        matches!(self, Self::Matern32 { .. } | Self::Matern52 { .. })
    }
}

/// Turns inner products into kernel values (and slopes), column by column.
struct Finish<'a, T: Real> {
    kernel: &'a Kernel,
    a_norms: &'a [T],
    b_norms: &'a [T],
    k: MatMut<'a, T>,
    h: Option<MatMut<'a, T>>,
    part: Part,
}

impl<T: Real> WithSimd for Finish<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { kernel, a_norms, b_norms, mut k, mut h, part } = self;
        for (j, &b_norm) in b_norms.iter().enumerate() {
            let end = part.end(j, a_norms.len());
            let (k, a_norms) = (&mut k.as_mut().col_mut(j)[..end], &a_norms[..end]);
            let h = h.as_mut().map(|h| &mut h.as_mut().col_mut(j)[..end]);
            match (*kernel, h) {
                (Kernel::Rbf { scale, gamma }, _) => {
                    let (scale, minus_gamma) = (T::from_f64(scale), T::from_f64(-gamma));
                    rbf::Column { k, a_norms, b_norm, scale, minus_gamma }.with_simd(simd);
                }
                (Kernel::Matern32 { scale, gamma }, Some(h)) => {
                    matern::column_32(k, h, a_norms, b_norm, T::from_f64(scale), T::from_f64(gamma));
                }
                (Kernel::Matern52 { scale, gamma }, Some(h)) => {
                    matern::column_52(k, h, a_norms, b_norm, T::from_f64(scale), T::from_f64(gamma));
                }
                (Kernel::Matern32 { .. } | Kernel::Matern52 { .. }, None) => {
                    unreachable!("a Matérn kernel is given room for its slopes")
                }
                (Kernel::Linear { scale, offset }, _) => {
                    linear::column(k, T::from_f64(scale), T::from_f64(offset));
                }
            }
        }
    }
}
