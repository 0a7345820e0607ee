//! Images on their way into the network.

use crate::fixture::{stripes, values};
use data::{ImageSchema, ImageSet};
use inducing::dataset::{Images, Inputs};
use inducing::nn::Mode;
use std::sync::Arc;

fn schema(set: &ImageSet) -> ImageSchema {
    ImageSchema::fit(set, &(0..set.len()).collect::<Vec<_>>()).expect("three classes").0
}

fn inputs(set: &ImageSet, augment: bool) -> Inputs {
    Inputs::Images(Images::new(Arc::new(set.clone()), &schema(set), augment))
}

fn gathered(inputs: &Inputs, rows: &[usize], mode: Mode) -> Vec<f32> {
    inputs.numbers(inputs.width(), rows, mode).expect("rows of numbers")
}

#[test]
fn every_value_is_standardised_by_its_channel() {
    for channels in [1, 3] {
        let set = stripes(9, channels, 0);
        let schema = schema(&set);
        let inputs = inputs(&set, false);
        assert_eq!((inputs.rows(), inputs.width()), (9, 36 * channels));
        let picked = gathered(&inputs, &[4, 0], Mode::Predict);
        let bytes = set.image(4).iter().chain(set.image(0));
        for (i, (value, &byte)) in picked.iter().zip(bytes).enumerate() {
            let channel = i % channels;
            let expected = (f32::from(byte) / 255.0 - schema.mean[channel]) / schema.std[channel];
            assert!((value - expected).abs() < 1e-5, "{i}: {value} {expected}"); // two roundings in f32
        }
        let all = values(&inputs);
        let mean = all.iter().step_by(channels).sum::<f32>() / (all.len() / channels) as f32;
        assert!(mean.abs() < 1e-4, "{mean}");
    }
}

#[test]
fn random_shifts_follow_from_their_seed_and_vanish_in_prediction() {
    // A reach of an eighth: 6 pixels have none, so that this needs a larger image.
    let set = large(1);
    let (still, moved) = (inputs(&set, false), inputs(&set, true));
    let rows: Vec<usize> = (0..set.len()).collect();
    let train = |seed| gathered(&moved, &rows, Mode::Train { seed });
    assert!(train(1) == train(1) && train(1) != train(2));
    let straight = values(&still);
    assert_eq!(straight, values(&moved));
    assert_eq!(straight, gathered(&still, &rows, Mode::Train { seed: 1 }), "only if it is asked for");
    assert_ne!(straight, train(1));
}

/// Twelve images of 16 × 16 pixels, every one of them a ramp from left to right.
fn large(channels: usize) -> ImageSet {
    let ramp = (0..16 * 16 * channels).map(|i| (i / channels % 16 * 10 + 40) as u8);
    let pixels: Vec<u8> = ramp.collect();
    let (count, names) = (12, ["a", "b"]);
    ImageSet {
        pixels: pixels.repeat(count),
        height: 16,
        width: 16,
        channels,
        labels: Some((0..count as u32).map(|i| i % 2).collect()),
        classes: names.map(String::from).into(),
        names: Vec::new(),
        origin: "memory".into(),
    }
}

/// A digit in a mirror is none; a photograph is one.
#[test]
fn images_are_mirrored_only_if_they_have_colours() {
    for channels in [1, 3] {
        let set = large(channels);
        let inputs = inputs(&set, true);
        let rows: Vec<usize> = (0..12).collect();
        let mirrored = |seed: u64| {
            let values = gathered(&inputs, &rows, Mode::Train { seed });
            let falls = |image: &&[f32]| {
                let row = &image[8 * 16 * channels..][..16 * channels];
                row[5 * channels] > row[10 * channels]
            };
            values.chunks(256 * channels).filter(falls).count()
        };
        let flips: usize = (0..8).map(mirrored).sum();
        // Of 96 fair draws, fewer than 20 or more than 76 come once in 10⁸ times; the seeds are fixed.
        assert!(if channels == 1 { flips == 0 } else { (20..=76).contains(&flips) }, "{channels}: {flips}");
    }
}

/// What comes in from the edge is the mean, and what is left is the image moved by at most an eighth of it.
#[test]
fn a_shifted_image_is_the_image_at_most_an_eighth_away() {
    let set = large(1);
    let straight = gathered(&inputs(&set, false), &[0], Mode::Predict);
    let moved = inputs(&set, true);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..60 {
        let image = gathered(&moved, &[0], Mode::Train { seed });
        let matches = |dy: isize, dx: isize| {
            (0..256_isize).all(|i| {
                let (y, x) = (i / 16 + dy, i % 16 + dx);
                let inside = (0..16).contains(&y) && (0..16).contains(&x);
                let expected = if inside { straight[(16 * y + x) as usize] } else { 0.0 };
                image[i as usize] == expected
            })
        };
        let shifts = (-2..=2).flat_map(|dy| (-2..=2).map(move |dx| (dy, dx)));
        let found: Vec<_> = shifts.filter(|&(dy, dx)| matches(dy, dx)).collect();
        assert_eq!(found.len(), 1, "seed {seed}: {found:?}");
        seen.insert(found[0]);
    }
    assert!(seen.len() > 15, "of 25 shifts nearly all occur in 60 draws: {seen:?}");
}
