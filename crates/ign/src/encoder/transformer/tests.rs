mod oracle;

use super::*;
use crate::Matrix;
use crate::encoder::mlp::MlpShape;
use crate::encoder::parameters;
use oracle::oracle;

fn tower(width: usize, heads: usize, blocks: usize, pooling: Pooling) -> TowerShape {
    TowerShape { vocabulary: 9, length: 21, width, heads, feed_forward: 5, blocks, pooling }
}

/// Two texts and a table, two members.
fn tiny() -> TextShape {
    let beside = MlpShape {
        numeric: 2,
        width: 3,
        hidden: vec![4],
        features: 4,
        members: 2,
        periodic: None,
        skip: false,
        tables: Vec::new(),
        table_width: 0,
        dropout: 0.0,
    };
    TextShape {
        towers: vec![tower(6, 2, 2, Pooling::MeanMax), tower(3, 1, 1, Pooling::Mean)],
        beside: Some(beside),
        features: 6,
        members: 2,
        dropout: 0.0,
        word_dropout: 0.0,
    }
}

/// One text; whole vectors and strips, as in earnest.
fn wide(pooling: Pooling) -> TextShape {
    let wide = TowerShape { feed_forward: 40, ..tower(32, 2, 1, pooling) };
    TextShape { towers: vec![wide], beside: None, features: 3, members: 1, dropout: 0.0, word_dropout: 0.0 }
}

const LENGTHS: [usize; 6] = [5, 1, 21, 2, 16, 17];

/// Six rows of texts of all lengths, the shortest a single token; the last towers' in another order.
fn inputs(shape: &TextShape) -> Inputs {
    let texts = |tower: usize| {
        let (mut tokens, mut offsets) = (Vec::new(), vec![0]);
        for row in 0..LENGTHS.len() {
            let length = LENGTHS[(row + 2 * tower) % LENGTHS.len()];
            tokens.extend((0..length).map(|t| 1 + ((t * t + 3 * t + 5 * row + tower) % 8) as u32));
            offsets.push(tokens.len());
        }
        Texts { tokens, offsets }
    };
    let width = if shape.beside.is_some() { 3 } else { 0 };
    let x = (0..width * LENGTHS.len()).map(|i| (i as f32 * 1.7).sin()).collect();
    Inputs::Table(Matrix { x, width, texts: (0..shape.towers.len()).map(texts).collect() })
}

fn texts_of(inputs: &Inputs) -> &[Texts] {
    let Inputs::Table(matrix) = inputs else { panic!("a table") };
    &matrix.texts
}

/// Away from zero biases and gains of one.
fn generic(shape: &TextShape, seed: u64, device: &Device) -> (Transformer, Vec<f32>) {
    let network = Transformer::new(shape.clone(), seed, device);
    let (_, theta) = parameters::read(&network);
    let theta: Vec<f32> =
        theta.iter().enumerate().map(|(i, x)| x + 0.3 * (i as f32 * 2.3 + 0.1).sin()).collect();
    (parameters::write(network, &theta, device), theta)
}

fn values(tensor: Tensor<2>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("f32")
}

fn shapes() -> Vec<TextShape> {
    let bag = TextShape { towers: vec![tower(5, 1, 0, Pooling::Max)], ..wide(Pooling::Max) };
    let threads = TextShape { towers: vec![tower(48, 3, 1, Pooling::Mean)], ..wide(Pooling::Mean) };
    vec![tiny(), wide(Pooling::Mean), wide(Pooling::Max), wide(Pooling::MeanMax), bag, threads]
}

const ROWS: [usize; 6] = [0, 1, 2, 3, 4, 5];

