//! Features against loops over the module's equations, gradients against central differences of the same loops, and
//! what neither depends on.

use super::layers::{Grid, convolve};
use super::*;
use crate::dataset::Matrix;
use crate::nn::graph::Graphs;
use rand::RngExt;

fn tiny() -> CnnShape {
    CnnShape {
        height: 9,
        width: 6,
        channels: 2,
        stem: 4,
        blocks: vec![4, 6],
        convolutions: 2,
        group: 2,
        features: 3,
    }
}

/// With and without a stem, one block and two, one convolution a block and two, groups of one channel and of several.
fn shapes() -> Vec<CnnShape> {
    let shape = |choice: usize| CnnShape {
        stem: [0, 8][choice % 2],
        blocks: if choice & 2 > 0 { vec![4, 8] } else { vec![8] },
        convolutions: 1 + choice / 4 % 2,
        group: [4, 1][choice / 8],
        ..tiny()
    };
    (0..16).map(shape).chain([tiny()]).collect()
}

fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn images(shape: &CnnShape, count: usize, seed: u64) -> Inputs {
    let width = shape.height * shape.width * shape.channels;
    Inputs::Table(Matrix { x: numbers(count * width, seed), width, ..Matrix::default() })
}

fn x_of(inputs: &Inputs) -> &[f32] {
    &inputs.as_table().expect("rows of numbers").x
}

fn all(inputs: &Inputs) -> Vec<usize> {
    (0..inputs.rows()).collect()
}

/// A network, and parameters whose gains are not one and whose shifts are not zero.
fn network(shape: CnnShape) -> (Cnn, Vec<f32>) {
    let cnn = Cnn::new(shape).expect("a sound shape");
    let mut theta = cnn.initialise(5);
    let moves = numbers(theta.len(), 8);
    theta.iter_mut().zip(moves).for_each(|(theta, x)| *theta += 0.2 * x);
    (cnn, theta)
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&x| f64::from(x)).collect()
}

/// The module's equations for one image `[H, W, C]`, in loops and f64.
fn naive(shape: &CnnShape, theta: &[f64], image: &[f64]) -> Vec<f64> {
    let mut rest = theta;
    let mut take = |len: usize| {
        let (mine, others) = rest.split_at(len);
        rest = others;
        mine
    };
    let (mut h, mut height, mut width, mut channels) =
        (image.to_vec(), shape.height, shape.width, shape.channels);
    let mut blocks: Vec<(usize, bool)> = shape
        .blocks
        .iter()
        .flat_map(|&outputs| (0..shape.convolutions).map(move |place| (outputs, place == 0)))
        .collect();
    if shape.stem > 0 {
        blocks.insert(0, (shape.stem, false));
    }
    for (outputs, pool) in blocks {
        let (weight, gain, shift) = (take(9 * channels * outputs), take(outputs), take(outputs));
        let mut y = vec![0.0; height * width * outputs];
        for (pixel, y) in y.chunks_exact_mut(outputs).enumerate() {
            for tap in 0..9 {
                let row = (pixel / width + tap / 3).wrapping_sub(1);
                let column = (pixel % width + tap % 3).wrapping_sub(1);
                if row < height && column < width {
                    for input in 0..channels {
                        let x = h[(row * width + column) * channels + input];
                        let weight = &weight[(tap * channels + input) * outputs..][..outputs];
                        y.iter_mut().zip(weight).for_each(|(y, weight)| *y += x * weight);
                    }
                }
            }
        }
        if pool {
            let half = [height / 2, width / 2];
            let mut pooled = Vec::new();
            for (row, column) in (0..half[0]).flat_map(|row| (0..half[1]).map(move |column| (row, column))) {
                for output in 0..outputs {
                    let at =
                        |r: usize, c: usize| y[((2 * row + r) * width + 2 * column + c) * outputs + output];
                    pooled.push(at(0, 0).max(at(0, 1)).max(at(1, 0)).max(at(1, 1)));
                }
            }
            (y, height, width) = (pooled, half[0], half[1]);
        }
        let pixels = y.len() / outputs;
        for group in (0..outputs).step_by(shape.group) {
            let members = |y: &[f64]| -> Vec<f64> {
                (0..pixels).flat_map(|p| y[p * outputs + group..][..shape.group].to_vec()).collect()
            };
            let values = members(&y);
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / values.len() as f64;
            for k in group..group + shape.group {
                for p in 0..pixels {
                    let y = &mut y[p * outputs + k];
                    *y = (gain[k] * (*y - mean) / (variance + 1e-5).sqrt() + shift[k]).max(0.0);
                }
            }
        }
        (h, channels) = (y, outputs);
    }
    let (weight, bias) = (take(h.len() * shape.features), take(shape.features));
    assert!(rest.is_empty());
    let feature = |j: usize| {
        h.iter().enumerate().map(|(i, h)| h * weight[i * shape.features + j]).sum::<f64>() + bias[j]
    };
    (0..shape.features).map(feature).collect()
}

