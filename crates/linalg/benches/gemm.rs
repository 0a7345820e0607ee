//! Products at the sizes of networks, and factorisation and solves at those of the head, beside faer's.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Par};
use inducing_linalg::gemm::{Plus, product};
use inducing_linalg::{Cholesky, Mat, MatMut, MatRef, Real};
use std::hint::black_box;

fn wave<T: Real>(count: usize) -> Vec<T> {
    (0..count).map(|i| T::from_f64((i as f64 * 1.618).sin())).collect()
}

/// Row-major `out [n, to] = x [n, from] · w [from, to]`, its pull-back to `x`, and to `w`.
fn layer(c: &mut Criterion, [n, from, to]: [usize; 3]) {
    let (x, w, d) = (wave::<f32>(n * from), wave::<f32>(from * to), wave::<f32>(n * to));
    let (mut out, mut d_x, mut d_w) = (vec![0.0; n * to], vec![0.0; n * from], vec![0.0; from * to]);
    let name = format!("layer f32 {n}x{from}x{to}");
    c.bench_function(&format!("{name} ours"), |b| {
        b.iter(|| {
            let (x, w) =
                (MatRef::from_row_major_slice(&x, n, from), MatRef::from_row_major_slice(&w, from, to));
            let d = MatRef::from_row_major_slice(&d, n, to);
            product(MatMut::from_row_major_slice_mut(&mut out, n, to), Plus::Nothing, x, w, 1.0);
            product(
                MatMut::from_row_major_slice_mut(&mut d_x, n, from),
                Plus::Nothing,
                d,
                w.transpose(),
                1.0,
            );
            product(MatMut::from_row_major_slice_mut(&mut d_w, from, to), Plus::Out, x.transpose(), d, 1.0);
        });
    });
    c.bench_function(&format!("{name} faer"), |b| {
        use faer::{MatMut, MatRef};
        b.iter(|| {
            let (x, w) =
                (MatRef::from_row_major_slice(&x, n, from), MatRef::from_row_major_slice(&w, from, to));
            let d = MatRef::from_row_major_slice(&d, n, to);
            let seq = Par::Seq;
            matmul(MatMut::from_row_major_slice_mut(&mut out, n, to), Accum::Replace, x, w, 1.0, seq);
            matmul(
                MatMut::from_row_major_slice_mut(&mut d_x, n, from),
                Accum::Replace,
                d,
                w.transpose(),
                1.0,
                seq,
            );
            matmul(
                MatMut::from_row_major_slice_mut(&mut d_w, from, to),
                Accum::Add,
                x.transpose(),
                d,
                1.0,
                seq,
            );
        });
    });
}

fn factor<T: Real + faer::traits::RealField>(c: &mut Criterion, name: &str, m: usize) {
    const N: usize = 128;
    let entry = |i: usize, j: usize| {
        let distance = (i as f64 - j as f64) / 5.0;
        // Heavy tails: a Gaussian's would be denormal numbers, which slow any product down and hide what is measured.
        T::from_f64(1.0 / (1.0 + distance * distance) + if i == j { 0.01 } else { 0.0 })
    };
    let right = |i: usize, j: usize| T::from_f64(((i * 31 + j * 17) % 101) as f64 * 0.01);
    {
        let (a, b) = (Mat::from_fn(m, m, entry), Mat::from_fn(m, N, right));
        let (mut chol, mut x) = (Cholesky::with_size(m), b.clone());
        c.bench_function(&format!("cholesky {name} {m} ours"), |bench| {
            bench.iter(|| chol.factor(black_box(a.as_ref()), 0.0))
        });
        c.bench_function(&format!("solve {name} {m} ours"), |bench| {
            bench.iter(|| chol.half_solve(b.as_ref(), x.as_mut(), 1));
        });
    }
    let (a, b) = (faer::Mat::from_fn(m, m, entry), faer::Mat::from_fn(m, N, right));
    let (mut l, mut x) = (a.clone(), b.clone());
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<T>(m, Par::Seq, Default::default()));
    c.bench_function(&format!("cholesky {name} {m} faer"), |bench| {
        bench.iter(|| {
            l.copy_from(&a);
            let stack = MemStack::new(&mut memory);
            cholesky_in_place(l.as_mut(), Default::default(), Par::Seq, stack, Default::default())
                .expect("positive")
        });
    });
    c.bench_function(&format!("solve {name} {m} faer"), |bench| {
        bench.iter(|| {
            x.copy_from(&b);
            solve_lower_triangular_in_place(l.as_ref(), x.as_mut(), Par::Seq);
        });
    });
}

fn all(c: &mut Criterion) {
    // Layers of the default network, thin ones, and a convolution of 3 × 3 on 16 channels.
    for size in [
        [64, 256, 128],
        [64, 128, 64],
        [128, 10, 256],
        [64, 256, 1],
        [64, 64, 3],
        [1, 256, 128],
        [784, 144, 16],
    ] {
        layer(c, size);
    }
    for m in [128, 512] {
        factor::<f32>(c, "f32", m);
        factor::<f64>(c, "f64", m);
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
