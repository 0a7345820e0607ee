//! The encoder's gradient through burn against central differences, for every combination of its parts.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Device, Gradients, Tensor, TensorData};
use ign::encoder::identity::{Identity, IdentityShape};
use ign::encoder::mlp::{Mlp, MlpShape, PeriodicShape, TableShape};
use ign::encoder::{Encoder, Mode};
use ign::{Inputs, Matrix};

const ROWS: usize = 5;
const WIDTH: usize = 3; // two numbers and an indicator
const FEATURES: usize = 4;

/// Every combination of periodic embedding, tables, skip path and one or two members.
fn shapes() -> impl Iterator<Item = MlpShape> {
    (0..16).map(|choice| MlpShape {
        numeric: 2,
        width: WIDTH,
        hidden: vec![6, 5],
        features: FEATURES,
        members: 1 + (choice >> 3),
        periodic: (choice & 1 > 0).then_some(PeriodicShape { frequencies: 2, width: 3, scale: 0.3 }),
        skip: choice & 2 > 0,
        tables: if choice & 4 > 0 {
            let table = |knots| TableShape { column: 1, low: -1.0, high: 1.0, knots };
            vec![table(3), table(5)]
        } else {
            Vec::new()
        },
        table_width: 2,
        dropout: 0.3,
    })
}

fn inputs() -> Inputs {
    let x = (0..ROWS * WIDTH)
        .map(|i| if i % WIDTH == 2 { (i % 2) as f32 } else { (i as f32 * 1.7).sin() })
        .collect();
    Inputs::Table(Matrix { x, width: WIDTH, texts: Vec::new() })
}

/// The fixed weights of the scalar `Σ cᵢⱼ Φᵢⱼ` whose gradient is checked.
fn weights() -> Vec<f32> {
    (0..ROWS * FEATURES).map(|i| (i as f32 * 0.9 + 0.4).cos()).collect()
}

pub(crate) struct Values(pub(crate) Vec<f32>);
impl ModuleVisitor for Values {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.0.extend(param.val().into_data().try_to_vec::<f32>().expect("parameters are f32"));
    }
}

pub(crate) struct Slopes<'a>(pub(crate) &'a Gradients, pub(crate) Vec<f32>);
impl ModuleVisitor for Slopes<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let slope = param.val().grad(self.0).expect("every parameter takes part");
        self.1.extend(slope.into_data().try_to_vec::<f32>().expect("gradients are f32"));
    }
}

struct Put<'a>(&'a [f32], &'a Device);
impl ModuleMapper for Put<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        param.map(|tensor| {
            let (mine, rest) = self.0.split_at(tensor.dims().iter().product());
            self.0 = rest;
            let fresh = Tensor::from_data(TensorData::new(mine.to_vec(), tensor.dims()), self.1);
            if self.1.is_autodiff() { fresh.require_grad() } else { fresh }
        })
    }
}

pub(crate) fn with_values<E: Encoder>(encoder: &E, values: &[f32], device: &Device) -> E {
    encoder.clone().map(&mut Put(values, device))
}

/// Summed in f64, so that only the features' own rounding is left.
fn scalar(encoder: &Mlp, mode: Mode) -> f64 {
    let phi = encoder.features(&inputs(), &(0..ROWS).collect::<Vec<_>>(), mode).into_data();
    let phi = phi.try_to_vec::<f32>().expect("features are f32");
    phi.iter().zip(weights()).map(|(&phi, c)| f64::from(phi) * f64::from(c)).sum()
}

/// Rounding: features of about 1 carry 1e-7, divided by 2h = 1e-2 that is 1e-5. Curvature: the waves' third derivative
/// (2πx)³ ≤ 250, times h²/6, is 1e-3 of their slope. What is left are kinks of the ReLUs inside of ±h, hence the second
/// step size: where the two differences disagree there is a kink, and no derivative to compare with.
const H: f32 = 5e-3;
const TOLERANCE: f64 = 1e-2;

