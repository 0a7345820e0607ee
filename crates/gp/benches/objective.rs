//! The head at the paper's sizes, and our factorisation and solves beside faer's (the reason for having our own).
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par};
use gp::{Cholesky, Coupling, InducingPoints, Kernel, Likelihood, Model, Objective, Real};
use std::hint::black_box;

const N: usize = 128;
const M: usize = 512;
const D: usize = 64;

fn wave<T: Real>(count: usize, k: f64, scale: f64) -> Vec<T> {
    (0..count).map(|i| T::of(scale * (i as f64 * k).sin())).collect()
}

fn head<T: Real>(c: &mut Criterion, name: &str, jitter: f64) {
    let spread = (1.0 / D as f64).sqrt();
    let inducing =
        InducingPoints::new(&wave::<T>(M * D, 1.618_034, spread), &wave(D, 0.77, 1.0), &wave(1, 1.0, 0.1));
    let (phi, y) = (wave(N * D, 2.236_068, spread), wave(N, 0.37, 1.0));
    let kernel = Kernel::paper();
    let mut objective = Objective::new(N, &kernel, &inducing, 1);
    for (label, coupling) in [("batch", Coupling::Batch), ("rows", Coupling::Rows)] {
        let likelihood = Likelihood::Gaussian { log_sigma: &[-2.0] };
        let model = Model { kernel: &kernel, inducing: &inducing, likelihood, jitter, coupling };
        c.bench_function(&format!("head {name} {label}"), |b| {
            b.iter(|| objective.evaluate(model, &phi, &y).expect("well-posed"))
        });
    }
}

fn factor<T: Real>(c: &mut Criterion, name: &str, m: usize) {
    let spd = Mat::<T>::from_fn(m, m, |i, j| {
        let distance = (i as f64 - j as f64) / 5.0;
        // Heavy tails: a Gaussian's would be denormal numbers, which slow any product down and hide what is measured.
        T::of(1.0 / (1.0 + distance * distance) + if i == j { 0.01 } else { 0.0 })
    });
    let right = Mat::<T>::from_fn(m, N, |i, j| T::of(((i * 31 + j * 17) % 101) as f64 * 0.01));
    let mut ours = Cholesky::with_size(m);
    c.bench_function(&format!("cholesky {name} {m} ours"), |b| {
        b.iter(|| ours.factor(black_box(spd.as_ref()), 0.0))
    });
    let mut l = spd.clone();
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<T>(m, Par::Seq, Default::default()));
    c.bench_function(&format!("cholesky {name} {m} faer"), |b| {
        b.iter(|| {
            l.copy_from(&spd);
            let stack = MemStack::new(&mut memory);
            cholesky_in_place(l.as_mut(), Default::default(), Par::Seq, stack, Default::default())
                .expect("positive")
        });
    });
    let mut x = right.clone();
    c.bench_function(&format!("solve {name} {m} ours"), |b| {
        b.iter(|| ours.half_solve(right.as_ref(), x.as_mut(), 1));
    });
    c.bench_function(&format!("solve {name} {m} faer"), |b| {
        b.iter(|| {
            x.copy_from(&right);
            solve_lower_triangular_in_place(l.as_ref(), x.as_mut(), Par::Seq);
        });
    });
}

fn all(c: &mut Criterion) {
    head::<f32>(c, "f32", 1e-3);
    head::<f64>(c, "f64", 1e-4);
    for m in [N, M] {
        factor::<f32>(c, "f32", m);
        factor::<f64>(c, "f64", m);
    }
}

criterion_group!(benches, all);
criterion_main!(benches);
