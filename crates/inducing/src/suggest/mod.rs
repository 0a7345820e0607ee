//! Which rows of a pool to label next: those that would teach the model most, or those that may beat the best value known.
//!
//! ```text
//! learn, numbers    score = Σ_outputs v                           v latent variance of the standardised target
//! learn, classes    score = I(y; f)                               mutual information, in nats (see `information`)
//! maximise          score = E max(0, f − best), f ~ N(μ, v)       expected improvement, in the target's own units
//! ```
//! Rows are chosen one after another. Each chosen row is taken as observed, at its predicted mean: the variances of rows like it
//! fall (see `conditioning`), and the best value rises to its mean. So a batch is spread out, and the copy of a chosen row is
//! chosen only where its noise makes a second look worth more than all other rows. Rows are alike in the length scales of the
//! process on training rows, where the model keeps them; otherwise in the first network's feature space, where the median distance
//! is the length scale. Ties go to the first row, and nothing depends on threads.

mod candidates;
mod conditioning;
mod error;
mod improvement;
mod information;
mod pool;
mod selection;

pub use error::SuggestError;
pub use improvement::{expected_improvement, log_expected_improvement};
pub use pool::Pool;

use crate::dataset::{Dataset, Inputs};
use crate::error::Error;
use crate::model::{Model, Prediction};
use candidates::{Candidates, Output};
use conditioning::PoolProcess;
use selection::{Criterion, choose};

/// What the labels are for.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Goal {
    /// A better model: active learning.
    #[default]
    Learn,
    /// A large value: Bayesian optimisation by expected improvement.
    Maximise {
        /// The best value known; by default the largest label of the rows that the model keeps.
        best: Option<f64>,
    },
    /// A small value.
    Minimise {
        /// The best value known; by default the smallest label of the rows that the model keeps.
        best: Option<f64>,
    },
}

/// Which rows to suggest.
#[derive(Debug, Clone, PartialEq)]
pub struct SuggestOptions {
    /// How many; all rows where there are fewer.
    pub count: usize,
    /// What the labels are for.
    pub goal: Goal,
    /// The target that counts, by its name; by default all of them, which only [`Goal::Learn`] can do.
    pub target: Option<String>,
}

impl Default for SuggestOptions {
    fn default() -> Self {
        Self { count: 20, goal: Goal::Learn, target: None }
    }
}

/// A row to label.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Suggestion {
    /// Its position in the pool, from 0.
    pub row: usize,
    /// Its score when it was chosen, given the rows chosen before it.
    pub score: f64,
    /// What the model says of it, whatever else was chosen.
    pub prediction: Prediction,
}

impl Model {
    /// The rows of an unlabelled pool to label next, best first.
    ///
    /// O(n·count²) and n·count numbers of memory, for each number to predict.
    ///
    /// ```
    /// use inducing::{Dataset, SuggestOptions, Trainer};
    /// # let folder = std::env::temp_dir();
    /// # let [known, pool] = ["known", "pool"].map(|name| folder.join(format!("inducing-doc-suggest-{name}.csv")));
    /// # let rows: String = (0..40).map(|i| format!("{},{}\n", i % 20, (i % 20) / 2)).collect();
    /// # std::fs::write(&known, format!("x,y\n{rows}")).unwrap();
    /// # std::fs::write(&pool, "x\n3\n11\n60\n").unwrap();
    /// let data = Dataset::read(&known)?.target("y")?;
    /// let model = Trainer::new(&data)
    ///     .set("data.task=regression")
    ///     .set("train.pretrain_min_steps=20")
    ///     .set("train.epochs=2")
    ///     .fit()?;
    /// let options = SuggestOptions { count: 1, ..SuggestOptions::default() };
    /// let [next] = &model.suggest(&Dataset::read(&pool)?, &options)?[..] else { panic!("one row") };
    /// assert_eq!(next.row, 2); // 60 is unlike all rows from 0 to 19
    /// # Ok::<(), inducing::Error>(())
    /// ```
    pub fn suggest(&self, data: &Dataset, options: &SuggestOptions) -> Result<Vec<Suggestion>, Error> {
        self.check_suggestion(options)?;
        self.suggest_inputs(&self.read_pool(data, &[])?.inputs, options)
    }

    /// The same for inputs that are encoded already, such as those of [`read_pool`](Self::read_pool).
    pub fn suggest_inputs(
        &self,
        inputs: &Inputs,
        options: &SuggestOptions,
    ) -> Result<Vec<Suggestion>, Error> {
        let target = self.suggested_target(options)?;
        let mut criterion = self.criterion(options.goal, target.unwrap_or(0))?;
        let Candidates { x, mut outputs } = Candidates::new(self, inputs)?;
        if let Some(target) = target {
            outputs = vec![outputs.swap_remove(target)];
        }
        if let (Criterion::Improvement(improvement), [output]) = (&mut criterion, &outputs[..]) {
            improvement.mean.clone_from(&output.mean);
        }
        let process = |Output { metric, var, noise, .. }| PoolProcess::new(&x, metric, var, noise);
        let processes = outputs.into_iter().map(process).collect();
        let chosen = choose(processes, criterion, inputs.rows(), options.count);
        let rows: Vec<usize> = chosen.iter().map(|(row, _)| *row).collect();
        let predictions = self.predict_inputs(inputs, &rows)?;
        let suggestion = |((row, score), prediction)| Suggestion { row, score, prediction };
        Ok(chosen.into_iter().zip(predictions).map(suggestion).collect())
    }

    /// Refuses options that make no sense for this model, before a pool is read.
    pub fn check_suggestion(&self, options: &SuggestOptions) -> Result<(), Error> {
        let target = self.suggested_target(options)?;
        self.criterion(options.goal, target.unwrap_or(0))?;
        Ok(())
    }

    /// The output that counts; `None` for all.
    fn suggested_target(&self, options: &SuggestOptions) -> Result<Option<usize>, SuggestError> {
        let names = self.header().schema.target_names();
        if self.header().schema.classes().is_some() && options.goal != Goal::Learn {
            return Err(SuggestError::Classes);
        }
        match &options.target {
            Some(name) => match names.iter().position(|other| other == name) {
                Some(target) => Ok(Some(target)),
                None => Err(SuggestError::UnknownTarget { name: name.clone(), names }),
            },
            None if options.goal != Goal::Learn && names.len() > 1 => {
                Err(SuggestError::SeveralTargets { names })
            }
            None => Ok(None),
        }
    }

    /// By what rows are ordered; the means of an improvement are not filled in yet.
    fn criterion(&self, goal: Goal, output: usize) -> Result<Criterion, SuggestError> {
        let (sign, best) = match goal {
            Goal::Learn => return Ok(Criterion::Variance),
            Goal::Maximise { best } => (1.0, best),
            Goal::Minimise { best } => (-1.0, best),
        };
        let target = &self.header().schema.numbers()[output];
        let best = match (best, self.kept_rows()) {
            (Some(best), _) if best.is_finite() => sign * target.standardise(best),
            (Some(best), _) => return Err(SuggestError::BestNotFinite { best }),
            (None, None) => return Err(SuggestError::NoBest),
            (None, Some(kept)) => {
                let labels = kept.y.iter().skip(output).step_by(self.outputs());
                labels.map(|&y| sign * f64::from(y)).fold(f64::NEG_INFINITY, f64::max)
            }
        };
        // On a curved scale an improvement is worth what the scale's slope is at the best value.
        let slope = target.scale.transform.log_slope(target.restore(sign * best)).exp();
        Ok(Criterion::improvement(sign, best, target.std / slope))
    }
}
