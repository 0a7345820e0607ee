//! Kernels: `k(a, b)` for all pairs of two sets of points. `pull_back.rs` has the way back.
//!
//! Points are the columns of `[D, ·]` matrices (row-major `[N, D]` features without a copy).
//! ```text
//! rbf       s·exp(−γ‖a−b‖²)                                   the paper: s = γ = 1
//! matern32  s·(1+u)·exp(−u)          u = √3·√(2γ)·‖a−b‖       √(2γ) = 1/length-scale, as in rbf
//! matern52  s·(1+u+u²/3)·exp(−u)     u = √5·√(2γ)·‖a−b‖
//! linear    s·aᵀb + c                                          the paper's dot product
//! ```

use crate::Real;
use crate::matrix::{column, column_mut, dot, dot_here, strips_of, vectorised};
use crate::panels::Panels;
use crate::tile::{Part, Plus};
use faer::{MatMut, MatRef};
use pulp::{Simd, WithSimd};
use serde::{Deserialize, Serialize};

/// A positive definite function of two feature vectors; see the module's equations.
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
pub(crate) struct Left<T: Real> {
    rows: Panels<T>,              // [A, D]
    pub(crate) across: Panels<T>, // [D, A]
    pub(crate) norms: Vec<T>,     // [A]  ‖aᵢ‖²
}

impl<T: Real> Left<T> {
    pub(crate) fn new() -> Self {
        Self { rows: Panels::new(), across: Panels::new(), norms: Vec::new() }
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
                vec![T::of(scale); x.ncols()]
            }
            Self::Linear { scale, offset } => {
                squared_norms(x).into_iter().map(|n| T::of(scale) * n + T::of(offset)).collect()
            }
        }
    }

    /// All pairs of points: `k[i, j] = k(aᵢ, bⱼ)  [A, B]`, and where it is needed the slope
    /// `h[i, j] = ∂k/∂‖aᵢ−bⱼ‖²` (the rbf kernel's is `−γk`; the linear kernel has none).
    pub(crate) fn gram<T: Real>(
        &self,
        a: &Left<T>,
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
            a.rows.times((0, 0), k.as_mut(), part, Plus::Nothing, b.subcols(start, width), T::of(1.0));
            let (a_norms, b_norms) = (&a.norms[..rows], &b_norms[start..start + width]);
            pulp::Arch::new().dispatch(Finish { kernel: self, a_norms, b_norms, k, h, part });
        });
    }

    /// The upper triangle of `k(aᵢ, aⱼ)  [A, A]`; entries below the diagonal are left as they are.
    pub(crate) fn gram_upper<T: Real>(
        &self,
        left: &Left<T>,
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
            left.rows.times((0, 0), k.as_mut(), part, Plus::Nothing, right, T::of(1.0));
            let (a_norms, b_norms) = (&left.norms[..end], &left.norms[start..end]);
            pulp::Arch::new().dispatch(Finish { kernel: self, a_norms, b_norms, k, h, part });
        });
    }

    /// Whether [`gram`](Self::gram) must be given room for slopes.
    pub(crate) fn needs_slopes(&self) -> bool {
        matches!(self, Self::Matern32 { .. } | Self::Matern52 { .. })
    }
}

/// `‖a−b‖²` from norms and inner product; never below zero.
#[inline(always)]
fn squared_distance<T: Real>(a_norm: T, b_norm: T, inner: T) -> T {
    let d = a_norm + b_norm - T::of(2.0) * inner;
    if d > T::default() { d } else { T::default() }
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
            let (k, a_norms) = (&mut column_mut(k.as_mut(), j)[..end], &a_norms[..end]);
            let h = h.as_mut().map(|h| &mut column_mut(h.as_mut(), j)[..end]);
            match (*kernel, h) {
                (Kernel::Rbf { scale, gamma }, _) => {
                    let (scale, minus_gamma) = (T::of(scale), T::of(-gamma));
                    RbfColumn { k, a_norms, b_norm, scale, minus_gamma }.with_simd(simd);
                }
                (Kernel::Matern32 { scale, gamma }, Some(h)) => {
                    matern32_column(k, h, a_norms, b_norm, T::of(scale), T::of(gamma));
                }
                (Kernel::Matern52 { scale, gamma }, Some(h)) => {
                    matern52_column(k, h, a_norms, b_norm, T::of(scale), T::of(gamma));
                }
                (Kernel::Matern32 { .. } | Kernel::Matern52 { .. }, None) => {
                    unreachable!("a Matérn kernel is given room for its slopes")
                }
                (Kernel::Linear { scale, offset }, _) => {
                    k.iter_mut().for_each(|k| *k = T::of(scale) * *k + T::of(offset));
                }
            }
        }
    }
}

