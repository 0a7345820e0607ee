//! Texts, alone and beside other columns: train, predict, evaluate, info; and texts that are hard to read.

use crate::folder::Folder;
use crate::tables::{column, header, noise, texts};
use std::fmt::Write;

const GOOD: [&str; 4] =
    ["a wonderful and moving film", "superb acting", "great fun", "i loved every minute of it"];
const BAD: [&str; 4] = ["a boring and stupid film", "awful acting", "no fun", "i hated every minute of it"];
const FILLER: [&str; 4] =
    ["we saw it on sunday", "the hall was full", "it has two hours", "it plays in rome"];

/// The text of a row and whether it is for the film.
fn review(row: usize) -> (String, bool) {
    let pick = |k: u64, of: [&'static str; 4]| of[(4.0 * noise(31 * row as u64 + k)) as usize];
    let good = noise(31 * row as u64 + 7) < 0.5;
    let verdict = pick(1, if good { GOOD } else { BAD });
    (format!("{}<br />{verdict}, {} in row {row}!", pick(0, FILLER), pick(2, FILLER)), good)
}

/// JSON lines with `text`, `label` and a number `stars` that tells nothing.
fn reviews(rows: usize) -> String {
    let mut out = String::new();
    for row in 0..rows {
        let (text, good) = review(row);
        let line =
            serde_json::json!({ "text": text, "label": if good { "pos" } else { "neg" }, "stars": row % 5 });
        writeln!(out, "{line}").expect("memory");
    }
    out
}

const SMALL: &str = "--set encoder.text.width=8 --set encoder.text.heads=2 --set encoder.text.feed_forward=8 \
    --set train.pretrain_epochs=12 --set train.pretrain_learning_rate=0.01 --set train.pretrain_batch_size=32";

fn with_model(more: &str) -> Folder {
    let folder = Folder::new();
    folder.write("r.jsonl", reviews(300));
    folder.train(&format!("r.jsonl --text text --target label -o m.ign --quiet {SMALL} {more}")).succeeds();
    folder
}

#[test]
fn reviews_are_learned_and_a_line_from_a_pipe_is_judged() {
    for more in [
        "",
        "--head softmax",
        "--set encoder.members=2",
        "--set encoder.text.blocks=0",
        "--set data.ignore=[\"stars\"]",
    ] {
        let folder = with_model(more);
        let scores = folder.ign("evaluate m.ign r.jsonl --json").succeeds().json();
        assert!(scores["accuracy"].as_f64().expect("a number") > 0.95, "{more}: {scores}");
        let lines = b"{\"text\": \"SUPERB acting, I loved every minute of it\", \"stars\": 1}\n{\"text\": \"a boring and stupid film\", \"stars\": 1}\n";
        let judged = folder.ign_reading("predict --columns all m.ign -", lines).succeeds().stdout;
        assert_eq!(texts(&judged, "label"), ["pos", "neg"], "{more}");
        assert_eq!(header(&judged)[..3], ["label", "p_neg", "p_pos"]);
    }
}

#[test]
fn a_column_of_many_words_is_recognised_as_text_and_can_be_something_else() {
    let folder = Folder::new();
    folder.write("r.jsonl", reviews(300));
    let run = folder.train(&format!("r.jsonl --target label -o m.ign {SMALL}")).succeeds();
    assert!(run.stderr.contains("`text`") && run.stderr.contains("1 text column"), "{}", run.stderr);
    let info = folder.ign("info m.ign").succeeds().stdout;
    assert!(info.contains("text (text)") && info.contains("transformer blocks"), "{info}");
    let run = folder.train("r.jsonl --target label -o m.ign --set data.columns.text=ignore").succeeds();
    assert!(run.stderr.contains("1 input encoded as"), "{}", run.stderr);
}

#[test]
fn numbers_are_learned_from_texts_and_columns_beside_them() {
    let folder = Folder::new();
    let mut table = "size,note,price\n".to_owned();
    for row in 0..400 {
        let (text, good) = review(row);
        let size = noise(5_000 + row as u64);
        writeln!(table, "{size},\"{text}\",{}", size + if good { 1.0 } else { -1.0 }).expect("memory");
    }
    folder.write("t.csv", table);
    folder
        .train(&format!(
            "t.csv --target price -o m.ign --quiet {SMALL} --set train.pretrain_epochs=60 --set train.epochs=10"
        ))
        .succeeds();
    let r2 = folder.ign("evaluate m.ign t.csv --json").succeeds().json()["r2"].as_f64().expect("a number");
    assert!(r2 > 0.95, "both the text and the number count: {r2}");
}

#[test]
fn the_words_of_a_text_are_the_same_in_every_format_and_container() {
    let folder = with_model("--set data.ignore=[\"stars\"]");
    let mut csv = "text\n".to_owned();
    (0..20).for_each(|row| writeln!(csv, "\"{}\"", review(row).0.replace(", ", ",\n")).expect("memory"));
    folder.write("n.csv", csv);
    folder.write("n.jsonl", reviews(20));
    let [a, b] = ["n.csv", "n.jsonl"].map(|file| {
        column(&folder.ign(&format!("predict --columns all m.ign {file}")).succeeds().stdout, "p_pos")
    });
    assert!(close(&a, &b), "a line break is no word");
}

#[test]
fn texts_that_are_hard_to_read_are_predicted_all_the_same() {
    let folder = with_model("--set data.ignore=[\"stars\"]");
    let long = "word ".repeat(200_000); // a million characters
    let cells =
        ["", " ", "?!", "zzz qqq", "😀 👍🏽", "فيلم رائع", "这部电影很好看", "a\u{0301}\u{202e}b", &long];
    let lines: String =
        cells.iter().map(|text| serde_json::json!({ "text": text }).to_string() + "\n").collect();
    let p = column(
        &folder.ign_reading("predict --columns all m.ign -", lines.as_bytes()).succeeds().stdout,
        "p_pos",
    );
    assert!(p.len() == cells.len() && p.iter().all(|p| (0.0..=1.0).contains(p)), "{p:?}");
    assert!(close(&p[..1], &p[1..2]), "no word is no word");
    let missing =
        folder.ign_reading("predict --columns all m.ign -", b"{\"text\": null}\n").succeeds().stdout;
    assert!(close(&column(&missing, "p_pos"), &p[..1]), "a missing text is an empty one");
    folder.write("bad.jsonl", b"{\"text\": \"good\"}\n{\"text\": \"caf\xe9\"}\n");
    folder.refuses("predict --columns all m.ign bad.jsonl", &["bad.jsonl:2", "UTF-8"]);
}

/// What a product of another size leaves of single precision.
fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}

