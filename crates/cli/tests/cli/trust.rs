//! What a careful colleague does unasked: leaks named, parts that match the use, ranges kept, strange inputs told.

use crate::folder::Folder;
use crate::tables::{column, noise};
use std::fmt::Write;

/// `row,known,size,price,weight,household,day`: the price follows the size; `known` is the price in other words.
fn houses(rows: usize) -> String {
    let mut text = "row,known,size,price,weight,household,day\n".to_owned();
    for i in 0..rows {
        let [a, b, w] = [0, 1, 2].map(|k| noise(500_000 + 3 * i as u64 + k));
        let price = (3.0 * a + 0.3 * b).exp();
        let (known, day) = (1.08 * price + 3.0, format!("2024-{:02}-{:02}", 1 + i * 12 / rows, 1 + i % 28));
        writeln!(text, "{i},{known:.4},{a:.4},{price:.4},{w:.3},h{},{day}", i / 4).expect("memory");
    }
    text
}

#[test]
fn a_leak_and_a_row_number_are_named_before_training_and_the_row_number_is_left_out() {
    let folder = Folder::new();
    folder.write("h.csv", houses(400));
    let run =
        folder.train("h.csv --target price --ignore household,weight,day -o h.ign --no-report").succeeds();
    assert!(
        run.stderr.contains("possible leak: column `known` alone explains 100.0 % of `price`"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr.contains("`--ignore known`") || run.stderr.contains("--ignore known"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("column `row` is left out: it numbers the rows"), "{}", run.stderr);
    let info = folder.ign("info h.ign").succeeds().stdout;
    assert!(!info.contains("row (number)") && info.contains("known (number)"), "{info}");
    // A declared column is never doubted.
    let run = folder.train("h.csv --target price --ignore household,weight,day --set data.columns.row=number -o r.ign --no-report");
    assert!(!run.succeeds().stderr.contains("column `row` is left out"));
    assert!(folder.ign("info r.ign").succeeds().stdout.contains("row (number)"));
}

#[test]
fn a_table_of_one_input_keeps_it_though_it_counts_the_rows() {
    let folder = Folder::new();
    let rows: String = (0..80).map(|i| format!("{i},{}\n", 2 * i + i % 3)).collect();
    folder.write("t.csv", format!("size,price\n{rows}"));
    let run = folder.train("t.csv --target price -o m.ign --no-report").succeeds();
    assert!(!run.stderr.contains("leak") && !run.stderr.contains("left out"), "{}", run.stderr);
}

#[test]
fn predictions_of_a_positive_number_stay_positive_whatever_the_inputs() {
    let folder = Folder::new();
    folder.write("h.csv", houses(400));
    let run = folder
        .train("h.csv --target price --ignore row,known,household,weight,day -o h.ign --no-report")
        .succeeds();
    assert!(run.stderr.contains("predictions and intervals stay at 0 or above"), "{}", run.stderr);
    folder.write("far.csv", "size\n-4\n0\n0.5\n9\n");
    folder.ign("predict h.ign far.csv --interval 0.99 --quantiles 0.001 -o out.csv").succeeds();
    let out = folder.text("out.csv");
    for name in ["mean", "lower_99", "upper_99", "q0.1"] {
        assert!(column(&out, name).iter().all(|x| *x >= 0.0 && x.is_finite()), "{name}: {out}");
    }
    folder.refuses_to_train(
        "h.csv --target price --bounds 0,5 --ignore known -o x.ign",
        &["outside of the bounds 0,5", "--bounds"],
    );
    folder.refuses_to_train("h.csv --target price --bounds 5,0 -o x.ign", &["`5,0` are no bounds"]);
    folder.refuses_to_train(
        "h.csv --target price --set data.target_transform=logit -o x.ign",
        &["needs both bounds", "--bounds 0,100"],
    );
}

#[test]
fn parts_follow_times_groups_and_weights_and_a_wrong_column_is_refused() {
    let folder = Folder::new();
    folder.write("h.csv", houses(300));
    let common = "h.csv --target price --ignore known -o h.ign --no-report --test-share 0.2 --json";
    let parts = |flag: &str| {
        let run = folder.train(&format!("{common} {flag}")).succeeds();
        run.json()["metrics"]["test"]["n"].as_u64().expect("a number")
    };
    // Whole days and whole households: about a fifth of the rows.
    for flag in ["--time-column day", "--group household", "--weight weight", "--time-column row"] {
        assert!((48..=72).contains(&parts(flag)), "{flag}: {}", parts(flag));
    }
    let base = "h.csv --target price -o x.ign";
    folder.refuses_to_train(
        &format!("{base} --time-column household"),
        &["`household`", "not a date or a number"],
    );
    folder.refuses_to_train(
        &format!("{base} --group price"),
        &["`price` cannot be both the target and the group column"],
    );
    folder
        .refuses_to_train(&format!("{base} --weight household"), &["`household` is not a column of numbers"]);
    folder.refuses_to_train(&format!("{base} --group nobody"), &["nobody"]);
    folder.write("bad.csv", "size,price,w\n1,2,-1\n2,3,1\n3,4,1\n4,5,1\n");
    folder.refuses_to_train(
        "bad.csv --target price --weight w -o x.ign",
        &["`w` has -1 in row 1", "numbers from 0 on"],
    );
    folder.refuses_to_train(
        "h.csv --target price --group household --folds 90 -o x.ign",
        &["fold 90 of 90 has no rows", "lower `--folds`"],
    );
    // Households move in one after the other; each of the panel's people is there all the time.
    assert!((40..=72).contains(&parts("--time-column day --group household")));
    let rows: String =
        (0..200).map(|i| format!("p{},{i},{},{}\n", i % 5, noise(i), noise(i + 900))).collect();
    folder.write("panel.csv", format!("who,day,size,price\n{rows}"));
    folder.refuses_to_train(
        "panel.csv --target price --group who --time-column day -o x.ign",
        &["of a new group and of a later time", "`--group` for new groups"],
    );
}

#[test]
fn what_would_do_nothing_is_refused() {
    let folder = Folder::new();
    folder.write("h.csv", houses(60));
    let base = "h.csv --target price -o x.ign";
    folder.refuses_to_train(
        &format!("{base} --class-weights balanced"),
        &["train.class_weights is for classes, and the target is a number"],
    );
    folder.refuses_to_train(&format!("{base} --threshold f1"), &["train.threshold is for classes"]);
    folder.refuses_to_train(&format!("{base} --ignore price"), &["`price` cannot be both the target"]);
    folder.write("c.csv", "x,y\n1,a\n2,b\n3,a\n4,b\n5,a\n6,b\n");
    let base = "c.csv --target y -o x.ign";
    folder.refuses_to_train(&format!("{base} --bounds 0,"), &["data.bounds is for numbers", "a class"]);
    folder.refuses_to_train(&format!("{base} --costs 0,0;0,0"), &["train.costs are all 0"]);
    let small = "--set train.pretrain_epochs=2 --set train.pretrain_min_steps=0 --no-report";
    let run = folder.ign(&format!("train c.csv --target y -o c.ign --refit {small}")).succeeds();
    assert!(run.stderr.contains("`--refit` does nothing"), "{}", run.stderr);
}

#[test]
fn scores_out_of_fold_find_nothing_where_there_is_nothing() {
    let folder = Folder::new();
    let row = |i: u64| (0..11).map(|j| noise(31 * i + j).to_string()).collect::<Vec<_>>().join(",");
    let rows: Vec<String> = (0..40).map(row).collect();
    folder.write("noise.csv", format!("a,b,c,d,e,f,g,h,i,j,y\n{}\n", rows.join("\n")));
    let run = folder.ign("train noise.csv --target y -o n.ign --no-report --json --seed 1").succeeds();
    let score = run.json()["metrics"]["out_of_fold"]["r2"].as_f64().expect("a number");
    assert!(score < 0.35, "R² of ten inputs that say nothing of forty targets: {score}");
}

#[test]
fn a_row_that_every_network_saw_is_not_judged() {
    let folder = Folder::new();
    let rows: String = (0..41)
        .map(|i| format!("{},{}\n", noise(i), ["a", "b", "c"][if i == 40 { 2 } else { i as usize % 2 }]))
        .collect();
    folder.write("rare.csv", format!("x,y\n{rows}"));
    let run = folder.ign("train rare.csv --target y -o r.ign --no-report --json").succeeds();
    let scores = run.json()["metrics"]["out_of_fold"].clone();
    assert_eq!(scores["n"], 40, "{scores}");
}

#[test]
fn strange_inputs_are_told_at_the_end_of_a_prediction_and_of_an_evaluation() {
    let folder = Folder::new();
    folder.write("h.csv", houses(400));
    let small = "--set train.pretrain_min_steps=100 --set encoder.hidden=[16] --set train.blocked_folds=0 --no-report --quiet";
    folder
        .ign(&format!("train h.csv --target price --ignore row,known,household,day -o h.ign {small}"))
        .succeeds();
    let mut usual = "size,weight,price\n".to_owned();
    let mut strange = usual.clone();
    for i in 0..60 {
        let (a, w) = (noise(77 + i), noise(9_077 + i));
        let price = (3.0 * a).exp();
        writeln!(usual, "{a},{w},{price}").expect("memory");
        let cells = if i == 5 { ",".to_owned() } else { format!("{},{w}", a + 3.0) };
        writeln!(strange, "{cells},{price}").expect("memory");
    }
    folder.write("usual.csv", usual);
    folder.write("strange.csv", strange);
    let quiet = folder.ign("predict h.ign usual.csv -o out.csv").succeeds();
    assert!(!quiet.stderr.contains("unlike") && !quiet.stderr.contains("shifted"), "{}", quiet.stderr);
    let told = folder.ign("predict h.ign strange.csv -o out.csv").succeeds().stderr;
    let evaluated = folder.ign("evaluate h.ign strange.csv").succeeds().stdout;
    let words = [
        "unlike the training rows",
        "1 row is mostly empty",
        "row 6",
        "column `size`: 59 rows lie outside",
        "shifted by",
    ];
    for word in words {
        assert!(told.contains(word) && evaluated.contains(word), "no `{word}` in: {told}\n{evaluated}");
    }
    // What is far away is as wide as the targets themselves.
    let out = folder.text("out.csv");
    let (std, familiarity) = (column(&out, "std"), column(&out, "familiarity"));
    assert!(familiarity.iter().filter(|p| **p < 0.01).count() >= 57, "{familiarity:?}");
    let usual_std = column(&folder.text("usual.csv"), "price");
    let mean = usual_std.iter().sum::<f64>() / 60.0;
    let own = (usual_std.iter().map(|y| (y - mean).powi(2)).sum::<f64>() / 60.0).sqrt();
    assert!(std[0] > 0.5 * own, "{} beside {own}", std[0]);
}

#[test]
fn a_prediction_has_six_digits_and_the_columns_that_are_asked_for() {
    let folder = Folder::with_model();
    let head = |words: &str| {
        let out = folder.ign(&format!("predict m.ign t.csv {words}")).succeeds().stdout;
        out.lines().next().expect("a head").to_owned()
    };
    assert_eq!(head(""), "row,mean,lower_90,upper_90,std");
    assert_eq!(head("--keep a"), "a,mean,lower_90,upper_90,std");
    assert_eq!(head("--interval 0.5"), "row,mean,lower_50,upper_50,std");
    assert_eq!(head("--columns all"), "mean,std,std_latent");
    assert_eq!(head("--columns mean,row"), "row,mean");
    folder.refuses("predict m.ign t.csv --columns mean,mode", &["no column `mode`", "std_latent"]);
    let cells =
        |words: &str| column(&folder.ign(&format!("predict m.ign t.csv {words}")).succeeds().stdout, "mean");
    let (short, whole) = (cells(""), cells("--columns all"));
    for (short, whole) in short.iter().zip(&whole) {
        assert!((short - whole).abs() <= 5e-6 * whole.abs(), "{short} {whole}");
        assert!(
            format!("{:e}", short.abs()).split('e').next().is_some_and(|digits| digits.len() <= 7),
            "{short}"
        );
    }
    assert_eq!(cells("--digits 17"), whole);
}

#[test]
fn a_row_is_explained_by_the_column_that_moves_it() {
    let folder = Folder::new();
    let mut text = "a,b,y\n".to_owned();
    (0..300).for_each(|i| {
        let [a, b] = [0, 1].map(|k| noise(40_000 + 2 * i + k));
        writeln!(text, "{a},{b},{}", 10.0 * a + 0.1 * b).expect("memory");
    });
    folder.write("t.csv", text);
    folder.train("t.csv --target y -o m.ign --no-report --quiet --set train.pretrain_epochs=40").succeeds();
    folder.write("new.csv", "a,b\n0.95,0.5\n0.05,0.5\n");
    let out = folder.ign("predict m.ign new.csv --explain").succeeds().stdout;
    let rows: Vec<&str> = out.lines().collect();
    assert!(rows[0].ends_with("up,down,unsure"), "{out}");
    assert!(rows[1].contains("a +") && rows[2].contains("a -"), "{out}");
}

#[test]
fn a_threshold_is_chosen_on_held_out_rows_and_can_be_set_afterwards() {
    let folder = Folder::new();
    folder.write("c.csv", crate::tables::labelled(400, &["no", "yes"]));
    let train = "c.csv --target y --no-report --quiet -o";
    folder.train(&format!("{train} f.ign --threshold recall=0.95")).succeeds();
    folder.train(&format!("{train} k.ign --costs 0,1;30,0")).succeeds();
    let recall = |words: &str| {
        let json = folder.ign(&format!("evaluate {words} --json")).succeeds().json();
        json["classes"][1]["recall"].as_f64().expect("a share")
    };
    // The held-out rows are a tenth; their recall says only roughly what that of all rows is.
    assert!(recall("f.ign c.csv") > 0.8, "{}", recall("f.ign c.csv"));
    let decided = folder.ign("info f.ign --json").succeeds().json()["decision"]["threshold"].as_f64();
    assert!(decided.is_some_and(|threshold| (0.05..0.95).contains(&threshold)), "{decided:?}");
    assert!(recall("k.ign c.csv") > 0.9, "a missed `yes` costs thirty times a false one");
    assert!(recall("f.ign c.csv --threshold 0.99") < 0.5);
    folder.refuses("predict f.ign c.csv --threshold 1.5", &["not a probability"]);
    folder
        .refuses_to_train(&format!("{train} x.ign --threshold f3"), &["`f3` is no threshold", "recall=0.9"]);
    folder.refuses_to_train(&format!("{train} x.ign --costs 0,1"), &["train.costs is not a square"]);
    folder.refuses_to_train(&format!("{train} x.ign --costs 0,1,1;1,0,1;1,1,0"), &["there are 2 classes"]);
    folder.write("t.csv", crate::tables::linear(100));
    folder.refuses_to_train("t.csv --target y -o x.ign --threshold 0.3", &["train.threshold is for classes"]);
}

#[test]
fn a_model_that_is_refitted_knows_all_rows_and_keeps_its_test_scores() {
    let folder = Folder::new();
    folder.write("t.csv", crate::tables::linear(300));
    folder.train("t.csv --target y -o once.ign --no-report --quiet --test-share 0.3").succeeds();
    folder.train("t.csv --target y -o twice.ign --no-report --quiet --test-share 0.3 --refit").succeeds();
    let header = |name: &str| folder.ign(&format!("info {name} --json")).succeeds().json();
    let (once, twice) = (header("once.ign"), header("twice.ign"));
    assert_eq!(once["metrics"]["test"], twice["metrics"]["test"]);
    let rows = |header: &serde_json::Value| {
        header["rows"].as_array().map(|rows| rows[0].as_u64().unwrap_or(0) + rows[1].as_u64().unwrap_or(0))
    };
    assert_eq!((rows(&once), rows(&twice)), (Some(210), Some(300)));
}

#[test]
fn simple_models_stand_beside_the_result() {
    let folder = Folder::new();
    folder.write("t.csv", crate::tables::linear(300));
    let run = folder.train("t.csv --target y -o m.ign --no-report --test-share 0.3").succeeds();
    assert!(run.stdout.contains("against linear") && run.stdout.contains("constant"), "{}", run.stdout);
    let json =
        folder.train("t.csv --target y -o m.ign --no-report --test-share 0.3 --json").succeeds().json();
    let score = |name: &str| json["baselines"]["test"][name]["y"]["rmse"].as_f64().expect("a score");
    assert!(
        score("linear") < 0.05
            && score("linear") < score("neighbours")
            && score("neighbours") < score("constant")
    );
}
