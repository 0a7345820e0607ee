//! Records at the edge of what a model can give: none may hang, panic or break a drawing.

mod fixtures;

use fixtures::*;
use inducing::explain::DependenceGrid;
use inducing_report::*;

/// Renders everything; no figure has a coordinate that is not a number.
fn check(name: &str, run: &RunRecord) -> String {
    let html = render(run);
    for figure in figures(run) {
        assert_well_formed(&figure);
        for d in figure.svg.split(" d=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let odd = d.chars().find(|c| !c.is_ascii_digit() && !"MLHVmlhvz .-".contains(*c));
            assert_eq!(odd, None, "{name}: {}: {d}", figure.name);
        }
        let svg = without_base64(&figure.svg);
        for bad in ["NaN", "=\"inf", "=\"-inf", " inf", " -inf"] {
            assert!(!svg.contains(bad), "{name}: {} contains {bad}", figure.name);
        }
        #[cfg(feature = "png")]
        figure.png(0.5).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    html
}

fn number_of(model: &mut ModelRecord) -> &mut RegressionRecord {
    match &mut model.targets[0] {
        TargetRecord::Regression(record) => record,
        TargetRecord::Classification(_) => panic!("a number was expected"),
    }
}

#[test]
fn one_point_is_enough() {
    check("number", &page(numbers(1, 1, 1)));
    check("class", &page(classes(1, 2, 1)));
    check("image", &page(images(1, 1)));
    check("graph", &page(graphs(1, 1, 1)));
}

#[test]
fn values_may_all_be_the_same() {
    let mut model = numbers(20, 3, 4);
    for point in &mut number_of(&mut model).points {
        *point = RegressionPoint { truth: 7.0, mean: 7.0, std: 0.0, std_latent: 0.0, ..point.clone() };
    }
    if let Some(space) = &mut model.features {
        space.points.fill([0.0; 2]);
        space.inducing.fill([0.0; 2]);
        space.explained_variance_ratio = [f64::NAN; 2];
    }
    check("constant", &page(model));
}

#[test]
fn numbers_that_are_not_finite_are_left_out() {
    for value in
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 1e-300, f64::MAX, f64::MIN_POSITIVE]
    {
        let mut model = numbers(12, 3, 4);
        let record = number_of(&mut model);
        record.metrics.rmse = value;
        record.metrics.nll = value;
        record.metrics.r2 = None;
        record.metrics.coverage_90 = value;
        record.points[0].truth = value;
        record.points[1].mean = value;
        record.points[2].std = value;
        record.coverage[3].calibrated = value;
        record.risk_curve[2][1] = value;
        record.std_histogram.edges[4] = value;
        for epoch in &mut model.networks[0].history {
            (epoch.loss, epoch.nll, epoch.noise) = (Some(value), Some(-value), Some(value));
        }
        model.networks[0].history[5].seconds = Some(value);
        if let Some(importance) = &mut model.importance {
            importance.columns[0].error_increase = value;
            importance.columns[1].uncertainty_change = -value;
        }
        if let Some(space) = &mut model.features {
            space.points[0] = [value, 0.0];
            space.inducing[0] = [0.0, -value];
        }
        model.networks[0].inducing[0].nearest[0].distance = value;
        let html = check(&format!("{value}"), &page(model));
        assert!(!without_base64(&html).contains("NaN"), "{value}");
    }
}

#[test]
fn all_points_may_be_huge_or_tiny() {
    for scale in [1e300, 1e-300, 1e15] {
        let mut model = numbers(30, 2, 3);
        for point in &mut number_of(&mut model).points {
            (point.truth, point.mean, point.std) =
                (point.truth * scale / 300.0, point.mean * scale / 300.0, scale / 300.0);
        }
        check(&format!("{scale}"), &page(model));
    }
}

#[test]
fn nothing_needs_to_be_there() {
    let mut model = numbers(10, 2, 3);
    model.networks[0].history.clear();
    let html = check("no history", &page(model.clone()));
    assert!(!html.contains("id=\"training\""));
    model.networks[0].inducing.clear();
    model.features = None;
    model.importance = None;
    model.dependence.clear();
    model.facts.clear();
    let html = check("no inducing points", &page(model.clone()));
    assert!(!html.contains("id=\"inducing\"") && !html.contains("id=\"features\""));
    let record = number_of(&mut model);
    record.points.clear();
    record.coverage.clear();
    record.risk_curve.clear();
    record.std_histogram = Histogram { edges: vec![], counts: vec![] };
    record.by_familiarity.clear();
    record.by_slice = None;
    model.examples.clear();
    model.networks.clear();
    check("no points", &page(model.clone()));
    model.targets.clear();
    check("no targets", &page(model.clone()));
    check("no models", &RunRecord { models: Vec::new(), ..page(model) });
}

#[test]
fn one_epoch_is_drawn() {
    let mut model = numbers(10, 2, 3);
    model.networks[0].history = vec![epoch(TrainingPhase::Training, 1, 40, 0.5)];
    model.networks[0].best_epoch = 1;
    let html = check("one epoch", &page(model));
    assert!(html.contains("id=\"training\"") && html.contains(">best epoch<"));
}

