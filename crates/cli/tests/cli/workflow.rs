//! Train, predict, evaluate, info: the way that every user takes.

use crate::folder::Folder;
use crate::tables::{column, linear, linear_row, numbers};
use std::fmt::Write;

#[test]
fn the_format_of_a_table_changes_neither_the_model_nor_the_predictions() {
    let folder = Folder::new();
    let mut first: Option<(Vec<u8>, String, String)> = None;
    for extension in ["csv", "csv.gz", "parquet", "jsonl", "jsonl.gz"] {
        let (table, model) = (format!("t.{extension}"), format!("{extension}.ign"));
        folder.ign(&format!("data generate levy --rows 200 -o {table}")).succeeds();
        let run = folder.train(&format!("{table} --target y -o {model}")).succeeds();
        assert!(run.stdout.contains(&format!("{model} written")), "{}", run.stdout);
        let predicted = folder.ign(&format!("predict {model} {table}")).succeeds().stdout;
        let scores = folder.ign(&format!("evaluate {model} {table}")).succeeds().stdout;
        let info = folder.ign(&format!("info {model}")).succeeds().stdout;
        assert!(info.contains("predicts   y") && info.contains("x1 (number), x2 (number)"), "{info}");
        let mine = (folder.read(&model), predicted, scores);
        // Numbers are written so that they are read back to the bit, hence all must agree to the bit.
        assert_eq!(&mine, first.get_or_insert(mine.clone()), "{extension}");
    }
}

#[test]
fn predictions_are_the_same_numbers_in_every_output_format() {
    let folder = Folder::with_model();
    let expected = column(&folder.ign("predict --columns all m.ign t.csv").succeeds().stdout, "mean");
    for out in ["p.csv", "p.csv.gz", "p.tsv", "p.parquet", "p.jsonl", "p.jsonl.gz"] {
        let run = folder.ign(&format!("predict --columns all m.ign t.csv -o {out}")).succeeds();
        assert!(
            run.stdout.is_empty() && run.stderr.contains(&format!("200 rows predicted into {out}")),
            "{run:?}"
        );
        let source = data::Source::Path(folder.path(out));
        let table =
            data::read_table(&source, &data::ReadOptions::default()).expect("what was written is readable");
        assert_eq!(table.column("mean").expect("a mean"), &data::Column::Number(expected.clone()), "{out}");
    }
}

#[test]
fn the_default_name_of_a_model_is_that_of_its_table() {
    let folder = Folder::new();
    folder.write("prices.2024.csv", linear(50));
    folder.train("prices.2024.csv --target y --quiet").succeeds();
    let made = ["prices.2024.csv", "prices.ign", "prices.ign.times.jsonl", "prices.report.html"];
    assert_eq!(folder.names(), made);
    assert!(
        folder
            .ign_reading(
                &format!("train - --target y --quiet {}", crate::folder::TINY),
                linear(50).as_bytes()
            )
            .succeeds()
            .stdout
            .is_empty()
    );
    assert!(folder.names().contains(&"model.ign".to_owned()));
}

#[test]
fn a_pipe_is_as_good_as_a_file() {
    let folder = Folder::with_model();
    let from_file = folder.ign("predict --columns all m.ign t.csv").succeeds().stdout;
    let from_pipe = folder.ign_reading("predict --columns all m.ign -", &folder.read("t.csv")).succeeds();
    assert_eq!(from_file, from_pipe.stdout);
    assert!(from_pipe.stderr.is_empty(), "{}", from_pipe.stderr);
    let scores = folder.ign("evaluate m.ign t.csv --json").succeeds().json();
    assert_eq!(
        folder.ign_reading("evaluate m.ign - --json", &folder.read("t.csv")).succeeds().json(),
        scores
    );
}

#[test]
fn intervals_and_quantiles_are_there_by_name_and_never_cross() {
    let folder = Folder::with_model();
    let text = folder
        .ign(
            "predict --columns all m.ign t.csv --interval 0.9 --interval 0.5 --quantiles 0.05,0.5,0.95,0.025",
        )
        .succeeds()
        .stdout;
    let (names, columns) = numbers(&text);
    let expected = [
        "mean",
        "std",
        "std_latent",
        "lower_90",
        "upper_90",
        "lower_50",
        "upper_50",
        "q5",
        "q50",
        "q95",
        "q2.5",
    ];
    assert_eq!(names, expected);
    assert_eq!(columns[0].len(), 200);
    for (row, line) in text.lines().skip(1).enumerate() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        let [mean, std, latent, lower_90, upper_90, lower_50, upper_50, q5, q50, q95, q2_5] = cells[..]
        else {
            panic!("{line}")
        };
        assert!(std > 0.0 && latent >= 0.0 && latent <= std * (1.0 + 1e-12), "row {row}"); // one rounding
        assert!(mean.is_finite());
        let increasing = [q2_5, lower_90, lower_50, q50, upper_50, upper_90];
        assert!(increasing.is_sorted(), "row {row}: {increasing:?}");
        // Both name the same quantile; the probabilities differ by their last bit, and so may these by a few.
        assert!((lower_90 - q5).abs() < 1e-9 * std && (upper_90 - q95).abs() < 1e-9 * std, "row {row}");
    }
}

