//! One run of an experiment: its name, its configuration, and the fingerprint that identifies both.

use crate::Error;
use crate::experiment::{
    ABLATED, ABLATION, EVERYTHING, Experiment, FOLDS, GROUPS, INDUCING, Origin, Preset, all_names,
};
use crate::records::Record;
use crate::variant::Variant;
use data::NamedTable;
use inducing::config::ProblemKind;
use inducing::{Config, Settings};
use std::path::PathBuf;

/// Keys of the configuration by the names that records were made with.
const RENAMED: [(&str, &str); 8] = [
    ("pretrain_epochs", "warm_epochs"),
    ("pretrain_min_steps", "warm_steps"),
    ("pretrain_max_steps", "warm_max_steps"),
    ("pretrain_batch_size", "warm_batch_size"),
    ("pretrain_learning_rate", "warm_learning_rate"),
    ("reinitialise_unused", "reseed"),
    ("head_refit", "refit"),
    ("lookup", "tables"),
];

/// Keys that came after the first records, with the values that say what was done before them: left out of a
/// fingerprint, so that those records stay valid.
const FORMER: [&str; 3] = [
    r#""noise_floor":0.0,"#,
    r#""crossfit_folds":0,"crossfit_repeats":1,"#,
    r#","neighbours":{"count":0,"feature_count":0,"max_rows":50000}"#,
];

/// One run.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) experiment: &'static Experiment,
    pub(crate) preset: Preset,
    pub(crate) variant: Variant,
    pub(crate) seed: u64,
    /// Noise on simulated targets, in their deviations.
    pub(crate) noise: Option<f64>,
    /// What the user sets otherwise.
    pub(crate) overrides: Vec<String>,
}

impl Request {
    /// The run that a record is of; `None` of an experiment that does not exist.
    pub(crate) fn from_record(record: &Record) -> Option<Self> {
        Some(Self {
            experiment: Experiment::from_name(&record.experiment)?,
            preset: Preset::from_name(&record.preset)?,
            variant: Variant::from_name(&record.variant)?,
            seed: record.seed,
            noise: record.noise,
            overrides: record.overrides.clone(),
        })
    }

    /// The record's name: `levy-paper-3`, `ablation-energy-default-m16-0`, `gaps-wine-default-g2-0`; overrides append a hash.
    pub(crate) fn name(&self) -> String {
        let ablation = matches!(self.variant, Variant::Inducing(_)).then(|| ABLATION.to_owned());
        let noise = self.noise.map(|noise| format!("noise{noise}"));
        let variant = Some(self.variant.name()).filter(|name| !name.is_empty());
        let parts = [
            ablation,
            Some(self.experiment.name.to_owned()),
            noise,
            Some(self.preset.name().to_owned()),
            variant,
            Some(self.seed.to_string()),
        ];
        let name = parts.into_iter().flatten().collect::<Vec<_>>().join("-");
        match &self.overrides[..] {
            [] => name,
            own => format!("{name}+{:08x}", hash(&own.join("\n")) as u32),
        }
    }

    /// For people.
    pub(crate) fn title(&self) -> String {
        let what = match self.variant {
            Variant::Plain => String::new(),
            other => format!(", {}", other.title()),
        };
        let noise = self.noise.map_or(String::new(), |noise| format!(" with noise {noise}"));
        format!("{}{noise}, {}, seed {}{what}", self.experiment.name, self.preset.name(), self.seed)
    }

    /// What runs that differ by seed, held-out part or inducing points have in common, for people.
    pub(crate) fn group(&self) -> String {
        let ablation = if matches!(self.variant, Variant::Inducing(_)) { "ablation of " } else { "" };
        let noise = self.noise.map_or(String::new(), |noise| format!(" with noise {noise}"));
        format!("{ablation}{}{noise}, {}", self.experiment.name, self.preset.name())
    }

    /// Whether it gets all threads.
    pub(crate) fn alone(&self) -> bool {
        self.experiment.wants_all_threads(self.preset)
    }

