//! Why a model cannot be exported.

/// What stands in the way of an ONNX model.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// ONNX has no words, graphs or code of another program.
    #[error("{0} cannot be exported\nhint: `ign predict` and the library predict with every model")]
    Inputs(String),
    /// An option does not suit the model.
    #[error("{problem}\nhint: {hint}")]
    Option {
        /// What does not suit.
        problem: String,
        /// What to do.
        hint: String,
    },
    /// A number that should be in the model is not.
    #[error("the model lacks {0}\nhint: load it from a file that `ign train` wrote")]
    Incomplete(String),
    /// The library could not compute what the graph holds.
    #[error("{0}")]
    Model(String),
    /// Protobuf ends there.
    #[error(
        "the exported model would have {0} bytes, and an ONNX file holds at most 2147483647\nhint: keep fewer rows with `--set neighbours.max_rows=10000`"
    )]
    TooLarge(usize),
}

impl From<inducing::Error> for ExportError {
    fn from(error: inducing::Error) -> Self {
        Self::Model(error.to_string())
    }
}
