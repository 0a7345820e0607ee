//! What the tests share: small shapes, inputs, parameters; and claims about features.

mod gradient;
mod layout;
mod oracle;

use super::*;
use crate::dataset::Matrix;
use crate::nn::Mode;
use crate::nn::mlp::MlpShape;
use oracle::oracle;

fn tower(width: usize, heads: usize, blocks: usize, pooling: Pooling) -> TowerShape {
    TowerShape { vocabulary: 9, length: 21, width, heads, feed_forward: 5, blocks, pooling }
}

/// A network of three other columns.
fn beside(members: usize) -> MlpShape {
    MlpShape {
        numeric: 2,
        width: 3,
        hidden: vec![4],
        features: 2 * members,
        members,
        periodic: None,
        skip: false,
        tables: Vec::new(),
        table_width: 0,
        dropout: 0.0,
    }
}

/// Two texts and a table, two members.
fn tiny() -> TextShape {
    TextShape {
        towers: vec![tower(6, 2, 2, Pooling::MeanMax), tower(3, 1, 1, Pooling::Mean)],
        beside: Some(beside(2)),
        features: 6,
        members: 2,
        dropout: 0.0,
        word_dropout: 0.0,
    }
}

/// One text; whole vectors, as in earnest.
fn wide(pooling: Pooling) -> TextShape {
    let wide = TowerShape { feed_forward: 40, ..tower(32, 2, 1, pooling) };
    TextShape { towers: vec![wide], beside: None, features: 3, members: 1, dropout: 0.0, word_dropout: 0.0 }
}

/// Texts of several strips of queries, the last of them not full.
fn long() -> TextShape {
    let long = TowerShape { length: 70, ..tower(8, 2, 1, Pooling::MeanMax) };
    TextShape { towers: vec![long], features: 40, ..wide(Pooling::Mean) }
}

fn shapes() -> Vec<TextShape> {
    let bag = TextShape { towers: vec![tower(5, 1, 0, Pooling::Max)], ..wide(Pooling::Max) };
    let threads = TextShape { towers: vec![tower(48, 3, 1, Pooling::Mean)], ..wide(Pooling::Mean) };
    vec![tiny(), wide(Pooling::Mean), wide(Pooling::Max), wide(Pooling::MeanMax), bag, threads, long()]
}

const LENGTHS: [usize; 6] = [5, 1, 70, 2, 16, 17];
const ROWS: [usize; 6] = [0, 1, 2, 3, 4, 5];

/// Six rows of texts of all lengths, the shortest a single token; the last towers' in another order.
fn inputs(shape: &TextShape) -> Inputs {
    let texts = |(tower, shape): (usize, &TowerShape)| {
        let (mut tokens, mut offsets) = (Vec::new(), vec![0]);
        for row in ROWS {
            let length = LENGTHS[(row + 2 * tower) % LENGTHS.len()].min(shape.length);
            let token = |t: usize| 1 + ((t * t + 3 * t + 5 * row + tower) % (shape.vocabulary - 1)) as u32;
            tokens.extend((0..length).map(token));
            offsets.push(tokens.len());
        }
        Texts { tokens, offsets }
    };
    let width = if shape.beside.is_some() { 3 } else { 0 };
    let x = (0..width * ROWS.len()).map(|i| (i as f32 * 1.7).sin()).collect();
    Inputs::Table(Matrix {
        x,
        width,
        texts: shape.towers.iter().enumerate().map(texts).collect(),
        ..Matrix::default()
    })
}

fn matrix(inputs: &Inputs) -> &Matrix {
    let Inputs::Table(matrix) = inputs else { panic!("a table") };
    matrix
}

/// θ away from zero biases and gains of one.
fn generic(shape: &TextShape, seed: u64) -> (TextEncoder, Vec<f32>) {
    let encoder = TextEncoder::new(shape.clone()).expect("a shape without faults");
    let mut theta = encoder.initialise(seed);
    theta.iter_mut().enumerate().for_each(|(i, x)| *x += 0.3 * (i as f32 * 2.3 + 0.1).sin());
    (encoder, theta)
}

fn phi(encoder: &TextEncoder, theta: &[f32], inputs: &Inputs, mode: Mode) -> Vec<f32> {
    encoder.forward(theta, inputs, &ROWS, mode).expect("good inputs").0
}

/// The gradient of `Σ c ∘ Φ`, written over numbers that are none.
fn gradient(
    encoder: &TextEncoder,
    theta: &[f32],
    (inputs, rows): (&Inputs, &[usize]),
    mode: Mode,
    c: &[f32],
) -> Vec<f32> {
    let (_, backward) = encoder.forward(theta, inputs, rows, mode).expect("good inputs");
    let mut d_theta = vec![f32::NAN; theta.len()];
    backward.pull_back(c, &mut d_theta, None);
    d_theta
}

#[test]
fn features_are_those_of_plain_loops_over_the_equations() {
    for shape in shapes() {
        let (encoder, theta) = generic(&shape, 5);
        let inputs = inputs(&shape);
        let ours = phi(&encoder, &theta, &inputs, Mode::Predict);
        let theta: Vec<f64> = theta.into_iter().map(f64::from).collect();
        let theirs = oracle(&shape, &theta, &inputs, Mode::Predict);
        assert_eq!(ours.len(), theirs.len());
        let size = theirs.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            // f32 sums of some hundred terms, a few layers deep.
            assert!((f64::from(ours) - theirs).abs() < 1e-5 * size, "{shape:?}: {ours} and {theirs}");
        }
    }
}