#[test]
fn the_count_of_parameters_is_that_of_the_module() {
    for shape in shapes() {
        let count = shape.parameters();
        assert_eq!(count, Transformer::new(shape, 1, &Device::default()).num_params() as u128);
    }
    let hostile = TowerShape { width: usize::MAX, vocabulary: usize::MAX, ..tower(4, 1, 1, Pooling::Mean) };
    let hostile = TextShape { towers: vec![hostile; 3], ..wide(Pooling::Mean) };
    assert!(hostile.parameters() > 1 << 126);
    let hostile = TextShape { features: usize::MAX, members: usize::MAX, ..hostile };
    assert_eq!(hostile.parameters(), u128::MAX);
}

#[test]
fn an_impossible_shape_has_a_fault() {
    for shape in shapes() {
        assert_eq!(shape.fault(), None);
    }
    let with = |tower| TextShape { towers: vec![tower], ..wide(Pooling::Mean) };
    let good = tower(4, 2, 1, Pooling::Mean);
    let beside = |members, features| {
        let mlp = tiny().beside.map(|mlp| MlpShape { members, features, ..mlp });
        TextShape { beside: mlp, ..tiny() }
    };
    let faults = [
        TextShape { towers: vec![], ..tiny() },
        TextShape { members: 0, ..tiny() },
        TextShape { members: 4, ..tiny() },
        TextShape { features: 0, ..tiny() },
        TextShape { dropout: 1.0, ..tiny() },
        TextShape { word_dropout: f64::NAN, ..tiny() },
        beside(0, 4),
        beside(1, 4),
        beside(2, 0),
        beside(2, 3),
        with(TowerShape { heads: 3, ..good.clone() }),
        with(TowerShape { heads: 0, ..good.clone() }),
        with(TowerShape { width: 0, ..good.clone() }),
        with(TowerShape { length: 0, ..good.clone() }),
        with(TowerShape { feed_forward: 0, ..good.clone() }),
        with(TowerShape { vocabulary: 1, ..good.clone() }),
        with(TowerShape { vocabulary: usize::MAX, ..good }),
    ];
    for shape in faults {
        assert!(shape.fault().is_some(), "{shape:?}");
    }
}

#[test]
fn features_are_those_of_plain_loops_over_the_equations() {
    for shape in shapes() {
        let (network, theta) = generic(&shape, 5, &Device::default());
        let inputs = inputs(&shape);
        let ours = values(network.features(&inputs, &ROWS, Mode::Predict));
        let theta: Vec<f64> = theta.into_iter().map(f64::from).collect();
        let theirs = oracle(&shape, &theta, &inputs, Mode::Predict);
        let size = theirs.iter().fold(0.0_f64, |size, x| size.max(x.abs()));
        for (ours, theirs) in ours.into_iter().zip(theirs) {
            // f32 sums of some hundred terms, a few layers deep.
            assert!((f64::from(ours) - theirs).abs() < 1e-5 * size, "{shape:?}: {ours} and {theirs}");
        }
    }
}

/// The gradient of `Σ c ∘ Φ` through burn.
fn gradient(network: &Transformer, inputs: &Inputs, mode: Mode, c: &[f32]) -> Vec<f32> {
    let device = Device::default().autodiff();
    let mut values = parameters::read(network).1;
    let tracked = parameters::write(network.clone(), &values, &device);
    let phi = tracked.features(inputs, &ROWS, mode);
    let c = Tensor::<2>::from_data(TensorData::new(c.to_vec(), phi.dims()), &device);
    parameters::take_gradients(&tracked, &mut (phi * c).sum().backward(), &mut values);
    values
}

