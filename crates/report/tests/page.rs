//! The page as a whole: what it holds, how large it is, and that nothing in the data can break it.

mod fixtures;

use fixtures::*;
use ign_report::*;
use std::time::Instant;

const EVIL: &str = "<script>alert(1)</script>";
const COMMENT: &str = "--><!--]]>\"'&amp;\u{0}\u{1b}\u{202e}</title></svg></script>";

/// Every kind of model, small.
fn all() -> Vec<(&'static str, Report)> {
    vec![
        ("numbers", page(numbers(60, 5, 8))),
        ("classes", page(classes(60, 3, 9))),
        ("pictures", page(pictures(60, 20))),
        ("colours", page(colour_pictures(20, 40, 8))),
        ("texts", page(texts(40, 6))),
        ("graphs", page(graphs(30, 12, 6))),
    ]
}

fn with_evil_names() -> Vec<Report> {
    let mut rows = numbers(30, 4, 5);
    rows.columns[0] = EVIL.into();
    rows.columns[1] = COMMENT.into();
    rows.name = EVIL.into();
    rows.facts.push((EVIL.into(), COMMENT.into()));
    for example in &mut rows.examples {
        example.name = COMMENT.into();
        if let Body::Cells(cells) = &mut example.body {
            cells[0] = EVIL.into();
            cells[1] = COMMENT.into();
            cells[2] = format!("{EVIL} and then a long text that is cut somewhere {COMMENT}").repeat(20);
        }
    }
    for point in &mut rows.networks[0].inducing {
        point.label = EVIL.into();
        point.nearest.iter_mut().for_each(|n| n.truth = COMMENT.into());
    }
    if let Some(importance) = &mut rows.importance {
        importance.measure = EVIL.into();
        importance.columns[0].name = COMMENT.into();
    }
    rows.neighbours_from.0 = EVIL.into();
    let mut target = number_target(EVIL, 30, 1);
    target.name = COMMENT.into();
    rows.targets = vec![TargetRecord::Number(number_target(EVIL, 30, 1)), TargetRecord::Number(target)];
    let mut labels = classes(30, 3, 6);
    labels.targets =
        vec![TargetRecord::Classes(class_target(EVIL, vec![EVIL.into(), COMMENT.into(), String::new()], 30))];
    let mut drawings = graphs(10, 8, 3);
    for example in &mut drawings.examples {
        if let Body::Graph(graph) = &mut example.body {
            graph.labels.fill(EVIL.into());
        }
    }
    let evil = |model: ModelRecord| Report {
        title: EVIL.into(),
        judged_on: COMMENT.into(),
        made_by: EVIL.into(),
        notes: vec![EVIL.into(), COMMENT.into()],
        models: vec![model.clone(), model],
    };
    vec![evil(rows), evil(labels), evil(drawings)]
}

#[test]
fn names_are_shown_and_never_run() {
    for report in with_evil_names() {
        let html = render(&report);
        // The script, the data, and nothing else.
        assert_eq!(html.matches("<script").count(), 2);
        assert_eq!(html.matches("</script").count(), 2);
        assert_eq!(html.matches("<!--").count(), 0);
        assert_eq!(html.matches("</title").count(), 1);
        assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
        assert!(!html.chars().any(|c| c.is_control() && c != '\n'), "a control character");
        assert!(!html.contains('\u{202e}'));
        let json =
            html.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
        serde_json::from_str::<serde_json::Value>(json).expect("valid JSON");
        for figure in figures(&report) {
            parse(&figure);
            assert!(!figure.svg.contains("<script"));
        }
    }
}

#[test]
fn a_policy_lets_the_pages_own_script_run_and_nothing_else() {
    use base64::Engine;
    use sha2::Digest;
    let html = render(&page(numbers(5, 2, 2)));
    let script =
        html.rsplit("<script>").next().and_then(|rest| rest.split("</script>").next()).expect("a script");
    let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(script.as_bytes()));
    assert!(html.contains(&format!("script-src 'sha256-{hash}'")));
    assert!(html.contains("default-src 'none'; img-src data:"));
    let outside = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"), "the page loads nothing");
    assert!(!html.contains(" onclick") && !html.contains(" onload"));
}

fn parse(figure: &Figure) -> resvg::usvg::Tree {
    resvg::usvg::Tree::from_str(&figure.svg, &resvg::usvg::Options::default())
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", figure.name, figure.svg))
}

#[test]
fn every_figure_has_titles_ticks_and_a_name_of_its_own() {
    for (kind, report) in all() {
        let figures = figures(&report);
        let mut names: Vec<&str> = figures.iter().map(|f| f.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), figures.len(), "{kind}: {names:?}");
        for figure in &figures {
            let at = format!("{kind}: {}", figure.name);
            parse(figure);
            assert!(figure.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{at}");
            for class in ["title", "x-title", "y-title"] {
                assert!(figure.svg.contains(&format!("class=\"{class}\"")), "{at} has no {class}");
            }
            assert!(figure.name == "gallery" || figure.svg.contains("class=\"tick\""), "{at} has no ticks");
            assert!(figure.svg.contains("role=\"img\"") && figure.svg.contains("<desc>"), "{at}");
            assert!(!figure.svg.contains("NaN") && !figure.svg.contains("inf"), "{at}");
        }
    }
}

#[test]
fn the_page_holds_the_same_figures_that_are_given_out() {
    for (kind, report) in all() {
        let html = render(&report);
        for figure in figures(&report) {
            assert!(html.contains(&figure.svg), "{kind}: {}", figure.name);
            assert!(html.contains(&format!("<figure id=\"{}\"", figure.name)), "{kind}: {}", figure.name);
        }
        for id in ["summary", "uncertainty", "features", "inducing", "training"] {
            assert!(html.contains(&format!("<section id=\"{id}\"")), "{kind}: {id}");
            assert!(html.contains(&format!("href=\"#{id}\"")), "{kind}: {id} is not in the contents");
        }
    }
}