#[test]
fn features_without_a_tape_are_the_same_bits() {
    for shape in shapes() {
        let (encoder, theta) = generic(&shape, 5);
        let inputs = inputs(&shape);
        let features = encoder.features(&theta, &inputs, &ROWS).expect("good inputs");
        assert_eq!(features, phi(&encoder, &theta, &inputs, Mode::Predict));
    }
}

#[test]
fn features_of_a_row_are_the_same_bits_alone_and_in_company() {
    for shape in shapes() {
        let (encoder, theta) = generic(&shape, 8);
        let inputs = inputs(&shape);
        let features = |rows: &[usize]| encoder.features(&theta, &inputs, rows).expect("good inputs");
        let all = features(&ROWS);
        let many: Vec<usize> = (0..45).map(|i| (i * 5 + 3) % 6).collect();
        let batches: [&[usize]; 6] = [&[5, 4, 3, 2, 1, 0], &[2, 2, 2], &[4, 0], &[1, 3, 5, 0], &ROWS, &many];
        for rows in batches.into_iter().chain(ROWS.each_ref().map(std::slice::from_ref)) {
            for (&row, mine) in rows.iter().zip(features(rows).chunks_exact(shape.features)) {
                assert_eq!(mine, &all[row * shape.features..][..shape.features], "row {row} of {rows:?}");
            }
        }
    }
}

#[test]
fn no_rows_have_no_features_and_a_gradient_of_zero() {
    let (encoder, theta) = generic(&tiny(), 8);
    let inputs = inputs(&tiny());
    assert!(encoder.features(&theta, &inputs, &[]).expect("good inputs").is_empty());
    let d_theta = gradient(&encoder, &theta, (&inputs, &[]), Mode::Train { seed: 1 }, &[]);
    assert!(d_theta.iter().all(|&d| d == 0.0));
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    for shape in [wide(Pooling::MeanMax), tiny()] {
        let shape = TextShape { dropout: 0.2, word_dropout: 0.1, ..shape };
        let (encoder, theta) = generic(&shape, 9);
        let inputs = inputs(&shape);
        let rows: Vec<usize> = (0..45).map(|i| i % ROWS.len()).collect();
        let c: Vec<f32> = (0..rows.len() * shape.features).map(|i| (i as f32).sin()).collect();
        let mode = Mode::Train { seed: 3 };
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let features = encoder.forward(&theta, &inputs, &rows, mode).expect("good inputs").0;
                (features, gradient(&encoder, &theta, (&inputs, &rows), mode, &c))
            })
        };
        assert!(run(1) == run(2) && run(1) == run(3));
    }
}

#[test]
fn the_seeds_of_network_and_step_decide_every_number() {
    let shape = TextShape { dropout: 0.2, word_dropout: 0.2, ..wide(Pooling::MeanMax) };
    let encoder = TextEncoder::new(shape.clone()).expect("a shape without faults");
    assert!(encoder.initialise(7) == encoder.initialise(7) && encoder.initialise(7) != encoder.initialise(8));
    for part in
        [TextShape { dropout: 0.0, ..shape.clone() }, TextShape { word_dropout: 0.0, ..shape.clone() }]
    {
        let (encoder, theta) = generic(&part, 1);
        let inputs = inputs(&part);
        let at = |mode| phi(&encoder, &theta, &inputs, mode);
        let train = |seed| at(Mode::Train { seed });
        assert!(train(1) == train(1) && train(1) != train(2));
        assert!(at(Mode::Predict) == at(Mode::Predict) && at(Mode::Predict) != train(1));
    }
    let plain = TextShape { dropout: 0.0, word_dropout: 0.0, ..shape };
    let (encoder, theta) = generic(&plain, 1);
    let inputs = inputs(&plain);
    let train = phi(&encoder, &theta, &inputs, Mode::Train { seed: 1 });
    assert_eq!(train, phi(&encoder, &theta, &inputs, Mode::Predict));
}

#[test]
fn texts_that_the_towers_cannot_read_are_errors() {
    let shape = TextShape { beside: None, ..tiny() };
    let (encoder, theta) = generic(&shape, 1);
    let refused = |change: &dyn Fn(&mut Matrix), rows: &[usize]| {
        let Inputs::Table(mut matrix) = inputs(&shape) else { panic!("a table") };
        change(&mut matrix);
        let inputs = Inputs::Table(matrix);
        let forward = encoder.forward(&theta, &inputs, rows, Mode::Predict).err().expect("refused");
        let features = encoder.features(&theta, &inputs, rows).expect_err("refused");
        assert_eq!(forward.to_string(), features.to_string());
        features.to_string()
    };
    assert!(refused(&|matrix| matrix.texts.truncate(1), &ROWS).contains("1 text columns"));
    assert!(refused(&|matrix| matrix.texts[1].tokens[3] = 9, &ROWS).contains("token 9"));
    assert!(refused(&|_| (), &[0, 6]).contains("row 6"));
    let empty = refused(&|matrix| matrix.texts[0].offsets[1] = 0, &[0]);
    assert!(empty.contains("0 tokens in row 0") && empty.contains("1 to 21"), "{empty}");
    let long = refused(&|matrix| matrix.texts[0].offsets[1] = 22, &[0]);
    assert!(long.contains("22 tokens in row 0"), "{long}");
}

#[test]
fn dropout_drops_its_share_and_keeps_the_mean() {
    let mask = dropout::Mask::new(0.3, 11);
    let count = 100_000;
    let kept = (0..count).filter(|&index| mask.factor(index) > 0.0).count() as f64 / f64::from(count);
    // The deviation of the share is √(0.3 · 0.7 / 100,000) = 0.0015.
    assert!((kept - 0.7).abs() < 0.006, "{kept}");
    assert!((f64::from(mask.factor(0).max(mask.factor(1)).max(mask.factor(2))) * 0.7 - 1.0).abs() < 1e-6);
}
