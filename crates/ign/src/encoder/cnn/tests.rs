use super::layers::{Grid, convolve};
use super::*;
use burn::module::ModuleVisitor;
use burn::tensor::activation::relu;
use burn::tensor::module::{conv2d, max_pool2d};
use burn::tensor::ops::{ConvOptions, MaxPoolOptions};

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

fn numbers(len: usize, seed: u64) -> Vec<f32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..len).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn images(shape: &CnnShape, n: usize, seed: u64, device: &Device) -> Tensor<4> {
    let size = [n, shape.height, shape.width, shape.channels];
    Tensor::from_data(TensorData::new(numbers(size.iter().product(), seed), size), device)
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("f32")
}

/// All parameters, or their gradients.
struct Flat<'a>(Vec<f32>, Option<&'a burn::tensor::Gradients>);

impl ModuleVisitor for Flat<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let tensor = match self.1 {
            None => param.val(),
            Some(gradients) => param.val().grad(gradients).expect("every parameter takes part"),
        };
        self.0.extend(values(tensor));
    }
}

fn flat(network: &Cnn) -> Vec<f32> {
    let mut visitor = Flat(Vec::new(), None);
    network.visit(&mut visitor);
    visitor.0
}

fn gradient(network: &Cnn, gradients: &burn::tensor::Gradients) -> Vec<f32> {
    let mut visitor = Flat(Vec::new(), Some(gradients));
    network.visit(&mut visitor);
    visitor.0
}

/// A network whose gains and shifts are not one and zero.
fn network(shape: CnnShape, device: &Device) -> Cnn {
    let mut network = Cnn::new(shape, 5, device);
    for (index, layer) in network.convolutions.iter_mut().enumerate() {
        for (scale, param) in [(0.2, &mut layer.gain), (0.5, &mut layer.shift)] {
            let old = values(param.val());
            let fresh: Vec<f32> =
                old.iter().zip(numbers(old.len(), index as u64)).map(|(old, x)| old + scale * x).collect();
            let len = fresh.len();
            *param = Param::from_tensor(Tensor::from_data(TensorData::new(fresh, [len]), device));
        }
    }
    network
}

/// The same network out of burn's own operations.
fn reference(network: &Cnn, images: Tensor<4>) -> Tensor<2> {
    let mut h = images.permute([0, 3, 1, 2]); // [N, C, H, W]
    for (layer, step) in network.convolutions.iter().zip(network.shape.layers()) {
        let weight = layer.weight.val().reshape([3, 3, step.inputs, step.outputs]).permute([3, 2, 0, 1]);
        h = conv2d(h, weight, None, ConvOptions::new([1, 1], [1, 1], [1, 1], 1));
        if step.pool {
            h = max_pool2d(h, MaxPoolOptions::new([2, 2]));
        }
        let [n, c, height, width] = h.dims();
        let groups = h.reshape([n, c / network.shape.group, network.shape.group * height * width]);
        let centred = groups.clone() - groups.mean_dim(2);
        let variance = (centred.clone() * centred.clone()).mean_dim(2);
        let normed = (centred / (variance + 1e-5).sqrt()).reshape([n, c, height, width]);
        let line = |param: &Param<Tensor<1>>| param.val().reshape([1, c, 1, 1]);
        h = relu(normed * line(&layer.gain) + line(&layer.shift));
    }
    let n = h.dims()[0];
    let flat = h.permute([0, 2, 3, 1]).reshape([n as i32, -1]);
    flat.matmul(network.weight.val()) + network.bias.val().unsqueeze()
}

/// Rounding of f32 sums of some hundred terms of size one.
fn assert_close(a: &[f32], b: &[f32], tolerance: f32) {
    assert_eq!(a.len(), b.len());
    let size = b.iter().map(|b| b * b).sum::<f32>().sqrt() / (b.len() as f32).sqrt();
    for (index, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance * (size + b.abs()), "{index}: {a} and {b}");
    }
}

#[test]
fn the_count_of_parameters_is_that_of_the_module() {
    let device = &Device::default();
    let one = CnnShape { stem: 0, convolutions: 1, ..tiny() };
    for shape in [tiny(), one] {
        assert_eq!(shape.parameters(), Cnn::new(shape, 1, device).num_params() as u128);
    }
    let hostile =
        CnnShape { convolutions: usize::MAX, blocks: vec![usize::MAX; 3], features: usize::MAX, ..tiny() };
    assert_eq!(hostile.parameters(), u128::MAX);
}

#[test]
fn an_impossible_shape_has_a_fault() {
    assert_eq!(tiny().fault(), None);
    let faults = [
        CnnShape { group: 0, ..tiny() },
        CnnShape { group: 4, ..tiny() },
        CnnShape { blocks: vec![], ..tiny() },
        CnnShape { blocks: vec![4, 0], ..tiny() },
        CnnShape { blocks: vec![4; 3], ..tiny() },
        CnnShape { blocks: vec![4; 70], ..tiny() },
        CnnShape { convolutions: 0, ..tiny() },
        CnnShape { height: 0, ..tiny() },
    ];
    for shape in faults {
        assert!(shape.fault().is_some(), "{shape:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let device = &Device::default();
    let bytes = |seed| flat(&Cnn::new(tiny(), seed, device));
    assert_eq!(bytes(7), bytes(7));
    assert_ne!(bytes(7), bytes(8));
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
                    assert!((got - sum).abs() < 1e-5, "{image} {row} {column} {output}: {got} and {sum}");
                }
            }
        }
    }
}

