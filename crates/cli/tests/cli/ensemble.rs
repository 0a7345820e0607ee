//! The preset `ensemble`: members, neighbours, densities.

use crate::folder::Folder;
use crate::tables::{column, linear};

const ENSEMBLE: &str = "--preset ensemble --set train.crossfit_folds=2 --set train.crossfit_repeats=1";

#[test]
fn an_ensemble_is_trained_reported_and_predicts_densities() {
    let folder = Folder::new();
    folder.write("t.csv", linear(120));
    let run = folder.train(&format!("t.csv --target y -o m.ign {ENSEMBLE}")).succeeds();
    assert!(run.stdout.contains("out of fold"), "{}", run.stdout);
    assert!(folder.text("m.report.html").contains("members of the ensemble that never saw it"));
    assert!(folder.ign("info m.ign").succeeds().stdout.contains("2 cross-fitted members"));
    let out =
        folder.ign("predict m.ign t.csv --interval 0.9 --quantiles 0.5 --density 400").succeeds().stdout;
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
    folder.refuses("predict m.ign t.csv --density 1", &["--density", "2"]);
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
    let out = folder.ign("predict without.ign t.csv").succeeds().stdout;
    assert!(out.starts_with("mean,std,std_latent\n"), "{}", &out[..80]);
}
