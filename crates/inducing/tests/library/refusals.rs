//! Configurations that were changed by hand: nonsense is an error of the run, never a panic.

use crate::fixture::{classes, linear, prepared, stripes, tiny, tiny_classes, tiny_images};
use inducing::config::{Config, EncoderKind, HeadKind, Precision, StopOn};
use inducing::{Dataset, Error, Trainer};
use std::num::NonZeroUsize;

/// A change to a configuration, and a word of the message.
type Change = (fn(&mut Config), &'static str);

fn size(n: usize) -> NonZeroUsize {
    NonZeroUsize::new(n).expect("not zero")
}

fn share(text: &str) -> inducing::config::Share {
    tiny(&[&format!("train.validation_share={text}"), "train.stop_on=never", "train.recalibrate=false"])
        .train
        .validation_share
}

#[track_caller]
fn assert_refused(data: &Dataset, config: &Config, changes: &[Change]) {
    for (change, word) in changes {
        let mut config = config.clone();
        change(&mut config);
        let error = Trainer::new(data).config(config).fit().expect_err(word);
        assert!(matches!(error, Error::Config(_) | Error::Data(_)), "{word}: {error}");
        assert!(error.to_string().contains(word), "{word}: {error}");
    }
}

#[test]
fn nonsense_in_a_configuration_is_an_error_at_fit() {
    let data = Dataset::from_table(linear(100, 0));
    assert_refused(
        &data,
        &tiny(&[]),
        &[
            (|c| c.encoder.members = size(3), "encoder.members"),
            (|c| (c.encoder.features, c.encoder.members) = (size(7), size(2)), "encoder.features"),
            (|c| c.train.validation_share = share("0"), "train.validation_share"),
            (
                |c| {
                    c.train.validation_share = share("0");
                    c.train.stop_on = StopOn::Never;
                },
                "train.recalibrate",
            ),
            (|c| c.gp.precision = Precision::F32, "gp.jitter"),
            (|c| c.gp.noise_floor = f64::NAN, "gp.noise_floor"),
            (|c| c.train.weight_decay = -1.0, "train.weight_decay"),
            (|c| c.train.encoder_rate = f64::INFINITY, "train.encoder_rate"),
            (|c| c.data.folds = 1, "data.folds"),
            (|c| (c.data.folds, c.data.fold) = (3, 3), "data.fold"),
            (|c| c.data.target = vec!["y".into(), "y".into()], "`y`"),
            (|c| c.data.target = vec!["z".into()], "z"),
            (|c| c.data.target.clear(), "target"),
            (|c| c.head = HeadKind::Softmax, "softmax"),
            (|c| c.encoder.kind = EncoderKind::Cnn, "encoder.kind"),
            (|c| c.encoder.kind = EncoderKind::Gin, "encoder.kind"),
            (|c| c.encoder.hidden = vec![size(1 << 40)], "parameters"),
            (|c| c.encoder.features = size(1 << 50), "parameters"),
            (|c| c.encoder.frequencies = usize::MAX, "parameters"),
            (|c| (c.encoder.members, c.encoder.features) = (size(1 << 20), size(1 << 20)), "members"),
        ],
    );
}

#[test]
fn nonsense_for_images_is_an_error_at_fit() {
    let data = Dataset::from_images(stripes(60, 1, 0));
    let cnn = tiny_images(&["encoder.kind=cnn", "encoder.stem=8", "encoder.blocks=[8]"]);
    assert_refused(
        &data,
        &cnn,
        &[
            (|c| c.encoder.blocks.clear(), "block"),
            (|c| c.encoder.blocks = vec![size(8); 3], "encoder.blocks"),
            (|c| c.encoder.blocks = vec![size(8); 100], "encoder.blocks"),
            (|c| c.encoder.blocks = vec![size(9)], "9 channels"),
            (|c| c.encoder.stem = 3, "3 channels"),
            (|c| c.encoder.convolutions = 0, "convolutions"),
            (|c| c.encoder.convolutions = usize::MAX, "convolutions"),
            (|c| c.encoder.stem = 1 << 50, "parameters"),
            (|c| c.encoder.kind = EncoderKind::Transformer, "encoder.kind"),
        ],
    );
}

/// Sizes that are larger than the data are no mistake: there are as many inducing points and rows in a batch as rows.
#[test]
fn sizes_beyond_the_rows_are_cut_to_them() {
    let data = Dataset::from_table(linear(60, 0));
    let mut config = tiny(&[]);
    config.gp.inducing = size(1_000_000);
    config.train.batch_size = size(usize::MAX);
    config.train.pretrain_batch_size = size(usize::MAX);
    let model = Trainer::new(&data).config(config).fit().expect("this run succeeds");
    let head = model.heads().next().expect("a process");
    assert_eq!(head.z.len() / head.w.len(), model.header().rows[0]);
}

/// `fit` of data made ready takes another configuration than `prepare` did.
#[test]
fn a_configuration_changed_between_preparation_and_fit_is_an_error_or_a_model() {
    let config = tiny(&[]);
    let prepared = prepared(&linear(100, 0), &config).expect("a table to learn from");
    let changes: [fn(&mut Config); 5] = [
        |c| (c.encoder.features, c.encoder.members) = (size(7), size(2)),
        |c| c.gp.precision = Precision::F32,
        |c| c.train.encoder_rate = f64::NAN,
        |c| c.train.validation_share = share("0"),
        |c| c.head = HeadKind::Softmax,
    ];
    for change in changes {
        let mut other = config.clone();
        change(&mut other);
        let result = prepared.fit(&other, 1, None, &mut |_| true);
        if let Err(error) = result {
            assert!(!error.to_string().is_empty());
        }
    }
}

#[test]
fn tables_that_teach_nothing_are_an_error() {
    let constant = crate::fixture::table([("a", vec![1.0, 2.0, 3.0]), ("y", vec![5.0; 3])]);
    let empty = crate::fixture::table([("a", vec![]), ("y", vec![])]);
    let missing = crate::fixture::table([("a", vec![1.0, 2.0]), ("y", vec![f64::NAN; 2])]);
    let alone = crate::fixture::table([("y", vec![1.0, 2.0, 3.0])]);
    let single = crate::fixture::table([("a", vec![1.0]), ("y", vec![1.0])]);
    for (name, table) in
        [("constant", constant), ("empty", empty), ("missing", missing), ("alone", alone), ("single", single)]
    {
        let error = Trainer::new(&Dataset::from_table(table)).config(tiny(&[])).fit().expect_err(name);
        assert!(!error.to_string().is_empty(), "{name}");
    }
    let one = Dataset::from_table(classes(60, &["only"], 0));
    assert!(Trainer::new(&one).config(tiny_classes(&[])).fit().is_err());
}
