//! A new kind of input: clouds of points in the plane, of any number, whose spread is learned.
//! `cargo run --release -p ign --example own_encoder`

#![allow(clippy::print_stdout)]

use ign::burn::module::{Module, Param};
use ign::burn::tensor::{Tensor, TensorData, activation::relu};
use ign::encoder::{Encoder, Mode, OwnEncoder};
use ign::{Config, Fit, Inputs, Kind, Model, OwnData, Prepared, Truth, burn};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub(crate) type Clouds = Vec<Vec<[f32; 2]>>;

/// `Φ = mean over the points of relu([x | 1] A) · B`: the order of the points cannot matter.
#[derive(Module, Debug)]
pub(crate) struct CloudEncoder {
    inner: Param<Tensor<2>>, // [3, units]
    outer: Param<Tensor<2>>, // [units, D]
}

impl OwnEncoder for CloudEncoder {
    type Shape = [usize; 2]; // units, D

    fn new(&[units, features]: &[usize; 2], seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut random = |shape: [usize; 2]| {
            let values: Vec<f32> = (0..shape[0] * shape[1]).map(|_| rng.random_range(-0.9..0.9)).collect();
            Param::from_tensor(Tensor::from_data(TensorData::new(values, shape), &Default::default()))
        };
        Self { inner: random([3, units]), outer: random([units, features]) }
    }
}

impl Encoder for CloudEncoder {
    fn dim(&self) -> usize {
        self.outer.dims()[1]
    }

    fn features(&self, inputs: &Inputs, rows: &[usize], _mode: Mode) -> Tensor<2> {
        let (clouds, device) = (inputs.own::<Clouds>(), self.inner.device());
        let points: Vec<f32> =
            rows.iter().flat_map(|&row| clouds[row].iter().flat_map(|&[x, y]| [x, y, 1.0])).collect();
        let (n, mut start) = (points.len() / 3, 0);
        let mut mean = vec![0.0; rows.len() * n];
        for (row, mean) in rows.iter().zip(mean.chunks_exact_mut(n)) {
            let own = clouds[*row].len();
            mean[start..start + own].fill(1.0 / own as f32);
            start += own;
        }
        let points = Tensor::<2>::from_data(TensorData::new(points, [n, 3]), &device);
        let mean = Tensor::<2>::from_data(TensorData::new(mean, [rows.len(), n]), &device);
        mean.matmul(relu(points.matmul(self.inner.val()))).matmul(self.outer.val()) // [N, D]
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (inputs, spreads) = clouds(2000, 0);
    let config = Config::resolve(Kind::Numbers, None, None, &["gp.inducing=64".into()])?;
    let data = OwnData { inputs, truth: Truth::Numbers(spreads), name: "spread".into() };
    let prepared = Prepared::own::<CloudEncoder>(data, &[32, 16], &config)?;
    let Fit::Finished(model) = prepared.fit(&config, 1, None, &mut |_| true)? else { unreachable!() };
    let file = std::env::temp_dir().join("clouds.ign");
    model.save(&file)?;
    let again = Model::load_own::<CloudEncoder>(&file, 1)?;
    let (new, truth) = clouds(3, 1);
    let prediction = again.predict(&Inputs::own_of(new, 3));
    for (truth, (mean, std)) in truth.iter().zip(prediction.mean.iter().zip(&prediction.std)) {
        println!("spread {truth:.2}, predicted {mean:.2} ± {std:.2}");
    }
    Ok(())
}

/// Between 20 and 59 points in a square of a size of its own each.
pub(crate) fn clouds(count: usize, seed: u64) -> (Clouds, Vec<f64>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut cloud = || {
        let (n, spread) = (rng.random_range(20..60), rng.random_range(0.2..2.0_f32));
        let mut throw = || spread * rng.random_range(-1.0..1.0_f32);
        let points = (0..n).map(|_| [throw(), throw()]).collect();
        (points, f64::from(spread))
    };
    (0..count).map(|_| cloud()).unzip()
}
