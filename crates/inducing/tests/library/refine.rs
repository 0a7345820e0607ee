//! Examples moved towards inducing points.

use crate::fixture::{
    classes, encoded, encoded_images, linear, model, noise, normal, on_threads, prepared, prepared_images,
    stripes, tiny, tiny_classes, tiny_images, trained, values,
};
use data::{Column, ImageSet, Table};
use inducing::Model;
use inducing::dataset::{Inputs, Matrix};
use inducing::explain::{RefineOptions, Refined, RefinedInputs};

/// Distances of inducing points of the first network and rows.
fn distances(model: &Model, inputs: &Inputs, pairs: &[(usize, usize)]) -> Vec<f64> {
    let z = &model.heads().next().expect("a process").z;
    let rows: Vec<usize> = pairs.iter().map(|(_, row)| *row).collect();
    let phi = model.encode(inputs, &rows).expect("rows of the model").networks.remove(0);
    let d = phi.len() / rows.len();
    let squared = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let distance = |(i, (point, _)): (usize, &(usize, usize))| {
        squared(&phi[i * d..(i + 1) * d], &z[point * d..(point + 1) * d]).sqrt()
    };
    pairs.iter().enumerate().map(distance).collect()
}

/// Each inducing point with the row that is nearest to it.
fn nearest(model: &Model, inputs: &Inputs) -> Vec<(usize, usize)> {
    let points = 16;
    (0..points)
        .map(|point| {
            let pairs: Vec<(usize, usize)> = (0..inputs.rows()).map(|row| (point, row)).collect();
            let distances = distances(model, inputs, &pairs);
            let closest = (0..pairs.len()).min_by(|a, b| distances[*a].total_cmp(&distances[*b]));
            pairs[closest.expect("there are rows")]
        })
        .collect()
}

fn refine(model: &Model, inputs: &Inputs, starts: &[(usize, usize)]) -> Refined {
    model
        .refine(0, inputs, starts, RefineOptions::default(), &mut |_, _| true)
        .expect("rows and points that exist")
        .expect("numbers and a process")
}

/// Single precision of features of about one.
fn assert_same(a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5), "{a:?} {b:?}");
}

/// Demands that all but those that had met their points already have come closer.
fn assert_closer(refined: &Refined, met: f64) {
    let far = refined.before.iter().zip(&refined.after).filter(|(before, _)| **before > met);
    assert!(2 * far.clone().count() > refined.before.len(), "{:?}", refined.before);
    far.for_each(|(before, after)| assert!(after < before, "{after} {before}"));
    assert!(refined.before.iter().zip(&refined.after).all(|(before, after)| after <= before));
}

fn of_images(set: &ImageSet, more: &[&str]) -> Model {
    let config = tiny_images(more);
    trained(&prepared_images(set, &config).expect("images to learn from"), &config, 1)
}

const CNN: [&str; 3] = ["encoder.kind=cnn", "encoder.stem=8", "encoder.blocks=[8]"];

#[test]
fn refined_images_are_closer_to_their_points_as_bytes() {
    for channels in [1, 3] {
        let set = stripes(90, channels, 0);
        for more in [&[][..], &CNN] {
            let model = of_images(&set, more);
            let inputs = encoded_images(&model, &set);
            let starts = nearest(&model, &inputs);
            let refined = refine(&model, &inputs, &starts);
            assert_closer(&refined, 0.005); // the first byte of six pixels a side changes as much
            assert_same(&refined.before, &distances(&model, &inputs, &starts));
            let RefinedInputs::Images(pixels) = &refined.inputs else { panic!("images") };
            let moved = ImageSet { pixels: pixels.clone(), labels: None, ..set.clone() };
            let again: Vec<(usize, usize)> = (0..starts.len()).map(|i| (starts[i].0, i)).collect();
            assert_same(&refined.after, &distances(&model, &encoded_images(&model, &moved), &again));
        }
    }
}

/// A number with gaps, one of three integers, a plain one, a category and a date; `y` by the numbers.
fn mixed(rows: usize) -> Table {
    let x: Vec<f64> =
        (0..rows as u64).map(|i| if i % 5 == 0 { f64::NAN } else { 10.0 * normal(3 * i) }).collect();
    let few: Vec<f64> = (0..rows as u64).map(|i| (3.0 * noise(3 * i + 1)).floor()).collect();
    let plain: Vec<f64> = (0..rows as u64).map(|i| normal(3 * i + 2).exp()).collect();
    let known = |x: f64| if x.is_nan() { 3.0 } else { x };
    let y = (0..rows).map(|i| known(x[i]) + few[i] - 4.0 * plain[i]).collect();
    let day = (0..rows as i64).map(|i| Some(i * 86_400_000_000 * 7)).collect();
    let codes = (0..rows as u32).map(|i| Some(i % 2)).collect();
    let columns = [
        ("x", Column::Number(x)),
        ("few", Column::Number(few)),
        ("colour", Column::Category { codes, levels: vec!["blue".into(), "red".into()] }),
        ("plain", Column::Number(plain)),
        ("day", Column::DateTime(day)),
        ("y", Column::Number(y)),
    ];
    let columns = columns.map(|(name, column)| (name.to_owned(), column));
    Table::new("memory", columns.into()).expect("distinct names and equal lengths")
}

