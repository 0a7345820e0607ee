//! Shapes, and the layout of θ that model files know.

use super::*;
use serde_json::Value;

/// A model file of the first version that had texts.
const GOLDEN: &[u8] = include_bytes!("../../../../tests/golden/v3-text.ign");

/// The header of the model file, and the shape of its encoder.
fn golden() -> (Value, TextShape) {
    let size = u64::from_le_bytes(GOLDEN[..8].try_into().expect("eight bytes")) as usize;
    let header: Value = serde_json::from_slice(&GOLDEN[8..8 + size]).expect("a header");
    let metadata = header["__metadata__"]["ign"].as_str().expect("the model's metadata");
    let (_checksum, model) = metadata.split_once(' ').expect("a checksum before it");
    let model: Value = serde_json::from_str(model).expect("JSON");
    let shape = serde_json::from_value(model["encoder"].clone()).expect("a text encoder's shape");
    (header, shape)
}

#[test]
fn names_and_shapes_are_those_of_model_files() {
    let (header, shape) = golden();
    let encoder = TextEncoder::new(shape).expect("a shape without faults");
    for slot in encoder.layout().slots() {
        let stored = &header[format!("encoder.{}", slot.name)]["shape"];
        assert_eq!(stored, &serde_json::to_value(&slot.shape).expect("numbers"), "{}", slot.name);
    }
    let stored = header.as_object().expect("an object").keys().filter(|name| name.starts_with("encoder."));
    assert_eq!(stored.count(), encoder.layout().slots().len());
}

#[test]
fn parameters_stand_in_the_order_of_the_equations() {
    let encoder = TextEncoder::new(tiny()).expect("a shape without faults");
    let names: Vec<&str> = encoder.layout().slots().iter().map(|slot| &slot.name[..]).collect();
    let block = [
        "before_attention.gain",
        "before_attention.shift",
        "qkv.weight",
        "qkv.bias",
        "mix.weight",
        "mix.bias",
        "before_dense.gain",
        "before_dense.shift",
        "up.weight",
        "up.bias",
        "down.weight",
        "down.bias",
    ];
    let mut expected = Vec::new();
    for (tower, blocks) in [2, 1, 2, 1].into_iter().enumerate() {
        expected.extend(["token", "position"].map(|name| format!("towers.{tower}.{name}")));
        for depth in 0..blocks {
            expected.extend(block.map(|name| format!("towers.{tower}.blocks.{depth}.{name}")));
        }
        expected.extend(["gain", "shift"].map(|name| format!("towers.{tower}.last.{name}")));
    }
    for layer in [0, 1] {
        expected.extend(["weight", "bias"].map(|name| format!("beside.layers.{layer}.{name}")));
    }
    expected.extend(["weight", "bias"].map(String::from));
    assert_eq!(names, expected);
    let mut start = 0;
    let theta: Vec<f32> = (0..encoder.layout().len()).map(|i| i as f32).collect();
    for slot in encoder.layout().slots() {
        assert_eq!(slot.param.of(&theta)[0], start as f32, "{} stands behind the one before it", slot.name);
        start += slot.shape.iter().product::<usize>();
    }
    assert_eq!(start, theta.len());
}

#[test]
fn weights_decay_and_embeddings_gains_and_biases_do_not() {
    for shape in shapes() {
        let encoder = TextEncoder::new(shape).expect("a shape without faults");
        for slot in encoder.layout().slots() {
            assert_eq!(slot.decays, slot.name.ends_with("weight"), "{}", slot.name);
        }
    }
}

#[test]
fn initial_numbers_are_those_of_earlier_versions() {
    let shape = TextShape { beside: None, ..tiny() };
    let theta = TextEncoder::new(shape).expect("a shape without faults").initialise(7);
    let sum: f64 = theta.iter().enumerate().map(|(i, &x)| f64::from(x) * (i as f64).sin()).sum();
    // A sum by place, so that an exchange of two draws is noticed, and the last bit of another libm's `ln` is not.
    assert!(theta.len() == 1920 && (sum - 9.008_567_406_572).abs() < 1e-6, "{} numbers, {sum}", theta.len());

    let with_table = TextEncoder::new(tiny()).expect("a shape without faults");
    let mlp = Mlp::new(beside(2)).expect("a shape without faults").initialise(batch::part_seed(7, [0]));
    let with_table = with_table.initialise(7);
    let (towers, others) = with_table.split_at(theta.len() - 2 * (15 + 1) * 3);
    assert!(theta.starts_with(towers) && others.starts_with(&mlp));
}

#[test]
fn an_impossible_shape_is_refused() {
    for shape in shapes() {
        assert_eq!(shape.fault(), None);
    }
    let with = |tower| TextShape { towers: vec![tower], ..wide(Pooling::Mean) };
    let good = tower(4, 2, 1, Pooling::Mean);
    let beside =
        |members, features| TextShape { beside: Some(MlpShape { members, features, ..beside(2) }), ..tiny() };
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
        let fault = shape.fault().expect("a fault");
        assert_eq!(TextEncoder::new(shape).err(), Some(fault));
    }
}

#[test]
fn hostile_shapes_are_refused_or_have_a_layout_without_being_allocated() {
    let many = 1_000_000_000_000;
    let one = tower(4, 1, 1, Pooling::Mean);
    let refused = [
        TextShape { towers: vec![TowerShape { blocks: many, ..one.clone() }], ..wide(Pooling::Mean) },
        TextShape { features: many, members: many, ..wide(Pooling::Mean) },
        TextShape { features: usize::MAX, members: usize::MAX, ..wide(Pooling::Mean) },
        TextShape { towers: vec![one.clone(); 1025], ..wide(Pooling::Mean) },
        TextShape {
            towers: vec![TowerShape { blocks: 1024, ..one.clone() }; 1024],
            features: 1024,
            members: 1024,
            ..wide(Pooling::Mean)
        },
    ];
    for shape in refused {
        assert!(TextEncoder::new(shape).is_err());
    }
    let huge = TowerShape { width: usize::MAX, feed_forward: usize::MAX, length: usize::MAX, ..one };
    let huge = TextShape { towers: vec![huge; 3], features: usize::MAX, ..wide(Pooling::MeanMax) };
    let encoder = TextEncoder::new(huge).expect("sizes alone are no fault");
    assert_eq!(encoder.layout().len(), usize::MAX);
}