fn check(encoder: &Mlp, mode: Mode) {
    let (plain, tracked) = (Device::default(), Device::default().autodiff());
    let mut values = Values(Vec::new());
    encoder.visit(&mut values);
    // Biases begin at zero; a generic point is the better test.
    let theta: Vec<f32> =
        values.0.iter().enumerate().map(|(i, x)| x + 0.1 * (i as f32 * 2.3).sin()).collect();
    let network = with_values(encoder, &theta, &tracked);
    let phi = network.features(&inputs(), &(0..ROWS).collect::<Vec<_>>(), mode);
    let c = Tensor::<2>::from_data(TensorData::new(weights(), [ROWS, FEATURES]), &tracked);
    let gradients = (phi * c).sum().backward();
    let mut slopes = Slopes(&gradients, Vec::new());
    network.visit(&mut slopes);
    assert_eq!(slopes.1.len(), theta.len());
    let largest = slopes.1.iter().fold(0.0_f64, |largest, &g| largest.max(f64::from(g).abs()));
    let difference = |i: usize, h: f32| {
        let moved = |h: f32| {
            let mut moved = theta.clone();
            moved[i] += h;
            scalar(&with_values(encoder, &moved, &plain), mode)
        };
        (moved(h) - moved(-h)) / (2.0 * f64::from(h))
    };
    let mut kinks = 0;
    for (i, &slope) in slopes.1.iter().enumerate() {
        let (wide, narrow) = (difference(i, H), difference(i, H / 2.0));
        let limit = TOLERANCE * f64::from(slope).abs().max(0.05 * largest);
        if (wide - narrow).abs() > limit {
            kinks += 1;
            continue;
        }
        assert!(
            (f64::from(slope) - narrow).abs() < limit,
            "{:?}: parameter {i}: {slope} {narrow}",
            encoder.shape()
        );
    }
    assert!(kinks * 20 < theta.len(), "{kinks} of {} parameters stand at a kink", theta.len());
}

#[test]
fn gradients_of_every_encoder_equal_central_differences() {
    for shape in shapes() {
        check(&Mlp::new(shape, 3, &Device::default()), Mode::Predict);
    }
}

/// Of numbers, one of them beyond the ends of the tables.
fn scattered() -> Vec<f32> {
    let mut x = inputs().gather(&(0..ROWS).collect::<Vec<_>>(), Mode::Predict);
    (x[1], x[WIDTH + 1]) = (1.4, -1.2);
    x
}

/// `Σ cᵢⱼ Φᵢⱼ` of numbers.
fn scalar_at(encoder: &impl Encoder, x: &[f32]) -> f64 {
    let x = Tensor::from_data(TensorData::new(x.to_vec(), [ROWS, WIDTH]), &Device::default());
    let phi = encoder.features_at(x).expect("it reads numbers").into_data();
    let phi = phi.try_to_vec::<f32>().expect("features are f32");
    phi.iter().zip(weights()).map(|(&phi, c)| f64::from(phi) * f64::from(c)).sum()
}

/// Slopes of the same.
fn slopes_at(encoder: &impl Encoder, x: &[f32]) -> Vec<f32> {
    let tracked = Device::default().autodiff();
    let x = Tensor::<2>::from_data(TensorData::new(x.to_vec(), [ROWS, WIDTH]), &tracked).require_grad();
    let phi = encoder.features_at(x.clone()).expect("it reads numbers");
    let c = TensorData::new(weights()[..ROWS * encoder.dim()].to_vec(), [ROWS, encoder.dim()]);
    let gradients = (phi * Tensor::from_data(c, &tracked)).sum().backward();
    let slopes = x.grad(&gradients).expect("numbers take part").into_data();
    slopes.try_to_vec::<f32>().expect("gradients are f32")
}

#[test]
fn gradients_by_numbers_of_every_encoder_equal_central_differences() {
    let x = scattered();
    let mut kinks = 0;
    for shape in shapes() {
        let encoder = Mlp::new(shape, 3, &Device::default());
        let slopes = slopes_at(&encoder, &x);
        let largest = slopes.iter().fold(0.0_f64, |largest, &g| largest.max(f64::from(g).abs()));
        let difference = |i: usize, h: f32| {
            let moved = |h: f32| {
                let mut moved = x.clone();
                moved[i] += h;
                scalar_at(&encoder, &moved)
            };
            (moved(h) - moved(-h)) / (2.0 * f64::from(h))
        };
        for (i, &slope) in slopes.iter().enumerate() {
            let (wide, narrow) = (difference(i, H), difference(i, H / 2.0));
            let limit = TOLERANCE * f64::from(slope).abs().max(0.05 * largest);
            if (wide - narrow).abs() > limit {
                kinks += 1; // as above
                continue;
            }
            assert!(
                (f64::from(slope) - narrow).abs() < limit,
                "{:?}: {i}: {slope} {narrow}",
                encoder.shape()
            );
        }
    }
    assert!(kinks * 20 < 16 * x.len(), "{kinks} of {} numbers stand at a kink", 16 * x.len());
    assert_eq!(slopes_at(&Identity::new(IdentityShape { features: WIDTH }), &x), weights()[..x.len()]);
}

