//! A new kind of input: clouds of points in the plane, of any number, whose spread is learned.
//! `cargo run --release --manifest-path crates/burn/Cargo.toml --example point_clouds`

use inducing::dataset::Labels;
use inducing::{Dataset, Error, Model, Prediction, Trainer};
use inducing_burn::burn::tensor::{Device, Tensor, TensorData, activation::gelu};
use inducing_burn::burn::{self, module::Module, nn::Linear, nn::LinearConfig};
use inducing_burn::{Batch, BurnEncoder, BurnModule};
use rand::{RngExt, SeedableRng, rngs::StdRng};

pub(crate) type Clouds = Vec<Vec<[f32; 2]>>;

/// `Φ = mean over the points of gelu(x A + a) · B + b`: the order of the points cannot matter.
#[derive(Module, Debug)]
pub(crate) struct CloudModule {
    inner: Linear, // [2, units]
    outer: Linear, // [units, D]
}

impl BurnModule for CloudModule {
    type Shape = [usize; 2]; // units, D

    fn new(&[units, features]: &[usize; 2], _seed: u64, device: &Device) -> Result<Self, String> {
        let linear = |inputs, outputs| LinearConfig::new(inputs, outputs).init(device);
        Ok(Self { inner: linear(2, units), outer: linear(units, features) })
    }

    fn dim(&self) -> usize {
        self.outer.weight.dims()[1]
    }

    fn features(&self, batch: &Batch<'_>) -> Result<Tensor<2>, Error> {
        let clouds = batch.custom::<Clouds>()?;
        let own: Vec<_> = batch.rows().iter().map(|&row| &clouds[row][..]).collect();
        let points = own.concat(); // [n, 2]
        let (mut mean, mut start) = (vec![0.0; own.len() * points.len()], 0); // [N, n]
        for (cloud, mean) in own.iter().zip(mean.chunks_exact_mut(points.len())) {
            mean[start..start + cloud.len()].fill(1.0 / cloud.len() as f32);
            start += cloud.len();
        }
        let data = |x: &[f32], columns| TensorData::new(x.to_vec(), [x.len() / columns, columns]);
        let mean = Tensor::from_data(data(&mean, points.len()), batch.device());
        let points = Tensor::from_data(data(points.as_flattened(), 2), batch.device());
        Ok(self.outer.forward(mean.matmul(gelu(self.inner.forward::<2>(points))))) // [N, D]
    }
}

/// Between 20 and 59 points in a square of a size of its own each.
pub(crate) fn clouds(count: usize, seed: u64) -> (Clouds, Vec<f64>) {
    let mut rng = StdRng::seed_from_u64(seed);
    let cloud = |i: usize| {
        let (n, spread) = (20 + i % 40, 0.2 + 1.8 * (0.618 * i as f64 + 0.1 * seed as f64).fract());
        ((0..n).map(|_| [(); 2].map(|()| (spread * rng.random_range(-1.0..1.0)) as f32)).collect(), spread)
    };
    (0..count).map(cloud).unzip()
}

fn main() -> Result<(), Error> {
    type Encoder = BurnEncoder<CloudModule>;
    let ((inputs, spreads), (new, truth)) = (clouds(2000, 0), clouds(3, 1));
    let data = Dataset::custom::<Encoder>(inputs, Labels::Numbers(spreads), "spread", &[32, 16])?;
    let file = std::env::temp_dir().join("clouds.ign");
    Trainer::new(&data).set("gp.inducing=64").fit()?.save(&file)?;
    let predictions = Model::load_custom::<Encoder>(&file)?.predict(&Dataset::custom_inputs(new, 3))?;
    for (truth, row) in truth.iter().zip(predictions) {
        let Prediction::Regression(spread) = row else { unreachable!("spreads are numbers") };
        println!("spread {truth:.2}, predicted {:.2} ± {:.2}", spread.mean(), spread.std());
    }
    Ok(())
}
