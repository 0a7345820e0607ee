//! Figures of merit of class probabilities, and of telling out-of-distribution inputs by uncertainty.
//!
//! ```text
//! nll   = mean −log max(p_y, 10⁻¹⁵)                    brier = mean Σ_c (p_c − 1[c = y])²
//! ece   = Σ_b share_b·|accuracy_b − confidence_b|      15 bins of equal width, by the largest probability
//! auroc = P(score of a positive > score of another)    ties count half; the mean over classes where there are more
//! ```

use serde::{Deserialize, Serialize};

/// Bins of the reliability table.
const BINS: usize = 15;
/// No probability counts as smaller, or one confident mistake would be all there is to see.
const SMALLEST: f64 = 1e-15;

/// Scores of class probabilities over `n` rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassMetrics {
    /// Rows.
    pub n: usize,
    /// Share of rows whose most probable class is the true one.
    pub accuracy: f64,
    /// Mean negative log-probability of the true class.
    pub nll: f64,
    /// Mean squared distance between probabilities and the truth, summed over the classes: from 0 to 2.
    pub brier: f64,
    /// Expected calibration error.
    pub ece: f64,
    /// Area under the ROC curve: of the second class for two, else the mean of each class against the others;
    /// `None` when only one class occurs.
    pub auroc: Option<f64>,
    /// Rows by true class, then by predicted class.
    pub confusion: Vec<Vec<usize>>,
    /// One entry a class.
    pub classes: Vec<ClassScores>,
    /// Rows by confidence.
    pub reliability: Vec<Bin>,
    /// What the probabilities were worth before recalibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncalibrated: Option<Uncalibrated>,
}

/// Scores of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassScores {
    /// The class.
    pub label: String,
    /// Share of the rows predicted as this class that are of it; 0 where there are none.
    pub precision: f64,
    /// Share of the rows of this class that are predicted as it.
    pub recall: f64,
    /// Harmonic mean of the two.
    pub f1: f64,
    /// Rows of this class.
    pub support: usize,
}

/// Rows of similar confidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bin {
    /// Rows.
    pub count: usize,
    /// Mean largest probability.
    pub confidence: Option<f64>,
    /// Share that is right.
    pub accuracy: Option<f64>,
}

/// Scores that recalibration changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uncalibrated {
    /// As in [`ClassMetrics`].
    pub nll: f64,
    /// As in [`ClassMetrics`].
    pub ece: f64,
    /// As in [`ClassMetrics`].
    pub reliability: Vec<Bin>,
}

impl ClassMetrics {
    /// Scores probabilities, row-major `[N, K]`, of classes `labels [K]` against the true classes `y [N]`.
    pub fn new(p: &[f64], y: &[u32], labels: &[String]) -> Self {
        Self::weighted(p, y, labels, &[], &predicted)
    }

    /// The same with a weight for each row, empty for 1, and another way to decide: accuracy, NLL and Brier score count weights, what
    /// counts rows does not, but for rows of no weight, which are left out.
    pub fn weighted(
        p: &[f64],
        y: &[u32],
        labels: &[String],
        weights: &[f64],
        decide: &dyn Fn(&[f64]) -> usize,
    ) -> Self {
        let (n, k) = (y.len(), labels.len());
        if weights.contains(&0.0) {
            let kept: Vec<usize> = (0..n).filter(|&i| weights[i] > 0.0).collect();
            let p: Vec<f64> = kept.iter().flat_map(|&i| &p[i * k..][..k]).copied().collect();
            let (y, weights): (Vec<u32>, Vec<f64>) = kept.iter().map(|&i| (y[i], weights[i])).unzip();
            return Self::weighted(&p, &y, labels, &weights, decide);
        }
        let rows = || p.chunks_exact(k).zip(y.iter().map(|&y| y as usize));
        let mean = |total: f64| total / if weights.is_empty() { n as f64 } else { weights.iter().sum() };
        let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
        let mut confusion = vec![vec![0; k]; k];
        let (mut nll, mut brier, mut right) = (0.0, 0.0, 0.0);
        for (i, (p, y)) in rows().enumerate() {
            right += weight(i) * f64::from(u8::from(decide(p) == y));
            confusion[y][decide(p)] += 1;
            nll += weight(i) * row_nll(p, y);
            let miss = |(c, p): (usize, &f64)| (p - f64::from(u8::from(c == y))).powi(2);
            brier += weight(i) * p.iter().enumerate().map(miss).sum::<f64>();
        }
        let reliability = reliability(rows());
        let one_vs_rest = |class: usize| {
            let (own, others): (Vec<_>, Vec<_>) = rows().partition(|(_, y)| *y == class);
            let score = |rows: Vec<(&[f64], usize)>| rows.iter().map(|(p, _)| p[class]).collect::<Vec<_>>();
            auroc(&score(others), &score(own))
        };
        let areas: Vec<f64> = if k == 2 {
            one_vs_rest(1).into_iter().collect()
        } else {
            (0..k).filter_map(one_vs_rest).collect()
        };
        Self {
            n,
            accuracy: mean(right),
            nll: mean(nll),
            brier: mean(brier),
            ece: expected_error(&reliability),
            auroc: (!areas.is_empty()).then(|| areas.iter().sum::<f64>() / areas.len() as f64),
            classes: (0..k).map(|c| class_scores(&confusion, c, &labels[c])).collect(),
            confusion,
            reliability,
            uncalibrated: None,
        }
    }