/// The loops for some images: `Φ [N, D]`.
fn naive_rows(shape: &CnnShape, theta: &[f64], x: &[f64]) -> Vec<f64> {
    let each = shape.height * shape.width * shape.channels;
    x.chunks_exact(each).flat_map(|image| naive(shape, theta, image)).collect()
}

/// As a share of the numbers' size.
#[track_caller]
fn assert_close(a: &[f32], b: &[f64], tolerance: f64, what: &dyn std::fmt::Debug) {
    assert_eq!(a.len(), b.len());
    // The largest: where sums cancel, rounding is that of their terms.
    let size = b.iter().fold(1e-3, |size: f64, b| size.max(b.abs()));
    for (index, (&a, b)) in a.iter().zip(b).enumerate() {
        assert!((f64::from(a) - b).abs() <= tolerance * (size + b.abs()), "{what:?} {index}: {a} and {b}");
    }
}

/// 1e-4: rounding of f32 sums of some hundred terms of size one, through up to five norms.
#[test]
fn features_are_those_of_loops_over_the_equations() {
    for shape in shapes() {
        let (cnn, theta) = network(shape.clone());
        let inputs = images(&shape, 7, 2); // two blocks, the second not full
        let (phi, _) =
            cnn.forward(&theta, &inputs, &all(&inputs), Mode::Predict).expect("images of this size");
        assert_close(&phi, &naive_rows(&shape, &wide(&theta), &wide(x_of(&inputs))), 1e-4, &shape);
        assert_eq!(cnn.features(&theta, &inputs, &all(&inputs)).expect("images of this size"), phi);
    }
}

/// ∂θ and ∂x for some ∂Φ; both are full of NaN before.
fn gradients((cnn, theta): &(Cnn, Vec<f32>), inputs: &Inputs, d_phi: &[f32]) -> (Vec<f32>, Vec<f32>) {
    let rows = all(inputs);
    let (_, backward) = cnn.forward(theta, inputs, &rows, Mode::Predict).expect("images of this size");
    let (mut d_theta, mut d_x) = (vec![f32::NAN; theta.len()], vec![f32::NAN; rows.len() * cnn.width()]);
    backward.pull_back(d_phi, &mut d_theta, Some(&mut d_x));
    (d_theta, d_x)
}

