//! Features against loops over the module's equations, gradients against central differences of the same loops, and
//! what neither depends on.

use super::*;
use crate::dataset::Matrix;
use crate::nn::graph::Graphs;
use rand::RngExt;
use safetensors::SafeTensors;

const ROWS: usize = 5;
const WIDTH: usize = 3; // two numbers and an indicator

/// Members 1 and 3, no, one and two hidden layers, and every combination of periodic embedding, tables and skip path.
fn shapes() -> Vec<MlpShape> {
    let shape = |choice: usize| MlpShape {
        numeric: 2,
        width: WIDTH,
        hidden: [vec![], vec![7], vec![7, 5]][choice / 16].clone(),
        features: 6,
        members: 1 + 2 * (choice / 8 % 2),
        periodic: (choice & 1 > 0).then_some(PeriodicShape { frequencies: 2, width: 3, scale: 0.3 }),
        skip: choice & 2 > 0,
        tables: if choice & 4 > 0 { vec![lookup(3), lookup(5)] } else { Vec::new() },
        table_width: 2,
        dropout: 0.3,
    };
    (0..48).map(shape).collect()
}

fn lookup(knots: usize) -> LookupShape {
    LookupShape { column: 1, low: -1.0, high: 1.0, knots }
}

/// More columns than fit into a piece of a weight's gradient, with widths that are no multiples of anything.
fn large() -> MlpShape {
    let periodic = Some(PeriodicShape { frequencies: 17, width: 3, scale: 0.3 });
    let (hidden, tables) = (vec![37, 19], vec![lookup(3), lookup(11)]);
    MlpShape { numeric: 300, width: 301, hidden, periodic, skip: true, tables, ..shapes()[8].clone() }
}

fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

/// Rows of numbers, some beyond the ends of the tables.
fn inputs(rows: usize, width: usize) -> Inputs {
    let x = numbers(rows * width, 1).iter().map(|x| 1.3 * x).collect();
    Inputs::Table(Matrix { x, width, ..Matrix::default() })
}

fn x_of(inputs: &Inputs) -> &[f32] {
    &inputs.as_table().expect("a table").x
}

/// A network, and parameters whose biases are not zero.
fn network(shape: MlpShape) -> (Mlp, Vec<f32>) {
    let mlp = Mlp::new(shape).expect("a sound shape");
    let mut theta = mlp.initialise(3);
    let moves = numbers(theta.len(), 4);
    theta.iter_mut().zip(moves).for_each(|(theta, x)| *theta += 0.2 * x);
    (mlp, theta)
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}

