//! Which rows are trained on, which choose the epoch, which judge.

use crate::config::Config;
use data::Related;

/// Held-out rows that even a small table needs, but never more than a third of it.
const FEWEST_HELD_OUT: usize = 20;

/// Rows to train on, for validation, for the test; by what relates them, or by class where there are classes of all rows.
pub(super) fn parts(
    rows: &[usize],
    classes: Option<Vec<u32>>,
    related: &Related,
    config: &Config,
) -> [Vec<usize>; 3] {
    let split = |rows: &[usize], share: f64, seed: u64| {
        if let Some([first, second]) = related.split(rows, share, seed) {
            return (first, second);
        }
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
    let (rest, test) = match config.data.folds {
        0 => split(rows, config.data.held_out_share(rows.len()), config.seed),
        folds => fold(rows, classes.as_deref(), related, config, folds),
    };
    let wanted = config.train.validation_share.get();
    let least = FEWEST_HELD_OUT.min(rest.len() / 3) as f64 / rest.len().max(1) as f64;
    // Members of an ensemble leave rows out in turns.
    let crossfit = config.train.crossfit_folds.min(rest.len() / 2) >= 2;
    let share = if wanted > 0.0 && !crossfit { wanted.max(least) } else { 0.0 };
    // Another stream of the same seed: the validation part must not follow from the test part.
    let (train, validation) = split(&rest, share, config.seed ^ 0x5eed);
    [train, validation, test]
}

/// The rows of a cross-validation's training part and of its test part. Of times, the test part of fold `i` is the stretch
/// `i + 1`, and all that is earlier is trained on.
fn fold(
    rows: &[usize],
    classes: Option<&[u32]>,
    related: &Related,
    config: &Config,
    folds: usize,
) -> (Vec<usize>, Vec<usize>) {
    let fold = config.data.fold;
    let is_time = related.is_time();
    let Some(stretches) = related.folds(rows, folds + usize::from(is_time), config.seed) else {
        let class = |&row: &usize| classes.map_or(0, |classes| classes[row]);
        let of_rows: Vec<u32> = rows.iter().map(class).collect();
        let test = data::fold(rows, &of_rows, folds, fold, config.seed);
        return (rows.iter().copied().filter(|row| test.binary_search(row).is_err()).collect(), test);
    };
    let test_fold = fold + usize::from(is_time);
    let select = |wanted: &dyn Fn(usize) -> bool| {
        let own = rows.iter().zip(&stretches).filter(|(_, stretch)| wanted(**stretch));
        own.map(|(&row, _)| row).collect::<Vec<_>>()
    };
    let train: Vec<usize> =
        if is_time { select(&|stretch| stretch < test_fold) } else { select(&|fold| fold != test_fold) };
    let mut test = select(&|stretch| stretch == test_fold);
    related.keep_later(&train, &mut test);
    (train, test)
}
