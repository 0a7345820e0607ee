//! `ign predict --out-dir`: one output for each file of the input, so that a job can be parted and resumed.

use crate::failure::Failure;
use crate::output_file::make_folder;
use crate::predictions::{PredictRequest, Predicted};
use data::{Format, Shards, write_atomically};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

/// Which of the shards this process scores: the `index`-th of every `count`, from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ShardPart {
    index: usize,
    count: usize,
}

impl ShardPart {
    /// That of one process of an `mpirun`.
    pub(crate) fn of_world() -> Option<Self> {
        let number = |name: &str| std::env::var(name).ok()?.parse().ok();
        let (index, count) = (number("OMPI_COMM_WORLD_RANK")?, number("OMPI_COMM_WORLD_SIZE")?);
        (index < count && count > 1).then_some(Self { index, count })
    }

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
    /// Significant digits, if not all.
    #[serde(default)]
    digits: Option<usize>,
    /// The format, if not that of each input.
    #[serde(default)]
    format: Option<String>,
}

/// Its name: engines pass over what begins with an underscore.
const MANIFEST: &str = "_ign.json";

/// Whether all files of the inputs are Parquet, which has room for all digits.
pub(crate) fn are_parquet(inputs: &[String]) -> Result<bool, Failure> {
    let is_parquet = |path: &Path| Format::from_path(path) == Some(Format::Parquet);
    for name in inputs {
        let all = match Shards::recognise(name)? {
            Some(shards) => shards.paths().iter().all(|path| is_parquet(path)),
            None => is_parquet(Path::new(name)),
        };
        if !all {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Scores every shard of the part that has no output yet.
pub(crate) fn run(
    request: &PredictRequest<'_>,
    folder: &Path,
    part: Option<ShardPart>,
) -> Result<Predicted, Failure> {
    let mut shards: Vec<(PathBuf, PathBuf)> = Vec::new();
    for name in request.inputs {
        match Shards::recognise(name)? {
            Some(found) => {
                let from = fixed_folder(name);
                shards.extend(found.paths().iter().map(|path| (path.clone(), below(path, &from))));
            }
            None if name == "-" => {
                return Err(Failure::Usage(
                    "standard input is no file to score\nhint: name files, or leave `--out-dir` out".into(),
                ));
            }
            None => {
                let path = PathBuf::from(name);
                let file = path.file_name().unwrap_or_default().into();
                shards.push((path, file));
            }
        }
        let inside = folder.parent().map(Path::canonicalize);
        if matches!((Path::new(name).canonicalize(), inside), (Ok(a), Some(Ok(b))) if a == b && a.is_dir()) {
            return Err(Failure::Usage(format!(
                "{} lies in the folder of the input, which would no longer hold nothing but tables\nhint: choose another `--out-dir`",
                folder.display()
            )));
        }
    }
    let outputs = outputs(&shards, folder, request.output_format)?;
    let mut manifest = Some(check_manifest(request, folder, &outputs)?);
    make_folder(folder)?;
    let part = part.unwrap_or(ShardPart { index: 0, count: 1 });
    let mut all = Predicted { rows: 0, notes: Vec::new() };
    let mut there = 0;
    for ((shard, _), out) in shards.iter().zip(&outputs).skip(part.index).step_by(part.count) {
        if out.exists() {
            if !out.is_file() {
                return Err(Failure::Usage(format!(
                    "{} is no file\nhint: choose another `--out-dir`",
                    out.display()
                )));
            }
            there += 1;
            continue;
        }
        if shard.metadata().is_ok_and(|metadata| metadata.len() == 0) {
            continue;
        }
        make_folder(out.parent().unwrap_or(folder))?;
        let (inputs, out) = ([shard.display().to_string()], out.display().to_string());
        let predicted = PredictRequest { inputs: &inputs, out: &out, ..*request }.run()?;
        // Only what was done is noted: a request that fails must not bind those that follow.
        if let Some(manifest) = manifest.take() {
            let text = serde_json::to_string_pretty(&manifest).expect("a manifest is plain data");
            write_atomically(&folder.join(MANIFEST), |file| writeln!(file, "{text}"))?;
        }
        all.rows += predicted.rows;
        all.notes.extend(predicted.notes.into_iter().map(|note| format!("{}: {note}", inputs[0])));
    }
    if there > 0 {
        let files = if there == 1 { "1 output was".to_owned() } else { format!("{there} outputs were") };
        all.notes.push(format!("{files} there already and stayed as they are"));
    }
    Ok(all)
}

/// The folder that a pattern names before its first wildcard: below it, outputs lie as inputs do.
fn fixed_folder(pattern: &str) -> PathBuf {
    let is_wild = |part: &Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
    if Path::new(pattern).is_dir() {
        return pattern.into();
    }
    Path::new(pattern).components().take_while(|part| !is_wild(part)).collect()
}

/// The path of a shard from a folder.
fn below(path: &Path, folder: &Path) -> PathBuf {
    let plain =
        |path: &Path| -> PathBuf { path.components().filter(|part| *part != Component::CurDir).collect() };
    match plain(path).strip_prefix(plain(folder)) {
        Ok(inside) => inside.to_owned(),
        Err(_) => path.file_name().unwrap_or_default().into(),
    }
}

/// Where the predictions of each shard go: files of the same names, in folders of the same names where a pattern descends into folders.
fn outputs(
    shards: &[(PathBuf, PathBuf)],
    folder: &Path,
    format: Option<Format>,
) -> Result<Vec<PathBuf>, Failure> {
    let mut names = BTreeSet::new();
    let output = |(shard, inside): &(PathBuf, PathBuf)| {
        let name = shard.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.split('.').next().unwrap_or_default();
        let name = inside.with_file_name(match (format, Format::from_path(shard)) {
            (Some(format), _) => format!("{stem}.{}", ending(format)),
            (None, None | Some(Format::Npy)) => format!("{stem}.csv"),
            (None, Some(_)) => name.clone(),
        });
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
    shards.iter().map(output).collect()
}

fn ending(format: Format) -> &'static str {
    match format {
        Format::Parquet => "parquet",
        Format::JsonLines => "jsonl",
        Format::Csv | Format::Npy => "csv",
    }
}

/// What the outputs are made with; refuses a folder whose outputs were made with another model or other columns, or by somebody else.
fn check_manifest(
    request: &PredictRequest<'_>,
    folder: &Path,
    outputs: &[PathBuf],
) -> Result<Manifest, Failure> {
    let own = Manifest {
        model: format!("{:08x}", request.model.checksum()?),
        columns: request.columns.fields().iter().map(|field| field.name().clone()).collect(),
        keep: request.keep.to_vec(),
        digits: request.columns.digits(),
        format: request.output_format.map(|format| ending(format).to_owned()),
    };
    let refuse = |what: &str| {
        Err(Failure::Usage(format!(
            "{} holds {what}\nhint: choose another `--out-dir`, or delete this one",
            folder.display()
        )))
    };
    match std::fs::read_to_string(folder.join(MANIFEST)) {
        Ok(text) => match serde_json::from_str::<Manifest>(&text) {
            Ok(other) if other == own => Ok(own),
            Ok(_) => refuse("predictions of another model, or of other columns, digits or format"),
            Err(_) => refuse(&format!("a damaged {MANIFEST}")),
        },
        Err(_) => match outputs.iter().find(|out| out.exists()) {
            Some(out) => refuse(&format!("{}, which this command did not write", out.display())),
            None => Ok(own),
        },
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