/// The module's equations for one row and member, in loops and f64; `kept` is what dropout multiplies the embedding by.
fn naive(mlp: &Mlp, theta: &[f64], x: &[f64], member: usize, kept: &[f64]) -> Vec<f64> {
    let shape = &mlp.shape;
    let (k, each) = (shape.members, shape.features / shape.members);
    let of = |name: &str| -> &[f64] {
        let mut start = 0;
        for slot in mlp.layout.slots() {
            let len: usize = slot.shape.iter().product();
            if slot.name == name {
                return &theta[start..start + len];
            }
            start += len;
        }
        panic!("no parameter {name}");
    };
    let mut u = Vec::new();
    if let Some(PeriodicShape { frequencies: f, width: e, .. }) = shape.periodic {
        let [frequency, map, offset] =
            ["frequency", "map", "offset"].map(|name| of(&format!("periodic.{name}")));
        for (column, x) in x.iter().enumerate().take(shape.numeric) {
            let index = member * shape.numeric + column;
            let angle = |i: usize| std::f64::consts::TAU * frequency[index * f + i] * x;
            let waves: Vec<f64> =
                (0..f).map(|i| angle(i).sin()).chain((0..f).map(|i| angle(i).cos())).collect();
            for j in 0..e {
                let sum: f64 = (0..2 * f).map(|i| waves[i] * map[(index * 2 * f + i) * e + j]).sum();
                u.push((sum + offset[index * e + j]).max(0.0));
            }
        }
    }
    u.iter_mut().zip(kept).for_each(|(u, kept)| *u *= kept);
    u.extend(x);
    let mut start = 0;
    for table in &shape.tables {
        let (low, high) = (f64::from(table.low), f64::from(table.high));
        let position = ((x[table.column] - low) / (high - low)).clamp(0.0, 1.0) * (table.knots - 1) as f64;
        let knot = (position as usize).min(table.knots - 2);
        let share = position - knot as f64;
        let at = |knot: usize, j: usize| of("tables")[((start + knot) * k + member) * shape.table_width + j];
        u.extend((0..shape.table_width).map(|j| at(knot, j) * (1.0 - share) + at(knot + 1, j) * share));
        start += table.knots;
    }
    for depth in 0..=shape.hidden.len() {
        let (inputs, outputs) = (u.len(), shape.hidden.get(depth).copied().unwrap_or(each));
        let [weight, bias] = ["weight", "bias"].map(|name| of(&format!("layers.{depth}.{name}")));
        let unit = |j: usize| {
            let sum: f64 = (0..inputs).map(|i| u[i] * weight[(member * inputs + i) * outputs + j]).sum();
            let sum = sum + bias[member * outputs + j];
            if depth < shape.hidden.len() { sum.max(0.0) } else { sum }
        };
        u = (0..outputs).map(unit).collect();
    }
    if shape.skip {
        let skip = |i: usize, j: usize| of("skip")[(member * shape.width + i) * each + j];
        let straight = |j: usize| x.iter().enumerate().map(|(i, x)| x * skip(i, j)).sum::<f64>();
        u.iter_mut().enumerate().for_each(|(j, u)| *u += straight(j));
    }
    u
}

/// The loops for some rows `x [N, width]`: `Φ [N, D]`.
fn naive_rows(mlp: &Mlp, theta: &[f64], x: &[f64], mode: Mode) -> Vec<f64> {
    let rows = x.len() / mlp.shape.width;
    let mask = wide(&mlp.mask(rows, mode));
    let embedded = mask.len() / (rows * mlp.shape.members);
    let row = |(row, x): (usize, &[f64])| -> Vec<f64> {
        let kept = |member: usize| match &mask[..] {
            [] => vec![1.0; mlp.shape.inputs()],
            mask => mask[(member * rows + row) * embedded..][..embedded].to_vec(),
        };
        (0..mlp.shape.members).flat_map(|member| naive(mlp, theta, x, member, &kept(member))).collect()
    };
    x.chunks_exact(mlp.shape.width).enumerate().flat_map(row).collect()
}

/// 1e-4: rounding of f32 sums of some hundred terms of size one to ten.
#[track_caller]
fn assert_close(a: &[f32], b: &[f64], what: &dyn std::fmt::Debug) {
    assert_eq!(a.len(), b.len());
    for (index, (&a, b)) in a.iter().zip(b).enumerate() {
        assert!((f64::from(a) - b).abs() <= 1e-4 * (1.0 + b.abs()), "{what:?} {index}: {a} and {b}");
    }
}

fn all(inputs: &Inputs) -> Vec<usize> {
    (0..inputs.rows()).collect()
}

#[test]
fn features_are_those_of_loops_over_the_equations() {
    for shape in shapes().into_iter().chain([large()]) {
        let (mlp, theta) = network(shape.clone());
        let inputs = inputs(150, shape.width); // three blocks, the last not full
        for mode in [Mode::Predict, Mode::Train { seed: 7 }] {
            let (phi, _) = mlp.forward(&theta, &inputs, &all(&inputs), mode).expect("rows of this width");
            assert_close(&phi, &naive_rows(&mlp, &wide(&theta), &wide(x_of(&inputs)), mode), &shape);
        }
    }
}

#[test]
fn features_alone_are_those_of_the_forward_pass_to_the_last_bit() {
    for shape in shapes().into_iter().chain([large()]) {
        let (mlp, theta) = network(shape.clone());
        let inputs = inputs(70, shape.width);
        let rows = [69, 3, 3, 0, 12];
        let (phi, _) = mlp.forward(&theta, &inputs, &rows, Mode::Predict).expect("rows of this width");
        assert_eq!(mlp.features(&theta, &inputs, &rows).expect("rows of this width"), phi, "{shape:?}");
    }
}