#[test]
fn other_columns_are_carried_along_or_ignored_and_the_order_of_columns_does_not_matter() {
    let folder = Folder::with_model();
    let mut shuffled = "id,b,comment,a\n".to_owned();
    for row in 0..200 {
        let (a, b, _) = linear_row(row);
        writeln!(shuffled, "row {row},{b},\"x, y\",{a}").expect("memory");
    }
    folder.write("new.csv", shuffled);
    let plain = folder.ign("predict --columns all m.ign t.csv").succeeds().stdout;
    assert_eq!(folder.ign("predict --columns all m.ign new.csv").succeeds().stdout, plain);
    let kept = folder.ign("predict --columns all m.ign new.csv --keep id,a").succeeds().stdout;
    for (row, (mine, plain)) in kept.lines().zip(plain.lines()).enumerate() {
        let (id, rest) = mine.split_once(',').expect("several columns");
        let (a, rest) = rest.split_once(',').expect("several columns");
        assert_eq!(rest, plain);
        if row == 0 {
            assert_eq!((id, a), ("id", "a"));
        } else {
            assert_eq!((id, a.parse()), (&*format!("row {}", row - 1), Ok(linear_row(row - 1).0)));
        }
    }
}

#[test]
fn output_columns_have_distinct_names_whatever_is_asked_for() {
    let folder = Folder::with_model();
    for words in ["--interval 0.9,0.9", "--interval 0.9 --interval 0.90", "--quantiles 0.5,0.5", "--keep a,a"]
    {
        let run = folder.ign(&format!("predict --columns all m.ign t.csv {words}"));
        if run.code == Some(2) {
            run.is_refused(&[words.split(' ').next().expect("a flag")]); // to refuse is as good
            continue;
        }
        let names: Vec<&str> = run.stdout.lines().next().expect("a header").split(',').collect();
        let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
        assert_eq!(distinct.len(), names.len(), "{words}: {names:?}");
    }
}

#[test]
fn a_carried_column_keeps_its_name_and_ours_gives_way() {
    let folder = Folder::with_model();
    folder.write("mean.csv", linear(200).replace("a,b,y", "a,b,mean"));
    let kept = folder.ign("predict --columns all m.ign mean.csv --keep mean").succeeds().stdout;
    assert!(kept.starts_with("mean,mean_predicted,std,"), "{kept}");
}

#[test]
fn several_targets_are_learned_together_and_keep_their_names() {
    let folder = Folder::new();
    let mut text = "a,b,y,z\n".to_owned();
    for row in 0..200 {
        let (a, b, y) = linear_row(row);
        writeln!(text, "{a},{b},{y},{}", 100.0 - 50.0 * y).expect("memory");
    }
    folder.write("t.csv", text);
    folder.train("t.csv --target y,z -o m.ign --quiet").succeeds();
    let (names, columns) =
        numbers(&folder.ign("predict --columns all m.ign t.csv --interval 0.9").succeeds().stdout);
    let of = |target: &str| {
        ["mean", "std", "std_latent", "lower_90", "upper_90"].map(|name| format!("{target}_{name}"))
    };
    assert_eq!(names, [of("y"), of("z")].concat());
    let middle = |k: usize| columns[k].iter().sum::<f64>() / 200.0;
    // A linear start on linear data: the means are near the targets' (0.5 and 75), each in its own unit.
    assert!((middle(0) - 0.5).abs() < 0.1 && (middle(5) - 75.0).abs() < 5.0, "{} {}", middle(0), middle(5));
    let scores = folder.ign("evaluate m.ign t.csv --json").succeeds().json();
    assert_eq!(scores.as_object().expect("by target").keys().collect::<Vec<_>>(), ["y", "z"]);
    assert_eq!(scores["z"]["n"], 200);
}

#[test]
fn evaluation_is_one_json_object_with_exactly_the_promised_scores() {
    let folder = Folder::with_model();
    let scores = folder.ign("evaluate m.ign t.csv --json").succeeds().json();
    let mut names: Vec<&str> = scores.as_object().expect("an object").keys().map(String::as_str).collect();
    names.sort_unstable();
    let mut promised =
        ["n", "rmse", "mae", "r2", "nll", "crps", "coverage_50", "coverage_90", "coverage_95", "sharpness"];
    promised.sort_unstable();
    assert_eq!(names, promised);
    assert_eq!(scores["n"], 200);
    assert!(scores.as_object().expect("an object").values().all(serde_json::Value::is_number), "{scores}");
    // The skip path starts as the least-squares fit: whoever cannot do this on linear data is broken.
    assert!(scores["r2"].as_f64().expect("a number") > 0.95, "{scores}");
}

