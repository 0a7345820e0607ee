//! From `∂loss/∂K` to points and kernel parameters.
//!
//! With `E = d_k ∘ h` for a stationary kernel, `h = ∂k/∂‖a−b‖²` (of rbf: `−γk`):
//! ```text
//! d_a = 2(a·diag(E 1) − b Eᵀ)     d_b = 2(b·diag(Eᵀ 1) − a E)
//! ∂log s = Σ d_k∘k                ∂log γ = Σ E∘‖a−b‖²
//! ```
//! Matrices are worked on in strips of columns: one strip is a task for a thread, and the unit in which sums along
//! rows are added up, so that no result depends on the number of threads.

use super::{Kernel, PackedPoints, linear};
use linalg::gemm::{Packed, Part, Plus, Triangle, mirror};
use linalg::simd::vectorised;
use linalg::threads::{STRIP, strips};
use linalg::vector::{add, dot_here};
use linalg::{Mat, MatMut, MatRef, Real};
use std::sync::Mutex;

/// What [`Kernel::gram`] was given.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a, T: Real> {
    pub(crate) a: MatRef<'a, T>, // [D, A]
    pub(crate) b: MatRef<'a, T>, // [D, B]
    pub(crate) a_left: &'a PackedPoints<T>,
    pub(crate) b_left: &'a PackedPoints<T>,
}

/// Sums of `E` along rows and columns, and `Σ d_k∘k`.
#[derive(Debug)]
pub(crate) struct Sums<T: Real> {
    rows: Vec<T>,    // [A]
    columns: Vec<T>, // [B]
    weighted: f64,
}

/// What [`Kernel::gram_upper`] was given and gave.
pub(crate) struct Symmetric<'a, T: Real> {
    pub(crate) a: MatRef<'a, T>, // [D, A]
    pub(crate) left: &'a PackedPoints<T>,
    pub(crate) k: MatMut<'a, T>,         // [A, A], upper
    pub(crate) h: Option<MatRef<'a, T>>, // [A, A], upper
}

/// `∂K = −2·twice + Σ_c left_c right_cᵀ`, of which nothing but a column is ever written out.
#[derive(Clone, Copy)]
pub(crate) struct Slope<'a, T: Real> {
    pub(crate) twice: MatRef<'a, T>, // [A, B]
    pub(crate) left: MatRef<'a, T>,  // [A, C]
    pub(crate) right: MatRef<'a, T>, // [B, C]
}

impl Kernel {
    /// Turns `k` into `E`.
    pub(crate) fn weigh<T: Real>(
        &self,
        slope: Slope<'_, T>,
        k: MatMut<'_, T>,
        h: Option<MatRef<'_, T>>,
        threads: usize,
    ) -> Sums<T> {
        let (rows, columns) = (k.nrows(), k.ncols());
        let parts = strips(k, threads, &|start, mut strip| {
            let mut sums = Sums { rows: vec![T::default(); rows], columns: Vec::new(), weighted: 0.0 };
            let mut d = vec![T::default(); rows];
            let by = By::new(self);
            vectorised(
                #[inline(always)]
                || {
                    for j in 0..strip.ncols() {
                        let at = start + j;
                        let twice = slope.twice.col(at);
                        d.iter_mut().zip(twice).for_each(|(d, &twice)| *d = T::from_f64(-2.0) * twice);
                        for c in 0..slope.left.ncols() {
                            let (factor, left) = (slope.right[(at, c)], slope.left.col(c));
                            d.iter_mut().zip(left).for_each(|(d, &left)| *d += factor * left);
                        }
                        let h = h.map(|h| h.col(at));
                        let (sum, weighted) = by.weigh(strip.as_mut().col_mut(j), &d, h, &mut sums.rows);
                        sums.columns.push(sum);
                        sums.weighted += weighted;
                    }
                },
            );
            sums
        });
        let mut sums =
            Sums { rows: vec![T::default(); rows], columns: Vec::with_capacity(columns), weighted: 0.0 };
        for part in parts {
            add(&mut sums.rows, &part.rows);
            sums.columns.extend(part.columns);
            sums.weighted += part.weighted;
        }
        sums
    }

