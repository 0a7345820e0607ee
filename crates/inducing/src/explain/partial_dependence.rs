//! Partial dependence (Friedman 2001): what is predicted on average as one column moves over the values that were observed
//! of it, while all other cells stay as they are.

mod grid;

use crate::dataset::{Inputs, Matrix};
use crate::error::Error;
use crate::metrics::normal_quantile;
use crate::model::Model;
use grid::GridColumn;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Rows that are averaged over, at most.
const ROWS: usize = 50;

/// What is predicted on average at some values of one column.
#[derive(Debug, Clone, PartialEq)]
pub struct PartialDependence {
    /// The column's name.
    pub name: String,
    /// Rows that are averaged over.
    pub rows: usize,
    /// The values that the column was set to.
    pub grid: DependenceGrid,
    /// One for each number to predict, or one for each class.
    pub curves: Vec<DependenceCurve>,
}

/// Values of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum DependenceGrid {
    /// Of a column of numbers, ascending, in its own units.
    Numbers {
        /// The values.
        values: Vec<f64>,
        /// Smallest value, deciles and largest value of what was observed: where there are rows at all.
        deciles: Vec<f64>,
    },
    /// Of a category or a truth value, the most frequent first.
    Levels {
        /// The values; `(other)` for levels that share an indicator, `(missing)` for none.
        names: Vec<String>,
        /// Share of the observed rows.
        shares: Vec<f64>,
    },
}

impl DependenceGrid {
    /// How many values there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers { values, .. } => values.len(),
            Self::Levels { names, .. } => names.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A mean prediction at each value of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct DependenceCurve {
    /// Mean of a number in its own units, or of a class's probability.
    pub mean: Vec<f64>,
    /// Standard deviation of the latent function, averaged over the rows: how unsure the model is of a single row's value,
    /// without noise. Of a class it is carried to the scale of probabilities by the link's slope; zero for a softmax layer.
    pub std: Vec<f64>,
}

impl Model {
    /// Partial dependence on columns of a table, averaged over at most 50 of `rows`, in the order of `columns`.
    ///
    /// Columns of dates and texts are left out: no single value of theirs can be varied alone. So are columns in which
    /// fewer than two values were observed. Nothing where the inputs are no table.
    ///
    /// ```
    /// use inducing::explain::DependenceGrid;
    /// # use inducing::dataset::Inputs;
    /// # fn print(model: &inducing::Model, inputs: &Inputs, rows: &[usize]) -> Result<(), inducing::Error> {
    /// for moved in model.partial_dependence(inputs, rows, &["age"], 0)? {
    ///     if let DependenceGrid::Numbers { values, .. } = &moved.grid {
    ///         values.iter().zip(&moved.curves[0].mean).for_each(|(age, mean)| println!("{age}: {mean}"));
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn partial_dependence(
        &self,
        inputs: &Inputs,
        rows: &[usize],
        columns: &[&str],
        seed: u64,
    ) -> Result<Vec<PartialDependence>, Error> {
        let (Inputs::Table(matrix), Some(schema)) = (inputs, self.header().schema.table()) else {
            return Ok(Vec::new());
        };
        let sample = sample(matrix, rows, seed);
        let (ranges, mut moved) = (schema.feature_ranges(), Vec::new());
        for name in columns {
            let Some(at) = schema.inputs.iter().position(|input| input.name == **name) else { continue };
            let column = GridColumn { at, encoding: &schema.inputs[at].encoding, ranges: &ranges[at] };
            let Some((grid, cells)) = column.grid(matrix, rows) else { continue };
            let set = column.set(matrix, &sample, &cells);
            let curves = self.mean_predictions(&Inputs::Table(set), cells.len())?;
            moved.push(PartialDependence { name: (*name).to_owned(), rows: sample.len(), grid, curves });
        }
        Ok(moved)
    }

    /// Means of the predictions of `parts` equally long parts of the inputs.
    fn mean_predictions(&self, inputs: &Inputs, parts: usize) -> Result<Vec<DependenceCurve>, Error> {
        let all: Vec<usize> = (0..inputs.rows()).collect();
        let (outputs, mean, std) = match self.header().schema.classes() {
            None => {
                let prediction = self.predict_numbers(inputs, &all)?;
                (self.outputs(), prediction.mean, prediction.std_latent)
            }
            Some(_) => {
                let prediction = self.predict_classes(inputs, &all)?;
                let link = self.header().config.link();
                let with_slope = prediction.p.iter().zip(&prediction.latent_std);
                let std = with_slope.map(|(p, std)| std * slope(link, *p)).collect();
                (prediction.classes, prediction.p, std)
            }
        };
        let each = mean.len() / parts;
        let averages = |values: &[f64], output: usize| -> Vec<f64> {
            let average = |part: &[f64]| {
                let own = part.iter().skip(output).step_by(outputs);
                own.sum::<f64>() * outputs as f64 / part.len() as f64
            };
            values.chunks_exact(each).map(average).collect()
        };
        let curve = |output| DependenceCurve { mean: averages(&mean, output), std: averages(&std, output) };
        Ok((0..outputs).map(curve).collect())
    }
}

/// A random part of the rows; of those whose cells are all known, where there are any.
fn sample(matrix: &Matrix, rows: &[usize], seed: u64) -> Vec<usize> {
    let mut chosen: Vec<usize> =
        rows.iter().copied().filter(|row| !matrix.absent.contains_key(row)).collect();
    if chosen.is_empty() {
        chosen = rows.to_vec();
    }
    chosen.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    chosen.truncate(ROWS);
    chosen
}

/// How fast a probability changes with its latent function, where it is `p`.
fn slope(link: gp::Link, p: f64) -> f64 {
    match link {
        gp::Link::Logit => p * (1.0 - p),
        gp::Link::Probit if p <= 0.0 || p >= 1.0 => 0.0,
        gp::Link::Probit => (-0.5 * normal_quantile(p).powi(2)).exp() / std::f64::consts::TAU.sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probability_s_slope_is_its_link_s() {
        assert_eq!(slope(gp::Link::Logit, 0.5), 0.25);
        assert!((slope(gp::Link::Probit, 0.5) - 0.398_942).abs() < 1e-6);
        for link in [gp::Link::Logit, gp::Link::Probit] {
            assert!(slope(link, 0.0) == 0.0 && slope(link, 1.0) == 0.0);
        }
    }

    #[test]
    fn rows_whose_cells_are_all_known_are_averaged_over() {
        let mut matrix = Matrix { x: vec![0.0; 900], width: 1, ..Matrix::default() };
        (0..600).for_each(|row| drop(matrix.absent.insert(row, vec![0])));
        let all: Vec<usize> = (0..900).collect();
        let chosen = sample(&matrix, &all, 0);
        assert!(chosen.len() == ROWS && chosen.iter().all(|row| *row >= 600));
        assert_eq!(sample(&matrix, &all[..3], 0).len(), 3, "there are no others");
    }
}
