//! The latent function at a batch, given the inducing points (paper eqs. 2–4), forward and backward.
//!
//! ```text
//! K_zz = k(Z,Z) + εI      B = K_zz⁻¹ K_zx [M,N]      α = K_zz⁻¹ r [M,C]
//! ŷ    = K_xz α [N,C]     cov = K_xx − K_xz B [N,N]
//! ```
//! No derivative of a Cholesky factor is needed. With `m̄ = ∂ŷ` and `G = ∂cov`:
//! ```text
//! ∂K_zx = α m̄ᵀ − 2 B G      ∂K_zz = B G Bᵀ − ½(α (B m̄)ᵀ + (B m̄) αᵀ)      ∂K_xx = G      ∂r = B m̄
//! ```

use crate::kernel::PackedPoints;
use crate::kernel::gradient::{Pair, Slope, Spare, Sums, Symmetric};
use crate::likelihood::BatchLatent;
use crate::{Error, InducingPoints, Kernel, Process};
use linalg::gemm::{Packed, Part, Plus, Triangle, mirror, product, upper_product};
use linalg::threads::strips;
use linalg::vector::{scale_into, subtract_squared_norms};
use linalg::{Cholesky, Mat, MatMut, MatRef, Real};

/// A batch conditioned on the inducing points; owns the work space.
#[derive(Debug)]
pub(crate) struct Conditional<T: Real> {
    threads: usize,
    pub(crate) z: PackedPoints<T>,
    pub(crate) points: Points<T>,
    pub(crate) rows: Rows<T>,
    solved: Mat<T>,         // [M, N+2C]  B | α | B m̄
    solved_left: Packed<T>, // [M, N+2C]  B | α | B m̄
    cov: Mat<T>,            // [N, N]  K_xx − K_xz B
    y_hat: Mat<T>,          // [N, C]
}

/// What belongs to the inducing points alone: ready before a batch's features are.
#[derive(Debug)]
pub(crate) struct Points<T: Real> {
    k: Mat<T>,         // [M, M], upper; E after the backward pass
    h: Option<Mat<T>>, // [M, M], upper: ∂k/∂‖·‖² for kernels that cannot derive it from k
    chol: Cholesky<T>,
    pub(crate) jitter: Option<f64>, // that K_zz needed, once it is factored
    right: Mat<T>,                  // [M, N+2C]  A | L⁻¹r, later B G | −½ B m̄ | −½ α
    spare: Spare<T>,
    scratch: Mat<T>, // [D, M]
}

/// What belongs to the batch's features.
#[derive(Debug)]
pub(crate) struct Rows<T: Real> {
    phi: Vec<T>, // [N, D]; empty until it is set
    packed: PackedPoints<T>,
    k_zx: Mat<T>, // [M, N+C]  K_zx | r; E in place of K_zx after the backward pass
    k_xx: Mat<T>, // [N, N], upper; E after the backward pass
    h_zx: Option<Mat<T>>,
    h_xx: Option<Mat<T>>,
    sums: Option<Sums<T>>, // of E in K_zx, after the backward pass
    spare: Spare<T>,
    scratch: Mat<T>, // [D, N]
}

impl<T: Real> Conditional<T> {
    pub(crate) fn new(n: usize, kernel: &Kernel, inducing: &InducingPoints<T>, threads: usize) -> Self {
        let (m, d, c) = (inducing.len(), inducing.dim(), inducing.outputs());
        let slopes = |rows, columns| kernel.needs_slopes().then(|| Mat::zeros(rows, columns));
        Self {
            threads,
            z: PackedPoints::new(),
            points: Points {
                k: Mat::zeros(m, m),
                h: slopes(m, m),
                chol: Cholesky::with_size(m),
                jitter: None,
                right: Mat::zeros(m, n + 2 * c),
                spare: Spare::new(),
                scratch: Mat::zeros(d, m),
            },
            rows: Rows {
                phi: Vec::new(),
                packed: PackedPoints::new(),
                k_zx: Mat::zeros(m, n + c),
                k_xx: Mat::zeros(n, n),
                h_zx: slopes(m, n),
                h_xx: slopes(n, n),
                sums: None,
                spare: Spare::new(),
                scratch: Mat::zeros(d, n),
            },
            solved: Mat::zeros(m, n + 2 * c),
            solved_left: Packed::new(),
            cov: Mat::zeros(n, n),
            y_hat: Mat::zeros(n, c),
        }
    }

