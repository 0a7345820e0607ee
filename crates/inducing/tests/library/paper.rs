//! The preset `paper` is section 4.1 of the paper, as far as it says.

use crate::fixture::{fit, linear, resolve};
use inducing::config::{KernelFamily, ProblemKind, Schedule, StopOn};

#[test]
fn the_paper_preset_is_the_papers_setting() {
    let config = resolve(ProblemKind::Regression, "paper", &[]).expect("valid");
    let encoder = &config.encoder;
    assert_eq!(encoder.hidden.iter().map(|units| units.get()).collect::<Vec<_>>(), [128, 128, 128]);
    assert_eq!((encoder.features.get(), encoder.members.get()), (64, 1));
    // A plain network: nothing embedded, nothing around it, nothing dropped.
    assert_eq!(
        (encoder.frequencies, encoder.skip, encoder.lookup, encoder.dropout.get()),
        (0, false, false, 0.0)
    );
    let gp = &config.gp;
    assert_eq!((gp.kernel, gp.scale.get(), gp.gamma.get()), (KernelFamily::Rbf, 1.0, 1.0));
    assert!(!gp.learn_kernel);
    assert_eq!(gp.inducing.get(), 512);
    let train = &config.train;
    assert_eq!((train.epochs, train.max_steps, train.batch_size.get()), (500, 0, 128));
    assert_eq!(
        (train.learning_rate.get(), train.encoder_rate, train.schedule),
        (1e-3, 1.0, Schedule::Constant)
    );
    assert_eq!((train.weight_decay, train.pretrain_epochs), (0.0, 0));
    assert!(!train.scale_features && !train.reinitialise_unused);
    assert_eq!((train.validation_share.get(), train.stop_on), (0.0, StopOn::Never));
    assert!(!train.recalibrate);
}

#[test]
fn what_is_not_a_table_of_numbers_begins_within_the_kernels_reach() {
    for (kind, epochs, scaled) in [
        (ProblemKind::Regression, 500, false),
        (ProblemKind::Classification, 500, false),
        (ProblemKind::Images, 100, true),
        (ProblemKind::TextRegression, 10, true),
        (ProblemKind::TextClassification, 10, true),
        (ProblemKind::Graphs, 100, true),
    ] {
        let train = resolve(kind, "paper", &[]).expect("valid").train;
        assert_eq!((train.epochs, train.scale_features), (epochs, scaled), "{kind:?}");
    }
}

/// What the preset asks for is what is done.
#[test]
fn a_run_of_the_paper_preset_fixes_the_kernel_and_keeps_the_last_epoch() {
    let overrides = ["train.epochs=3", "gp.inducing=24", "data.target=[\"y\"]"];
    let config = resolve(ProblemKind::Regression, "paper", &overrides).expect("valid");
    let (model, log) = fit(&linear(150, 0), &config);
    let model = model.expect("this run succeeds");
    let header = model.header();
    assert_eq!(header.kernel.log_parameters(), [0.0, 0.0], "s = γ = 1");
    assert_eq!((header.rows, header.best_epoch), ([150, 0, 0], 3));
    assert_eq!(header.calibration, [inducing::model::Calibration::none()]);
    assert!((header.feature_scale.scale - 1.0).abs() < f32::EPSILON);
    assert!(header.metrics.is_empty(), "there is nothing held out to score");
    assert!(log.records.iter().all(|record| record.nll.is_none()));
    assert!(log.notices.is_empty(), "{:?}", log.notices);
}

#[test]
fn the_noise_stops_at_its_floor() {
    let least = |floor: &str| {
        let noise_floor = format!("gp.noise_floor={floor}");
        let overrides = [
            "train.epochs=6",
            "train.learning_rate=0.1",
            "gp.inducing=24",
            "data.target=[\"y\"]",
            &noise_floor,
        ];
        let config = resolve(ProblemKind::Regression, "paper", &overrides).expect("valid");
        let (model, log) = fit(&linear(150, 0), &config);
        model.expect("this run succeeds");
        log.records.iter().filter_map(|record| record.noise).fold(f64::INFINITY, f64::min)
    };
    assert!((least("0.7") - 0.7).abs() < 1e-6, "{}", least("0.7"));
    assert!(least("0.0") < 0.6, "{}", least("0.0"));
}
