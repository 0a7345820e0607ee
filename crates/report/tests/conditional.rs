//! Coverage and accuracy by familiarity and by slice, as the page shows them.

mod fixtures;

use fixtures::*;
use inducing_report::*;

fn bin(range: [f64; 2], rows: usize, coverage_95: f64) -> FamiliarityCoverage {
    FamiliarityCoverage { range, rows, coverage_95, coverage_50: 0.5, mean_std: 2.5, rmse: 3.25 }
}

/// A page about a number with these bins and slices.
fn number_page(by_familiarity: Vec<FamiliarityCoverage>, by_slice: Option<SlicedCoverage>) -> RunRecord {
    let record = RegressionRecord { by_familiarity, by_slice, ..number_target("price", 40, 1) };
    page(ModelRecord { targets: vec![TargetRecord::Regression(record)], ..numbers(40, 3, 4) })
}

/// The texts of the cells of the lines of the table below a heading.
fn lines(html: &str, heading: &str) -> Vec<Vec<String>> {
    let below = html.split(&format!("<h3>{heading}</h3>")).nth(1).expect("a heading");
    let table =
        below.split("</table>").next().and_then(|part| part.split("<tbody>").nth(1)).expect("a table");
    let plain = |cell: &str| {
        let text = cell.split_once('>').map_or(cell, |(_, text)| text);
        text.replace("<b>", "").replace("</b>", "").replace('\u{a0}', " ")
    };
    let cells = |line: &str| line.split("<t").skip(1).map(plain).collect();
    table.split("<tr>").skip(1).map(cells).collect()
}

#[test]
fn rows_are_shown_by_familiarity_with_what_chance_cannot_explain() {
    let bins = vec![
        bin([0.0, 0.01], 3, 2.0 / 3.0),
        bin([0.01, 0.05], 40, 0.8),
        bin([0.2, 0.5], 400, 0.94),
        bin([0.5, 1.0], 900, 0.99),
    ];
    let html = render(&number_page(bins, None));
    let expected = [
        ["below 0.01", "3", "66.7 %", "50 %", "2.5", "3.25", "few rows"],
        ["0.01 to 0.05", "40", "80 %", "50 %", "2.5", "3.25", "too narrow"],
        ["0.2 to 0.5", "400", "94 %", "50 %", "2.5", "3.25", "as promised"],
        ["0.5 and more", "900", "99 %", "50 %", "2.5", "3.25", "too wide"],
    ];
    assert_eq!(lines(&html, "Coverage by familiarity"), expected);
    assert!(!html.contains("Coverage by slice"));
}

#[test]
fn classes_compare_accuracy_with_confidence() {
    let html = render(&page(classes(60, 3, 9)));
    let expected = [
        ["below 0.01", "7", "60 %", "70 %", "few rows"],
        ["0.05 to 0.2", "140", "70 %", "90 %", "overconfident"],
        ["0.5 and more", "900", "95 %", "95.2 %", "as promised"],
    ];
    assert_eq!(lines(&html, "Accuracy by familiarity"), expected);
}

#[test]
fn a_model_that_says_no_familiarity_has_no_such_table() {
    let html = render(&number_page(Vec::new(), None));
    assert!(!html.contains("amiliarity") && !html.contains("id=\"slices\""));
    let mut model = classes(60, 3, 9);
    let TargetRecord::Classification(record) = &mut model.targets[0] else { panic!("classes") };
    record.by_familiarity.clear();
    assert!(!render(&page(model)).contains("amiliarity"));
}

#[test]
fn one_row_and_one_bin_are_shown() {
    let one = render(&number_page(vec![bin([0.5, 1.0], 1, 0.0)], None));
    let expected = [["0.5 and more", "1", "0 %", "50 %", "2.5", "3.25", "few rows"]];
    assert_eq!(lines(&one, "Coverage by familiarity"), expected);
    let all = render(&number_page(vec![bin([0.2, 0.5], 1000, 0.95)], None));
    assert_eq!(lines(&all, "Coverage by familiarity")[0][6], "as promised");
}

#[test]
fn the_worst_slices_come_first_and_only_eight_are_listed() {
    let mut slices = sliced(&["area", "rooms"]);
    slices.worst[1].slices[4].coverage = 0.7;
    let html = render(&number_page(Vec::new(), Some(slices)));
    let shown = lines(&html, "Coverage by slice");
    assert_eq!(shown.len(), 8);
    assert_eq!(shown[0], ["rooms", "40 to 49", "100", "70 %", "too narrow"]);
    assert_eq!(shown[1], ["area", "0 to 9", "100", "82 %", "too narrow"]);
    // Coverage grows along the column, up to the rows without a value.
    assert_eq!(shown[3], ["area", "empty", "100", "96.8 %", "as promised"]);
    assert!(html.contains("for 2 columns of numbers in turn: 20 slices"));
    assert!(html.contains("<b>13 points</b>; chance alone would give about 5."));
    assert!(
        html.contains(
            "2 slices deviate by more than two standard errors, where chance would give about 0.8."
        )
    );
    assert!(html.contains("<figure id=\"slices\""));
}

#[test]
fn what_is_not_a_number_is_a_dash() {
    let nan = f64::NAN;
    let bins = vec![FamiliarityCoverage { mean_std: nan, rmse: nan, ..bin([0.2, 0.5], 30, nan) }];
    let mut slices = sliced(&["area"]);
    slices.worst[0].slices[3] = CoverageSlice { range: Some([nan, f64::INFINITY]), rows: 30, coverage: nan };
    slices.worst[0].slices[5].rows = 0;
    slices.largest = nan;
    let run = number_page(bins, Some(slices));
    let html = render(&run);
    assert_eq!(lines(&html, "Coverage by familiarity"), [["0.2 to 0.5", "30", "–", "50 %", "–", "–", "–"]]);
    assert!(!without_base64(&html).contains("NaN"));
    figures(&run).iter().for_each(assert_well_formed);
    for empty in [
        sliced(&[]),
        SlicedCoverage { worst: vec![SlicedColumn { name: "a".into(), slices: vec![] }], ..sliced(&["a"]) },
    ] {
        let html = render(&number_page(Vec::new(), Some(empty)));
        assert!(!html.contains("Coverage by slice") && !html.contains("id=\"slices\""));
    }
}

#[test]
fn names_of_sliced_columns_are_text() {
    let evil = "<img src=x onerror=alert(1)>&\u{202e}";
    let run = number_page(Vec::new(), Some(sliced(&[evil, ""])));
    let html = render(&run);
    assert!(!html.contains("<img") && !html.contains('\u{202e}'));
    let shown = lines(&html, "Coverage by slice");
    assert!(
        shown.iter().any(|line| line[0] == "&lt;img src=x onerror=alert(1)&gt;&amp;\u{fffd}"),
        "{shown:?}"
    );
    assert!(shown.iter().any(|line| line[0] == "(empty)"), "{shown:?}");
    figures(&run).iter().for_each(assert_well_formed);
}