#[test]
fn a_prediction_does_not_depend_on_the_texts_around_it() {
    let folder = with_model("");
    folder.write("all.jsonl", reviews(40));
    let together = column(&folder.ign("predict --columns all m.ign all.jsonl").succeeds().stdout, "p_pos");
    for (row, line) in reviews(40).lines().enumerate().step_by(13) {
        folder.write("one.jsonl", line);
        let alone = column(&folder.ign("predict --columns all m.ign one.jsonl").succeeds().stdout, "p_pos");
        assert!(close(&alone, &together[row..=row]));
    }
}

#[test]
fn settings_that_texts_cannot_have_are_refused() {
    let folder = Folder::new();
    folder.write("r.jsonl", reviews(60));
    let command = "r.jsonl --target label --text text -o m.ign";
    folder.refuses_to_train(&format!("{command} --encoder identity"), &["texts", "hint:"]);
    folder.refuses_to_train(&format!("{command} --encoder gin"), &["texts", "hint:"]);
    folder.refuses_to_train(&format!("{command} --set encoder.text.heads=3"), &["heads"]);
    folder.refuses_to_train(&format!("{command} --set data.text.length=0"), &["length"]);
    folder.refuses_to_train("r.jsonl --target label --text review -o m.ign", &["review"]);
    folder.refuses_to_train("r.jsonl --target text -o m.ign", &["text"]);
}

#[test]
fn one_and_two_threads_write_the_same_bytes() {
    let folder = with_model("--threads 1");
    let one = folder.read("m.ign");
    folder
        .train(&format!("r.jsonl --text text --target label -o m.ign --quiet {SMALL} --threads 2"))
        .succeeds();
    assert!(one == folder.read("m.ign"));
}

#[test]
fn a_text_of_no_use_leaves_a_plain_table() {
    let folder = Folder::new();
    for (name, words) in
        [("unique", "once{row}"), ("equal", "the same words in all"), ("signs", "?! ?!"), ("empty", "")]
    {
        let mut table = "t,a,y\n".to_owned();
        for row in 0..60 {
            writeln!(table, "\"{}\",{},{}", words.replace("{row}", &row.to_string()), noise(row), row % 2)
                .expect("memory");
        }
        folder.write("t.csv", table);
        let run = folder.train("t.csv --target y --text t -o m.ign").succeeds();
        assert!(
            run.stderr.contains("column `t`") && run.stderr.contains("1 input encoded as"),
            "{name}: {}",
            run.stderr
        );
    }
    folder.refuses_to_train(
        "t.csv --target y --text y -o n.ign",
        &["`y`", "both the target and a text", "--text"],
    );
}

#[test]
fn rows_without_a_known_word_are_counted() {
    let folder = with_model("--set data.ignore=[\"stars\"]");
    let run = folder
        .ign_reading("predict --columns all m.ign -", b"{\"text\": \"zzz qqq\"}\n{\"text\": \"superb\"}\n")
        .succeeds();
    assert!(run.stderr.contains("column `text`: 1 row holds no word that the model knows"), "{}", run.stderr);
}
