//! `ign predict --out-dir`: one output for each file of the input, so that a job can be parted and resumed.

use crate::failure::Failure;
use crate::output_file::make_folder;
use crate::predictions::{PredictRequest, Predicted};
use data::{Format, Shards, write_atomically};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Which of the shards this process scores: the `index`-th of every `count`, from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ShardPart {
    index: usize,
    count: usize,
}

impl ShardPart {
    /// `2/8` is the second of eight.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').map(|(index, count)| (index.trim().parse(), count.trim().parse()));
        match numbers {
            Some((Ok(index), Ok(count))) if (1..=count).contains(&index) => {
                Ok(Self { index: index - 1, count })
            }
            _ => Err(format!("`{text}` is no part: write `1/8` for the first of eight, up to `8/8`")),
        }
    }
}

/// What the outputs of a folder were made with; more of them are added only by the same.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Manifest {
    /// Checksum of the model.
    model: String,
    /// Names of the columns that are predicted.
    columns: Vec<String>,
    /// Columns that are copied.
    keep: Vec<String>,
}

/// Its name: engines pass over what begins with an underscore.
const MANIFEST: &str = "_ign.json";

/// Scores every shard of the part that has no output yet.
pub(crate) fn run(
    request: &PredictRequest<'_>,
    folder: &Path,
    part: Option<ShardPart>,
) -> Result<Predicted, Failure> {
    let shards = match request.inputs {
        [name] => match Shards::recognise(name)? {
            Some(shards) => shards,
            None => Shards::new(name, vec![name.into()]),
        },
        several => Shards::new("the inputs", several.iter().map(PathBuf::from).collect()),
    };
    let outputs = outputs(&shards, folder, request.output_format)?;
    make_folder(folder)?;
    check_manifest(request, folder)?;
    let part = part.unwrap_or(ShardPart { index: 0, count: 1 });
    let mut all = Predicted { rows: 0, notes: Vec::new() };
    let mut there = 0;
    for (shard, out) in shards.paths().iter().zip(&outputs).skip(part.index).step_by(part.count) {
        if out.exists() {
            there += 1;
            continue;
        }
        if shard.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            continue;
        }
        let (inputs, out) = ([shard.display().to_string()], out.display().to_string());
        let predicted = PredictRequest { inputs: &inputs, out: &out, ..*request }.run()?;
        all.rows += predicted.rows;
        all.notes.extend(predicted.notes.into_iter().map(|note| format!("{}: {note}", inputs[0])));
    }
    if there > 0 {
        let files = if there == 1 { "1 output was".to_owned() } else { format!("{there} outputs were") };
        all.notes.push(format!("{files} there already and stayed as they are"));
    }
    Ok(all)
}

/// Where the predictions of each shard go: files of the same names.
fn outputs(shards: &Shards, folder: &Path, format: Option<Format>) -> Result<Vec<PathBuf>, Failure> {
    let mut names = BTreeSet::new();
    let output = |shard: &PathBuf| {
        let name = shard.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        let name = match (format, Format::from_path(shard)) {
            (Some(format), _) => format!("{stem}.{}", ending(format)),
            (None, None | Some(Format::Npy)) => format!("{stem}.csv"),
            (None, Some(_)) => name,
        };
        if !names.insert(name.clone()) {
            return Err(Failure::Usage(format!(
                "two files would write {}\nhint: give the shards names of their own",
                folder.join(&name).display()
            )));
        }
        let out = folder.join(name);
        match (shard.canonicalize(), out.canonicalize()) {
            (Ok(a), Ok(b)) if a == b => Err(Failure::Usage(format!(
                "{} would be overwritten\nhint: choose another `--out-dir`",
                shard.display()
            ))),
            _ => Ok(out),
        }
    };
    shards.paths().iter().map(output).collect()
}

fn ending(format: Format) -> &'static str {
    match format {
        Format::Parquet => "parquet",
        Format::JsonLines => "jsonl",
        Format::Csv | Format::Npy => "csv",
    }
}

/// Refuses a folder whose outputs were made with another model or other columns.
fn check_manifest(request: &PredictRequest<'_>, folder: &Path) -> Result<(), Failure> {
    let own = Manifest {
        model: format!("{:08x}", request.model.checksum()?),
        columns: request.columns.fields().iter().map(|field| field.name().clone()).collect(),
        keep: request.keep.to_vec(),
    };
    let path = folder.join(MANIFEST);
    match std::fs::read_to_string(&path) {
        Ok(text) if serde_json::from_str::<Manifest>(&text).is_ok_and(|other| other == own) => Ok(()),
        Ok(_) => Err(Failure::Usage(format!(
            "{} holds predictions of another model, or with other columns\nhint: choose another `--out-dir`, or delete this one",
            folder.display()
        ))),
        Err(_) => {
            let text = serde_json::to_string_pretty(&own).expect("a manifest is plain data");
            Ok(write_atomically(&path, |file| writeln!(file, "{text}"))?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_one_of_several() {
        assert_eq!(ShardPart::parse("2/8"), Ok(ShardPart { index: 1, count: 8 }));
        for text in ["0/8", "9/8", "1", "a/b", "1/0", "-1/2", ""] {
            assert!(ShardPart::parse(text).is_err(), "{text}");
        }
    }
}
