//! `ign reproduce`: runs of made rows in milliseconds, records, plans and interruptions. The page: `results.rs`.

use crate::folder::{Folder, Run, TINY};
use crate::interruption::Running;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// Besides [`TINY`]: what texts and graphs need to be small.
const SMALL: &str =
    "--set encoder.text.width=8 --set encoder.text.feed_forward=8 --set encoder.graph.width=8";

impl Folder {
    /// Runs `ign reproduce` with tiny settings on the sets in `sets/`.
    pub(crate) fn reproduce(&self, words: &str) -> Run {
        self.ign(&format!("reproduce --data-dir sets {TINY} {SMALL} {words}"))
    }

    /// Names in the folder of records.
    fn recorded(&self, ending: &str) -> Vec<String> {
        let names = self.names().into_iter().filter(|name| name.starts_with("reproduce/"));
        names.filter(|name| name.ends_with(ending)).collect()
    }
}

/// The records of the runs that were just made.
fn finished(run: &Run) -> Vec<Value> {
    run.json()["finished"].as_array().expect("a list").clone()
}

/// The record of an experiment with preset `paper`; runs end in any order.
fn of<'a>(records: &'a [Value], experiment: &str) -> &'a Value {
    records
        .iter()
        .find(|record| record["experiment"] == experiment && record["preset"] == "paper")
        .unwrap_or_else(|| panic!("no {experiment}"))
}

#[test]
fn named_tables_have_the_columns_of_the_paper() {
    let folder = Folder::with_sets();
    folder.put_query();
    let words =
        "protein pm25 energy bike-hour bike-hour-clean query --presets paper --repeats 1 --json --quiet";
    let run = folder.reproduce(words).succeeds();
    let records = finished(&run);
    for (name, inputs) in [
        ("protein", 9),
        ("pm25", 15),
        ("energy", 27),
        ("bike-hour", 15),
        ("bike-hour-clean", 13),
        ("query", 4),
    ] {
        assert_eq!(of(&records, name)["inputs"], inputs, "{name}");
    }
    assert_eq!(of(&records, "protein")["rows"], serde_json::json!([120, 0, 80]), "60/40");
    let rows = of(&records, "pm25")["rows"].as_array().expect("three").iter().filter_map(Value::as_u64);
    assert_eq!(rows.sum::<u64>(), 178, "rows without a target are no rows");
    let scores = of(&records, "query")["scores"].as_object().expect("scores");
    for name in
        ["rmse", "nll", "constant_nll", "crps", "coverage_50", "coverage_90", "coverage_95", "variance"]
    {
        assert!(scores[name].as_f64().is_some_and(f64::is_finite), "{name}: {scores:?}");
    }
}

#[test]
fn a_named_table_is_trained_on_by_its_name() {
    let folder = Folder::with_sets();
    folder.train("bike-hour-clean --data-dir sets -o m.ign --quiet").succeeds();
    let info = folder.ign("info m.ign --json").succeeds().json();
    assert_eq!(info["schema"]["inputs"].as_array().expect("columns").len(), 13);
    folder.refuses("evaluate m.ign bike-hour-clean --data-dir sets", &["no test part"]);
    folder.ign("evaluate m.ign bike-hour-clean --data-dir sets --part all").succeeds();
}

#[test]
fn a_small_table_is_trained_on_by_its_name() {
    let folder = Folder::with_sets();
    folder.train("energy-efficiency --data-dir sets -o m.ign --quiet").succeeds();
    let info = folder.ign("info m.ign --json").succeeds().json();
    assert_eq!(info["schema"]["inputs"].as_array().expect("columns").len(), 8, "not the 27 of Energy");
    folder.refuses_to_train("wine --data-dir sets", &["wine", "sets/uci-small/wine.csv"]);
}

