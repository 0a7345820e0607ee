//! New labelled rows for a model that keeps rows: they join the neighbours and the calibration, networks stay as they are.

use super::{EncodedData, Model, RegressionBatch, Score, Scores, TargetUse};
use crate::dataset::{Dataset, Inputs, Matrix, Values, WILDEST};
use crate::error::Error;
use crate::explain::Observed;
use crate::neighbours::{ClassNeighbours, KeptRows, Neighbours};
use crate::nn::Mode;
use crate::train::{Begin, Joining};
use std::collections::HashSet;

/// Parts of the new rows that are left out in turns, to see what the others are worth; of many rows two, which takes less time.
const PARTS: usize = 5;
const MANY: usize = 5000;

/// What an update did.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Update {
    /// Rows that were added.
    pub added: usize,
    /// Rows that the model keeps now.
    pub kept: usize,
    /// Scores of the new rows by the model as it was.
    pub before: Scores,
    /// Scores of the new rows, each predicted after the others were added: parts of them are left out in turns, five, or two of many
    /// rows. `None` of too few rows.
    pub after: Option<Scores>,
    /// What the user should know of the rows.
    pub notes: Vec<String>,
}

impl Model {
    /// Adds labelled rows to the rows that the model keeps, and fits stack, calibration and density anew; networks and length scales
    /// stay. Takes seconds.
    ///
    /// ```no_run
    /// use inducing::{Dataset, Model};
    /// let mut model = Model::load("price.ign")?;
    /// let update = model.update(&Dataset::read("more.csv")?)?;
    /// println!("{} rows added", update.added);
    /// model.save("price.ign")?;
    /// # Ok::<(), inducing::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the model keeps no rows, or the rows are not of its schema.
    pub fn update(&mut self, data: &Dataset) -> Result<Update, Error> {
        let encoded = self.encode_data(data, TargetUse::Needed)?;
        self.update_encoded(encoded)
    }

    /// The same with rows that are encoded already, with their targets.
    pub fn update_encoded(&mut self, encoded: EncodedData) -> Result<Update, Error> {
        let Some(kept) = self.kept_rows().cloned() else {
            return Err(Error::inputs("a model that keeps training rows", "one that keeps none"));
        };
        let members = self.header.ensemble.is_some();
        if members && kept.folds.is_empty() {
            return Err(Error::inputs(
                "a model of this version",
                "one of an earlier version, which cannot be updated",
            ));
        }
        let EncodedData { inputs, observed, mut notes, file_notes, .. } = encoded;
        notes.extend(file_notes);
        let Some(observed) = observed else {
            return Err(Error::inputs("rows with targets", "rows without"));
        };
        let all = inputs.rows();
        let (inputs, observed) = self.without_known(inputs, observed, &kept)?;
        let added = inputs.rows();
        if added < all {
            notes.push(format!("{} of {all} rows are in the model already and are left out", all - added));
        }
        if added == 0 {
            let (before, after) = (Scores::new(), None);
            return Ok(Update { added, kept: kept.len(), before, after, notes });
        }
        let rows: Vec<usize> = (0..added).collect();
        let x = if members {
            inputs.numbers(kept.width, &rows, Mode::Predict)?
        } else {
            let features = self.encode(&inputs, &rows)?;
            self.feature_coordinates(&features, &self.latent(&features).mean)
        };
        let (new, before) = match &observed {
            Observed::Numbers(y) => {
                let said = self.predict_numbers(&inputs, &rows)?;
                (self.new_numbers(&said, y, x), self.score(&said, y)?)
            }
            Observed::Classes(labels) => {
                let y = labels.iter().map(|&label| label as f32).collect();
                let new = KeptRows { x, y, errors: Vec::new(), folds: Vec::new(), width: kept.width };
                (new, self.score_classes(&inputs, &rows, labels)?)
            }
        };
        let after = match added {
            ..PARTS => None,
            _ => Some(self.score_in_turns(&inputs, &kept, &new, &observed)?),
        };
        let mut grown = kept;
        grown.append(&new.x, &new.y, &new.errors);
        let total = grown.len();
        self.exchange(grown)?;
        self.header.rows[0] += added;
        Ok(Update { added, kept: total, before, after, notes })
    }

