//! Tables that do not fit into memory: a sample is loaded, and networks read the rest.

use crate::fixture::{bytes, noise, normal};
use inducing::model::Score;
use inducing::{Dataset, Error, Model, Settings, Trainer};
use std::fmt::Write;
use std::path::Path;

/// `count` files of `rows` rows each: `y` is a wave of `x`, with noise .1, and `c` says in words whether it is high.
pub(crate) fn shards(folder: &Path, count: usize, rows: usize) -> String {
    for file in 0..count {
        let mut text = "x,z,colour,w,y,c\n".to_owned();
        for row in 0..rows {
            let at = (file * rows + row) as u64;
            let (x, z) = (6.0 * noise(2 * at) - 3.0, noise(2 * at + 1));
            let colour = ["red", "green"][usize::from(noise(1_000_000 + at) > 0.5)];
            let y = (2.0 * x).sin() + z + f64::from(u8::from(colour == "red")) + 0.1 * normal(at);
            let c = if y > 1.0 { "high" } else { "low" };
            writeln!(text, "{x:.5},{z:.5},{colour},{},{y:.5},{c}", 1 + row % 3).expect("memory");
        }
        std::fs::write(folder.join(format!("{file:02}.csv")), text).expect("writable");
    }
    folder.display().to_string()
}

fn settings() -> Settings {
    [
        "train.pretrain_max_steps=600",
        "train.pretrain_min_steps=0",
        "train.max_steps=200",
        "gp.inducing=32",
        "encoder.hidden=[32]",
    ]
    .into_iter()
    .fold(Settings::default(), Settings::set)
}

fn trained(name: &str, target: &str, limit: u64, settings: Settings) -> Result<Model, Error> {
    let data = Dataset::read(name)?.within_memory(limit).target(target)?;
    Trainer::new(&data).settings(settings).fit()
}

fn score(model: &Model) -> f64 {
    match &model.header().metrics["test"].values().next().expect("a target") {
        Score::Number(scores) => scores.rmse,
        Score::Classes(scores) => scores.accuracy,
    }
}

#[test]
fn networks_learn_from_rows_that_are_not_in_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 6, 5000);
    let model = trained(&name, "y", 300_000, settings()).expect("trains");
    assert!(model.header().rows[0] > 29_000, "{:?}", model.header().rows);
    assert!(score(&model) < 0.14, "the noise is .1, and this is {}", score(&model));
    // What is kept is a part of the sample, not of the table.
    assert!(model.to_bytes().expect("bytes").len() < 600_000);
    let again = trained(&name, "y", 300_000, settings()).expect("trains");
    assert_eq!(bytes(&model), bytes(&again), "the same seed, the same bytes");
    let classes = trained(&name, "c", 300_000, settings().set("data.ignore=[\"y\"]").set("data.weight=w"))
        .expect("trains");
    assert!(score(&classes) > 0.9, "{}", score(&classes));
}

#[test]
fn a_table_that_fits_is_learned_as_without_a_limit() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 2, 150);
    let whole = Dataset::read(&name).and_then(|data| data.target("y")).expect("readable");
    let without = Trainer::new(&whole).settings(settings()).fit().expect("trains");
    assert_eq!(bytes(&trained(&name, "y", 1 << 30, settings()).expect("trains")), bytes(&without));
}

#[test]
fn what_needs_all_rows_at_once_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 2, 3000);
    for key in ["data.group=colour", "data.time_column=x", "data.folds=3"] {
        let error = trained(&name, "y", 10_000, settings().set(key)).expect_err("refused").to_string();
        assert!(error.contains("in memory") && error.contains("hint:"), "{key}: {error}");
    }
}

#[test]
fn a_file_that_changes_between_passes_is_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 3, 3000);
    let data = Dataset::read(&name).expect("readable").within_memory(10_000).target("y").expect("a sample");
    std::fs::write(folder.path().join("01.csv"), "x,z,colour,w,y,c\n1,2,red,1,no number,low\n")
        .expect("writable");
    let error = Trainer::new(&data).settings(settings()).fit().expect_err("another file").to_string();
    assert!(error.contains("01.csv: the file changed while it was learned from"), "{error}");
}

#[test]
fn a_table_whose_sample_is_the_whole_is_learned_in_memory() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 2, 400);
    assert_eq!(
        trained(&name, "y", 1000, settings()).expect("trains").header().rows.iter().sum::<usize>(),
        800
    );
}

#[test]
fn a_weight_that_is_none_is_refused_wherever_it_stands() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = shards(folder.path(), 3, 3000);
    let path = folder.path().join("02.csv");
    let text = std::fs::read_to_string(&path).expect("readable");
    // In rows that the sample does not hold, most likely: it is a fifth of them.
    let lines = text.lines().enumerate().map(|(i, line)| match i {
        2900.. => line.replacen(",1,", ",-1,", 1).replacen(",2,", ",-2,", 1).replacen(",3,", ",-3,", 1),
        _ => line.to_owned(),
    });
    std::fs::write(&path, lines.collect::<Vec<_>>().join("\n")).expect("writable");
    let error =
        trained(&name, "y", 10_000, settings().set("data.weight=w")).expect_err("refused").to_string();
    assert!(error.contains("weight column `w` has -"), "{error}");
}