#[test]
fn gaps_and_clusters_are_held_out_once_each_and_not_again() {
    let folder = Folder::with_sets();
    let run = folder.reproduce("gaps --repeats 1 --json").succeeds();
    let records = finished(&run);
    let with = |experiment: &str, kind: char| -> Vec<&Value> {
        let own = |record: &&Value| {
            record["experiment"] == experiment
                && record["variant"].as_str().is_some_and(|v| v.starts_with(kind))
        };
        records.iter().filter(own).collect()
    };
    // The catalogue's seven inputs of Concrete and five clusters; of the other two, clusters alone.
    assert_eq!((records.len(), with("gaps-concrete", 'g').len(), with("gaps-yacht", 'c').len()), (22, 7, 5));
    assert!(records.iter().all(|record| record["preset"] == "default"), "`paper` was not asked for");
    let test_rows = |records: Vec<&Value>| -> Vec<u64> {
        records.iter().filter_map(|record| record["rows"][2].as_u64()).collect()
    };
    assert!(
        test_rows(with("gaps-concrete", 'g')).iter().all(|rows| (39..=41).contains(rows)),
        "a third of 120"
    );
    assert_eq!(test_rows(with("gaps-concrete", 'c')).iter().sum::<u64>(), 120, "every row once");
    for record in &records {
        assert_eq!(
            record["rows"].as_array().expect("three").iter().filter_map(Value::as_u64).sum::<u64>(),
            match record["experiment"].as_str() {
                Some("gaps-concrete") => 120,
                Some("gaps-yacht") => 80,
                _ => 100,
            }
        );
        for name in ["rmse", "nll", "crps", "coverage_95", "baseline_nll", "baseline_coverage_95"] {
            assert!(record["scores"][name].as_f64().is_some_and(f64::is_finite), "{name}: {record}");
        }
    }
    assert!(run.stderr.contains("left out: gaps-wine, default, 15 runs (no data"), "{}", run.stderr);
    let again = folder.reproduce("gaps --repeats 1").succeeds();
    assert!(again.stderr.contains("22 runs are done already; nothing to do"), "{}", again.stderr);
    let paper =
        finished(&folder.reproduce("gaps-yacht --repeats 1 --presets paper --json --quiet").succeeds());
    assert!(paper.len() == 5 && paper.iter().all(|record| record["preset"] == "paper"));
    let page = folder.ign(&format!("reproduce --page-only {TINY} {SMALL}")).succeeds();
    assert!(page.stdout.contains("written from 27 records"), "{}", page.stdout);
    let page = folder.text("reproduce/results.md");
    assert!(page.contains("| Concrete | default | gaps | 7 |"), "{page}");
    assert!(page.contains("**Preset `paper`**, 5 parts of 1 set:"), "{page}");
}

#[test]
fn large_tables_are_held_out_by_clusters() {
    let folder = Folder::with_sets();
    let words = "gaps-protein gaps-pm25 --repeats 1 --json --quiet";
    let records = finished(&folder.reproduce(words).succeeds());
    let held_out = |name: &str| -> u64 {
        let own = records.iter().filter(|record| record["experiment"] == name);
        own.filter_map(|record| record["rows"][2].as_u64()).sum()
    };
    assert_eq!(
        (held_out("gaps-protein"), held_out("gaps-pm25")),
        (200, 178),
        "rows without a target are no rows"
    );
}

