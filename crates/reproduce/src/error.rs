//! Why an experiment cannot be reproduced.

/// Any failure of this crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library refused.
    #[error("{0}")]
    Library(inducing::Error),
    /// What was asked for makes no sense, or its data are missing; the message ends with a hint.
    #[error("{0}")]
    Usage(String),
}

impl<E: Into<inducing::Error>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Library(error.into())
    }
}
