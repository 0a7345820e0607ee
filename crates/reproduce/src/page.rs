//! The page of results, written from the records alone: the same records give the same bytes.

use crate::Error;
use crate::experiment::{Experiment, Preset};
use crate::notes::Notes;
use crate::records::Record;
use crate::shortfalls::paragraphs;
use crate::summary::{Place, Summary, summary};
use crate::tables::{comparison, tables};
use crate::{ablation, figure, machine};
use std::collections::BTreeSet;
use std::path::Path;

/// What the page is made from.
pub(crate) struct Page {
    records: Vec<Record>,
}

/// Writes the page, and the figure of the ablation beside it.
pub(crate) fn write(
    path: &Path,
    records: &[Record],
    overrides: &[String],
    notes: &Notes,
) -> Result<(), Error> {
    // Records with overrides are kept apart, unless exactly these overrides are asked for.
    let page = Page::new(records.iter().filter(|record| record.overrides == overrides).cloned().collect());
    let drawing = figure::ablation(&page);
    let stem = path.file_stem().map_or("results".into(), |stem| stem.to_string_lossy());
    let svg = path.with_file_name(format!("{stem}-ablation.svg"));
    let name = drawing.as_ref().and(svg.file_name()).map(|name| name.to_string_lossy().into_owned());
    let text = page.text(overrides, notes, name.as_deref());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let hint = "choose another place with `--page`";
        let failed =
            |source| inducing::Error::Io { action: "make the folder", path: folder.to_owned(), source, hint };
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    data::write_atomically(path, |file| file.write_all(text.as_bytes()))?;
    if let Some(drawing) = drawing {
        data::write_atomically(&svg, |file| file.write_all(drawing.as_bytes()))?;
    }
    Ok(())
}

impl Page {
    pub(crate) fn new(records: Vec<Record>) -> Self {
        Self { records }
    }

    /// What the records of a row say; `noise` is that of the row.
    pub(crate) fn summary(
        &self,
        experiment: &Experiment,
        preset: Preset,
        noise: Option<f64>,
    ) -> Option<Summary> {
        let place = Place { experiment: experiment.name, preset: preset.name(), inducing: None, noise };
        summary(&self.records, place)
    }

    /// The same for a point of the ablation.
    pub(crate) fn ablated(&self, experiment: &str, preset: Preset, inducing: usize) -> Option<Summary> {
        let place = Place { experiment, preset: preset.name(), inducing: Some(inducing), noise: None };
        summary(&self.records, place)
    }

    /// No noise, and whatever noise there are records of.
    pub(crate) fn noises(&self, experiment: &Experiment) -> Vec<Option<f64>> {
        let own = self.records.iter().filter(|record| record.experiment == experiment.name);
        let mut noises: Vec<f64> = own.filter_map(|record| record.noise).collect();
        noises.sort_by(f64::total_cmp);
        noises.dedup();
        std::iter::once(None).chain(noises.into_iter().map(Some)).collect()
    }

    fn text(&self, overrides: &[String], notes: &Notes, drawing: Option<&str>) -> String {
        let mut text = self.head(overrides, notes);
        for table in tables() {
            text += &comparison(self, &table);
        }
        text += &ablation::section(self, notes, drawing);
        text += &paragraphs(self, notes);
        text
    }

    fn head(&self, overrides: &[String], notes: &Notes) -> String {
        let mut text = format!(
            "# Results\n\n\
             Written by `ign reproduce` from its records; do not edit (reasons go into `{}` beside this page).\n\
             Columns `paper` and `default` are our presets, measured here; all others are the paper's figures.\n\
             Preset `paper` is the paper's setting where the paper states one. What it leaves open is chosen to come close to its\n\
             figures; among these choices is a noise floor, σ ≥ 0.01 standard deviations of the targets.\n\
             Mean ± standard deviation over the repeats; the best of a row is bold.\n\n\
             Protocol: random 60/40 splits by the seed, inputs and targets normalised by the training part; RMSE, NLL, CRPS and\n\
             variances are of targets divided by the deviation of the 60 %. Both presets see the same splits; what `default`\n\
             holds back for validation it takes from the 60 %. Simulated sets are one sample, which each repeat splits differently.\n\
             Images and texts keep their published training and test parts, graphs are cross-validated in ten folds.\n\n",
            notes.file
        );
        if !overrides.is_empty() {
            text += &format!("**Not the presets as they are:** `--set {}`.\n\n", overrides.join("` `--set "));
        }
        let Some(newest) = self.records.iter().map(|record| record.finished).max() else {
            return text + "There are no records yet.\n\n";
        };
        let each = |of: &dyn Fn(&Record) -> String| -> String {
            let all: BTreeSet<String> = self.records.iter().map(of).collect();
            all.into_iter().collect::<Vec<_>>().join("; ")
        };
        text += &format!(
            "{} runs, {} of computing, the newest of {}. Machine: {}. Program: {}.\n\n",
            self.records.len(),
            machine::duration(self.records.iter().map(|record| record.seconds).sum()),
            machine::utc_date(newest),
            each(&|record| format!("{}, {} cores", record.cpu, record.cores)),
            each(&|record| match &record.commit {
                Some(commit) => format!("ign {} ({commit})", record.version),
                None => format!("ign {}", record.version),
            }),
        );
        text
    }
}

/// What stands where there is no record.
pub(crate) fn absent(experiment: &str) -> &'static str {
    // Its file is not to be had from the source that the paper names.
    if experiment == "query" { "no data" } else { "not run yet" }
}
