//! Inputs with outliers or an unexpected notation: reported to the user, used unchanged.

use std::collections::HashSet;

use crate::error::Notice;
use crate::schema::scale::{Scaling, mean_and_std};
use crate::table::number_format::foreign_notation;
use crate::table::{Column, Table};

/// A value this many standard deviations from the mean is reported if it is also twice as far out as the next
/// one: the end of a long tail is not wild.
const OUTLIER_DEVIATIONS: f64 = 30.0;
/// So is one (that may stand in several rows, as 999999 for "unknown") without which the standard deviation
/// would be this many times smaller: of n values, none can be more than √(n−1) deviations away, so the rule
/// above sees nothing in a small table.
const OUTLIER_SHRINKS: f64 = 10.0;

/// What is suspicious about one input in the training rows.
pub(crate) fn check_input(
    table: &Table,
    (name, column): (&str, &Column),
    rows: &[usize],
    scaling: Scaling,
) -> Option<Notice> {
    match column {
        Column::Number(values) if scaling == Scaling::Standard => {
            let (row, value) = outlier(values, rows)?;
            let (file, line) = (table.one_of_files(row).map(String::from), table.line(row));
            Some(Notice::Outlier { column: name.to_owned(), file, line, row: table.row_in_file(row), value })
        }
        Column::Category { codes, levels } if !table.is_declared(name) => {
            let present: HashSet<u32> = rows.iter().filter_map(|row| codes[*row]).collect();
            let mut present: Vec<u32> = present.into_iter().collect();
            present.sort_unstable(); // the example must not depend on the hash
            let (notation, example) = foreign_notation(present.iter().map(|code| &levels[*code as usize]))?;
            Some(Notice::ForeignNotation { column: name.to_owned(), notation, example: example.clone() })
        }
        _ => None,
    }
}

/// The value beside which all others look the same, and its first row.
fn outlier(values: &[f64], rows: &[usize]) -> Option<(usize, f64)> {
    let present: Vec<f64> = rows.iter().map(|row| values[*row]).filter(|value| !value.is_nan()).collect();
    let (mean, std) = mean_and_std(&present);
    let distance = |value: &f64| (value - mean).abs();
    let farthest = |values: &[f64]| values.iter().copied().max_by(|a, b| distance(a).total_cmp(&distance(b)));
    if present.iter().all(|value| (0.0..=1.0).contains(value)) {
        return None; // a share or an indicator
    }
    let farthest_value = farthest(&present)?;
    let others: Vec<f64> = present.into_iter().filter(|value| *value != farthest_value).collect();
    let (_, others_std) = mean_and_std(&others);
    if !(std.is_finite() && others_std > 0.0) {
        return None; // an indicator of something rare is not wild
    }
    let next = farthest(&others)?;
    let alone = distance(&farthest_value) > 2.0 * distance(&next);
    let far = distance(&farthest_value) > OUTLIER_DEVIATIONS * std;
    (alone && (far || std > OUTLIER_SHRINKS * others_std)).then_some(())?;
    let row = rows.iter().find(|row| values[**row] == farthest_value)?;
    Some((*row, farthest_value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(values: &[f64]) -> Option<(usize, f64)> {
        outlier(values, &(0..values.len()).collect::<Vec<_>>())
    }

    #[test]
    fn one_value_far_from_the_rest_is_found_in_small_and_large_columns() {
        let mut small: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(found(&small), None);
        small[7] = 1e9;
        assert_eq!(found(&small), Some((7, 1e9)));
        let mut large: Vec<f64> = (0..5000).map(|i| f64::from(i % 100)).collect();
        large[4000] = -1e4;
        assert_eq!(found(&large), Some((4000, -1e4)));
        let unknown: Vec<f64> =
            (0..500).map(|i| if i % 9 == 5 { 999_999.0 } else { f64::from(i % 50) }).collect();
        assert_eq!(found(&unknown), Some((5, 999_999.0)));
    }

    #[test]
    fn rare_indicators_heavy_tails_and_gaps_are_not_wild() {
        let mut rare = vec![0.0; 5000];
        rare[3] = 1.0;
        rare[4] = 1.0;
        assert_eq!(found(&rare), None);
        rare[5] = 0.02;
        assert_eq!(found(&rare), None, "a share");
        let tail: Vec<f64> = (1..2000).map(|i| (f64::from(i) / 250.0).exp()).collect();
        assert_eq!(found(&tail), None);
        let hours_of_snow: Vec<f64> = (0..40_000).map(|i| if i < 27 { f64::from(i) } else { 0.0 }).collect();
        assert_eq!(found(&hours_of_snow), None);
        assert_eq!(found(&[f64::NAN, f64::NAN]), None);
        assert_eq!(found(&[1.0]), None);
    }
}
