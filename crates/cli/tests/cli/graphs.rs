//! Graphs: train, predict, evaluate, info; cross-validation; and files that are no graphs.

use crate::folder::Folder;
use crate::tables::{column, header, noise, texts};
use std::fmt::Write;

/// Rings for class `ring`, stars for class `star`, of 4 to 12 nodes; the numbers of the nodes are shuffled by `turn`.
fn graph(row: usize, turn: usize) -> (usize, Vec<[usize; 2]>, &'static str) {
    let n = 4 + (9.0 * noise(row as u64)) as usize;
    let node = |i: usize| (i + turn) % n;
    match row % 2 {
        0 => (n, (0..n).map(|i| [node(i), node((i + 1) % n)]).collect(), "ring"),
        _ => (n, (1..n).map(|i| [node(0), node(i)]).collect(), "star"),
    }
}

fn json_lines(rows: usize, turn: usize) -> String {
    let mut out = String::new();
    for row in 0..rows {
        let (nodes, edges, label) = graph(row, turn);
        writeln!(out, "{}", serde_json::json!({ "nodes": nodes, "edges": edges, "label": label }))
            .expect("memory");
    }
    out
}

const SMALL: &str =
    "--set encoder.graph.width=8 --set train.pretrain_epochs=20 --set train.pretrain_learning_rate=0.01";

fn with_model(more: &str) -> Folder {
    let folder = Folder::new();
    folder.write("g.jsonl", json_lines(120, 0));
    folder.train(&format!("g.jsonl -o m.ign --quiet {SMALL} {more}")).succeeds();
    folder
}

#[test]
fn rings_and_stars_are_told_apart_by_every_encoder() {
    for more in [
        "--encoder gin",
        "--encoder bag",
        "--head softmax",
        "--set encoder.members=2",
        "--preset paper --set train.epochs=60",
    ] {
        let folder = with_model(more);
        let scores = folder.ign("evaluate m.ign g.jsonl --json").succeeds().json();
        assert!(scores["accuracy"].as_f64().expect("a number") > 0.95, "{more}: {scores}");
        let out = folder.ign("predict m.ign g.jsonl").succeeds().stdout;
        assert_eq!(header(&out)[..4], ["graph", "label", "p_ring", "p_star"]);
        assert_eq!(texts(&out, "label")[..4], ["ring", "star", "ring", "star"], "{more}");
        assert!(folder.ign("info m.ign").succeeds().stdout.contains("graphs with"));
    }
}

#[test]
fn the_order_of_nodes_does_not_matter() {
    for encoder in ["gin", "bag"] {
        let folder = with_model(&format!("--encoder {encoder}"));
        folder.write("turned.jsonl", json_lines(120, 2));
        let [a, b] = ["g.jsonl", "turned.jsonl"]
            .map(|file| column(&folder.ign(&format!("predict m.ign {file}")).succeeds().stdout, "p_star"));
        // Sums in another order, in single precision.
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "{encoder}");
    }
}

#[test]
fn strange_graphs_are_predicted_all_the_same() {
    let folder = with_model("");
    let mut lines = String::from("{\"nodes\": 1, \"edges\": []}\n{\"nodes\": 3, \"edges\": []}\n");
    lines += "{\"nodes\": 4, \"edges\": [[0, 1], [2, 3], [0, 1], [1, 0], [2, 2]]}\n"; // two parts, doubles, a loop
    let chain: Vec<[usize; 2]> = (1..10_000).map(|i| [i - 1, i]).collect();
    writeln!(lines, "{}", serde_json::json!({ "nodes": 10_000, "edges": chain })).expect("memory");
    let run = folder.ign_reading("predict m.ign -", lines.as_bytes()).succeeds();
    let p = column(&run.stdout, "p_star");
    assert!(p.len() == 4 && p.iter().all(|p| (0.0..=1.0).contains(p)), "{p:?}");
    assert!(run.stderr.contains("from a node to itself"), "{}", run.stderr);
}

#[test]
fn files_that_are_no_graphs_are_refused() {
    let folder = with_model("");
    for (line, words) in [
        ("{\"nodes\": 2, \"edges\": [[0, 2]]}", &["bad.jsonl:1", "2"][..]),
        ("{\"nodes\": 0, \"edges\": []}", &["bad.jsonl:1"]),
        ("{\"nodes\": 2, \"edges\": [[0, 1]", &["bad.jsonl:1"]),
        ("{\"nodes\": 2}", &["bad.jsonl:1", "edges"]),
    ] {
        folder.write("bad.jsonl", line);
        folder.refuses("predict m.ign bad.jsonl", words);
    }
    folder.write("x.zip", b"PK\x03\x04 and then nothing of it");
    folder.refuses("predict m.ign x.zip", &["x.zip"]);
    folder.refuses_to_train("x.zip -o n.ign", &["x.zip"]);
    folder.write("one.jsonl", json_lines(20, 0).replace("star", "ring"));
    folder.refuses_to_train("one.jsonl -o n.ign", &["one.jsonl", "ring"]);
    folder.refuses_to_train("g.jsonl --target label -o n.ign", &["graphs", "--target"]);
    folder.refuses_to_train("g.jsonl --encoder cnn -o n.ign", &["graphs", "hint:"]);
}

