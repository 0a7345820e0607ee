//! `ign data`, and `ign demo` with a network that is too small to show anything.

use crate::folder::{Folder, TINY};

const SETS: [&str; 5] = ["levy", "griewank", "borehole", "otl-circuit", "wing-weight"];

#[test]
fn the_list_names_every_set_and_each_can_be_generated() {
    let folder = Folder::new();
    let list = folder.ign("data list").succeeds().stdout;
    let json = folder.ign("data list --json").succeeds().stdout;
    assert_eq!(
        list.lines().count(),
        json.lines().count(),
        "one line a set, the public ones after the simulated"
    );
    for (set, line) in SETS.iter().zip(json.lines()) {
        assert!(list.contains(set), "{list}");
        let described: serde_json::Value = serde_json::from_str(line).expect("one object a line");
        assert_eq!((&described["name"], &described["kind"]), (&(*set).into(), &"simulated".into()));
        let inputs = described["inputs"].as_array().expect("a list").len();
        let table = folder.ign(&format!("data generate {set} --rows 3")).succeeds().stdout;
        assert_eq!(table.lines().count(), 4, "a header and three rows");
        assert_eq!(table.lines().next().expect("a header").split(',').count(), inputs + 1);
    }
}

#[test]
fn the_list_says_which_public_sets_are_there() {
    let folder = Folder::new();
    let there = |words: &str| -> Vec<(String, Option<bool>)> {
        let list = folder.ign(&format!("data list --json {words}")).succeeds().stdout;
        let lines = list.lines().map(|line| serde_json::from_str(line).expect("one object a line"));
        let public = lines.filter(|set: &serde_json::Value| set["kind"] == "public");
        public.map(|set| (set["name"].as_str().expect("a name").to_owned(), set["there"].as_bool())).collect()
    };
    assert!(there("").iter().all(|(_, there)| there.is_none()), "without a folder nobody knows");
    folder.put("sets/bike-hour/hour.csv", "");
    let sets = there("--data-dir sets");
    assert_eq!(sets.len(), 20);
    for (name, there) in sets {
        assert_eq!(there, Some(name.starts_with("bike-hour")), "{name}");
    }
}

#[cfg(not(feature = "fetch"))]
#[test]
fn a_build_without_fetch_lists_the_sets_and_names_the_feature() {
    let folder = Folder::new();
    folder.ign("data list").succeeds();
    folder.refuses("data fetch bike-hour --data-dir sets", &["cannot fetch", "feature `fetch`"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_in_every_format_and_another_seed_others() {
    let folder = Folder::new();
    for extension in ["csv", "csv.gz", "parquet", "jsonl"] {
        for (name, seed) in [("one", 7), ("two", 7), ("three", 8)] {
            let out = format!("{name}.{extension}");
            folder
                .ign(&format!("data generate borehole --rows 50 --noise 0.5 --seed {seed} -o {out}"))
                .succeeds();
        }
        let bytes = |name: &str| folder.read(&format!("{name}.{extension}"));
        assert_eq!(bytes("one"), bytes("two"), "{extension}");
        assert_ne!(bytes("one"), bytes("three"), "{extension}");
    }
}

#[test]
fn noise_changes_the_target_only() {
    let folder = Folder::new();
    let plain = folder.ign("data generate levy --rows 20").succeeds().stdout;
    let noisy = folder.ign("data generate levy --rows 20 --noise 2").succeeds().stdout;
    let inputs = |text: &str| {
        text.lines().map(|line| line.rsplit_once(',').expect("columns").0.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(inputs(&plain), inputs(&noisy));
    assert_ne!(plain, noisy);
}

#[test]
fn the_output_format_overrules_the_name() {
    let folder = Folder::new();
    let lines = folder.ign("data generate levy --rows 2 --output-format jsonl").succeeds().stdout;
    for line in lines.lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).expect("an object")["y"].is_number());
    }
}

#[test]
fn the_demonstration_leaves_a_model_that_says_what_to_do_next() {
    let folder = Folder::new();
    let run = folder
        .ign(&format!("demo {TINY} --set train.max_steps=8 --set train.pretrain_max_steps=8"))
        .succeeds();
    assert!(run.stdout.contains("ign predict demo.ign"), "{}", run.stdout);
    assert_eq!(run.stdout.lines().last(), Some("demo.report.html"), "its path comes last");
    assert_eq!(folder.names(), ["demo.ign", "demo.ign.times.jsonl", "demo.report.html"]);
    let header = folder.ign("info demo.ign --json").succeeds().json();
    assert_eq!(header["rows"][2], 4000, "40 % of 10,000 rows are held out");
    assert!(header["metrics"]["test"]["y"]["rmse"].is_number());
}

#[test]
fn unknown_sets_and_impossible_noise_are_refused_with_the_choices() {
    let folder = Folder::new();
    folder.refuses("data generate levi", &["levi", "wing-weight"]);
    folder.refuses("data generate levy --rows 0", &["--rows"]);
    folder.refuses("data generate levy --noise=-1", &["--noise"]);
    folder.refuses("data generate levy --noise=nan", &["--noise"]);
    folder.refuses("data generate levy --rows 2 -o nowhere/x.csv", &["nowhere/x.csv", "no such folder"]);
}
