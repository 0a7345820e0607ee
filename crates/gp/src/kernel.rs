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
use crate::matrix::{column, column_mut, dot, middle_of_triangle, product, vectorised};
use faer::{MatMut, MatRef};
use pulp::{Simd, WithSimd};
use serde::{Deserialize, Serialize};

/// Columns of a symmetric matrix that are filled at a time: the part above their diagonal block stays untouched.
const STRIP: usize = 64;

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

    /// All pairs of columns: `k[i, j] = k(aᵢ, bⱼ)  [A, B]`, and where it is needed the slope
    /// `h[i, j] = ∂k/∂‖aᵢ−bⱼ‖²` (the rbf kernel's is `−γk`; the linear kernel has none).
    pub(crate) fn gram<T: Real>(
        &self,
        a: MatRef<'_, T>,
        b: MatRef<'_, T>,
        mut k: MatMut<'_, T>,
        mut h: Option<MatMut<'_, T>>,
        threads: usize,
    ) {
        if threads > 1 && b.ncols() >= 64 {
            let (left, right) = (threads / 2, threads - threads / 2);
            let middle = b.ncols() * left / threads;
            let ((k_left, k_right), (b_left, b_right)) = (k.split_at_col_mut(middle), b.split_at_col(middle));
            let (h_left, h_right) = h.map(|h| h.split_at_col_mut(middle)).unzip();
            rayon::join(
                || self.gram(a, b_left, k_left, h_left, left),
                || self.gram(a, b_right, k_right, h_right, right),
            );
            return;
        }
        product(k.as_mut(), a.transpose(), b, 1.0, 1);
        let (a_norms, b_norms) = (squared_norms(a), squared_norms(b));
        for (j, &b_norm) in b_norms.iter().enumerate() {
            let slope = h.as_mut().map(|h| column_mut(h.as_mut(), j));
            self.finish_column(&a_norms, b_norm, column_mut(k.as_mut(), j), slope);
        }
    }

    /// The lower triangle of `k(aᵢ, aⱼ)  [A, A]`, and once more in `copy`, made while it is in the cache; entries above the
    /// diagonal blocks are left as they are.
    pub(crate) fn gram_lower<T: Real>(
        &self,
        a: MatRef<'_, T>,
        mut k: MatMut<'_, T>,
        mut h: Option<MatMut<'_, T>>,
        mut copy: Option<MatMut<'_, T>>,
        threads: usize,
    ) {
        let n = a.ncols();
        if threads > 1 && n >= 192 {
            // The square below the upper triangle, beside both triangles.
            let (left, right) = (threads / 2, threads - threads / 2);
            let middle = middle_of_triangle(n);
            let (k_left, k_right) = k.split_at_col_mut(middle);
            let (upper, mut below) = k_left.split_at_row_mut(middle);
            let (h_left, h_right) = h.map(|h| h.split_at_col_mut(middle)).unzip();
            let (h_upper, h_below) = h_left.map(|h| h.split_at_row_mut(middle)).unzip();
            let (a_left, a_right) = a.split_at_col(middle);
            let lower = k_right.subrows_mut(middle, n - middle);
            let h_lower = h_right.map(|h| h.subrows_mut(middle, n - middle));
            let (copy_left, copy_right) = copy.map(|copy| copy.split_at_col_mut(middle)).unzip();
            let (copy_upper, copy_below) = copy_left.map(|copy| copy.split_at_row_mut(middle)).unzip();
            let copy_lower = copy_right.map(|copy| copy.subrows_mut(middle, n - middle));
            rayon::join(
                || {
                    self.gram(a_right, a_left, below.as_mut(), h_below, left);
                    if let Some(mut copy) = copy_below {
                        copy.copy_from(below.as_ref());
                    }
                },
                || {
                    self.gram_lower(a_left, upper, h_upper, copy_upper, right);
                    self.gram_lower(a_right, lower, h_lower, copy_lower, right);
                },
            );
            return;
        }
        let norms = squared_norms(a);
        for start in (0..n).step_by(STRIP) {
            let width = STRIP.min(n - start);
            let mut strip = k.as_mut().submatrix_mut(start, start, n - start, width);
            product(strip.as_mut(), a.subcols(start, n - start).transpose(), a.subcols(start, width), 1.0, 1);
            for j in 0..width {
                let slope = h.as_mut().map(|h| &mut column_mut(h.as_mut(), start + j)[start..]);
                let k = column_mut(strip.as_mut(), j);
                self.finish_column(&norms[start..], norms[start + j], k, slope);
                if let Some(copy) = &mut copy {
                    column_mut(copy.as_mut(), start + j)[start..].copy_from_slice(k);
                }
            }
        }
    }

    /// Turns a column of inner products into one of kernel values (and slopes).
    fn finish_column<T: Real>(&self, a_norms: &[T], b_norm: T, k: &mut [T], h: Option<&mut [T]>) {
        // Each loop is a function of plain values: through a closure's references it would not vectorise.
        match (*self, h) {
            (Self::Rbf { scale, gamma }, _) => {
                let (scale, gamma) = (T::of(scale), T::of(-gamma));
                pulp::Arch::new().dispatch(RbfColumn { k, a_norms, b_norm, scale, minus_gamma: gamma });
            }
            (Self::Matern32 { scale, gamma }, Some(h)) => {
                let (scale, gamma) = (T::of(scale), T::of(gamma));
                vectorised(
                    #[inline(always)]
                    move || matern32_column(k, h, a_norms, b_norm, scale, gamma),
                );
            }
            (Self::Matern52 { scale, gamma }, Some(h)) => {
                let (scale, gamma) = (T::of(scale), T::of(gamma));
                vectorised(
                    #[inline(always)]
                    move || matern52_column(k, h, a_norms, b_norm, scale, gamma),
                );
            }
            (Self::Matern32 { .. } | Self::Matern52 { .. }, None) => {
                unreachable!("a Matérn kernel is given room for its slopes")
            }
            (Self::Linear { scale, offset }, _) => {
                k.iter_mut().for_each(|k| *k = T::of(scale) * *k + T::of(offset));
            }
        }
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
    (0..x.ncols()).map(|j| dot(column(x, j), column(x, j))).collect()
}
