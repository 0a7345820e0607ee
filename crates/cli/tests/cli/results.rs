//! The page that `ign reproduce` writes from its records.

use crate::folder::Folder;
use serde_json::json;

/// A record as the command writes it, with the scores that matter here.
fn record(experiment: &str, preset: &str, seed: u64, scores: &serde_json::Value) -> serde_json::Value {
    json!({
        "experiment": experiment, "preset": preset, "seed": seed, "scores": scores, "rows": [60, 0, 40], "inputs": 4,
        "seconds": 90.0, "threads": 1, "steps": 1000, "epochs": 500, "best_epoch": 500, "fingerprint": "f", "data": "d",
        "version": "0.1.0", "commit": "0123456789ab", "cores": 2, "cpu": "a processor", "finished": 1_794_813_317_u64 + seed,
    })
}

impl Folder {
    fn put_record(&self, name: &str, record: &serde_json::Value) {
        self.put(&format!("reproduce/{name}.json"), record.to_string());
    }

    fn page(&self) -> String {
        self.ign("reproduce --page-only --quiet").succeeds();
        self.text("reproduce/results.md")
    }
}

/// The line of a table that begins so.
fn line<'a>(page: &'a str, begins: &str) -> &'a str {
    page.lines().find(|line| line.starts_with(begins)).unwrap_or_else(|| panic!("no `{begins}` in\n{page}"))
}

#[test]
fn a_page_without_records_says_so_and_holds_the_papers_figures() {
    let folder = Folder::new();
    folder.put("reproduce/results-notes.toml", "");
    let page = folder.page();
    assert!(page.contains("There are no records yet."));
    assert_eq!(
        line(&page, "| Query "),
        "| Query | 100,000 × 4 | no data | no data | 0.077 ± 0.004 | **0.053 ± 0.000** | – | 0.058 ± 0.002 | 0.061 ± 0.000 |"
    );
    assert!(line(&page, "| Levy ").contains("| not run yet | not run yet | **0.178 ± 0.011** |"));
    assert!(page.contains("Nowhere among the rows that were run."));
}

#[test]
fn a_row_is_mean_and_deviation_and_its_best_is_bold() {
    let folder = Folder::new();
    for (seed, rmse) in [0.1, 0.2].into_iter().enumerate() {
        let scores = json!({ "rmse": rmse, "nll": -0.5, "coverage_95": 0.95 });
        let mut paper = record("levy", "paper", seed as u64, &scores);
        paper["seconds"] = (90 + 30 * seed).into();
        folder.put_record(&format!("levy-paper-{seed}"), &paper);
    }
    folder.put_record("levy-default-0", &record("levy", "default", 0, &json!({ "rmse": 0.02, "nll": -2.0 })));
    let page = folder.page();
    assert!(
        line(&page, "| Levy | 10,000").contains("| 0.150 ± 0.071 | **0.0200** | 0.178 ± 0.011 |"),
        "{page}"
    );
    let details = line(&page, "| Levy | paper");
    assert!(details.contains("| 2 | −0.500 ± 0.000 |") && details.contains("| 95.0 ± 0.0 |"), "{details}");
    assert!(details.contains("| 1000 | 90 s | 1 |"), "{details}");
    assert!(page.contains("a processor, 2 cores") && page.contains("ign 0.1.0 (0123456789ab)"), "{page}");
    assert!(page.contains("the newest of 2026-11-16"), "{page}");
    assert_eq!(page, folder.page(), "the same records, the same bytes");
}

#[test]
fn a_row_that_is_worse_has_its_reason_from_the_notes() {
    let folder = Folder::new();
    folder.put_record("pm25-default-0", &record("pm25", "default", 0, &json!({ "rmse": 0.32, "nll": 0.0 })));
    folder.put_record("energy-paper-0", &record("energy", "paper", 0, &json!({ "rmse": 0.9, "nll": 0.0 })));
    let page = folder.page();
    let missing = "**Energy, preset `paper`**: RMSE 0.900 against 0.738, beyond two of the paper's standard deviations (0.015). Not explained yet.";
    assert!(page.contains(missing), "{page}");
    folder.put("reproduce/results-notes.toml", "pm25 = \"The wind blew.\"\n");
    let page = folder.page();
    let explained =
        "RMSE 0.320 against 0.314, within two of the paper's standard deviations (0.008). The wind blew.";
    assert!(page.contains(explained), "{page}");
    folder.put("reproduce/results-notes.toml", "pm25 = 3\n");
    folder.refuses("reproduce --page-only", &["results-notes.toml"]);
}

