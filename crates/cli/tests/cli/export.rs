//! `ign export`: what is written, and what cannot be. What the graphs compute is the business of `oracle/check-onnx`.

use crate::folder::Folder;
use crate::tables::linear;

#[test]
fn a_model_becomes_one_file_that_is_the_same_every_time() {
    let folder = Folder::with_model();
    let run = folder.ign("export m.ign --onnx m.onnx").succeeds();
    assert!(run.stdout.is_empty() && run.stderr.contains("m.onnx"), "{}", run.stderr);
    let bytes = folder.read("m.onnx");
    // The version of the layout, then the producer: what every reader looks at first.
    assert_eq!(bytes[..7], [0x08, 9, 0x12, 3, b'i', b'g', b'n']);
    let run = folder.ign("export m.ign --onnx again.onnx --quiet").succeeds();
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    assert!(bytes == folder.read("again.onnx"));
    folder.ign("export m.ign --onnx fewer.onnx --quantiles 0.5").succeeds();
    folder.ign("export m.ign --onnx features.onnx --features --quantiles=").succeeds();
    assert!(folder.read("features.onnx").len() < folder.read("fewer.onnx").len());
}

#[test]
fn a_model_that_keeps_rows_says_that_they_are_in_the_file() {
    let folder = Folder::new();
    folder.write("t.csv", linear(120));
    let small = "--set train.crossfit_folds=2 --set train.crossfit_repeats=1 --set neighbours.count=32";
    folder.train(&format!("t.csv --target y -o m.ign --no-report --quiet {small}")).succeeds();
    let run = folder.ign("export m.ign --onnx m.onnx").succeeds();
    assert!(run.stderr.contains("training rows are in the file"), "{}", run.stderr);
}

#[test]
fn texts_and_graphs_are_refused_before_anything_is_written() {
    let folder = Folder::new();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../inducing/tests/golden/");
    for (name, what) in [("v7-text.ign", "texts"), ("v7-graphs.ign", "graphs")] {
        folder.write(name, std::fs::read(format!("{golden}{name}")).expect("part of the repository"));
        folder.refuses(&format!("export {name} --onnx m.onnx"), &[what, "cannot be exported", "ign predict"]);
    }
}

#[test]
fn options_that_do_not_suit_are_refused() {
    let folder = Folder::with_model();
    folder.refuses("export m.ign", &["--onnx"]);
    folder.refuses("export none.ign --onnx m.onnx", &["none.ign"]);
    folder.refuses("export t.csv --onnx m.onnx", &["t.csv", "not an ign model file"]);
    folder.refuses("export m.ign --onnx m.ign", &["m.ign", "overwrite the input"]);
    folder.refuses("export m.ign --onnx none/m.onnx", &["none/m.onnx", "there is no folder none"]);
    folder.refuses("export m.ign --onnx m.onnx --array --features", &["--array", "--features"]);
    for wrong in ["0", "1", "1.5", "-0.1", "NaN", "half", "0.5,2"] {
        folder.refuses(
            &format!("export m.ign --onnx m.onnx --quantiles={wrong}"),
            &["--quantiles", "between 0 and 1"],
        );
    }
}

#[test]
fn classes_have_no_quantiles() {
    let folder = Folder::new();
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/../inducing/tests/golden/v7-classes.ign");
    folder.write("m.ign", std::fs::read(golden).expect("part of the repository"));
    folder.refuses("export m.ign --onnx m.onnx --quantiles 0.5", &["classes have no quantiles"]);
    folder.ign("export m.ign --onnx m.onnx").succeeds();
}
