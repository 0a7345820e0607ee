//! Tables of classes: train, predict, evaluate, info.

use crate::folder::{Folder, Run};
use crate::tables::{column, header, labelled, texts};

const THREE: [&str; 3] = ["low", "mid", "top"];

/// A folder with a table of these classes and the model `m.ign` of it.
fn with_classes(labels: &[&str], more: &str) -> Folder {
    let folder = Folder::new();
    folder.write("t.csv", labelled(240, labels));
    folder.train(&format!("t.csv --target y -o m.ign --quiet {more}")).succeeds();
    folder
}

fn columns_of(classes: &[&str]) -> Vec<String> {
    let of_class = |prefix: &'static str| classes.iter().map(move |class| format!("{prefix}_{class}"));
    let all = ["p", "latent_mean", "latent_std"].into_iter().flat_map(of_class);
    std::iter::once("label".to_owned()).chain(all).collect()
}

#[test]
fn text_truth_values_and_few_whole_numbers_are_recognised_as_classes() {
    for (labels, classes) in [
        (&["low", "top"][..], &["low", "top"][..]),
        (&THREE, &THREE),
        (&["true", "false"], &["false", "true"]),
        (&["0", "1"], &["0", "1"]),
        (&["10", "2", "7"], &["2", "7", "10"]), // numbers by their size
    ] {
        let folder = Folder::new();
        folder.write("t.csv", labelled(240, labels));
        let run = folder.train("t.csv --target y -o m.ign").succeeds();
        assert!(run.stderr.contains(&format!("{} classes: {}", classes.len(), classes[0])), "{}", run.stderr);
        let guessed = labels[0].parse::<f64>().is_ok();
        assert_eq!(
            run.stderr.contains("`--task regression` learns it as a number"),
            guessed,
            "{}",
            run.stderr
        );
        let predicted = folder.ign("predict --columns all m.ign t.csv").succeeds().stdout;
        assert_eq!(header(&predicted), columns_of(classes));
        assert!(texts(&predicted, "label").iter().all(|label| classes.contains(&label.as_str())));
        let scores = folder.ign("evaluate m.ign t.csv --json").succeeds().json();
        assert_eq!(scores["n"], 240);
    }
}

#[test]
fn the_task_can_be_said_and_overrules_what_the_target_looks_like() {
    let folder = Folder::new();
    folder.write("t.csv", labelled(200, &["0", "1", "2"]));
    folder.train("t.csv --target y -o m.ign --quiet --task regression").succeeds();
    assert_eq!(
        header(&folder.ign("predict --columns all m.ign t.csv").succeeds().stdout),
        ["mean", "std", "std_latent"]
    );
    folder.train("t.csv --target y -o m.ign --quiet --set data.columns.y=number").succeeds();
    assert_eq!(
        header(&folder.ign("predict --columns all m.ign t.csv").succeeds().stdout),
        ["mean", "std", "std_latent"]
    );
    folder.write("u.csv", labelled(200, &["0.5", "1.5"]));
    folder.train("u.csv --target y -o n.ign --quiet --task classification").succeeds();
    assert_eq!(
        header(&folder.ign("predict --columns all n.ign u.csv").succeeds().stdout),
        columns_of(&["0.5", "1.5"])
    );
}

#[test]
fn probabilities_sum_to_one_and_the_label_has_the_largest() {
    for more in ["", "--head softmax", "--multiclass independent", "--set gp.link=probit"] {
        for labels in [&["no one", "some"][..], &THREE] {
            let folder = with_classes(labels, more);
            let text = folder.ign("predict --columns all m.ign t.csv").succeeds().stdout;
            let of = |prefix: &str| {
                labels.iter().map(|label| column(&text, &format!("{prefix}_{label}"))).collect::<Vec<_>>()
            };
            let (p, mean, std) = (of("p"), of("latent_mean"), of("latent_std"));
            for (row, label) in texts(&text, "label").iter().enumerate() {
                let total: f64 = p.iter().map(|p| p[row]).sum();
                assert!((total - 1.0).abs() < 1e-9, "row {row}: {total}"); // printed to the bit
                let own = labels.iter().position(|known| known == label).expect("a known label");
                assert!(p.iter().all(|p| (0.0..=p[row].max(1.0)).contains(&p[row])));
                assert!(p.iter().all(|other| other[row] <= p[own][row]), "row {row}");
                assert!(
                    std.iter().all(|std| std[row] >= 0.0 && (more != "--head softmax" || std[row] == 0.0))
                );
                if labels.len() == 2 {
                    assert!(mean[0][row] == -mean[1][row], "one function tells two classes apart");
                }
            }
        }
    }
}

