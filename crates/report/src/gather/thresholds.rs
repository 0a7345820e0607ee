//! Precision, recall and ROC curves of classes, from the probabilities of all rows.

use crate::record::{ClassThresholds, OperatingPoint};

/// Classes whose curves are kept.
const MAX_CLASSES: usize = 9;
/// A point of a curve is kept when it adds this share of the rows of the class, or of the others.
const STEP: f64 = 0.01;
/// Thresholds are exact at multiples of one in so many.
const ROUND: usize = 20;

/// Curves of probabilities `p` `[N, K]` against the true classes: the rarer of two classes, else the most frequent ones.
pub(super) fn thresholds(p: &[f64], classes: usize, y: &[u32]) -> Vec<ClassThresholds> {
    let mut counts = vec![0_usize; classes];
    y.iter().for_each(|&label| counts[label as usize] += 1);
    let mut order: Vec<usize> = (0..classes).collect();
    match counts[..] {
        [first, second] => order = vec![usize::from(first >= second)],
        _ => order.sort_by_key(|&class| (usize::MAX - counts[class], class)),
    }
    order.truncate(MAX_CLASSES);
    let of_class = |class: usize| {
        let rows = p.iter().skip(class).step_by(classes).zip(y);
        curve(class, rows.map(|(&p, &y)| (p, y as usize == class)).collect())
    };
    order.into_iter().filter_map(of_class).collect()
}

/// `None` where all rows are of the class, or none is.
fn curve(class: usize, mut rows: Vec<(f64, bool)>) -> Option<ClassThresholds> {
    let positives = rows.iter().filter(|(_, own)| *own).count();
    let negatives = rows.len() - positives;
    if positives == 0 || negatives == 0 {
        return None;
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut all: Vec<OperatingPoint> = Vec::new();
    let (mut found, mut mistaken, mut average_precision, mut auroc) = (0, 0, 0.0, 0.0);
    for tied in rows.chunk_by(|a, b| a.0 == b.0) {
        let own = tied.iter().filter(|(_, own)| *own).count();
        let others = tied.len() - own;
        // Trapezes: of tied rows half are in the wrong order.
        auroc += others as f64 * (found as f64 + 0.5 * own as f64);
        found += own;
        mistaken += others;
        average_precision += own as f64 * found as f64 / (found + mistaken) as f64;
        all.push(OperatingPoint { threshold: tied[0].0, true_positives: found, false_positives: mistaken });
    }
    Some(ClassThresholds {
        class,
        positives,
        negatives,
        points: thinned(&all, positives, negatives),
        average_precision: average_precision / positives as f64,
        auroc: auroc / (positives as f64 * negatives as f64),
    })
}

/// The first and the last point, those that round thresholds need, and others that are visibly apart.
fn thinned(all: &[OperatingPoint], positives: usize, negatives: usize) -> Vec<OperatingPoint> {
    let mut kept: Vec<OperatingPoint> = Vec::new();
    let bin = |point: &OperatingPoint| (point.threshold * ROUND as f64).floor();
    for (k, point) in all.iter().enumerate() {
        let apart = kept.last().is_none_or(|last| {
            (point.true_positives - last.true_positives) as f64 >= STEP * positives as f64
                || (point.false_positives - last.false_positives) as f64 >= STEP * negatives as f64
        });
        let ends_bin = all.get(k + 1).is_none_or(|next| bin(next) != bin(point));
        if apart || ends_bin {
            kept.push(*point);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with these probabilities of the second of two classes.
    fn two(p: &[f64], y: &[u32]) -> Vec<ClassThresholds> {
        thresholds(&p.iter().flat_map(|p| [1.0 - p, *p]).collect::<Vec<_>>(), 2, y)
    }

    #[test]
    fn counts_at_a_threshold_are_those_of_a_loop_over_the_rows() {
        let n = 3000;
        let p: Vec<f64> = (0..n).map(|i| f64::from(i * 7919 % n) / f64::from(n)).collect();
        let y: Vec<u32> =
            p.iter().enumerate().map(|(i, p)| u32::from(p + 0.3 * (i as f64).sin() > 0.8)).collect();
        let [curve] = &two(&p, &y)[..] else { panic!("one class") };
        assert!(curve.class == 1 && curve.positives < curve.negatives);
        assert!(curve.points.len() < 250, "{}", curve.points.len());
        for k in 1..20 {
            let t = f64::from(k) / 20.0;
            let count = |own: u32| p.iter().zip(&y).filter(|(p, y)| **p >= t && **y == own).count();
            let point = curve.at(t).expect("rows above it");
            assert_eq!((point.true_positives, point.false_positives), (count(1), count(0)), "at {t}");
        }
        let last = curve.points.last().expect("points");
        assert_eq!((last.true_positives, last.false_positives), (curve.positives, curve.negatives));
    }

    #[test]
    fn areas_are_one_for_a_perfect_order_and_the_share_for_no_order() {
        let perfect = &two(&[0.9, 0.8, 0.2, 0.1, 0.1], &[1, 1, 0, 0, 0])[0];
        assert_eq!((perfect.average_precision, perfect.auroc), (1.0, 1.0));
        let tied = &two(&[0.5; 8], &[1, 0, 0, 0, 1, 0, 0, 0])[0];
        assert_eq!((tied.average_precision, tied.auroc, tied.points.len()), (0.25, 0.5, 1));
        let wrong = &two(&[0.1, 0.9, 0.8], &[1, 0, 0])[0];
        assert_eq!((wrong.average_precision, wrong.auroc), (1.0 / 3.0, 0.0));
    }

    #[test]
    fn the_rarer_of_two_classes_is_the_positive_one_and_several_come_by_frequency() {
        assert_eq!(two(&[0.9, 0.1, 0.8], &[1, 0, 1])[0].class, 0);
        assert_eq!(two(&[0.9, 0.1], &[1, 0])[0].class, 1, "of equally frequent ones the second");
        assert!(two(&[0.9, 0.1], &[1, 1]).is_empty(), "there is no second class");
        let p = [1.0 / 3.0; 18];
        let classes: Vec<usize> = thresholds(&p, 3, &[2, 2, 2, 0, 0, 1]).iter().map(|c| c.class).collect();
        assert_eq!(classes, [2, 0, 1]);
    }
}