    /// Rows of a table but for those that the model keeps: a row that counts twice would be believed.
    fn without_known(
        &self,
        inputs: Inputs,
        observed: Observed,
        kept: &KeptRows,
    ) -> Result<(Inputs, Observed), Error> {
        let (Inputs::Table(matrix), Some(_)) = (&inputs, &self.header.ensemble) else {
            return Ok((inputs, observed));
        };
        let (d, c) = (kept.width, kept.y.len() / kept.len());
        let label = |row: usize| match &observed {
            Observed::Numbers(y) => self.standardised(&y[row * c..][..c]),
            Observed::Classes(labels) => vec![labels[row] as f32],
        };
        let known: HashSet<(&[u8], &[u8])> = (kept.x.chunks_exact(d).zip(kept.y.chunks_exact(c)))
            .map(|(x, y)| (bytemuck::cast_slice(x), bytemuck::cast_slice(y)))
            .collect();
        let is_new = |row: &usize| {
            let y = label(*row);
            !known.contains(&(bytemuck::cast_slice(&matrix.x[row * d..][..d]), bytemuck::cast_slice(&y)))
        };
        let rows: Vec<usize> = (0..matrix.rows()).filter(is_new).collect();
        if rows.len() == matrix.rows() {
            return Ok((inputs, observed));
        }
        let x = inputs.numbers(d, &rows, Mode::Predict)?;
        let absent =
            rows.iter().enumerate().filter_map(|(i, row)| Some((i, matrix.absent.get(row)?.clone())));
        let absent = absent.collect();
        let chosen = match &observed {
            Observed::Numbers(y) => {
                Observed::Numbers(rows.iter().flat_map(|&row| &y[row * c..][..c]).copied().collect())
            }
            Observed::Classes(labels) => Observed::Classes(rows.iter().map(|&row| labels[row]).collect()),
        };
        Ok((Inputs::Table(Matrix { x, width: d, absent, ..Matrix::default() }), chosen))
    }

    /// Numbers of one row as the networks know them; wild ones end where they do in training.
    fn standardised(&self, y: &[f64]) -> Vec<f32> {
        let standard =
            |(y, target): (&f64, &data::TargetColumn)| target.standardise(*y).clamp(-WILDEST, WILDEST) as f32;
        y.iter().zip(self.header.schema.numbers()).map(standard).collect()
    }

    /// New rows with numbers, and the squared errors of what was said of them.
    fn new_numbers(&self, said: &RegressionBatch, y: &[f64], x: Vec<f32>) -> KeptRows {
        let targets = self.header.schema.numbers();
        let error = |(at, (&y, &mean)): (usize, (&f64, &f64))| {
            let target = &targets[at % targets.len()];
            (target.standardise(y) - target.standardise(mean)).powi(2).min(WILDEST.powi(2)) as f32
        };
        let errors = match self.header.ensemble {
            Some(_) => y.iter().zip(&said.mean).enumerate().map(error).collect(),
            None => Vec::new(),
        };
        let width = x.len() * targets.len() / y.len().max(1);
        let y = y.chunks_exact(targets.len()).flat_map(|y| self.standardised(y)).collect();
        KeptRows { x, y, errors, folds: Vec::new(), width }
    }