/// ∂θ and ∂x of some rows for some ∂Φ; both are full of NaN before.
fn gradients(
    (mlp, theta): &(Mlp, Vec<f32>),
    inputs: &Inputs,
    rows: &[usize],
    mode: Mode,
    d_phi: &[f32],
) -> (Vec<f32>, Vec<f32>) {
    let (_, backward) = mlp.forward(theta, inputs, rows, mode).expect("rows of this width");
    let (mut d_theta, mut d_x) = (vec![f32::NAN; theta.len()], vec![f32::NAN; rows.len() * mlp.shape.width]);
    backward.pull_back(d_phi, &mut d_theta, Some(&mut d_x));
    (d_theta, d_x)
}

/// Central differences of `f` by every number. In f64 a step of 1e-6 gives eight digits, and no number happens to be so
/// close to a kink of a ReLU or to a knot.
fn differences(at: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let (mut moved, h) = (at.to_vec(), 1e-6);
    let mut difference = |i: usize| {
        let mut to = |x: f64| {
            moved[i] = x;
            f(&moved)
        };
        let (up, down) = (to(at[i] + h), to(at[i] - h));
        moved[i] = at[i];
        (up - down) / (2.0 * h)
    };
    (0..at.len()).map(&mut difference).collect()
}

fn assert_gradients(mode: Mode) {
    let inputs = inputs(ROWS, WIDTH);
    let (x, c) = (wide(x_of(&inputs)), numbers(ROWS * 6, 6));
    let dot = |phi: Vec<f64>| phi.iter().zip(&c).map(|(phi, &c)| phi * f64::from(c)).sum::<f64>();
    for shape in shapes() {
        let both = network(shape.clone());
        let (mlp, theta) = (&both.0, wide(&both.1));
        let (d_theta, d_x) = gradients(&both, &inputs, &all(&inputs), mode, &c);
        let expected = differences(&theta, |theta| dot(naive_rows(mlp, theta, &x, mode)));
        assert_close(&d_theta, &expected, &("by parameters", &shape));
        let expected = differences(&x, |x| dot(naive_rows(mlp, &theta, x, mode)));
        assert_close(&d_x, &expected, &("by numbers", &shape));
    }
}

#[test]
fn gradients_by_every_parameter_and_number_equal_central_differences() {
    assert_gradients(Mode::Predict);
}

#[test]
fn gradients_under_dropout_equal_central_differences_of_the_same_draw() {
    assert_gradients(Mode::Train { seed: 9 });
}

#[test]
fn a_gradient_is_the_same_whatever_else_is_asked_for() {
    for shape in shapes().into_iter().chain([large()]) {
        let both = network(shape.clone());
        let (mlp, theta) = (&both.0, &both.1);
        let inputs = inputs(70, shape.width);
        let (rows, c, mode) = (all(&inputs), numbers(70 * 6, 6), Mode::Train { seed: 5 });
        let (d_theta, d_x) = gradients(&both, &inputs, &rows, mode, &c);
        let forward = || mlp.forward(theta, &inputs, &rows, mode).expect("rows of this width").1;
        let mut alone = vec![f32::NAN; d_x.len()];
        forward().pull_back(&c, &mut [], Some(&mut alone));
        assert_eq!(alone, d_x, "{shape:?}");
        let mut alone = vec![f32::NAN; theta.len()];
        forward().pull_back(&c, &mut alone, None);
        assert_eq!(alone, d_theta, "{shape:?}");
    }
}

