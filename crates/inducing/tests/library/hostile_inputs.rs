//! Files of models of texts, of graphs, of features from elsewhere and of custom encoders that no one wrote by
//! accident: right checksum, wrong contents (see `hostile_files.rs`).

use crate::fixture::{
    bytes, linear, model, noise, prepared, prepared_data, prepared_images, stripes, tiny, tiny_images,
    tiny_of, trained,
};
use crate::hostile_files::{altered_file, load};
use data::{Column, GraphSet, Table};
use inducing::Dataset;
use inducing::config::ProblemKind;
use serde_json::{Value, json};
use std::sync::LazyLock;

const SMALL: [&str; 7] = [
    "gp.inducing=4",
    "encoder.hidden=[4]",
    "encoder.features=4",
    "encoder.text.width=4",
    "encoder.text.heads=2",
    "encoder.text.feed_forward=4",
    "encoder.text.beside=2",
];

static TEXT: LazyLock<Vec<u8>> = LazyLock::new(|| of_texts(true));
static TEXT_ALONE: LazyLock<Vec<u8>> = LazyLock::new(|| of_texts(false));
static GRAPHS: LazyLock<Vec<u8>> = LazyLock::new(of_graphs);
static FEATURES: LazyLock<Vec<u8>> =
    LazyLock::new(|| bytes(&model(&linear(60, 0), &tiny(&["encoder.kind=identity", "gp.inducing=4"]))));

/// A model of twelve words, with a number beside them or not.
fn of_texts(beside: bool) -> Vec<u8> {
    let words = "a bad cat did eat fine good hats in june kept lies";
    let words: Vec<&str> = words.split(' ').collect();
    let code = |row: u64, k: u64| (12.0 * noise(8 * row + k)) as usize;
    let text = |row: u64| (0..5).map(|k| words[code(row, k)]).collect::<Vec<_>>().join(" ");
    let mut columns = vec![
        ("text".to_owned(), Column::Text((0..80).map(|row| Some(text(row))).collect())),
        ("y".to_owned(), Column::Number((0..80).map(|row| code(row, 0) as f64 + noise(row)).collect())),
    ];
    if beside {
        columns.push(("n".to_owned(), Column::Number((0..80).map(|row| noise(900 + row)).collect())));
    }
    let config = tiny_of(ProblemKind::TextRegression, &[&["data.target=[\"y\"]"], &SMALL[..]].concat());
    bytes(&model(&Table::new("memory", columns).expect("a table"), &config))
}

/// A model of paths and rings with two labels and an attribute of nodes.
fn of_graphs() -> Vec<u8> {
    let (graphs, each) = (60, 4);
    let neighbours = |node: usize| {
        let (ring, k) = ((node / each).is_multiple_of(2), node % each);
        let mut near = vec![(k + each - 1) % each, (k + 1) % each];
        near.retain(|&other| ring || k.abs_diff(other) == 1);
        near.sort_unstable();
        near.into_iter().map(|other| other as u32).collect::<Vec<_>>()
    };
    let lists: Vec<Vec<u32>> = (0..graphs * each).map(neighbours).collect();
    let mut starts = vec![0];
    lists.iter().for_each(|list| starts.push(starts[starts.len() - 1] + list.len()));
    let set = GraphSet {
        nodes: (0..=graphs).map(|graph| graph * each).collect(),
        neighbours: starts,
        edges: lists.concat(),
        node_labels: Some((0..graphs * each).map(|node| u32::from(noise(node as u64) < 0.5)).collect()),
        node_levels: ["C", "O"].map(String::from).into(),
        attributes: (0..graphs * each).map(|node| noise(5000 + node as u64) as f32).collect(),
        attribute_width: 1,
        labels: Some((0..graphs).map(|graph| (graph % 2) as u32).collect()),
        classes: ["path", "ring"].map(String::from).into(),
        origin: "memory".into(),
    };
    let small = ["gp.inducing=4", "encoder.features=4", "encoder.graph.width=4", "encoder.hidden=[4]"];
    let config = tiny_of(ProblemKind::Graphs, &small);
    let prepared = prepared_data(&Dataset::from_graphs(set), &config).expect("graphs to learn from");
    bytes(&trained(&prepared, &config, 1))
}

#[test]
fn files_that_are_only_rewritten_are_still_models() {
    for file in [&TEXT, &TEXT_ALONE, &GRAPHS, &FEATURES] {
        load(&altered_file(file, |_| {})).expect("without this the other tests prove nothing");
    }
}

#[track_caller]
fn refused(file: &[u8], alter: impl Fn(&mut Value)) {
    let error = load(&altered_file(file, alter)).map(|_| ()).expect_err("an impossible model");
    assert!(matches!(error, inducing::Error::File(_)), "{error}");
}