    /// Scores of all new rows, each predicted after the other parts had joined the kept rows.
    fn score_in_turns(
        &mut self,
        inputs: &Inputs,
        kept: &KeptRows,
        new: &KeptRows,
        observed: &Observed,
    ) -> Result<Scores, Error> {
        let n = new.len();
        let c = new.y.len() / n;
        let part = |values: &[f32], width: usize, rows: &[usize]| -> Vec<f32> {
            let there = rows.iter().filter(|_| !values.is_empty());
            there.flat_map(|&row| &values[row * width..][..width]).copied().collect()
        };
        let (mut numbers, mut classes) = (RegressionBatch::with_capacity(n * c), None);
        let parts = if kept.len() + n <= MANY { PARTS } else { 2 };
        let order: Vec<usize> = (0..parts).flat_map(|turn| (turn..n).step_by(parts)).collect();
        let header = self.header.clone();
        for turn in 0..parts {
            let own: Vec<usize> = (turn..n).step_by(parts).collect();
            let others: Vec<usize> = (0..n).filter(|row| row % parts != turn).collect();
            let mut grown = kept.clone();
            let errors = part(&new.errors, c, &others);
            grown.append(&part(&new.x, new.width, &others), &part(&new.y, c, &others), &errors);
            self.exchange(grown)?;
            match observed {
                Observed::Numbers(_) => numbers.append(self.predict_numbers(inputs, &own)?),
                Observed::Classes(_) => {
                    let said = self.predict_classes(inputs, &own)?;
                    match &mut classes {
                        None => classes = Some(said),
                        Some(all) => all.append(said),
                    }
                }
            }
        }
        self.header = header;
        self.keep(kept.clone())?;
        match (observed, classes) {
            (Observed::Classes(y), Some(classes)) => {
                let y: Vec<u32> = order.iter().map(|&row| y[row]).collect();
                let latent = self.latent(&self.encode(inputs, &order)?);
                let metrics = Score::Classes(self.class_metrics(&classes, &latent, &y)?);
                Ok(Scores::from([(self.header.schema.target_names().remove(0), metrics)]))
            }
            (Observed::Numbers(y), _) => {
                let y: Vec<f64> = order.iter().flat_map(|&row| &y[row * c..][..c]).copied().collect();
                self.score(&numbers, &y)
            }
            (Observed::Classes(_), None) => unreachable!("there is a turn"),
        }
    }

    /// Exchanges the rows that the model keeps, and fits what joins them anew.
    fn exchange(&mut self, kept: KeptRows) -> Result<(), Error> {
        if self.header.ensemble.is_some() { self.rejoin(kept) } else { self.keep(kept) }
    }

    /// Exchanges the rows that the model keeps; what joins them stays.
    fn keep(&mut self, kept: KeptRows) -> Result<(), Error> {
        let class_stack = self.header.ensemble.as_ref().and_then(|ensemble| ensemble.class_stack.as_ref());
        if let Some(stack) = self.header.feature_stack.as_ref().or(class_stack) {
            self.class_neighbours = Some(ClassNeighbours::new(kept, stack));
        } else if let Some(ensemble) = &self.header.ensemble {
            self.neighbours = Some(Neighbours::new(kept, &ensemble.stacks, &self.networks)?);
        }
        Ok(())
    }

    /// Fits everything but networks and length scales to other kept rows.
    fn rejoin(&mut self, kept: KeptRows) -> Result<(), Error> {
        let labels = match self.header.schema.classes() {
            Some(_) => Values::Classes(kept.y.iter().map(|&class| class as u32).collect()),
            None => Values::Numbers(kept.y.clone()),
        };
        let (left_out, repeats) = (kept.left_out(self.networks.len()), kept.repeats());
        let inputs = Inputs::Table(Matrix { x: kept.x, width: kept.width, ..Matrix::default() });
        let rows: Vec<usize> = (0..inputs.rows()).collect();
        // Related rows were left out together.
        let data = &self.header.config.data;
        let mut apart = Vec::new();
        if data.group.is_some() || data.time_column.is_some() {
            apart = vec![0; rows.len()];
            let first = &left_out[..left_out.len() / repeats];
            first.iter().enumerate().for_each(|(fold, own)| own.iter().for_each(|&i| apart[i] = fold as u32));
        }
        let (in_gaps, weights) = (Vec::new(), Vec::new());
        let joining =
            Joining { inputs: &inputs, rows: &rows, left_out, repeats, in_gaps, labels, apart, weights };
        let (config, ensemble) = (self.header.config.clone(), self.header.ensemble.clone());
        // A row by its number among the kept ones names nothing outside.
        let joined = joining.join(self, &config, &Begin::From(Box::new(ensemble.unwrap_or_default())));
        self.out_of_fold = None;
        joined
    }
}
