//! From `∂loss/∂K` to points and kernel parameters.
//!
//! With `E = d_k ∘ h` for a stationary kernel, `h = ∂k/∂‖a−b‖²` (of rbf: `−γk`):
//! ```text
//! d_a = 2(a·diag(E 1) − b Eᵀ)     d_b = 2(b·diag(Eᵀ 1) − a E)
//! ∂log s = Σ d_k∘k                ∂log γ = Σ E∘‖a−b‖²
//! ```
//! Matrices are worked on in strips of columns: one strip is a task for a thread, and the unit in which sums along
//! rows are added up, so that no result depends on the number of threads.

use crate::matrix::{add_product, column, column_mut, dot, product, strips, vectorised};
use crate::{Kernel, Real};
use faer::{MatMut, MatRef};

/// What [`Kernel::gram`] was given and gave.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a, T: Real> {
    pub(crate) a: MatRef<'a, T>,         // [D, A]
    pub(crate) b: MatRef<'a, T>,         // [D, B]
    pub(crate) k: MatRef<'a, T>,         // [A, B]
    pub(crate) h: Option<MatRef<'a, T>>, // [A, B]
}

/// Sums of `E` along rows and columns, and `Σ d_k∘k`.
pub(crate) struct Sums<T: Real> {
    rows: Vec<T>,    // [A]
    columns: Vec<T>, // [B]
    weighted: f64,
}

/// What [`Kernel::gram_lower`] was given and gave.
#[derive(Clone, Copy)]
pub(crate) struct Symmetric<'a, T: Real> {
    pub(crate) a: MatRef<'a, T>,         // [D, A]
    pub(crate) k: MatRef<'a, T>,         // [A, A], lower
    pub(crate) h: Option<MatRef<'a, T>>, // [A, A], lower
}

impl Kernel {
    /// Turns `d_k` into `E`.
    pub(crate) fn weigh<T: Real>(&self, pair: Pair<'_, T>, d_k: MatMut<'_, T>, threads: usize) -> Sums<T> {
        let Pair { a, b, k, h } = pair;
        let parts = strips(d_k, threads, &|start, mut strip| {
            let mut sums = Sums { rows: vec![T::default(); a.ncols()], columns: Vec::new(), weighted: 0.0 };
            for j in 0..strip.ncols() {
                let d = column_mut(strip.as_mut(), j);
                let (sum, weighted) =
                    self.weigh_column(d, column(k, start + j), h.map(|h| column(h, start + j)));
                sums.columns.push(sum);
                sums.weighted += weighted;
                add(&mut sums.rows, d);
            }
            sums
        });
        let mut sums = Sums {
            rows: vec![T::default(); a.ncols()],
            columns: Vec::with_capacity(b.ncols()),
            weighted: 0.0,
        };
        for part in parts {
            add(&mut sums.rows, &part.rows);
            sums.columns.extend(part.columns);
            sums.weighted += part.weighted;
        }
        sums
    }

    /// Adds to `d_b`; returns this side's part of the gradient by the log parameters. `scratch` is `[D, B]`.
    pub(crate) fn pull_back_right<T: Real>(
        &self,
        pair: Pair<'_, T>,
        e: MatRef<'_, T>,
        sums: &Sums<T>,
        d_b: MatMut<'_, T>,
        mut scratch: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        if let Self::Linear { scale, offset } = *self {
            // Here E = d_k itself: k = s aᵀb + c.
            add_product(d_b, pair.a, e, scale, threads);
            let total = offset * sums.columns.iter().map(|s| s.to_f64()).sum::<f64>();
            return [sums.weighted - total, total];
        }
        product(scratch.as_mut(), pair.a, e, 1.0, threads);
        let (norms, inner) = add_scaled_columns(d_b, pair.b, &sums.columns, Some(scratch.as_ref()), 2.0);
        [sums.weighted, norms - 2.0 * inner]
    }

    /// Adds to `d_a`; returns this side's part of the gradient by the log parameters.
    pub(crate) fn pull_back_left<T: Real>(
        &self,
        pair: Pair<'_, T>,
        e: MatRef<'_, T>,
        sums: &Sums<T>,
        mut d_a: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        if let Self::Linear { scale, .. } = *self {
            add_product(d_a, pair.b, e.transpose(), scale, threads);
            return [0.0; 2];
        }
        add_product(d_a.as_mut(), pair.b, e.transpose(), -2.0, threads);
        let (norms, _) = add_scaled_columns(d_a, pair.a, &sums.rows, None, 2.0);
        [0.0, norms]
    }

    /// Pull-back of [`gram_lower`](Self::gram_lower) for a symmetric `d_k`: both arguments move, so
    /// `d_a = 4(a·diag(E 1) − a E)`. Adds to `d_a`; returns the gradient by the log parameters.
    ///
    /// `fill(start, strip)` writes the rows from `start` on of the columns from `start` on; the strip is used while it
    /// is in the cache. `d_k` is left holding `E` below the diagonal and in the strips' diagonal blocks.
    pub(crate) fn pull_back_lower<T: Real>(
        &self,
        points: Symmetric<'_, T>,
        fill: &(impl Fn(usize, MatMut<'_, T>) + Sync),
        mut d_k: MatMut<'_, T>,
        d_a: MatMut<'_, T>,
        mut scratch: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        let Symmetric { a, k, h } = points;
        let n = a.ncols();
        let parts = strips(d_k.as_mut(), threads, &|start, strip| {
            let width = strip.ncols();
            let mut strip = strip.subrows_mut(start, n - start);
            fill(start, strip.as_mut());
            let (mut sums, mut weighted) = (vec![T::default(); n - start], 0.0);
            for j in 0..width {
                let d = &mut column_mut(strip.as_mut(), j)[j..];
                let i = start + j;
                let diagonal = d[0].to_f64() * k[(i, i)].to_f64();
                let (sum, product) = self.weigh_column(d, &column(k, i)[i..], h.map(|h| &column(h, i)[i..]));
                weighted += 2.0 * product - diagonal;
                sums[j] += sum;
                add(&mut sums[j + 1..], &d[1..]);
            }
            mirror(strip.subrows_mut(0, width));
            (start, sums, weighted)
        });
        let (mut sums, mut weighted) = (vec![T::default(); n], 0.0);
        for (start, part, product) in parts {
            add(&mut sums[start..], &part);
            weighted += product;
        }
        let e = d_k.as_ref();
        strips(scratch.as_mut(), threads, &|start, mut out| {
            let width = out.ncols();
            product(
                out.as_mut(),
                a.subcols(start, n - start),
                e.submatrix(start, start, n - start, width),
                1.0,
                1,
            );
            if start > 0 {
                add_product(
                    out,
                    a.subcols(0, start),
                    e.submatrix(start, 0, width, start).transpose(),
                    1.0,
                    1,
                );
            }
        });
        if let Self::Linear { scale, offset } = *self {
            let total = offset * sums.iter().map(|s| s.to_f64()).sum::<f64>();
            add_scaled_columns(d_a, a, &vec![T::default(); n], Some(scratch.as_ref()), -2.0 * scale);
            return [weighted - total, total];
        }
        let (norms, inner) = add_scaled_columns(d_a, a, &sums, Some(scratch.as_ref()), 4.0);
        [weighted, 2.0 * (norms - inner)]
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

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror<T: Real>(mut matrix: MatMut<'_, T>) {
    const TILE: usize = 16;
    let n = matrix.nrows();
    // A tile's columns at a time: reads across them, writes along the columns to their right.
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
