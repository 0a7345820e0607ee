//! Random disjoint parts of a set of rows: training, validation, test.
//!
//! ```
//! use inducing_data::{fold, split, split_by_class};
//!
//! let rows: Vec<usize> = (0..100).collect();
//! let parts = split(&rows, &[0.8, 0.1, 0.1], 7);
//! assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [80, 10, 10]);
//!
//! let classes: Vec<u32> = (0..100).map(|row| row % 4).collect();
//! let test = &split_by_class(&rows, &classes, &[0.8, 0.2], 7)[1];
//! assert_eq!(test.iter().filter(|row| classes[**row] == 3).count(), 5);
//! assert_eq!(fold(&rows, &classes, 5, 0, 7).len(), 20);
//! ```

mod related;

pub use related::Related;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Splits `rows` at random into one part for each share, the same parts for the same seed on every machine.
///
/// A part gets ⌊share · rows⌋ rows, each in the order of `rows`; what rounding (or shares that sum to less
/// than one) leaves over goes to the first part. Shares beyond what is left get the rest; negative and NaN
/// shares get nothing.
#[must_use]
pub fn split(rows: &[usize], shares: &[f64], seed: u64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed)); // Fisher–Yates
    let mut parts = vec![Vec::new(); shares.len()];
    // The last parts are cut from the end first, so that the first keeps the remainder.
    for (part, share) in parts.iter_mut().zip(shares).skip(1).rev() {
        // Float to integer casts saturate: negative and NaN become 0. The nudge keeps 0.29 · 100 at 29.
        let wanted = (share * rows.len() as f64 + 1e-9).floor() as usize;
        *part = order.split_off(order.len().saturating_sub(wanted));
    }
    if let Some(first) = parts.first_mut() {
        *first = order;
    }
    for part in &mut parts {
        part.sort_unstable();
        part.iter_mut().for_each(|position| *position = rows[*position]);
    }
    parts
}

/// One of `folds` equal parts of `rows`, ascending; `classes[i]` is the class of `rows[i]`.
///
/// Parts differ by one row at most, and so do the rows of each class in them. The only row of a class is in no part: it
/// could be learned from or judged, not both.
///
/// # Panics
/// If there is not one class a row.
#[must_use]
pub fn fold(rows: &[usize], classes: &[u32], folds: usize, fold: usize, seed: u64) -> Vec<usize> {
    assert_eq!(rows.len(), classes.len(), "one class a row");
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed)); // Fisher–Yates
    order.sort_by_key(|position| classes[*position]); // stable: random within a class
    let classes = order.chunk_by(|a, b| classes[*a] == classes[*b]).filter(|class| class.len() > 1);
    // Dealt like cards, from one class on into the next.
    let dealt = classes.flatten().enumerate().filter(|(at, _)| at % folds == fold);
    let mut part: Vec<usize> = dealt.map(|(_, position)| rows[*position]).collect();
    part.sort_unstable();
    part
}

/// Splits `rows` like [`split`], so that each class keeps its share in every part; `classes[i]` is the class
/// of `rows[i]`.
///
/// A class of n rows has share · n of them in a part, give or take two. Every class has at least one row in the
/// first part, unless that part's share is zero; but for these, all rows together keep the shares too.
///
/// # Panics
/// If there is not one class a row.
#[must_use]
pub fn split_by_class(rows: &[usize], classes: &[u32], shares: &[f64], seed: u64) -> Vec<Vec<usize>> {
    assert_eq!(rows.len(), classes.len(), "one class a row");
    let shares = proper_shares(shares);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed)); // Fisher–Yates
    order.sort_by_key(|position| classes[*position]); // stable: random within a class
    let mut parts = vec![Vec::new(); shares.len()];
    // Error diffusion: each row goes to the part that lags most behind its share. What one class leaves over
    // is carried to the next, so that many small classes do not all round the same way.
    let mut lag = vec![0.0; shares.len()];
    for class in order.chunk_by(|a, b| classes[*a] == classes[*b]) {
        let first_had = parts.first().map_or(0, Vec::len);
        for (at, position) in class.iter().enumerate() {
            lag.iter_mut().zip(&shares).for_each(|(lag, share)| *lag += share);
            let last_chance = at + 1 == class.len() && parts.first().is_some_and(|p| p.len() == first_had);
            let due = most(&lag);
            let chosen = if last_chance && shares[0] > 0.0 { 0 } else { due };
            if let Some(part) = parts.get_mut(chosen) {
                // Of the part whose turn it was, also where the first part is rescued: the next classes must not
                // pay that back.
                lag[due] -= 1.0;
                part.push(*position);
            }
        }
    }
    for part in &mut parts {
        part.sort_unstable();
        part.iter_mut().for_each(|position| *position = rows[*position]);
    }
    parts
}

/// Shares that sum to one: the first takes what the others leave, and none takes more than is left.
fn proper_shares(shares: &[f64]) -> Vec<f64> {
    let mut left = 1.0;
    let mut proper = vec![0.0; shares.len()];
    for (proper, share) in proper.iter_mut().zip(shares).skip(1).rev() {
        *proper = if *share > 0.0 { share.min(left) } else { 0.0 };
        left -= *proper;
    }
    if let Some(first) = proper.first_mut() {
        *first = left;
    }
    proper
}

