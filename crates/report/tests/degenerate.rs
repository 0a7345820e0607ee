//! Reports at the edge of what a model can give: nothing of them may hang, panic or leave a hole in a drawing.

mod fixtures;

use fixtures::*;
use ign_report::*;

/// Renders everything; nowhere is a coordinate that is no number.
fn check(name: &str, report: &Report) -> String {
    let html = render(report);
    for figure in figures(report) {
        let options = resvg::usvg::Options::default();
        let parsed = resvg::usvg::Tree::from_str(&figure.svg, &options);
        assert!(parsed.is_ok(), "{name}: {}: {:?}", figure.name, parsed.err());
        for d in figure.svg.split(" d=\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            let odd = d.chars().find(|c| !c.is_ascii_digit() && !"MLHVmlhvz .-".contains(*c));
            assert_eq!(odd, None, "{name}: {}: {d}", figure.name);
        }
        for bad in ["=\"NaN", "=\"inf", "=\"-inf"] {
            assert!(!figure.svg.contains(bad), "{name}: {} contains {bad}", figure.name);
        }
        figure.png(0.5).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    html
}

fn number_of(model: &mut ModelRecord) -> &mut NumberRecord {
    match &mut model.targets[0] {
        TargetRecord::Number(record) => record,
        TargetRecord::Classes(_) => panic!("a number was expected"),
    }
}

#[test]
fn one_point_is_enough() {
    check("number", &page(numbers(1, 1, 1)));
    check("class", &page(classes(1, 2, 1)));
    check("picture", &page(pictures(1, 1)));
    check("graph", &page(graphs(1, 1, 1)));
}

#[test]
fn values_may_all_be_the_same() {
    let mut model = numbers(20, 3, 4);
    for point in &mut number_of(&mut model).points {
        *point = NumberPoint { truth: 7.0, mean: 7.0, std: 0.0, std_latent: 0.0, ..point.clone() };
    }
    if let Some(space) = &mut model.features {
        space.points.fill([0.0; 2]);
        space.inducing.fill([0.0; 2]);
        space.explained = [f64::NAN; 2];
    }
    check("constant", &page(model));
}

#[test]
fn figures_that_are_no_numbers_are_left_out() {
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
        record.coverage[3].after = value;
        record.risk[2][1] = value;
        record.spread.edges[4] = value;
        for epoch in &mut model.networks[0].history {
            (epoch.loss, epoch.nll, epoch.noise) = (Some(value), Some(-value), Some(value));
        }
        model.networks[0].seconds[5] = Some(value);
        if let Some(importance) = &mut model.importance {
            importance.columns[0].error = value;
            importance.columns[1].spread = -value;
        }
        if let Some(space) = &mut model.features {
            space.points[0] = [value, 0.0];
            space.inducing[0] = [0.0, -value];
        }
        model.networks[0].inducing[0].nearest[0].distance = value;
        let html = check(&format!("{value}"), &page(model));
        assert!(!html.contains("NaN"), "{value}");
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
    model.networks[0].seconds.clear();
    let html = check("no history", &page(model.clone()));
    assert!(!html.contains("id=\"training\""));
    model.networks[0].inducing.clear();
    model.features = None;
    model.importance = None;
    model.facts.clear();
    let html = check("no inducing points", &page(model.clone()));
    assert!(!html.contains("id=\"inducing\"") && !html.contains("id=\"features\""));
    let record = number_of(&mut model);
    record.points.clear();
    record.coverage.clear();
    record.risk.clear();
    record.spread = Histogram { edges: vec![], counts: vec![] };
    model.examples.clear();
    model.networks.clear();
    check("no points", &page(model.clone()));
    model.targets.clear();
    check("no targets", &page(model.clone()));
    check("no models", &Report { models: Vec::new(), ..page(model) });
}

#[test]
fn one_epoch_is_drawn() {
    let mut model = numbers(10, 2, 3);
    model.networks[0].history = vec![epoch("likelihood", 1, 40, 0.5)];
    model.networks[0].seconds = vec![None];
    model.networks[0].best_epoch = 1;
    let html = check("one epoch", &page(model));
    assert!(html.contains("id=\"training\"") && html.contains(">kept epoch<"));
}

#[test]
fn no_one_needs_to_lean_on_an_inducing_point() {
    let mut model = classes(12, 3, 6);
    model.networks[0].inducing.iter_mut().for_each(|point| point.leaning = 0);
    model.networks[0].inducing[1].nearest.clear();
    model.networks[0].inducing[2].class = Some(99);
    let html = check("no leaning", &page(model));
    assert!(html.contains("nothing leans on 6"));
}

#[test]
fn three_hundred_classes_with_names_of_any_length_fit() {
    let mut model = classes(600, 300, 40);
    let TargetRecord::Classes(record) = &mut model.targets[0] else { panic!("classes") };
    record.classes[0] = String::new();
    record.classes[1] = "x".repeat(5000);
    record.classes[2] = "長い名前".repeat(300);
    record.name = "n".repeat(2000);
    let report = page(model);
    let html = check("many classes", &report);
    assert!(html.len() < 1_500_000, "{}", html.len());
    assert!(figures(&report).iter().all(|f| f.name != "confusion"), "300 classes are no matrix");
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
        (0..70).map(|k| NetworkRecord { name: format!("{k} against the rest"), ..network.clone() }).collect();
    let report = page(model);
    let html = check("networks", &report);
    assert!(html.len() < 2_500_000, "{}", html.len());
    assert_eq!(figures(&report).iter().filter(|f| f.name == "learning").count(), 1);
}

#[test]
fn large_graphs_are_cut_and_said_to_be() {
    let html = check("graphs", &page(graphs(4, 900, 2)));
    assert!(html.contains("200 of 900 nodes are drawn"));
}

#[test]
fn more_than_64_inducing_points_are_not_all_listed() {
    let html = check("many", &page(pictures(30, 100)));
    assert!(html.contains("The 64 most leaned on are listed"));
    assert_eq!(html.matches("class=\"card inducing\"").count(), 64);
}
