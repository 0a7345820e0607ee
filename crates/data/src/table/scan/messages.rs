//! What processes tell each other.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{DataError, Problem};
use crate::together::Together;

/// An error as another process prints it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Fault {
    file: String,
    line: Option<u64>,
    row: Option<u64>,
    column: Option<String>,
    message: String,
    hint: Option<String>,
}

impl From<&DataError> for Fault {
    fn from(error: &DataError) -> Self {
        Fault {
            file: error.file.clone(),
            line: error.line,
            row: error.row,
            column: error.column.clone(),
            message: error.problem.to_string(),
            hint: error.hint(),
        }
    }
}

impl From<Fault> for DataError {
    fn from(fault: Fault) -> Self {
        let problem = Problem::Elsewhere { message: fault.message, hint: fault.hint };
        let error = DataError::new(fault.file, problem);
        DataError { line: fault.line, row: fault.row, column: fault.column, ..error }
    }
}

/// What each process has to say, in the order of ranks.
pub(super) fn gathered<T: Serialize + DeserializeOwned>(
    own: &T,
    together: &dyn Together,
) -> Result<Vec<T>, DataError> {
    let own = serde_json::to_vec(own).expect("plain data can be written as JSON");
    let all = together.gather(&own)?;
    let read = |(rank, bytes): (usize, Vec<u8>)| {
        serde_json::from_slice(&bytes)
            .map_err(|error| unreadable(rank, &format!("what it sent cannot be read: {error}")))
    };
    all.into_iter().enumerate().map(read).collect()
}

/// A process sent something else than this one expects.
pub(super) fn unreadable(rank: usize, message: &str) -> DataError {
    let problem = Problem::Elsewhere {
        message: message.to_owned(),
        hint: Some("run the same version of the program on all hosts".into()),
    };
    DataError::new(format!("process {rank}"), problem)
}
