//! What an experiment is, and the names that stand for several. The list: `catalogue.rs`.

use crate::catalogue::ALL;
use crate::held_out::CLUSTERS;
use crate::variant::Variant;
use data::{NamedSet, Simulated};

/// A configuration's preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Preset {
    /// The paper's setting, as far as the paper states it.
    Paper,
    /// The best known.
    Default,
}

impl Preset {
    /// Both.
    pub const ALL: [Preset; 2] = [Preset::Paper, Preset::Default];

    /// As the configuration and the records call it.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Paper => "paper",
            Preset::Default => "default",
        }
    }

    /// The preset of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }
}

/// Where rows come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A test function, and the number of rows.
    Simulated(Simulated, usize),
    /// A numeric table, and the number of leading rows to keep of a longer one.
    Numbers(NamedSet, usize),
    /// Texts with a published test part.
    Texts(NamedSet),
    /// Images with a published test part.
    Images(NamedSet),
    /// Graphs, cross-validated.
    Graphs(NamedSet),
    /// The wave with a gap, drawn by the run's seed.
    Wave,
}

impl Origin {
    /// The set that must lie in the data directory.
    pub(crate) fn named(self) -> Option<NamedSet> {
        match self {
            Origin::Simulated(..) | Origin::Wave => None,
            Origin::Numbers(set, _) | Origin::Texts(set) | Origin::Images(set) | Origin::Graphs(set) => {
                Some(set)
            }
        }
    }
}

/// Mean and deviation as the paper prints them.
pub(crate) type Printed = Option<(f64, f64)>;

/// One row of the paper's tables, or a set to judge by away from the data.
#[derive(Debug)]
pub(crate) struct Experiment {
    /// On the command line, in records and in the notes.
    pub(crate) name: &'static str,
    /// On the page.
    pub(crate) title: &'static str,
    pub(crate) origin: Origin,
    /// Rows and inputs in the paper's words.
    pub(crate) size: &'static str,
    /// Presets that it can be run with.
    pub(crate) presets: &'static [Preset],
    /// Those that it is run with unless others are asked for.
    pub(crate) usual_presets: &'static [Preset],
    /// Inputs `x{k}` whose middle third is held out, each in turn, beside each of five clusters; `None` where rows are held
    /// out otherwise.
    pub(crate) gaps: Option<&'static [usize]>,
    /// What the paper sets otherwise, for preset `paper`.
    pub(crate) settings: &'static [&'static str],
    /// Error of numbers, accuracy in per cent of classes: the paper's own.
    pub(crate) paper: Printed,
    /// And of the methods that it compares with, in the order of the page's columns.
    pub(crate) others: &'static [Printed],
    /// Preset `paper` may stop at the epoch whose validation error is this low.
    pub(crate) stop_below: Option<f64>,
    /// Rough seconds of a run with `paper` and with `default`, on one thread, or on all where it has them all.
    pub(crate) seconds: [f64; 2],
    /// Presets whose runs get all threads.
    pub(crate) all_threads: &'static [Preset],
    /// Rough memory of a run, MB.
    pub(crate) memory: u64,
}

/// Folds of a cross-validation.
pub(crate) const FOLDS: usize = 10;
/// Inducing points of the ablation.
pub(crate) const INDUCING: [usize; 7] = [4, 8, 16, 32, 64, 128, 256];
/// Its sets.
pub(crate) const ABLATED: [&str; 6] = ["protein", "pm25", "energy", "bike-hour", "query", "imdb-text"];

/// A name that stands for several experiments.
pub(crate) const GROUPS: [(&str, &str, &[&str]); 4] = [
    (
        "table1",
        "Table 1: regression errors",
        &[
            "levy",
            "griewank",
            "borehole",
            "protein",
            "pm25",
            "energy",
            "bike-hour",
            "bike-hour-clean",
            "query",
        ],
    ),
    (
        "table2",
        "Table 2: accuracy on images",
        &["mnist", "mnist-independent", "cifar10", "cifar10-independent"],
    ),
    (
        "gaps",
        "Away from the data: gaps and clusters held out of small tables",
        &[
            "gaps-airfoil",
            "gaps-concrete",
            "gaps-energy-efficiency",
            "gaps-housing",
            "gaps-parkinsons",
            "gaps-solar",
            "gaps-wine",
            "gaps-yacht",
        ],
    ),
    (
        "gaps-large",
        "Away from the data: clusters held out of the paper's tables",
        &["gaps-protein", "gaps-pm25", "gaps-energy", "gaps-bike-hour-clean"],
    ),
];

/// The ablation, and everything.
pub(crate) const ABLATION: &str = "ablation";
pub(crate) const EVERYTHING: &str = "all";

impl Experiment {
    pub(crate) fn from_name(name: &str) -> Option<&'static Experiment> {
        ALL.iter().find(|experiment| experiment.name == name)
    }

    /// Whether classes are learned.
    pub(crate) fn has_classes(&self) -> bool {
        !matches!(self.origin, Origin::Simulated(..) | Origin::Numbers(..) | Origin::Wave)
    }

    /// Whether its rows are simulated.
    pub(crate) fn is_simulated(&self) -> bool {
        matches!(self.origin, Origin::Simulated(..))
    }

    /// The runs of one repeat.
    pub(crate) fn variants(&self) -> Vec<Variant> {
        match (self.gaps, self.origin) {
            (Some(inputs), _) => {
                let gaps = inputs.iter().map(|&k| Variant::Gap(k));
                gaps.chain((0..CLUSTERS).map(Variant::Cluster)).collect()
            }
            (None, Origin::Graphs(_)) => (0..FOLDS).map(Variant::Fold).collect(),
            _ => vec![Variant::Plain],
        }
    }

    /// Rough seconds of one run.
    pub(crate) fn seconds(&self, preset: Preset) -> f64 {
        let [paper, default] = self.seconds;
        match preset {
            Preset::Paper => paper,
            Preset::Default => default,
        }
    }

    /// The presets that it is run with, where `asked` are asked for.
    pub(crate) fn presets(&self, asked: Option<&[Preset]>) -> Vec<Preset> {
        let asked = asked.unwrap_or(self.usual_presets);
        self.presets.iter().copied().filter(|preset| asked.contains(preset)).collect()
    }

    /// Whether runs with this preset get all threads.
    pub(crate) fn wants_all_threads(&self, preset: Preset) -> bool {
        self.all_threads.contains(&preset)
    }
}

/// Every name that `--list` shows.
pub(crate) fn all_names() -> Vec<String> {
    let groups = GROUPS.iter().map(|(name, ..)| *name);
    let names = ALL.iter().map(|experiment| experiment.name).chain(groups).chain([ABLATION, EVERYTHING]);
    names.map(str::to_owned).collect()
}