#[test]
fn classes_are_learned_where_a_line_tells_them_apart() {
    // The paper's likelihood lets the labels of a batch explain each other, and is given 500 epochs: the order of the
    // probabilities is learned in 20, their size is not.
    let paper = "--preset paper --set train.learning_rate=0.01";
    for (more, accuracy) in [
        ("", 0.7),
        ("--head softmax", 0.7),
        ("--multiclass independent", 0.7),
        ("--set gp.link=probit", 0.7),
        (paper, 0.5),
    ] {
        let folder =
            with_classes(&THREE, &format!("{more} --set train.pretrain_epochs=20 --set train.epochs=20"));
        let scores = folder.ign("evaluate m.ign t.csv --json").succeeds().json();
        // A sixth of the labels is wrong by construction; the most frequent class has half of the rows.
        assert!(scores["accuracy"].as_f64().expect("a number") > accuracy, "{more}: {scores}");
        assert!(scores["auroc"].as_f64().expect("a number") > 0.85, "{more}: {scores}");
    }
}

#[test]
fn labels_are_text_in_every_output_format() {
    let folder = with_classes(&["0", "1"], "");
    let expected = folder.ign("predict --columns all m.ign t.csv").succeeds().stdout;
    let (labels, p) = (texts(&expected, "label"), column(&expected, "p_1"));
    for out in ["p.csv.gz", "p.parquet", "p.jsonl"] {
        folder.ign(&format!("predict --columns all m.ign t.csv -o {out}")).succeeds();
        let category = [("label".to_owned(), data::ColumnType::Category)].into();
        let options = data::ReadOptions { column_types: category, ..data::ReadOptions::default() };
        let table = data::read_table(&data::Source::Path(folder.path(out)), &options).expect("readable");
        let data::Column::Category { codes, levels } = table.column("label").expect("labels") else {
            panic!("{out}: labels are not text")
        };
        let ours = codes.iter().map(|code| &levels[code.expect("a label") as usize]);
        assert!(ours.eq(&labels), "{out}");
        assert_eq!(table.column("p_1").expect("a column"), &data::Column::Number(p.clone()), "{out}");
    }
    let first = folder.ign("predict --columns all m.ign t.csv --output-format jsonl").succeeds().stdout;
    assert!(
        first.starts_with(&format!("{{\"label\":\"{}\"", labels[0])),
        "a string even if it looks like a number"
    );
}

#[test]
fn evaluation_is_one_json_object_with_exactly_the_promised_scores() {
    for (labels, more) in [(&["no", "yes"][..], ""), (&THREE, ""), (&THREE, "--head softmax")] {
        let scores = with_classes(labels, more).ign("evaluate m.ign t.csv --json").succeeds().json();
        let mut names: Vec<&str> =
            scores.as_object().expect("an object").keys().map(String::as_str).collect();
        names.sort_unstable();
        let mut promised = [
            "n",
            "accuracy",
            "nll",
            "brier",
            "ece",
            "auroc",
            "confusion",
            "classes",
            "reliability",
            "uncalibrated",
        ];
        promised.sort_unstable();
        assert_eq!(names, promised);
        let confusion = scores["confusion"].as_array().expect("a matrix");
        assert_eq!(confusion.len(), labels.len());
        let cells = confusion.iter().flat_map(|row| row.as_array().expect("a row"));
        assert_eq!(cells.map(|cell| cell.as_u64().expect("a count")).sum::<u64>(), 240);
        let of_class = &scores["classes"][0];
        for key in ["label", "precision", "recall", "f1", "support"] {
            assert!(!of_class[key].is_null(), "{key}: {of_class}");
        }
    }
}

#[test]
fn the_scores_of_an_evaluation_follow_from_the_predictions() {
    let folder = with_classes(&THREE, "");
    let predicted = folder.ign("predict --columns all m.ign t.csv").succeeds().stdout;
    let scores = folder.ign("evaluate m.ign t.csv --json").succeeds().json();
    let p: Vec<Vec<f64>> = THREE.iter().map(|label| column(&predicted, &format!("p_{label}"))).collect();
    let truth = texts(&folder.text("t.csv"), "y");
    let class = |row: usize| THREE.iter().position(|label| *label == truth[row]).expect("a known label");
    let mean = |f: &dyn Fn(usize) -> f64| (0..240).map(f).sum::<f64>() / 240.0;
    let close = |name: &str, value: f64| {
        let reported = scores[name].as_f64().expect("a number");
        assert!((reported - value).abs() <= 1e-9 * value.abs(), "{name}: {reported} is not {value}");
    };
    // The same sums in another order: rounding only.
    close("accuracy", mean(&|row| f64::from(u8::from(texts(&predicted, "label")[row] == truth[row]))));
    close("nll", mean(&|row| -p[class(row)][row].ln()));
    close(
        "brier",
        mean(&|row| (0..3).map(|k| (p[k][row] - f64::from(u8::from(k == class(row)))).powi(2)).sum()),
    );
}

#[test]
fn rows_without_a_label_are_left_out_and_a_prediction_needs_none() {
    let folder = with_classes(&THREE, "");
    folder.write("new.csv", folder.text("t.csv").replacen(",low\n", ",\n", 3));
    let run = folder.ign("evaluate m.ign new.csv").succeeds();
    assert!(run.stdout.contains("skipped 3 rows without a target"), "{}", run.stdout);
    folder.write("new.csv", "b,a\n0.1,0.9\n");
    assert_eq!(
        folder.ign("predict --columns all m.ign new.csv --keep a").succeeds().stdout.lines().count(),
        2
    );
}

