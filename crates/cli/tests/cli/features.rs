//! Features that were computed elsewhere: `.npy` files, and columns with `--encoder identity`.

use crate::folder::Folder;
use crate::tables::{header, labelled, linear, linear_row};

/// A `.npy` file of format 1.0.
fn npy(kind: &str, shape: &str, bytes: Vec<u8>) -> Vec<u8> {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    file
}

fn features(rows: usize) -> Vec<u8> {
    let values = (0..rows).flat_map(|row| [linear_row(row).0 as f32, linear_row(row).1 as f32]);
    npy("<f4", &format!("({rows}, 2)"), values.flat_map(f32::to_le_bytes).collect())
}

fn classes(rows: usize) -> Vec<u8> {
    let values = (0..rows).map(|row| i64::from(linear_row(row).2 > 0.5));
    npy("<i8", &format!("({rows},)"), values.flat_map(i64::to_le_bytes).collect())
}

#[test]
fn features_and_labels_of_numpy_are_learned_without_a_network() {
    let folder = Folder::new();
    folder.write("x.npy", features(300));
    folder.write("label.npy", classes(300));
    folder
        .ign("train x.npy --target label.npy --encoder identity -o m.ign --quiet --set gp.inducing=32")
        .succeeds();
    let scores = folder.ign("evaluate m.ign x.npy --target label.npy --json").succeeds().json();
    assert!(scores["accuracy"].as_f64().expect("a number") > 0.9, "{scores}");
    let out = folder.ign("predict --columns all m.ign x.npy").succeeds().stdout;
    assert_eq!(header(&out)[..3], ["label", "p_0", "p_1"]);
    let info = folder.ign("info m.ign").succeeds().stdout;
    assert!(info.contains("the 2 inputs themselves"), "{info}");
    folder.write("label.npy", classes(299));
    folder.refuses_to_train("x.npy --target label.npy --encoder identity -o m.ign", &["299", "300"]);
    folder.refuses("evaluate m.ign x.npy --target x0", &["x0", ".npy"]);
    folder.write("x.npy", &features(300)[..1000]);
    folder.refuses("predict --columns all m.ign x.npy", &["x.npy"]);
}

#[test]
fn columns_can_be_features_too_of_numbers_and_of_classes() {
    let folder = Folder::new();
    folder.write("t.csv", linear(300));
    folder.ign("train t.csv --target y --encoder identity -o m.ign --quiet --set gp.inducing=32").succeeds();
    let r2 = folder.ign("evaluate m.ign t.csv --json").succeeds().json()["r2"].as_f64().expect("a number");
    assert!(r2 > 0.9, "{r2}");
    folder.write("u.csv", labelled(300, &["low", "mid", "top"]));
    for more in ["", "--head softmax", "--multiclass independent"] {
        folder.train(&format!("u.csv --target y --encoder identity -o n.ign --quiet {more}")).succeeds();
        folder.ign("predict --columns all n.ign u.csv").succeeds();
    }
}