/// The files of the TU Dortmund collection.
fn tu_folder(folder: &Folder, rows: usize) {
    let (mut edges, mut indicator, mut labels, mut before) = (String::new(), String::new(), String::new(), 1);
    for row in 0..rows {
        let (nodes, of_row, label) = graph(row, 0);
        for [a, b] in of_row {
            writeln!(edges, "{}, {}\n{}, {}", a + before, b + before, b + before, a + before)
                .expect("memory");
        }
        (0..nodes).for_each(|_| writeln!(indicator, "{}", row + 1).expect("memory"));
        writeln!(labels, "{}", i32::from(label == "star")).expect("memory");
        before += nodes;
    }
    folder.put("TOY/TOY_A.txt", edges);
    folder.put("TOY/TOY_graph_indicator.txt", indicator);
    folder.put("TOY/TOY_graph_labels.txt", labels);
}

#[test]
fn a_folder_of_the_tu_collection_is_cross_validated_and_goes_on_after_a_stop() {
    let folder = Folder::new();
    tu_folder(&folder, 60);
    let command = format!("TOY -o m.ign {SMALL} --folds 3 --repeats 2");
    let run = folder.train(&command).succeeds();
    assert!(
        run.stdout.contains("2 × 3-fold cross-validation") && run.stdout.contains("accuracy"),
        "{}",
        run.stdout
    );
    let records = folder.text("m.ign.folds.jsonl");
    assert_eq!(records.lines().count(), 1 + 6);
    let held_out: u64 = records.lines().skip(1).take(6).map(scored).sum();
    assert_eq!(held_out, 2 * 60, "every graph is held out once a repeat");
    // As if it had been stopped in the middle of the fifth line.
    let model = folder.read("m.ign");
    let part: String =
        records.lines().take(4).map(|line| format!("{line}\n")).collect::<String>() + "{\"repeat\": 1,";
    folder.write("m.ign.folds.jsonl", part);
    let again = folder.train(&format!("{command} --resume")).succeeds();
    let table = |stdout: &str| stdout.lines().skip(1).take(6).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(table(&again.stdout), table(&run.stdout), "the same figures");
    assert!(model == folder.read("m.ign"));
    folder.refuses_to_train(
        &format!("{command} --resume --seed 3"),
        &["folds.jsonl", "other data, folds or settings"],
    );
    folder.refuses_to_train(&format!("{SMALL} TOY -o m.ign --folds 100"), &["60 rows", "--folds"]);
}

/// Graphs that a record was scored on.
fn scored(line: &str) -> u64 {
    let record: serde_json::Value = serde_json::from_str(line).expect("a record");
    record["scores"]["n"].as_u64().expect("a count")
}

#[test]
fn inputs_of_another_kind_are_named() {
    let folder = with_model("");
    folder.write("t.csv", crate::tables::linear(60));
    folder.refuses("predict m.ign t.csv", &["t.csv holds a table", "graphs"]);
    folder.refuses("evaluate m.ign t.csv", &["t.csv holds a table", "graphs"]);
    folder.train("t.csv --target y -o t.ign --quiet").succeeds();
    folder.refuses("predict t.ign g.jsonl", &["g.jsonl holds graphs", "table"]);
    folder.refuses("predict m.ign g.jsonl --keep label", &["keep"]);
}

#[test]
fn more_nodes_than_memory_are_refused() {
    let folder = with_model("");
    folder.write("big.jsonl", "{\"nodes\": 20000000, \"edges\": []}\n");
    folder.refuses("predict m.ign big.jsonl", &["big.jsonl:1", "nodes", "hint:"]);
}

#[test]
fn the_only_row_of_a_class_is_always_learned_from_and_json_is_one_object() {
    let folder = Folder::new();
    let table = crate::tables::labelled(79, &["no", "yes"]) + "0.5,0.5,solo\n";
    folder.write("t.csv", table);
    let report = folder.train("t.csv --target y -o m.ign --folds 4 --repeats 2 --json").succeeds().json();
    assert_eq!(report["cross_validation"]["scores"]["accuracy"]["folds"], 8);
    assert!(report["metrics"]["validation"].is_object());
    let labels = texts(&folder.ign("predict m.ign t.csv").succeeds().stdout, "label");
    assert!(
        labels.iter().all(|label| ["no", "yes", "solo"].contains(&label.as_str())),
        "as they are spelled"
    );
    folder.train("t.csv --target a -o n.ign --folds 3 --quiet").succeeds();
    assert_eq!(folder.text("n.ign.folds.jsonl").lines().skip(1).map(scored).sum::<u64>(), 80);
}
