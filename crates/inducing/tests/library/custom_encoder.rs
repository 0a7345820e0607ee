//! The example that brings an encoder of its own: it must stay short, and its models must be as good as ours.

#[allow(dead_code)]
#[path = "../../examples/custom_encoder.rs"]
mod example;

use crate::fixture::{linear, model, resolve, tiny};
use example::CloudEncoder;
use inducing::config::ProblemKind;
use inducing::dataset::{Inputs, Labels};
use inducing::model::TargetUse;
use inducing::nn::{CustomEncoder, Encoder, Forward, Layout, Mode};
use inducing::{Dataset, Error, Model, Prediction, Trainer};

#[test]
fn a_new_kind_of_input_takes_less_than_sixty_lines() {
    let text = include_str!("../../examples/custom_encoder.rs");
    let code = text.lines().take_while(|line| !line.contains("fn clouds")).filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//") && !line.starts_with("#!")
    });
    assert!(code.count() < 60);
}

fn fitted(labels: impl Fn(Vec<f64>) -> Labels) -> Model {
    let (inputs, spreads) = example::clouds(600, 5);
    let data =
        Dataset::custom::<CloudEncoder>(inputs, labels(spreads), "spread", &16).expect("a sound shape");
    let settings = ["gp.inducing=32", "train.pretrain_min_steps=1500", "train.epochs=3"];
    settings.into_iter().fold(Trainer::new(&data), Trainer::set).fit().expect("well-posed")
}

fn classes(spreads: Vec<f64>) -> Labels {
    Labels::Classes {
        labels: spreads.iter().map(|&spread| (spread / 0.7) as u32).collect(),
        names: ["narrow", "middling", "wide"].map(String::from).to_vec(),
    }
}

#[test]
fn a_custom_encoder_s_model_learns_and_survives_its_file() {
    let model = fitted(Labels::Numbers);
    let (clouds, spreads) = example::clouds(300, 6);
    let data = Dataset::custom_inputs(clouds, 300);
    let prediction = model.predict(&data).expect("clouds");
    let batch = prediction.as_regression().expect("spreads are numbers");
    let error =
        |mean: &[f64]| (mean.iter().zip(&spreads).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 300.0).sqrt();
    let constant = error(&[spreads.iter().sum::<f64>() / 300.0; 300]);
    // A line through the means of the ReLUs, which are proportional to the spread, gives a tenth; 420 clouds of some 40 points say no more.
    assert!(error(&batch.mean) < 0.3 * constant, "{} of {constant}", error(&batch.mean));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clouds.ign");
    model.save(&path).expect("writable");
    let again = Model::load_custom::<CloudEncoder>(&path).expect("its own file");
    assert_eq!(again.predict(&data).expect("clouds").as_regression(), Some(batch));
    assert_eq!(again.header(), model.header());
}

#[test]
fn a_custom_encoder_s_classes_have_probabilities() {
    let model = fitted(classes);
    let (clouds, spreads) = example::clouds(300, 6);
    let predictions = model.predict(&Dataset::custom_inputs(clouds, 300)).expect("clouds");
    let right = predictions.into_iter().zip(spreads).filter(|(prediction, spread)| {
        let Prediction::Classification(class) = prediction else { panic!("{prediction:?}") };
        let total: f64 = class.probabilities().map(|(_, p)| p).sum();
        assert!((total - 1.0).abs() < 1e-12, "{total}"); // three terms of f64
        class.label() == ["narrow", "middling", "wide"][(spread / 0.7) as usize]
    });
    assert!(right.count() > 255); // the rest is at the two borders
}

/// Another encoder with the same parameters.
#[derive(Debug)]
struct OtherEncoder(CloudEncoder);

impl Encoder for OtherEncoder {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn layout(&self) -> &Layout {
        self.0.layout()
    }
    fn initialise(&self, seed: u64) -> Vec<f32> {
        self.0.initialise(seed)
    }
    fn forward<'a>(
        &'a self,
        theta: &'a [f32],
        inputs: &'a Inputs,
        rows: &[usize],
        mode: Mode,
    ) -> Result<Forward<'a>, Error> {
        self.0.forward(theta, inputs, rows, mode)
    }
}

impl CustomEncoder for OtherEncoder {
    type Shape = usize;
    fn new(shape: &usize) -> Result<Self, String> {
        if *shape > 1000 { Err("too many features".into()) } else { Ok(Self(CloudEncoder::new(shape)?)) }
    }
}

