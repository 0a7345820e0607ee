//! Places to write to: their names, and checks before work begins rather than after it.

use crate::failure::Failure;
use data::{Format, Shards};
use std::path::{Path, PathBuf};

/// Refuses an output that is also an input.
pub(crate) fn check_not_input(out: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let same = |input: &Path| matches!((input.canonicalize(), out.canonicalize()), (Ok(a), Ok(b)) if a == b);
    // A pattern or a folder stands for files; one that is none is told when it is read.
    let shards = |input: &Path| Shards::recognise(&input.to_string_lossy()).ok().flatten();
    let holds = |input: &&&Path| {
        same(input) || shards(input).is_some_and(|shards| shards.paths().iter().any(|path| same(path)))
    };
    match inputs.iter().find(holds) {
        None => Ok(()),
        Some(input) => Err(cannot_write(out, &format!("it would overwrite the input {}", input.display()))),
    }
}

/// Refuses a table's output without a known format, and one that is also an input or the model; `-` is always right.
pub(crate) fn check_table_output(
    out: &str,
    format: Option<Format>,
    inputs: &[String],
    model: &Path,
) -> Result<(), Failure> {
    if out == "-" {
        return Ok(());
    }
    let path = Path::new(out);
    if format.is_none() && path.extension().is_some() && Format::from_path(path).is_none() {
        return Err(Failure::Usage(format!(
            "what format should {out} have?\nhint: end it with .csv, .parquet or .jsonl (also .csv.gz), or pass `--output-format csv`",
        )));
    }
    check_not_input(path, &inputs.iter().map(Path::new).chain([model]).collect::<Vec<_>>())
}

/// Fails before training, not after it.
pub(crate) fn check_writable(out: &Path) -> Result<(), Failure> {
    let folder = out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let problem = if out.is_dir() {
        Some("it is a folder".to_owned())
    } else if !folder.is_dir() {
        Some(format!("there is no folder {}", folder.display()))
    } else {
        // The only sure way to know is to try.
        probe(folder).err().map(|e| e.to_string())
    };
    problem.map_or(Ok(()), |problem| Err(cannot_write(out, &problem)))
}

fn cannot_write(out: &Path, problem: &str) -> Failure {
    Failure::Usage(format!(
        "cannot write {}: {problem}\nhint: choose another place with `--out`",
        out.display()
    ))
}

fn probe(folder: &Path) -> std::io::Result<()> {
    let probe = folder.join(format!(".ign-{}", std::process::id()));
    std::fs::File::create_new(&probe)?;
    std::fs::remove_file(&probe)
}

/// Makes a folder for figures.
pub(crate) fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Usage(format!(
            "cannot make the folder {}: {error}\nhint: choose another place",
            folder.display()
        ))
    })
}

/// `price.ign` and `.checkpoint` → `price.ign.checkpoint`.
pub(crate) fn beside(model: &Path, ending: &str) -> PathBuf {
    let mut name = model.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// `price.ign` → `price.ign.checkpoint`.
pub(crate) fn checkpoint_path(model: &Path) -> PathBuf {
    beside(model, ".checkpoint")
}

/// `price.ign` → `price.report.html`, `price-1.2` → `price-1.2.report.html`, in the same folder.
pub(crate) fn report_path(model: &Path) -> PathBuf {
    in_place_of_ign(model, ".report.html")
}

/// `price.ign` and `.report.html` → `price.report.html`.
pub(crate) fn in_place_of_ign(model: &Path, ending: &str) -> PathBuf {
    match model.extension() {
        Some(own) if own == "ign" => beside(&model.with_extension(""), ending),
        _ => beside(model, ending),
    }
}

/// `prices.csv.gz` and `prices/*.csv` → `prices.ign`, in the current folder.
pub(crate) fn default_model_path(input: &str) -> PathBuf {
    let names = Path::new(input).ancestors().filter_map(|path| path.file_name()?.to_str());
    let mut names = names.filter(|name| !name.contains(['*', '?', '[']));
    let name = names.next().unwrap_or("model");
    let stem = name.split('.').find(|part| !part.is_empty() && *part != "-").unwrap_or("model");
    PathBuf::from(format!("{stem}.ign"))
}
