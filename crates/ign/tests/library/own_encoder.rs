//! The example that brings an encoder of its own: it must stay short, and its models must be as good as ours.

#[allow(dead_code)]
#[path = "../../examples/own_encoder.rs"]
mod example;

use example::CloudEncoder;
use ign::burn::module::Module;
use ign::burn::tensor::Tensor;
use ign::encoder::{Encoder, Mode, OwnEncoder};
use ign::{Config, Fit, Inputs, Kind, Model, OwnData, Prepared, Truth};

#[test]
fn a_new_kind_of_input_takes_less_than_sixty_lines() {
    let text = include_str!("../../examples/own_encoder.rs");
    let code = text.lines().take_while(|line| !line.contains("fn clouds")).filter(|line| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with("//") && !line.starts_with("#!")
    });
    assert!(code.count() < 60);
}

fn fitted(truth: impl Fn(Vec<f64>) -> Truth, kind: Kind) -> Model {
    let (inputs, spreads) = example::clouds(600, 5);
    let settings = ["gp.inducing=32", "train.warm_steps=1500", "train.epochs=3"].map(String::from);
    let config = Config::resolve(kind, None, None, &settings).expect("valid settings");
    let data = OwnData { inputs, truth: truth(spreads), name: "spread".into() };
    let prepared = Prepared::own::<CloudEncoder>(data, &[16, 8], &config).expect("valid data");
    match prepared.fit(&config, 1, None, &mut |_| true).expect("well-posed") {
        Fit::Finished(model) => *model,
        Fit::Interrupted(_) => unreachable!("nobody stops it"),
    }
}

#[test]
fn an_outsiders_model_learns_and_survives_its_file() {
    let model = fitted(Truth::Numbers, Kind::Numbers);
    let (clouds, spreads) = example::clouds(300, 6);
    let inputs = Inputs::own_of(clouds, 300);
    let prediction = model.predict(&inputs);
    let error =
        |mean: &[f64]| (mean.iter().zip(&spreads).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / 300.0).sqrt();
    let constant = error(&[spreads.iter().sum::<f64>() / 300.0; 300]);
    assert!(error(&prediction.mean) < 0.2 * constant, "{} of {constant}", error(&prediction.mean));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clouds.ign");
    model.save(&path).expect("writable");
    let again = Model::load_own::<CloudEncoder>(&path, 1).expect("its own file");
    assert_eq!(again.predict(&inputs), prediction);
}

#[test]
fn an_outsiders_classes_have_probabilities() {
    let classes = |spreads: Vec<f64>| Truth::Classes {
        labels: spreads.iter().map(|&spread| (spread / 0.7) as u32).collect(),
        names: ["narrow", "middling", "wide"].map(String::from).to_vec(),
    };
    let model = fitted(classes, Kind::Classes);
    let (clouds, spreads) = example::clouds(300, 6);
    let prediction = model.predict_classes(&Inputs::own_of(clouds, 300));
    let right = prediction.labels().zip(spreads).filter(|&(label, spread)| label == (spread / 0.7) as usize);
    assert!(right.count() > 255);
}

/// Another encoder with other parameters.
#[derive(Module, Debug)]
struct Stranger {
    inner: CloudEncoder,
}

impl Encoder for Stranger {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn features(&self, inputs: &Inputs, rows: &[usize], mode: Mode) -> Tensor<2> {
        self.inner.features(inputs, rows, mode)
    }
}

impl OwnEncoder for Stranger {
    type Shape = [usize; 2];
    fn new(shape: &[usize; 2], seed: u64) -> Self {
        Self { inner: CloudEncoder::new(shape, seed) }
    }
}

#[test]
fn another_program_refuses_an_outsiders_file() {
    let model = fitted(Truth::Numbers, Kind::Numbers);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clouds.ign");
    model.save(&path).expect("writable");
    let refused = [Model::load(&path, 1), Model::load_own::<Stranger>(&path, 1)];
    for error in refused.map(|result| result.expect_err("not its encoder").to_string()) {
        assert!(error.contains("`CloudEncoder`") && error.contains("hint:"), "{error}");
    }
}

#[test]
fn truths_that_teach_nothing_are_refused() {
    let config = Config::resolve(Kind::Numbers, None, None, &[]).expect("the default");
    let refused = |truth: Truth| {
        let (inputs, _) = example::clouds(30, 0);
        let data = OwnData { inputs, truth, name: "spread".into() };
        Prepared::own::<CloudEncoder>(data, &[4, 4], &config).expect_err("nothing to learn").to_string()
    };
    assert!(refused(Truth::Numbers(vec![1.0; 30])).contains("same target"));
    assert!(refused(Truth::Numbers(vec![f64::NAN; 30])).contains("row 0"));
    let names = || vec!["a".to_owned(), "b".to_owned()];
    assert!(refused(Truth::Classes { labels: vec![1; 30], names: names() }).contains("same class"));
    assert!(refused(Truth::Classes { labels: vec![2; 30], names: names() }).contains("of 2"));
}
