//! The report: what `ign report` and the end of a training run share.

use crate::failure::Failure;
use crate::output_file::make_folder;
use crate::ui::output::note;
use crate::ui::times::Times;
use data::write_atomically;
use inducing::dataset::Prepared;
use inducing::{Dataset, Model};
use report::{Figure, TrainedModel};
use std::path::{Path, PathBuf};

/// Names of files, or their paths if two have the same name.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| file_name(path)).collect();
    let unique = names.iter().collect::<std::collections::BTreeSet<_>>().len() == names.len();
    if unique { names } else { paths.iter().map(|path| path.display().to_string()).collect() }
}

/// `models/price.ign` → `price.ign`
fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// The program's name and version.
pub(crate) fn generator() -> String {
    format!("ign {}", env!("CARGO_PKG_VERSION"))
}

/// Writes figures into a folder, each as SVG and, in a build that can, as PNG.
pub(crate) fn write_figures(
    folder: &Path,
    figures: impl IntoIterator<Item = (String, Figure)>,
) -> Result<(), Failure> {
    make_folder(folder)?;
    for (name, figure) in figures {
        let svg = folder.join(format!("{name}.svg"));
        write_atomically(&svg, |file| file.write_all(figure.svg.as_bytes()))?;
        #[cfg(feature = "png")]
        {
            let png = figure.png(2.0).map_err(|e| Failure::Usage(e.to_string()))?;
            write_atomically(&folder.join(format!("{name}.png")), |file| file.write_all(&png))?;
        }
    }
    if cfg!(not(feature = "png")) {
        note("figures are SVG only: this build lacks the feature `png`");
    }
    Ok(())
}

/// The report that training writes: on the test part, else on the validation part, else on the training part.
pub(crate) fn write_training_report(
    model: &Model,
    prepared: &Prepared,
    data: &Dataset,
    out: &Path,
    times: &Times,
    page: &Path,
) -> Result<(), Failure> {
    let seconds = times.by_epoch(model.header());
    let report =
        TrainedModel { model, prepared, data, name: file_name(out), seconds, generator: generator() }
            .page()?;
    let html = report::render(&report);
    Ok(write_atomically(page, |file| file.write_all(html.as_bytes()))?)
}
