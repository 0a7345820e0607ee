//! One line that puts simple models beside a result.

use super::output::number;
use inducing::model::{Score, Scores};
use std::collections::BTreeMap;

/// The order in which they are named.
const NAMES: [(&str, &str); 3] =
    [("linear", "linear"), ("neighbours", "nearest neighbours"), ("constant", "constant")];

/// Scores of baselines beside those of a model, a line for each target: CRPS of numbers, NLL of classes.
/// On rows out of fold, which also chose epochs and weights, an advantage must be larger than what that may flatter.
pub(crate) fn lines(part: &str, scores: &Scores, baselines: &BTreeMap<String, Scores>) -> String {
    let of_target = |(target, score): (&String, &Score)| {
        let others: Vec<(&str, f64)> = NAMES
            .iter()
            .filter_map(|(key, name)| Some((*name, value(baselines.get(*key)?.get(target)?))))
            .filter(|(_, value)| value.is_finite())
            .collect();
        let (best, least) = others.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let named: Vec<String> =
            others.iter().map(|(name, value)| format!("{name} {}", number(*value))).collect();
        let (what, own) = (measure(score), value(score));
        let share = 100.0 * (1.0 - own / least);
        let flattery = if part == "out_of_fold" { 100.0 / (rows(score) as f64).sqrt() } else { 0.0 };
        let verdict = if own < least && share < flattery && least > 0.0 {
            format!("no better than {best}, as far as {} rows out of fold can tell", rows(score))
        } else if own < least {
            match score {
                // A likelihood has no zero that a share could be of.
                Score::Classes(_) if own < 0.0 || least <= 0.0 => format!("better than {best}"),
                _ => format!("{share:.0} % better than {best}"),
            }
        } else {
            format!("NOT better than {best}: the simpler model may serve as well")
        };
        Some(format!("    baselines    {what} {} against {}: {verdict}\n", number(own), named.join(", ")))
    };
    scores.iter().filter_map(of_target).collect()
}

fn rows(score: &Score) -> usize {
    match score {
        Score::Number(metrics) => metrics.n,
        Score::Classes(metrics) => metrics.n,
    }
}

fn measure(score: &Score) -> &'static str {
    match score {
        Score::Number(_) => "CRPS",
        Score::Classes(_) => "NLL",
    }
}

fn value(score: &Score) -> f64 {
    match score {
        Score::Number(metrics) => metrics.crps,
        Score::Classes(metrics) => metrics.nll,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inducing::metrics::Metrics;

    #[test]
    fn a_result_that_is_not_better_says_so() {
        let scores = |std: f64| {
            let metrics = Metrics::gaussian(&[0.0, 1.0], &[0.0, 1.0], &[std, std]);
            Scores::from([("y".to_owned(), Score::Number(metrics))])
        };
        let baselines =
            BTreeMap::from([("linear".to_owned(), scores(1.0)), ("constant".to_owned(), scores(4.0))]);
        let better = lines("test", &scores(0.5), &baselines);
        assert!(better.contains("50 % better than linear") && better.contains("constant"), "{better}");
        let worse = lines("test", &scores(2.0), &baselines);
        assert!(worse.contains("NOT better than linear"), "{worse}");
        assert_eq!(lines("test", &scores(1.0), &BTreeMap::new()), "");
        let rough = lines("out_of_fold", &scores(0.5), &baselines);
        assert!(rough.contains("no better than linear, as far as 2 rows"), "{rough}");
    }
}
