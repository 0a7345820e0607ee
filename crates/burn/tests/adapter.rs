//! What the adapter promises: θ in and out, gradients, modes, training, files, refusals.

#[allow(dead_code)]
#[path = "../examples/point_clouds.rs"]
mod example;

use burn::module::Module;
use burn::nn::{BatchNorm, BatchNormConfig, Dropout, DropoutConfig, Linear, LinearConfig};
use burn::tensor::{Device, Tensor, activation::relu};
use example::CloudModule;
use inducing::dataset::{Inputs, Labels, Matrix};
use inducing::nn::mlp::{Mlp, MlpShape};
use inducing::nn::{CustomEncoder, Encoder, Mode};
use inducing::train::{Event, Phase};
use inducing::{Dataset, Error, Model, Trainer};
use inducing_burn::{Batch, BurnEncoder, BurnModule};
use serde::{Deserialize, Serialize};

/// What may be unusual about a module.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Unusual {
    dropout: f64,
    frozen: bool,
    batch_norm: bool,
    wrong_dim: bool,
    members: usize,
    smooth: bool,
}

/// `Φ = drop(relu(x W₀ + b₀)) W₁ + b₁`, or tanh in place of relu, of rows of [`WIDTH`] numbers.
#[derive(Module, Debug)]
struct Rows {
    first: Linear,
    dropout: Dropout,
    norm: Option<BatchNorm>,
    last: Linear,
    #[module(skip)]
    unusual: Unusual,
}

const WIDTH: usize = 3;
const HIDDEN: usize = 7;
const FEATURES: usize = 4;

impl BurnModule for Rows {
    type Shape = Unusual;

    fn new(&unusual: &Unusual, _seed: u64, device: &Device) -> Result<Self, String> {
        if unusual.dropout >= 1.0 {
            return Err("nothing would be left".into());
        }
        let first = LinearConfig::new(WIDTH, HIDDEN).init(device);
        Ok(Self {
            first: if unusual.frozen { first.no_grad() } else { first },
            dropout: DropoutConfig::new(unusual.dropout).init(),
            norm: unusual.batch_norm.then(|| BatchNormConfig::new(HIDDEN).init(device)),
            last: LinearConfig::new(HIDDEN, FEATURES).init(device),
            unusual,
        })
    }

    fn dim(&self) -> usize {
        FEATURES + usize::from(self.unusual.wrong_dim)
    }

    fn members(&self) -> usize {
        self.unusual.members.max(1)
    }

    fn features(&self, batch: &Batch<'_>) -> Result<Tensor<2>, Error> {
        let h = self.first.forward(batch.numbers(WIDTH)?);
        let h = if self.unusual.smooth { h.tanh() } else { relu(h) };
        Ok(self.last.forward(self.dropout.forward(h)))
    }
}

fn encoder(unusual: Unusual) -> BurnEncoder<Rows> {
    BurnEncoder::new(&unusual).expect("a sound shape")
}

fn matrix(rows: usize, width: usize) -> Matrix {
    let x = (0..rows * width).map(|i| (i as f32 * 1.7).sin()).collect();
    Matrix { x, width, ..Matrix::default() }
}

fn table(rows: usize, width: usize) -> Inputs {
    Inputs::Table(matrix(rows, width))
}

/// Φ, ∂θ and ∂x.
type Slopes = (Vec<f32>, Vec<f32>, Vec<f32>);

fn slopes(encoder: &dyn Encoder, theta: &[f32], mode: Mode) -> Slopes {
    let (inputs, rows) = (table(9, WIDTH), [8, 0, 3, 3, 5]);
    let (phi, backward) = encoder.forward(theta, &inputs, &rows, mode).expect("good inputs");
    let d_phi: Vec<f32> = (0..phi.len()).map(|i| (i as f32 * 0.7).cos()).collect();
    let (mut d_theta, mut d_x) = (vec![f32::NAN; theta.len()], vec![f32::NAN; rows.len() * WIDTH]);
    backward.pull_back(&d_phi, &mut d_theta, Some(&mut d_x));
    (phi, d_theta, d_x)
}

/// 1e-5: f32 sums of a dozen terms of size one, in another order.
fn assert_close(a: &[f32], b: &[f32]) {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).for_each(|(a, b)| assert!((a - b).abs() <= 1e-5 * (1.0 + b.abs()), "{a} and {b}"));
}

#[test]
fn parameters_are_named_and_come_back_as_they_were_written() {
    let encoder = encoder(Unusual::default());
    let names: Vec<(&str, bool)> =
        encoder.layout().slots().iter().map(|s| (s.name.as_str(), s.decays)).collect();
    let expected = [("Rows.first.weight", true), ("Rows.first.bias", false), ("Rows.last.weight", true)];
    assert_eq!(names[..3], expected);
    assert_eq!(encoder.layout().slots()[0].shape, [WIDTH, HIDDEN]);
    let theta: Vec<f32> = (0..encoder.layout().len()).map(|i| i as f32).collect();
    let module = encoder.module(&theta).expect("of the right length");
    assert_eq!(encoder.parameters(&module).expect("of the right shape"), theta);
    assert!(encoder.module(&theta[1..]).is_err());
}

