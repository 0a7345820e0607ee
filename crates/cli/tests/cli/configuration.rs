//! Presets, files, single keys: what counts over what, and that the model remembers it.

use crate::folder::Folder;
use crate::tables::linear;

fn with_table() -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", linear(80));
    folder
}

#[test]
fn a_file_holds_a_whole_run_and_single_keys_overrule_it() {
    let folder = with_table();
    folder.write(
        "run.toml",
        "seed = 5\n[data]\ntarget = [\"y\"]\nignore = [\"b\"]\n[encoder]\nhidden = [8]\nfeatures = 4\nmembers = 1\n\
         [gp]\ninducing = 8\n[train]\nepochs = 3\npretrain_epochs = 1\npretrain_min_steps = 0\n",
    );
    folder.ign("train t.csv --config run.toml --set train.epochs=1 --quiet -o m.ign").succeeds();
    let header = folder.ign("info m.ign --json").succeeds().json();
    let config = &header["config"];
    assert_eq!((&config["seed"], &config["train"]["epochs"]), (&5.into(), &1.into()));
    assert_eq!(config["encoder"]["hidden"], serde_json::json!([8]));
    assert_eq!(header["schema"]["inputs"].as_array().expect("a list").len(), 1, "`b` is ignored");
    folder
        .ign("train t.csv --config run.toml --seed 6 --target y,b --set data.ignore=[] --quiet -o n.ign")
        .succeeds();
    let config = &folder.ign("info n.ign --json").succeeds().json()["config"];
    assert_eq!((&config["seed"], &config["train"]["epochs"]), (&6.into(), &3.into()));
    assert_eq!(config["data"]["target"], serde_json::json!(["y", "b"]));
}

#[test]
fn the_paper_preset_trains_on_all_rows_without_stopping_or_mending() {
    let folder = with_table();
    folder.ign("train t.csv --target y --preset paper --set train.epochs=1 --set gp.inducing=16 --quiet -o m.ign").succeeds();
    let header = folder.ign("info m.ign --json").succeeds().json();
    assert_eq!(header["rows"], serde_json::json!([80, 0, 0]));
    assert_eq!(header["encoder"]["hidden"], serde_json::json!([128, 128, 128]));
    assert_eq!(header["kernel"], serde_json::json!({ "family": "rbf", "scale": 1.0, "gamma": 1.0 }));
    assert_eq!(header["calibration"], serde_json::json!([inducing::model::Calibration::none()]));
    folder.write(
        "run.toml",
        "preset = \"paper\"\n[train]\nepochs = 1\n[gp]\ninducing = 16\n[data]\ntarget = [\"y\"]\n",
    );
    folder.ign("train t.csv --config run.toml --quiet -o n.ign").succeeds();
    assert_eq!(folder.read("m.ign"), folder.read("n.ign"), "the file can name the preset");
}

#[test]
fn column_types_and_missing_values_can_be_told() {
    let folder = Folder::new();
    let mut text = "code,a,y\n".to_owned();
    for (row, line) in linear(90).lines().skip(1).enumerate() {
        let mut cells: Vec<&str> = line.split(',').collect();
        if row % 8 == 3 {
            cells[0] = "-999";
        }
        text += &format!("{},{},{}\n", row % 3, cells[0], cells[2]);
    }
    folder.write("t.csv", text);
    folder.write(
        "run.toml",
        "[data]\ntarget = [\"y\"]\nmissing_values = [\"-999\"]\n[data.columns]\ncode = \"category\"\n",
    );
    let run = folder.train("t.csv --config run.toml -o m.ign").succeeds();
    assert!(
        run.stderr.contains("column `a`: ") && run.stderr.contains("missing values are filled in"),
        "{}",
        run.stderr
    );
    let info = folder.ign("info m.ign").succeeds().stdout;
    assert!(info.contains("code (category), a (number)"), "{info}");
    folder.ign("predict m.ign t.csv").succeeds(); // the model knows what -999 means
}

#[test]
fn the_configuration_that_info_prints_is_a_configuration() {
    let folder = with_table();
    folder.train("t.csv --target y --quiet -o m.ign").succeeds();
    let info = folder.ign("info m.ign").succeeds().stdout;
    let (_, config) = info.split_once("configuration\n").expect("the configuration stands at the end");
    folder.write("run.toml", config);
    folder.ign("train t.csv --config run.toml --quiet -o n.ign").succeeds();
    assert_eq!(folder.read("m.ign"), folder.read("n.ign"));
}

#[test]
fn keys_of_earlier_versions_go_on_working_and_are_told_their_new_names_once() {
    let folder = with_table();
    let old = "--set train.warm_epochs=2 --set train.warm_steps=0 --set train.reseed=false --set train.epochs=2 \
        --set gp.inducing=8 --set encoder.tables=false";
    let run = folder.ign(&format!("train t.csv --target y -o old.ign --no-report {old}")).succeeds();
    for (old, new) in [
        ("train.warm_epochs", "train.pretrain_epochs"),
        ("train.warm_steps", "train.pretrain_min_steps"),
        ("train.reseed", "train.reinitialise_unused"),
        ("encoder.tables", "encoder.lookup"),
    ] {
        let told = format!("`{old}` is now called `{new}`");
        assert_eq!(run.stderr.matches(&told).count(), 1, "{}", run.stderr);
    }
    let new = "--set train.pretrain_epochs=2 --set train.pretrain_min_steps=0 --set train.reinitialise_unused=false \
        --set train.epochs=2 --set gp.inducing=8 --set encoder.lookup=false";
    let run = folder.ign(&format!("train t.csv --target y -o new.ign --no-report {new}")).succeeds();
    assert!(!run.stderr.contains("is now called"), "{}", run.stderr);
    assert!(folder.read("old.ign") == folder.read("new.ign"), "the same run by either name");
}