/// Far more than any address space holds, so that a test which fails does not fill the machine's memory first.
const HUGE: u64 = 1 << 50;

fn words(header: &mut Value) -> &mut Vec<Value> {
    tokenizer(header)["words"].as_array_mut().expect("words")
}

fn tokenizer(header: &mut Value) -> &mut Value {
    &mut header["schema"]["inputs"][0]["encoding"]["text"]["tokenizer"]
}

#[test]
fn towers_unlike_their_tokenizer_or_tensors_are_refused() {
    for (key, value) in [
        ("vocabulary", json!(13)),
        ("vocabulary", json!(0)),
        ("vocabulary", json!(u64::MAX)),
        ("length", json!(199)),
        ("length", json!(0)),
        ("width", json!(0)),
        ("width", json!(8)),
        ("heads", json!(0)),
        ("heads", json!(3)),
        ("heads", json!(8)),
        ("feed_forward", json!(0)),
        ("feed_forward", json!(5)),
        ("blocks", json!(0)),
        ("blocks", json!(2)),
        ("pooling", json!("mean_max")),
        ("pooling", json!("median")),
        ("surprise", json!(1)),
    ] {
        refused(&TEXT, |h| h["encoder"]["towers"][0][key] = value.clone());
    }
    refused(&TEXT, |h| h["encoder"]["towers"] = json!([]));
    refused(&TEXT, |h| {
        let tower = h["encoder"]["towers"][0].clone();
        h["encoder"]["towers"] = json!([tower, tower]);
    });
}

#[test]
fn towers_of_impossible_size_are_refused_without_making_room_for_them() {
    for key in ["vocabulary", "length", "width", "heads", "feed_forward", "blocks"] {
        for size in [HUGE, u64::MAX - 1, u64::MAX] {
            refused(&TEXT, |h| h["encoder"]["towers"][0][key] = json!(size));
        }
    }
    // Heads that divide the width, and a length that the tokenizer has too.
    refused(&TEXT, |h| {
        h["encoder"]["towers"][0]["width"] = json!(HUGE);
        h["encoder"]["towers"][0]["heads"] = json!(HUGE);
    });
    for length in [0, 65_536, 65_537, HUGE, u64::MAX] {
        refused(&TEXT, |h| {
            h["encoder"]["towers"][0]["length"] = json!(length);
            tokenizer(h)["length"] = json!(length);
        });
    }
}

#[test]
fn impossibly_many_members_and_features_are_refused_without_making_room_for_them() {
    for file in [&TEXT, &TEXT_ALONE, &GRAPHS] {
        for size in [0, 2, 3, HUGE, u64::MAX] {
            refused(file, |h| h["encoder"]["members"] = json!(size));
        }
        for size in [0, 5, HUGE, u64::MAX] {
            refused(file, |h| h["encoder"]["features"] = json!(size));
        }
        refused(file, |h| {
            h["encoder"]["members"] = json!(HUGE);
            h["encoder"]["features"] = json!(HUGE);
        });
    }
}

#[test]
fn impossible_words_are_refused() {
    refused(&TEXT, |h| words(h)[1] = words(h)[0].clone());
    refused(&TEXT, |h| words(h)[0] = json!(""));
    refused(&TEXT, |h| words(h)[0] = json!("x".repeat(129)));
    refused(&TEXT, |h| words(h)[0] = json!(7));
    refused(&TEXT, |h| words(h).clear());
    refused(&TEXT, |h| {
        words(h).pop();
    });
    refused(&TEXT, |h| words(h).push(json!("more")));
    // One word more or fewer in all places but the tensors.
    refused(&TEXT, |h| {
        words(h).push(json!("more"));
        h["encoder"]["towers"][0]["vocabulary"] = json!(words(h).len() + 2);
    });
    refused(&TEXT, |h| {
        words(h).clear();
        h["encoder"]["towers"][0]["vocabulary"] = json!(2);
    });
    refused(&TEXT, |h| tokenizer(h)["keep"] = json!("middle"));
    refused(&TEXT, |h| tokenizer(h)["surprise"] = json!(1));
}

