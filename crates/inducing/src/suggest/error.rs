//! Why no row can be suggested.

/// A pool or options that make no sense for a model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SuggestError {
    /// A pool without rows.
    #[error("{pool}: there is not one row to choose from\nhint: name inputs that could be labelled next")]
    EmptyPool {
        /// Its name.
        pool: String,
    },
    /// Classes to be maximised.
    #[error(
        "classes have no largest or smallest value\nhint: leave `--maximise` and `--minimise` out: the rows whose classes would teach most are suggested"
    )]
    Classes,
    /// One of several numbers to be maximised.
    #[error(
        "the model predicts {}, and only one of them can be maximised or minimised\nhint: say which with `--target`",
        .names.join(", ")
    )]
    SeveralTargets {
        /// What is predicted.
        names: Vec<String>,
    },
    /// A target that is not predicted.
    #[error("`{name}` is not predicted\nhint: the model predicts {}", .names.join(", "))]
    UnknownTarget {
        /// What was asked for.
        name: String,
        /// What is predicted.
        names: Vec<String>,
    },
    /// Nothing to improve on.
    #[error(
        "the model keeps no training rows, so the best value known is not known to it\nhint: give it with `--best VALUE`, or train without `--without-neighbours`"
    )]
    NoBest,
    /// A best value that is not a finite number.
    #[error("the best value known is {best}\nhint: expected a finite number")]
    BestNotFinite {
        /// The value.
        best: f64,
    },
}