#[test]
fn inducing_points_may_have_no_inputs_assigned() {
    let mut model = classes(12, 3, 6);
    model.networks[0].inducing.iter_mut().for_each(|point| point.assigned = 0);
    model.networks[0].inducing[1].nearest.clear();
    model.networks[0].inducing[2].class = Some(99);
    let html = check("none assigned", &page(model));
    assert!(html.contains("6 have no inputs assigned to them"));
}

#[test]
fn three_hundred_classes_with_names_of_any_length_fit() {
    let mut model = classes(600, 300, 40);
    let TargetRecord::Classification(record) = &mut model.targets[0] else { panic!("classes") };
    record.classes[0] = String::new();
    record.classes[1] = "x".repeat(5000);
    record.classes[2] = "長い名前".repeat(300);
    record.name = "n".repeat(2000);
    let run = page(model);
    let html = check("many classes", &run);
    assert!(html.len() < 1_500_000, "{}", html.len());
    assert!(figures(&run).iter().all(|f| f.name != "confusion"), "300 classes are no matrix");
    assert!(html.contains("291 other classes"));
}

#[test]
fn references_to_examples_that_are_not_there_are_left_out() {
    let mut model = numbers(10, 2, 3);
    model.examples.truncate(4);
    model.networks[0].inducing[0].nearest[0].example = 1_000_000;
    check("missing examples", &page(model));
}

#[test]
fn many_networks_share_their_figures() {
    let mut model = classes(40, 3, 5);
    let network = model.networks[0].clone();
    model.networks =
        (0..70).map(|k| NetworkRecord { name: format!("{k} vs. rest"), ..network.clone() }).collect();
    let run = page(model);
    let html = check("networks", &run);
    assert!(html.len() < 2_500_000, "{}", html.len());
    assert_eq!(figures(&run).iter().filter(|f| f.name == "joint-training").count(), 1);
}

#[test]
fn large_graphs_are_truncated_and_say_so() {
    let html = check("graphs", &page(graphs(4, 900, 2)));
    assert!(html.contains("200 of 900 nodes shown"));
}

#[test]
fn more_than_64_inducing_points_are_not_all_listed() {
    let html = check("many", &page(images(30, 100)));
    assert!(html.contains("The 64 with most assigned inputs are listed"));
    assert_eq!(html.matches("class=\"card inducing\"").count(), 64);
}

#[test]
fn targets_may_share_a_name() {
    let mut model = graphs(12, 6, 3);
    let twin = |seed: u64| TargetRecord::Regression(number_target("price", 12, seed));
    model.targets = vec![twin(1), twin(2), twin(3)];
    let several = RunRecord { models: vec![model.clone(), model.clone()], ..page(model.clone()) };
    for run in [page(model), several] {
        let html = check("shared names", &run);
        let mut names: Vec<String> = figures(&run).into_iter().map(|figure| figure.name).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "every figure keeps a name of its own");
        assert!(html.contains(&names[0]));
    }
}

#[test]
fn classes_and_columns_may_share_a_name() {
    let mut model = classes(30, 3, 6);
    let TargetRecord::Classification(record) = &mut model.targets[0] else { panic!("classes") };
    record.classes.fill("same".into());
    model.columns.fill("same".into());
    check("shared class names", &page(model));
}