#[test]
fn a_seed_decides_all_initial_parameters() {
    let encoder = encoder(Unusual::default());
    assert_eq!(encoder.initialise(1), encoder.initialise(1));
    assert_ne!(encoder.initialise(1), encoder.initialise(2));
}

#[test]
fn linear_layers_are_the_librarys_own_network_with_the_same_gradients() {
    let own = Mlp::new(MlpShape {
        numeric: WIDTH,
        width: WIDTH,
        hidden: vec![HIDDEN],
        features: FEATURES,
        members: 1,
        periodic: None,
        skip: false,
        tables: Vec::new(),
        table_width: 0,
        dropout: 0.0,
    });
    let (own, encoder) = (own.expect("a sound shape"), encoder(Unusual::default()));
    let theta = encoder.initialise(3);
    let (expected, found) = (slopes(&own, &theta, Mode::Predict), slopes(&encoder, &theta, Mode::Predict));
    assert_close(&found.0, &expected.0);
    assert_close(&found.1, &expected.1);
    assert_close(&found.2, &expected.2);
    assert_eq!(slopes(&encoder, &theta, Mode::Train { seed: 1 }), found, "nothing is drawn here");
}

/// Compares the gradients of `⟨Φ, c⟩` by all parameters, and by x where the inputs are a table, with central differences.
///
/// Steps of 2⁻⁷ leave a truncation error of 1e-5 of the third derivative; Φ in f32 is wrong by some 1e-7, which the step
/// turns into 1e-5. 2e-4 is above both, and far below what a forgotten term would change.
fn assert_central_differences(encoder: &dyn Encoder, theta: &[f32], inputs: &Inputs, mode: Mode) {
    const STEP: f32 = 1.0 / 128.0;
    let rows: Vec<usize> = (0..inputs.rows()).rev().collect();
    let c: Vec<f32> = (0..rows.len() * encoder.dim()).map(|i| (i as f32 * 0.7).cos()).collect();
    let value = |theta: &[f32], inputs: &Inputs| -> f64 {
        let (phi, _) = encoder.forward(theta, inputs, &rows, mode).expect("good inputs");
        phi.iter().zip(&c).map(|(&phi, &c)| f64::from(phi) * f64::from(c)).sum()
    };
    let slope = |at: &dyn Fn(f32) -> f64| (at(STEP) - at(-STEP)) / f64::from(2.0 * STEP);
    let assert_near = |what: &str, i: usize, found: f32, expected: f64| {
        let error = (f64::from(found) - expected).abs();
        assert!(error <= 2e-4 * (1.0 + expected.abs()), "{what}[{i}]: {found} instead of {expected}");
    };
    let with = |values: &[f32], i: usize, step: f32| {
        let mut moved = values.to_vec();
        moved[i] += step;
        moved
    };

    let (_, backward) = encoder.forward(theta, inputs, &rows, mode).expect("good inputs");
    let mut d_theta = vec![f32::NAN; theta.len()];
    backward.pull_back(&c, &mut d_theta, None);
    for (i, &found) in d_theta.iter().enumerate() {
        assert_near("θ", i, found, slope(&|step| value(&with(theta, i, step), inputs)));
    }

    let Inputs::Table(table) = inputs else { return };
    let (_, backward) = encoder.forward(theta, inputs, &rows, mode).expect("good inputs");
    let mut d_x = vec![f32::NAN; table.x.len()];
    backward.pull_back(&c, &mut [], Some(&mut d_x));
    for (place, row) in rows.iter().enumerate() {
        for j in 0..table.width {
            let i = row * table.width + j;
            let moved = |step| Inputs::Table(Matrix { x: with(&table.x, i, step), ..table.clone() });
            let found = d_x[place * table.width + j];
            assert_near("x", i, found, slope(&|step| value(theta, &moved(step))));
        }
    }
}

#[test]
fn gradients_of_parameters_and_inputs_are_central_differences() {
    let smooth = encoder(Unusual { smooth: true, ..Unusual::default() });
    let theta = smooth.initialise(3);
    assert_central_differences(&smooth, &theta, &table(9, WIDTH), Mode::Predict);
    let dropping = encoder(Unusual { smooth: true, dropout: 0.4, ..Unusual::default() });
    assert_central_differences(&dropping, &theta, &table(9, WIDTH), Mode::Train { seed: 5 });
}

