//! The sentence on top of the page follows from the data.

mod fixtures;

use fixtures::*;
use inducing_report::*;

/// The verdict of a page, as a reader sees it.
fn verdict(run: &RunRecord) -> String {
    let html = render(run);
    let part = html.split("class=\"verdict\">").nth(1).and_then(|rest| rest.split("</p>").next());
    let mut text = String::new();
    let mut inside = false;
    for c in part.expect("a verdict").chars() {
        match c {
            '<' => inside = true,
            '>' => inside = false,
            '\u{a0}' if !inside => text.push(' '),
            c if !inside => text.push(c),
            _ => {}
        }
    }
    text
}

fn number_page(change: impl FnOnce(&mut RegressionRecord), rows: EvaluatedRows) -> RunRecord {
    let mut record = number_target("price", 40, 1);
    (record.metrics.n, record.metrics.coverage_95, record.median_error) = (4000, 0.952, 0.48);
    record.by_familiarity = [([0.0, 0.01], 12), ([0.01, 0.05], 160), ([0.5, 1.0], 3828)]
        .map(|(range, rows)| FamiliarityCoverage {
            range,
            rows,
            coverage_95: 0.95,
            coverage_50: 0.5,
            mean_std: 1.0,
            rmse: 1.0,
        })
        .to_vec();
    if let Some(BaselineComparison { model, baselines, .. }) = &mut record.baselines {
        model.crps = 0.17;
        baselines[0].1.crps = 1.0;
        baselines[1].1.crps = 2.0;
    }
    change(&mut record);
    let model = ModelRecord { targets: vec![TargetRecord::Regression(record)], ..numbers(40, 3, 4) };
    RunRecord { rows, ..page(model) }
}

fn crps(record: &mut RegressionRecord, own: f64) {
    record.baselines.as_mut().expect("baselines").model.crps = own;
}

#[test]
fn errors_coverage_baseline_and_familiarity_are_one_sentence() {
    let expected = "On 4,000 unseen rows errors are typically ± 0.48 (median absolute error, in the units of price); 95 % \
                    intervals held 95.2 % of the observations; better than the linear baseline by 83 % (CRPS 0.17 against \
                    1); 12 rows are unlike the training rows (0.3 %; 1 % is usual).";
    assert_eq!(verdict(&number_page(|_| (), EvaluatedRows::Unseen)), expected);
}

#[test]
fn a_model_that_a_simple_one_beats_is_told_so() {
    let said = |own: f64| verdict(&number_page(|record| crps(record, own), EvaluatedRows::Unseen));
    assert!(said(1.2).contains(
        "not better than the linear baseline (CRPS 1.2 against 1): the simpler model may serve as well"
    ));
    assert!(said(1.0).contains("not better than the linear baseline"));
    assert!(said(0.995).contains("hardly better than the linear baseline"));
    let constant = number_page(
        |record| {
            let comparison = record.baselines.as_mut().expect("baselines");
            (comparison.model.crps, comparison.baselines[1].1.crps) = (0.9, 0.8);
        },
        EvaluatedRows::Unseen,
    );
    assert!(verdict(&constant).contains("not better than the constant baseline (CRPS 0.9 against 0.8)"));
    let unknown = verdict(&number_page(|record| record.baselines = None, EvaluatedRows::Unseen));
    assert!(!unknown.contains("baseline"), "{unknown}");
}

#[test]
fn scores_of_other_rows_say_so() {
    let other = number_page(
        |record| {
            let comparison = record.baselines.as_mut().expect("baselines");
            comparison.other_rows = Some("the 206 test rows held out during training".into());
        },
        EvaluatedRows::Given,
    );
    let said = verdict(&other);
    assert!(said.starts_with("On 4,000 rows of the test split of houses.csv errors"), "{said}");
    assert!(
        said.contains("on the 206 test rows held out during training, it is better than the linear"),
        "{said}"
    );
    assert!(render(&other).contains("measured on the 206 test rows held out during training"));
}