#[test]
fn a_moved_picture_has_moved_convolutions() {
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

#[test]
fn features_and_gradients_are_those_of_burns_own_operations() {
    let device = &Device::default().autodiff();
    let plain = CnnShape { stem: 0, convolutions: 1, group: 1, ..tiny() };
    for shape in [tiny(), plain] {
        let network = network(shape, device);
        let x = images(&network.shape, 7, 2, device).require_grad(); // two blocks, the second not full
        let d_phi = Tensor::<2>::from_data(TensorData::new(numbers(21, 3), [7, 3]), device);
        let (ours, theirs) = (network.forward(x.clone()), reference(&network, x.clone()));
        assert_close(&values(ours.clone()), &values(theirs.clone()), 1e-5);
        let ours = (ours * d_phi.clone()).sum().backward();
        let theirs = (theirs * d_phi).sum().backward();
        assert_close(&gradient(&network, &ours), &gradient(&network, &theirs), 1e-4);
        let d_x = |gradients| values(x.grad(gradients).expect("images take part"));
        assert_close(&d_x(&ours), &d_x(&theirs), 1e-3); // norms over two pixels cancel a digit
    }
}

#[test]
fn the_gradient_is_that_of_central_differences() {
    let device = &Device::default().autodiff();
    let network = network(tiny(), device);
    let x = numbers(3 * 9 * 6 * 2, 4);
    let d_phi = numbers(9, 6);
    let theta = flat(&network);
    let loss = |theta: &[f32], x: &[f32]| {
        let phi = network::forward(&network.shape, theta, x);
        phi.iter().zip(&d_phi).map(|(a, b)| f64::from(a * b)).sum::<f64>()
    };
    let (_, tape) = network::record(&network.shape, theta.clone(), &x);
    let both = Wanted { parameters: true, images: true };
    let (d_theta, d_x) = network::pull_back(&tape, &d_phi, both);
    assert_differences(&theta, &d_theta, |theta| loss(theta, &x));
    assert_differences(&x, &d_x, |x| loss(&theta, x));
}

/// Demands that `analytic` is the gradient of `loss` at `here`.
fn assert_differences(here: &[f32], analytic: &[f32], loss: impl Fn(&[f32]) -> f64) {
    assert_eq!(here.len(), analytic.len());
    let size = (analytic.iter().map(|g| f64::from(g * g)).sum::<f64>() / analytic.len() as f64).sqrt();
    // 2e-3: rounding of f32 divided by it is 1e-4, its square times a curvature of order ten as well.
    let (h, centre) = (2e-3f32, loss(here));
    let mut kinks = 0;
    for index in 0..here.len() {
        let at = |step: f32| {
            let mut moved = here.to_vec();
            moved[index] += step;
            loss(&moved)
        };
        let (up, down) = ((at(h) - centre) / f64::from(h), (centre - at(-h)) / f64::from(h));
        // A ReLU or a maximum that switches in between: there is no derivative to compare with.
        if (up - down).abs() > 0.1 * size + 0.05 * up.abs() {
            kinks += 1;
            continue;
        }
        let (numeric, analytic) = (0.5 * (up + down), f64::from(analytic[index]));
        assert!(
            (numeric - analytic).abs() < 0.05 * size + 0.03 * analytic.abs(),
            "{index}: {numeric} and {analytic}, rms {size}"
        );
    }
    assert!(kinks * 5 < here.len(), "{kinks} of {} numbers sit at a kink", here.len());
}

#[test]
fn a_gradient_is_the_same_whatever_else_is_asked_for() {
    let theta = flat(&network(tiny(), &Device::default()));
    let (_, tape) = network::record(&tiny(), theta, &numbers(7 * 9 * 6 * 2, 4));
    let asked =
        |parameters, images| network::pull_back(&tape, &numbers(7 * 3, 5), Wanted { parameters, images });
    let (d_theta, d_x) = asked(true, true);
    assert_eq!(asked(true, false), (d_theta, Vec::new()));
    assert_eq!(asked(false, true).1, d_x);
}

#[test]
fn images_do_not_see_one_another() {
    let device = &Device::default();
    let network = network(tiny(), device);
    let x = images(&network.shape, 6, 9, device);
    let all = values(network.forward(x.clone()));
    let reversed = values(network.forward(x.clone().flip([0])));
    for image in 0..6 {
        let alone = values(network.forward(x.clone().narrow(0, image, 1)));
        assert_close(&alone, &all[image * 3..(image + 1) * 3], 1e-5);
        assert_close(&alone, &reversed[(5 - image) * 3..(6 - image) * 3], 1e-5);
    }
}

#[test]
fn threefold_contrast_does_not_change_the_features() {
    let device = &Device::default();
    let network = network(tiny(), device);
    let x = images(&network.shape, 2, 3, device);
    let plain = values(network.forward(x.clone()));
    let starker = values(network.forward(x * 3.0));
    // ε = 1e-5 against variances of order one.
    assert_close(&starker, &plain, 1e-3);
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let shape = tiny();
    let theta = flat(&Cnn::new(shape.clone(), 1, &Device::default()));
    let x = numbers(41 * 9 * 6 * 2, 4);
    let d_phi = numbers(41 * 3, 5);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| {
            let (phi, tape) = network::record(&shape, theta.clone(), &x);
            (phi, network::pull_back(&tape, &d_phi, Wanted { parameters: true, images: true }))
        })
    };
    assert_eq!(run(1), run(3));
}