/// Compares with differences of the plain loops, for some `most` of the parameters.
fn check_gradient(shape: &TextShape, mode: Mode, most: usize) {
    let (network, theta) = generic(shape, 6, &Device::default());
    let inputs = inputs(shape);
    let c: Vec<f32> = (0..ROWS.len() * shape.features).map(|i| (i as f32 * 0.9 + 0.4).cos()).collect();
    let analytic = gradient(&network, &inputs, mode, &c);
    let mut theta: Vec<f64> = theta.into_iter().map(f64::from).collect();
    assert_eq!(analytic.len(), theta.len());
    let scalar = |theta: &[f64]| {
        let phi = oracle(shape, theta, &inputs, mode);
        phi.iter().zip(&c).map(|(phi, &c)| phi * f64::from(c)).sum::<f64>()
    };
    let largest = analytic.iter().fold(0.0_f64, |largest, &g| largest.max(f64::from(g).abs()));
    for index in (0..theta.len()).step_by(theta.len().div_ceil(most)) {
        // In f64 rounding is 1e-14/1e-6, and a kink within ±1e-6 hardly ever happens.
        let (at, h) = (theta[index], 1e-6);
        theta[index] = at + h;
        let up = scalar(&theta);
        theta[index] = at - h;
        let numeric = (up - scalar(&theta)) / (2.0 * h);
        theta[index] = at;
        let difference = (numeric - f64::from(analytic[index])).abs();
        // Our own f32: 1e-5 of the largest sum of terms.
        assert!(
            difference < 3e-5 * largest + 1e-4 * numeric.abs(),
            "{shape:?}: parameter {index}: {numeric} and {}, largest {largest}",
            analytic[index]
        );
    }
}

#[test]
fn every_gradient_is_that_of_differences_of_the_plain_loops() {
    check_gradient(&tiny(), Mode::Predict, usize::MAX);
}

#[test]
fn gradients_of_wide_networks_are_those_of_differences_of_the_plain_loops() {
    for shape in shapes() {
        check_gradient(&shape, Mode::Predict, 150);
    }
}

#[test]
fn gradients_under_dropout_are_those_of_differences_of_the_same_draw() {
    let shape = TextShape { dropout: 0.3, word_dropout: 0.2, ..tiny() };
    check_gradient(&shape, Mode::Train { seed: 9 }, 150);
}

#[test]
fn features_of_a_row_do_not_depend_on_the_rows_beside_it() {
    for shape in shapes() {
        let (network, _) = generic(&shape, 8, &Device::default());
        let inputs = inputs(&shape);
        let all = values(network.features(&inputs, &ROWS, Mode::Predict));
        let reversed = values(network.features(&inputs, &[5, 4, 3, 2, 1, 0], Mode::Predict));
        let texts: Vec<&Texts> = texts_of(&inputs).iter().collect();
        let d = shape.features;
        for row in ROWS {
            let mine = &all[row * d..(row + 1) * d];
            assert_eq!(mine, &reversed[(5 - row) * d..(6 - row) * d]);
            let alone = network.features_of(&texts, Some(&inputs), &[row], Mode::Predict);
            // The feature layer is burn's, which may sum a single row in another order.
            for (alone, mine) in values(alone).into_iter().zip(mine) {
                assert!((alone - mine).abs() <= 1e-6 * (1.0 + mine.abs()), "row {row}: {alone} and {mine}");
            }
        }
    }
}