/// Beyond the ends the tables hold still: without another path there is no slope, between them there is one.
#[test]
fn tables_have_a_slope_between_their_ends_alone() {
    let shape = shapes().find(|s| !s.tables.is_empty() && s.periodic.is_none() && !s.skip).expect("one");
    let encoder = Mlp::new(shape, 3, &Device::default());
    // The raw inputs' rows of the first layer are zero.
    let mut values = Values(Vec::new());
    encoder.visit(&mut values);
    let tables = 8 * 2; // knots, width
    values.0[tables..tables + WIDTH * 6].fill(0.0);
    let slopes = slopes_at(&with_values(&encoder, &values.0, &Device::default()), &scattered());
    for row in 0..ROWS {
        let [a, serial, indicator] = slopes[row * WIDTH..][..WIDTH] else { unreachable!("three columns") };
        assert!(a == 0.0 && indicator == 0.0 && (serial == 0.0) == (row < 2), "{row}: {slopes:?}");
    }
}

#[test]
fn features_of_rows_are_those_of_their_numbers() {
    let (inputs, rows) = (inputs(), (0..ROWS).collect::<Vec<_>>());
    for shape in shapes() {
        let encoder = Mlp::new(shape, 3, &Device::default());
        let x = TensorData::new(inputs.gather(&rows, Mode::Predict), [ROWS, WIDTH]);
        let at = encoder.features_at(Tensor::from_data(x, &Device::default())).expect("it reads numbers");
        let of = encoder.features(&inputs, &rows, Mode::Predict);
        assert_eq!(at.into_data(), of.into_data());
    }
}

#[test]
fn gradients_under_dropout_equal_central_differences_of_the_same_draw() {
    for shape in shapes().filter(|shape| shape.periodic.is_some()) {
        let encoder = Mlp::new(shape, 4, &Device::default());
        check(&encoder, Mode::Train { seed: 9 });
    }
}

/// Training reads the flat vector and writes its gradient, prediction and refinement go through burn: the same numbers.
#[test]
fn the_way_by_hand_and_the_way_through_burn_are_one() {
    let rows: Vec<usize> = (0..ROWS).collect();
    for (shape, mode) in shapes().flat_map(|s| [(s.clone(), Mode::Predict), (s, Mode::Train { seed: 9 })]) {
        let (encoder, tracked) = (Mlp::new(shape, 3, &Device::default()), Device::default().autodiff());
        let mut theta = Values(Vec::new());
        encoder.visit(&mut theta);
        let network = with_values(&encoder, &theta.0, &tracked);
        let phi = network.features(&inputs(), &rows, mode);
        let c = Tensor::<2>::from_data(TensorData::new(weights(), [ROWS, FEATURES]), &tracked);
        let gradients = (phi.clone() * c).sum().backward();
        let mut slopes = Slopes(&gradients, Vec::new());
        network.visit(&mut slopes);
        let by_hand = encoder.by_hand().expect("it has one");
        let (features, way_back) = by_hand.record(&theta.0, &inputs(), &rows, mode, 1);
        assert_eq!(features, phi.into_data().try_to_vec::<f32>().expect("features are f32"));
        let mut gradient = vec![f32::NAN; theta.0.len()];
        way_back(&weights(), &mut gradient);
        assert_eq!(gradient, slopes.1, "{:?}", encoder.shape());
    }
}

