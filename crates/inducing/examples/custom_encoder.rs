//! A new kind of input: clouds of points in the plane, of any number, whose spread is learned.
//! `cargo run --release -p inducing --example custom_encoder`

#![allow(clippy::print_stdout)]

use inducing::dataset::{Inputs, Labels};
use inducing::nn::{Backward, CustomEncoder, Encoder, Forward, Layout, Mode};
use inducing::{Dataset, Error, Model, Prediction, Trainer};

pub(crate) type Clouds = Vec<Vec<[f32; 2]>>;

/// `Φ = mean over the points p of relu([p | 1] A)` with θ = A `[3, D]`: the order of the points cannot matter.
#[derive(Debug)]
pub(crate) struct CloudEncoder(Layout);

impl CustomEncoder for CloudEncoder {
    type Shape = usize; // D, all that fixes the layout

    fn new(&features: &usize) -> Result<Self, String> {
        let mut layout = Layout::default();
        layout.add("a", &[3, features], true);
        Ok(Self(layout))
    }
}

#[rustfmt::skip]
impl Encoder for CloudEncoder {
    fn dim(&self) -> usize { self.0.len() / 3 }

    fn layout(&self) -> &Layout { &self.0 }

    fn initialise(&self, seed: u64) -> Vec<f32> {
        (0..self.0.len()).map(|i| ((i as f32 + 1.0) * (seed as f32 + 77.7)).sin()).collect()
    }

    fn forward<'a>(&'a self, a: &'a [f32], inputs: &'a Inputs, rows: &[usize], _: Mode) -> Result<Forward<'a>, Error> {
        let (clouds, d) = (inputs.as_custom::<Clouds>()?, self.dim());
        let dense = |[x, y, one]: [f32; 3], j: usize| x * a[j] + y * a[d + j] + one * a[2 * d + j];
        // A ReLU is linear where it is active: the mean of those points gives Φ and the gradient of A.
        let mean = |row: usize, j: usize| {
            let share = 1.0 / clouds[row].len() as f32;
            let active = clouds[row].iter().filter(|[x, y]| dense([*x, *y, 1.0], j) > 0.0);
            active.fold([0.0; 3], |[sx, sy, n], [x, y]| [sx + share * x, sy + share * y, n + share])
        };
        let places = rows.iter().flat_map(|&row| (0..d).map(move |j| (row, j)));
        let means: Vec<_> = places.map(|(row, j)| mean(row, j)).collect();
        let phi = means.iter().enumerate().map(|(i, mean)| dense(*mean, i % d)).collect();
        Ok((phi, Box::new(CloudBackward(means))))
    }
}

struct CloudBackward(Vec<[f32; 3]>); // [N, D], means of [p | 1] over the active points

impl Backward for CloudBackward {
    fn pull_back(self: Box<Self>, d_phi: &[f32], d_a: &mut [f32], _d_x: Option<&mut [f32]>) {
        let d = d_a.len() / 3;
        d_a.fill(0.0);
        for (i, (mean, d_phi)) in self.0.iter().zip(d_phi).enumerate() {
            (0..3).for_each(|k| d_a[k * d + i % d] += mean[k] * d_phi);
        }
    }
}

fn main() -> Result<(), Error> {
    let (inputs, spreads) = clouds(1000, 0);
    let data = Dataset::custom::<CloudEncoder>(inputs, Labels::Numbers(spreads), "spread", &16)?;
    let model = Trainer::new(&data).set("gp.inducing=32").set("train.epochs=3").fit()?;
    model.save(std::env::temp_dir().join("clouds.ign"))?;
    let model = Model::load_custom::<CloudEncoder>(std::env::temp_dir().join("clouds.ign"))?;
    let (new, truth) = clouds(3, 1);
    for (row, truth) in model.predict(&Dataset::custom_inputs(new, 3))?.into_iter().zip(truth) {
        let Prediction::Regression(spread) = row else { unreachable!("spreads are numbers") };
        println!("spread {truth:.2}, predicted {:.2} ± {:.2}", spread.mean(), spread.std());
    }
    Ok(())
}

/// Between 20 and 59 points in a square of a size of its own each.
pub(crate) fn clouds(count: usize, seed: u64) -> (Clouds, Vec<f64>) {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut cloud = || {
        let (n, spread) = (rng.random_range(20..60), rng.random_range(0.2..2.0_f32));
        let mut throw = || spread * rng.random_range(-1.0..1.0_f32);
        let points = (0..n).map(|_| [throw(), throw()]).collect();
        (points, f64::from(spread))
    };
    (0..count).map(|_| cloud()).unzip()
}
