//! Models of classes and their files: of tables and images, with every head.

use crate::fixture::{
    bytes, classes, encoded, encoded_images, on_threads, predict_classes, prepared, prepared_images,
    reordered, stripes, tiny_classes, tiny_images, trained,
};
use data::{Column, Table};
use inducing::Model;
use inducing::dataset::Inputs;

const THREE: [&str; 3] = ["low", "middle", "top"];

/// What stands on the features.
const HEADS: [&[&str]; 6] = [
    &[],
    &["head=softmax"],
    &["gp.multiclass=independent"],
    &["gp.link=probit"],
    &["gp.link=probit", "gp.coupling=batch"],
    &["gp.precision=f32", "gp.jitter=1e-3"],
];

/// A small convolutional network.
const CNN: [&str; 3] = ["encoder.kind=cnn", "encoder.stem=8", "encoder.blocks=[8]"];

/// Saves and loads; expects the same bits and the same bytes.
#[track_caller]
fn assert_survives(before: &Model, inputs: &Inputs, what: &dyn std::fmt::Debug) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("m.ign");
    before.save(&path).expect("a temporary folder is writable");
    for threads in [1, 2] {
        let after = on_threads(threads, || Model::load(&path)).expect("what was saved can be loaded");
        assert_eq!(before.header(), after.header());
        assert!(before.heads().eq(after.heads()));
        assert_eq!(before.parameters(), after.parameters());
        assert_eq!(predict_classes(before, inputs), predict_classes(&after, inputs), "{what:?}");
        assert_eq!(bytes(before), bytes(&after), "{what:?}");
    }
}

#[test]
fn a_loaded_model_of_a_table_s_classes_predicts_the_same_bits() {
    for names in [&THREE[..], &["no", "yes"]] {
        let table = classes(200, names, 0);
        for more in HEADS {
            let config = tiny_classes(more);
            let prepared = prepared(&table, &config).expect("a table to learn from");
            let model = trained(&prepared, &config, 1);
            assert_survives(&model, &encoded(&model, &table), &more);
        }
    }
}

#[test]
fn a_loaded_model_of_images_predicts_the_same_bits() {
    for channels in [1, 3] {
        let set = stripes(90, channels, 0);
        let more = HEADS.into_iter().chain([&["encoder.augment=false"][..], &CNN]);
        for more in more.chain([&["gp.multiclass=independent", CNN[0], CNN[1], CNN[2]][..]]) {
            let config = tiny_images(more);
            let prepared = prepared_images(&set, &config).expect("images to learn from");
            let model = trained(&prepared, &config, 1);
            assert_survives(&model, &encoded_images(&model, &set), &more);
        }
    }
}

#[test]
fn independent_networks_have_parameters_of_their_own_and_two_classes_need_one() {
    let config = tiny_classes(&["gp.multiclass=independent"]);
    let heads = |names: &[&str]| {
        let prepared = prepared(&classes(200, names, 0), &config).expect("a table to learn from");
        trained(&prepared, &config, 1).heads().cloned().collect::<Vec<_>>()
    };
    let three = heads(&THREE);
    assert_eq!((three.len(), heads(&["no", "yes"]).len()), (3, 1));
    assert!(three[0].z != three[1].z && three[1].z != three[2].z);
    assert!(three.iter().all(|head| head.b.len() == 1 && head.log_sigma.is_empty()));
}

#[test]
fn probabilities_of_every_head_are_probabilities() {
    let table = classes(200, &THREE, 0);
    for more in HEADS {
        let config = tiny_classes(more);
        let model = trained(&prepared(&table, &config).expect("a table"), &config, 1);
        let prediction = predict_classes(&model, &encoded(&model, &table));
        assert_eq!((prediction.classes, prediction.p.len()), (3, 600));
        for p in prediction.p.chunks(3) {
            assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{more:?}: {p:?}");
            assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{more:?}: {p:?}");
        }
        let spread = prediction.latent_spread();
        let softmax = more == ["head=softmax"];
        assert!(
            spread.iter().all(|s| s.is_finite() && if softmax { *s == 0.0 } else { *s > 0.0 }),
            "{more:?}"
        );
        assert!(prediction.entropy().iter().all(|h| (0.0..=3.0_f64.ln() + 1e-12).contains(h)), "{more:?}");
    }
}

/// f32 features may be summed in another order when a row stands elsewhere in its block.
#[test]
fn a_row_alone_is_predicted_as_among_others() {
    let table = classes(200, &THREE, 0);
    let config = tiny_classes(&[]);
    let model = trained(&prepared(&table, &config).expect("a table"), &config, 1);
    let x = encoded(&model, &table);
    let all = predict_classes(&model, &x);
    for row in [0, 99, 199] {
        let alone = predict_classes(&model, &reordered(&x, &[row]));
        for (alone, among) in alone.p.iter().zip(&all.p[3 * row..]) {
            assert!((alone - among).abs() < 1e-4, "{alone} {among}");
        }
    }
    assert_eq!(predict_classes(&model, &reordered(&x, &[])).p, [] as [f64; 0]);
}

#[test]
fn classes_with_names_of_any_letters_survive() {
    let names = ["", "größe \"in\" \\ m²", "y,\n z"];
    let table = classes(200, &names, 0);
    let config = tiny_classes(&[]);
    let model = trained(&prepared(&table, &config).expect("a table"), &config, 1);
    assert_survives(&model, &encoded(&model, &table), &names);
    let mut known = model.header().schema.classes().expect("classes").to_vec();
    known.sort();
    assert_eq!(known, names);
}

/// Rows without a label belong to no part, and the others are split by class.
#[test]
fn rows_without_a_label_are_not_trained_on() {
    let whole = classes(200, &THREE, 0);
    let columns = whole.names().iter().zip(whole.columns()).map(|(name, column)| {
        let column = match column {
            Column::Category { codes, levels } => {
                let codes =
                    codes.iter().enumerate().map(|(row, code)| code.filter(|_| row % 4 > 0)).collect();
                Column::Category { codes, levels: levels.clone() }
            }
            other => other.clone(),
        };
        (name.clone(), column)
    });
    let table = Table::new("memory", columns.collect()).expect("a table");
    let config = tiny_classes(&["data.test_share=0.2"]);
    let prepared = prepared(&table, &config).expect("a table to learn from");
    assert_eq!(prepared.rows().iter().sum::<usize>(), 150);
    let counts = prepared.schema.class_counts();
    assert_eq!(counts.iter().sum::<usize>(), prepared.rows()[0]);
    trained(&prepared, &config, 1);
}