#[test]
fn networks_beside_texts_that_contradict_the_columns_are_refused() {
    refused(&TEXT, |h| h["encoder"]["beside"] = json!(null));
    let header = std::cell::RefCell::new(Value::Null);
    altered_file(&TEXT, |h| *header.borrow_mut() = h.clone());
    let header = header.into_inner();
    let beside = &header["encoder"]["beside"];
    assert!(beside.is_object());
    refused(&TEXT_ALONE, |h| h["encoder"]["beside"] = beside.clone());
    refused(&TEXT_ALONE, |h| {
        h["encoder"]["beside"] = beside.clone();
        h["encoder"]["beside"]["width"] = json!(0);
        h["encoder"]["beside"]["numeric"] = json!(0);
    });
    // Columns that the network beside the texts knows, or the towers, without the columns themselves.
    let number = header["schema"]["inputs"].as_array().expect("a list")[1].clone();
    refused(&TEXT_ALONE, |h| h["schema"]["inputs"].as_array_mut().expect("a list").push(number.clone()));
    refused(&TEXT, |h| {
        h["schema"]["inputs"].as_array_mut().expect("a list").pop();
    });
    refused(&TEXT, |h| {
        h["schema"]["inputs"].as_array_mut().expect("a list").remove(0);
    });
    for (key, value) in [
        ("members", json!(0)),
        ("members", json!(2)),
        ("members", json!(HUGE)),
        ("features", json!(0)),
        ("features", json!(3)),
        ("features", json!(HUGE)),
        ("width", json!(2)),
        ("numeric", json!(0)),
        ("hidden", json!([])),
        ("hidden", json!([0])),
        ("hidden", json!([HUGE])),
        ("surprise", json!(1)),
    ] {
        refused(&TEXT, |h| h["encoder"]["beside"][key] = value.clone());
    }
}

#[test]
fn dropped_shares_outside_of_their_range_are_refused() {
    for share in [json!(-0.1), json!(1.0), json!(1e300), json!(null)] {
        refused(&TEXT, |h| h["encoder"]["dropout"] = share.clone());
        refused(&TEXT, |h| h["encoder"]["word_dropout"] = share.clone());
        refused(&GRAPHS, |h| h["encoder"]["dropout"] = share.clone());
    }
}

#[test]
fn graph_networks_unlike_their_schema_or_tensors_are_refused() {
    for (key, value) in [
        ("kind", json!("bag")),
        ("kind", json!("mlp")),
        ("inputs", json!(0)),
        ("inputs", json!(5)),
        ("inputs", json!(7)),
        ("width", json!(0)),
        ("width", json!(5)),
        ("rounds", json!(0)),
        ("rounds", json!(1)),
        ("rounds", json!(3)),
        ("node_pooling", json!("median")),
        ("hidden", json!([])),
        ("hidden", json!([0])),
        ("hidden", json!([5])),
        ("surprise", json!(1)),
    ] {
        refused(&GRAPHS, |h| h["encoder"][key] = value.clone());
    }
}

#[test]
fn graph_networks_of_impossible_size_are_refused_without_making_room_for_them() {
    for size in [HUGE, u64::MAX - 1, u64::MAX] {
        for key in ["inputs", "width", "rounds"] {
            refused(&GRAPHS, |h| h["encoder"][key] = json!(size));
        }
        refused(&GRAPHS, |h| h["encoder"]["hidden"] = json!([size]));
        refused(&GRAPHS, |h| h["encoder"]["hidden"] = json!([size, size, size]));
        refused(&GRAPHS, |h| {
            h["encoder"]["width"] = json!(size);
            h["encoder"]["rounds"] = json!(size);
        });
    }
}

#[test]
fn impossible_features_of_nodes_are_refused() {
    refused(&GRAPHS, |h| h["schema"]["degree"] = json!({ "one_hot": { "cap": 3 } }));
    refused(&GRAPHS, |h| h["schema"]["degree"] = json!({ "one_hot": { "cap": HUGE } }));
    refused(&GRAPHS, |h| {
        h["schema"]["degree"] = json!({ "one_hot": { "cap": HUGE } });
        h["encoder"]["inputs"] = json!(HUGE + 4);
    });
    refused(&GRAPHS, |h| h["schema"]["node_levels"] = json!(["C", "C"]));
    refused(&GRAPHS, |h| h["schema"]["node_levels"] = json!(["C"]));
    refused(&GRAPHS, |h| h["schema"]["attributes"] = json!([]));
    refused(&GRAPHS, |h| h["schema"]["surprise"] = json!(1));
    for (key, value) in [
        ("mean", json!(null)),
        ("mean", json!("much")),
        ("std", json!(null)),
        ("std", json!(0.0)),
        ("std", json!(-1.0)),
    ] {
        refused(&GRAPHS, |h| h["schema"]["attributes"][0][key] = value.clone());
        refused(&GRAPHS, |h| {
            h["schema"]["degree"] = json!({ "number": { "mean": 0.0, "std": 1.0 } });
            h["schema"]["node_levels"] = json!(["C", "O", "a", "b"]); // as many numbers a node as before
            h["schema"]["degree"]["number"][key] = value.clone();
        });
    }
}

