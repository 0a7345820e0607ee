//! What to run: everything asked for that has no record yet, has its data, and fits the time budget.

use crate::Error;
use crate::experiment::Preset;
use crate::machine::duration;
use crate::records::{Record, Status};
use crate::request::Request;
use crate::run::Context;
use crate::variant::Variant;

/// One run with what it will take.
#[derive(Debug, Clone)]
pub struct Planned {
    pub(crate) request: Request,
    /// Seconds that it is expected to take.
    pub seconds: f64,
}

/// A run that will not be made.
#[derive(Debug, Clone)]
pub struct LeftOut {
    /// The record's name.
    pub run: String,
    /// The runs that it is one of.
    pub group: String,
    /// Why not.
    pub reason: String,
}

impl Planned {
    /// The record's name, which identifies the run.
    pub fn name(&self) -> String {
        self.request.name()
    }

    /// For people.
    pub fn title(&self) -> String {
        self.request.title()
    }
}

impl LeftOut {
    pub(crate) fn new(request: &Request, reason: String) -> Self {
        Self { run: request.name(), group: request.group(), reason }
    }
}

/// What will be run, what not, and why not.
#[derive(Debug, Default)]
pub struct Plan {
    /// What will be run, in this order.
    pub runs: Vec<Planned>,
    /// How many runs have a record already.
    pub done: usize,
    /// What will not be run.
    pub left_out: Vec<LeftOut>,
    /// How many of these have no data.
    missing: usize,
    /// What the user should know.
    pub notes: Vec<String>,
}

impl Plan {
    /// Sorts out `requests`, which come in the order of their importance.
    pub(crate) fn new(
        requests: Vec<Request>,
        context: &Context,
        jobs: usize,
        budget: Option<f64>,
    ) -> Result<Self, Error> {
        let (earlier, _) = context.records.all();
        let mut plan = Self::default();
        // Seconds of the whole machine that are planned so far.
        let mut planned = 0.0;
        for request in requests {
            let fingerprint = request.fingerprint(&request.config()?);
            let replaced = match context.records.status(&request, &fingerprint) {
                Status::Done => {
                    plan.done += 1;
                    continue;
                }
                Status::Outdated => Some("of another configuration".to_owned()),
                Status::Damaged(reason) => Some(format!("damaged ({reason})")),
                Status::New => None,
            };
            if let Some(reason) = context.datasets.missing(request.experiment.origin) {
                plan.left_out.push(LeftOut::new(&request, reason));
                plan.missing += 1;
                continue;
            }
            let seconds = expected(&request, &earlier);
            let share = if request.alone() { seconds } else { seconds / jobs as f64 };
            if let Some(budget) = budget
                && planned + share > budget
            {
                let needs = duration(seconds);
                let reason = format!("about {needs} each, more than is left of {}", duration(budget));
                plan.left_out.push(LeftOut::new(&request, reason));
                continue;
            }
            planned += share;
            plan.notes.extend(
                replaced.map(|what| format!("{}: the record is {what} and will be replaced", request.name())),
            );
            plan.runs.push(Planned { request, seconds });
        }
        // Within a seed the longest first, so that the threads end together.
        plan.runs.sort_by(|a, b| a.request.seed.cmp(&b.request.seed).then(b.seconds.total_cmp(&a.seconds)));
        Ok(plan)
    }

    /// The first run of a plan in which nothing has data.
    pub(crate) fn without_data(&self) -> Option<&LeftOut> {
        let some = self.done + self.runs.len() > 0 || self.left_out.len() > self.missing;
        self.left_out.first().filter(|_| !some)
    }

    /// Seconds from now to the end of all runs.
    pub fn seconds(&self, jobs: usize) -> f64 {
        let of = |run: &Planned| if run.request.alone() { run.seconds } else { run.seconds / jobs as f64 };
        self.runs.iter().map(of).sum()
    }
}

/// Seconds that a run takes: as earlier ones of its kind did, else by a rough guess.
fn expected(request: &Request, earlier: &[Record]) -> f64 {
    let alike = |record: &&Record| {
        let variant = Variant::from_name(&record.variant).is_some_and(|own| own.costs_as(request.variant));
        record.experiment == request.experiment.name
            && record.preset == request.preset.name()
            && record.noise == request.noise
            && record.overrides == request.overrides
            && variant
    };
    let seconds: Vec<f64> = earlier.iter().filter(alike).map(|record| record.seconds).collect();
    if !seconds.is_empty() {
        return seconds.iter().sum::<f64>() / seconds.len() as f64;
    }
    let guess = request.experiment.seconds(request.preset);
    match request.variant {
        // Fewer inducing points than the 512 of the table cost less, but the network costs what it costs: most of
        // preset `default`, and of texts.
        Variant::Inducing(m) if !request.experiment.has_classes() => {
            let rest = match request.preset {
                Preset::Paper => 0.06,
                Preset::Default => 0.8,
            };
            guess * (rest + (1.0 - rest) * (m as f64 / 512.0).powi(2))
        }
        _ => guess,
    }
}
