//! Runs that leave the numbers. They are mended or end with an error; no model is made of what is not a number.

use crate::fixture::{encoded, fit, linear, noise, predict, resolve, table, tiny};
use data::Table;
use inducing::config::ProblemKind;
use inducing::train::TrainError;
use inducing::{Config, Error, Model};

/// Trains; expects a model of finite numbers that can be saved and loaded, or [`TrainError::Diverged`].
fn ends_well(table: &Table, config: &Config) -> Option<Model> {
    let (result, log) = fit(table, config);
    match result {
        Err(Error::Train(TrainError::Diverged { .. })) => {
            assert!(log.notices.iter().any(|text| text.contains("half the step size")), "{:?}", log.notices);
            None
        }
        Err(other) => panic!("{other}"),
        Ok(model) => {
            let prediction = predict(&model, &encoded(&model, table));
            let all = prediction.mean.iter().chain(&prediction.std).chain(&prediction.std_latent);
            assert!(all.clone().all(|x| x.is_finite()), "a prediction is not a number");
            assert!(prediction.std.iter().all(|std| *std > 0.0));
            let folder = tempfile::tempdir().expect("a temporary folder");
            let path = folder.path().join("m.ign");
            model.save(&path).expect("a temporary folder is writable");
            let loaded = Model::load(&path).expect("a model that was saved can be loaded");
            assert_eq!(predict(&loaded, &encoded(&model, table)), prediction);
            Some(model)
        }
    }
}

#[test]
fn huge_steps_of_the_likelihood_end_in_a_model_of_numbers_or_an_error() {
    for rate in ["1e2", "1e6", "1e30"] {
        for stop_on in ["crps", "nll"] {
            ends_well(
                &linear(200, 0),
                &tiny(&[
                    &format!("train.learning_rate={rate}"),
                    "train.epochs=6",
                    &format!("train.stop_on={stop_on}"),
                ]),
            );
        }
        let never = [
            "train.stop_on=never",
            "train.recalibrate=false",
            "train.validation_share=0",
            "train.epochs=6",
            "train.encoder_rate=1",
        ];
        ends_well(&linear(200, 0), &tiny(&[&never[..], &[&format!("train.learning_rate={rate}")]].concat()));
    }
}

#[test]
fn huge_steps_of_pretraining_end_in_a_model_of_numbers_or_an_error() {
    for rate in ["1e2", "1e6", "1e30"] {
        ends_well(
            &linear(200, 0),
            &tiny(&[&format!("train.pretrain_learning_rate={rate}"), "train.pretrain_epochs=6"]),
        );
    }
}

#[test]
fn huge_steps_of_the_plain_start_end_in_a_model_of_numbers_or_an_error() {
    for rate in ["1", "1e6", "1e30"] {
        let overrides = [
            "data.target=[\"y\"]",
            "gp.inducing=16",
            "train.epochs=4",
            &format!("train.learning_rate={rate}"),
        ];
        let config = resolve(ProblemKind::Regression, "paper", &overrides).expect("valid");
        ends_well(&linear(150, 0), &config);
    }
}

#[test]
fn one_wild_input_or_target_still_gives_a_model() {
    let column = |k: u64| (0..200).map(|i| noise(3 * i + k)).collect::<Vec<f64>>();
    for (wild, value) in [("a", 1e300), ("a", -1e12), ("y", 1e12), ("y", 1e140)] {
        let mut columns = [("a", column(0)), ("b", column(1)), ("y", column(2))];
        columns.iter_mut().find(|(name, _)| *name == wild).expect("one of the three").1[17] = value;
        assert!(ends_well(&table(columns), &tiny(&[])).is_some(), "{wild} = {value}");
    }
}

#[test]
fn unscaled_inputs_of_any_size_end_in_a_model_of_numbers_or_an_error() {
    for factor in [1e-30, 1e6, 1e25] {
        let column = |k: u64| (0..200).map(|i| noise(3 * i + k)).collect::<Vec<f64>>();
        let scaled = column(0).into_iter().map(|x| factor * x).collect();
        let table = table([("a", scaled), ("b", column(1)), ("y", column(2))]);
        for features in ["train.scale_features=true", "train.scale_features=false"] {
            ends_well(&table, &tiny(&["data.scaling=none", features]));
        }
    }
}

/// Two rows with the same inputs and other targets, many times: K_zz is as singular as it can be.
#[test]
fn rows_that_are_all_alike_are_no_obstacle() {
    let a = (0..200).map(|i| f64::from(u8::from(i % 2 == 0))).collect::<Vec<f64>>();
    let y = (0..200).map(noise).collect();
    assert!(ends_well(&table([("a", a), ("y", y)]), &tiny(&["gp.inducing=150"])).is_some());
}