    /// The resolved configuration.
    pub(crate) fn config(&self) -> Result<Config, Error> {
        let mut settings = Vec::new();
        let kind = match self.experiment.origin {
            Origin::Simulated(..) => {
                settings.extend(["data.target=[\"y\"]".to_owned(), "data.test_share=0.4".to_owned()]);
                ProblemKind::Regression
            }
            // The test part is drawn apart, or held out before.
            Origin::Wave => {
                settings.extend(["data.target=[\"y\"]".to_owned(), "data.test_share=0.0".to_owned()]);
                ProblemKind::Regression
            }
            Origin::Numbers(set, _) => {
                let share = if self.variant.is_away() { 0.0 } else { 0.4 };
                settings.push(format!("data.test_share={share:?}"));
                settings.extend(columns(set));
                ProblemKind::Regression
            }
            Origin::Texts(set) => {
                settings.extend(columns(set));
                ProblemKind::TextClassification
            }
            Origin::Images(_) => ProblemKind::Images,
            Origin::Graphs(_) => ProblemKind::Graphs,
        };
        if !self.experiment.has_classes() {
            settings.push("data.task=\"regression\"".to_owned());
        }
        if self.preset == Preset::Paper {
            settings.extend(self.experiment.settings.iter().map(|&setting| setting.to_owned()));
        }
        settings.extend(self.overrides.iter().cloned());
        match self.variant {
            Variant::Plain | Variant::Gap(_) | Variant::Cluster(_) => {}
            Variant::Inducing(m) => settings.push(format!("gp.inducing={m}")),
            Variant::Fold(fold) => {
                settings.extend([format!("data.folds={FOLDS}"), format!("data.fold={fold}")]);
            }
        }
        settings.push(format!("seed={}", self.seed));
        let preset = Settings::default().preset(self.preset.name());
        Ok(settings.into_iter().fold(preset, Settings::set).resolve(kind)?)
    }

    /// The validation error at which the run may stop.
    pub(crate) fn stop_below(&self) -> Option<f64> {
        self.experiment.stop_below.filter(|_| self.preset == Preset::Paper && self.noise.is_none())
    }

    /// Names the configuration and the data that are asked for, whatever the seed and the fold.
    pub(crate) fn fingerprint(&self, config: &Config) -> String {
        let mut config = config.clone();
        (config.seed, config.data.fold) = (0, 0);
        if self.experiment.has_classes() {
            // Classification has no noise parameter, so its settings do not matter.
            config.gp.noise = 0.1.try_into().expect("positive");
            config.gp.noise_floor = 0.0;
        }
        let mut config = serde_json::to_string(&config).expect("a configuration is plain data");
        for former in FORMER {
            config = config.replace(former, "");
        }
        for (key, former) in RENAMED {
            config = config.replace(&format!("\"{key}\":"), &format!("\"{former}\":"));
        }
        // The debug form is part of every record's fingerprint: renaming a variant of `Origin` would outdate them all.
        let asked = (self.experiment.origin, self.noise, self.stop_below());
        format!("{:016x}", hash(&format!("{asked:?} {config}")))
    }
}

/// The meaning of a named table's columns, as settings.
fn columns(set: data::NamedSet) -> Vec<String> {
    let table = NamedTable { set, data_dir: PathBuf::new() };
    let types = table.column_types().into_iter();
    let mut settings: Vec<String> =
        types.map(|(name, kind)| format!("data.columns.{}=\"{kind}\"", toml::Value::from(name))).collect();
    settings.push(format!("data.target=[\"{}\"]", table.target()));
    settings
}

