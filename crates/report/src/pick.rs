//! Thinning out and summing up: which points are drawn, and curves over all of them.

use crate::record::Histogram;

/// Share of the drawn points that are the most uncertain, and as many that are the worst.
const EXTREME: f64 = 0.1;
/// Points of a curve at the most.
const CURVE: usize = 100;
/// Bars of a histogram at the most.
const BARS: usize = 40;

/// Positions of at most `most` points: the most uncertain, the worst, and an even part of the others, ascending.
pub(crate) fn pick(uncertain: &[f64], wrong: &[f64], most: usize) -> Vec<usize> {
    let n = uncertain.len();
    if n <= most {
        return (0..n).collect();
    }
    let extreme = (most as f64 * EXTREME).ceil() as usize;
    let mut chosen = vec![false; n];
    for by in [uncertain, wrong] {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| by[b].total_cmp(&by[a]));
        order[..extreme].iter().for_each(|&i| chosen[i] = true);
    }
    let others: Vec<usize> = (0..n).filter(|&i| !chosen[i]).collect();
    let room = most - (n - others.len());
    // Files are often sorted; a step that is prime to nothing in particular would still be a pattern of their order.
    let mut scattered: Vec<(u64, usize)> = others.into_iter().map(|i| (scatter(i as u64), i)).collect();
    scattered.sort_unstable();
    scattered[..room].iter().for_each(|&(_, i)| chosen[i] = true);
    (0..n).filter(|&i| chosen[i]).collect()
}

/// The same number for the same position, and no order among them (SplitMix64).
fn scatter(i: u64) -> u64 {
    let mut z = i.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Share of points kept, the surest first, and the mean loss of those.
pub(crate) fn risk_curve(uncertain: &[f64], loss: &[f64]) -> Vec<[f64; 2]> {
    let n = uncertain.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| uncertain[a].total_cmp(&uncertain[b]));
    let mut sum = 0.0;
    let means: Vec<f64> = order
        .iter()
        .enumerate()
        .map(|(kept, &i)| {
            sum += loss[i];
            sum / (kept + 1) as f64
        })
        .collect();
    // The first few points are luck.
    let steps = CURVE.min(n);
    (1..=steps).map(|s| s * n / steps).map(|kept| [kept as f64 / n as f64, means[kept - 1]]).collect()
}

/// Counts of values between equally spaced edges.
pub(crate) fn histogram(values: &[f64]) -> Histogram {
    let finite = || values.iter().copied().filter(|x| x.is_finite());
    let (low, high) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), x| (l.min(x), h.max(x)));
    if low > high {
        return Histogram { edges: vec![0.0, 1.0], counts: vec![0] };
    }
    let bars = ((values.len() as f64).sqrt().ceil() as usize).clamp(1, BARS);
    let width = if high > low { (high - low) / bars as f64 } else { low.abs().max(1e-12) * 1e-3 };
    let mut counts = vec![0; bars];
    finite().for_each(|x| counts[(((x - low) / width) as usize).min(bars - 1)] += 1);
    Histogram { edges: (0..=bars).map(|i| low + width * i as f64).collect(), counts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_uncertain_and_the_worst_are_always_drawn() {
        let n = 5000;
        let uncertain: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == 4321))).collect();
        let wrong: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == 17))).collect();
        let drawn = pick(&uncertain, &wrong, 200);
        assert_eq!(drawn.len(), 200);
        assert!(drawn.contains(&4321) && drawn.contains(&17));
        assert!(drawn.windows(2).all(|pair| pair[0] < pair[1]));
        let middle = drawn.iter().filter(|&&i| i >= n / 2).count();
        assert!((60..140).contains(&middle), "{middle} of 200 come from the second half");
        assert_eq!(pick(&uncertain[..5], &wrong[..5], 200), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn keeping_the_surest_first_gives_the_mean_loss_of_those() {
        let curve = risk_curve(&[0.3, 0.1, 0.2, 0.4], &[3.0, 1.0, 2.0, 6.0]);
        assert_eq!(curve, [[0.25, 1.0], [0.5, 1.5], [0.75, 2.0], [1.0, 3.0]]);
    }

    #[test]
    fn every_value_is_counted_once() {
        for values in [vec![1.0, 2.0, 2.5, 9.0], vec![3.0; 7], vec![-1.0], vec![0.0, 0.0]] {
            let Histogram { edges, counts } = histogram(&values);
            assert_eq!(counts.iter().sum::<usize>(), values.len());
            assert_eq!(edges.len(), counts.len() + 1);
            assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{edges:?}");
        }
        assert_eq!(histogram(&[f64::NAN]).counts, [0]);
    }
}