    /// Writes `d_b`; returns this side's part of the gradient by the log parameters. `scratch` is `[D, B]`.
    pub(crate) fn pull_back_right<T: Real>(
        &self,
        pair: Pair<'_, T>,
        e: MatRef<'_, T>,
        sums: &Sums<T>,
        mut d_b: MatMut<'_, T>,
        mut scratch: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        if let Self::Linear { scale, offset } = *self {
            // Here E = d_k itself: k = s aᵀb + c.
            multiply_left(d_b, &pair.a_left.across, e, scale, threads);
            let total = offset * sums.columns.iter().map(|s| s.to_f64()).sum::<f64>();
            return [sums.weighted - total, total];
        }
        multiply_left(scratch.as_mut(), &pair.a_left.across, e, 1.0, threads);
        d_b.fill(T::default());
        let (norms, inner) =
            add_scaled_columns(d_b, pair.b, &pair.b_left.norms, &sums.columns, Some(scratch.as_ref()), 2.0);
        [sums.weighted, norms - 2.0 * inner]
    }

    /// Writes `d_a`; returns this side's part of the gradient by the log parameters.
    pub(crate) fn pull_back_left<T: Real>(
        &self,
        pair: Pair<'_, T>,
        e: MatRef<'_, T>,
        sums: &Sums<T>,
        mut d_a: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        if let Self::Linear { scale, .. } = *self {
            multiply_left(d_a, &pair.b_left.across, e.transpose(), scale, threads);
            return [0.0; 2];
        }
        multiply_left(d_a.as_mut(), &pair.b_left.across, e.transpose(), -2.0, threads);
        let (norms, _) = add_scaled_columns(d_a, pair.a, &pair.a_left.norms, &sums.rows, None, 2.0);
        [0.0, norms]
    }

