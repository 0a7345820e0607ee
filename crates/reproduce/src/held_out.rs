//! Test parts that are unlike the training part: the middle third of a column, or one of five clusters.
//!
//! ```text
//! gap      rows with q⅓ < x_k < q⅔, the linearly interpolated quantiles of the column (Foong et al. 2019)
//! cluster  Lloyd's k-means on the standardised numeric inputs, from the centres that k-means++ draws
//! ```
//! Neither depends on the run's seed: repeats hold out the same rows.

use crate::Error;
use crate::score::mean_and_deviation;
use crate::variant::Variant;
use data::{Column, Table};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How many clusters there are, each held out in turn.
pub(crate) const CLUSTERS: usize = 5;
/// A column with fewer distinct values has no middle third worth the name.
const FEWEST_DISTINCT: usize = 20;
/// Draws the first centres.
const SEED: u64 = 0;
/// Assignments settle long before.
const MOST_ROUNDS: usize = 300;

/// Rows to train on and rows to judge by, of those that have the target.
pub(crate) fn split(table: &Table, target: &str, variant: Variant) -> Result<[Vec<usize>; 2], Error> {
    let (rows, _) = data::rows_with_targets(table, &[target.to_owned()])?;
    let is_test: Vec<bool> = match variant {
        Variant::Gap(k) => {
            let name = format!("x{k}");
            let Column::Number(column) = table.column(&name)? else {
                return Err(refused(table, &format!("column `{name}` holds no numbers")));
            };
            let values: Vec<f64> = rows.iter().map(|&row| column[row]).collect();
            let distinct = distinct(&values);
            if distinct < FEWEST_DISTINCT {
                let few =
                    format!("column `{name}` has {distinct} distinct values, fewer than {FEWEST_DISTINCT}");
                return Err(refused(table, &few));
            }
            in_middle_third(&values)
        }
        Variant::Cluster(cluster) => {
            let clusters = clusters(&standardised(table, target, &rows), CLUSTERS);
            clusters.into_iter().map(|own| own == cluster).collect()
        }
        _ => unreachable!("nothing is held out of the other variants"),
    };
    let part = |test: bool| -> Vec<usize> {
        rows.iter().zip(&is_test).filter(|(_, is_test)| **is_test == test).map(|(row, _)| *row).collect()
    };
    let parts = [part(false), part(true)];
    match parts.iter().any(Vec::is_empty) {
        true => Err(refused(table, &format!("{} leaves a part without rows", variant.title()))),
        false => Ok(parts),
    }
}

fn refused(table: &Table, what: &str) -> Error {
    Error::Usage(format!("{}: {what}\nhint: is it the published file?", table.file()))
}

fn distinct(values: &[f64]) -> usize {
    let mut values: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len()
}

/// Whether each value lies strictly between the quantiles ⅓ and ⅔; a missing one does not.
fn in_middle_third(values: &[f64]) -> Vec<bool> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let quantile = |share: f64| {
        let at = share * (sorted.len() - 1) as f64;
        let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
        below + at.fract() * (above - below)
    };
    let (low, high) = (quantile(1.0 / 3.0), quantile(2.0 / 3.0));
    values.iter().map(|value| low < *value && *value < high).collect()
}

/// The numeric inputs of some rows, each of mean zero and deviation one; a missing value is the mean.
fn standardised(table: &Table, target: &str, rows: &[usize]) -> Vec<Vec<f64>> {
    let mut x = vec![Vec::new(); rows.len()]; // [N, D]
    for (name, column) in table.names().iter().zip(table.columns()) {
        let Column::Number(values) = column else { continue };
        let known: Vec<f64> = rows.iter().map(|&row| values[row]).filter(|value| !value.is_nan()).collect();
        let (mean, std) = mean_and_deviation(&known);
        if name != target && std > 0.0 {
            for (x, &row) in x.iter_mut().zip(rows) {
                x.push(if values[row].is_nan() { 0.0 } else { (values[row] - mean) / std });
            }
        }
    }
    x
}

/// The cluster of each row of `x`, the largest cluster first. Lloyd's algorithm from centres that are drawn with
/// probabilities that follow the squared distance to those drawn before (k-means++, Arthur & Vassilvitskii 2007).
fn clusters(x: &[Vec<f64>], count: usize) -> Vec<usize> {
    if x.is_empty() {
        return Vec::new();
    }
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut centres = vec![x[rng.random_range(0..x.len())].clone()];
    while centres.len() < count {
        let distances: Vec<f64> = x.iter().map(|row| nearest(row, &centres).1).collect();
        let mut left = rng.random::<f64>() * distances.iter().sum::<f64>();
        let drawn = distances.iter().position(|distance| {
            left -= distance;
            left < 0.0
        });
        centres.push(x[drawn.unwrap_or(x.len() - 1)].clone());
    }
    let mut assigned: Vec<usize> = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let now: Vec<usize> = x.iter().map(|row| nearest(row, &centres).0).collect();
        if now == assigned {
            break;
        }
        assigned = now;
        for (k, centre) in centres.iter_mut().enumerate() {
            let own: Vec<&Vec<f64>> =
                x.iter().zip(&assigned).filter(|(_, a)| **a == k).map(|(x, _)| x).collect();
            // An empty cluster keeps its centre.
            if !own.is_empty() {
                for (j, mean) in centre.iter_mut().enumerate() {
                    *mean = own.iter().map(|row| row[j]).sum::<f64>() / own.len() as f64;
                }
            }
        }
    }
    let size = |k: usize| assigned.iter().filter(|own| **own == k).count();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&k| std::cmp::Reverse(size(k)));
    assigned.iter().map(|own| order.iter().position(|k| k == own).unwrap_or(0)).collect()
}