struct RbfColumn<'a, T: Real> {
    k: &'a mut [T],
    a_norms: &'a [T],
    b_norm: T,
    scale: T,
    minus_gamma: T,
}

impl<T: Real> WithSimd for RbfColumn<'_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        const TOGETHER: usize = 4;
        let of = |x: T| T::splat(simd, x);
        let (zero, two, b_norm) = (of(T::default()), of(T::of(-2.0)), of(self.b_norm));
        let (scale, minus_gamma) = (of(self.scale), of(self.minus_gamma));
        let exponent = |k, a_norm| {
            let distance = T::mul_add(simd, two, k, T::plus(simd, a_norm, b_norm));
            T::times(simd, minus_gamma, T::larger(simd, distance, zero))
        };
        let (k, k_rest) = T::vectors_mut::<S>(self.k);
        let (a, a_rest) = T::vectors::<S>(self.a_norms);
        let (k_fours, k_ones) = k.as_chunks_mut::<TOGETHER>();
        let (a_fours, a_ones) = a.as_chunks::<TOGETHER>();
        for (k, a) in k_fours.iter_mut().zip(a_fours) {
            let mut x = *k;
            for i in 0..TOGETHER {
                x[i] = exponent(k[i], a[i]);
            }
            let value = T::exp_of_negatives(simd, x);
            for i in 0..TOGETHER {
                k[i] = T::times(simd, scale, value[i]);
            }
        }
        for (k, &a) in k_ones.iter_mut().zip(a_ones) {
            let [value] = T::exp_of_negatives(simd, [exponent(*k, a)]);
            *k = T::times(simd, scale, value);
        }
        if !k_rest.is_empty() {
            let x = exponent(T::load_part(simd, k_rest), T::load_part(simd, &a_rest[..k_rest.len()]));
            let [value] = T::exp_of_negatives(simd, [x]);
            T::store_part(simd, k_rest, T::times(simd, scale, value));
        }
    }
}

#[inline(always)]
fn matern32_column<T: Real>(k: &mut [T], h: &mut [T], a_norms: &[T], b_norm: T, scale: T, gamma: T) {
    for ((k, h), &a_norm) in k.iter_mut().zip(h).zip(a_norms) {
        let u = (T::of(6.0) * gamma * squared_distance(a_norm, b_norm, *k)).root();
        let e = scale * T::exp_of_negative(-u);
        *k = (T::of(1.0) + u) * e;
        *h = T::of(-3.0) * gamma * e;
    }
}

#[inline(always)]
fn matern52_column<T: Real>(k: &mut [T], h: &mut [T], a_norms: &[T], b_norm: T, scale: T, gamma: T) {
    for ((k, h), &a_norm) in k.iter_mut().zip(h).zip(a_norms) {
        let u = (T::of(10.0) * gamma * squared_distance(a_norm, b_norm, *k)).root();
        let e = scale * T::exp_of_negative(-u);
        *k = (T::of(1.0) + u + u * u * T::of(1.0 / 3.0)) * e;
        *h = T::of(-5.0 / 3.0) * gamma * (T::of(1.0) + u) * e;
    }
}

/// `‖xⱼ‖²` for each column.
fn squared_norms<T: Real>(x: MatRef<'_, T>) -> Vec<T> {
    vectorised(
        #[inline(always)]
        || (0..x.ncols()).map(|j| dot_here(column(x, j), column(x, j))).collect(),
    )
}
