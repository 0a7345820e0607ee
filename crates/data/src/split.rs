//! Random disjoint parts of a set of rows: training, validation, test.

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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