    /// N
    pub(crate) fn len(&self) -> usize {
        self.cov.nrows()
    }

    /// Begins with new inducing points: K_zz.
    pub(crate) fn begin(&mut self, process: &Process<'_, T>) {
        self.z.set(process.inducing.columns());
        self.points.jitter = None;
        self.rows.phi.clear();
        self.points.gram(process, &self.z, self.threads);
    }

    /// ŷ and cov.
    pub(crate) fn latent(&self) -> BatchLatent<'_, T> {
        BatchLatent { mean: self.y_hat.as_ref(), cov: self.cov.as_ref() }
    }

    /// Mean of `var f / k**`.
    pub(crate) fn unexplained(&self) -> f64 {
        let share = |i: usize| self.cov[(i, i)].to_f64() / self.rows.k_xx[(i, i)].to_f64();
        (0..self.len()).map(share).sum::<f64>() / self.len() as f64
    }

    /// Conditions the batch on the inducing points: fills `cov`, `ŷ` and `B | α`.
    pub(crate) fn condition(&mut self, process: &Process<'_, T>) {
        let (n, c, threads, one) = (self.len(), process.inducing.outputs(), self.threads, T::from_f64(1.0));
        let z = process.inducing.columns(); // [D, M]
        let mut r = self.rows.k_zx.as_mut().subcols_mut(n, c); // [M, C]
        product(r.as_mut(), Plus::Nothing, z.transpose(), process.inducing.weights(), one);
        for (r, &b) in r.col_iter_mut().zip(&process.inducing.b) {
            r.iter_mut().for_each(|r| *r += b);
        }
        let Points { chol, right: half, .. } = &mut self.points;
        let mut half = half.as_mut().subcols_mut(0, n + c);
        chol.half_solve(self.rows.k_zx.as_ref(), half.as_mut(), threads);
        let (a, half_r) = half.as_ref().split_at_col(n); // A = L⁻¹K_zx [M, N], L⁻¹r [M, C]
        if process.couples() {
            let plus = Plus::Matrix(self.rows.k_xx.as_ref());
            upper_product(self.cov.as_mut(), plus, a.transpose(), a, T::from_f64(-1.0), threads);
            mirror(self.cov.as_mut(), Triangle::Upper);
        } else {
            let mut variances: Vec<T> = (0..n).map(|i| self.rows.k_xx[(i, i)]).collect();
            subtract_squared_norms(a, &mut variances);
            (0..n).for_each(|i| self.cov[(i, i)] = variances[i]);
        }
        product(self.y_hat.as_mut(), Plus::Nothing, a.transpose(), half_r, one);
        chol.half_solve_transposed(half.as_ref(), self.solved.as_mut().subcols_mut(0, n + c), threads);
    }

    /// Backward pass from `G` (lower triangle) and `m̄` to the features: writes `d_phi` and leaves what
    /// [`pull_back_points`](Self::pull_back_points) needs. Returns the log parameters' part.
    pub(crate) fn pull_back_rows(
        &mut self,
        process: &Process<'_, T>,
        mut g: MatMut<'_, T>,
        m_bar: MatRef<'_, T>,
        d_phi: MatMut<'_, T>,
    ) -> [f64; 2] {
        let (n, c, threads, one) = (self.len(), process.inducing.outputs(), self.threads, T::from_f64(1.0));
        let (solved, d_r) = self.solved.as_mut().split_at_col_mut(n + c);
        product(d_r, Plus::Nothing, solved.as_ref().subcols(0, n), m_bar, one); // B m̄
        let solved = self.solved.as_ref();
        let (b, alpha, d_r) = (solved.subcols(0, n), solved.subcols(n, c), solved.subcols(n + c, c));
        self.solved_left.pack(solved);
        let (mut b_g, rank) = self.points.right.as_mut().split_at_col_mut(n);
        if process.couples() {
            mirror(g.as_mut(), Triangle::Lower);
            let (solved_left, g) = (&self.solved_left, g.as_ref());
            strips(b_g.as_mut(), threads, &|start, out| {
                let g = g.subcols(start, out.ncols());
                solved_left.times((0, 0), out, Part::All, Plus::Nothing, g, one);
            });
        } else {
            b_g.as_mut().col_iter_mut().enumerate().for_each(|(j, b_g)| scale_into(b_g, b.col(j), g[(j, j)]));
        }
        let halved = d_r.col_iter().chain(alpha.col_iter());
        rank.col_iter_mut().zip(halved).for_each(|(to, from)| scale_into(to, from, T::from_f64(-0.5)));
        let slope = Slope { twice: b_g.as_ref(), left: alpha, right: m_bar };
        self.rows.pull_back(process, &self.z, slope, g.as_ref(), d_phi, threads)
    }

    /// What the backward pass to the inducing points reads and writes.
    pub(crate) fn points_backward(&mut self) -> PointsPullBack<'_, T> {
        let n = self.len();
        PointsPullBack {
            threads: self.threads,
            z: &self.z,
            points: &mut self.points,
            rows: &self.rows,
            solved: self.solved.as_ref(),
            solved_left: &self.solved_left,
            n,
        }
    }
}