/// The position of the largest value, the first of equals.
fn most(values: &[f64]) -> usize {
    values.iter().enumerate().fold(0, |best, (i, value)| if *value > values[best] { i } else { best })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn folds_cover_all_rows_once_and_differ_by_one_row_in_size_and_in_every_class() {
        let rows: Vec<usize> = (0..83).map(|row| 3 * row).collect();
        let classes: Vec<u32> = (0..83).map(|row| [0, 0, 1, 2, 1][row % 5]).collect();
        for folds in [2, 7, 83] {
            let parts: Vec<Vec<usize>> = (0..folds).map(|k| fold(&rows, &classes, folds, k, 4)).collect();
            let mut all = parts.concat();
            all.sort_unstable();
            assert_eq!(all, rows);
            let spread = |count: &dyn Fn(&Vec<usize>) -> usize| {
                let counts: Vec<usize> = parts.iter().map(count).collect();
                counts.iter().max().unwrap_or(&0) - counts.iter().min().unwrap_or(&0)
            };
            assert!(spread(&Vec::len) <= 1);
            for class in 0..3 {
                assert!(spread(&|part| part.iter().filter(|row| classes[**row / 3] == class).count()) <= 1);
            }
        }
        assert_ne!(fold(&rows, &classes, 7, 0, 4), fold(&rows, &classes, 7, 0, 5));
    }

    #[test]
    fn the_only_row_of_a_class_is_held_out_of_no_training() {
        let parts: Vec<Vec<usize>> =
            (0..2).map(|k| fold(&[0, 1, 2, 3, 4], &[0, 0, 9, 1, 1], 2, k, 1)).collect();
        assert!(parts.iter().all(|part| part.len() == 2 && !part.contains(&2)), "{parts:?}");
    }

    proptest! {
        #[test]
        fn parts_are_disjoint_complete_and_repeatable(
            count in 0usize..300,
            shares in prop::collection::vec(-0.1f64..1.1, 1..5),
            seed: u64,
        ) {
            let rows: Vec<usize> = (0..count).map(|row| row * 3 + 1).collect();
            let parts = split(&rows, &shares, seed);
            prop_assert_eq!(parts.len(), shares.len());
            prop_assert_eq!(&parts, &split(&rows, &shares, seed));
            let mut all: Vec<usize> = parts.concat();
            all.sort_unstable();
            prop_assert_eq!(all, rows);
        }
    }

    proptest! {
        #[test]
        fn classes_keep_their_shares_and_all_are_in_the_first_part(
            classes in prop::collection::vec(0u32..12, 0..400),
            second in 0.0f64..0.6,
            third in 0.0f64..0.3,
            seed: u64,
        ) {
            // Skewed: high classes are rare.
            let classes: Vec<u32> = classes.iter().map(|c| c * c / 12).collect();
            let rows: Vec<usize> = (0..classes.len()).map(|row| row * 2).collect();
            let shares = [1.0 - second - third, second, third];
            let parts = split_by_class(&rows, &classes, &shares, seed);
            prop_assert_eq!(&parts, &split_by_class(&rows, &classes, &shares, seed));
            let mut all: Vec<usize> = parts.concat();
            all.sort_unstable();
            prop_assert_eq!(all, rows);
            for class in 0..12 {
                let of = |part: &[usize]| part.iter().filter(|row| classes[**row / 2] == class).count();
                let count = classes.iter().filter(|c| **c == class).count();
                prop_assert!(count == 0 || of(&parts[0]) > 0);
                for (part, share) in parts.iter().zip(shares) {
                    // The lags stay below one before and after a class; a rescue takes one from a part that was due.
                    prop_assert!((of(part) as f64 - share * count as f64).abs() <= 2.0, "class {}", class);
                }
            }
        }
    }

    #[test]
    fn balanced_classes_stay_balanced() {
        let rows: Vec<usize> = (0..1000).collect();
        let classes: Vec<u32> = (0..1000).map(|row| row % 10).collect();
        let parts = split_by_class(&rows, &classes, &[0.8, 0.1, 0.1], 3);
        for class in 0..10 {
            let of = |part: &[usize]| part.iter().filter(|row| classes[**row] == class).count();
            assert_eq!(parts.iter().map(|part| of(part)).collect::<Vec<_>>(), [80, 10, 10]);
        }
        assert_ne!(parts, split_by_class(&rows, &classes, &[0.8, 0.1, 0.1], 4));
        assert!(split_by_class(&rows, &classes, &[], 1).is_empty());
    }

    #[test]
    fn a_single_example_is_trained_on() {
        for seed in 0..50 {
            let parts = split_by_class(&[0, 1, 2, 3], &[0, 0, 0, 1], &[0.3, 0.7], seed);
            assert!(parts[0].contains(&3) && parts[0].len() == 2, "{parts:?}");
        }
    }

    #[test]
    fn parts_have_their_shares_and_the_first_takes_the_remainder() {
        let rows: Vec<usize> = (0..101).collect();
        let sizes: Vec<usize> = split(&rows, &[0.6, 0.29, 0.1], 7).iter().map(Vec::len).collect();
        assert_eq!(sizes, [62, 29, 10]);
    }

    #[test]
    fn another_seed_gives_other_parts() {
        let rows: Vec<usize> = (0..100).collect();
        assert_ne!(split(&rows, &[0.5, 0.5], 1), split(&rows, &[0.5, 0.5], 2));
    }
}
