//! Whether the uncertainty is right everywhere and not only on average: by familiarity, and by the values of one input.

/// Level of the prediction intervals whose coverage is looked at in parts of the rows.
pub(crate) const LEVEL: f64 = 0.95;
/// Of fewer rows, a share says next to nothing.
pub(crate) const FEWEST_ROWS: usize = 20;
/// Deviations of more standard errors than this are hardly chance.
pub(crate) const CHANCE: f64 = 2.0;

/// Numbers predicted for rows of similar familiarity.
#[derive(Debug, Clone, PartialEq)]
pub struct FamiliarityCoverage {
    /// Familiarity from the first up to the second, which belongs to the next bin.
    pub range: [f64; 2],
    /// Rows in this bin, at least one.
    pub rows: usize,
    /// Share of rows inside their 95 % interval.
    pub coverage_95: f64,
    /// Share of rows inside their 50 % interval.
    pub coverage_50: f64,
    /// Mean predicted standard deviation, in the target's units.
    pub mean_std: f64,
    /// Root mean squared error, in the target's units.
    pub rmse: f64,
}

/// Classes predicted for rows of similar familiarity.
#[derive(Debug, Clone, PartialEq)]
pub struct FamiliarityAccuracy {
    /// Familiarity from the first up to the second, which belongs to the next bin.
    pub range: [f64; 2],
    /// Rows in this bin, at least one.
    pub rows: usize,
    /// Share of correct predictions.
    pub accuracy: f64,
    /// Mean probability of the predicted class.
    pub confidence: f64,
}

/// Coverage of the 95 % interval in slices of the rows, cut by the value of one input after the other.
#[derive(Debug, Clone, PartialEq)]
pub struct SlicedCoverage {
    /// Inputs that were sliced.
    pub inputs: usize,
    /// Slices of all inputs.
    pub slices: usize,
    /// Slices that deviate from 95 % by more than two binomial standard errors.
    pub deviating: usize,
    /// The same, as chance alone would have it on average.
    pub deviating_by_chance: f64,
    /// Largest `|coverage − 0.95|` of all slices.
    pub largest: f64,
    /// The same, as chance alone would have it on average.
    pub largest_by_chance: f64,
    /// Inputs with the worst slices, worst first.
    pub worst: Vec<SlicedColumn>,
}

/// One input and its slices.
#[derive(Debug, Clone, PartialEq)]
pub struct SlicedColumn {
    /// Name of the column.
    pub name: String,
    /// From the smallest values to the largest, in which equal values are together; last, rows without a value.
    pub slices: Vec<CoverageSlice>,
}

/// Rows with similar values of one input, or without one.
#[derive(Debug, Clone, PartialEq)]
pub struct CoverageSlice {
    /// Smallest and largest value, in the column's units; `None` for rows whose cell is empty.
    pub range: Option<[f64; 2]>,
    /// Rows in this slice.
    pub rows: usize,
    /// Share of rows inside their 95 % interval.
    pub coverage: f64,
}

impl CoverageSlice {
    /// How many binomial standard errors the coverage lies above 95 %; negative below.
    pub fn deviation(&self) -> f64 {
        deviation(self.coverage, LEVEL, self.rows)
    }
}

/// How many binomial standard errors a share of `rows` rows lies above what was expected.
pub(crate) fn deviation(share: f64, expected: f64, rows: usize) -> f64 {
    (share - expected) / standard_error(expected, rows)
}

/// `√(p(1 − p)/n)`
pub(crate) fn standard_error(p: f64, rows: usize) -> f64 {
    (p * (1.0 - p) / rows as f64).sqrt()
}