/// The backward pass to the inducing points, apart from that to the features.
#[derive(Debug)]
pub(crate) struct PointsPullBack<'a, T: Real> {
    threads: usize,
    z: &'a PackedPoints<T>,
    points: &'a mut Points<T>,
    rows: &'a Rows<T>,
    solved: MatRef<'a, T>,
    solved_left: &'a Packed<T>,
    n: usize,
}

impl<T: Real> PointsPullBack<'_, T> {
    /// Writes `d_z [D, M]`, row-major `d_w [D, C]` and `d_b [C]`; returns the log parameters' part.
    pub(crate) fn run(
        self,
        process: &Process<'_, T>,
        d_z: &mut [T],
        d_w: &mut [T],
        d_b: &mut [T],
    ) -> [f64; 2] {
        let Self { threads, z: z_packed, points, rows, solved, solved_left, n } = self;
        let (d, c, one) = (process.inducing.dim(), process.inducing.outputs(), T::from_f64(1.0));
        let (kernel, z) = (process.kernel, process.inducing.columns());
        let d_r = solved.subcols(n + c, c);
        let mut d_z = MatMut::from_column_major_slice_mut(d_z, d, z.ncols());
        let phi = MatRef::from_column_major_slice(&rows.phi, d, n);
        let pair = Pair { a: z, b: phi, a_left: z_packed, b_left: &rows.packed };
        let (e, sums) = (rows.k_zx.as_ref().subcols(0, n), rows.sums.as_ref());
        let sums = sums.expect("`pull_back_rows` has run");
        let of_pair = kernel.pull_back_left(pair, e, sums, d_z.as_mut(), threads);
        let of_points = points.pull_back(kernel, pair, solved_left, d_z.as_mut(), threads);
        product(d_z, Plus::Out, process.inducing.weights(), d_r.transpose(), one);
        product(MatMut::from_row_major_slice_mut(d_w, d, c), Plus::Nothing, z, d_r, one);
        for (d_b, d_r) in d_b.iter_mut().zip(d_r.col_iter()) {
            *d_b = d_r.iter().copied().sum();
        }
        [of_pair[0] + of_points[0], of_pair[1] + of_points[1]]
    }
}

impl<T: Real> Points<T> {
    fn gram(&mut self, process: &Process<'_, T>, z: &PackedPoints<T>, threads: usize) {
        let h = self.h.as_mut().map(|h| h.as_mut());
        process.kernel.gram_upper(z, process.inducing.columns(), self.k.as_mut(), h, threads);
    }

    /// Factors `K_zz`.
    pub(crate) fn factor(&mut self, process: &Process<'_, T>) -> Result<(), Error> {
        let jitter = self.chol.factor(self.k.as_ref(), process.jitter).map_err(Error::factoring("K_zz"))?;
        self.jitter = Some(jitter);
        Ok(())
    }

