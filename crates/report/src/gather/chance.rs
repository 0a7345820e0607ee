//! How far shares of rows deviate by chance alone, from the binomial distribution.

use crate::record::conditional::standard_error;
use std::collections::BTreeMap;

/// Step in which the largest deviation is integrated, in standard errors of the largest group.
const STEP: f64 = 0.1;

/// Deviations `|k/n − p|` of some groups of rows in which each row is a miss with probability p, independently.
pub(super) struct Deviations {
    p: f64,
    /// Number of groups of n rows, and P(K ≤ k) for k from 0 to n.
    groups: BTreeMap<usize, (i32, Vec<f64>)>,
}

impl Deviations {
    /// Groups of so many rows. O(rows)
    pub(super) fn new(sizes: &[usize], p: f64) -> Self {
        let mut groups = BTreeMap::new();
        for &n in sizes {
            groups.entry(n).or_insert_with(|| (0, cumulative(n, p))).0 += 1;
        }
        Self { p, groups }
    }

    /// Expected number of groups that deviate by more than so many standard errors.
    pub(super) fn beyond(&self, standard_errors: f64) -> f64 {
        let of_group = |(&n, (groups, cumulative)): (&usize, &(i32, Vec<f64>))| {
            let deviation = standard_errors * standard_error(self.p, n);
            f64::from(*groups) * (1.0 - within(n, self.p, cumulative, deviation))
        };
        self.groups.iter().map(of_group).sum()
    }

    /// Expected value of the largest deviation.
    ///
    /// ```text
    /// E max = ∫ 1 − Π P(|K/n − p| ≤ d) dd        from 0 to 1
    /// ```
    /// Groups of the same rows, cut by different columns, are not independent: this is a little too large for them.
    pub(super) fn largest(&self) -> f64 {
        let all_within = |d: f64| -> f64 {
            let of_group = |(&n, (groups, cumulative)): (&usize, &(i32, Vec<f64>))| {
                within(n, self.p, cumulative, d).powi(*groups)
            };
            self.groups.iter().map(of_group).product()
        };
        let Some((&most, _)) = self.groups.last_key_value() else { return 0.0 };
        let step = STEP * standard_error(self.p, most);
        let middles = (0..).map(|k| (f64::from(k) + 0.5) * step).take_while(|d| *d < 1.0);
        middles.map(|d| 1.0 - all_within(d)).take_while(|beyond| *beyond > 1e-9).sum::<f64>() * step
    }
}

/// P(K ≤ k) for k from 0 to n, K binomial.
fn cumulative(n: usize, p: f64) -> Vec<f64> {
    // Logarithms: (1 − p)ⁿ alone underflows from some thousand rows on.
    let odds = (p / (1.0 - p)).ln();
    let mut log = n as f64 * (1.0 - p).ln();
    let mut sum = 0.0;
    (0..=n)
        .map(|k| {
            sum += log.exp();
            log += ((n - k) as f64 / (k + 1) as f64).ln() + odds;
            sum.min(1.0)
        })
        .collect()
}

/// P(|K/n − p| ≤ d)
fn within(n: usize, p: f64, cumulative: &[f64], d: f64) -> f64 {
    // Far below one row: what lies exactly on the border is inside, however it was rounded.
    const SLACK: f64 = 1e-6;
    let least = (n as f64 * (p - d) - SLACK).ceil().max(0.0) as usize;
    let most = (n as f64 * (p + d) + SLACK).floor().min(n as f64) as usize;
    if least > most {
        return 0.0;
    }
    cumulative[most] - if least == 0 { 0.0 } else { cumulative[least - 1] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_one_deviation_is_its_mean() {
        for n in [20, 33, 400] {
            let cumulative = cumulative(n, 0.05);
            let mass = |k: usize| cumulative[k] - if k == 0 { 0.0 } else { cumulative[k - 1] };
            let mean: f64 = (0..=n).map(|k| mass(k) * (k as f64 / n as f64 - 0.05).abs()).sum();
            // A step of the integral, at each of few jumps.
            let step = STEP * standard_error(0.05, n);
            assert!((Deviations::new(&[n], 0.05).largest() - mean).abs() < step, "{n} rows");
        }
    }

    #[test]
    fn many_rows_deviate_as_a_normal_variable_does() {
        let (n, p) = (100_000, 0.05);
        let one = Deviations::new(&[n], p);
        let largest = one.largest() / standard_error(p, n);
        // E|z| = √(2/π); a row is 0.015 standard errors.
        assert!((largest - 0.798).abs() < 0.01, "{largest}");
        assert!((one.beyond(2.0) - 0.0455).abs() < 2e-3, "{}", one.beyond(2.0));
        assert!((cumulative(n, p)[n] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_largest_of_more_groups_is_larger() {
        let largest = |groups: usize| Deviations::new(&vec![30; groups], 0.05).largest();
        assert!(largest(1) < largest(10) && largest(10) < largest(100));
        let few = Deviations::new(&[30; 80], 0.05);
        let share = few.beyond(2.0) / 80.0;
        assert!((0.02..0.1).contains(&share), "{share}");
    }
}
