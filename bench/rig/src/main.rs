//! Our side of `bench/peers`: one JSON request a line, one JSON answer a line (the protocol is in
//! `bench/peers/README.md`). A child process, so that the peers' runtime and ours alternate in one run.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use data::{Column, ImageSet, Simulated, Table};
use gp::{Coupling, InducingPoints, Kernel, Likelihood, Objective, Process, Real};
use inducing::model::TargetUse;
use inducing::train::Event;
use inducing::{Dataset, Settings, Trainer};
use linalg::Mat;
use linalg::gemm::{Plus, shared_product};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::BufRead;
use std::sync::Mutex;
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

/// The paper's preset with the requested sizes.
fn settings(request: &Request) -> Settings {
    let jitter = if request.precision == "f32" { "1e-3" } else { "1e-4" };
    Settings::default()
        .preset("paper")
        .set(format!("gp.precision={}", request.precision))
        .set(format!("gp.jitter={jitter}"))
        .set(format!("gp.inducing={}", request.inducing))
        .set(format!("encoder.features={}", request.features))
        .set(format!("train.batch_size={}", request.batch))
        .set("train.epochs=1")
}

/// Borehole, which has 8 inputs.
fn borehole(request: &Request, rows: usize, seed: u64) -> Dataset {
    assert_eq!(request.inputs, 8, "Borehole has 8 inputs");
    let data = Dataset::from_table(Simulated::Borehole.sample(rows, seed, 0.0));
    data.target("y").expect("its target")
}

/// Runs `work` on the requested number of threads.
fn on_threads<R: Send>(request: &Request, work: impl FnOnce() -> R + Send) -> R {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.threads).build();
    pool.expect("threads can be had").install(work)
}

/// Whole training steps as `ign train` takes them: batch, encoder, head, backward pass, Adam.
fn step(request: &Request) -> Value {
    let data = borehole(request, request.batch * (request.steps + 4), 0);
    steps(request, &data, settings(request))
}

/// The same for classes of images, one against all by Laplace's approximation.
fn class_step(request: &Request) -> Value {
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
    let settings = settings(request).set("encoder.hidden=[256, 128]").set("train.scale_features=true");
    steps(request, &Dataset::from_images(set), settings)
}

/// A text encoder (one block, width 32, 200 tokens) with a logistic readout, as a plain network is trained.
fn text_step(request: &Request) -> Value {
    let (vocabulary, length) = (20_000, 200);
    let mut random = ChaCha8Rng::seed_from_u64(0);
    let (mut texts, mut labels) = (Vec::new(), Vec::new());
    for _ in 0..request.batch * (request.steps + 4) {
        // As in text_problem.py.
        let short = request.lengths == "mixed" && random.random::<f64>() < 0.4;
        let count = if short { random.random_range(40..length) } else { length };
        let word = |place: f64| format!("w{}", 2 + ((vocabulary - 2) as f64 * place.powi(4)) as u32);
        let words: Vec<String> = (0..count).map(|_| word(random.random())).collect();
        texts.push(Some(words.join(" ")));
        labels.push(Some(random.random_range(0..2)));
    }
    let classes = Column::Category { codes: labels, levels: vec!["no".into(), "yes".into()] };
    let columns = vec![("text".to_owned(), Column::Text(texts)), ("y".to_owned(), classes)];
    let table = Table::new("made up", columns).expect("two columns of one length");
    let settings = Settings::default()
        .set("head=softmax")
        .set("encoder.members=1")
        .set("encoder.dropout=0.0")
        .set("encoder.text.word_dropout=0.0")
        .set("encoder.text.width=32")
        .set("encoder.text.heads=2")
        .set("encoder.text.feed_forward=32")
        .set("encoder.text.blocks=1")
        .set("encoder.text.pooling=mean")
        .set(format!("encoder.features={}", request.features))
        .set(format!("data.text.vocabulary={vocabulary}"))
        .set(format!("data.text.length={length}"))
        .set("train.pretrain_min_steps=0")
        .set("train.pretrain_epochs=1")
        .set("train.weight_decay=0.0")
        .set("train.validation_share=0.0")
        .set("train.stop_on=never")
        .set("train.recalibrate=false")
        .set(format!("train.pretrain_batch_size={}", request.batch));
    steps(request, &Dataset::from_table(table).target("y").expect("its target"), settings)
}

fn steps(request: &Request, data: &Dataset, settings: Settings) -> Value {
    let marks = Mutex::new(Vec::new());
    let mark = |event: Event<'_>| {
        let mut marks = marks.lock().expect("nobody panics");
        if let Event::Step { .. } = event {
            marks.push(Instant::now());
        }
        marks.len() < request.steps + 3
    };
    // The listener stops the run: that is no failure.
    let _ = on_threads(request, || Trainer::new(data).settings(settings).on_event(mark).fit());
    let marks = marks.into_inner().expect("nobody panics");
    assert!(marks.len() >= request.steps, "the run is well-posed");
    let seconds: Vec<f64> = marks.windows(2).skip(2).map(|pair| (pair[1] - pair[0]).as_secs_f64()).collect();
    json!({ "seconds": seconds })
}

/// Mean and variance from raw inputs.
fn predict(request: &Request) -> Value {
    on_threads(request, || {
        let data = borehole(request, request.batch * 8, 0);
        let model = Trainer::new(&data).settings(settings(request)).fit().expect("well-posed");
        let new = Dataset::from_table(Simulated::Borehole.sample(request.rows, 1, 0.0));
        let inputs = model.encode_data(&new, TargetUse::Ignored).expect("the same columns").inputs;
        let rows: Vec<usize> = (0..inputs.rows()).collect();
        json!({ "seconds": best_of(3, || model.predict_inputs(&inputs, &rows).expect("finite")) })
    })
}

/// The head alone, with the operations that its formulas need (symmetric halves counted once).
fn head<T: Real>(request: &Request, jitter: f64) -> Value {
    let (n, m, d) = (request.batch, request.inducing, request.features);
    let wave = |count: usize, k: f64, scale: f64| -> Vec<T> {
        (0..count).map(|i| T::from_f64(scale * (i as f64 * k).sin())).collect()
    };
    let spread = (1.0 / d as f64).sqrt();
    let inducing =
        InducingPoints::new(&wave(m * d, 1.618_034, spread), &wave(d, 0.77, 1.0), &wave(1, 1.0, 0.1));
    let (phi, y) = (wave(n * d, 2.236_068, spread), wave(n, 0.37, 1.0));
    let kernel = Kernel::paper();
    let mut objective = Objective::new(n, &kernel, &inducing, request.threads);
    let process = Process {
        kernel: &kernel,
        inducing: &inducing,
        likelihood: Likelihood::Gaussian { log_sigma: &[-2.0], weights: &[] },
        jitter,
        coupling: Coupling::Batch,
    };
    let seconds =
        best_of(request.steps, || objective.evaluate_batch(&process, &phi, &y).expect("well-posed"));
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
    let a = Mat::<T>::from_fn(n, n, |i, j| T::from_f64(((i * 31 + j * 17) % 101) as f64 * 0.01));
    let mut out = Mat::<T>::zeros(n, n);
    let (one, threads) = (T::from_f64(1.0), request.threads);
    let seconds = best_of(8, || {
        on_threads(request, || {
            shared_product(out.as_mut(), Plus::Nothing, a.as_ref(), a.as_ref(), one, threads)
        });
    });
    json!({ "seconds": seconds, "flops": 2.0 * (n * n * n) as f64 })
}