/// Central differences of `f` by every number. In f64 a step of 1e-7 gives seven digits, and no number happens to be so
/// close to a kink of a ReLU or of a maximum.
fn differences(at: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let (mut moved, h) = (at.to_vec(), 1e-7);
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

/// 1e-3: norms over four numbers cancel a digit or two of f32.
#[test]
fn gradients_by_every_parameter_and_pixel_equal_central_differences() {
    for shape in shapes() {
        let both = network(shape.clone());
        let (inputs, c) = (images(&shape, 2, 4), numbers(2 * 3, 6));
        let (theta, x) = (wide(&both.1), wide(x_of(&inputs)));
        let dot = |phi: Vec<f64>| phi.iter().zip(&c).map(|(phi, &c)| phi * f64::from(c)).sum::<f64>();
        let (d_theta, d_x) = gradients(&both, &inputs, &c);
        let expected = differences(&theta, |theta| dot(naive_rows(&shape, theta, &x)));
        assert_close(&d_theta, &expected, 1e-3, &("by parameters", &shape));
        let expected = differences(&x, |x| dot(naive_rows(&shape, &theta, x)));
        assert_close(&d_x, &expected, 1e-3, &("by pixels", &shape));
    }
}

#[test]
fn a_gradient_is_the_same_whatever_else_is_asked_for() {
    for shape in shapes() {
        let both = network(shape.clone());
        let (cnn, theta) = (&both.0, &both.1);
        let (inputs, c) = (images(&shape, 7, 4), numbers(7 * 3, 5));
        let (d_theta, d_x) = gradients(&both, &inputs, &c);
        let forward =
            || cnn.forward(theta, &inputs, &all(&inputs), Mode::Predict).expect("images of this size").1;
        let mut alone = vec![f32::NAN; d_x.len()];
        forward().pull_back(&c, &mut [], Some(&mut alone));
        assert_eq!(alone, d_x, "{shape:?}");
        let mut alone = vec![f32::NAN; theta.len()];
        forward().pull_back(&c, &mut alone, None);
        assert_eq!(alone, d_theta, "{shape:?}");
    }
}

/// 1e-4: sums of f32 over 41 images.
#[test]
fn gradients_of_many_images_are_the_sums_of_those_of_single_ones() {
    let both = network(tiny());
    let (inputs, c) = (images(&tiny(), 41, 4), numbers(41 * 3, 5));
    let (d_theta, d_x) = gradients(&both, &inputs, &c);
    let (mut sum, mut apart) = (vec![0.0; d_theta.len()], Vec::new());
    for row in 0..41 {
        let x = x_of(&inputs)[row * 108..][..108].to_vec();
        let one = Inputs::Table(Matrix { x, width: 108, ..Matrix::default() });
        let (d_theta, d_x) = gradients(&both, &one, &c[row * 3..][..3]);
        sum.iter_mut().zip(d_theta).for_each(|(sum, d)| *sum += f64::from(d));
        apart.extend(wide(&d_x));
    }
    assert_close(&d_theta, &sum, 1e-4, &"by parameters");
    assert_close(&d_x, &apart, 1e-4, &"by pixels");
    let (d_theta, d_x) = gradients(&both, &images(&tiny(), 0, 1), &[]);
    assert!(d_theta.iter().all(|&d| d == 0.0) && d_x.is_empty());
}

#[test]
fn a_convolution_is_the_sum_over_nine_neighbours() {
    let (h, w, inputs, outputs, n) = (4, 5, 3, 2, 2);
    let (source, target) = (Grid::padded(h, w, inputs), Grid::padded(h, w, outputs));
    let pixels = numbers(n * h * w * inputs, 1);
    let weight = numbers(9 * inputs * outputs, 2);
    let mut x = source.zeros(n);
    for (index, row) in pixels.chunks_exact(w * inputs).enumerate() {
        x[source.row(index / h, index % h)].copy_from_slice(row);
    }
    let mut y = target.zeros(n);
    convolve(&x, source, n, &weight, &mut y);
    for image in 0..n {
        for row in 0..h {
            for column in 0..w {
                for output in 0..outputs {
                    let mut sum = 0.0;
                    for tap in 0..9 {
                        let (r, c) = ((row + tap / 3).wrapping_sub(1), (column + tap % 3).wrapping_sub(1));
                        if r < h && c < w {
                            for input in 0..inputs {
                                sum += pixels[((image * h + r) * w + c) * inputs + input]
                                    * weight[(tap * inputs + input) * outputs + output];
                            }
                        }
                    }
                    let got = y[target.row(image, row)][column * outputs + output];
                    // 27 terms of size one in f32
                    assert!((got - sum).abs() < 1e-5, "{image} {row} {column} {output}: {got} and {sum}");
                }
            }
        }
    }
}

#[test]
fn a_moved_image_has_moved_convolutions() {
    let (h, w, n) = (7, 8, 1);
    let grid = Grid::padded(h, w, 2);
    let weight = numbers(9 * 2 * 2, 2);
    let convolved = |row: usize, column: usize| {
        let (mut x, mut y) = (grid.zeros(n), grid.zeros(n));
        for (r, dot) in numbers(2 * 4, 3).chunks_exact(4).enumerate() {
            x[grid.row(0, row + r)][column * 2..column * 2 + 4].copy_from_slice(dot);
        }
        convolve(&x, grid, n, &weight, &mut y);
        // The dot of 2×2 pixels with the ring that it reaches.
        (0..4)
            .map(|r| y[grid.row(0, row + r - 1)][(column - 1) * 2..(column + 3) * 2].to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(convolved(1, 1), convolved(4, 5));
}

/// The first image that has other features among others than alone, to the last bit.
fn first_that_differs(shape: CnnShape) -> Option<String> {
    let (cnn, theta) = network(shape);
    let inputs = images(&cnn.shape, 130, 9);
    let features = |rows: &[usize]| cnn.features(&theta, &inputs, rows).expect("images of this size");
    let alone: Vec<Vec<f32>> = (0..130).map(|row| features(&[row])).collect();
    let mut backwards = all(&inputs);
    backwards.reverse();
    for size in [1, 2, 63, 64, 65, 130] {
        for order in [all(&inputs), backwards.clone()] {
            for rows in order.chunks(size) {
                for (row, phi) in rows.iter().zip(features(rows).chunks_exact(cnn.shape.features)) {
                    if *phi != alone[*row] {
                        return Some(format!("{:?}: image {row} in a batch of {}", cnn.shape, rows.len()));
                    }
                }
            }
        }
    }
    None
}

#[test]
fn an_image_s_features_do_not_depend_on_the_images_beside_it_to_the_last_bit() {
    let differing: Vec<String> = shapes().into_iter().filter_map(first_that_differs).collect();
    assert!(differing.is_empty(), "{} shapes, the first {}", differing.len(), differing[0]);
}

#[test]
fn threefold_contrast_does_not_change_the_features() {
    let (cnn, theta) = network(tiny());
    let inputs = images(&tiny(), 2, 3);
    let x = x_of(&inputs).iter().map(|x| 3.0 * x).collect();
    let starker = Inputs::Table(Matrix { x, width: 108, ..Matrix::default() });
    let [plain, starker] =
        [&inputs, &starker].map(|inputs| cnn.features(&theta, inputs, &[0, 1]).expect("images of this size"));
    // ε = 1e-5 against variances of order one.
    assert_close(&starker, &wide(&plain), 1e-3, &"contrast");
}

/// A prediction of it must be an error, not that of another image.
#[test]
fn a_pixel_that_is_no_number_shows_in_the_features() {
    for shape in shapes() {
        let (cnn, theta) = network(shape.clone());
        let inputs = images(&shape, 1, 3);
        for (pixel, value) in
            [(0, f32::NAN), (50, f32::NAN), (107, f32::NAN), (50, f32::INFINITY), (50, 1e38)]
        {
            let mut x = x_of(&inputs).to_vec();
            x[pixel] = value;
            let broken = Inputs::Table(Matrix { x, width: 108, ..Matrix::default() });
            let phi = cnn.features(&theta, &broken, &[0]).expect("an image of this size");
            assert!(phi.iter().any(|x| !x.is_finite()), "{shape:?}: {value} at {pixel} gives {phi:?}");
        }
    }
}

#[test]
fn the_number_of_threads_does_not_change_a_byte() {
    for shape in shapes() {
        let both = network(shape.clone());
        let (inputs, c) = (images(&shape, 41, 4), numbers(41 * 3, 5));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| {
                let phi = both.0.features(&both.1, &inputs, &all(&inputs)).expect("images of this size");
                (phi, gradients(&both, &inputs, &c))
            })
        };
        let one = run(1);
        assert!(one == run(2) && one == run(3), "{shape:?}");
    }
}

#[test]
fn the_layout_is_that_of_model_files() {
    let cnn = Cnn::new(CnnShape { stem: 8, blocks: vec![4, 6], ..tiny() }).expect("a sound shape");
    let slots: Vec<(&str, &[usize], bool)> =
        cnn.layout.slots().iter().map(|slot| (&slot.name[..], &slot.shape[..], slot.decays)).collect();
    let mut expected: Vec<(String, Vec<usize>, bool)> = Vec::new();
    for (index, [inputs, outputs]) in [[2, 8], [8, 4], [4, 4], [4, 6], [6, 6]].into_iter().enumerate() {
        expected.push((format!("convolutions.{index}.weight"), vec![9 * inputs, outputs], true));
        expected.push((format!("convolutions.{index}.gain"), vec![outputs], false));
        expected.push((format!("convolutions.{index}.shift"), vec![outputs], false));
    }
    expected.push(("weight".into(), vec![2 * 6, 3], true)); // 9 × 6 pixels halved twice are 2 × 1
    expected.push(("bias".into(), vec![3], false));
    let expected: Vec<(&str, &[usize], bool)> =
        expected.iter().map(|(name, shape, decays)| (&name[..], &shape[..], *decays)).collect();
    assert_eq!(slots, expected);
}

#[test]
fn initial_weights_follow_from_their_seed_gains_are_one_and_shifts_zero() {
    let cnn = Cnn::new(tiny()).expect("a sound shape");
    let theta = cnn.initialise(7);
    assert!(theta == cnn.initialise(7) && theta != cnn.initialise(8));
    for slot in cnn.layout.slots() {
        let is = |value: f32| slot.param.of(&theta).iter().all(|&x| x == value);
        let [one, zero] = [slot.name.ends_with("gain"), slot.name.ends_with("shift") || slot.name == "bias"];
        assert_eq!((is(1.0), is(0.0)), (one, zero), "{}", slot.name);
    }
}

#[test]
fn inputs_that_the_network_cannot_read_are_an_error() {
    let (cnn, theta) = network(tiny());
    let graphs =
        Graphs { x: vec![0.0; 108], width: 108, nodes: vec![0, 1], neighbours: vec![0, 0], edges: vec![] };
    let other = CnnShape { channels: 3, ..tiny() };
    for (inputs, rows) in [
        (images(&other, 2, 1), vec![0]),
        (images(&tiny(), 2, 1), vec![0, 2]),
        (images(&tiny(), 2, 1), vec![usize::MAX]),
        (Inputs::Graphs(graphs), vec![0]),
        (Inputs::custom(vec![1.0_f32; 108], 1), vec![0]),
    ] {
        assert!(matches!(cnn.features(&theta, &inputs, &rows), Err(Error::Inputs { .. })), "{inputs:?}");
        let forward = cnn.forward(&theta, &inputs, &rows, Mode::Train { seed: 1 });
        assert!(matches!(forward.err(), Some(Error::Inputs { .. })), "{inputs:?}");
    }
}

#[test]
fn an_impossible_shape_is_refused() {
    assert_eq!(tiny().fault(), None);
    for shape in [
        CnnShape { group: 0, ..tiny() },
        CnnShape { group: 4, ..tiny() },
        CnnShape { stem: 3, ..tiny() },
        CnnShape { blocks: vec![], ..tiny() },
        CnnShape { blocks: vec![4, 0], ..tiny() },
        CnnShape { blocks: vec![4; 3], ..tiny() },
        CnnShape { blocks: vec![4; 70], ..tiny() },
        CnnShape { convolutions: 0, ..tiny() },
        CnnShape { height: 0, ..tiny() },
        CnnShape { width: 3, ..tiny() },
        CnnShape { channels: 0, ..tiny() },
        CnnShape { features: 0, ..tiny() },
    ] {
        assert_eq!(Cnn::new(shape.clone()).err(), shape.fault());
        assert!(shape.fault().is_some(), "{shape:?}");
    }
}

#[test]
fn a_hostile_shape_is_refused_or_has_an_absurd_length_and_allocates_nothing() {
    for size in [1_000_000_000_000, usize::MAX - 1] {
        assert!(Cnn::new(CnnShape { convolutions: size, ..tiny() }).is_err());
        assert!(Cnn::new(CnnShape { group: size, ..tiny() }).is_err());
        for shape in [
            CnnShape { stem: size, blocks: vec![size; 2], ..tiny() },
            CnnShape { height: size, width: size, features: size, ..tiny() },
            CnnShape { channels: size, stem: size, ..tiny() },
            CnnShape { blocks: vec![size, size], features: size, ..tiny() },
        ] {
            let cnn = Cnn::new(shape.clone()).expect("no fault of its own");
            assert_eq!(cnn.layout().len(), usize::MAX, "{shape:?}");
        }
    }
}
