//! Products of thin matrices, register-blocked, on one thread.
//!
//! The matrices of a text (200 × 32) and of an embedded column (128 × 32) are small, and one factor always lies in the
//! cache, so that nothing needs to be packed: rows of the right factor are read where they are, entries of the left one are
//! broadcast. The order in which an entry is summed follows from `inner` and `columns` alone: a row of a result does not
//! depend on the rows beside it.
//!
//! ```
//! use inducing_linalg::gemm::thin::{Left, Start, View, product};
//! let (x, w, bias) = ([1.0, 2.0], [3.0, 4.0, 5.0, 6.0], [0.5, 0.25]); // [1, 2], [2, 2], [2]
//! let mut out = [0.0; 2];
//! product((&mut out, 2), [1, 2, 2], Start::Bias(&bias), Left::Plain(View::new(&x, 2)), View::new(&w, 2));
//! assert_eq!(out, [13.5, 16.25]);
//! ```

use pulp::{Simd, WithSimd};

/// A matrix inside of a slice: entry `(i, j)` at `i · stride + j`.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    data: &'a [f32],
    stride: usize,
}

impl<'a> View<'a> {
    /// Rows `stride` apart.
    pub fn new(data: &'a [f32], stride: usize) -> Self {
        Self { data, stride }
    }
}

/// The left factor.
#[derive(Debug, Clone, Copy)]
pub enum Left<'a> {
    /// A
    Plain(View<'a>),
    /// Aᵀ of the matrix given
    Transposed(View<'a>),
}

/// What the sums begin with.
#[derive(Debug, Clone, Copy)]
pub enum Start<'a> {
    /// Nothing.
    Zero,
    /// What the output holds.
    Output,
    /// The same numbers for each row.
    Bias(&'a [f32]),
}

/// `out [rows, columns] = start + left [rows, inner] · right [inner, columns]`, rows of `out` `stride` apart.
pub fn product(
    (out, stride): (&mut [f32], usize),
    [rows, inner, columns]: [usize; 3],
    start: Start<'_>,
    left: Left<'_>,
    right: View<'_>,
) {
    pulp::Arch::new().dispatch(Product { out, stride, rows, inner, columns, start, left, right });
}

struct Product<'a> {
    out: &'a mut [f32],
    stride: usize,
    rows: usize,
    inner: usize,
    columns: usize,
    start: Start<'a>,
    left: Left<'a>,
    right: View<'a>,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        let mut row = 0;
        // 8 × 2 sums and the factors fit into the 32 registers of AVX-512, 4 × 2 into the 16 of AVX2.
        if S::F32_LANES == 16 {
            while row + 8 <= self.rows {
                self.strip::<S, 8>(simd, row);
                row += 8;
            }
        }
        while row + 4 <= self.rows {
            self.strip::<S, 4>(simd, row);
            row += 4;
        }
        while row < self.rows {
            self.strip::<S, 1>(simd, row);
            row += 1;
        }
    }
}

