//! Kernels: `k(a, b)` for all pairs of two sets of points, and its pull-back.
//!
//! Points are the columns of `[D, ·]` matrices (row-major `[N, D]` features without a copy).
//! ```text
//! rbf       s·exp(−γ‖a−b‖²)                                   the paper: s = γ = 1
//! matern32  s·(1+u)·exp(−u)          u = √3·√(2γ)·‖a−b‖       √(2γ) = 1/length-scale, as in rbf
//! matern52  s·(1+u+u²/3)·exp(−u)     u = √5·√(2γ)·‖a−b‖
//! linear    s·aᵀb + c                                          the paper's dot product
//! ```

use crate::Real;
use crate::matrix::{add_product, column, column_mut, cut_triangle, dot, product, vectorised};
use faer::{MatMut, MatRef};
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

    /// The lower triangle of `k(aᵢ, aⱼ)  [A, A]`; entries above the diagonal blocks are left as they are.
    pub(crate) fn gram_lower<T: Real>(
        &self,
        a: MatRef<'_, T>,
        mut k: MatMut<'_, T>,
        mut h: Option<MatMut<'_, T>>,
        threads: usize,
    ) {
        let n = a.ncols();
        if threads > 1 && n >= 192 {
            // Columns to the left of the cut, with all that is below them; and the triangle that is left.
            let (left, right) = (threads / 2, threads - threads / 2);
            let middle = cut_triangle(n, left, threads);
            let (k_left, k_right) = k.split_at_col_mut(middle);
            let (triangle, below) = k_left.split_at_row_mut(middle);
            let (h_left, h_right) = h.map(|h| h.split_at_col_mut(middle)).unzip();
            let (h_triangle, h_below) = h_left.map(|h| h.split_at_row_mut(middle)).unzip();
            let (a_left, a_right) = a.split_at_col(middle);
            let k_rest = k_right.subrows_mut(middle, n - middle);
            let h_rest = h_right.map(|h| h.subrows_mut(middle, n - middle));
            rayon::join(
                || {
                    self.gram_lower(a_left, triangle, h_triangle, left);
                    self.gram(a_right, a_left, below, h_below, left);
                },
                || self.gram_lower(a_right, k_rest, h_rest, right),
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
                self.finish_column(&norms[start..], norms[start + j], column_mut(strip.as_mut(), j), slope);
            }
        }
    }

    /// Turns a column of inner products into one of kernel values (and slopes).
    fn finish_column<T: Real>(&self, a_norms: &[T], b_norm: T, k: &mut [T], h: Option<&mut [T]>) {
        // Each loop is a function of plain values: through a closure's references it would not vectorise.
        match (*self, h) {
            (Self::Rbf { scale, gamma }, _) => {
                let (scale, gamma) = (T::of(scale), T::of(-gamma));
                vectorised(
                    #[inline(always)]
                    move || rbf_column(k, a_norms, b_norm, scale, gamma),
                );
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

    /// Pull-back of [`gram`](Self::gram): from `d_k` to both sets of points and the log parameters.
    ///
    /// With `E = d_k ∘ h` (stationary): `d_a = 2(a·diag(E 1) − b Eᵀ)`, `d_b = 2(b·diag(Eᵀ 1) − a E)`,
    /// `∂log γ = Σ E∘‖a−b‖²`, `∂log s = Σ d_k∘k`. `d_k` is overwritten. Adds to `d_a`, `d_b`, `d_log`.
    pub(crate) fn pull_back<T: Real>(
        &self,
        pair: Pair<'_, T>,
        mut d_k: MatMut<'_, T>,
        out: PairGradient<'_, T>,
    ) {
        let Pair { a, b, k, h, threads } = pair;
        let PairGradient { mut d_a, mut d_b, d_log, mut scratch } = out;
        let mut b_sums = vec![T::default(); b.ncols()];
        let mut a_sums = vec![T::default(); a.ncols()];
        for (j, b_sum) in b_sums.iter_mut().enumerate() {
            let d = column_mut(d_k.as_mut(), j);
            let (sum, weighted) = self.weigh_column(d, column(k, j), h.map(|h| column(h, j)));
            *b_sum = sum;
            d_log[0] += weighted;
            add(&mut a_sums, d);
        }
        let e = d_k.as_ref();
        match *self {
            Self::Linear { scale, offset } => {
                // Here E = d_k itself: k = s aᵀb + c.
                add_product(d_a.as_mut(), b, e.transpose(), scale, threads);
                add_product(d_b.as_mut(), a, e, scale, threads);
                let total = b_sums.iter().map(|s| s.to_f64()).sum::<f64>();
                d_log[0] -= offset * total;
                d_log[1] += offset * total;
            }
            _ => {
                product(scratch.as_mut(), a, e, 1.0, threads); // [D, B]
                add_product(d_a.as_mut(), b, e.transpose(), -2.0, threads);
                let (a_norms, _) = add_scaled_columns(d_a, a, &a_sums, None, 2.0);
                let (b_norms, inner) = add_scaled_columns(d_b, b, &b_sums, Some(scratch.as_ref()), 2.0);
                d_log[1] += a_norms + b_norms - 2.0 * inner;
            }
        }
    }

    /// Pull-back of [`gram_lower`](Self::gram_lower) for a symmetric `d_k`, whose lower triangle is given.
    ///
    /// Both arguments move: `d_a = 4(a·diag(E 1) − a E)`. `d_k` is overwritten with the full symmetric `E`.
    pub(crate) fn pull_back_lower<T: Real>(
        &self,
        points: Symmetric<'_, T>,
        mut d_k: MatMut<'_, T>,
        out: SymmetricGradient<'_, T>,
    ) {
        let Symmetric { a, k, h, threads } = points;
        let SymmetricGradient { mut d_a, d_log, mut scratch } = out;
        let mut sums = vec![T::default(); a.ncols()];
        for j in 0..a.ncols() {
            let d = &mut column_mut(d_k.as_mut(), j)[j..];
            let diagonal = d[0].to_f64() * k[(j, j)].to_f64();
            let (sum, weighted) = self.weigh_column(d, &column(k, j)[j..], h.map(|h| &column(h, j)[j..]));
            d_log[0] += 2.0 * weighted - diagonal;
            sums[j] += sum;
            add(&mut sums[j + 1..], &d[1..]);
        }
        mirror(d_k.as_mut());
        if let Self::Linear { scale, offset } = *self {
            let total = sums.iter().map(|s| s.to_f64()).sum::<f64>();
            d_log[0] -= offset * total;
            d_log[1] += offset * total;
            add_product(d_a.as_mut(), a, d_k.as_ref(), 2.0 * scale, threads);
        } else {
            product(scratch.as_mut(), a, d_k.as_ref(), 1.0, threads);
            let (norms, inner) = add_scaled_columns(d_a, a, &sums, Some(scratch.as_ref()), 4.0);
            d_log[1] += 2.0 * (norms - inner);
        }
    }

    /// Turns a column of `d_k` into one of `E`; returns `Σ E` and `Σ d_k∘k`.
    fn weigh_column<T: Real>(&self, d_k: &mut [T], k: &[T], h: Option<&[T]>) -> (T, f64) {
        let weighted = dot(d_k, k);
        let sum = match *self {
            Self::Linear { .. } => d_k.iter().copied().sum(),
            Self::Rbf { gamma, .. } => {
                let slope = T::of(-gamma);
                multiply(d_k, k, slope);
                slope * weighted
            }
            _ => {
                let h = h.expect("a Matérn kernel is given its slopes");
                let sum = dot(d_k, h);
                multiply(d_k, h, T::of(1.0));
                sum
            }
        };
        (sum, weighted.to_f64())
    }
}

/// What [`Kernel::gram`] was given and gave.
pub(crate) struct Pair<'a, T: Real> {
    pub(crate) a: MatRef<'a, T>,         // [D, A]
    pub(crate) b: MatRef<'a, T>,         // [D, B]
    pub(crate) k: MatRef<'a, T>,         // [A, B]
    pub(crate) h: Option<MatRef<'a, T>>, // [A, B]
    pub(crate) threads: usize,
}

/// Where [`Kernel::pull_back`] adds to.
pub(crate) struct PairGradient<'a, T: Real> {
    pub(crate) d_a: MatMut<'a, T>, // [D, A]
    pub(crate) d_b: MatMut<'a, T>, // [D, B]
    pub(crate) d_log: &'a mut [f64; 2],
    pub(crate) scratch: MatMut<'a, T>, // [D, B]
}

