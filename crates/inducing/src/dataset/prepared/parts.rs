//! Which rows are trained on, which choose the epoch, which judge.

use crate::config::{Config, Share};

/// Held-out rows that even a small table needs, but never more than a third of it.
const FEWEST_HELD_OUT: usize = 20;

/// Rows to train on, for validation, for the test; by class where there are classes of all rows.
pub(super) fn parts(rows: &[usize], classes: Option<Vec<u32>>, config: &Config) -> [Vec<usize>; 3] {
    let split = |rows: &[usize], share: f64, seed: u64| {
        let shares = [1.0 - share, share];
        let mut parts = match &classes {
            Some(classes) => {
                let of_rows: Vec<u32> = rows.iter().map(|&row| classes[row]).collect();
                data::split_by_class(rows, &of_rows, &shares, seed)
            }
            None => data::split(rows, &shares, seed),
        };
        let second = parts.pop().unwrap_or_default();
        (parts.pop().unwrap_or_default(), second)
    };
    let of = |share: Share| share.get();
    let (rest, test) = match config.data.folds {
        0 => split(rows, of(config.data.test_share), config.seed),
        folds => {
            let class = |&row: &usize| classes.as_ref().map_or(0, |classes| classes[row]);
            let of_rows: Vec<u32> = rows.iter().map(class).collect();
            let test = data::fold(rows, &of_rows, folds, config.data.fold, config.seed);
            (rows.iter().copied().filter(|row| test.binary_search(row).is_err()).collect(), test)
        }
    };
    let wanted = of(config.train.validation_share);
    let least = FEWEST_HELD_OUT.min(rest.len() / 3) as f64 / rest.len().max(1) as f64;
    // Members of an ensemble leave rows out in turns.
    let crossfit = config.train.crossfit_folds.min(rest.len() / 2) >= 2;
    let share = if wanted > 0.0 && !crossfit { wanted.max(least) } else { 0.0 };
    // Another stream of the same seed: the validation part must not follow from the test part.
    let (train, validation) = split(&rest, share, config.seed ^ 0x5eed);
    [train, validation, test]
}
