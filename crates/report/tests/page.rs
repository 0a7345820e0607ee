//! The page as a whole: its content, its size, and that no string of a record can break it.

mod fixtures;

use fixtures::*;
use inducing::explain::DependenceGrid;
use inducing_report::*;
use std::time::Instant;

const EVIL: &str = "<script>alert(1)</script>";
const COMMENT: &str = "--><!--]]>\"'&amp;\u{0}\u{1b}\u{202e}</title></svg></script>";

/// Every kind of model, small.
fn all() -> Vec<(&'static str, RunRecord)> {
    vec![
        ("numbers", page(numbers(60, 5, 8))),
        ("classes", page(classes(60, 3, 9))),
        ("images", page(images(60, 20))),
        ("colours", page(colour_images(20, 40, 8))),
        ("texts", page(texts(40, 6))),
        ("graphs", page(graphs(30, 12, 6))),
    ]
}

fn with_evil_names() -> Vec<RunRecord> {
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
        point.pseudo_label = EVIL.into();
        point.nearest.iter_mut().for_each(|n| n.truth = COMMENT.into());
    }
    if let Some(importance) = &mut rows.importance {
        importance.metric = EVIL.into();
        importance.columns[0].name = COMMENT.into();
    }
    rows.dependence = dependence(&[EVIL.into(), COMMENT.into()], 2);
    if let DependenceGrid::Levels { names, .. } = &mut rows.dependence[1].grid {
        names.fill(EVIL.into());
    }
    rows.nearest_from.description = EVIL.into();
    rows.assigned_from.description = COMMENT.into();
    let mut target = number_target(EVIL, 30, 1);
    target.by_slice = Some(sliced(&[EVIL, COMMENT]));
    target.name = COMMENT.into();
    rows.targets =
        vec![TargetRecord::Regression(number_target(EVIL, 30, 1)), TargetRecord::Regression(target)];
    let mut labels = classes(30, 3, 6);
    labels.targets = vec![TargetRecord::Classification(class_target(
        EVIL,
        vec![EVIL.into(), COMMENT.into(), String::new()],
        30,
    ))];
    let mut drawings = graphs(10, 8, 3);
    for example in &mut drawings.examples {
        if let Body::Graph(graph) = &mut example.body {
            graph.labels.fill(EVIL.into());
        }
    }
    let evil = |model: ModelRecord| RunRecord {
        title: EVIL.into(),
        evaluated_on: COMMENT.into(),
        rows: EvaluatedRows::Given,
        generator: EVIL.into(),
        notes: vec![EVIL.into(), COMMENT.into()],
        models: vec![model.clone(), model],
    };
    vec![evil(rows), evil(labels), evil(drawings)]
}

#[test]
fn names_are_shown_and_never_run() {
    for run in with_evil_names() {
        let html = render(&run);
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
        for figure in figures(&run) {
            assert_well_formed(&figure);
            assert!(!figure.svg.contains("<script"));
        }
    }
}

#[test]
fn the_page_loads_nothing_and_has_no_inline_handlers() {
    let html = render(&page(numbers(5, 2, 2)));
    assert!(html.contains("default-src 'none'; img-src data:"));
    let outside = html.replace("http://www.w3.org/2000/svg", "");
    assert!(!outside.contains("http://") && !outside.contains("https://"));
    assert!(!html.contains(" onclick") && !html.contains(" onload"));
}

#[test]
fn every_figure_has_titles_ticks_and_a_unique_name() {
    for (kind, run) in all() {
        let figures = figures(&run);
        let mut names: Vec<&str> = figures.iter().map(|f| f.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), figures.len(), "{kind}: {names:?}");
        for figure in &figures {
            let at = format!("{kind}: {}", figure.name);
            assert_well_formed(figure);
            assert!(figure.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "{at}");
            for class in ["title", "x-title", "y-title"] {
                assert!(figure.svg.contains(&format!("class=\"{class}\"")), "{at} has no {class}");
            }
            assert!(figure.name == "gallery" || figure.svg.contains("class=\"tick\""), "{at} has no ticks");
            assert!(figure.svg.contains("role=\"img\"") && figure.svg.contains("<desc>"), "{at}");
            let svg = without_base64(&figure.svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{at}");
        }
    }
}

