//! Our side of `bench/peers`: one JSON request a line, one JSON answer a line (the protocol is in
//! `bench/peers/README.md`). A child process, so that the peers' runtime and ours alternate in one run.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use data::{ImageSet, Simulated, Texts};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use gp::{Coupling, InducingPoints, Kernel, Likelihood, Model, Objective, Real};
use ign::encoder::transformer::{Pooling, TextShape, TowerShape, Transformer};
use ign::train::{Event, ReadoutStart, Targets, Trainer, TrainingData};
use ign::{Config, Fit, FitEvent, Inputs, Kind, Matrix, Prepared};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::BufRead;
use std::time::Instant;

/// One line of standard input.
#[derive(Deserialize)]
struct Request {
    job: String,
    precision: String,
    threads: usize,
    batch: usize,
    inducing: usize,
    features: usize,
    inputs: usize,
    steps: usize,
    #[serde(default)]
    rows: usize,
    #[serde(default)]
    classes: usize,
    #[serde(default)]
    lengths: String,
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        let request: Request =
            serde_json::from_str(&line.expect("standard input is text")).expect("a request");
        let single = request.precision == "f32";
        let answer = match request.job.as_str() {
            "step" => step(&request),
            "class-step" => class_step(&request),
            "text-step" => text_step(&request),
            "predict" => predict(&request),
            "head" if single => head::<f32>(&request, 1e-3),
            "head" => head::<f64>(&request, 1e-4),
            "gemm" if single => gemm::<f32>(&request),
            "gemm" => gemm::<f64>(&request),
            other => json!({ "error": format!("there is no job {other}") }),
        };
        println!("{answer}");
    }
}

fn best_of<R>(times: usize, mut work: impl FnMut() -> R) -> Vec<f64> {
    (0..times)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect()
}

/// The paper's preset with the requested sizes, on Borehole (8 inputs).
fn prepared(request: &Request, rows: usize) -> (Config, Prepared) {
    assert_eq!(request.inputs, 8, "Borehole has 8 inputs");
    let jitter = if request.precision == "f32" { "1e-3" } else { "1e-4" };
    let overrides = [
        format!("gp.precision={}", request.precision),
        format!("gp.jitter={jitter}"),
        format!("gp.inducing={}", request.inducing),
        format!("encoder.features={}", request.features),
        format!("train.batch_size={}", request.batch),
        "train.epochs=1".into(),
        "data.target=[\"y\"]".into(),
    ];
    let config =
        Config::resolve(Kind::Numbers, Some("paper"), None, &overrides).expect("a valid configuration");
    let table = Simulated::Borehole.sample(rows, 0, 0.0);
    let prepared = Prepared::new(&table, &config).expect("a valid table");
    (config, prepared)
}

/// Whole training steps as `ign train` takes them: batch, encoder, head, backward pass, Adam.
fn step(request: &Request) -> Value {
    let (config, prepared) = prepared(request, request.batch * (request.steps + 4));
    steps(request, &config, &prepared)
}

/// The same for classes of pictures, one against all by Laplace's approximation.
fn class_step(request: &Request) -> Value {
    let jitter = if request.precision == "f32" { "1e-3" } else { "1e-4" };
    let overrides = [
        "encoder.hidden=[256, 128]".into(),
        "train.scale_features=true".into(),
        "train.epochs=1".into(),
        format!("gp.precision={}", request.precision),
        format!("gp.jitter={jitter}"),
        format!("gp.inducing={}", request.inducing),
        format!("encoder.features={}", request.features),
        format!("train.batch_size={}", request.batch),
    ];
    let config =
        Config::resolve(Kind::Images, Some("paper"), None, &overrides).expect("a valid configuration");
    let (rows, width) = (request.batch * (request.steps + 4), request.inputs);
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let mut uniform = |count: usize| -> Vec<f32> { (0..count).map(|_| random.random()).collect() };
    let prototypes = uniform(request.classes * width);
    let labels: Vec<u32> = uniform(rows).iter().map(|u| (u * request.classes as f32) as u32).collect();
    let pixel = |(i, noise): (usize, &f32)| {
        let prototype = prototypes[labels[i / width] as usize * width + i % width];
        (255.0 * (0.1 * prototype + 0.9 * noise)) as u8
    };
    let set = ImageSet {
        pixels: uniform(rows * width).iter().enumerate().map(pixel).collect(),
        height: width,
        width: 1,
        channels: 1,
        labels: Some(labels.clone()),
        classes: (0..request.classes).map(|class| class.to_string()).collect(),
        names: Vec::new(),
        origin: "made up".into(),
    };
    let prepared = Prepared::images(set, &config).expect("valid pictures");
    steps(request, &config, &prepared)
}

