//! Cross-fitting: every member of an ensemble leaves one fold of the rows out, so that every row has predictions of
//! members that never saw it. Calibration, stacking and scores need no validation part then.

use crate::config::Config;
use crate::dataset::{Inputs, Prepared, Values};
use crate::error::Error;
use crate::model::{Model, Network};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// What a member trains on, and what it leaves out.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) train: Vec<usize>,
    pub(crate) held_out: Vec<usize>,
    /// What scores its epochs, if not what it leaves out.
    pub(crate) validation: Option<Vec<usize>>,
}

impl Member {
    pub(crate) fn validation(&self) -> &[usize] {
        self.validation.as_ref().unwrap_or(&self.held_out)
    }
}

/// What a member says of the rows it left out.
#[derive(Debug, Clone)]
pub(crate) struct HeldOutFold {
    /// Their places among the kept rows.
    pub(crate) places: Vec<usize>,
    /// Features `[n, D]`.
    pub(crate) phi: Vec<f32>,
    /// Latent means `[n, C]`.
    pub(crate) mean: Vec<f64>,
    /// Latent variances `[n]`.
    pub(crate) var: Vec<f64>,
}

/// Predictions of every training row by members that never saw it, `[N, C]` in the order of the kept rows.
#[derive(Debug, Clone)]
pub(crate) struct OutOfFold {
    /// Mean of those members.
    pub(crate) mean: Vec<f64>,
    /// Their variance, and their own latent one.
    pub(crate) var: Vec<f64>,
    /// How many members a row has.
    pub(crate) repeats: usize,
}

impl Prepared {
    /// The members of an ensemble; empty where one network is trained.
    pub(crate) fn members(&self, config: &Config) -> Vec<Member> {
        let folds = config.train.crossfit_folds.min(self.train.len() / 2);
        if folds < 2 {
            return Vec::new();
        }
        let classes: Vec<u32> = match &self.values {
            Values::Numbers(_) => vec![0; self.train.len()],
            Values::Classes(labels) => self.train.iter().map(|&row| labels[row]).collect(),
        };
        let repeats = 0..config.train.crossfit_repeats.get() as u64;
        let members = repeats.flat_map(|repeat| (0..folds).map(move |fold| (repeat, fold)));
        members
            .map(|(repeat, fold)| {
                let seed = config.seed ^ (0x00f0_1d5e_ed00 + repeat);
                let held_out = match self.related.folds(&self.train, folds, seed) {
                    Some(of_rows) => {
                        let own = self.train.iter().zip(&of_rows).filter(|(_, of_row)| **of_row == fold);
                        own.map(|(&row, _)| row).collect()
                    }
                    None => data::fold(&self.train, &classes, folds, fold, seed),
                };
                let train = self.train.iter().copied().filter(|row| held_out.binary_search(row).is_err());
                Member { train: train.collect(), held_out, validation: None }
            })
            .filter(|member: &Member| !member.held_out.is_empty() && !member.train.is_empty())
            .collect()
    }

    /// Of the kept rows, which must not be each other's neighbours when one of them is judged: those that share a label. Empty where
    /// nothing relates rows.
    pub(crate) fn apart(&self, rows: &[usize], config: &Config) -> Vec<u32> {
        let folds = config.train.crossfit_folds.max(2);
        let of_rows = self.related.folds(rows, folds, config.seed ^ 0x00f0_1d5e_ed00).unwrap_or_default();
        of_rows.into_iter().map(|fold| fold as u32).collect()
    }

    /// Training rows that join members and neighbours: all, or a random sample of many.
    pub(crate) fn kept(&self, config: &Config) -> Vec<usize> {
        let mut rows = self.train.clone();
        let most = config.neighbours.max_rows.get();
        if rows.len() > most {
            rows.shuffle(&mut ChaCha8Rng::seed_from_u64(config.seed ^ 0x6b65_7074));
            rows.truncate(most);
            rows.sort_unstable();
        }
        rows
    }
}

/// Asks every member for the rows that it left out: `left_out` are their places among `rows`.
pub(crate) fn held_out(
    model: &Model,
    inputs: &Inputs,
    rows: &[usize],
    left_out: &[Vec<usize>],
) -> Result<Vec<HeldOutFold>, Error> {
    let ask = |(network, places): (&Network, &Vec<usize>)| {
        let own: Vec<usize> = places.iter().map(|&place| rows[place]).collect();
        let phi = network.features(inputs, &own)?;
        let (mean, var) = network.latent(&phi, own.len());
        Ok(HeldOutFold { places: places.clone(), phi, mean, var })
    };
    model.networks().iter().zip(left_out).map(ask).collect()
}

impl OutOfFold {
    /// Joins what members say of `n` rows that they left out, most of them `repeats` times.
    pub(crate) fn new(folds: &[HeldOutFold], n: usize, c: usize, repeats: usize) -> Self {
        let (mut sum, mut squares, mut within) = (vec![0.0; n * c], vec![0.0; n * c], vec![0.0; n * c]);
        let mut times = vec![0_usize; n];
        for HeldOutFold { places, mean, var, .. } in folds {
            for (i, &place) in places.iter().enumerate() {
                times[place] += 1;
                for k in 0..c {
                    let (at, mean) = (place * c + k, mean[i * c + k]);
                    sum[at] += mean;
                    squares[at] += mean * mean;
                    within[at] += var[i];
                }
            }
        }
        let mut oof = Self { mean: sum, var: within, repeats };
        for at in 0..n * c {
            // The only row of a class is in no fold: every member saw it, and it says nothing.
            let times = times[at / c].max(1) as f64;
            oof.mean[at] /= times;
            let between = (squares[at] / times - oof.mean[at].powi(2)).max(0.0);
            let unbiased = if times > 1.0 { between * times / (times - 1.0) } else { 0.0 };
            oof.var[at] = oof.var[at] / times + unbiased;
        }
        oof
    }
}