#[test]
fn gradients_with_inputs_of_another_type_are_central_differences() {
    let encoder = BurnEncoder::<CloudModule>::new(&[6, 3]).expect("a sound shape");
    let (clouds, _) = example::clouds(4, 2);
    let theta = encoder.initialise(1);
    assert_central_differences(&encoder, &theta, &Inputs::custom(clouds, 4), Mode::Predict);
}

#[test]
fn dropout_follows_the_seed_and_rests_in_prediction() {
    let dropping = encoder(Unusual { dropout: 0.5, ..Unusual::default() });
    let theta = dropping.initialise(3);
    let at = |seed| slopes(&dropping, &theta, Mode::Train { seed });
    assert_eq!(at(1), at(1));
    assert_ne!(at(1).0, at(2).0);
    let phi = slopes(&dropping, &theta, Mode::Predict).0;
    assert_eq!(phi, slopes(&encoder(Unusual::default()), &theta, Mode::Predict).0);
    assert_eq!(phi, dropping.features(&theta, &table(9, WIDTH), &[8, 0, 3, 3, 5]).expect("good inputs"));
}

#[test]
fn frozen_parameters_have_no_gradient_and_do_not_decay() {
    let frozen = encoder(Unusual { frozen: true, ..Unusual::default() });
    let theta = frozen.initialise(3);
    let (_, d_theta, d_x) = slopes(&frozen, &theta, Mode::Train { seed: 0 });
    let (first, last) = d_theta.split_at(WIDTH * HIDDEN + HIDDEN);
    assert!(first.iter().all(|&d| d == 0.0) && last.iter().any(|&d| d != 0.0));
    assert_close(&d_x, &slopes(&encoder(Unusual::default()), &theta, Mode::Predict).2);
    assert!(frozen.layout().slots().iter().all(|slot| slot.decays == (slot.name == "Rows.last.weight")));
}

#[test]
fn a_matrix_of_ones_own_is_read_like_a_table() {
    let (encoder, rows) = (encoder(Unusual::default()), [8, 0, 3]);
    let theta = encoder.initialise(3);
    let features = |inputs: &Inputs| encoder.features(&theta, inputs, &rows).map_err(|e| e.to_string());
    assert_eq!(features(&Inputs::custom(matrix(9, WIDTH), 9)), features(&table(9, WIDTH)));
    let fault = features(&Inputs::custom(matrix(9, 4), 9)).expect_err("too wide");
    assert!(fault.contains("expected rows of 3 numbers, got rows of 4"), "{fault}");
    let fault = features(&Inputs::custom(matrix(5, WIDTH), 9)).expect_err("too short");
    assert!(fault.contains("expected row 8, got 5 rows"), "{fault}");
}

#[test]
fn no_rows_have_no_features_and_no_gradient() {
    let (encoder, inputs) = (encoder(Unusual::default()), table(9, WIDTH));
    let theta = encoder.initialise(3);
    let (phi, backward) = encoder.forward(&theta, &inputs, &[], Mode::Predict).expect("good inputs");
    let mut d_theta = vec![f32::NAN; theta.len()];
    backward.pull_back(&[], &mut d_theta, Some(&mut []));
    assert!(phi.is_empty() && d_theta.iter().all(|&d| d == 0.0));
    assert!(encoder.features(&theta, &inputs, &[]).expect("good inputs").is_empty());
}

#[test]
fn features_of_a_row_do_not_depend_on_the_rows_beside_it() {
    let (encoder, inputs) = (encoder(Unusual::default()), table(300, WIDTH));
    let theta = encoder.initialise(3);
    let all = encoder.features(&theta, &inputs, &(0..300).collect::<Vec<_>>()).expect("good inputs");
    for row in [0, 1, 150, 299] {
        let alone = encoder.features(&theta, &inputs, &[row]).expect("good inputs");
        assert_close(&alone, &all[row * FEATURES..][..FEATURES]);
    }
}

#[test]
fn wrong_inputs_are_errors() {
    let encoder = encoder(Unusual::default());
    let theta = encoder.initialise(0);
    let fault = |inputs: &Inputs, row: usize| {
        let features = encoder.features(&theta, inputs, &[row]).map(|_| ());
        let forward = encoder.forward(&theta, inputs, &[row], Mode::Predict).map(|_| ());
        let (features, forward) = (features.expect_err("refused"), forward.map_err(|e| e.to_string()));
        assert_eq!(forward, Err(features.to_string()));
        features.to_string()
    };
    assert!(fault(&table(9, WIDTH + 1), 0).contains("expected rows of 3 numbers"));
    assert!(fault(&table(9, WIDTH), 9).contains("expected row 9, got 9 rows"));
    assert!(fault(&Inputs::custom(vec![1.0_f32], 1), 0).contains("another encoder"));
    let clouds = BurnEncoder::<CloudModule>::new(&[4, 2]).expect("a sound shape");
    assert!(clouds.features(&clouds.initialise(0), &table(9, 2), &[0]).is_err());
    assert!(encoder.features(&theta[1..], &table(9, WIDTH), &[0]).is_err());
    let wrong = self::encoder(Unusual { wrong_dim: true, ..Unusual::default() });
    let fault = wrong.features(&theta, &table(9, WIDTH), &[0]).expect_err("refused").to_string();
    assert!(fault.contains("expected features [1, 5] of the module `Rows`, got features [1, 4]"), "{fault}");
}