impl Product<'_> {
    /// All columns of `R` rows.
    #[inline(always)]
    fn strip<S: Simd, const R: usize>(&mut self, simd: S, row: usize) {
        let (mut column, lanes) = (0, S::F32_LANES);
        while column + 2 * lanes <= self.columns {
            self.tile::<S, R, 2>(simd, row, column, 2 * lanes);
            column += 2 * lanes;
        }
        while column < self.columns {
            let width = lanes.min(self.columns - column);
            self.tile::<S, R, 1>(simd, row, column, width);
            column += width;
        }
    }

    /// `R` rows by `width` columns, which are `V` vectors or less than one.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const V: usize>(
        &mut self,
        simd: S,
        row: usize,
        column: usize,
        width: usize,
    ) {
        let zero = simd.splat_f32s(0.0);
        let mut sums = [[zero; V]; R];
        match self.start {
            Start::Zero => {}
            Start::Output => {
                for (r, sums) in sums.iter_mut().enumerate() {
                    *sums = load(simd, &self.out[(row + r) * self.stride + column..][..width]);
                }
            }
            Start::Bias(bias) => sums = [load(simd, &bias[column..][..width]); R],
        }
        let right = &self.right.data[column..];
        let whole = width == V * S::F32_LANES;
        match self.left {
            Left::Plain(left) => {
                let mut rows: [&[f32]; R] = [&[]; R];
                for (r, slot) in rows.iter_mut().enumerate() {
                    *slot = &left.data[(row + r) * left.stride..][..self.inner];
                }
                let mut k = 0;
                // Eight sums alone would wait for one another: a second set takes every other term.
                if V == 1 && whole {
                    let mut others = [[zero; V]; R];
                    while k + 2 <= self.inner {
                        let b: [S::f32s; V] = load(simd, &right[k * self.right.stride..][..V * S::F32_LANES]);
                        let c: [S::f32s; V] =
                            load(simd, &right[(k + 1) * self.right.stride..][..V * S::F32_LANES]);
                        for r in 0..R {
                            sums[r][0] = simd.mul_add_e_f32s(simd.splat_f32s(rows[r][k]), b[0], sums[r][0]);
                            others[r][0] =
                                simd.mul_add_e_f32s(simd.splat_f32s(rows[r][k + 1]), c[0], others[r][0]);
                        }
                        k += 2;
                    }
                    for r in 0..R {
                        sums[r][0] = simd.add_f32s(sums[r][0], others[r][0]);
                    }
                }
                while k < self.inner {
                    let right = &right[k * self.right.stride..];
                    // Of constant length in the usual case, hence plain loads.
                    let b: [S::f32s; V] = if whole {
                        load(simd, &right[..V * S::F32_LANES])
                    } else {
                        load(simd, &right[..width])
                    };
                    for r in 0..R {
                        let a = simd.splat_f32s(rows[r][k]);
                        for v in 0..V {
                            sums[r][v] = simd.mul_add_e_f32s(a, b[v], sums[r][v]);
                        }
                    }
                    k += 1;
                }
            }
            Left::Transposed(left) => {
                for k in 0..self.inner {
                    let right = &right[k * self.right.stride..];
                    let a = &left.data[k * left.stride + row..][..R];
                    let b: [S::f32s; V] = if whole {
                        load(simd, &right[..V * S::F32_LANES])
                    } else {
                        load(simd, &right[..width])
                    };
                    for r in 0..R {
                        let a = simd.splat_f32s(a[r]);
                        for v in 0..V {
                            sums[r][v] = simd.mul_add_e_f32s(a, b[v], sums[r][v]);
                        }
                    }
                }
            }
        }
        for (r, sums) in sums.into_iter().enumerate() {
            let out = &mut self.out[(row + r) * self.stride + column..][..width];
            let (vectors, rest) = S::as_mut_simd_f32s(out);
            for (v, sum) in sums.into_iter().enumerate() {
                match vectors.get_mut(v) {
                    Some(vector) => *vector = sum,
                    None => simd.partial_store_f32s(rest, sum),
                }
            }
        }
    }
}

/// `Wᵀ [out, in]`
pub fn transposed(weight: &[f32], outputs: usize) -> Vec<f32> {
    (0..outputs).flat_map(|output| weight.iter().skip(output).step_by(outputs).copied()).collect()
}

/// `V` vectors, or less than one with zeros behind.
#[inline(always)]
fn load<S: Simd, const V: usize>(simd: S, slice: &[f32]) -> [S::f32s; V] {
    let (vectors, rest) = S::as_simd_f32s(slice);
    let mut result = [simd.splat_f32s(0.0); V];
    for (v, result) in result.iter_mut().enumerate() {
        *result = match vectors.get(v) {
            Some(vector) => *vector,
            None => simd.partial_load_f32s(rest),
        };
    }
    result
}
