//! What the user names as input, and the flags that say how to read it.
//!
//! ```text
//! train:                      InputFlags → InputSpec → LoadedInput → Prepared
//! evaluate, inspect, report:  InputFlags → EvalRequest → EvalData
//! ```
//! Recognising kinds, reading and encoding belong to the library; they are kept together here until it offers them.

pub(crate) mod eval_data;
pub(crate) mod flags;
pub(crate) mod input_spec;

use crate::failure::Failure;
use std::io::Read;
use std::path::Path;

/// More than any configuration needs; `/dev/zero` has more.
const LONGEST_TEXT: u64 = 1 << 20;

/// A short text file as a whole. Pipes are welcome, endless ones are refused.
pub(crate) fn read_text(path: &Path, hint: &'static str) -> Result<String, Failure> {
    let failed = |source| inducing::Error::Io { action: "read", path: path.to_owned(), source, hint };
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(LONGEST_TEXT + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > LONGEST_TEXT {
        let message = format!("{} has more than {LONGEST_TEXT} bytes\nhint: {hint}", path.display());
        return Err(Failure::Usage(message));
    }
    Ok(text)
}

/// Refuses to read standard input more than once.
pub(crate) fn check_stdin_once(inputs: &[&String], times: usize) -> Result<(), Failure> {
    if inputs.iter().filter(|input| **input == "-").count() * times > 1 {
        return Err(Failure::Usage(
            "standard input can be read only once\nhint: write it to a file and name that".into(),
        ));
    }
    Ok(())
}
