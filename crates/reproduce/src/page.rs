//! The page of results, written from the records alone: the same records give the same bytes.

use crate::Error;
use crate::experiment::{Experiment, Preset};
use crate::notes::Notes;
use crate::records::Record;
use crate::shortfalls::paragraphs;
use crate::summary::{Place, Summary, summary};
use crate::tables::{comparison, tables};
use crate::variant::Variant;
use crate::{ablation, away, figure, machine, wave_figure};
use std::collections::BTreeSet;
use std::path::Path;

/// What the page is made from.
pub(crate) struct Page {
    records: Vec<Record>,
}

/// Names of the figures beside the page, of those that there are.
struct Drawings {
    ablation: Option<String>,
    wave: Option<String>,
}

/// Writes the page, and the figures of the ablation and of the wave beside it.
pub(crate) fn write(
    path: &Path,
    records: &[Record],
    overrides: &[String],
    notes: &Notes,
) -> Result<(), Error> {
    // Records with overrides are kept apart, unless exactly these overrides are asked for.
    let page = Page::new(records.iter().filter(|record| record.overrides == overrides).cloned().collect());
    let stem = path.file_stem().map_or("results".into(), |stem| stem.to_string_lossy());
    let named = |what: &str, svg: Option<String>| svg.map(|svg| (format!("{stem}-{what}.svg"), svg));
    let (ablation, wave) =
        (named("ablation", figure::ablation(&page)), named("wave", wave_figure::wave(&page)));
    let name = |drawing: &Option<(String, String)>| drawing.as_ref().map(|(name, _)| name.clone());
    let text = page.text(overrides, notes, &Drawings { ablation: name(&ablation), wave: name(&wave) });
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        let hint = "choose another place with `--page`";
        let failed =
            |source| inducing::Error::Io { action: "make the folder", path: folder.to_owned(), source, hint };
        std::fs::create_dir_all(folder).map_err(failed)?;
    }
    data::write_atomically(path, |file| file.write_all(text.as_bytes()))?;
    for (name, svg) in [ablation, wave].into_iter().flatten() {
        data::write_atomically(&path.with_file_name(name), |file| file.write_all(svg.as_bytes()))?;
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
        let place = Place { experiment: experiment.name, preset: preset.name(), variant: None, noise };
        summary(&self.records, place)
    }

    /// The same for a point of the ablation.
    pub(crate) fn ablated(&self, experiment: &str, preset: Preset, inducing: usize) -> Option<Summary> {
        let variant = Some(Variant::Inducing(inducing));
        summary(&self.records, Place { experiment, preset: preset.name(), variant, noise: None })
    }

    /// Records of an experiment of the configuration of the newest, by their seeds.
    pub(crate) fn current(&self, experiment: &Experiment, preset: Preset) -> Vec<&Record> {
        let own = |record: &&Record| record.experiment == experiment.name && record.preset == preset.name();
        let mut records: Vec<&Record> = self.records.iter().filter(own).collect();
        let newest = records.iter().max_by_key(|record| (record.finished, record.seed));
        let fingerprint = newest.map(|record| record.fingerprint.clone());
        records.retain(|record| Some(&record.fingerprint) == fingerprint.as_ref());
        records.sort_by_key(|record| record.seed);
        records
    }

    /// What these say of each part that the experiment holds out.
    pub(crate) fn parts(&self, experiment: &Experiment, preset: Preset) -> Vec<(Variant, Summary)> {
        let current: Vec<Record> = self.current(experiment, preset).into_iter().cloned().collect();
        let part = |variant: Variant| {
            let (experiment, preset) = (experiment.name, preset.name());
            let place = Place { experiment, preset, variant: Some(variant), noise: None };
            Some((variant, summary(&current, place)?))
        };
        experiment.variants().into_iter().filter_map(part).collect()
    }

    /// No noise, and whatever noise there are records of.
    pub(crate) fn noises(&self, experiment: &Experiment) -> Vec<Option<f64>> {
        let own = self.records.iter().filter(|record| record.experiment == experiment.name);
        let mut noises: Vec<f64> = own.filter_map(|record| record.noise).collect();
        noises.sort_by(f64::total_cmp);
        noises.dedup();
        std::iter::once(None).chain(noises.into_iter().map(Some)).collect()
    }

    fn text(&self, overrides: &[String], notes: &Notes, drawings: &Drawings) -> String {
        let mut text = self.head(overrides, notes);
        for table in tables() {
            text += &comparison(self, &table);
        }
        text += &ablation::section(self, notes, drawings.ablation.as_deref());
        text += &away::section(self, notes, drawings.wave.as_deref());
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
