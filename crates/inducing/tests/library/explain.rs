//! What inducing points say, what is near them, and which columns matter.

use crate::fixture::{all, classes, encoded, fit, linear, model, noise, numbers, table, tiny, tiny_classes};
use inducing::Model;
use inducing::explain::{DependenceGrid, Observed, PartialDependence, PseudoLabel};
use inducing::model::Features;

/// Every pair of an inducing point and an input: (similarity by the kernel's definition, distance).
fn naive(model: &Model, phi: &[f32]) -> Vec<Vec<(f64, f64)>> {
    let head = model.heads().next().expect("a process");
    let d = head.w.len();
    let pair = |z: &[f32], phi: &[f32]| {
        let squares: f64 = z.iter().zip(phi).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
        let dot = |a: &[f32], b: &[f32]| -> f64 {
            a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
        };
        let similarity = match model.header().kernel {
            inducing::model::Kernel::Rbf { gamma, .. } => (-gamma * squares).exp(),
            inducing::model::Kernel::Matern32 { gamma, .. } => {
                let r = (2.0 * gamma * squares).sqrt();
                (1.0 + 3.0_f64.sqrt() * r) * (-3.0_f64.sqrt() * r).exp()
            }
            inducing::model::Kernel::Matern52 { gamma, .. } => {
                let r = (2.0 * gamma * squares).sqrt();
                (1.0 + 5.0_f64.sqrt() * r + 5.0 / 3.0 * r * r) * (-5.0_f64.sqrt() * r).exp()
            }
            inducing::model::Kernel::Linear { scale, offset } => {
                let k = |a, b| scale * dot(a, b) + offset;
                k(z, phi) / (k(z, z) * k(phi, phi)).sqrt()
            }
        };
        (similarity, squares.sqrt())
    };
    head.z.chunks_exact(d).map(|z| phi.chunks_exact(d).map(|phi| pair(z, phi)).collect()).collect()
}

#[test]
fn nearest_inputs_are_those_of_a_double_loop_for_every_kernel() {
    let data = linear(300, 0);
    for kernel in ["rbf", "matern32", "matern52", "linear"] {
        let model = model(&data, &tiny(&[&format!("gp.kernel=\"{kernel}\"")]));
        let inputs = encoded(&model, &data);
        let features = model.encode(&inputs, &all(&inputs)).expect("rows of the model");
        let [around] = &model.neighbourhoods(&features, 7)[..] else { panic!("one network") };
        let pairs = naive(&model, &features.networks[0]);
        let mut assigned = vec![0; pairs.len()];
        for row in 0..300 {
            let best = (0..pairs.len()).max_by(|&a, &b| pairs[a][row].0.total_cmp(&pairs[b][row].0));
            assigned[best.expect("there are points")] += 1;
        }
        // f32 inner products may swap two points that are equally near; at most a few rows.
        let moved: usize =
            assigned.iter().zip(&around.assigned).map(|(a, b): (&usize, &usize)| a.abs_diff(*b)).sum();
        assert!(moved <= 4, "{kernel}: {assigned:?} {:?}", around.assigned);
        assert_eq!(around.assigned.iter().sum::<usize>(), 300);
        for (list, pairs) in around.nearest.iter().zip(&pairs) {
            let mut sorted: Vec<f64> = pairs.iter().map(|pair| pair.0).collect();
            sorted.sort_by(|a, b| b.total_cmp(a));
            assert_eq!(list.len(), 7);
            for (near, expected) in list.iter().zip(sorted) {
                let (similarity, distance) = pairs[near.row];
                assert!(
                    (near.similarity - similarity).abs() < 1e-9 && (near.distance - distance).abs() < 1e-9
                );
                // The order was found in f32.
                assert!((similarity - expected).abs() < 1e-4, "{kernel}: {similarity} {expected}");
            }
        }
    }
}