    /// Pull-back of [`gram_upper`](Self::gram_upper) for a symmetric `∂K`: both arguments move, so
    /// `d_a = 4(a·diag(E 1) − a E)`. Adds to `d_a`; returns the gradient by the log parameters.
    ///
    /// `fill(start, strip)` writes ∂K's columns from `start` on down to the diagonal at least, in a strip that ends where
    /// the last of them does; it is used while it is in the cache. `k` is left holding `E` above the diagonal and in the
    /// strips' diagonal blocks.
    pub(crate) fn pull_back_upper<T: Real>(
        &self,
        points: Symmetric<'_, T>,
        fill: &(impl Fn(usize, MatMut<'_, T>) + Sync),
        spare: &Spare<T>,
        d_a: MatMut<'_, T>,
        mut scratch: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        let Symmetric { a, left, mut k, h } = points;
        let n = a.ncols();
        let parts = strips(k.as_mut(), threads, &|start, strip| {
            let (width, end) = (strip.ncols(), start + strip.ncols());
            let mut strip = strip.subrows_mut(0, end);
            let (mut sums, mut weighted) = (vec![T::default(); end], 0.0);
            spare.lend(n, |d| {
                let mut d = d.submatrix_mut(0, 0, end, width);
                fill(start, d.as_mut());
                let by = By::new(self);
                vectorised(
                    #[inline(always)]
                    || {
                        for j in 0..width {
                            let at = start + j;
                            let (k, d) = (&mut strip.as_mut().col_mut(j)[..=at], &d.as_ref().col(j)[..=at]);
                            let diagonal = d[at].to_f64() * k[at].to_f64();
                            let h = h.map(|h| &h.col(at)[..=at]);
                            let (before, (sum, product)) = (sums[at], by.weigh(k, d, h, &mut sums[..=at]));
                            weighted += 2.0 * product - diagonal;
                            sums[at] = before + sum;
                        }
                    },
                );
            });
            mirror(strip.subrows_mut(start, width), Triangle::Upper);
            (sums, weighted)
        });
        let (mut sums, mut weighted) = (vec![T::default(); n], 0.0);
        for (part, product) in parts {
            add(&mut sums[..part.len()], &part);
            weighted += product;
        }
        let e = k.as_ref();
        strips(scratch.as_mut(), threads, &|start, mut out| {
            let (width, end, one) = (out.ncols(), start + out.ncols(), T::from_f64(1.0));
            let above = e.submatrix(0, start, end, width);
            left.across.times((0, 0), out.as_mut(), Part::All, Plus::Nothing, above, one);
            let beside = e.submatrix(start, end, width, n - end).transpose();
            left.across.times((0, end), out, Part::All, Plus::Out, beside, one);
        });
        if let Self::Linear { scale, offset } = *self {
            let total = offset * sums.iter().map(|s| s.to_f64()).sum::<f64>();
            add_scaled_columns(
                d_a,
                a,
                &left.norms,
                &vec![T::default(); n],
                Some(scratch.as_ref()),
                -2.0 * scale,
            );
            return [weighted - total, total];
        }
        let (norms, inner) = add_scaled_columns(d_a, a, &left.norms, &sums, Some(scratch.as_ref()), 4.0);
        [weighted, 2.0 * (norms - inner)]
    }

    /// Pull-back of [`diagonal`](Self::diagonal) for `∂k(xᵢ, xᵢ) = d(i)`. Adds to `d_x`; returns the gradient by the log
    /// parameters.
    pub(crate) fn pull_back_diagonal<T: Real>(
        &self,
        x: MatRef<'_, T>,
        d: impl Fn(usize) -> T,
        d_x: MatMut<'_, T>,
    ) -> [f64; 2] {
        match *self {
            Self::Rbf { scale, .. } | Self::Matern32 { scale, .. } | Self::Matern52 { scale, .. } => {
                [scale * (0..x.ncols()).map(|i| d(i).to_f64()).sum::<f64>(), 0.0]
            }
            Self::Linear { scale, offset } => linear::pull_back_diagonal(x, d, d_x, scale, offset),
        }
    }
}

/// What `d_k` is multiplied by.
#[derive(Clone, Copy)]
enum By<T> {
    One,
    K(T),
    H,
}

impl<T: Real> By<T> {
    fn new(kernel: &Kernel) -> Self {
        match *kernel {
            Kernel::Linear { .. } => Self::One,
            Kernel::Rbf { gamma, .. } => Self::K(T::from_f64(-gamma)),
            Kernel::Matern32 { .. } | Kernel::Matern52 { .. } => Self::H,
        }
    }

    /// Turns a column of `k` into one of `E`, and adds it to `sums`; returns `Σ E` and `Σ d_k∘k`. Inside of [`vectorised`].
    #[inline(always)]
    fn weigh(self, k: &mut [T], d_k: &[T], h: Option<&[T]>, sums: &mut [T]) -> (T, f64) {
        let (sum, weighted) = match (self, h) {
            (Self::One, _) => weigh(
                k,
                d_k,
                d_k,
                sums,
                #[inline(always)]
                |d, _, _| d,
            ),
            (Self::K(slope), _) => weigh(
                k,
                d_k,
                d_k,
                sums,
                #[inline(always)]
                |_, _, product| slope * product,
            ),
            (Self::H, Some(h)) => weigh(
                k,
                d_k,
                h,
                sums,
                #[inline(always)]
                |d, h, _| d * h,
            ),
            (Self::H, None) => unreachable!("a Matérn kernel is given its slopes"),
        };
        (sum, weighted.to_f64())
    }
}

/// `k ← e(d_k, h, d_k∘k)`, added to `sums`; returns `Σ e` and `Σ d_k∘k`.
#[inline(always)]
fn weigh<T: Real>(k: &mut [T], d_k: &[T], h: &[T], sums: &mut [T], e: impl Fn(T, T, T) -> T) -> (T, T) {
    const LANES: usize = 16;
    let n = k.len();
    let (d_k, h, sums) = (&d_k[..n], &h[..n], &mut sums[..n]);
    let (mut totals, mut products) = ([T::default(); LANES], [T::default(); LANES]);
    let (k_blocks, k_rest) = k.as_chunks_mut::<LANES>();
    let (d_blocks, d_rest) = d_k.as_chunks::<LANES>();
    let (h_blocks, h_rest) = h.as_chunks::<LANES>();
    let (sum_blocks, sum_rest) = sums.as_chunks_mut::<LANES>();
    for (((k, d), h), sum) in k_blocks.iter_mut().zip(d_blocks).zip(h_blocks).zip(sum_blocks) {
        for i in 0..LANES {
            let product = d[i] * k[i];
            let e = e(d[i], h[i], product);
            k[i] = e;
            sum[i] += e;
            totals[i] += e;
            products[i] += product;
        }
    }
    let (mut total, mut weighted) = (T::default(), T::default());
    for (((k, &d), &h), sum) in k_rest.iter_mut().zip(d_rest).zip(h_rest).zip(sum_rest) {
        let product = d * *k;
        let e = e(d, h, product);
        *k = e;
        *sum += e;
        total += e;
        weighted += product;
    }
    for i in 0..LANES {
        total += totals[i];
        weighted += products[i];
    }
    (total, weighted)
}

/// Work space for strips, one for each that is under way; kept from step to step.
#[derive(Debug)]
pub(crate) struct Spare<T: Real>(Mutex<Vec<Mat<T>>>);

impl<T: Real> Spare<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Calls `work` with a strip of `rows`, holding anything.
    fn lend(&self, rows: usize, work: impl FnOnce(MatMut<'_, T>)) {
        let kept = self.0.lock().expect("no panic in between").pop();
        let mut strip = kept.unwrap_or_else(|| Mat::zeros(rows, STRIP));
        work(strip.as_mut());
        self.0.lock().expect("no panic in between").push(strip);
    }
}

/// `d += factor·(x·diag(sums) − minus)`; returns `Σⱼ sumsⱼ‖xⱼ‖²` and `⟨x, minus⟩`, of which
/// `Σ E∘‖a−b‖² = Σ E∘(‖a‖² + ‖b‖² − 2aᵀb)` is made without another pass over `E`.
fn add_scaled_columns<T: Real>(
    mut d: MatMut<'_, T>,
    x: MatRef<'_, T>,
    x_norms: &[T],
    sums: &[T],
    minus: Option<MatRef<'_, T>>,
    factor: f64,
) -> (f64, f64) {
    let factor = T::from_f64(factor);
    let norms = sums.iter().zip(x_norms).map(|(sum, norm)| sum.to_f64() * norm.to_f64()).sum();
    let mut inner = 0.0;
    vectorised(
        #[inline(always)]
        || {
            for (j, &sum) in sums.iter().enumerate() {
                let (x, d) = (x.col(j), d.as_mut().col_mut(j));
                let by = factor * sum;
                if let Some(minus) = minus {
                    let minus = minus.col(j);
                    inner += dot_here(x, minus).to_f64();
                    d.iter_mut()
                        .zip(x)
                        .zip(minus)
                        .for_each(|((d, &x), &minus)| *d += by * x - factor * minus);
                } else {
                    d.iter_mut().zip(x).for_each(|(d, &x)| *d += by * x);
                }
            }
        },
    );
    (norms, inner)
}

/// `out = factor · a b`.
fn multiply_left<T: Real>(out: MatMut<'_, T>, a: &Packed<T>, b: MatRef<'_, T>, factor: f64, threads: usize) {
    strips(out, threads, &|start, out| {
        let b = b.subcols(start, out.ncols());
        a.times((0, 0), out, Part::All, Plus::Nothing, b, T::from_f64(factor));
    });
}
