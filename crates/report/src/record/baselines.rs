//! The model beside simple ones, and what kind of rows all of this is measured on.

/// What a model can have known of the rows that it is evaluated on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EvaluatedRows {
    /// Rows that were given: the page does not know where they come from.
    #[default]
    Given,
    /// Held out, and used for nothing else.
    Unseen,
    /// Held out, but they chose the epoch and calibrated the uncertainties.
    Validation,
    /// Training rows, each predicted by members of an ensemble that never saw it.
    OutOfFold,
    /// Training rows.
    Training,
}

/// A model beside simple ones on the same rows; `M` are the metrics of all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineComparison<M> {
    /// Those rows in words, where they are others than the page's: `the 206 test rows held out during training`.
    pub other_rows: Option<String>,
    /// Of the model.
    pub model: M,
    /// Of simple models.
    pub baselines: Vec<(Baseline, M)>,
}

/// A simple model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Baseline {
    /// Linear or logistic regression.
    Linear,
    /// The mean of the nearest training rows.
    Neighbours,
    /// The same for every row: mean and deviation, or the shares of the classes.
    Constant,
}

impl Baseline {
    pub(crate) const ALL: [Self; 3] = [Self::Linear, Self::Neighbours, Self::Constant];

    /// Its name in a model file.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Neighbours => "neighbours",
            Self::Constant => "constant",
        }
    }

    /// Its name in a sentence: `the … baseline`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Neighbours => "nearest-neighbours",
            Self::Constant => "constant",
        }
    }
}
