//! The reliability diagram: how often a class is right by how probable it was said to be.

use super::curves::{CALIBRATED, Named, UNCALIBRATED, calibration_plot};
use crate::ClassificationRecord;
use crate::figure::PageFigure;
use crate::figure::curve::Line;
use crate::palette::{ACCENT, OTHERS, Paint};
use crate::record::conditional::FEWEST_ROWS;
use inducing::metrics::Bin;

/// Bins of the metrics that become one of the figure.
const JOINED: usize = 2;
/// Standard errors to either side of an error bar that holds 95 %.
const Z: f64 = 1.959_964;

/// Rows of similar confidence: how many, their mean confidence and their accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Joined {
    rows: f64,
    confidence: f64,
    accuracy: f64,
}

/// Fewer bins, each of enough rows: from the largest confidence down, where most rows are.
fn joined(bins: &[Bin]) -> Vec<Joined> {
    let mut out: Vec<Joined> = Vec::new();
    for part in bins.rchunks(JOINED) {
        let known = part.iter().filter_map(|bin| Some((bin.count as f64, bin.confidence?, bin.accuracy?)));
        let (rows, confidence, accuracy) = known
            .fold((0.0, 0.0, 0.0), |(n, c, a), (rows, confidence, accuracy)| {
                (n + rows, c + rows * confidence, a + rows * accuracy)
            });
        if rows == 0.0 {
            continue;
        }
        match out.last_mut().filter(|last| last.rows < FEWEST_ROWS as f64) {
            Some(last) => {
                last.confidence = (last.rows * last.confidence + confidence) / (last.rows + rows);
                last.accuracy = (last.rows * last.accuracy + accuracy) / (last.rows + rows);
                last.rows += rows;
            }
            None => out.push(Joined { rows, confidence: confidence / rows, accuracy: accuracy / rows }),
        }
    }
    // The last, of the least confidence, may be left with too few.
    if let [.., before, last] = &mut out[..]
        && last.rows < FEWEST_ROWS as f64
    {
        let rows = before.rows + last.rows;
        before.confidence = (before.rows * before.confidence + last.rows * last.confidence) / rows;
        before.accuracy = (before.rows * before.accuracy + last.rows * last.accuracy) / rows;
        before.rows = rows;
        out.pop();
    }
    out.reverse();
    out
}

/// Both ends of the interval that holds the true share with 95 % confidence (Wilson 1927).
fn wilson(share: f64, rows: f64) -> [f64; 2] {
    let z2 = Z * Z / rows;
    let middle = (share + 0.5 * z2) / (1.0 + z2);
    let half = Z * (share * (1.0 - share) / rows + 0.25 * z2 / rows).sqrt() / (1.0 + z2);
    [(middle - half).max(0.0), (middle + half).min(1.0)]
}

/// A line through the bins, with error bars where they are asked for.
pub(super) fn line(paint: Paint, dash: &'static str, bins: &[Bin], with_bars: bool) -> Line {
    let bins = joined(bins);
    let most = bins.iter().map(|bin| bin.rows).fold(1.0, f64::max);
    let bar = |bin: &Joined| wilson(bin.accuracy, bin.rows).map(|end| 100.0 * end);
    Line {
        paint,
        dash,
        at: bins.iter().map(|bin| [100.0 * bin.confidence, 100.0 * bin.accuracy]).collect(),
        dots: bins.iter().map(|bin| 2.0 + 5.0 * (bin.rows / most).sqrt()).collect(),
        bars: if with_bars { bins.iter().map(bar).collect() } else { Vec::new() },
    }
}

/// With recalibration and, where it differs, without.
pub(super) fn lines(record: &ClassificationRecord) -> Vec<Named> {
    let uncalibrated = record.metrics.uncalibrated.as_ref();
    uncalibrated
        .filter(|u| u.reliability != record.metrics.reliability)
        .map(|u| (line(OTHERS, "6 4", &u.reliability, false), UNCALIBRATED.to_owned()))
        .into_iter()
        .chain([(line(ACCENT, "", &record.metrics.reliability, true), CALIBRATED.to_owned())])
        .collect()
}

pub(super) fn figure(name: &str, lines: &[Named]) -> PageFigure {
    let bars = match lines.iter().any(|(line, _)| !line.bars.is_empty()) {
        true => " Bars are 95\u{a0}% binomial intervals: a bar that misses the line is more than chance.",
        false => "",
    };
    let caption = format!(
        "Of all predictions made with 80 % confidence, 80 % should be correct (dotted line). Each dot is a bin of at least \
         {FEWEST_ROWS} rows with similar confidence, where there are as many; larger dots hold more rows.{bars}"
    );
    calibration_plot(
        name,
        lines,
        "Reliability diagram",
        ["Confidence: probability of the predicted class (%)", "Accuracy (%)"],
        "Accuracy against confidence; the dotted diagonal is perfect.",
        &caption,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bin(count: usize, confidence: f64, accuracy: f64) -> Bin {
        let some = |x| (count > 0).then_some(x);
        Bin { count, confidence: some(confidence), accuracy: some(accuracy) }
    }

    #[test]
    fn bins_are_joined_until_each_has_enough_rows_and_none_is_lost() {
        let mut bins = vec![bin(0, 0.0, 0.0); 15];
        (bins[14], bins[13], bins[12], bins[10], bins[7]) = (
            bin(100, 0.98, 0.99),
            bin(50, 0.9, 0.8),
            bin(30, 0.83, 0.8),
            bin(15, 0.7, 0.6),
            bin(3, 0.5, 0.0),
        );
        let joined = joined(&bins);
        assert_eq!(joined.iter().map(|bin| bin.rows).collect::<Vec<_>>(), [48.0, 150.0]);
        let right: f64 = joined.iter().map(|bin| bin.rows * bin.accuracy).sum();
        assert!((right - (99.0 + 40.0 + 24.0 + 9.0)).abs() < 1e-9);
        assert!((joined[1].confidence - (98.0 + 45.0) / 150.0).abs() < 1e-12);
        assert!(super::joined(&[]).is_empty());
        assert_eq!(super::joined(&[bin(2, 0.6, 0.5)]).len(), 1, "few rows are better than none");
    }

    #[test]
    fn wilson_s_interval_is_that_of_the_tables() {
        // The first three: Newcombe 1998, table I.
        let cases = [
            (81.0, 263.0, [0.2553, 0.3662]),
            (15.0, 148.0, [0.0624, 0.1605]),
            (0.0, 20.0, [0.0, 0.1611]),
            (29.0, 29.0, [0.8830, 1.0]),
        ];
        for (right, rows, expected) in cases {
            let ends = wilson(right / rows, rows);
            assert!(ends.iter().zip(expected).all(|(a, b)| (a - b).abs() < 5e-5), "{ends:?} {expected:?}");
        }
    }
}