    /// The same, with what the probabilities were before recalibration beside it.
    #[must_use]
    pub fn beside(self, uncalibrated: Self) -> Self {
        let Self { nll, ece, reliability, .. } = uncalibrated;
        Self { uncalibrated: Some(Uncalibrated { nll, ece, reliability }), ..self }
    }
}

/// The most probable class; of several the first.
pub fn predicted(p: &[f64]) -> usize {
    let mut best = 0;
    for (class, &p_class) in p.iter().enumerate() {
        if p_class > p[best] {
            best = class;
        }
    }
    best
}

/// Negative log-probability of the true class.
pub fn row_nll(p: &[f64], y: usize) -> f64 {
    -p[y].max(SMALLEST).ln()
}

/// `−Σ p log p`.
pub fn entropy(p: &[f64]) -> f64 {
    -p.iter().filter(|&&p| p > 0.0).map(|p| p * p.ln()).sum::<f64>()
}

fn class_scores(confusion: &[Vec<usize>], class: usize, label: &str) -> ClassScores {
    let right = confusion[class][class];
    let support = confusion[class].iter().sum();
    let claimed: usize = confusion.iter().map(|row| row[class]).sum();
    let share = |part: usize, of: usize| if of == 0 { 0.0 } else { part as f64 / of as f64 };
    ClassScores {
        label: label.into(),
        precision: share(right, claimed),
        recall: share(right, support),
        f1: share(2 * right, support + claimed),
        support,
    }
}

fn reliability<'a>(rows: impl Iterator<Item = (&'a [f64], usize)>) -> Vec<Bin> {
    let mut sums = vec![(0, 0.0, 0); BINS];
    for (p, y) in rows {
        let best = predicted(p);
        let bin = ((p[best] * BINS as f64).ceil() as usize).clamp(1, BINS) - 1;
        let (count, confidence, right) = &mut sums[bin];
        *count += 1;
        *confidence += p[best];
        *right += usize::from(best == y);
    }
    let bin = |(count, confidence, right): (usize, f64, usize)| Bin {
        count,
        confidence: (count > 0).then(|| confidence / count as f64),
        accuracy: (count > 0).then(|| right as f64 / count as f64),
    };
    sums.into_iter().map(bin).collect()
}

fn expected_error(bins: &[Bin]) -> f64 {
    let n: usize = bins.iter().map(|bin| bin.count).sum();
    let gap = |bin: &Bin| Some(bin.count as f64 * (bin.accuracy? - bin.confidence?).abs());
    bins.iter().filter_map(gap).sum::<f64>() / n.max(1) as f64
}

/// How well a score tells out-of-distribution inputs from those the model knows; larger scores are less familiar.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct OodMetrics {
    /// Area under the ROC curve.
    pub auroc: f64,
    /// Average precision, out-of-distribution inputs being the positives.
    pub aupr: f64,
    /// Share of the in-distribution inputs that are flagged where 95 % of the others are.
    pub fpr95: f64,
}

impl OodMetrics {
    /// `None` when one of the two is empty.
    pub fn new(known: &[f64], unknown: &[f64]) -> Option<Self> {
        let auroc = auroc(known, unknown)?;
        let mut scores: Vec<(f64, bool)> = known.iter().map(|&s| (s, false)).collect();
        scores.extend(unknown.iter().map(|&s| (s, true)));
        scores.sort_by(|a, b| b.0.total_cmp(&a.0));
        let (mut found, mut mistaken, mut aupr, mut fpr95) = (0, 0, 0.0, None);
        for tied in scores.chunk_by(|a, b| a.0 == b.0) {
            let new = tied.iter().filter(|(_, unknown)| *unknown).count();
            found += new;
            mistaken += tied.len() - new;
            aupr += new as f64 / unknown.len() as f64 * found as f64 / (found + mistaken) as f64;
            if found as f64 >= 0.95 * unknown.len() as f64 {
                fpr95.get_or_insert(mistaken as f64 / known.len() as f64);
            }
        }
        Some(Self { auroc, aupr, fpr95: fpr95.unwrap_or(1.0) })
    }
}

/// By the rank sum of the positives (Mann & Whitney); ties share their ranks.
fn auroc(others: &[f64], positives: &[f64]) -> Option<f64> {
    if others.is_empty() || positives.is_empty() {
        return None;
    }
    let mut scores: Vec<(f64, bool)> = others.iter().map(|&s| (s, false)).collect();
    scores.extend(positives.iter().map(|&s| (s, true)));
    scores.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut before, mut rank_sum) = (0, 0.0);
    for tied in scores.chunk_by(|a, b| a.0 == b.0) {
        let own = tied.iter().filter(|(_, positive)| *positive).count();
        rank_sum += own as f64 * (before as f64 + (tied.len() as f64 + 1.0) / 2.0);
        before += tied.len();
    }
    let n = positives.len() as f64;
    Some((rank_sum - n * (n + 1.0) / 2.0) / (n * others.len() as f64))
}
