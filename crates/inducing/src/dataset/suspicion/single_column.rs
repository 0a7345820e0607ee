//! How much one column says of the target by itself.

use data::Column;
use std::collections::HashMap;

/// Stretches of a column of numbers with the same number of rows.
const BINS: usize = 64;
/// Stretches that are compared with their neighbours.
const BLOCKS: usize = 100;

/// What is learned about some rows, as numbers: the target, or an indicator of every class.
pub(super) struct Learned {
    /// One for each class, or the number itself; about zero.
    outputs: Vec<Vec<f64>>,
    largest_share: f64,
}

impl Learned {
    pub(super) fn new(target: &Column, rows: &[usize]) -> Self {
        const MOST_CLASSES: usize = 20;
        let codes = codes_of(target, rows);
        let mut counts: HashMap<i64, usize> = HashMap::new();
        codes.iter().for_each(|&code| *counts.entry(code).or_default() += 1);
        let largest_share = counts.values().max().map_or(0.0, |&most| most as f64 / rows.len() as f64);
        let outputs = match target {
            Column::Number(values) => vec![rows.iter().map(|&row| values[row]).collect()],
            _ => {
                let mut classes: Vec<i64> = counts.into_keys().collect();
                classes.sort_unstable();
                let indicator =
                    |class: &i64| codes.iter().map(|code| f64::from(u8::from(code == class))).collect();
                classes.iter().take(MOST_CLASSES).map(indicator).collect()
            }
        };
        let centred = |values: Vec<f64>| {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.into_iter().map(|y| y - mean).collect()
        };
        Self { outputs: outputs.into_iter().map(centred).collect(), largest_share }
    }

    /// The share of the most frequent value.
    pub(super) fn largest_share(&self) -> f64 {
        self.largest_share
    }
}

/// The share of the target's variance that a column explains alone, of rows that are left out in two halves.
pub(super) fn explained(column: &Column, learned: &Learned, rows: &[usize]) -> f64 {
    let bins = bins(column, rows);
    let (mut left, mut whole) = (0.0, 0.0);
    for y in &learned.outputs {
        let mut sums: HashMap<(usize, usize), (f64, f64)> = HashMap::new();
        for (i, &bin) in bins.iter().enumerate() {
            let sum = sums.entry((half(i), bin)).or_default();
            *sum = (sum.0 + y[i], sum.1 + 1.0);
        }
        for (i, &bin) in bins.iter().enumerate() {
            let guess = sums.get(&(1 - half(i), bin)).map_or(0.0, |(sum, n)| sum / n);
            left += (y[i] - guess).powi(2);
            whole += y[i].powi(2);
        }
    }
    let by_bins = if whole > 0.0 { 1.0 - left / whole } else { 0.0 };
    match (column, &learned.outputs[..]) {
        // Bins are coarse where numbers are far apart.
        (Column::Number(values), [y]) => by_bins.max(squared_correlation(values, rows, y)),
        _ => by_bins,
    }
}