#[test]
fn out_of_distribution_rows_are_detected_by_entropy_and_by_latent_deviation() {
    let folder = with_classes(&THREE, "--set train.pretrain_epochs=20");
    let far: String = (0..50).map(|row| format!("{},{}\n", 40 + row, -70 - row)).collect();
    folder.write("far.csv", format!("a,b\n{far}"));
    let json = folder.ign("evaluate m.ign t.csv --ood far.csv --json").succeeds().json();
    for by in ["entropy", "latent_std"] {
        for score in ["auroc", "aupr", "fpr95"] {
            let value = json["ood"][by][score].as_f64().expect("a number");
            assert!((0.0..=1.0).contains(&value), "{json}");
        }
    }
    // Far away the process knows nothing: its deviation is the prior's, which no training row reaches.
    assert!(json["ood"]["latent_std"]["auroc"].as_f64().expect("a number") > 0.99, "{json}");
    assert_eq!(json["n"], 240);
    let text = folder.ign("evaluate m.ign t.csv --ood far.csv").succeeds().stdout;
    assert!(text.contains("out-of-distribution inputs: far.csv") && text.contains("latent_std"), "{text}");
}

fn info(folder: &Folder) -> Run {
    folder.ign("info m.ign").succeeds()
}

#[test]
fn info_names_the_classes_and_what_stands_on_the_network() {
    let shared = info(&with_classes(&THREE, "")).stdout;
    assert!(shared.contains("predicts   y: low, mid, top"), "{shared}");
    assert!(shared.contains("inducing points") && shared.contains("before recalibration"), "{shared}");
    let softmax = info(&with_classes(&THREE, "--head softmax")).stdout;
    assert!(softmax.contains("softmax layer") && !softmax.contains("inducing points,"), "{softmax}");
    let independent = info(&with_classes(&THREE, "--multiclass independent")).stdout;
    assert!(independent.contains("3 networks of"), "{independent}");
    let two = info(&with_classes(&["no", "yes"], "--multiclass independent")).stdout;
    assert!(!two.contains("networks of"), "two classes need one network: {two}");
}

#[test]
fn the_configuration_of_a_model_of_classes_trains_it_again() {
    for more in ["", "--head softmax", "--multiclass independent", "--preset paper --set train.epochs=2"] {
        let folder = with_classes(&THREE, more);
        folder.write("run.toml", folder.ign("info m.ign --config").succeeds().stdout);
        folder.ign("train t.csv --config run.toml -o again.ign --quiet").succeeds();
        assert!(folder.read("m.ign") == folder.read("again.ign"), "{more}: other bytes");
    }
}

#[test]
fn a_softmax_layer_works_with_the_paper_s_network() {
    let folder = with_classes(&THREE, "--head softmax --preset paper --set train.pretrain_epochs=2");
    folder.ign("predict --columns all m.ign t.csv").succeeds();
}

/// Pretraining is all that trains a softmax layer, and the paper has none: to refuse is as good as to train.
#[test]
fn a_softmax_layer_without_pretraining_is_refused_or_a_model_that_predicts() {
    for more in [
        "--preset paper",
        "--set train.pretrain_epochs=0",
        "--set train.pretrain_epochs=0 --set train.epochs=0",
    ] {
        let folder = Folder::new();
        folder.write("t.csv", labelled(100, &THREE));
        let command = "--set train.epochs=2 --set train.pretrain_min_steps=0 --set encoder.hidden=[8] --set encoder.features=8";
        let run =
            folder.ign(&format!("train t.csv --target y -o m.ign --quiet --head softmax {command} {more}"));
        if run.code == Some(2) {
            run.is_refused(&["train.pretrain_epochs"]);
            continue;
        }
        run.succeeds();
        folder.ign("predict --columns all m.ign t.csv").succeeds();
    }
}

/// `balanced` is for classes of which one is rare: it must then be found more often.
#[test]
fn balanced_weights_find_more_of_a_rare_class() {
    let text = labelled(600, &["a", "b", "c", "d", "e"]).replace(",b\n", ",a\n").replace(",c\n", ",a\n");
    let text = text.replace(",d\n", ",a\n").replace(",e\n", ",rare\n");
    for multiclass in ["shared", "independent"] {
        let mut text = text.clone();
        for row in 0..60 {
            text += &format!("{},{},third\n", 0.2 + 0.001 * f64::from(row), 5.0);
        }
        let folder = Folder::new();
        folder.write("t.csv", text);
        let found = |weights: &str| {
            let command = format!(
                "t.csv --target y -o m.ign --quiet --multiclass {multiclass} --set train.pretrain_epochs=30 --set train.class_weights={weights}"
            );
            folder.train(&command).succeeds();
            let scores = folder.ign("evaluate m.ign t.csv --json").succeeds().json();
            assert_eq!(scores["classes"][1]["label"], "rare");
            scores["classes"][1]["recall"].as_f64().expect("a number")
        };
        let (equal, balanced) = (found("equal"), found("balanced"));
        assert!(balanced > equal, "{multiclass}: {equal} {balanced}");
    }
}