#[test]
fn a_default_that_is_behind_the_paper_preset_is_told() {
    let folder = Folder::new();
    folder.put_record("levy-paper-0", &record("levy", "paper", 0, &json!({ "rmse": 0.02, "nll": -2.0 })));
    folder.put_record("levy-default-0", &record("levy", "default", 0, &json!({ "rmse": 0.03, "nll": -1.0 })));
    let page = folder.page();
    let expected = "RMSE 0.0300 against 0.0200, NLL -1.0000 against -2.0000, 1000 steps against 1000. Not explained yet.";
    assert!(page.contains(&format!("**Levy, `default` against `paper`**: {expected}")), "{page}");
    for (preset, accuracy) in [("paper", 0.99), ("default", 0.98)] {
        let scores = json!({ "accuracy": accuracy });
        folder.put_record(&format!("toy-mnist-{preset}-0"), &record("toy-mnist", preset, 0, &scores));
    }
    let page = folder.page();
    assert!(
        page.contains("**Toy-MNIST, `default` against `paper`**: accuracy 98.00 % against 99.00 %"),
        "{page}"
    );
}

#[test]
fn folds_are_one_repeat_when_all_are_there() {
    let folder = Folder::new();
    let fold = |fold: usize, seed: u64, accuracy: f64| {
        let mut record = record("imdb-graph", "paper", seed, &json!({ "accuracy": accuracy, "nll": 0.6 }));
        record["variant"] = format!("f{fold}").into();
        record
    };
    for k in 0..10 {
        folder.put_record(&format!("imdb-graph-paper-f{k}-0"), &fold(k, 0, 0.70 + 0.01 * k as f64));
    }
    folder.put_record("imdb-graph-paper-f0-1", &fold(0, 1, 0.1));
    let page = folder.page();
    assert!(
        line(&page, "| IMDB-Graph | 1,000").contains("| **74.50** | not run yet | 73.40 ± 0.63 |"),
        "{page}"
    );
    assert!(
        line(&page, "| IMDB-Graph | paper").contains("| 10000 | 15 min | 1 |"),
        "steps and time of ten folds: {page}"
    );
}

#[test]
fn records_of_an_earlier_configuration_and_of_own_settings_do_not_mix_in() {
    let folder = Folder::new();
    let mut old = record("levy", "paper", 0, &json!({ "rmse": 0.9 }));
    old["fingerprint"] = "old".into();
    folder.put_record("levy-paper-0", &old);
    folder.put_record("levy-paper-1", &record("levy", "paper", 1, &json!({ "rmse": 0.1 })));
    let mut own = record("levy", "paper", 2, &json!({ "rmse": 0.5 }));
    own["overrides"] = json!(["train.epochs=1"]);
    folder.put_record("levy-paper-2+3182a025", &own);
    folder.put("reproduce/stray.json", "{}");
    let page = folder.page();
    assert!(line(&page, "| Levy | 10,000").contains("| **0.100** |"), "{page}");
    assert!(
        page.contains("Levy, `paper`: left out are records of an earlier configuration, 1 in all."),
        "{page}"
    );
    folder.ign("reproduce --page-only --set train.epochs=1 --page own.md").succeeds();
    let own = folder.text("own.md");
    assert!(
        line(&own, "| Levy | 10,000").contains("| 0.500 |") && own.contains("`--set train.epochs=1`"),
        "{own}"
    );
}