/// The module's equations for one row, in plain loops and f64; parameters in the module's order.
fn plain_loops(shape: &MlpShape, theta: &[f32], x: &[f32]) -> Vec<f64> {
    let (k, each) = (shape.members, shape.features / shape.members);
    let mut rest: Vec<f64> = theta.iter().map(|&t| f64::from(t)).collect();
    let mut take = |len: usize| rest.drain(..len).collect::<Vec<f64>>();
    let [f, e] = shape.periodic.map_or([0, 0], |p| [p.frequencies, p.width]);
    let [frequency, map, offset] = [f, 2 * f * e, e].map(|each| take(k * shape.numeric * each));
    let knots: usize = shape.tables.iter().map(|table| table.knots).sum();
    let tables = take(knots * k * shape.table_width);
    let mut u = vec![Vec::new(); k];
    for (member, u) in u.iter_mut().enumerate() {
        for (column, &x) in x.iter().enumerate().take(if e > 0 { shape.numeric } else { 0 }) {
            let index = member * shape.numeric + column;
            let angle = |i: usize| std::f64::consts::TAU * frequency[index * f + i] * f64::from(x);
            let waves: Vec<f64> =
                (0..f).map(|i| angle(i).sin()).chain((0..f).map(|i| angle(i).cos())).collect();
            u.extend((0..e).map(|j| {
                let sum: f64 =
                    waves.iter().enumerate().map(|(i, w)| w * map[(index * 2 * f + i) * e + j]).sum();
                (sum + offset[index * e + j]).max(0.0)
            }));
        }
        u.extend(x.iter().map(|&x| f64::from(x)));
        let mut start = 0;
        for table in &shape.tables {
            let whole = f64::from((x[table.column] - table.low) / (table.high - table.low));
            let position = whole.clamp(0.0, 1.0) * (table.knots - 1) as f64;
            let knot = (position as usize).min(table.knots - 2);
            let at = |row: usize, j: usize| tables[((start + row) * k + member) * shape.table_width + j];
            let share = position - knot as f64;
            u.extend((0..shape.table_width).map(|j| at(knot, j) * (1.0 - share) + at(knot + 1, j) * share));
            start += table.knots;
        }
    }
    for depth in 0..=shape.hidden.len() {
        let (inputs, outputs) = (u[0].len(), shape.hidden.get(depth).copied().unwrap_or(each));
        let (weight, bias) = (take(k * inputs * outputs), take(k * outputs));
        for (member, u) in u.iter_mut().enumerate() {
            let unit = |j: usize| {
                let weight = |i: usize| weight[(member * inputs + i) * outputs + j];
                let sum: f64 = u.iter().enumerate().map(|(i, u)| u * weight(i)).sum();
                let sum = sum + bias[member * outputs + j];
                if depth < shape.hidden.len() { sum.max(0.0) } else { sum }
            };
            *u = (0..outputs).map(unit).collect();
        }
    }
    if shape.skip {
        let skip = take(k * shape.width * each);
        for (member, u) in u.iter_mut().enumerate() {
            for (j, u) in u.iter_mut().enumerate() {
                let weight = |i: usize| skip[(member * shape.width + i) * each + j];
                *u += x.iter().enumerate().map(|(i, &x)| f64::from(x) * weight(i)).sum::<f64>();
            }
        }
    }
    u.concat()
}

/// Rounding: sums of some hundred terms of about 1, each to 6e-8.
#[test]
fn features_are_those_of_plain_loops_over_the_equations() {
    let flat = shapes().map(|shape| MlpShape { hidden: Vec::new(), features: 6, ..shape });
    for shape in shapes().chain(flat).chain([large()]) {
        let encoder = Mlp::new(shape.clone(), 3, &Device::default());
        let mut theta = Values(Vec::new());
        encoder.visit(&mut theta);
        let inputs = waves(150, shape.width);
        let rows: Vec<usize> = (0..150).collect();
        let phi = encoder.features(&inputs, &rows, Mode::Predict).into_data();
        let phi = phi.try_to_vec::<f32>().expect("features are f32");
        let x = inputs.gather(&rows, Mode::Predict);
        for (phi, x) in phi.chunks_exact(shape.features).zip(x.chunks_exact(shape.width)) {
            for (&a, b) in phi.iter().zip(plain_loops(&shape, &theta.0, x)) {
                assert!((f64::from(a) - b).abs() < 2e-5 * (1.0 + b.abs()), "{shape:?}: {a} {b}");
            }
        }
    }
}

/// More columns than fit into a piece of a weight's gradient, with widths that are no multiples of anything.
fn large() -> MlpShape {
    let periodic = Some(PeriodicShape { frequencies: 17, width: 3, scale: 0.3 });
    let shape = shapes().find(|shape| shape.skip && !shape.tables.is_empty()).expect("one");
    MlpShape { numeric: 300, width: 301, periodic, members: 2, features: 6, ..shape }
}

fn waves(rows: usize, width: usize) -> Inputs {
    let x = (0..rows * width).map(|i| 1.3 * (i as f32 * 0.37).sin()).collect();
    Inputs::Table(Matrix { x, width, texts: Vec::new() })
}

