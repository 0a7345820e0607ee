//! Names, shapes and initial values of the parameters: model files depend on them.

use super::*;
use safetensors::SafeTensors;

fn names(shape: GraphShape) -> Vec<(String, Vec<usize>, bool)> {
    let encoder = GraphEncoder::new(shape).expect("a sound shape");
    let slots = encoder.layout().slots();
    slots.iter().map(|slot| (slot.name.clone(), slot.shape.clone(), slot.decays)).collect()
}

fn expected(list: &[(&str, [usize; 3])]) -> Vec<(String, Vec<usize>, bool)> {
    list.iter().map(|(name, shape)| ((*name).into(), shape.to_vec(), name.ends_with("weight"))).collect()
}

#[test]
fn the_layout_is_that_of_model_files() {
    let gin = [
        ("rounds.0.first.weight", [2, 3, 4]),
        ("rounds.0.first.bias", [2, 1, 4]),
        ("rounds.0.second.weight", [2, 4, 4]),
        ("rounds.0.second.bias", [2, 1, 4]),
        ("rounds.0.epsilon", [2, 1, 1]),
        ("rounds.1.first.weight", [2, 4, 4]),
        ("rounds.1.first.bias", [2, 1, 4]),
        ("rounds.1.second.weight", [2, 4, 4]),
        ("rounds.1.second.bias", [2, 1, 4]),
        ("rounds.1.epsilon", [2, 1, 1]),
        ("layers.0.weight", [2, 11, 5]),
        ("layers.0.bias", [2, 1, 5]),
        ("layers.1.weight", [2, 5, 2]),
        ("layers.1.bias", [2, 1, 2]),
    ];
    assert_eq!(names(shape(GraphKind::Gin)), expected(&gin));
    let bag = [
        ("rounds.0.first.weight", [2, 3, 4]),
        ("rounds.0.first.bias", [2, 1, 4]),
        ("rounds.1.first.weight", [2, 7, 4]),
        ("rounds.1.first.bias", [2, 1, 4]),
        ("last.weight", [2, 7, 4]),
        ("last.bias", [2, 1, 4]),
        ("layers.0.weight", [2, 4, 5]),
        ("layers.0.bias", [2, 1, 5]),
        ("layers.1.weight", [2, 5, 2]),
        ("layers.1.bias", [2, 1, 2]),
    ];
    assert_eq!(names(shape(GraphKind::Bag)), expected(&bag));
}

/// The file's tensors stand in alphabetical order.
#[test]
fn a_model_file_of_version_3_holds_the_same_parameters() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/v3-graphs.ign");
    let bytes = std::fs::read(path).expect("a golden file");
    let file = SafeTensors::deserialize(&bytes).expect("safetensors");
    let held = |name: &str| file.tensor(&format!("encoder.{name}")).map(|tensor| tensor.shape().to_vec());
    let encoder = GraphEncoder::new(GraphShape { inputs: 8, hidden: vec![4], ..shape(GraphKind::Gin) });
    let encoder = encoder.expect("a sound shape");
    for slot in encoder.layout().slots() {
        assert_eq!(held(&slot.name).expect("a tensor of this name"), slot.shape, "{}", slot.name);
    }
    let count = file.names().iter().filter(|name| name.starts_with("encoder.")).count();
    assert_eq!(count, encoder.layout().slots().len());
}

/// One stream of random numbers, weight after weight, as the first version of the format's program drew them.
#[test]
fn initial_weights_are_uniform_draws_in_the_order_of_the_layout() {
    for shape in KINDS.into_iter().flat_map(shapes) {
        let encoder = GraphEncoder::new(shape).expect("a sound shape");
        let theta = encoder.initialise(7);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut expected = Vec::new();
        for slot in encoder.layout().slots() {
            let bound = (6.0 / (slot.shape[1] + slot.shape[2]) as f32).sqrt();
            let mut draw = || if slot.decays { rng.random_range(-bound..bound) } else { 0.0 };
            expected.extend((0..slot.shape.iter().product()).map(|_| draw()));
        }
        assert_eq!(theta, expected);
        assert!(theta != encoder.initialise(8));
    }
}
