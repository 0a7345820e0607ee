//! Inducing points that no feature comes near are noticed.

use crate::fixture::{fit, noise, table, tiny};
use data::Table;

/// Inputs so far apart that, unscaled, the kernel of any two rows is zero.
fn far_apart() -> Table {
    let column = |k: u64| (0..400).map(|i| 1e3 * (noise(3 * i + k) - 0.5)).collect::<Vec<f64>>();
    let (a, b) = (column(0), column(1));
    let y = a.iter().zip(&b).map(|(a, b)| (a + b) * 1e-3).collect();
    table([("a", a), ("b", b), ("y", y)])
}

fn utilisation(more: &[&str]) -> (Vec<f64>, Vec<String>) {
    // Neither a linear start nor pretraining, which would bring the features near the targets.
    let plain = [
        "data.scaling=none",
        "encoder.skip=false",
        "encoder.frequencies=0",
        "train.pretrain_epochs=0",
        "train.epochs=9",
        "train.patience=9",
    ];
    let (model, log) = fit(&far_apart(), &tiny(&[&plain[..], more].concat()));
    model.expect("this run succeeds");
    (log.records.iter().filter_map(|record| record.utilisation).collect(), log.notices)
}

#[test]
fn points_far_from_all_features_are_reinitialised_and_the_user_is_told() {
    let (used, notices) = utilisation(&["train.scale_features=false"]);
    assert_eq!(used.len(), 9, "every epoch of the likelihood is watched");
    assert!(used.iter().all(|u| (0.0..=1.0 + 1e-9).contains(u)), "{used:?}"); // a share, up to rounding
    assert!(used[0] < 0.05, "the test needs points that are not used: {used:?}");
    let told = notices
        .iter()
        .filter(|text| text.contains("16 of 16 inducing points") && text.contains("utilisation"))
        .count();
    assert!(told > 0, "{notices:?}");
    // Not in the last third: moving a point then only adds noise.
    assert!(
        notices
            .iter()
            .all(|text| !["epoch 7:", "epoch 8:", "epoch 9:"].iter().any(|late| text.starts_with(late))),
        "{notices:?}"
    );
}

#[test]
fn nothing_is_moved_when_the_user_forbids_it() {
    let (_, notices) = utilisation(&["train.scale_features=false", "train.reinitialise_unused=false"]);
    assert!(notices.is_empty(), "{notices:?}");
}

#[test]
fn scaled_features_keep_the_points_in_use() {
    let (used, notices) = utilisation(&["train.scale_features=true"]);
    assert!(used.iter().all(|u| *u > 0.2), "{used:?}"); // far from the 0.05 that counts as unused
    assert!(notices.iter().all(|text| !text.contains("16 of 16")), "{notices:?}");
}
