//! `ign inspect` and `ign report`: what they print, write and refuse. How the page looks is the business of
//! `browser/check`.

use crate::folder::Folder;
use crate::tables::linear;
use serde_json::Value;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"))).collect()
}

#[test]
fn inspect_tells_every_inducing_point_with_its_label_neighbours_and_assigned_rows() {
    let folder = Folder::with_model();
    let text = folder.ign("inspect m.ign --data t.csv").succeeds().stdout;
    assert!(text.starts_with("16 inducing points") && text.contains("among 200 of t.csv"), "{text}");
    assert!(text.contains("pseudo-label") && text.contains("line "), "{text}");
    let points = lines(&folder.ign("inspect m.ign --data t.csv --nearest 3 --json").succeeds().stdout);
    assert_eq!(points.len(), 16);
    let assigned: u64 = points.iter().map(|point| point["assigned"].as_u64().expect("a count")).sum();
    assert_eq!(assigned, 200, "every row is assigned to one point");
    for point in &points {
        let near = point["nearest"].as_array().expect("neighbours");
        let distance = |k: usize| near[k]["distance"].as_f64().expect("a number");
        assert!(near.len() == 3 && distance(0) <= distance(1) && distance(1) <= distance(2), "{point}");
        assert!(near[0]["example"]["a"].as_str().is_some_and(|cell| cell.parse::<f64>().is_ok()), "{point}");
        assert!(point["refined"]["after"].as_f64() <= point["refined"]["before"].as_f64(), "{point}");
    }
    let other =
        lines(&folder.ign("inspect m.ign --data t.csv --test t.csv --no-refine --json").succeeds().stdout);
    assert!(other.iter().all(|point| point.get("refined").is_none()));
}

#[test]
fn inspect_needs_no_target_but_the_inputs() {
    let folder = Folder::with_model();
    let table = folder.text("t.csv");
    let without: Vec<String> =
        table.lines().map(|line| line.rsplit_once(',').expect("three columns").0.to_owned()).collect();
    folder.write("x.csv", without.join("\n"));
    let points = lines(&folder.ign("inspect m.ign --data x.csv --json").succeeds().stdout);
    assert!(points.len() == 16 && points[0]["nearest"][0]["truth"] == "", "{}", points[0]);
    folder.refuses("report m.ign --test x.csv", &["x.csv", "`y`"]);
}

#[test]
fn refined_images_are_strictly_closer_and_written_beside_the_nearest() {
    let folder = Folder::with_image_model();
    // Few, so that no point lies on a image.
    folder.train("pets -o few.ign --set gp.inducing=3 --quiet").succeeds();
    let text = folder.ign("inspect few.ign --data pets --out gallery").succeeds().stdout;
    assert_eq!(text.lines().last(), Some("gallery"), "where it is comes last");
    let points = lines(&folder.text("gallery/inducing.jsonl"));
    for (i, point) in points.iter().enumerate() {
        let [before, after] =
            ["before", "after"].map(|key| point["refined"][key].as_f64().expect("a number"));
        assert!(after < before, "{point}");
        for what in ["nearest", "refined"] {
            let name = format!("gallery/point-{:03}-{what}.png", i + 1);
            assert!(folder.read(&name).starts_with(b"\x89PNG"), "{name}");
        }
    }
    assert!(
        folder.text("gallery/gallery.svg").contains("<svg")
            && (cfg!(not(feature = "png")) || folder.read("gallery/gallery.png").len() > 1000)
    );
}

#[test]
fn a_report_is_one_file_with_its_figures_on_request_and_the_same_bytes_again() {
    let folder = Folder::with_model();
    folder.write("test.csv", linear(300));
    let run =
        folder.ign("report m.ign --test test.csv --data t.csv -o page.html --figures figures").succeeds();
    assert_eq!(run.stdout, "page.html\n");
    let page = folder.text("page.html");
    assert!(page.contains("<!DOCTYPE html>") || page.contains("<!doctype html>"));
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );
    for name in ["mean-variance", "coverage", "risk", "feature-space", "importance-error", "joint-training"] {
        assert!(folder.text(&format!("figures/{name}.svg")).contains("<svg"), "{name}");
        let png = format!("figures/{name}.png");
        if cfg!(feature = "png") {
            assert!(folder.read(&png).starts_with(b"\x89PNG"), "{name}");
        } else {
            assert!(!folder.path(&png).exists() && run.stderr.contains("feature `png`"), "{name}");
        }
    }
    folder.ign("report m.ign --test test.csv --data t.csv -o again.html").succeeds();
    assert!(folder.read("page.html") == folder.read("again.html"), "other bytes");
    folder.ign("report m.ign --test test.csv").succeeds();
    assert!(folder.names().contains(&"m.report.html".to_owned()));
}

