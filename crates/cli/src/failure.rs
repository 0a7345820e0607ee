//! Why a command failed, and the exit code that says so.

use inducing::train::TrainError;
use std::fmt;

/// At the end of `ign --help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the computation failed: training diverged, or a matrix could not be factorised
  2    something you can fix: the command line, a file, the configuration
  129  stopped by SIGHUP
  130  stopped by Ctrl-C (SIGINT)
  143  stopped by SIGTERM";

/// Why a command did not do what was asked.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Error(inducing::Error),
    /// The command line makes no sense.
    Usage(String),
    /// Standard output cannot be written.
    Output(std::io::Error),
    /// Stopped by a signal; what could be saved is saved.
    Interrupted,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error(error) => error.fmt(f),
            Self::Usage(message) => message.fmt(f),
            Self::Output(error) => {
                write!(f, "cannot write standard output: {error}\nhint: is the disk behind it full?")
            }
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl Failure {
    /// See [`EXIT_CODES`].
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Error(inducing::Error::Gp(_) | inducing::Error::Train(TrainError::Diverged { .. })) => 1,
            _ => 2,
        }
    }

    /// Whether the reader of our output went away.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Error(inducing::Error::Data(error)) => error.is_broken_pipe(),
            Self::Output(error) => error.kind() == std::io::ErrorKind::BrokenPipe,
            _ => false,
        }
    }
}

impl<E: Into<inducing::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        match error.into() {
            inducing::Error::Interrupted => Self::Interrupted,
            error => Self::Error(error),
        }
    }
}