/// Gradients over blocks of rows and pieces of weights are the sums of those of single rows.
#[test]
fn many_rows_are_as_good_as_few() {
    let (rows, both) = (150, network(large()));
    let inputs = inputs(rows, 301);
    let c = numbers(rows * 6, 6);
    let (d_theta, d_x) = gradients(&both, &inputs, &all(&inputs), Mode::Predict, &c);
    let (mut sum, mut apart) = (vec![0.0_f64; d_theta.len()], Vec::new());
    for row in 0..rows {
        let (d_theta, d_x) = gradients(&both, &inputs, &[row], Mode::Predict, &c[row * 6..][..6]);
        sum.iter_mut().zip(d_theta).for_each(|(sum, d)| *sum += f64::from(d));
        apart.extend(wide(&d_x));
    }
    assert_close(&d_theta, &sum, &"by parameters");
    assert_close(&d_x, &apart, &"by numbers");
    let (d_theta, d_x) = gradients(&both, &inputs, &[], Mode::Predict, &[]);
    assert!(d_theta.iter().all(|&d| d == 0.0) && d_x.is_empty());
}

/// The first row that has other features among others than alone, to the last bit.
fn first_that_differs(shape: MlpShape) -> Option<String> {
    let (mlp, theta) = network(shape);
    let inputs = inputs(130, mlp.shape.width);
    let features = |rows: &[usize]| mlp.features(&theta, &inputs, rows).expect("rows of this width");
    let alone: Vec<Vec<f32>> = (0..130).map(|row| features(&[row])).collect();
    let mut backwards = all(&inputs);
    backwards.reverse();
    for size in [1, 2, 63, 64, 65, 130] {
        for order in [all(&inputs), backwards.clone()] {
            for rows in order.chunks(size) {
                let together = features(rows);
                for (row, phi) in rows.iter().zip(together.chunks_exact(mlp.shape.features)) {
                    if *phi != alone[*row] {
                        return Some(format!("{:?}: row {row} in a batch of {}", mlp.shape, rows.len()));
                    }
                }
            }
        }
    }
    None
}

#[test]
fn a_row_s_features_do_not_depend_on_the_rows_beside_it_to_the_last_bit() {
    let differing: Vec<String> =
        shapes().into_iter().chain([large()]).filter_map(first_that_differs).collect();
    assert!(differing.is_empty(), "{} shapes, the first {}", differing.len(), differing[0]);
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    for shape in [large(), shapes()[47].clone()] {
        let both = network(shape.clone());
        let inputs = inputs(150, shape.width);
        let (rows, c) = (all(&inputs), numbers(150 * 6, 6));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let phi = both.0.features(&both.1, &inputs, &rows).expect("rows of this width");
                (phi, gradients(&both, &inputs, &rows, Mode::Train { seed: 2 }, &c))
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3), "{shape:?}");
    }
}

#[test]
fn dropout_follows_from_its_seed_and_is_for_training_alone() {
    let (mlp, theta) = network(shapes()[47].clone());
    let inputs = inputs(ROWS, WIDTH);
    let at = |mode| mlp.forward(&theta, &inputs, &[0, 1, 3], mode).expect("rows of this width").0;
    let train = |seed| at(Mode::Train { seed });
    assert!(train(1) == train(1) && train(1) != train(2) && train(1) != at(Mode::Predict));
}

#[test]
fn members_do_not_see_one_another() {
    let inputs = inputs(ROWS, WIDTH);
    for shape in shapes().into_iter().filter(|shape| shape.members == 3) {
        let both = network(shape);
        // ∂Φ of the second member alone.
        let c: Vec<f32> = (0..ROWS * 6).map(|i| f32::from(u8::from(i % 6 / 2 == 1))).collect();
        let (d_theta, _) = gradients(&both, &inputs, &all(&inputs), Mode::Predict, &c);
        for slot in both.0.layout.slots().iter().filter(|slot| slot.name != "tables") {
            let parts: Vec<&[f32]> = slot.param.of(&d_theta).chunks_exact(slot.param.len() / 3).collect();
            let quiet = |part: &[f32]| part.iter().all(|&d| d == 0.0);
            assert!(quiet(parts[0]) && !quiet(parts[1]) && quiet(parts[2]), "{}", slot.name);
        }
    }
}