#[test]
fn no_two_parts_of_a_page_share_an_id() {
    let mut reports: Vec<Report> = all().into_iter().map(|(_, report)| report).collect();
    let mut several = page(graphs(10, 5, 3));
    several.models.push(several.models[0].clone());
    reports.push(several);
    for report in reports {
        let html = render(&report);
        let ids = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let mut seen = std::collections::HashSet::new();
        ids.for_each(|id| assert!(seen.insert(id), "{id} is there twice"));
        assert!(seen.len() > 10);
    }
}

#[test]
fn figures_become_pixels() {
    for (kind, report) in all() {
        for figure in figures(&report) {
            let png = figure.png(1.0).unwrap_or_else(|error| panic!("{kind}: {error}"));
            let picture = image::load_from_memory(&png).expect("a picture").to_rgb8();
            let dark = picture.pixels().filter(|p| p.0.iter().all(|&c| c < 110)).count();
            assert!(dark > 50, "{kind}: {} has no writing", figure.name);
            assert_eq!(picture.get_pixel(0, 0).0, [255; 3], "{kind}: {} has no paper", figure.name);
        }
    }
    let figure = figures(&page(numbers(5, 2, 2))).remove(0);
    for scale in [0.0, -1.0, f32::NAN, 1e9] {
        assert!(figure.png(scale).is_err(), "{scale}");
    }
}

#[test]
fn marks_are_found_again_by_their_order() {
    let html = render(&page(classes(60, 3, 9)));
    let json =
        html.split("id=\"data\">").nth(1).and_then(|rest| rest.split("</script>").next()).expect("data");
    let data: serde_json::Value = serde_json::from_str(json).expect("valid JSON");
    let order = |plot: &str| {
        let order = data["plots"][plot]["order"].as_array().expect("an order");
        let mut order: Vec<i64> = order.iter().map(|k| k.as_i64().expect("a number")).collect();
        order.sort_unstable();
        order
    };
    assert_eq!(order("mean-variance"), (0..60).collect::<Vec<_>>());
    assert_eq!(order("feature-space"), (-9..60).collect::<Vec<_>>());
    for figure in figures(&page(classes(60, 3, 9))) {
        let marks = figure.svg.lines().filter(|line| line.contains("data-marks"));
        let drawn: usize = marks.map(|line| line.matches('M').count()).sum();
        let known = data["plots"][&figure.name]["order"].as_array().map_or(0, Vec::len);
        assert_eq!(drawn, known, "{}", figure.name);
    }
}

#[test]
fn a_page_of_as_many_points_as_are_drawn_stays_small() {
    let mut dice = Dice::new(1);
    let row = Body::Cells(vec!["123.45".into(); 10]);
    let grey = Body::Picture(digit(3, &mut dice));
    let colour = Body::Picture(colour_picture(1, 200, &mut dice));
    let text = Body::Cells(vec![sentence(120, &mut dice)]);
    let graph = Body::Graph(molecule(150, &mut dice));
    assert_eq!(drawn(&row), 2000);
    assert_eq!(drawn(&grey), 2000);
    let reports = [
        ("rows", page(numbers(drawn(&row), 10, 64))),
        ("grey", page(pictures(drawn(&grey), 64))),
        ("colour", page(colour_pictures(drawn(&colour), 200, 32))),
        ("texts", page(texts(drawn(&text), 64))),
        ("graphs", page(graphs(drawn(&graph), 150, 32))),
    ];
    for (kind, report) in reports {
        let start = Instant::now();
        let bytes = render(&report).len();
        assert!(bytes < 2_500_000, "{kind}: {bytes} bytes");
        // Ten times what it takes: only a change of order fails.
        assert!(start.elapsed().as_secs() < 20, "{kind}: {:?}", start.elapsed());
    }
}

#[test]
fn noise_does_not_make_the_page_large() {
    let mut model = colour_pictures(1500, 64, 0);
    let mut dice = Dice::new(8);
    for example in &mut model.examples {
        if let Body::Picture(picture) = &mut example.body {
            picture.pixels.iter_mut().for_each(|pixel| *pixel = (256.0 * dice.uniform()) as u8);
        }
    }
    let bytes = render(&page(model)).len();
    assert!(bytes < 2_500_000, "{bytes} bytes");
}

#[test]
fn models_stand_side_by_side_and_the_best_is_bold() {
    let mut report = page(numbers(50, 3, 6));
    let mut better = numbers(50, 3, 6);
    better.name = "better.ign".into();
    let TargetRecord::Number(record) = &mut better.targets[0] else { panic!("a number") };
    record.metrics.rmse = 1.25;
    record.metrics.r2 = Some(0.25);
    record.metrics.coverage_90 = 0.9;
    record.metrics.nll = f64::NAN;
    report.models.push(better);
    let html = render(&report);
    assert!(html.contains("<b>1.25</b>"), "the lower error is better");
    assert!(!html.contains("<b>0.25</b>"), "the higher share is better");
    assert!(html.contains("<b>90\u{a0}%</b>"), "the nearer coverage is better");
    for id in ["m1-uncertainty", "m2-uncertainty", "m2-training"] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    let names: Vec<String> = figures(&report).into_iter().map(|f| f.name).collect();
    assert!(
        names.contains(&"compare-coverage".into()) && names.contains(&"compare-risk".into()),
        "{names:?}"
    );
    let single = render(&page(numbers(50, 3, 6))).len();
    let shared = html.matches("\"examples\":").count();
    assert_eq!(shared, 1);
    assert!(html.len() < 2 * single, "examples of both models are there once");
}