#[test]
fn pooled_texts_are_the_same_bits_alone_and_in_company() {
    let shape = wide(Pooling::MeanMax);
    let (network, _) = generic(&shape, 8, &Device::default());
    let inputs = inputs(&shape);
    let texts = &texts_of(&inputs)[0];
    let pooled = |rows: &[usize]| {
        let batch = Batch::new(&shape, 0, texts, rows, Mode::Predict, [0, 0]);
        values(network.towers[0].pooled(Arc::new(batch)))
    };
    let all = pooled(&ROWS);
    for row in ROWS {
        assert_eq!(pooled(&[row]), &all[row * 64..(row + 1) * 64]);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let shape = TextShape { dropout: 0.2, word_dropout: 0.1, ..wide(Pooling::MeanMax) };
    let (network, _) = generic(&shape, 9, &Device::default());
    let (slots, theta) = parameters::read(&network.towers[0]);
    let (token, rest) = theta.split_at(slots[0].len());
    let rows: Vec<usize> = (0..45).map(|i| i % ROWS.len()).collect();
    let batch = Batch::new(&shape, 0, &texts_of(&inputs(&shape))[0], &rows, Mode::Train { seed: 3 }, [0, 0]);
    let batch = Arc::new(batch);
    let d: Vec<f32> = (0..rows.len() * 64).map(|i| (i as f32).sin()).collect();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let (pooled, tape) = network::record(batch.clone(), token, rest.to_vec());
            (pooled, network::pull_back(&tape, &d))
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn the_seeds_of_network_and_step_decide_every_number() {
    let shape = TextShape { dropout: 0.2, word_dropout: 0.2, ..wide(Pooling::MeanMax) };
    let device = &Device::default();
    let bytes = |seed| parameters::read(&Transformer::new(shape.clone(), seed, device)).1;
    assert!(bytes(7) == bytes(7) && bytes(7) != bytes(8));
    for part in
        [TextShape { dropout: 0.0, ..shape.clone() }, TextShape { word_dropout: 0.0, ..shape.clone() }]
    {
        let (network, _) = generic(&part, 1, device);
        let inputs = inputs(&part);
        let at = |mode| values(network.features(&inputs, &ROWS, mode));
        let train = |seed| at(Mode::Train { seed });
        assert!(train(1) == train(1) && train(1) != train(2));
        assert!(at(Mode::Predict) == at(Mode::Predict) && at(Mode::Predict) != train(1));
    }
    let plain = TextShape { dropout: 0.0, word_dropout: 0.0, ..shape };
    let (network, _) = generic(&plain, 1, device);
    let inputs = inputs(&plain);
    let [train, predict] =
        [Mode::Train { seed: 1 }, Mode::Predict].map(|mode| values(network.features(&inputs, &ROWS, mode)));
    assert_eq!(train, predict);
}

#[test]
fn members_do_not_see_each_other() {
    let (network, _) = generic(&tiny(), 5, &Device::default());
    let inputs = inputs(&tiny());
    // Weights on the first member's features alone.
    let c: Vec<f32> = (0..ROWS.len() * 6).map(|i| if i % 6 < 3 { 1.0 } else { 0.0 }).collect();
    let gradient = gradient(&network, &inputs, Mode::Predict, &c);
    let (slots, _) = parameters::read(&network);
    let mut start = 0;
    for slot in slots {
        let mine = &gradient[start..start + slot.len()];
        start += slot.len();
        let other = ["towers.2", "towers.3"].iter().any(|tower| slot.path.starts_with(tower));
        if other {
            assert!(mine.iter().all(|&g| g == 0.0), "{}", slot.path);
        } else if slot.path.starts_with("towers") {
            assert!(mine.iter().any(|&g| g != 0.0), "{}", slot.path);
        } else {
            let (first, second) = mine.split_at(mine.len() / 2);
            assert!(first.iter().any(|&g| g != 0.0) && second.iter().all(|&g| g == 0.0), "{}", slot.path);
        }
    }
}

#[test]
fn weights_decay_and_embeddings_gains_and_biases_do_not() {
    let (slots, _) = parameters::read(&Transformer::new(wide(Pooling::Mean), 1, &Device::default()));
    let decaying: Vec<&str> =
        slots.iter().map(|slot| &slot.path[..]).filter(|path| Transformer::decays(path)).collect();
    let dense = ["qkv", "mix", "up", "down"].map(|name| format!("towers.0.blocks.0.{name}.weight"));
    assert_eq!(decaying, dense.iter().map(|path| &path[..]).chain(["weight"]).collect::<Vec<_>>());
}

#[test]
fn dropout_drops_its_share_and_keeps_the_mean() {
    let mask = layers::Mask::new(0.3, 11);
    let count = 100_000;
    let kept = (0..count).filter(|&index| mask.factor(index) > 0.0).count() as f64 / f64::from(count);
    // The deviation of the share is √(0.3 · 0.7 / 100,000) = 0.0015.
    assert!((kept - 0.7).abs() < 0.006, "{kept}");
    assert!((f64::from(mask.factor(0).max(mask.factor(1)).max(mask.factor(2))) * 0.7 - 1.0).abs() < 1e-6);
}