/// Every number of a record that a figure, a metric or a tooltip shows.
fn set_all(model: &mut ModelRecord, value: f64) {
    for target in &mut model.targets {
        let (risk_curve, histogram) = match target {
            TargetRecord::Regression(r) => {
                for p in &mut r.points {
                    (p.truth, p.mean, p.std, p.std_latent) = (value, value, value, value);
                }
                for c in &mut r.coverage {
                    (c.level, c.calibrated, c.uncalibrated) = (value, value, value);
                }
                let m = &mut r.metrics;
                (m.rmse, m.mae, m.r2, m.nll, m.crps) = (value, value, Some(value), value, value);
                (m.coverage_50, m.coverage_90, m.coverage_95, m.sharpness) = (value, value, value, value);
                r.median_error = value;
                for bin in &mut r.by_familiarity {
                    (bin.range, bin.coverage_95, bin.coverage_50) = ([value; 2], value, value);
                    (bin.mean_std, bin.rmse) = (value, value);
                }
                if let Some(sliced) = &mut r.by_slice {
                    (sliced.largest, sliced.largest_by_chance, sliced.deviating_by_chance) =
                        (value, value, value);
                    for slice in sliced.worst.iter_mut().flat_map(|column| &mut column.slices) {
                        (slice.range, slice.coverage) = (Some([value; 2]), value);
                    }
                }
                (&mut r.risk_curve, &mut r.std_histogram)
            }
            TargetRecord::Classification(r) => {
                for p in &mut r.points {
                    (p.p, p.p_truth, p.entropy) = (value, value, value);
                    (p.latent_mean, p.latent_std) = (value, value);
                }
                let m = &mut r.metrics;
                (m.accuracy, m.nll, m.brier, m.ece, m.auroc) = (value, value, value, value, Some(value));
                for curve in &mut r.thresholds {
                    (curve.average_precision, curve.auroc) = (value, value);
                    curve.points.iter_mut().for_each(|point| point.threshold = value);
                }
                let before = m.uncalibrated.iter_mut().flat_map(|u| &mut u.reliability);
                for bin in m.reliability.iter_mut().chain(before) {
                    (bin.confidence, bin.accuracy) = (Some(value), Some(value));
                }
                for bin in &mut r.by_familiarity {
                    (bin.range, bin.accuracy, bin.confidence) = ([value; 2], value, value);
                }
                (&mut r.risk_curve, &mut r.entropy_histogram)
            }
        };
        risk_curve.fill([value; 2]);
        histogram.edges.fill(value);
    }
    if let Some(space) = &mut model.features {
        space.points.fill([value; 2]);
        space.inducing.fill([value; 2]);
        space.explained_variance_ratio = [value; 2];
    }
    for network in &mut model.networks {
        for e in &mut network.history {
            (e.loss, e.rmse, e.nll) = (Some(value), Some(value), Some(value));
            (e.accuracy, e.noise, e.kernel, e.seconds) =
                (Some(value), Some(value), Some([value; 2]), Some(value));
        }
        for point in &mut network.inducing {
            for near in &mut point.nearest {
                (near.similarity, near.distance) = (value, value);
            }
            if let Some(refined) = &mut point.refined {
                (refined.distance_before, refined.distance_after) = (value, value);
            }
        }
    }
    for moved in &mut model.dependence {
        match &mut moved.grid {
            DependenceGrid::Numbers { values, deciles } => {
                values.fill(value);
                deciles.fill(value);
            }
            DependenceGrid::Levels { shares, .. } => shares.fill(value),
        }
        for curve in &mut moved.curves {
            curve.mean.fill(value);
            curve.std.fill(value);
        }
    }
    for column in model.importance.iter_mut().flat_map(|i| &mut i.columns) {
        (column.error_increase, column.uncertainty_change) = (value, value);
    }
}

#[test]
fn no_number_of_a_record_needs_to_be_finite() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, -0.0] {
        for (kind, mut model) in [
            ("numbers", numbers(12, 3, 4)),
            ("classes", classes(12, 3, 4)),
            ("images", images(12, 4)),
            ("texts", texts(9, 3)),
        ] {
            set_all(&mut model, value);
            let run = RunRecord { models: vec![model.clone(), model.clone()], ..page(model.clone()) };
            for run in [page(model), run] {
                let html = check(&format!("{kind}, all {value}"), &run);
                assert!(!without_base64(&html).contains("NaN"), "{kind}, all {value}");
            }
        }
    }
}

#[test]
fn control_characters_reach_neither_html_nor_svg_nor_json() {
    // C0, DEL, C1 (0x9b opens terminal escapes), bidirectional overrides, line separators, non-characters.
    let hostile = "a\u{0}\u{7}\u{8}\u{b}\u{1b}[31m\u{7f}\u{85}\u{9b}\u{202e}\u{2066}\u{2028}\u{fffe}b\r\n\tc";
    let mut rows = numbers(12, 3, 4);
    rows.columns.fill(hostile.into());
    rows.name = hostile.into();
    rows.facts.push((hostile.into(), hostile.into()));
    for example in &mut rows.examples {
        example.name = hostile.into();
        example.body = Body::Cells(vec![hostile.into(), hostile.repeat(9), hostile.into()]);
    }
    for column in rows.importance.iter_mut().flat_map(|i| &mut i.columns) {
        column.name = hostile.into();
    }
    rows.dependence = dependence(&[hostile.into(), hostile.into()], 1);
    for point in &mut rows.networks[0].inducing {
        point.pseudo_label = hostile.into();
        point.nearest.iter_mut().for_each(|near| near.truth = hostile.into());
    }
    rows.networks[0].name = hostile.into();
    rows.targets = vec![TargetRecord::Regression(number_target(hostile, 12, 1))];
    let mut labels = classes(12, 3, 4);
    labels.targets = vec![TargetRecord::Classification(class_target(hostile, vec![hostile.into(); 3], 12))];
    let mut molecules = graphs(6, 5, 2);
    for example in &mut molecules.examples {
        if let Body::Graph(graph) = &mut example.body {
            graph.labels.fill(hostile.into());
        }
    }
    for model in [rows, labels, molecules] {
        let run = RunRecord {
            title: hostile.into(),
            evaluated_on: hostile.into(),
            rows: EvaluatedRows::Given,
            generator: hostile.into(),
            notes: vec![hostile.into()],
            models: vec![model],
        };
        let html = check("control characters", &run);
        let bad = |c: char| {
            (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{2066}' | '\u{2028}' | '\u{fffe}')
        };
        assert_eq!(html.chars().find(|&c| bad(c)), None);
        assert!(!html.contains("\\u001b") && !html.contains("\\u0000"), "not even as JSON escapes");
        for figure in figures(&run) {
            assert_eq!(figure.svg.chars().find(|&c| bad(c)), None, "{}", figure.name);
        }
    }
}