#[test]
fn a_score_far_from_that_of_held_out_rows_is_suspect() {
    let said = |own: f64, n: usize| {
        let change = |record: &mut RegressionRecord| {
            (record.metrics.crps, record.metrics.n) = (own, n);
            let comparison = record.baselines.as_mut().expect("baselines");
            comparison.other_rows = Some("the 206 test rows held out during training".into());
        };
        verdict(&number_page(change, EvaluatedRows::Given))
    };
    assert!(
        said(0.06, 4000)
            .contains("here its CRPS of 0.06 is far smaller: these rows may include training rows")
    );
    assert!(said(0.5, 4000).contains("is far larger: these rows are unlike those of the training run"));
    assert!(!said(0.2, 4000).contains("here its") && !said(0.06, 20).contains("here its"));
}

#[test]
fn wrong_intervals_and_strange_rows_are_pointed_out() {
    let narrow = |share: f64| number_page(|record| record.metrics.coverage_95 = share, EvaluatedRows::Unseen);
    assert!(verdict(&narrow(0.88)).contains("held 88 % of the observations: too narrow"));
    assert!(verdict(&narrow(0.99)).contains("held 99 % of the observations: wider than they need be"));
    let unlike = |rows: usize| {
        verdict(&number_page(|record| record.by_familiarity[0].rows = rows, EvaluatedRows::Unseen))
    };
    assert!(unlike(1).contains("1 row is unlike the training rows"));
    assert!(unlike(0).contains("no row is unlike the training rows"));
    assert!(unlike(900).contains("900 rows are unlike the training rows (18.4 %, where 1 % is usual)"));
    let without = verdict(&number_page(|record| record.by_familiarity.clear(), EvaluatedRows::Unseen));
    assert!(!without.contains("unlike"), "{without}");
}

#[test]
fn rows_that_the_model_knows_are_called_what_they_are() {
    let said = |rows| verdict(&number_page(|record| record.metrics.n = 1, rows));
    assert!(said(EvaluatedRows::Unseen).starts_with("On 1 unseen row errors"));
    assert!(said(EvaluatedRows::Validation).starts_with("On 1 validation row, which also chose the epoch,"));
    assert!(
        said(EvaluatedRows::OutOfFold)
            .starts_with("On 1 training row, each predicted by members that never saw it,")
    );
    assert!(
        said(EvaluatedRows::Training).starts_with("On 1 training row, which says little about new ones,")
    );
}

#[test]
fn classes_are_compared_with_the_most_frequent_one_and_with_their_own_confidence() {
    let mut record = class_target("kind", vec!["benign".into(), "malignant".into()], 200);
    let mut metrics = record.metrics.clone();
    metrics.confusion = vec![vec![120, 5], vec![5, 70]];
    metrics.accuracy = 0.95;
    for bin in &mut metrics.reliability {
        (bin.count, bin.confidence, bin.accuracy) = (0, None, None);
    }
    (metrics.reliability[14].count, metrics.reliability[14].confidence) = (200, Some(0.96));
    metrics.ece = 0.01;
    let comparison = record.baselines.as_mut().expect("baselines");
    (comparison.model.nll, comparison.baselines[0].1.nll) = (0.08, 0.1);
    let said = |metrics: inducing::metrics::ClassMetrics| {
        let record = ClassificationRecord { metrics, ..record.clone() };
        verdict(&page(ModelRecord {
            targets: vec![TargetRecord::Classification(record)],
            ..classes(200, 2, 4)
        }))
    };
    let calibrated = said(metrics.clone());
    assert!(
        calibrated.starts_with(
            "On 200 unseen rows 95 % are classified correctly (always “benign” would be right for 62.5 %); the probability \
             that it states for its choice is 96 % on average, as it should be within chance (calibration error ECE 1 %); \
             better than the linear baseline by 20 % (NLL 0.08 against 0.1 nats); "
        ),
        "{calibrated}"
    );
    metrics.reliability[14].confidence = Some(0.995);
    assert!(said(metrics.clone()).contains("is 99.5 % on average: overconfident"));
    metrics.reliability[14].confidence = Some(0.85);
    assert!(said(metrics).contains("is 85 % on average: underconfident"));
}

#[test]
fn several_targets_and_several_models_have_a_verdict_each() {
    let html = render(&page(graphs(10, 5, 3)));
    assert_eq!(html.matches("class=\"verdict\"").count(), 1);
    assert!(html.contains("<li><b>energy.</b> On") && html.contains("<li><b>dipole.</b> On"));
    let mut several = page(numbers(20, 3, 4));
    several.models.push(several.models[0].clone());
    assert_eq!(render(&several).matches("class=\"verdict\"").count(), 2);
}
