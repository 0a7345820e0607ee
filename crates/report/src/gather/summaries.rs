//! Which points are plotted, and curves and histograms over all of them.

use crate::record::Histogram;

/// Share of the plotted points that are the most uncertain; the same share are the worst.
const EXTREME_SHARE: f64 = 0.1;
/// Points of a curve, at most.
const MAX_CURVE_POINTS: usize = 100;
/// Bins of a histogram, at most.
const MAX_BINS: usize = 40;

/// Positions of at most `max` points: the most uncertain, the worst, and a random sample of the rest, ascending.
pub(super) fn subsample(uncertainty: &[f64], error: &[f64], max: usize) -> Vec<usize> {
    let n = uncertainty.len();
    if n <= max {
        return (0..n).collect();
    }
    let extreme = (max as f64 * EXTREME_SHARE).ceil() as usize;
    let mut chosen = vec![false; n];
    for by in [uncertainty, error] {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| by[b].total_cmp(&by[a]));
        order[..extreme].iter().for_each(|&i| chosen[i] = true);
    }
    let others: Vec<usize> = (0..n).filter(|&i| !chosen[i]).collect();
    let room = max.saturating_sub(n - others.len());
    // Hashed rather than every n-th: files are often sorted.
    let mut shuffled: Vec<(u64, usize)> = others.into_iter().map(|i| (hash(i as u64), i)).collect();
    shuffled.sort_unstable();
    shuffled[..room].iter().for_each(|&(_, i)| chosen[i] = true);
    (0..n).filter(|&i| chosen[i]).collect()
}

/// SplitMix64: reproducible, and unrelated to the order of the rows.
fn hash(i: u64) -> u64 {
    let mut z = i.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Risk–coverage curve: share of rows kept, most certain first, and their mean loss.
pub(super) fn risk_curve(uncertainty: &[f64], loss: &[f64]) -> Vec<[f64; 2]> {
    let n = uncertainty.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| uncertainty[a].total_cmp(&uncertainty[b]));
    let mut sum = 0.0;
    let means: Vec<f64> = order
        .iter()
        .enumerate()
        .map(|(kept, &i)| {
            sum += loss[i];
            sum / (kept + 1) as f64
        })
        .collect();
    let steps = MAX_CURVE_POINTS.min(n);
    (1..=steps).map(|s| s * n / steps).map(|kept| [kept as f64 / n as f64, means[kept - 1]]).collect()
}

/// The middle value, of an even number of values the mean of the two; not a number where there is none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    let at = |i: usize| values.get(i).copied().unwrap_or(f64::NAN);
    if n % 2 == 1 { at(n / 2) } else { 0.5 * at(n.wrapping_sub(2) / 2) + 0.5 * at(n / 2) }
}

/// Counts of the finite values between equally spaced edges.
pub(super) fn histogram(values: &[f64]) -> Histogram {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    if low > high {
        return Histogram { edges: vec![0.0, 1.0], counts: vec![0] };
    }
    let bins = ((values.len() as f64).sqrt().ceil() as usize).clamp(1, MAX_BINS);
    let high = if high > low { high } else { low + low.abs().max(1e-12) * 1e-3 * bins as f64 };
    // Halved: the difference of the largest and the smallest number overflows.
    let half_range = high / 2.0 - low / 2.0;
    let bin = |x: f64| ((x / 2.0 - low / 2.0) / half_range * bins as f64) as usize;
    let edge = |t: f64| low * (1.0 - t) + high * t;
    let mut counts = vec![0; bins];
    finite().for_each(|x| counts[bin(x).min(bins - 1)] += 1);
    Histogram { edges: (0..=bins).map(|i| edge(i as f64 / bins as f64)).collect(), counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_uncertain_and_the_worst_are_always_plotted() {
        let n = 5000;
        let uncertain: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == 4321))).collect();
        let wrong: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == 17))).collect();
        let plotted = subsample(&uncertain, &wrong, 200);
        assert_eq!(plotted.len(), 200);
        assert!(plotted.contains(&4321) && plotted.contains(&17));
        assert!(plotted.windows(2).all(|pair| pair[0] < pair[1]));
        let middle = plotted.iter().filter(|&&i| i >= n / 2).count();
        assert!((60..140).contains(&middle), "{middle} of 200 come from the second half");
        assert_eq!(subsample(&uncertain[..5], &wrong[..5], 200), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn risk_is_the_mean_loss_of_the_most_certain() {
        let curve = risk_curve(&[0.3, 0.1, 0.2, 0.4], &[3.0, 1.0, 2.0, 6.0]);
        assert_eq!(curve, [[0.25, 1.0], [0.5, 1.5], [0.75, 2.0], [1.0, 3.0]]);
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!((median(vec![9.0, 1.0, 2.0]), median(vec![4.0, 1.0, 2.0, 9.0])), (2.0, 3.0));
        assert!(median(Vec::new()).is_nan());
    }

    #[test]
    fn every_value_is_counted_once() {
        for values in
            [vec![1.0, 2.0, 2.5, 9.0], vec![3.0; 7], vec![-1.0], vec![0.0, 0.0], vec![f64::MAX, f64::MIN]]
        {
            let Histogram { edges, counts } = histogram(&values);
            assert_eq!(counts.iter().sum::<usize>(), values.len());
            assert_eq!(edges.len(), counts.len() + 1);
            assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
        }
        assert_eq!(histogram(&[f64::NAN, f64::INFINITY]).counts, [0]);
    }
}
