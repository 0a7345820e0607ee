//! The library's encoders, whose forward and backward passes are written by hand, against the same networks in burn's
//! tensor operations and autodiff: Φ, the gradient of `⟨Φ, c⟩` by every parameter, and by x where there is one.
//!
//! Tolerance: both sides compute in f32 (ε = 6e-8) and sum in different orders. A sum of n terms is wrong by some √n ε of
//! its largest terms, a network of five to ten layers of up to a hundred terms by some 100 ε, and where terms cancel
//! (norms, attention) by more. [`TOLERANCE`] is 2e-5 = 330 ε of the largest number of the same parameter's gradient, or of
//! Φ; a wrong factor, sign, index or forgotten term is above 1e-2. A ReLU whose input is within rounding of zero could go
//! different ways on both sides; with these seeds none does.

mod convolution;
mod dense;
mod graph;
mod text;
mod theta;

use burn::tensor::Tensor;
use inducing::dataset::Inputs;
use inducing::nn::{Encoder, Mode};
use rand::{RngExt, SeedableRng, rngs::StdRng};
use theta::{Theta, matrix, to_vec};

/// Relative to the largest number of a parameter's gradient.
const TOLERANCE: f32 = 2e-5;

/// Numbers between −1 and 1.
fn random(len: usize, seed: u64) -> Vec<f32> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Initial parameters, moved so that biases are not zero and gains not one.
fn parameters(encoder: &dyn Encoder, seed: u64) -> Vec<f32> {
    let (mut theta, moves) = (encoder.initialise(seed), random(encoder.layout().len(), seed + 1));
    theta.iter_mut().zip(moves).for_each(|(theta, x)| *theta += 0.2 * x);
    theta
}

/// Demands that an encoder and its reference agree on Φ and all gradients, at θ of a seed. The reference is given the
/// parameters by name, and `x [N, width]` if there is one.
fn assert_agrees(
    encoder: &dyn Encoder,
    inputs: &Inputs,
    x: Option<(&[f32], usize)>,
    reference: &dyn Fn(&Theta, Option<Tensor<2>>) -> Tensor<2>,
) {
    let rows: Vec<usize> = (0..inputs.rows()).collect();
    let theta = parameters(encoder, 3);
    let c = random(rows.len() * encoder.dim(), 7);
    let (phi, backward) = encoder.forward(&theta, inputs, &rows, Mode::Predict).expect("good inputs");
    let mut d_theta = vec![f32::NAN; theta.len()];
    let mut d_x = x.map(|(x, _)| vec![f32::NAN; x.len()]);
    backward.pull_back(&c, &mut d_theta, d_x.as_deref_mut());

    let tensors = Theta::new(encoder.layout(), &theta);
    let leaf = x.map(|(x, width)| matrix(x, width).require_grad());
    let expected = reference(&tensors, leaf.clone());
    assert_eq!(expected.dims(), [rows.len(), encoder.dim()]);
    assert_close("Φ", &phi, &to_vec(expected.clone()));
    assert_eq!(
        encoder.features(&theta, inputs, &rows).expect("good inputs"),
        phi,
        "with and without a way back"
    );

    let mut gradients = (expected * matrix(&c, encoder.dim())).sum().backward();
    for slot in encoder.layout().slots() {
        assert_close(&slot.name, slot.param.of(&d_theta), &tensors.gradient(&slot.name, &mut gradients));
    }
    if let (Some(d_x), Some(leaf)) = (d_x, leaf) {
        assert_close("x", &d_x, &to_vec(leaf.grad_remove(&mut gradients).expect("Φ depends on x")));
    }
}

fn assert_close(what: &str, found: &[f32], expected: &[f32]) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs();
        assert!(
            error <= TOLERANCE * largest,
            "{what}[{index}]: {found} instead of {expected}, of at most {largest}"
        );
    }
}