/// Gradients over blocks of rows and pieces of weights are the sums of those of single rows. Rounding: sums of 150 rows
/// and some hundred terms.
#[test]
fn many_rows_are_as_good_as_few() {
    let (rows, shape) = (150, large());
    let encoder = Mlp::new(shape.clone(), 3, &Device::default());
    let inputs = waves(rows, shape.width);
    let mut theta = Values(Vec::new());
    encoder.visit(&mut theta);
    let d_phi = |rows: &[usize]| -> Vec<f32> {
        rows.iter().flat_map(|row| (0..6).map(move |j| ((row * 6 + j) as f32).cos())).collect()
    };
    let of = |rows: &[usize]| {
        let by_hand = encoder.by_hand().expect("it has one");
        let (_, way_back) = by_hand.record(&theta.0, &inputs, rows, Mode::Predict, 2);
        let mut gradient = vec![f32::NAN; theta.0.len()];
        way_back(&d_phi(rows), &mut gradient);
        let tracked = Device::default().autodiff();
        let x = TensorData::new(inputs.gather(rows, Mode::Predict), [rows.len(), shape.width]);
        let x = Tensor::<2>::from_data(x, &tracked).require_grad();
        let phi = encoder.features_at(x.clone()).expect("it reads numbers");
        let c = Tensor::from_data(TensorData::new(d_phi(rows), [rows.len(), 6]), &tracked);
        let slopes = x.grad(&(phi * c).sum().backward()).expect("numbers take part").into_data();
        (gradient, slopes.try_to_vec::<f32>().expect("gradients are f32"))
    };
    let (gradient, slopes) = of(&(0..rows).collect::<Vec<_>>());
    let (mut sum, mut apart) = (vec![0.0_f64; gradient.len()], Vec::new());
    for row in 0..rows {
        let (gradient, slopes) = of(&[row]);
        sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += f64::from(g));
        apart.extend(slopes);
    }
    for (a, b) in gradient.iter().zip(&sum) {
        assert!((f64::from(*a) - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
    }
    for (a, b) in slopes.iter().zip(&apart) {
        assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{a} {b}");
    }
    let (gradient, slopes) = of(&[]);
    assert!(gradient.iter().all(|&g| g == 0.0) && slopes.is_empty());
}

#[test]
fn dropout_follows_from_its_seed_and_vanishes_in_prediction() {
    let shape = shapes().find(|shape| shape.periodic.is_some()).expect("one has an embedding");
    let encoder = Mlp::new(shape, 4, &Device::default());
    let train = |seed| scalar(&encoder, Mode::Train { seed });
    assert!(train(1) == train(1) && train(1) != train(2));
    let predict = scalar(&encoder, Mode::Predict);
    assert!(predict == scalar(&encoder, Mode::Predict) && predict != train(1));
}

#[test]
fn members_do_not_see_each_other() {
    for shape in shapes().filter(|shape| shape.members == 2) {
        let (plain, tracked) = (Device::default(), Device::default().autodiff());
        let encoder = Mlp::new(shape, 5, &plain);
        let mut values = Values(Vec::new());
        encoder.visit(&mut values);
        let network = with_values(&encoder, &values.0, &tracked);
        let phi = network.features(&inputs(), &[0, 1, 2], Mode::Predict);
        // The gradient of the first member's features by the second's last bias is zero: half of the biases' slopes.
        let first = phi.slice([0..3, 0..FEATURES / 2]).sum().backward();
        let mut biases = LastBias { gradients: &first, slope: Vec::new() };
        network.visit(&mut biases);
        let half = biases.slope.len() / 2;
        assert!(biases.slope[..half].iter().all(|&g| g == 3.0), "{:?}", biases.slope); // three rows
        assert!(biases.slope[half..].iter().all(|&g| g == 0.0), "{:?}", biases.slope);
    }
}

/// Slopes of the feature layer's bias `[K, 1, D/K]`.
struct LastBias<'a> {
    gradients: &'a Gradients,
    slope: Vec<f32>,
}
impl ModuleVisitor for LastBias<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = param.val();
        let dims = tensor.dims();
        if D == 3 && dims[1] == 1 && dims[0] * dims[2] == FEATURES {
            let slope = tensor.grad(self.gradients).expect("it takes part");
            self.slope = slope.into_data().try_to_vec::<f32>().expect("gradients are f32");
        }
    }
}