/// The number of indicators must not wrap around: 2⁶⁴ − 1 and one more are none, and labels fill the width up.
#[test]
fn a_degree_beyond_all_numbers_is_refused() {
    refused(&GRAPHS, |h| h["schema"]["degree"] = json!({ "one_hot": { "cap": u64::MAX } }));
    refused(&GRAPHS, |h| {
        h["schema"]["degree"] = json!({ "one_hot": { "cap": u64::MAX } });
        h["schema"]["node_levels"] = json!(["C", "O", "a", "b", "c"]);
    });
}

#[test]
fn classes_of_graphs_that_contradict_the_tensors_are_refused() {
    refused(&GRAPHS, |h| h["schema"]["classes"] = json!(["path"]));
    refused(&GRAPHS, |h| h["schema"]["classes"] = json!(["path", "path"]));
    refused(&GRAPHS, |h| h["schema"]["counts"] = json!([1]));
    refused(&GRAPHS, |h| {
        h["schema"]["classes"] = json!(["path", "ring", "star"]);
        h["schema"]["counts"] = json!([1, 1, 1]);
    });
}

#[test]
fn features_unlike_the_width_are_refused() {
    for size in [0, 1, 3, HUGE, u64::MAX] {
        refused(&FEATURES, |h| h["encoder"]["features"] = json!(size));
    }
    // A width that the feature scale has too, but not the table.
    refused(&FEATURES, |h| {
        h["encoder"]["features"] = json!(3);
        h["feature_scale"]["shift"] = json!([0.0, 0.0, 0.0]);
    });
    refused(&FEATURES, |h| {
        h["schema"]["inputs"].as_array_mut().expect("a list").pop();
    });
}

#[test]
fn networks_of_another_kind_of_input_are_refused() {
    let shape = |file: &[u8], key: &str| {
        let found = std::cell::RefCell::new(Value::Null);
        altered_file(file, |h| *found.borrow_mut() = h[key].clone());
        found.into_inner()
    };
    let files = [&TEXT, &TEXT_ALONE, &GRAPHS, &FEATURES];
    for (i, ours) in files.iter().enumerate() {
        for (j, other) in files.iter().enumerate().filter(|(j, _)| *j != i) {
            for key in ["encoder", "schema"] {
                let other = shape(other, key);
                let file = altered_file(ours, |h| h[key] = other.clone());
                assert!(matches!(load(&file), Err(inducing::Error::File(_))), "{i} with `{key}` of {j}");
            }
        }
    }
}

/// The widths agree; a dense network still cannot read nodes.
#[test]
fn a_dense_network_for_graphs_is_refused() {
    let config = tiny_images(&["encoder.hidden=[4]", "encoder.features=4", "gp.inducing=4"]);
    let prepared = prepared_images(&stripes(60, 3, 0), &config).expect("images to learn from");
    refused(&bytes(&trained(&prepared, &config, 1)), |h| {
        h["schema"] = json!({
            "degree": { "one_hot": { "cap": 107 } }, "node_levels": [], "attributes": [],
            "classes": ["left", "middle", "right"], "counts": [1, 1, 1]
        });
    });
}

/// The widths agree; the features of nodes are still not those of a graph.
#[test]
fn features_from_elsewhere_for_graphs_are_refused() {
    let classes = ["low", "top"];
    let config = crate::fixture::tiny_classes(&["encoder.kind=identity", "gp.inducing=4"]);
    let prepared = prepared(&crate::fixture::classes(80, &classes, 0), &config).expect("a table");
    refused(&bytes(&trained(&prepared, &config, 1)), |h| {
        h["schema"] = json!({
            "degree": { "one_hot": { "cap": 1 } }, "node_levels": [], "attributes": [],
            "classes": classes, "counts": [1, 1]
        });
    });
}

#[test]
fn files_of_custom_encoders_are_refused() {
    let targets = json!([{ "name": "y", "mean": 0.0, "std": 1.0 }]);
    let own = |features: u64| json!({ "own": "Stranger", "features": features, "shape": [HUGE, HUGE] });
    for features in [0, 2, HUGE, u64::MAX] {
        refused(&FEATURES, |h| {
            h["schema"] = json!({ "own": "Stranger", "targets": targets });
            h["encoder"] = own(features);
        });
        refused(&FEATURES, |h| h["encoder"] = own(features));
    }
    refused(&FEATURES, |h| h["schema"] = json!({ "own": "Stranger", "targets": targets }));
}

#[test]
fn no_flipped_bit_goes_unnoticed() {
    for file in [&TEXT, &GRAPHS] {
        for bit in (0..8 * file.len()).step_by(8 * file.len() / 400 + 1) {
            let mut flipped = file.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(load(&flipped).is_err(), "bit {} of byte {}", bit % 8, bit / 8);
        }
    }
}