/// Every other row of a pseudo-random order, so that sorted files do not matter.
fn half(i: usize) -> usize {
    ((i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 63) as usize
}

fn squared_correlation(values: &[f64], rows: &[usize], y: &[f64]) -> f64 {
    let known = || rows.iter().zip(y).map(|(&row, &y)| (values[row], y)).filter(|(x, _)| x.is_finite());
    let n = known().count() as f64;
    let (mean_x, mean_y) = known().fold((0.0, 0.0), |(a, b), (x, y)| (a + x / n, b + y / n));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in known() {
        let (x, y) = (x - mean_x, y - mean_y);
        (xx, yy, xy) = (xx + x * x, yy + y * y, xy + x * y);
    }
    let r2 = xy * xy / (xx * yy);
    if r2.is_finite() { r2 * n / rows.len() as f64 } else { 0.0 }
}

/// Whether stretches of a serial column have targets like the stretches beside them.
pub(super) fn blocks_follow_neighbours(column: &Column, learned: &Learned, rows: &[usize]) -> bool {
    let Column::Number(values) = column else { return false };
    let mut order: Vec<(f64, usize)> = rows.iter().enumerate().map(|(i, &row)| (values[row], i)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let size = rows.len().div_ceil(BLOCKS).max(2);
    learned.outputs.iter().any(|y| {
        let means: Vec<f64> = order
            .chunks(size)
            .map(|block| block.iter().map(|(_, i)| y[*i]).sum::<f64>() / block.len() as f64)
            .collect();
        let n = means.len() as f64;
        let mean = means.iter().sum::<f64>() / n;
        let square: f64 = means.iter().map(|m| (m - mean).powi(2)).sum();
        let product: f64 = means.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
        square > 0.0 && product / square > 3.0 / n.sqrt()
    })
}

/// The bin of every row.
fn bins(column: &Column, rows: &[usize]) -> Vec<usize> {
    let numbers: Vec<f64> = match column {
        Column::Number(values) => rows.iter().map(|&row| values[row]).collect(),
        Column::DateTime(values) => {
            rows.iter().map(|&row| values[row].map_or(f64::NAN, |micros| micros as f64)).collect()
        }
        _ => {
            let mut known = HashMap::new();
            return codes_of(column, rows)
                .into_iter()
                .map(|code| {
                    let next = known.len();
                    *known.entry(code).or_insert(next)
                })
                .collect();
        }
    };
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let mut edges: Vec<f64> =
        (1..BINS).filter_map(|k| sorted.get(k * sorted.len() / BINS).copied()).collect();
    edges.dedup();
    let bin = |x: &f64| if x.is_nan() { BINS } else { edges.partition_point(|edge| edge <= x) };
    numbers.iter().map(bin).collect()
}

/// Equal cells have equal codes; −1 is missing.
fn codes_of(column: &Column, rows: &[usize]) -> Vec<i64> {
    let code = |&row: &usize| match column {
        Column::Number(values) if values[row].is_nan() => -1,
        Column::Number(values) => (values[row].to_bits() >> 1) as i64,
        Column::Boolean(values) => values[row].map_or(-1, i64::from),
        Column::Category { codes, .. } => codes[row].map_or(-1, i64::from),
        Column::DateTime(values) => values[row].unwrap_or(-1),
        // A text is hardly there twice.
        Column::Text(_) => row as i64,
    };
    rows.iter().map(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, f: impl Fn(usize) -> f64) -> Column {
        Column::Number((0..n).map(f).collect())
    }

    #[test]
    fn a_column_that_says_the_target_explains_it_and_noise_does_not() {
        let rows: Vec<usize> = (0..2000).collect();
        let random = |i: usize, salt: usize| ((i * 7919 + salt * 104_729) % 1009) as f64;
        let target = numbers(2000, |i| random(i, 1));
        let learned = Learned::new(&target, &rows);
        assert!(explained(&numbers(2000, |i| random(i, 1).sqrt()), &learned, &rows) > 0.99);
        assert!(explained(&numbers(2000, |i| (i % 7) as f64), &learned, &rows) < 0.1);
        let half = numbers(2000, |i| if i % 2 == 0 { random(i, 1) } else { f64::NAN });
        assert!((0.3..0.7).contains(&explained(&half, &learned, &rows)));
    }

    #[test]
    fn classes_are_explained_by_their_own_codes() {
        let rows: Vec<usize> = (0..600).collect();
        let codes: Vec<Option<u32>> = (0..600).map(|i| Some(i % 3)).collect();
        let target =
            Column::Category { codes: codes.clone(), levels: ["a", "b", "c"].map(String::from).to_vec() };
        let learned = Learned::new(&target, &rows);
        assert!(explained(&numbers(600, |i| (10 * (i % 3)) as f64), &learned, &rows) > 0.999);
        assert!(explained(&numbers(600, |i| (i / 3) as f64), &learned, &rows) < 0.2);
    }

    #[test]
    fn a_season_follows_its_neighbours_and_row_numbers_do_not() {
        let rows: Vec<usize> = (0..3000).collect();
        let series =
            Learned::new(&numbers(3000, |i| (i as f64 / 200.0).sin() + ((i * 37) % 11) as f64), &rows);
        let noise = Learned::new(&numbers(3000, |i| ((i * 7919) % 1009) as f64), &rows);
        let number = numbers(3000, |i| i as f64);
        assert!(blocks_follow_neighbours(&number, &series, &rows));
        assert!(!blocks_follow_neighbours(&number, &noise, &rows));
    }
}