/// A text encoder (one block, width 32, 200 tokens) with a logistic readout, as a plain network is trained.
fn text_step(request: &Request) -> Value {
    let overrides = [
        "head=softmax".into(),
        "train.warm_steps=0".into(),
        "train.warm_epochs=1".into(),
        "train.weight_decay=0.0".into(),
        format!("train.warm_batch_size={}", request.batch),
    ];
    let config =
        Config::resolve(Kind::Classes, Some("default"), None, &overrides).expect("a valid configuration");
    let (vocabulary, length) = (20_000, 200);
    let tower = TowerShape {
        vocabulary,
        length,
        width: 32,
        heads: 2,
        feed_forward: 32,
        blocks: 1,
        pooling: Pooling::Mean,
    };
    let shape = TextShape {
        towers: vec![tower],
        beside: None,
        features: request.features,
        members: 1,
        dropout: 0.0,
        word_dropout: 0.0,
    };
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let (mut tokens, mut offsets, mut labels) = (Vec::new(), vec![0], Vec::new());
    for _ in 0..request.batch * (request.steps + 4) {
        // As in text_problem.py.
        let short = request.lengths == "mixed" && random.random::<f64>() < 0.4;
        let count = if short { random.random_range(40..length) } else { length };
        tokens.extend((0..count).map(|_| {
            let place = random.random::<f64>().powi(4);
            2 + ((vocabulary - 2) as f64 * place) as u32
        }));
        offsets.push(tokens.len());
        labels.push(random.random_range(0..2));
    }
    let rows: Vec<usize> = (0..labels.len()).collect();
    let inputs = Inputs::Table(Matrix { texts: vec![Texts { tokens, offsets }], ..Default::default() });
    let data = TrainingData {
        inputs: &inputs,
        targets: Targets::Classes { labels: &labels, classes: 2, weights: &[] },
        train: &rows,
        validation: &[],
    };
    let encoder = Transformer::new(shape, 0, &Default::default());
    let trainer = Trainer::new(&config, encoder, ReadoutStart::Random, data, request.threads);
    let mut marks = Vec::new();
    trainer
        .run(None, &mut |event| {
            if let Event::Step { .. } = event {
                marks.push(Instant::now());
            }
            marks.len() < request.steps + 3
        })
        .expect("the run is well-posed");
    let seconds: Vec<f64> = marks.windows(2).skip(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
    json!({ "seconds": seconds })
}

fn steps(request: &Request, config: &Config, prepared: &Prepared) -> Value {
    let mut marks = Vec::new();
    prepared
        .fit(config, request.threads, None, &mut |event| {
            if let FitEvent::Step { .. } = event {
                marks.push(Instant::now());
            }
            marks.len() < request.steps + 3
        })
        .expect("the run is well-posed");
    let seconds: Vec<f64> = marks.windows(2).skip(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
    json!({ "seconds": seconds })
}

/// Mean and variance from raw inputs.
fn predict(request: &Request) -> Value {
    let (config, prepared) = prepared(request, request.batch * 8);
    let Fit::Finished(model) =
        prepared.fit(&config, request.threads, None, &mut |_| true).expect("well-posed")
    else {
        unreachable!("nobody asks for a stop")
    };
    let table = Simulated::Borehole.sample(request.rows, 1, 0.0);
    let schema = model.header().schema.table().expect("a table's model");
    let x = Inputs::from(schema.encode(&table, None).expect("the same columns"));
    json!({ "seconds": best_of(3, || model.predict(&x)) })
}

/// The head alone, with the operations that its formulas need (symmetric halves counted once).
fn head<T: Real>(request: &Request, jitter: f64) -> Value {
    let (n, m, d) = (request.batch, request.inducing, request.features);
    let wave = |count: usize, k: f64, scale: f64| -> Vec<T> {
        (0..count).map(|i| T::of(scale * (i as f64 * k).sin())).collect()
    };
    let spread = (1.0 / d as f64).sqrt();
    let inducing =
        InducingPoints::new(&wave(m * d, 1.618_034, spread), &wave(d, 0.77, 1.0), &wave(1, 1.0, 0.1));
    let (phi, y) = (wave(n * d, 2.236_068, spread), wave(n, 0.37, 1.0));
    let kernel = Kernel::paper();
    let mut objective = Objective::new(n, &kernel, &inducing, request.threads);
    let model = Model {
        kernel: &kernel,
        inducing: &inducing,
        likelihood: Likelihood::Gaussian { log_sigma: &[-2.0] },
        jitter,
        coupling: Coupling::Batch,
    };
    let seconds = best_of(request.steps, || objective.evaluate(model, &phi, &y).expect("well-posed"));
    let [n, m, d] = [n, m, d].map(|x| x as f64);
    let flops = m * m * d + 2.0 * m * n * d + n * n * d // Gram matrices
        + m * m * m / 3.0 + 2.0 * m * m * n            // Cholesky of K_zz, A and B
        + m * n * n + n * n * n                        // S, its factor, inverse factor and inverse
        + 2.0 * m * n * n + m * m * n                  // B G and B G Bᵀ
        + 2.0 * m * m * d + 4.0 * m * n * d + 2.0 * n * n * d; // to Z and Φ
    json!({ "seconds": seconds, "flops": flops })
}

/// The best rate of this machine's matrix product.
fn gemm<T: Real>(request: &Request) -> Value {
    let n = 1024;
    let a = Mat::<T>::from_fn(n, n, |i, j| T::of(((i * 31 + j * 17) % 101) as f64 * 0.01));
    let mut out = Mat::<T>::zeros(n, n);
    let par = if request.threads > 1 { Par::rayon(request.threads) } else { Par::Seq };
    let seconds =
        best_of(8, || matmul(out.as_mut(), Accum::Replace, a.as_ref(), a.as_ref(), T::of(1.0), par));
    json!({ "seconds": seconds, "flops": 2.0 * (n * n * n) as f64 })
}