#[test]
fn the_scores_of_an_evaluation_follow_from_the_predictions() {
    let folder = Folder::with_model();
    let predicted = folder.ign("predict --columns all m.ign t.csv --interval 0.9").succeeds().stdout;
    let scores = folder.ign("evaluate m.ign t.csv --json").succeeds().json();
    let [mean, lower, upper] = ["mean", "lower_90", "upper_90"].map(|name| column(&predicted, name));
    let y: Vec<f64> = (0..200).map(|row| linear_row(row).2).collect();
    let average = |f: &dyn Fn(usize) -> f64| (0..200).map(f).sum::<f64>() / 200.0;
    let close = |name: &str, value: f64, tolerance: f64| {
        let reported = scores[name].as_f64().expect("a number");
        assert!((reported - value).abs() <= tolerance * value.abs(), "{name}: {reported} is not {value}");
    };
    // The same sums in another order: rounding only.
    close("rmse", average(&|i| (y[i] - mean[i]).powi(2)).sqrt(), 1e-9);
    close("mae", average(&|i| (y[i] - mean[i]).abs()), 1e-9);
    close("coverage_90", average(&|i| f64::from(u8::from((lower[i]..=upper[i]).contains(&y[i])))), 1e-9);
    close("sharpness", average(&|i| column(&predicted, "std")[i]), 1e-9);
}

#[test]
fn training_can_report_in_json_and_holds_out_a_test_part() {
    let folder = Folder::new();
    folder.write("t.csv", linear(200));
    let report = folder.train("t.csv --target y -o m.ign --json --test-share 0.25").succeeds().json();
    assert_eq!(report["model"], "m.ign");
    assert!(report["seconds"].as_f64().expect("a number") > 0.0);
    assert_eq!(report["metrics"]["test"]["n"], 50);
    assert_eq!(report["metrics"]["validation"]["n"], 20, "never fewer than 20 of the other 150");
    let header = folder.ign("info m.ign --json").succeeds().json();
    assert_eq!(header["rows"], serde_json::json!([130, 20, 50]));
    assert_eq!(header["metrics"]["test"]["y"], report["metrics"]["test"]);
}

#[test]
fn quiet_commands_say_nothing() {
    let folder = Folder::new();
    folder.write("t.csv", crate::tables::mixed(200));
    let run = folder.train("t.csv --target price -o m.ign --quiet").succeeds();
    assert_eq!((run.stdout, run.stderr), (String::new(), String::new()));
    let run = folder.ign("predict --columns all m.ign t.csv --quiet -o p.csv").succeeds();
    assert_eq!((run.stdout, run.stderr), (String::new(), String::new()));
}

#[test]
fn every_command_explains_itself() {
    let folder = Folder::new();
    for command in [
        "",
        "demo ",
        "train ",
        "predict ",
        "evaluate ",
        "info ",
        "data ",
        "data list ",
        "data fetch ",
        "data generate ",
    ] {
        let help = folder.ign(&format!("{command}--help")).succeeds().stdout;
        assert!(help.contains("Usage:"), "{help}");
    }
    assert!(folder.ign("--version").succeeds().stdout.starts_with("ign "));
    let help = folder.ign("--help").succeeds().stdout;
    for words in [
        "Exit codes:",
        "0    done",
        "1    the computation failed",
        "2    something you can fix",
        "130",
        "143",
    ] {
        assert!(help.contains(words), "no `{words}` in {help}");
    }
    let bare = folder.ign("");
    assert!(bare.code == Some(2) && bare.stderr.contains("Usage:"), "{bare:?}");
}

/// The only run with the settings that users get; all others are tiny. A few seconds.
#[test]
fn the_default_settings_learn_a_curve_that_no_line_fits() {
    let folder = Folder::new();
    let mut text = "a,y\n".to_owned();
    for row in 0..400 {
        let (a, noise, _) = linear_row(row);
        writeln!(text, "{a},{}", (9.0 * a).sin() + 0.1 * (noise - 0.5)).expect("memory");
    }
    folder.write("t.csv", text);
    let run = folder.ign("train t.csv --target y --test-share 0.25 --json").succeeds();
    assert!(!run.stderr.contains("broke down"), "{}", run.stderr);
    let scores = run.json()["metrics"]["test"].clone();
    // The noise is 0.1/√12 = 0.03, the curve's spread 0.7: R² of 0.99 leaves twice the noise.
    assert!(scores["r2"].as_f64().expect("a number") > 0.99, "{scores}");
    // 36 validation rows decide the intervals of 100 test rows: 90 % ± 3 deviations of 0.05 and 0.03 together.
    assert!((scores["coverage_90"].as_f64().expect("a number") - 0.9).abs() < 0.17, "{scores}");
}
