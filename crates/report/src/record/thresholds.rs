//! One class against the others, by a threshold of its probability.

/// What becomes of the rows as the threshold of a class falls.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassThresholds {
    /// Index in [`ClassificationRecord::classes`](crate::ClassificationRecord::classes).
    pub class: usize,
    /// Rows of this class.
    pub positives: usize,
    /// All other rows.
    pub negatives: usize,
    /// From high thresholds to low ones.
    pub points: Vec<OperatingPoint>,
    /// Mean precision over the recalls; its value by chance is the share of the class.
    pub average_precision: f64,
    /// Area under the ROC curve.
    pub auroc: f64,
}

/// Rows whose probability of the class reaches a threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OperatingPoint {
    /// In [0, 1].
    pub threshold: f64,
    /// Rows of the class among them.
    pub true_positives: usize,
    /// Other rows among them.
    pub false_positives: usize,
}

impl ClassThresholds {
    /// Share of the flagged rows that are of the class; not a number where none is flagged.
    pub fn precision(&self, point: &OperatingPoint) -> f64 {
        point.true_positives as f64 / (point.true_positives + point.false_positives) as f64
    }

    /// Share of the rows of the class that are flagged.
    pub fn recall(&self, point: &OperatingPoint) -> f64 {
        point.true_positives as f64 / self.positives as f64
    }

    /// Share of the other rows that are flagged.
    pub fn false_positive_rate(&self, point: &OperatingPoint) -> f64 {
        point.false_positives as f64 / self.negatives as f64
    }

    /// The rows that reach a threshold; `None` where there is none.
    pub fn at(&self, threshold: f64) -> Option<&OperatingPoint> {
        self.points.iter().take_while(|point| point.threshold >= threshold).last()
    }
}