/// The nearest centre, the first of equals, and its squared distance.
fn nearest(x: &[f64], centres: &[Vec<f64>]) -> (usize, f64) {
    let squared = |centre: &Vec<f64>| x.iter().zip(centre).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
    let closer = |best: (usize, f64), (k, centre): (usize, &Vec<f64>)| {
        let distance = squared(centre);
        if distance < best.1 { (k, distance) } else { best }
    };
    centres.iter().enumerate().fold((0, f64::INFINITY), closer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three columns of numbers and a target, which some rows lack.
    fn table(rows: usize) -> Table {
        let wave =
            |factor: f64| (0..rows).map(|row| (factor * row as f64).sin() * 10.0).collect::<Vec<f64>>();
        let y = (0..rows).map(|row| if row % 10 == 7 { f64::NAN } else { row as f64 }).collect();
        let columns = [
            ("x0", wave(1.0)),
            ("x1", wave(2.7)),
            ("x2", (0..rows).map(|row| (row % 4) as f64).collect()),
            ("y", y),
        ];
        let columns = columns.map(|(name, values)| (name.to_owned(), Column::Number(values)));
        Table::new("made", columns.into()).expect("distinct names, equal lengths")
    }

    fn number(table: &Table, name: &str, rows: &[usize]) -> Vec<f64> {
        let Column::Number(values) = table.column(name).expect("there") else { unreachable!("numbers") };
        rows.iter().map(|&row| values[row]).collect()
    }

    /// Expects that both parts together are all rows with a target, each once.
    fn assert_partition([train, test]: &[Vec<usize>; 2], rows: usize) {
        let mut all = [&train[..], &test[..]].concat();
        all.sort_unstable();
        assert_eq!(all, (0..rows).filter(|row| row % 10 != 7).collect::<Vec<_>>());
    }

    #[test]
    fn a_gap_is_the_middle_third_of_its_column_and_nothing_else() {
        let table = table(300);
        let parts = split(&table, "y", Variant::Gap(1)).expect("a split");
        assert_partition(&parts, 300);
        let [train, test] = parts.each_ref().map(|rows| number(&table, "x1", rows));
        let (low, high) =
            test.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x)));
        assert!(train.iter().all(|x| *x < low || high < *x), "no training row lies in the gap");
        let share = |side: &dyn Fn(f64) -> bool| train.iter().filter(|x| side(**x)).count();
        // 270 rows: ninety on either side and between, give or take one.
        for part in [share(&|x| x < low), test.len(), share(&|x| x > high)] {
            assert!((89..=91).contains(&part), "{part} rows");
        }
    }

    #[test]
    fn quantiles_are_interpolated_and_their_values_are_outside() {
        // q⅓ = 2 and q⅔ = 4 of 0 … 6; of 0 … 4 they are 4/3 and 8/3.
        let middle = |n: usize| in_middle_third(&(0..n).map(|i| i as f64).collect::<Vec<_>>());
        assert_eq!(middle(7), [false, false, false, true, false, false, false]);
        assert_eq!(middle(5), [false, false, true, false, false]);
    }

    #[test]
    fn clusters_are_a_partition_and_the_same_every_time() {
        let table = table(200);
        let mut judged = Vec::new();
        let mut sizes = Vec::new();
        for cluster in 0..CLUSTERS {
            let parts = split(&table, "y", Variant::Cluster(cluster)).expect("a split");
            assert_partition(&parts, 200);
            assert_eq!(parts, split(&table, "y", Variant::Cluster(cluster)).expect("a split"));
            sizes.push(parts[1].len());
            judged.extend(parts[1].iter().copied());
        }
        judged.sort_unstable();
        assert_eq!(judged, (0..200).filter(|row| row % 10 != 7).collect::<Vec<_>>(), "each row once");
        assert!(sizes.is_sorted_by(|a, b| a >= b), "the largest first: {sizes:?}");
    }

    #[test]
    fn well_separated_groups_are_the_clusters() {
        let row = |i: usize| vec![100.0 * (i % 5) as f64 + (i as f64).sin(), (i as f64).cos()];
        let found = clusters(&(0..100).map(row).collect::<Vec<_>>(), 5);
        for (i, own) in found.iter().enumerate() {
            assert_eq!(*own, found[i % 5], "row {i}");
        }
        let mut names = found[..5].to_vec();
        names.sort_unstable();
        assert_eq!(names, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_column_of_few_values_and_a_missing_column_are_refused() {
        let refusal = |variant| split(&table(300), "y", variant).expect_err("refused").to_string();
        assert!(refusal(Variant::Gap(2)).contains("4 distinct values"), "{}", refusal(Variant::Gap(2)));
        assert!(refusal(Variant::Gap(9)).contains("x9"), "{}", refusal(Variant::Gap(9)));
    }
}