#[test]
fn only_plain_numbers_of_a_row_move_and_within_the_data() {
    let table = mixed(300);
    for more in [
        &["data.discrete_levels=3"][..],
        &["data.discrete_levels=3", "encoder.members=2", "data.scaling=quantile"],
    ] {
        let model = model(&table, &tiny(more));
        let schema = model.header().schema.table().expect("a table");
        let inputs = encoded(&model, &table);
        let names = schema.feature_names();
        let mut starts = nearest(&model, &inputs);
        starts[0].1 = 0; // a row whose x is missing
        let refined = refine(&model, &inputs, &starts);
        assert_closer(&refined, 1e-4);
        let RefinedInputs::Table(rows) = &refined.inputs else { panic!("rows") };
        let width = inputs.width();
        let all = values(&inputs);
        let mut moved = vec![0; width];
        for (i, (_, row)) in starts.iter().enumerate() {
            let start = &all[row * width..(row + 1) * width];
            for (column, (x, start)) in rows[i * width..(i + 1) * width].iter().zip(start).enumerate() {
                let values = || all.iter().skip(column).step_by(width).copied();
                let (low, high) = (values().fold(f32::MAX, f32::min), values().fold(f32::MIN, f32::max));
                assert!((low..=high).contains(x), "{}: {x} in {low} to {high}", names[column]);
                moved[column] += usize::from(x != start);
            }
            let decoded = schema.decode(&rows[i * width..(i + 1) * width]);
            let free: Vec<bool> = decoded.iter().map(Option::is_some).collect();
            assert_eq!(free, [row % 5 != 0, false, false, true, false]);
            assert!(row % 5 != 0 || rows[i * width] == start[0], "a missing value stays");
        }
        let (still, going): (Vec<_>, Vec<_>) = names.iter().zip(&moved).partition(|(_, moved)| **moved == 0);
        let going: Vec<&String> = going.into_iter().map(|(name, _)| name).collect();
        assert_eq!(going, ["x", "plain"], "{still:?} did not move");
        let matrix = Matrix { x: rows.clone(), width, ..Matrix::default() };
        let again: Vec<(usize, usize)> = (0..starts.len()).map(|i| (starts[i].0, i)).collect();
        assert_same(&refined.after, &distances(&model, &Inputs::Table(matrix), &again));
    }
}

/// Without a network the closest input is the point itself, brought into the box.
#[test]
fn without_a_network_the_descent_ends_at_the_point_or_at_the_box() {
    let table = linear(200, 0);
    let model = model(&table, &tiny(&["encoder.kind=identity"]));
    let inputs = encoded(&model, &table);
    let scale = &model.header().feature_scale;
    let starts: Vec<(usize, usize)> = (0..16).map(|point| (point, 7 * point)).collect();
    let RefinedInputs::Table(rows) = refine(&model, &inputs, &starts).inputs else { panic!("rows") };
    let all = values(&inputs);
    let z = &model.heads().next().expect("a process").z;
    for (i, x) in rows.iter().enumerate() {
        let values = || all.iter().skip(i % 2).step_by(2).copied();
        let (low, high) = (values().fold(f32::MAX, f32::min), values().fold(f32::MIN, f32::max));
        let closest = (z[i] / scale.scale + scale.shift[i % 2]).clamp(low, high);
        assert!((x - closest).abs() < 1e-3, "{i}: {x} {closest}"); // the last step is some 10⁻⁵ of the box
    }
}

#[test]
fn one_thread_and_two_refine_to_the_same_bytes() {
    let set = stripes(90, 3, 0);
    let table = linear(300, 0);
    let run = |threads| {
        on_threads(threads, || {
            let of_images = [&[][..], &CNN].map(|more| {
                let model = of_images(&set, more);
                let inputs = encoded_images(&model, &set);
                refine(&model, &inputs, &(0..16).map(|i| (i, i)).collect::<Vec<_>>())
            });
            let model = model(&table, &tiny(&[]));
            let inputs = encoded(&model, &table);
            (of_images, refine(&model, &inputs, &(0..16).map(|i| (i, i)).collect::<Vec<_>>()))
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn every_network_has_points_of_its_own_and_a_softmax_layer_none() {
    let table = classes(200, &["low", "middle", "top"], 0);
    let fit = |more: &[&str]| {
        let config = tiny_classes(more);
        trained(&prepared(&table, &config).expect("a table to learn from"), &config, 1)
    };
    let refine = |model: &Model, network| {
        let starts = [(0, 0), (1, 1)];
        model
            .refine(network, &encoded(model, &table), &starts, RefineOptions::default(), &mut |_, _| true)
            .expect("rows and points that exist")
    };
    let independent = fit(&["gp.multiclass=independent"]);
    let each: Vec<Refined> = (0..3).map(|network| refine(&independent, network).expect("three")).collect();
    each.iter().for_each(|refined| assert_closer(refined, 1e-4));
    assert!(each[0] != each[1] && each[1] != each[2]);
    assert_eq!(refine(&independent, 3), None);
    assert_eq!(refine(&fit(&["head=softmax"]), 0), None);
}

#[test]
fn a_stop_leaves_what_was_reached() {
    let table = linear(300, 0);
    let model = model(&table, &tiny(&[]));
    let inputs = encoded(&model, &table);
    // Two parts of at most 128.
    let starts: Vec<(usize, usize)> = (0..200).map(|row| (row % 16, row)).collect();
    let mut calls = Vec::new();
    let refined = model.refine(0, &inputs, &starts, RefineOptions { steps: 20 }, &mut |done, planned| {
        calls.push((done, planned));
        done < 5
    });
    let refined = refined.expect("rows and points that exist").expect("numbers and a process");
    assert_eq!(calls, [(1, 40), (2, 40), (3, 40), (4, 40), (5, 40)]);
    assert_eq!((refined.before.len(), refined.after.len()), (200, 200));
    let closer =
        |from: usize, to: usize| (from..to).filter(|i| refined.after[*i] < refined.before[*i]).count();
    assert!(closer(0, 128) > 100 && closer(128, 200) == 0, "the second part did not begin");
}