#[test]
fn a_run_that_stopped_at_the_papers_figure_says_at_which_epoch() {
    let folder = Folder::new();
    let mut stopped = record("borehole", "paper", 0, &json!({ "rmse": 0.0029, "nll": -4.0 }));
    (stopped["epochs"], stopped["stopped_of"]) = (31.into(), 500.into());
    folder.put_record("borehole-paper-0", &stopped);
    let page = folder.page();
    assert!(page.contains("Borehole, `paper`: stopped after epoch 31 of 500"), "{page}");
}

#[test]
fn the_ablation_is_a_table_and_a_drawing() {
    let folder = Folder::with_sets();
    folder.reproduce("ablation --presets paper --repeats 2 --quiet").succeeds();
    let page = folder.text("reproduce/results.md");
    let row = line(&page, "| Protein | paper | ");
    assert_eq!(row.matches(" ± ").count(), 7, "{row}");
    assert!(line(&page, "| Query | paper | ").contains("no data"), "{page}");
    assert!(page.contains("(results-ablation.svg)"), "{page}");
    let svg = folder.text("reproduce/results-ablation.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    // Five panels, seven points each, and the legend; Query has no data.
    assert_eq!(svg.matches("<circle ").count(), 5 * 7 + 1, "{svg}");
    assert!(svg.contains(">IMDB-Text<") && !svg.contains(">Query<"));
}

#[test]
fn the_ablation_shows_variance_error_and_nll_with_what_was_noted() {
    let folder = Folder::new();
    folder.put("reproduce/results-notes.toml", "ablation = \"It falls.\"\n");
    assert!(!folder.page().contains("The error meanwhile"), "tables without a record");
    let mut text =
        record("imdb-text", "paper", 0, &json!({ "accuracy": 0.8438, "nll": 1.25, "variance_latent": 0.5 }));
    text["variant"] = "m8".into();
    folder.put_record("ablation-imdb-text-paper-m8-0", &text);
    let page = folder.page();
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| IMDB-Text | paper | ")).collect();
    let row = |figure: &str| format!("| IMDB-Text | paper | – | {figure} | – | – | – | – | – | 1 |");
    assert_eq!(rows, ["0.500", "84.38", "1.250"].map(row));
    assert!(page.contains("\n\nIt falls.\n\nThe error meanwhile"), "{page}");
}

/// Scores of a part that is held out.
fn away(nll: f64, coverage: f64) -> serde_json::Value {
    json!({
        "rmse": 0.5, "nll": nll, "crps": 0.25, "coverage_95": coverage, "familiarity": 0.125, "baseline_rmse": 1.5,
        "baseline_nll": 1.5, "baseline_crps": 0.75, "baseline_coverage_95": 0.875,
    })
}

#[test]
fn parts_away_from_the_data_have_their_mean_their_worst_and_the_baseline() {
    let folder = Folder::new();
    folder.put("reproduce/results-notes.toml", "gaps-wine = \"Corked.\"\n");
    let page = folder.page();
    assert!(page.contains("Not run yet: `gaps-airfoil`, ") && page.contains("in −4 … 4"), "{page}");
    let put = |variant: &str, seed: u64, scores: &serde_json::Value| {
        let mut record = record("gaps-wine", "default", seed, scores);
        record["variant"] = variant.into();
        folder.put_record(&format!("gaps-wine-default-{variant}-{seed}"), &record);
    };
    put("g2", 0, &away(0.25, 0.5));
    put("g2", 1, &away(0.75, 0.75));
    put("g5", 0, &away(2.0, 1.0));
    put("c4", 0, &away(-0.5, 0.9));
    let mut old = record("gaps-wine", "default", 0, &away(99.0, 0.0));
    (old["variant"], old["fingerprint"]) = ("c1".into(), "old".into());
    folder.put_record("gaps-wine-default-c1-0", &old);
    let page = folder.page();
    let expected = "| 0.500 | 1.250 | 2.000 | 0.250 | 81.2 | 62.5 | 1.500 | 1.500 | 87.5 | 87.5 | 0.125 |";
    assert_eq!(
        line(&page, "| Wine | default | gaps "),
        format!("| Wine | default | gaps | 2 of 10 {expected}")
    );
    assert!(line(&page, "| Wine | default | clusters ").contains("| 1 of 5 | 0.500 | −0.500 |"), "{page}");
    assert!(
        page.contains(
            "**Preset `default`**, 3 parts of 1 set: the 95 % intervals cover 84.2 % on average and 62.5 % at worst (Wine, gap in x2), \
             the baseline's 87.5 % and 87.5 %. The NLL is 0.667 on average and 0.500 in the median, the baseline's 1.500 and 1.500; it is lower in 2 parts."
        ),
        "{page}"
    );
    let part = "| gap in x2 | 40 | 2 | 0.500 | 0.500 | 0.250 | 62.5 | 0.125 | 1.500 | 1.500 | 0.750 | 87.5 |";
    assert_eq!(line(&page, "| gap in x2 "), part);
    assert!(!page.contains("| cluster 2 |"), "another configuration: {page}");
    assert!(page.contains("\n\nCorked.\n\n") && !page.contains("`gaps-wine`"), "{page}");
}

#[test]
fn the_page_goes_where_it_is_asked_for_or_among_the_records() {
    let folder = Folder::new();
    folder.put("docs/results.md", "as it was");
    folder.put_record("levy-paper-0", &record("levy", "paper", 0, &json!({ "rmse": 0.1 })));
    let run = folder.ign("reproduce --page-only").succeeds();
    assert!(run.stdout.contains("reproduce/results.md written from 1 record\n"), "{}", run.stdout);
    assert_eq!(folder.text("docs/results.md"), "as it was");
    folder.ign("reproduce --page-only --page deep/below/r.md").succeeds();
    let elsewhere = folder.text("reproduce/results.md").replace("results-notes.toml", "r-notes.toml");
    assert_eq!(folder.text("deep/below/r.md"), elsewhere);
}

#[test]
fn a_repeat_without_a_figure_is_no_row_that_was_not_run() {
    let folder = Folder::new();
    folder.put_record("levy-paper-0", &record("levy", "paper", 0, &json!({ "rmse": 0.1, "nll": 0.0 })));
    folder.put_record("levy-paper-1", &record("levy", "paper", 1, &json!({ "nll": 0.0 })));
    let page = folder.page();
    assert!(line(&page, "| Levy | 10,000").contains("| not finite | not run yet |"), "{page}");
    assert!(page.contains("**Levy, preset `paper`**: the error is not finite."), "{page}");
}

#[test]
fn a_record_counts_under_its_own_name_alone() {
    let folder = Folder::new();
    let levy = record("levy", "paper", 0, &json!({ "rmse": 0.1, "nll": 0.0 }));
    folder.put_record("levy-paper-0", &levy);
    let page = folder.page();
    folder.put_record("levy-paper-0 (copy)", &levy);
    folder.put_record("levy-paper-1", &levy);
    folder.put_record("lewy-paper-0", &record("lewy", "paper", 0, &json!({ "rmse": 0.1 })));
    assert_eq!(folder.page(), page);
    let run = folder.ign("reproduce --page-only").succeeds();
    for fault in ["levy-paper-0 (copy).json: holds", "levy-paper-1.json: holds", "does not exist"] {
        assert!(run.stderr.contains(fault), "{}", run.stderr);
    }
}

#[test]
fn noise_has_records_and_a_row_of_its_own() {
    let folder = Folder::with_sets();
    let words = "levy --noise --repeats 1 --presets default --quiet";
    folder.reproduce(words).succeeds();
    assert!(folder.names().iter().any(|name| name.starts_with("reproduce/levy-noise0.17-default-0+")));
    let page = folder.text("reproduce/results.md");
    assert!(line(&page, "| Levy | 10,000").contains("| not run yet | not run yet |"), "{page}");
    let noisy = line(&page, "| Levy with noise 0.17 | 10,000");
    assert!(noisy.contains("| not run yet | **") && noisy.ends_with("| – | – | – | – | – |"), "{noisy}");
}