#[test]
fn the_wave_is_drawn_beside_the_page_from_its_record() {
    let folder = Folder::new();
    let run = folder.reproduce("wave --repeats 2 --json --quiet").succeeds();
    let records = finished(&run);
    assert_eq!(records.len(), 2, "preset `default` alone");
    assert_ne!(records[0]["data"], records[1]["data"], "a repeat is another sample");
    let page = folder.text("reproduce/results.md");
    assert!(page.contains("(results-wave.svg)") && page.contains("| default | 2 | "), "{page}");
    let svg = folder.text("reproduce/results-wave.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    assert_eq!((svg.matches("<polygon ").count(), svg.matches("<polyline ").count()), (2, 2));
    assert!(svg.matches("<circle ").count() > 600, "half of the training rows");
    std::fs::remove_file(folder.path("reproduce/results-wave.svg")).expect("there");
    folder.ign(&format!("reproduce --page-only --quiet {TINY} {SMALL}")).succeeds();
    assert_eq!(svg, folder.text("reproduce/results-wave.svg"), "the same record, the same bytes");
}

#[test]
fn images_texts_and_graphs_are_scored_on_parts_that_were_not_learned_from() {
    let folder = Folder::with_sets();
    let words = "toy-mnist table2 imdb-text imdb-graph --repeats 1 --json --quiet";
    let records = finished(&folder.reproduce(words).succeeds());
    // Two presets of three sets of images and the texts, `paper` alone one network a class, ten folds of graphs.
    assert_eq!(records.len(), 2 * 3 + 2 + 2 + 2 * 10);
    for record in &records {
        for name in ["accuracy", "nll", "ece", "brier", "variance_latent"] {
            assert!(record["scores"][name].as_f64().is_some_and(f64::is_finite), "{name}: {record}");
        }
    }
    assert_eq!(of(&records, "toy-mnist")["rows"][0].as_u64(), Some(40), "digits 5 and 6 alone");
    assert_eq!(of(&records, "toy-mnist")["rows"][2].as_u64(), Some(0), "the test part is the set's own");
    let graphs =
        records.iter().filter(|record| record["experiment"] == "imdb-graph" && record["preset"] == "paper");
    let held_out: u64 = graphs.filter_map(|record| record["rows"][2].as_u64()).sum();
    assert_eq!(held_out, 60, "every graph is held out once");
}

#[test]
fn running_it_twice_gives_the_same_figures_on_any_number_of_jobs() {
    let folder = Folder::with_sets();
    let words = "protein energy --repeats 2 --json --quiet";
    let figures = ["one --jobs 1", "two --jobs 2"].map(|records| {
        let run = folder.reproduce(&format!("{words} --records {records}")).succeeds();
        let mut figures: Vec<String> = finished(&run)
            .iter()
            .map(|r| format!("{} {} {} {}", r["experiment"], r["preset"], r["seed"], r["scores"]))
            .collect();
        figures.sort();
        figures
    });
    assert_eq!(figures[0].len(), 8);
    assert_eq!(figures[0], figures[1]);
    let scores: BTreeSet<&str> =
        figures[0].iter().map(|line| line.split_once('{').expect("scores").1).collect();
    assert_eq!(scores.len(), 8, "another seed, another split, other figures");
}

#[test]
fn a_record_is_made_once_and_again_only_for_another_configuration() {
    let folder = Folder::with_sets();
    let words = "protein --repeats 1 --presets default";
    folder.reproduce(words).succeeds();
    let [name] = &folder.recorded(".json")[..] else { panic!("{:?}", folder.names()) };
    assert!(name.starts_with("reproduce/protein-default-0+"), "own settings, own name: {name}");
    let record = folder.text(name);
    let again = folder.reproduce(words).succeeds();
    assert!(again.stderr.contains("1 run is done already; nothing to do"), "{}", again.stderr);
    assert_eq!(record, folder.text(name));
    let fingerprint = serde_json::from_str::<Value>(&record).expect("JSON")["fingerprint"].clone();
    folder.write(name, record.replace(fingerprint.as_str().expect("text"), "0123456789abcdef"));
    let again = folder.reproduce(words).succeeds();
    assert!(again.stderr.contains("another configuration"), "{}", again.stderr);
    folder.write(name, &record[..40]);
    let again = folder.reproduce(words).succeeds();
    assert!(again.stderr.contains("damaged"), "{}", again.stderr);
    let scores = |text: &str| serde_json::from_str::<Value>(text).expect("JSON")["scores"].clone();
    assert_eq!(scores(&record), scores(&folder.text(name)));
    folder.reproduce(&format!("{words} --set gp.noise=0.2")).succeeds();
    assert_eq!(folder.recorded(".json").len(), 2, "another setting is another record");
}

#[test]
fn a_plan_keeps_to_the_time_given_and_says_what_it_leaves_out() {
    let folder = Folder::with_sets();
    let run = folder
        .reproduce("protein mnist --repeats 1 --jobs 1 --budget 1m --presets default --json")
        .succeeds();
    let result = run.json();
    let left_out: Vec<&str> =
        result["left_out"].as_array().expect("a list").iter().filter_map(|run| run["run"].as_str()).collect();
    assert!(left_out.len() == 1 && left_out[0].starts_with("mnist-default-0"), "{left_out:?}");
    assert!(
        run.stderr.contains("left out: mnist, default, 1 run (about 75 s each, more than is left of 60 s)"),
        "{}",
        run.stderr
    );
    // What a run took tells what the next ones take: by the guess only two more would fit.
    let run = folder.reproduce("protein --repeats 4 --jobs 1 --budget 1m --presets default").succeeds();
    assert!(run.stderr.contains("1 run is done already; 3 to do"), "{}", run.stderr);
    folder.refuses("reproduce protein --budget soon", &["soon", "2h"]);
}

#[test]
fn sets_that_are_not_there_are_left_out_and_listed() {
    let folder = Folder::with_sets();
    let run = folder.reproduce("query bike-hour --repeats 1 --presets paper").succeeds();
    assert!(
        run.stderr.contains("left out: query, paper, 1 run (no data") && run.stderr.contains("no data"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("bike-hour, paper, seed 0: RMSE"), "{}", run.stderr);
    let list = folder.ign("reproduce --list --data-dir sets").succeeds().stdout;
    let line = |name: &str| list.lines().find(|line| line.starts_with(name)).expect("listed").to_owned();
    assert!(line("query ").contains("no data") && line("protein ").contains(": there"), "{list}");
    assert!(line("levy ").contains("simulated: there") && line("all ").contains("all of these"), "{list}");
    assert!(
        line("gaps-wine ").contains("no data") && line("gaps-yacht ").contains(": there; default"),
        "{list}"
    );
    assert!(line("gaps ").contains("gaps-airfoil") && line("gaps-large ").contains("gaps-pm25"), "{list}");
    let bare = folder.ign("reproduce --list").succeeds().stdout;
    assert!(bare.contains("IGN_DATA"), "{bare}");
}

#[test]
fn what_cannot_be_run_is_refused() {
    let folder = Folder::with_sets();
    folder.refuses("reproduce levvy", &["levvy", "did you mean `levy`?"]);
    folder.refuses("reproduce borhole", &["`borehole`"]);
    folder.refuses("reproduce xylophone", &["table1", "ablation"]);
    folder.refuses("reproduce", &["nothing to run", "--list"]);
    folder.refuses("reproduce levy --presets best", &["best", "paper"]);
    folder.refuses("reproduce levy --set train.epoch=1", &["epoch"]);
    folder.refuses("reproduce levy --noise=-1", &["above zero"]);
    folder.refuses("reproduce protein --noise", &["`--noise` is for simulated sets"]);
    folder.refuses("reproduce wave gaps --noise", &["`--noise` is for simulated sets"]);
    folder.refuses("reproduce gap", &["did you mean `gaps`?"]);
    folder.refuses("reproduce gaps-concret", &["did you mean `gaps-concrete`?"]);
    folder.refuses("reproduce gaps --data-dir nowhere", &["nothing can be run", "nowhere"]);
    folder.refuses("reproduce levy --repeats 100000000", &["--repeats", "1000"]);
    folder.refuses(
        "reproduce protein --data-dir nowhere",
        &["nothing can be run", "nowhere", "ign data fetch"],
    );
    folder.refuses("reproduce bogus --page-only", &["bogus"]);
    folder.refuses("reproduce --page-only --records nowhere", &["nowhere: no such folder", "--records"]);
    folder.put("reproduce/results-notes.toml", "enrgy = \"\"");
    folder.refuses("reproduce levy", &["results-notes.toml", "no row `enrgy`"]);
    folder.put("reproduce/results-notes.toml", [0xff]);
    folder.refuses("reproduce levy", &["results-notes.toml", "UTF-8"]);
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_figures() {
    let folder = Folder::with_sets();
    // Seconds on an idle machine, so that the signal meets it half-way.
    let words =
        "protein --repeats 2 --presets paper --jobs 1 --set train.epochs=4000 --set train.pretrain_epochs=0";
    let command = format!("reproduce --data-dir sets {TINY} {words}");
    let mut run = Running::new(folder.command(&command));
    run.wait_for("2 to do");
    std::thread::sleep(Duration::from_millis(300));
    run.signal("INT");
    assert_eq!(run.end(), Some(130), "{}", run.seen);
    assert!(run.seen.contains("continue with the same command"), "{}", run.seen);
    let [checkpoint] = &folder.recorded(".checkpoint")[..] else { panic!("{:?}", folder.names()) };
    assert!(checkpoint.starts_with("reproduce/protein-paper-"), "{checkpoint}");
    folder.ign(&command).succeeds();
    assert!(folder.recorded(".checkpoint").is_empty() && folder.recorded(".seconds").is_empty());
    folder.ign(&format!("{command} --records whole --page whole/p.md")).succeeds();
    for name in folder.recorded(".json") {
        let scores =
            |name: &str| serde_json::from_str::<Value>(&folder.text(name)).expect("JSON")["scores"].clone();
        assert_eq!(scores(&name), scores(&name.replace("reproduce/", "whole/")), "{name}");
    }
}

#[test]
fn a_checkpoint_of_other_data_is_not_gone_on_from() {
    let folder = Folder::with_sets();
    let words = "protein --repeats 1 --presets paper";
    folder.reproduce(words).succeeds();
    let [name] = &folder.recorded(".json")[..] else { panic!("{:?}", folder.names()) };
    let record = folder.text(name);
    std::fs::remove_file(folder.path(name)).expect("there");
    folder.write(&name.replace(".json", ".checkpoint"), "no checkpoint at all");
    let run = folder.reproduce(words).succeeds();
    assert!(run.stderr.contains("starts over"), "{}", run.stderr);
    let scores = |text: &str| serde_json::from_str::<Value>(text).expect("JSON")["scores"].clone();
    assert_eq!(scores(&record), scores(&folder.text(name)));
}