#[test]
fn the_page_contains_the_exported_figures() {
    for (kind, run) in all() {
        let html = render(&run);
        for figure in figures(&run) {
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
fn ids_are_unique() {
    let mut reports: Vec<RunRecord> = all().into_iter().map(|(_, run)| run).collect();
    let mut several = page(graphs(10, 5, 3));
    several.models.push(several.models[0].clone());
    reports.push(several);
    for run in reports {
        let html = render(&run);
        let ids = html.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next());
        let mut seen = std::collections::HashSet::new();
        ids.for_each(|id| assert!(seen.insert(id), "{id} is there twice"));
        assert!(seen.len() > 10);
    }
}

#[cfg(feature = "png")]
#[test]
fn figures_become_pixels() {
    for (kind, run) in all() {
        for figure in figures(&run) {
            let png = figure.png(1.0).unwrap_or_else(|error| panic!("{kind}: {error}"));
            let image = image::load_from_memory(&png).expect("an image").to_rgb8();
            let dark = image.pixels().filter(|p| p.0.iter().all(|&c| c < 110)).count();
            assert!(dark > 50, "{kind}: {} has no text", figure.name);
            assert_eq!(image.get_pixel(0, 0).0, [255; 3], "{kind}: {} has no background", figure.name);
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
fn a_page_with_the_maximum_of_points_stays_small() {
    let mut dice = Dice::new(1);
    let row = Body::Cells(vec!["123.45".into(); 10]);
    let grey = Body::Image(digit(3, &mut dice));
    let colour = Body::Image(colour_image(1, 200, &mut dice));
    let text = Body::Cells(vec![sentence(120, &mut dice)]);
    let graph = Body::Graph(molecule(150, &mut dice));
    assert_eq!(max_points(&row), 2000);
    assert_eq!(max_points(&grey), 2000);
    let reports = [
        ("rows", page(numbers(max_points(&row), 10, 64))),
        ("grey", page(images(max_points(&grey), 64))),
        ("colour", page(colour_images(max_points(&colour), 200, 32))),
        ("texts", page(texts(max_points(&text), 64))),
        ("graphs", page(graphs(max_points(&graph), 150, 32))),
    ];
    for (kind, run) in reports {
        let start = Instant::now();
        let bytes = render(&run).len();
        assert!(bytes < 2_500_000, "{kind}: {bytes} bytes");
        // Ten times what it takes: only a change of order fails.
        assert!(start.elapsed().as_secs() < 20, "{kind}: {:?}", start.elapsed());
    }
}

#[test]
fn noise_does_not_make_the_page_large() {
    let mut model = colour_images(1500, 64, 0);
    let mut dice = Dice::new(8);
    for example in &mut model.examples {
        if let Body::Image(image) = &mut example.body {
            image.pixels.iter_mut().for_each(|pixel| *pixel = (256.0 * dice.uniform()) as u8);
        }
    }
    let bytes = render(&page(model)).len();
    assert!(bytes < 2_500_000, "{bytes} bytes");
}

#[test]
fn the_best_of_several_models_is_bold() {
    let mut run = page(numbers(50, 3, 6));
    let mut better = numbers(50, 3, 6);
    better.name = "better.ign".into();
    let TargetRecord::Regression(record) = &mut better.targets[0] else { panic!("a number") };
    record.metrics.rmse = 1.25;
    record.metrics.r2 = Some(0.25);
    record.metrics.coverage_90 = 0.9;
    record.metrics.nll = f64::NAN;
    run.models.push(better);
    let html = render(&run);
    assert!(html.contains("<b>1.25</b>"), "the lower error is better");
    assert!(!html.contains("<b>0.25</b>"), "the higher share is better");
    assert!(html.contains("<b>90\u{a0}%</b>"), "the nearer coverage is better");
    for id in ["m1-uncertainty", "m2-uncertainty", "m2-training"] {
        assert!(html.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    let names: Vec<String> = figures(&run).into_iter().map(|f| f.name).collect();
    assert!(
        names.contains(&"compare-coverage".into()) && names.contains(&"compare-risk".into()),
        "{names:?}"
    );
    let single = render(&page(numbers(50, 3, 6))).len();
    let shared = html.matches("\"examples\":").count();
    assert_eq!(shared, 1);
    assert!(html.len() < 2 * single, "examples of both models are there once");
}

#[test]
fn headings_are_the_words_of_the_field() {
    let html = render(&page(numbers(50, 3, 20)));
    for heading in [
        "Summary",
        "Uncertainty and calibration",
        "Most uncertain predictions",
        "Largest standardised errors",
        "Feature space",
        "Inducing points",
        "Training",
        "Which inputs matter",
        "What happens as an input changes",
        "For experts",
    ] {
        assert!(html.contains(&format!(">{heading}</h")), "{heading}");
    }
    assert_eq!(html.matches("Show 8 more").count(), 3, "12 examples in each list, 20 inducing points");
    let html = render(&page(classes(50, 3, 6)));
    for title in ["Most confident mistakes", "Reliability diagram", "Confusion matrix"] {
        assert!(html.contains(&format!(">{title}<")), "{title}");
    }
}

#[test]
fn the_inside_of_a_model_is_folded_away_but_for_images() {
    let fold = |html: &str| html.find("<details class=\"experts\"").expect("a fold");
    let at = |html: &str, id: &str| html.find(&format!("<section id=\"{id}\"")).expect("a section");
    let rows = render(&page(numbers(30, 3, 6)));
    for id in ["inducing", "features", "training", "configuration"] {
        assert!(at(&rows, id) > fold(&rows), "{id}");
    }
    let order = ["summary", "importance", "dependence", "uncertainty"].map(|id| at(&rows, id));
    assert!(order.is_sorted() && order[3] < fold(&rows), "{order:?}");
    let pictures = render(&page(images(30, 12)));
    assert!(at(&pictures, "inducing") < fold(&pictures) && at(&pictures, "training") > fold(&pictures));
}

#[test]
fn a_threshold_is_a_table_without_the_script_and_curves_with_it() {
    let two = render(&page(classes(60, 2, 9)));
    assert!(two.contains("<th scope=col>True positives") && two.contains("<figure id=\"precision-recall\""));
    assert!(
        two.contains("<figure id=\"roc\"")
            && two.contains("<div class=\"threshold js\" data-of=\"thresholds\">")
    );
    assert!(!two.contains("<select"), "there is one class to tell apart");
    let three = render(&page(classes(60, 3, 9)));
    assert_eq!(three.matches("<option").count(), 3);
    assert!(three.contains("Means over the classes (macro): average precision 0.87, AUROC 0.93."));
    let mut single = classes(60, 2, 9);
    let TargetRecord::Classification(record) = &mut single.targets[0] else { panic!("classes") };
    record.thresholds.clear();
    assert!(!render(&page(single)).contains("id=\"thresholds\""));
}

#[test]
fn simple_models_stand_beside_the_model() {
    let html = render(&page(numbers(50, 3, 6)));
    let table =
        html.split("data-name=\"baselines-price\"").nth(1).and_then(|rest| rest.split("</table>").next());
    let table = table.expect("a table");
    for line in ["<b>This model</b>", "Linear", "Constant"] {
        assert!(table.contains(&format!("<tr><th scope=row>{line}<td>")), "{line}: {table}");
    }
    assert_eq!(table.matches("<th scope=col>").count(), 6);
}

#[test]
fn the_confusion_table_names_its_columns() {
    let html = render(&page(classes(60, 3, 9)));
    let table = html.split("data-name=\"confusion\"").nth(1).and_then(|rest| rest.split("</table>").next());
    let heads = table.expect("a table").matches("<th scope=col>").count();
    assert_eq!(heads, 4, "the true class, and one for each predicted class");
    assert!(html.contains("<span class=\"quiet\">predicted</span> <span class=\"name\">virginica</span>"));
}

#[test]
fn residuals_have_a_line_at_zero() {
    let figures = figures(&page(numbers(50, 3, 6)));
    let residuals = figures.iter().find(|figure| figure.name == "residuals").expect("a figure");
    assert!(residuals.svg.contains("data-line") && residuals.svg.contains("Observed − predicted (price)"));
}

#[test]
fn isolated_names_are_shown_without_replacement_characters() {
    let mut model = classes(40, 2, 6);
    let TargetRecord::Classification(record) = &mut model.targets[0] else { panic!("classes") };
    record.classes = vec!["\u{2068}benign\u{2069}".into(), "malignant".into()];
    let html = render(&page(model));
    assert!(html.contains(">benign<") && !html.contains('\u{fffd}'));
    assert!(
        !html.contains("\\u2068") && !html.contains("<bdi"),
        "nor are names isolated by control characters"
    );
}
