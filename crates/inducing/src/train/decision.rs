//! Chooses the threshold between two classes on rows that were held out.

use crate::config::{Threshold, TrainConfig};
use crate::model::Decision;

/// The decision that a configuration asks for, given probabilities `[N, K]` of held-out rows of these classes.
pub(super) fn decision(config: &TrainConfig, p: &[f64], labels: &[u32], weights: &[f64]) -> Option<Decision> {
    if !config.costs.is_empty() {
        return Some(Decision::Costs(config.costs.clone()));
    }
    let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
    let rows =
        || p.chunks_exact(2).zip(labels).enumerate().map(|(i, (p, label))| (p[1], *label == 1, weight(i)));
    let at = match config.threshold? {
        Threshold::At(at) => at,
        by => best(rows().collect(), by)?,
    };
    Some(Decision::Threshold(at))
}

/// The threshold that suits rows of this probability, class and weight best, half-way between two of their probabilities.
fn best(mut rows: Vec<(f64, bool, f64)>, by: Threshold) -> Option<f64> {
    rows.sort_by(|a, b| b.0.total_cmp(&a.0)); // the surest of the second class first
    let of = |class: bool| rows.iter().filter(|row| row.1 == class).map(|row| row.2).sum::<f64>();
    let (positive, negative) = (of(true), of(false));
    if positive == 0.0 || negative == 0.0 {
        return None;
    }
    let (mut hits, mut alarms) = (0.0, 0.0);
    let mut best: Option<(f64, f64)> = None;
    for (i, &(p, is_positive, weight)) in rows.iter().enumerate() {
        *(if is_positive { &mut hits } else { &mut alarms }) += weight;
        let next = rows.get(i + 1).map_or(0.0, |row| row.0);
        if next == p {
            continue;
        }
        let (precision, recall) = (hits / (hits + alarms), hits / positive);
        let score = match by {
            Threshold::F1 => 2.0 * hits / (positive + hits + alarms),
            Threshold::BalancedAccuracy => 0.5 * (recall + 1.0 - alarms / negative),
            // Recall only grows on the way down, so the last threshold that is precise enough has most of it.
            Threshold::Precision(least) => {
                if precision >= least {
                    recall
                } else {
                    -1.0
                }
            }
            Threshold::Recall(least) => {
                if recall >= least {
                    precision
                } else {
                    -1.0
                }
            }
            Threshold::At(_) => return None,
        };
        if score >= 0.0 && best.is_none_or(|(most, _)| score > most) {
            best = Some((score, 0.5 * (p + next)));
        }
    }
    best.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<(f64, bool, f64)> {
        // Sorted by probability: + + − + − + − −
        let labels = [true, true, false, true, false, true, false, false];
        labels.into_iter().enumerate().map(|(i, label)| (0.9 - 0.1 * i as f64, label, 1.0)).collect()
    }

    #[test]
    fn each_measure_has_its_threshold() {
        let at = |by| best(rows(), by).map(|at| (at * 100.0).round() / 100.0);
        assert_eq!(at(Threshold::F1), Some(0.35), "4 hits, 2 alarms: F1 0.8");
        assert_eq!(at(Threshold::BalancedAccuracy), Some(0.75), "2 hits, no alarm: the first of equal ones");
        assert_eq!(at(Threshold::Precision(0.75)), Some(0.55), "3 hits, 1 alarm");
        assert_eq!(at(Threshold::Precision(0.99)), Some(0.75));
        assert_eq!(at(Threshold::Recall(0.99)), Some(0.35));
        assert_eq!(best(vec![(0.3, true, 1.0)], Threshold::F1), None, "one class has no threshold");
    }

    #[test]
    fn a_weight_of_two_is_a_row_that_is_there_twice() {
        let (mut twice, mut weighted) = (rows(), rows());
        twice.insert(3, twice[2]);
        weighted[2].2 = 2.0;
        for by in [Threshold::F1, Threshold::BalancedAccuracy, Threshold::Precision(0.6)] {
            assert_eq!(best(twice.clone(), by), best(weighted.clone(), by));
        }
    }
}