#[test]
fn modules_that_cannot_be_encoders_are_refused() {
    let fault = |unusual| BurnEncoder::<Rows>::new(&unusual).err().unwrap_or_default();
    assert_eq!(fault(Unusual { dropout: 1.0, ..Unusual::default() }), "nothing would be left");
    assert!(fault(Unusual { batch_norm: true, ..Unusual::default() }).contains("`norm` is a batch norm"));
    assert!(
        fault(Unusual { members: 3, ..Unusual::default() })
            .contains("4 features cannot be shared by 3 members")
    );
    let absurd = BurnEncoder::<CloudModule>::new(&[1 << 40, 1 << 40]).err().unwrap_or_default();
    assert!(absurd.contains("at most"), "{absurd}");
}

#[test]
fn training_lowers_the_loss_and_the_model_survives_its_file() {
    type Clouds = BurnEncoder<CloudModule>;
    let (inputs, spreads) = example::clouds(600, 5);
    let data =
        Dataset::custom::<Clouds>(inputs, Labels::Numbers(spreads), "spread", &[16, 8]).expect("sound");
    let mut losses = Vec::new();
    let mut listen = |event: Event<'_>| {
        if let Event::Step { loss, phase: Phase::Pretraining, .. } = event {
            losses.push(loss);
        }
        true
    };
    let settings = ["gp.inducing=32", "train.pretrain_min_steps=600", "train.epochs=3"];
    let trainer = settings.iter().fold(Trainer::new(&data), |trainer, &setting| trainer.set(setting));
    let model = trainer.on_event(&mut listen).fit().expect("well-posed");
    let mean = |losses: &[f64]| losses.iter().sum::<f64>() / losses.len() as f64;
    let (first, last) = (mean(&losses[..10]), mean(&losses[losses.len() - 10..]));
    assert!(last < 0.5 * first, "{first} to {last}");

    let (clouds, spreads) = example::clouds(300, 6);
    let new = Dataset::custom_inputs(clouds, 300);
    let prediction = model.predict(&new).expect("good inputs");
    let prediction = prediction.as_regression().expect("numbers");
    let error = |mean: &dyn Fn(usize) -> f64| {
        (spreads.iter().enumerate().map(|(i, y)| (mean(i) - y).powi(2)).sum::<f64>() / 300.0).sqrt()
    };
    let (fitted, constant) = (error(&|i| prediction.mean[i]), error(&|_| mean(&spreads)));
    assert!(fitted < 0.25 * constant, "{fitted} of {constant}");

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("clouds.ign");
    model.save(&path).expect("writable");
    let again = Model::load_custom::<Clouds>(&path).expect("its own file");
    let repeated = again.predict(&new).expect("good inputs");
    assert_eq!(repeated.as_regression().expect("numbers"), prediction, "to the last bit");
    let fault = Model::load_custom::<BurnEncoder<Rows>>(&path).expect_err("another module's").to_string();
    assert!(fault.contains("does not know the shape"), "{fault}");
    assert!(again.predict(&Dataset::custom_inputs(vec![0_u8; 3], 3)).is_err());
}

/// Rows of three classes with dropout, one network for each class: they train side by side.
#[test]
fn the_same_seed_gives_the_same_file_though_networks_train_side_by_side() {
    type Table = BurnEncoder<Rows>;
    let folder = tempfile::tempdir().expect("a folder");
    let bytes = |name: &str| {
        let labels = (0..300).map(|row| row % 3).collect();
        let labels = Labels::Classes { labels, names: ["a", "b", "c"].map(String::from).to_vec() };
        let shape = Unusual { dropout: 0.3, ..Unusual::default() };
        let data = Dataset::custom::<Table>(matrix(300, WIDTH), labels, "class", &shape).expect("sound");
        let settings = [
            "gp.inducing=12",
            "gp.multiclass=\"independent\"",
            "train.epochs=2",
            "train.pretrain_epochs=2",
            "train.pretrain_min_steps=20",
        ];
        let trainer = settings.iter().fold(Trainer::new(&data), |trainer, &setting| trainer.set(setting));
        let path = folder.path().join(name);
        trainer.fit().expect("well-posed").save(&path).expect("writable");
        std::fs::read(path).expect("just written")
    };
    assert!(bytes("once") == bytes("twice"), "files differ");
}
