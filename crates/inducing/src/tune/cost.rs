//! How long a trial will take, judged by earlier ones.

use crate::config::{Config, EncoderKind};

/// Rows that are trained on, and numbers that the network sees of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) rows: usize,
    pub(super) width: usize,
}

/// Multiply-adds of a run, up to a factor that all runs on the same data share.
///
/// ```text
/// networks · ( pretraining steps · B·P  +  steps · ( B·(P + MD + M²) + M³ ) )
/// ```
/// with P parameters of the encoder. Early stopping and what needs no training are left out.
pub(super) fn relative_cost(config: &Config, size: Size) -> f64 {
    let (train, encoder, gp) = (&config.train, &config.encoder, &config.gp);
    let folds = train.crossfit_folds.min(size.rows / 2);
    let (networks, share) = match folds {
        0 | 1 => (1.0, 1.0),
        folds => ((folds * train.crossfit_repeats.get()) as f64, 1.0 - 1.0 / folds as f64),
    };
    let rows = (size.rows as f64 * share).max(1.0);
    let steps = |epochs: usize, batch: usize, least: usize, most: usize| {
        let each = (rows / batch as f64).ceil();
        let most = if most == 0 { f64::INFINITY } else { (most as f64).max(each) };
        (epochs as f64 * each).max(least as f64).min(most)
    };
    let pretraining_batch = train.pretrain_batch_size.get();
    let pretraining = match train.pretrain_epochs {
        0 => 0.0,
        epochs => steps(epochs, pretraining_batch, train.pretrain_min_steps, train.pretrain_max_steps),
    };
    let batch = train.batch_size.get();
    let likelihood = steps(train.epochs, batch, 0, train.max_steps);
    let (m, d) = ((gp.inducing.get() as f64).min(rows), encoder.features.get() as f64);
    // A step's overhead: without it, a tiny network would seem to cost nothing.
    let parameters = 2000.0 + parameters(config, size.width);
    let process = batch as f64 * (m * d + m * m) + m.powi(3);
    networks
        * (pretraining * pretraining_batch as f64 * parameters
            + likelihood * (batch as f64 * parameters + process))
}

/// Parameters of a row's dense layers, about.
fn parameters(config: &Config, width: usize) -> f64 {
    let encoder = &config.encoder;
    if encoder.kind == EncoderKind::Identity {
        return 0.0;
    }
    let embedded = if encoder.frequencies == 0 { 1 } else { encoder.embedding_width.get() };
    let members = encoder.members.get();
    let layers: Vec<usize> = std::iter::once(width * embedded)
        .chain(encoder.hidden.iter().map(|units| units.get()))
        .chain([encoder.features.get() / members])
        .collect();
    let one = layers.windows(2).map(|pair| (pair[0] * pair[1]) as f64).sum::<f64>();
    members as f64 * one
}

/// Seconds that a run of this cost takes, by the cost and the seconds of earlier ones; never less than the shortest of them, for
/// costs are rough and the cheapest of many points is the one that is most underestimated.
pub(super) fn predicted_seconds(cost: f64, earlier: &[(f64, f64)]) -> Option<f64> {
    let (costs, seconds) = earlier.iter().fold((0.0, 0.0), |(c, s), &(cost, took)| (c + cost, s + took));
    let shortest = earlier.iter().map(|&(_, took)| took).fold(f64::INFINITY, f64::min);
    (costs > 0.0).then(|| (seconds / costs * cost).max(shortest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{ProblemKind, Settings};

    fn cost(set: &[&str]) -> f64 {
        let settings = set.iter().fold(Settings::default(), |all, key| all.set(*key));
        let config = settings.resolve(ProblemKind::Regression).expect("valid settings");
        relative_cost(&config, Size { rows: 5000, width: 8 })
    }

    #[test]
    fn twice_the_folds_cost_more_than_twice_as_much() {
        let (four, eight) = (cost(&[]), cost(&["train.crossfit_folds=8"]));
        assert!(eight > 2.0 * four && eight < 3.0 * four, "{four} {eight}: each member sees more rows, too");
    }

    #[test]
    fn wider_layers_more_epochs_and_more_inducing_points_cost_more() {
        let default = cost(&[]);
        for more in
            ["encoder.hidden=[512,256]", "train.epochs=8", "train.pretrain_epochs=60", "gp.inducing=256"]
        {
            assert!(cost(&[more]) > default, "{more}");
        }
        assert!(cost(&["encoder.frequencies=0"]) < default, "an input without embedding is one number");
    }

    #[test]
    fn time_is_predicted_in_proportion_but_not_below_what_was_seen() {
        assert_eq!(predicted_seconds(6.0, &[(1.0, 2.0), (2.0, 4.0)]), Some(12.0));
        assert_eq!(predicted_seconds(0.1, &[(1.0, 2.0), (2.0, 4.0)]), Some(2.0), "no less than the shortest");
        assert_eq!(predicted_seconds(6.0, &[]), None);
    }
}