/// Beyond the ends the tables hold still: without another path there is no slope, between them there is one.
#[test]
fn tables_have_a_slope_between_their_ends_alone() {
    let shape = MlpShape { members: 1, ..shapes()[20].clone() };
    assert!(!shape.tables.is_empty() && shape.periodic.is_none() && !shape.skip);
    let mut both = network(shape);
    let [weight, _] = both.0.params.layers[0];
    weight.of_mut(&mut both.1)[..WIDTH * 7].fill(0.0); // the rows of x itself
    let x = vec![0.5, 1.4, 0.0, 0.5, -1.2, 1.0, 0.5, 0.3, 0.0, 0.5, -0.7, 1.0];
    let inputs = Inputs::Table(Matrix { x, width: WIDTH, ..Matrix::default() });
    let (_, d_x) = gradients(&both, &inputs, &all(&inputs), Mode::Predict, &numbers(4 * 6, 6));
    for (row, d_x) in d_x.chunks_exact(WIDTH).enumerate() {
        assert!(d_x[0] == 0.0 && d_x[2] == 0.0 && (d_x[1] == 0.0) == (row < 2), "{row}: {d_x:?}");
    }
}

#[test]
fn a_network_begins_as_the_linear_model_it_is_given() {
    let inputs = inputs(ROWS, WIDTH);
    let (beta, intercept) = (numbers(WIDTH * 2, 8), numbers(2, 9));
    for shape in shapes() {
        let (mlp, mut theta) = network(shape.clone());
        let before = theta.clone();
        let started = mlp.start_linear(&mut theta, &beta, &intercept);
        assert_eq!(started, shape.skip, "{shape:?}");
        if !started {
            assert_eq!(theta, before);
            continue;
        }
        let linear = |x: &[f32], j: usize| -> f64 {
            let sum: f32 = x.iter().enumerate().map(|(i, x)| x * beta[2 * i + j]).sum();
            f64::from(sum + intercept[j])
        };
        let each = 6 / shape.members;
        let expected: Vec<f64> = x_of(&inputs)
            .chunks_exact(WIDTH)
            .flat_map(|x| (0..6).map(move |i| if i % each < 2 { linear(x, i % each) } else { f64::NAN }))
            .collect();
        let phi = mlp.features(&theta, &inputs, &all(&inputs)).expect("rows of this width");
        for (phi, expected) in phi.iter().zip(expected).filter(|(_, expected)| !expected.is_nan()) {
            assert!((f64::from(*phi) - expected).abs() < 1e-6, "{shape:?}: {phi} {expected}"); // four terms
        }
    }
    let (mlp, mut theta) = network(MlpShape { skip: true, ..shapes()[8].clone() });
    assert!(
        !mlp.start_linear(&mut theta, &numbers(9, 1), &numbers(3, 1)),
        "two features cannot be three outputs"
    );
}

#[test]
fn initial_weights_follow_from_their_seed_and_biases_are_zero() {
    for shape in shapes() {
        let mlp = Mlp::new(shape).expect("a sound shape");
        let theta = mlp.initialise(7);
        assert!(theta == mlp.initialise(7) && theta != mlp.initialise(8));
        for slot in mlp.layout.slots() {
            let zeros = slot.param.of(&theta).iter().all(|&x| x == 0.0);
            assert_eq!(zeros, slot.name.ends_with("bias") || slot.name.ends_with("offset"), "{}", slot.name);
            assert_eq!(slot.decays, slot.name.ends_with("weight"), "{}", slot.name);
        }
    }
}