#[test]
fn models_that_predict_the_same_stand_side_by_side_and_others_do_not() {
    let folder = Folder::with_model();
    folder.train("t.csv --target y -o other.ign --seed 3 --quiet --no-report").succeeds();
    folder.train("t.csv --target a -o a.ign --quiet --no-report").succeeds();
    assert!(!folder.names().contains(&"other.report.html".to_owned()), "no page was asked for");
    folder.ign("report m.ign other.ign --test t.csv -o both.html").succeeds();
    let page = folder.text("both.html");
    assert!(page.contains("m.ign") && page.contains("other.ign"));
    folder.refuses("report m.ign a.ign --test t.csv -o c.html", &["m.ign predicts y", "a.ign predicts a"]);
}

#[test]
fn what_cannot_be_shown_is_refused_and_nothing_is_written() {
    let folder = Folder::with_model();
    folder.write("none.csv", "a,b,y\n");
    folder.write("missing.csv", "a,b,y\n1,2,\n");
    folder.refuses("report m.ign --test missing.csv", &["missing.csv"]);
    folder.refuses("report m.ign --test none.csv", &["none.csv"]);
    folder.refuses("report m.ign --test nowhere.csv", &["nowhere.csv"]);
    folder.refuses("report m.ign --test t.csv --part train", &["`--part`", "t.csv has none"]);
    folder.refuses("evaluate m.ign t.csv --part test", &["`--part`", "t.csv has none"]);
    folder.refuses("evaluate m.ign nowhere.csv --part test", &["nowhere.csv: no such file"]);
    folder.ign("evaluate m.ign t.csv --part all").succeeds();
    folder.refuses("report m.ign --test t.csv -o t.csv", &["t.csv", "overwrite"]);
    folder.refuses("report m.ign --test t.csv -o nowhere/page.html", &["nowhere"]);
    folder.refuses("report m.ign --test t.csv --figures t.csv", &["t.csv"]);
    folder.refuses("report --test t.csv", &["MODEL"]);
    folder.refuses("inspect m.ign", &["--data"]);
    folder.refuses("inspect m.ign --data none.csv", &["none.csv"]);
    folder.write("c.csv", "a,b,y\n".to_owned() + &"1,2,no\n2,1,yes\n3,5,no\n4,4,yes\n".repeat(20));
    folder.train("c.csv --target y --head softmax -o plain.ign --quiet").succeeds();
    folder.refuses("inspect plain.ign --data c.csv", &["plain.ign", "no inducing points"]);
}

#[test]
fn training_writes_the_page_of_its_test_part_and_tells_where_it_is() {
    let folder = Folder::new();
    folder.write("t.csv", linear(300));
    let run = folder.train("t.csv --target y -o m.ign --test-share 0.3").succeeds();
    assert_eq!(run.stdout.lines().last(), Some("m.report.html"));
    assert!(folder.text("m.report.html").contains("the test part"));
    let times = lines(&folder.text("m.ign.times.jsonl"));
    assert!(times.iter().all(|line| line["seconds"].as_f64().is_some_and(|seconds| seconds >= 0.0)));
    assert_eq!(times.iter().filter(|line| line["phase"] == "pretraining").count(), 2);
    let json = folder.train("t.csv --target y -o m.ign --json --quiet").succeeds().json();
    assert_eq!(json["report"], "m.report.html");
    assert!(folder.text("m.report.html").contains("the validation part"));
    let json = folder.train("t.csv --target y -o m.ign --json --quiet --no-report").succeeds().json();
    assert_eq!(json["report"], Value::Null);
}
