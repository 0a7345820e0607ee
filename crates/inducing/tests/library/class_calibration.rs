//! Recalibration makes the probabilities of classes worth what they claim.

use crate::fixture::{
    class_scores, classes, encoded, fit, predict_classes, prepared_images, stripes, tiny_classes,
    tiny_images, trained,
};
use inducing::metrics::{Bin, ClassMetrics};
use inducing::model::ClassCalibration;
use inducing::{Config, Model};

const THREE: [&str; 3] = ["low", "middle", "top"];

/// Much training on few rows, and nothing that stops it: the model trusts itself too much.
const CARELESS: [&str; 6] = [
    "train.stop_on=never",
    "train.pretrain_epochs=150",
    "train.pretrain_learning_rate=1e-2",
    "train.weight_decay=0",
    "train.validation_share=0.4",
    "encoder.hidden=[64]",
];

fn validation(model: &Model) -> &ClassMetrics {
    class_scores(&model.header().metrics["validation"][&model.header().schema.target_names()[0]])
}

fn of_table(config: &Config) -> Model {
    fit(&classes(300, &THREE, 0), config).0.expect("this run succeeds")
}

#[test]
fn recalibration_never_raises_the_validation_s_loss_for_any_head() {
    for more in [
        &[][..],
        &["gp.link=probit"],
        &["head=softmax"],
        &["gp.multiclass=independent"],
        &["train.class_weights=balanced"],
    ] {
        let model = of_table(&tiny_classes(&[more, &["train.validation_share=0.3"]].concat()));
        let scores = validation(&model);
        let before = scores.uncalibrated.as_ref().expect("both are told");
        // By construction: leaving things as they are is one of the candidates.
        assert!(scores.nll <= before.nll + 1e-12, "{more:?}: {} {}", scores.nll, before.nll);
        assert!(model.header().class_calibration.is_some_and(|c| c.slope > 0.0 && c.latent > 0.0));
        let rows = |bins: &[Bin]| bins.iter().map(|bin| bin.count).sum::<usize>();
        assert_eq!((rows(&scores.reliability), rows(&before.reliability)), (scores.n, scores.n));
    }
}

#[test]
fn a_model_that_trusts_itself_too_much_is_mended_on_rows_that_were_never_seen() {
    for head in ["head=gp", "head=softmax"] {
        let config = tiny_classes(&[&CARELESS[..], &[head]].concat());
        let model = of_table(&config);
        let scores = validation(&model);
        let before = scores.uncalibrated.as_ref().expect("both are told");
        assert!(scores.nll < 0.98 * before.nll, "{head}: the test needs a bad model: {scores:?}");
        assert!(
            model.header().class_calibration.is_some_and(|c| c.slope < 1.0),
            "{head}: it is made less sure"
        );
        let new = classes(1000, &THREE, 1);
        let schema = model.header().schema.table().expect("a table");
        let data::TargetValues::Classes(y) = schema.targets(&new, None).expect("the same labels") else {
            panic!("classes were learned")
        };
        let y: Vec<u32> = y.into_iter().flatten().collect();
        let inputs = encoded(&model, &new);
        let scores =
            model.score_classes(&inputs, &(0..1000).collect::<Vec<_>>(), &y).expect("rows of the model");
        let scores = class_scores(&scores["y"]);
        let before = scores.uncalibrated.as_ref().expect("both are told");
        assert!(scores.nll < before.nll && scores.ece < before.ece, "{head}: {} {}", scores.nll, before.nll);
    }
}

#[test]
fn images_are_recalibrated_too() {
    let config = tiny_images(&["train.validation_share=0.3"]);
    let prepared = prepared_images(&stripes(200, 1, 0), &config).expect("images to learn from");
    let model = trained(&prepared, &config, 1);
    let scores = validation(&model);
    assert!(scores.uncalibrated.as_ref().is_some_and(|before| scores.nll <= before.nll + 1e-12));
}

#[test]
fn few_rows_or_the_user_s_wish_leave_probabilities_as_they_are() {
    let few = fit(&classes(60, &THREE, 0), &tiny_classes(&[])).0.expect("this run succeeds");
    assert_eq!(few.header().class_calibration, Some(ClassCalibration::none()), "20 rows are too few");
    let unwanted = of_table(&tiny_classes(&["train.recalibrate=false"]));
    assert_eq!(unwanted.header().class_calibration, None);
    assert!(validation(&unwanted).uncalibrated.is_none());
}

#[test]
fn recalibration_changes_no_decision_between_two_classes() {
    let table = classes(300, &["no", "yes"], 0);
    let labels = |more: &[&str]| {
        let model = fit(&table, &tiny_classes(&[&CARELESS[..], more].concat())).0.expect("this run succeeds");
        predict_classes(&model, &encoded(&model, &table)).labels().collect::<Vec<_>>()
    };
    assert_eq!(labels(&[]), labels(&["train.recalibrate=false"]));
}

#[test]
fn the_head_refit_moves_the_pseudo_labels_and_never_raises_the_validation_loss() {
    let mut gains = Vec::new();
    for more in [
        &["train.validation_share=0.3"][..],
        &["train.validation_share=0.3", "gp.link=probit"],
        &["train.validation_share=0.3", "gp.precision=f32", "gp.jitter=1e-3"],
        &["train.validation_share=0.3", "train.recalibrate=false"],
        &["train.validation_share=0.08"],
    ] {
        let nll = |refit: &str| {
            let model = of_table(&tiny_classes(&[more, &[refit]].concat()));
            validation(&model).nll
        };
        gains.push(nll("train.head_refit=false") - nll("train.head_refit=true"));
    }
    // Recalibration of the variance comes afterwards, and pulls a little at both.
    assert!(gains.iter().all(|gain| *gain > -1e-3), "{gains:?}");
    assert!(gains.iter().any(|gain| *gain > 1e-3), "{gains:?}");
}