#[test]
fn a_point_that_lies_on_an_inducing_point_is_predicted_its_pseudo_label() {
    let data = linear(300, 1);
    let model = model(&data, &tiny(&["gp.jitter=1e-8"]));
    let z = model.heads().next().expect("a process").z.clone();
    let rows = z.len() / 8;
    let prediction = model.numbers(&model.latent(&Features { rows, networks: vec![z] }));
    let labels = &model.pseudo_labels()[0];
    let scale = numbers(&data, "y").iter().fold(0.0_f64, |a, y| a.max(y.abs()));
    for (label, mean) in labels.iter().zip(&prediction.mean) {
        let PseudoLabel::Numbers(values) = label else { panic!("{label:?}") };
        // The process passes through its pseudo-labels up to the jitter.
        assert!((values[0] - mean).abs() < 1e-3 * scale, "{values:?} {mean}");
    }
}

#[test]
fn pseudo_labels_of_classes_are_probabilities_and_each_class_may_have_its_own() {
    let names = ["low", "middle", "top"];
    for (more, networks) in [(&[][..], 1), (&["gp.multiclass=independent"][..], 3)] {
        let model = model(&classes(300, &names, 0), &tiny_classes(more));
        let labels = model.pseudo_labels();
        assert_eq!(labels.len(), networks);
        for label in labels.iter().flatten() {
            match label {
                PseudoLabel::Classes(p) if networks == 1 => {
                    assert!(p.len() == 3 && (p.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                }
                PseudoLabel::OneVsRest(p) if networks == 3 => assert!((0.0..=1.0).contains(p)),
                other => panic!("{other:?}"),
            }
        }
        let inputs = encoded(&model, &classes(50, &names, 1));
        let around =
            model.neighbourhoods(&model.encode(&inputs, &all(&inputs)).expect("rows of the model"), 1);
        assert!(around.len() == networks && around.iter().all(|a| a.assigned.iter().sum::<usize>() == 50));
    }
    let softmax = model(&classes(300, &names, 0), &tiny_classes(&["head=softmax"]));
    assert!(softmax.pseudo_labels().is_empty());
}

#[test]
fn the_column_that_decides_matters_and_a_column_of_noise_does_not() {
    let (mut a, mut b, mut y) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..600 {
        a.push(noise(i) - 0.5);
        b.push(noise(10_000 + i) - 0.5);
        y.push(10.0 * (noise(i) - 0.5));
    }
    let data = table([("a", a), ("b", b), ("y", y.clone())]);
    let model = model(&data, &tiny(&["train.pretrain_epochs=60", "train.epochs=10"]));
    let inputs = encoded(&model, &data);
    let observed = Observed::Numbers(y);
    let importance = || model.importance(&inputs, &all(&inputs), &observed, 0).expect("rows of the model");
    let measured = importance().expect("a table of two columns");
    assert_eq!((measured.rows, measured.shuffles), (600, 5));
    let columns = &measured.columns;
    let [a, b] = &columns[..] else { panic!("{columns:?}") };
    assert_eq!([a.name.as_str(), b.name.as_str()], ["a", "b"]);
    // Shuffling `a` makes of y and its prediction two independent numbers: the RMSE is √2 deviations of y, 4.08.
    assert!((a.error - 4.08).abs() < 0.5 && b.error.abs() < 0.3, "{columns:?}");
    assert!(columns.iter().all(|column| column.spread >= 0.0 && column.spread.is_finite()));
    assert_eq!(importance(), Some(measured.clone()));
}

#[test]
fn the_history_follows_the_kernel_to_the_one_that_is_kept() {
    let (model, log) = fit(&linear(300, 2), &tiny(&["train.stop_on=\"never\""]));
    let kernel = model.expect("this run succeeds").header().kernel;
    let [scale, gamma] = log.records.last().and_then(|r| r.kernel).expect("the likelihood has a kernel");
    let [log_scale, log_gamma] = kernel.log_parameters();
    assert!((scale.ln() - log_scale).abs() < 1e-6 && (gamma.ln() - log_gamma).abs() < 1e-6);
    assert!(log.records.first().is_some_and(|r| r.kernel.is_none()), "pretraining has no kernel");
}

#[test]
fn partial_dependence_recovers_the_terms_of_a_sum_and_is_flat_for_noise() {
    let columns = |f: &dyn Fn(f64, f64) -> f64| {
        let at = |shift: u64| move |i: u64| 2.0 * noise(shift + i) - 1.0;
        let (a, b, c) = (at(0), at(10_000), at(20_000));
        let column = |of: &dyn Fn(u64) -> f64| (0..600).map(of).collect::<Vec<f64>>();
        table([("a", column(&a)), ("b", column(&b)), ("c", column(&c)), ("y", column(&|i| f(a(i), b(i))))])
    };
    let data = columns(&|a, b| 100.0 + 10.0 * a + 6.0 * b * b);
    let model = model(&data, &tiny(&["train.pretrain_epochs=120", "train.epochs=20"]));
    let inputs = encoded(&model, &data);
    let moved = model
        .partial_dependence(&inputs, &all(&inputs), &["b", "a", "c", "nothing"], 0)
        .expect("rows of the model");
    let names: Vec<&str> = moved.iter().map(|moved| moved.name.as_str()).collect();
    assert_eq!(
        names,
        ["b", "a", "c"],
        "in the order that was asked for; there is no such column as the last"
    );
    let worst = |k: usize, term: &dyn Fn(f64) -> f64| {
        let PartialDependence { grid: DependenceGrid::Numbers { values, .. }, curves, rows: 50, .. } =
            &moved[k]
        else {
            panic!("a column of numbers, averaged over 50 rows: {:?}", moved[k])
        };
        assert_eq!((values.len(), curves.len()), (20, 1));
        assert!(curves[0].std.iter().all(|std| *std > 0.0 && *std < 3.0), "{:?}", curves[0].std);
        let centred = |y: Vec<f64>| {
            let mean = y.iter().sum::<f64>() / y.len() as f64;
            y.into_iter().map(|y| y - mean).collect::<Vec<_>>()
        };
        let expected = centred(values.iter().map(|x| term(*x)).collect());
        let errors = centred(curves[0].mean.clone()).into_iter().zip(expected).map(|(a, b)| (a - b).abs());
        errors.fold(0.0, f64::max)
    };
    // y varies by about 6; a small network leaves a tenth of that.
    assert!(worst(0, &|b| 6.0 * b * b) < 0.8, "{moved:?}");
    assert!(worst(1, &|a| 10.0 * a) < 0.8, "{moved:?}");
    assert!(worst(2, &|_| 0.0) < 0.5, "{moved:?}");
    let mean = moved[1].curves[0].mean.iter().sum::<f64>() / 20.0;
    assert!((mean - 102.0).abs() < 0.7, "the mean of y is 102: {mean}");
}

#[test]
fn partial_dependence_of_classes_is_their_mean_probability() {
    let names = ["low", "middle", "top"];
    let data = classes(300, &names, 0);
    let model = model(&data, &tiny_classes(&[]));
    let inputs = encoded(&model, &data);
    let columns: Vec<&str> = match &model.header().schema {
        inducing::dataset::Schema::Table(table) => table.inputs.iter().map(|c| c.name.as_str()).collect(),
        _ => panic!("a table"),
    };
    let moved = model.partial_dependence(&inputs, &all(&inputs), &columns, 0).expect("rows of the model");
    assert_eq!(moved.len(), columns.len());
    for PartialDependence { curves, grid, .. } in &moved {
        assert_eq!(curves.len(), 3);
        for k in 0..grid.len() {
            let sum: f64 = curves.iter().map(|curve| curve.mean[k]).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
            assert!(curves.iter().all(|curve| (0.0..1.0).contains(&curve.std[k])));
        }
    }
}