/// FNV-1a: the same everywhere and always.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// The experiments that names stand for, each once, and whether the ablation is among them.
pub(crate) fn select(names: &[String]) -> Result<(Vec<&'static Experiment>, bool), Error> {
    let (mut chosen, mut ablation) = (Vec::<&'static Experiment>::new(), false);
    for name in names {
        let members: Vec<&str> = match GROUPS.iter().find(|(group, ..)| group == name) {
            Some((.., members)) => members.to_vec(),
            None if name == ABLATION => Vec::new(),
            None if name == EVERYTHING => crate::catalogue::ALL.iter().map(|e| e.name).collect(),
            None => vec![name],
        };
        ablation |= [ABLATION, EVERYTHING].contains(&name.as_str());
        for member in members {
            let experiment = Experiment::from_name(member).ok_or_else(|| unknown(member))?;
            if !chosen.iter().any(|other| other.name == experiment.name) {
                chosen.push(experiment);
            }
        }
    }
    Ok((chosen, ablation))
}

fn unknown(name: &str) -> Error {
    let known = all_names();
    let hint = match data::nearest(name, &known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Error::Usage(format!("there is no experiment `{name}`\nhint: {hint}"))
}

/// All runs, by seed first, so that every row has one figure before any has two; without `presets` with each
/// experiment's usual ones.
pub(crate) fn requests(
    (chosen, ablation): (&[&'static Experiment], bool),
    presets: Option<&[Preset]>,
    seeds: std::ops::Range<u64>,
    noise: Option<f64>,
    overrides: &[String],
) -> Vec<Request> {
    let mut all = Vec::new();
    for seed in seeds {
        let mut add = |experiment: &'static Experiment, variants: Vec<Variant>| {
            for preset in experiment.presets(presets) {
                all.extend(variants.iter().map(|&variant| Request {
                    experiment,
                    preset,
                    variant,
                    seed,
                    noise: noise.filter(|_| experiment.is_simulated()),
                    overrides: overrides.to_vec(),
                }));
            }
        };
        for experiment in chosen {
            add(experiment, experiment.variants());
        }
        let ablated = ABLATED.iter().filter(|_| ablation).filter_map(|name| Experiment::from_name(name));
        for experiment in ablated {
            add(experiment, INDUCING.map(Variant::Inducing).to_vec());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fingerprint(experiment: &str, preset: Preset, overrides: &[&str]) -> String {
        fingerprint_of(experiment, preset, overrides, 3)
    }

    fn fingerprint_of(experiment: &str, preset: Preset, overrides: &[&str], seed: u64) -> String {
        let request = Request {
            experiment: Experiment::from_name(experiment).expect("known"),
            preset,
            variant: Variant::Plain,
            seed,
            noise: None,
            overrides: overrides.iter().map(|&own| own.to_owned()).collect(),
        };
        request.fingerprint(&request.config().expect("a configuration"))
    }

    #[test]
    fn a_setting_tells_runs_apart_and_the_seed_does_not() {
        let plain = fingerprint("levy", Preset::Default, &[]);
        assert_ne!(plain, fingerprint("levy", Preset::Paper, &[]));
        assert_ne!(plain, fingerprint("griewank", Preset::Default, &[]));
        assert_ne!(plain, fingerprint("levy", Preset::Default, &["gp.noise=0.5"]));
        assert_ne!(plain, fingerprint("levy", Preset::Default, &["gp.noise_floor=0.01"]));
        assert_eq!(plain, fingerprint_of("levy", Preset::Default, &[], 7));
    }

    #[test]
    fn gaps_and_the_wave_run_with_the_default_unless_others_are_asked_for() {
        let names = |presets: Option<&[Preset]>| -> Vec<String> {
            let (chosen, ablation) =
                select(&["gaps-yacht".into(), "wave".into(), "levy".into()]).expect("known");
            let all = requests((&chosen, ablation), presets, 0..1, None, &[]);
            all.iter()
                .map(Request::name)
                .filter(|name| !name.contains("-c") || name.contains("-c0"))
                .collect()
        };
        assert_eq!(
            names(None),
            ["gaps-yacht-default-c0-0", "wave-default-0", "levy-paper-0", "levy-default-0"]
        );
        assert_eq!(names(Some(&[Preset::Paper])), ["gaps-yacht-paper-c0-0", "wave-paper-0", "levy-paper-0"]);
    }

    #[test]
    fn a_part_that_is_held_out_before_training_leaves_none_to_hold_out_in_it() {
        let of = |name: &str, variant: Variant| {
            let experiment = Experiment::from_name(name).expect("known");
            let (preset, noise, overrides) = (Preset::Default, None, Vec::new());
            Request { experiment, preset, variant, seed: 0, noise, overrides }
        };
        let share = |request: &Request| {
            request.config().expect("a configuration").data.test_share.unwrap_or_default().get()
        };
        let (gap, cluster) = (of("gaps-wine", Variant::Gap(2)), of("gaps-wine", Variant::Cluster(2)));
        assert_eq!((share(&gap), share(&of("protein", Variant::Plain))), (0.0, 0.4));
        let fingerprint =
            |request: &Request| request.fingerprint(&request.config().expect("a configuration"));
        assert_eq!(fingerprint(&gap), fingerprint(&cluster), "parts of one row of the page");
        assert_ne!(fingerprint(&gap), fingerprint(&of("gaps-yacht", Variant::Cluster(2))));
    }

    #[test]
    fn classes_have_no_noise() {
        let plain = fingerprint("toy-mnist", Preset::Paper, &[]);
        assert_eq!(plain, fingerprint("toy-mnist", Preset::Paper, &["gp.noise=0.5", "gp.noise_floor=0.1"]));
        assert_ne!(plain, fingerprint("toy-mnist", Preset::Paper, &["gp.gamma=0.5"]));
    }

    #[test]
    fn a_later_key_with_its_former_value_leaves_no_trace() {
        let single = Settings::default().preset("single");
        let config = single.resolve(ProblemKind::Regression).expect("a configuration");
        let written = serde_json::to_string(&config).expect("plain data");
        for former in FORMER {
            assert!(written.contains(former), "{former} is written otherwise");
        }
    }
}