/// Models that users keep were written with these names and shapes.
#[test]
fn the_layout_is_that_of_the_golden_files() {
    for name in ["v1.ign", "v2-classes.ign"] {
        let path = format!("{}/tests/golden/{name}", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(path).expect("a golden file");
        let file = SafeTensors::deserialize(&bytes).expect("safetensors");
        let (_, metadata) = SafeTensors::read_metadata(&bytes).expect("safetensors");
        let document = &metadata.metadata().as_ref().expect("metadata")["ign"];
        let json: serde_json::Value =
            serde_json::from_str(document.split_once(' ').expect("a checksum").1).expect("JSON");
        let shape: MlpShape = serde_json::from_value(json["encoder"].clone()).expect("a shape");
        let mlp = Mlp::new(shape).expect("a sound shape");
        for slot in mlp.layout.slots() {
            let tensor = file.tensor(&format!("encoder.{}", slot.name)).expect("a tensor of this name");
            assert_eq!(tensor.shape(), slot.shape, "{name}: {}", slot.name);
        }
        let count = file.names().iter().filter(|name| name.starts_with("encoder.")).count();
        assert_eq!(count, mlp.layout.slots().len(), "{name}");
    }
}

#[test]
fn inputs_that_the_network_cannot_read_are_an_error() {
    let (mlp, theta) = network(shapes()[47].clone());
    let graphs =
        Graphs { x: vec![0.0; 3], width: WIDTH, nodes: vec![0, 1], neighbours: vec![0, 0], edges: vec![] };
    for (inputs, rows) in [
        (inputs(2, WIDTH + 1), vec![0]),
        (inputs(2, 1), vec![0]),
        (inputs(2, WIDTH), vec![0, 2]),
        (inputs(2, WIDTH), vec![usize::MAX]),
        (inputs(0, WIDTH), vec![0]),
        (Inputs::Graphs(graphs), vec![0]),
        (Inputs::custom(vec![1.0_f32; 9], 3), vec![0]),
    ] {
        assert!(matches!(mlp.features(&theta, &inputs, &rows), Err(Error::Inputs { .. })), "{inputs:?}");
        let forward = mlp.forward(&theta, &inputs, &rows, Mode::Train { seed: 1 });
        assert!(matches!(forward.err(), Some(Error::Inputs { .. })), "{inputs:?}");
    }
}

#[test]
fn an_impossible_shape_is_refused() {
    let sound = shapes()[47].clone();
    let periodic = sound.periodic.expect("it has one");
    let table = |table: LookupShape| MlpShape { tables: vec![table], ..sound.clone() };
    for shape in [
        MlpShape { width: 0, numeric: 0, tables: vec![], ..sound.clone() },
        MlpShape { numeric: 4, ..sound.clone() },
        MlpShape { hidden: vec![3, 0], ..sound.clone() },
        MlpShape { features: 0, ..sound.clone() },
        MlpShape { members: 0, ..sound.clone() },
        MlpShape { members: 4, ..sound.clone() },
        MlpShape { dropout: 1.0, ..sound.clone() },
        MlpShape { dropout: -0.1, ..sound.clone() },
        MlpShape { dropout: f64::NAN, ..sound.clone() },
        MlpShape { table_width: 0, ..sound.clone() },
        MlpShape { periodic: Some(PeriodicShape { frequencies: 0, ..periodic }), ..sound.clone() },
        MlpShape { periodic: Some(PeriodicShape { width: 0, ..periodic }), ..sound.clone() },
        table(LookupShape { column: 2, ..lookup(3) }),
        table(lookup(1)),
        table(LookupShape { high: -1.0, ..lookup(3) }),
        table(LookupShape { high: f32::NAN, ..lookup(3) }),
        table(LookupShape { low: f32::MIN, high: f32::MAX, ..lookup(3) }),
    ] {
        assert_eq!(Mlp::new(shape.clone()).err(), shape.fault());
        assert!(shape.fault().is_some(), "{shape:?}");
    }
}

#[test]
fn a_hostile_shape_is_refused_or_has_an_absurd_length_and_allocates_nothing() {
    let sound = shapes()[47].clone();
    for size in [1_000_000_000_000, usize::MAX] {
        for (members, features) in [(size, size), (size, 6), (1025, 1025)] {
            assert!(Mlp::new(MlpShape { members, features, ..sound.clone() }).is_err());
        }
        let periodic = Some(PeriodicShape { frequencies: size, width: size, scale: 1.0 });
        let features = size - size % 3;
        for shape in [
            MlpShape { hidden: vec![size; 3], ..sound.clone() },
            MlpShape { periodic, ..sound.clone() },
            MlpShape { width: size, numeric: size, hidden: vec![size], ..sound.clone() },
            MlpShape { table_width: size, tables: vec![lookup(size)], ..sound.clone() },
            MlpShape { features, hidden: vec![size], ..sound.clone() },
        ] {
            let mlp = Mlp::new(shape.clone()).expect("no fault of its own");
            assert_eq!(mlp.layout().len(), usize::MAX, "{shape:?}");
        }
    }
}
