//! Members, neighbours, densities; rows that join later.

use crate::folder::Folder;
use crate::tables::{column, linear};

const ENSEMBLE: &str =
    "--set train.crossfit_folds=2 --set train.crossfit_repeats=1 --set neighbours.count=32";

#[test]
fn an_ensemble_is_trained_reported_and_predicts_densities() {
    let folder = Folder::new();
    folder.write("t.csv", linear(120));
    let run = folder.train(&format!("t.csv --target y -o m.ign {ENSEMBLE}")).succeeds();
    assert!(run.stdout.contains("out of fold"), "{}", run.stdout);
    assert!(folder.text("m.report.html").contains("members of the ensemble that never saw it"));
    assert!(folder.ign("info m.ign").succeeds().stdout.contains("2 cross-fitted members"));
    let out = folder
        .ign("predict --columns all m.ign t.csv --interval 0.9 --quantiles 0.5 --density 400")
        .succeeds()
        .stdout;
    let names: Vec<&str> = out.lines().next().expect("a header").split(',').collect();
    assert_eq!(&names[..7], ["mean", "std", "std_latent", "familiarity", "lower_90", "upper_90", "q50"]);
    assert_eq!(names.len(), 7 + 400);
    let [low, middle, high] = ["lower_90", "q50", "upper_90"].map(|name| column(&out, name));
    assert!((0..120).all(|i| low[i] < middle[i] && middle[i] < high[i]));
    // The densities of a row sum to one over their grid.
    let grid: Vec<f64> = names[7..]
        .iter()
        .map(|name| name.trim_start_matches("density_").parse().expect("a number"))
        .collect();
    let row: Vec<f64> =
        out.lines().nth(60).expect("a row").split(',').map(|cell| cell.parse().expect("a number")).collect();
    let total: f64 = row[7..].iter().sum::<f64>() * (grid[1] - grid[0]);
    assert!((total - 1.0).abs() < 0.1, "{total}");
    folder.ign("evaluate m.ign t.csv").succeeds();
    folder.refuses("predict --columns all m.ign t.csv --density 1", &["--density", "2"]);
}

#[test]
fn without_neighbours_the_file_is_smaller_and_says_nothing_of_familiarity() {
    let folder = Folder::new();
    folder.write("t.csv", linear(600));
    folder.train(&format!("t.csv --target y -o with.ign --no-report --quiet {ENSEMBLE}")).succeeds();
    let train =
        format!("t.csv --target y -o without.ign --no-report --quiet {ENSEMBLE} --without-neighbours");
    folder.train(&train).succeeds();
    assert!(folder.read("without.ign").len() + 600 * 8 < folder.read("with.ign").len());
    let out = folder.ign("predict --columns all without.ign t.csv").succeeds().stdout;
    assert!(out.starts_with("mean,std,std_latent\n"), "{}", &out[..80]);
}

#[test]
fn new_rows_join_a_model_and_their_worth_is_told() {
    let folder = Folder::new();
    folder.write("t.csv", linear(120));
    let all = linear(180);
    let more = all.lines().take(1).chain(all.lines().skip(121)).collect::<Vec<_>>().join("\n");
    folder.write("more.csv", more + "\n");
    folder.train(&format!("t.csv --target y -o m.ign --no-report --quiet {ENSEMBLE}")).succeeds();
    let before = folder.read("m.ign");
    let run = folder.ign("update m.ign more.csv --dry-run").succeeds();
    assert!(run.stdout.contains("60 rows would be added"), "{}", run.stdout);
    assert_eq!(folder.read("m.ign"), before);
    let json = folder.ign("update m.ign more.csv -o n.ign --json").succeeds().json();
    assert_eq!((&json["added"], &json["kept"]), (&60.into(), &180.into()));
    assert!(json["before"]["rmse"].is_f64() && json["after"]["rmse"].is_f64(), "{json}");
    assert_eq!(folder.read("m.ign"), before);
    folder.ign("predict --columns all n.ign t.csv").succeeds();
    assert!(folder.ign("info n.ign").succeeds().stdout.contains("180 training"));
    let run = folder.ign("update m.ign more.csv").succeeds();
    assert!(run.stdout.contains("60 rows added, 180 kept"), "{}", run.stdout);
    assert_eq!(folder.read("m.ign"), folder.read("n.ign"));
    let run = folder.ign("update m.ign more.csv").succeeds();
    assert!(run.stdout.contains("in the model already"), "{}", run.stdout);
    assert_eq!(folder.read("m.ign"), folder.read("n.ign"));
    folder.refuses("update m.ign more.csv -o more.csv", &["more.csv", "overwrite"]);
}

#[test]
fn an_update_that_cannot_be_is_refused_and_leaves_the_model_alone() {
    let folder = Folder::new();
    folder.write("t.csv", linear(80));
    folder.train(&format!("t.csv --target y -o m.ign --no-report --quiet {ENSEMBLE}")).succeeds();
    folder.train("t.csv --target y -o plain.ign --no-report --quiet").succeeds();
    folder.write("other.csv", "q,y\n1,2\n3,4\n");
    folder.write("none.csv", linear(2).lines().next().expect("a header").to_owned() + "\n");
    let before = folder.read("m.ign");
    folder.refuses("update plain.ign t.csv", &["keeps no training rows", "--without-neighbours"]);
    folder.refuses("update m.ign other.csv", &["other.csv"]);
    folder.refuses("update m.ign none.csv", &["none.csv"]);
    folder.refuses("update m.ign nowhere.csv", &["nowhere.csv"]);
    assert_eq!(folder.read("m.ign"), before);
}

#[test]
fn rows_unlike_the_training_rows_are_told_apart_for_numbers_too() {
    let folder = Folder::new();
    folder.write("t.csv", linear(200));
    folder.train(&format!("t.csv --target y -o m.ign --no-report --quiet {ENSEMBLE}")).succeeds();
    let mut lines = linear(50).lines().map(str::to_owned).collect::<Vec<_>>().into_iter();
    let header = lines.next().expect("a header");
    let columns = header.split(',').count();
    let far = format!("{header}\n{}\n", vec![vec!["5000"; columns].join(","); 20].join("\n"));
    folder.write("far.csv", far);
    let json = folder.ign("evaluate m.ign t.csv --ood far.csv --json").succeeds().json();
    for sign in ["std", "std_latent", "familiarity"] {
        assert!(json["ood"][sign]["auroc"].as_f64().is_some_and(|area| area > 0.99), "{sign}: {json}");
    }
}
