//! Early stopping keeps the best epoch, not the last.

use crate::fixture::{fit, linear, number, tiny};
use inducing::config::StopOn;
use inducing::train::Phase;

/// Steps so large that some epochs are worse than the ones before.
const RESTLESS: [&str; 7] = [
    "encoder.skip=false", // a linear start leaves nothing to learn here
    "train.learning_rate=0.05",
    "train.encoder_rate=1",
    "train.schedule=constant",
    "train.batch_size=32",
    "train.reinitialise_unused=false",
    "train.patience=4",
];

#[test]
fn the_model_is_that_of_the_best_epoch_by_the_chosen_score() {
    for stop_on in ["crps", "nll"] {
        let stop = format!("train.stop_on={stop_on}");
        let more = ["train.epochs=60", "train.recalibrate=false", &stop];
        let config = tiny(&[&RESTLESS[..], &more].concat());
        let table = linear(300, 1);
        let (model, log) = fit(&table, &config);
        let model = model.expect("this run succeeds");
        let records: Vec<_> = log.records.iter().filter(|r| r.phase == Phase::Likelihood).collect();
        let score =
            |k: usize| if config.train.stop_on == StopOn::Nll { records[k].nll } else { records[k].crps };
        let best = (0..records.len())
            .min_by(|&i, &j| score(i).expect("a score").total_cmp(&score(j).expect("a score")))
            .expect("several epochs");
        let header = model.header();
        assert_eq!(header.best_epoch, records[best].epoch, "{stop_on}");
        assert!(best > 0, "the test needs a run that gets better before it gets worse: {records:?}");
        assert_eq!(records.len(), best + 1 + 4, "the run ends after four epochs without a better one");
        assert_eq!(header.history, log.records);
        // Standardised scores of the history against scores in the target's unit: rounding through f32 targets only.
        let metrics = number(&header.metrics["validation"]["y"]);
        let crps = metrics.crps / header.schema.numbers()[0].std;
        let expected = records[best].crps.expect("a score");
        assert!((crps - expected).abs() < 1e-5 * expected, "{stop_on}: {crps} {expected}");
        // The run that ends there arrives at the same parameters.
        let end = format!("train.epochs={}", header.best_epoch);
        let short = tiny(&[&RESTLESS[..], &["train.recalibrate=false", &stop, &end]].concat());
        let short = fit(&table, &short).0.expect("this run succeeds");
        assert!(short.heads().eq(model.heads()), "{stop_on}");
    }
}

#[test]
fn without_stopping_the_last_epoch_is_kept() {
    let more = ["train.epochs=12", "train.stop_on=never"];
    let (model, log) = fit(&linear(300, 1), &tiny(&[&RESTLESS[..], &more].concat()));
    assert_eq!(model.expect("this run succeeds").header().best_epoch, 12);
    assert_eq!(log.records.last().expect("epochs").epoch, 12);
}