    /// Adds what comes through `K_zz` to `d_z`; `solved` is `B | α | B m̄`. Returns the log parameters' part.
    fn pull_back(
        &mut self,
        kernel: &Kernel,
        pair: Pair<'_, T>,
        solved: &Packed<T>,
        d_z: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        let right = self.right.as_ref();
        let fill = |start: usize, strip: MatMut<'_, T>| {
            let right = right.subrows(start, strip.ncols()).transpose();
            let part = Part::Upper { from: start };
            solved.times((0, 0), strip, part, Plus::Nothing, right, T::from_f64(1.0));
        };
        let h = self.h.as_ref().map(|h| h.as_ref());
        let points = Symmetric { a: pair.a, left: pair.a_left, k: self.k.as_mut(), h };
        kernel.pull_back_upper(points, &fill, &self.spare, d_z, self.scratch.as_mut(), threads)
    }
}

impl<T: Real> Rows<T> {
    /// Whether [`set_features`](Self::set_features) has run.
    pub(crate) fn is_set(&self) -> bool {
        !self.phi.is_empty()
    }

    /// Takes over the features, row-major `[N, D]`: K_zx and K_xx.
    pub(crate) fn set_features(
        &mut self,
        process: &Process<'_, T>,
        z: &PackedPoints<T>,
        phi: &[T],
        threads: usize,
    ) {
        let (kernel, d, n) = (process.kernel, process.inducing.dim(), self.k_xx.ncols());
        assert_eq!(phi.len(), n * d, "phi is [N, D]");
        self.phi.clear();
        self.phi.extend_from_slice(phi);
        let phi = MatRef::from_column_major_slice(&self.phi, d, n);
        self.packed.set(phi);
        let k_zx = self.k_zx.as_mut().subcols_mut(0, n);
        kernel.gram(z, phi, k_zx, self.h_zx.as_mut().map(|h| h.as_mut()), threads);
        if process.couples() {
            let h = self.h_xx.as_mut().map(|h| h.as_mut());
            kernel.gram_upper(&self.packed, phi, self.k_xx.as_mut(), h, threads);
        } else {
            for (i, k) in kernel.diagonal(phi).into_iter().enumerate() {
                self.k_xx[(i, i)] = k;
            }
        }
    }

    /// Turns `K_zx` into E and keeps its sums; writes `d_phi`. Returns the log parameters' part.
    fn pull_back(
        &mut self,
        process: &Process<'_, T>,
        z: &PackedPoints<T>,
        slope: Slope<'_, T>,
        g: MatRef<'_, T>,
        mut d_phi: MatMut<'_, T>,
        threads: usize,
    ) -> [f64; 2] {
        let (kernel, n) = (process.kernel, d_phi.ncols());
        let phi = MatRef::from_column_major_slice(&self.phi, d_phi.nrows(), n);
        let pair = Pair { a: process.inducing.columns(), b: phi, a_left: z, b_left: &self.packed };
        let h_zx = self.h_zx.as_ref().map(|h| h.as_ref());
        let mut k_zx = self.k_zx.as_mut().subcols_mut(0, n);
        let sums = self.sums.insert(kernel.weigh(slope, k_zx.as_mut(), h_zx, threads));
        let e = k_zx.as_ref();
        let of_pair = kernel.pull_back_right(pair, e, sums, d_phi.as_mut(), self.scratch.as_mut(), threads);
        let of_rows = if process.couples() {
            let h = self.h_xx.as_ref().map(|h| h.as_ref());
            let points = Symmetric { a: phi, left: pair.b_left, k: self.k_xx.as_mut(), h };
            let fill = |start: usize, mut strip: MatMut<'_, T>| {
                strip.copy_from(g.submatrix(0, start, strip.nrows(), strip.ncols()));
            };
            kernel.pull_back_upper(points, &fill, &self.spare, d_phi, self.scratch.as_mut(), threads)
        } else {
            kernel.pull_back_diagonal(phi, |i| g[(i, i)], d_phi)
        };
        [of_pair[0] + of_rows[0], of_pair[1] + of_rows[1]]
    }
}