#[test]
fn another_program_refuses_a_custom_encoder_s_file() {
    let model = fitted(Labels::Numbers);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clouds.ign");
    model.save(&path).expect("writable");
    let refused = [Model::load(&path), Model::load_custom::<OtherEncoder>(&path)];
    for error in refused.map(|result| result.expect_err("not its encoder").to_string()) {
        assert!(error.contains("`CloudEncoder`") && error.contains("hint:"), "{error}");
    }
}

#[test]
fn a_shape_that_its_encoder_refuses_is_an_error() {
    let (inputs, spreads) = example::clouds(30, 0);
    let data = Dataset::custom::<OtherEncoder>(inputs, Labels::Numbers(spreads), "spread", &1001);
    assert!(data.expect_err("refused").to_string().contains("too many features"));
}

#[test]
fn labels_that_teach_nothing_are_refused() {
    let config = resolve(ProblemKind::Regression, "default", &[]).expect("the default");
    let refused = |labels: Labels| {
        let (inputs, _) = example::clouds(30, 0);
        let data = Dataset::custom::<CloudEncoder>(inputs, labels, "spread", &4).expect("a sound shape");
        let trainer = Trainer::new(&data).config(config.clone());
        trainer.fit().expect_err("nothing to learn").to_string()
    };
    assert!(refused(Labels::Numbers(vec![1.0; 30])).contains("same target"));
    assert!(refused(Labels::Numbers(vec![f64::NAN; 30])).contains("row 0"));
    let names = || vec!["a".to_owned(), "b".to_owned()];
    assert!(refused(Labels::Classes { labels: vec![1; 30], names: names() }).contains("same class"));
    assert!(refused(Labels::Classes { labels: vec![2; 30], names: names() }).contains("of 2"));
    let twice = Labels::Classes { labels: vec![0; 30], names: vec!["a".to_owned(); 2] };
    assert!(refused(twice).contains("two classes are called `a`"));
    assert!(!refused(Labels::Numbers(Vec::new())).is_empty());
}

#[test]
fn inputs_of_another_type_are_an_error_that_names_the_one_expected() {
    let model = fitted(Labels::Numbers);
    let error = model.predict(&Dataset::custom_inputs(vec![1.0_f32; 3], 3)).expect_err("no clouds");
    assert!(error.to_string().contains("f32; 2]"), "{error}");
    let error = model.predict(&Dataset::from_table(linear(3, 0))).expect_err("a table");
    assert!(error.to_string().contains("custom"), "{error}");
    let table = self::model(&linear(60, 0), &tiny(&[]));
    let (clouds, _) = example::clouds(3, 0);
    let data = Dataset::custom_inputs(clouds, 3);
    assert!(matches!(table.predict(&data), Err(Error::Inputs { .. })));
    assert!(matches!(table.encode_data(&data, TargetUse::Needed), Err(Error::Inputs { .. })));
    // What has no labels cannot be learned from.
    assert!(matches!(Trainer::new(&data).fit(), Err(Error::Inputs { .. })));
}

#[test]
fn the_gradient_of_the_example_equals_central_differences() {
    let (clouds, _) = example::clouds(6, 2);
    let inputs = Inputs::custom(clouds, 6);
    let (encoder, rows) = (CloudEncoder::new(&5).expect("a sound shape"), [4, 0, 5, 1]);
    let (theta, c) = (encoder.initialise(3), (0..20).map(|i| (i as f32).cos()).collect::<Vec<_>>());
    let loss = |theta: &[f32]| -> f64 {
        let phi = encoder.features(theta, &inputs, &rows).expect("clouds");
        phi.iter().zip(&c).map(|(phi, c)| f64::from(*phi) * f64::from(*c)).sum()
    };
    let (_, backward) = encoder.forward(&theta, &inputs, &rows, Mode::Predict).expect("clouds");
    let mut d_theta = vec![f32::NAN; theta.len()];
    backward.pull_back(&c, &mut d_theta, None);
    for (i, d) in d_theta.iter().enumerate() {
        let moved = |h: f32| {
            let mut moved = theta.clone();
            moved[i] += h;
            loss(&moved)
        };
        // Kinks of some forty points' ReLUs within ±h move the slope by less than this.
        let difference = (moved(1e-3) - moved(-1e-3)) / 2e-3;
        assert!((f64::from(*d) - difference).abs() < 5e-3, "{i}: {d} {difference}");
    }
}
