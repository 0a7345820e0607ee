//! The head at the paper's sizes: a training step, and predictions. The bench of `inducing-linalg` has products and
//! factorisations beside faer's.
#![allow(missing_docs)]

use criterion::{Criterion, criterion_group, criterion_main};
use inducing_gp::{Coupling, InducingPoints, Kernel, Likelihood, Objective, Posterior, Process, Real};

const N: usize = 128;
const M: usize = 512;
const D: usize = 64;

fn wave<T: Real>(count: usize, k: f64, scale: f64) -> Vec<T> {
    (0..count).map(|i| T::from_f64(scale * (i as f64 * k).sin())).collect()
}

fn head<T: Real>(c: &mut Criterion, name: &str, jitter: f64) {
    let spread = (1.0 / D as f64).sqrt();
    let inducing =
        InducingPoints::new(&wave::<T>(M * D, 1.618_034, spread), &wave(D, 0.77, 1.0), &wave(1, 1.0, 0.1));
    let (phi, y) = (wave(N * D, 2.236_068, spread), wave(N, 0.37, 1.0));
    let kernel = Kernel::paper();
    let mut objective = Objective::new(N, &kernel, &inducing, 1);
    for (label, coupling) in [("batch", Coupling::Batch), ("rows", Coupling::Rows)] {
        let likelihood = Likelihood::Gaussian { log_sigma: &[-2.0], weights: &[] };
        let process = Process { kernel: &kernel, inducing: &inducing, likelihood, jitter, coupling };
        c.bench_function(&format!("head {name} {label}"), |b| {
            b.iter(|| objective.evaluate_batch(&process, &phi, &y).expect("well-posed"))
        });
    }
    let posterior = Posterior::new(kernel, inducing.clone(), jitter, 1).expect("well-posed");
    c.bench_function(&format!("predict {name}"), |b| b.iter(|| posterior.predict(&phi, N)));
}

fn all(c: &mut Criterion) {
    head::<f32>(c, "f32", 1e-3);
    head::<f64>(c, "f64", 1e-4);
}

criterion_group!(benches, all);
criterion_main!(benches);
