//! Projected gradient descent of many inputs at once, each with its own step length.
//!
//! ```text
//! u ← clamp(u − η s/‖s‖, 0, 1)     s the direction of ∂‖φ(x) − z‖²/∂u in its [`Space`]
//! ```
//! A step that comes closer is taken, and the next is longer; one that does not is not taken, and the next is half as
//! long.

use super::space::Space;
use crate::dataset::{Inputs, Matrix};
use crate::error::Error;
use crate::model::Network;
use crate::nn::{Forward, Mode};

/// Length of the first step, times the root of how many numbers may move.
const FIRST: f32 = 0.02;
/// Growth of a step that came closer.
const LONGER: f32 = 1.3;
/// A row rests when its step is this share of its first.
const LAST: f32 = 1e-4;
/// Steps between two looks at the valid inputs.
const LOOK: usize = 10;

/// Whose features should meet which points.
pub(super) struct Goal<'a> {
    pub(super) network: &'a Network,
    pub(super) z: Vec<f32>, // [N, D]
}

impl Goal<'_> {
    /// Rows of numbers, as encoders read them.
    fn rows(&self, x: Vec<f32>) -> (Inputs, Vec<usize>) {
        let rows = self.z.len() / self.network.encoder.dim();
        let width = x.len() / rows.max(1);
        (Inputs::Table(Matrix { x, width, ..Matrix::default() }), (0..rows).collect())
    }

    /// `Φ − Z` in place of the encoder's features, and the squared length of its rows.
    fn errors(&self, phi: &mut [f32]) -> Vec<f64> {
        self.network.scale.apply(phi);
        phi.iter_mut().zip(&self.z).for_each(|(phi, z)| *phi -= z);
        let squared = |row: &[f32]| row.iter().map(|error| f64::from(*error).powi(2)).sum();
        phi.chunks_exact(self.network.encoder.dim()).map(squared).collect()
    }

    /// `‖φ(x) − z‖²` of each row.
    fn distances(&self, x: Vec<f32>) -> Result<Vec<f64>, Error> {
        let (inputs, rows) = self.rows(x);
        let mut phi = self.network.encoder.features(&self.network.theta, &inputs, &rows)?;
        Ok(self.errors(&mut phi))
    }

    /// The same, and its gradient by x.
    fn pull_back(&self, x: Vec<f32>) -> Result<(Vec<f64>, Vec<f32>), Error> {
        let mut d_x = vec![0.0; x.len()];
        let (inputs, rows) = self.rows(x);
        let (mut phi, backward): Forward<'_> =
            self.network.encoder.forward(&self.network.theta, &inputs, &rows, Mode::Predict)?;
        let squared = self.errors(&mut phi);
        phi.iter_mut().for_each(|error| *error *= 2.0);
        self.network.scale.pull_back(&mut phi);
        backward.pull_back(&phi, &mut [], Some(&mut d_x));
        Ok((squared, d_x))
    }
}

/// Where a descent ended.
pub(super) struct Reached {
    /// Valid inputs, the closest that were seen.
    pub(super) x: Vec<f32>,
    /// Squared distances of the starts.
    pub(super) before: Vec<f64>,
    /// Squared distances of `x`.
    pub(super) after: Vec<f64>,
}

impl Reached {
    /// Keeps the rows of `x` that are closer.
    fn improve(&mut self, goal: &Goal<'_>, x: Vec<f32>) -> Result<(), Error> {
        let distances = goal.distances(x.clone())?;
        let width = x.len() / distances.len();
        for (row, x) in x.chunks_exact(width).enumerate() {
            if distances[row] < self.after[row] {
                self.after[row] = distances[row];
                self.x[row * width..][..width].copy_from_slice(x);
            }
        }
        Ok(())
    }
}

/// Descends from `x` in at most `steps` steps.
pub(super) fn descend(
    goal: &Goal<'_>,
    space: &Space,
    x: Vec<f32>,
    steps: usize,
    keep_going: &mut dyn FnMut(usize) -> bool,
) -> Result<Reached, Error> {
    let width = space.width;
    let mut u = space.unit(&x);
    let contrast = space.contrast(&u);
    let (mut here, mut slope) = goal.pull_back(x.clone())?;
    space.pull_back(&mut slope);
    let first: Vec<f32> = (0..here.len()).map(|row| FIRST * (space.free(row) as f32).sqrt()).collect();
    let mut length = first.clone();
    let mut reached = Reached { x, before: here.clone(), after: here.clone() };
    for step in 1..=steps {
        let mut next = u.clone();
        for (row, next) in next.chunks_exact_mut(width).enumerate() {
            let numbers = row * width..(row + 1) * width;
            let mut s = slope[numbers.clone()].to_vec();
            space.direct(next, &contrast[numbers], &mut s);
            let norm = s.iter().map(|s| s * s).sum::<f32>().sqrt();
            if norm > 0.0 {
                let eta = length[row] / norm;
                next.iter_mut().zip(&s).for_each(|(u, s)| *u = (*u - eta * s).clamp(0.0, 1.0));
            }
        }
        let (there, mut d_u) = goal.pull_back(space.at(&next))?;
        space.pull_back(&mut d_u);
        for row in 0..here.len() {
            let numbers = row * width..(row + 1) * width;
            if there[row] < here[row] {
                here[row] = there[row];
                u[numbers.clone()].copy_from_slice(&next[numbers.clone()]);
                slope[numbers.clone()].copy_from_slice(&d_u[numbers]);
                length[row] *= LONGER;
            } else {
                length[row] *= 0.5;
            }
        }
        let at_rest = length.iter().zip(&first).all(|(length, first)| *length <= LAST * first);
        let over = !keep_going(step) || at_rest || step == steps;
        if over || step.is_multiple_of(LOOK) {
            reached.improve(goal, space.valid(&u))?;
        }
        if over {
            break;
        }
    }
    Ok(reached)
}