/// What [`Kernel::gram_lower`] was given and gave.
pub(crate) struct Symmetric<'a, T: Real> {
    pub(crate) a: MatRef<'a, T>,         // [D, A]
    pub(crate) k: MatRef<'a, T>,         // [A, A], lower
    pub(crate) h: Option<MatRef<'a, T>>, // [A, A], lower
    pub(crate) threads: usize,
}

/// Where [`Kernel::pull_back_lower`] adds to.
pub(crate) struct SymmetricGradient<'a, T: Real> {
    pub(crate) d_a: MatMut<'a, T>, // [D, A]
    pub(crate) d_log: &'a mut [f64; 2],
    pub(crate) scratch: MatMut<'a, T>, // [D, A]
}

/// `‖a−b‖²` from norms and inner product; never below zero.
#[inline(always)]
fn squared_distance<T: Real>(a_norm: T, b_norm: T, inner: T) -> T {
    let d = a_norm + b_norm - T::of(2.0) * inner;
    if d > T::default() { d } else { T::default() }
}

#[inline(always)]
fn rbf_column<T: Real>(k: &mut [T], a_norms: &[T], b_norm: T, scale: T, minus_gamma: T) {
    for (k, &a_norm) in k.iter_mut().zip(a_norms) {
        *k = scale * T::exp_of_negative(minus_gamma * squared_distance(a_norm, b_norm, *k));
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

/// `out = out ∘ by · factor`.
fn multiply<T: Real>(out: &mut [T], by: &[T], factor: T) {
    vectorised(
        #[inline(always)]
        move || out.iter_mut().zip(by).for_each(|(o, &b)| *o = *o * b * factor),
    );
}

/// `out += x`.
fn add<T: Real>(out: &mut [T], x: &[T]) {
    vectorised(
        #[inline(always)]
        move || out.iter_mut().zip(x).for_each(|(o, &x)| *o += x),
    );
}

/// `d += factor·(x·diag(sums) − minus)`; returns `Σⱼ sumsⱼ‖xⱼ‖²` and `⟨x, minus⟩`, of which
/// `Σ E∘‖a−b‖² = Σ E∘(‖a‖² + ‖b‖² − 2aᵀb)` is made without another pass over `E`.
fn add_scaled_columns<T: Real>(
    mut d: MatMut<'_, T>,
    x: MatRef<'_, T>,
    sums: &[T],
    minus: Option<MatRef<'_, T>>,
    factor: f64,
) -> (f64, f64) {
    let factor = T::of(factor);
    let (mut norms, mut inner) = (0.0, 0.0);
    for (j, &sum) in sums.iter().enumerate() {
        let x = column(x, j);
        let d = column_mut(d.as_mut(), j);
        multiply_add(d, factor * sum, x);
        norms += sum.to_f64() * dot(x, x).to_f64();
        if let Some(minus) = minus {
            let minus = column(minus, j);
            multiply_add(d, -factor, minus);
            inner += dot(x, minus).to_f64();
        }
    }
    (norms, inner)
}

/// `out += factor · x`.
fn multiply_add<T: Real>(out: &mut [T], factor: T, x: &[T]) {
    vectorised(
        #[inline(always)]
        move || out.iter_mut().zip(x).for_each(|(o, &x)| *o += factor * x),
    );
}

/// Copies the lower triangle to the upper one, a strip of columns at a time: reads across the strip, writes
/// along the columns to its right.
pub(crate) fn mirror<T: Real>(mut matrix: MatMut<'_, T>) {
    const TILE: usize = 16;
    let n = matrix.nrows();
    for start in (0..n).step_by(TILE) {
        let width = TILE.min(n - start);
        for j in start..start + width {
            for i in j + 1..start + width {
                matrix[(j, i)] = matrix[(i, j)];
            }
        }
        let (left, mut right) = matrix.as_mut().split_at_col_mut(start + width);
        let strip: Vec<&[T]> = (start..start + width).map(|j| column(left.as_ref(), j)).collect();
        for i in start + width..n {
            let to = &mut column_mut(right.as_mut(), i - start - width)[start..start + width];
            for (to, from) in to.iter_mut().zip(&strip) {
                *to = from[i];
            }
        }
    }
}
