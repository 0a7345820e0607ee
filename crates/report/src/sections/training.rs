//! Training curves: loss, validation metrics and hyperparameters.

use super::{Block, Context, Section};
use crate::figure::PageFigure;
use crate::figure::legend::{self, Key};
use crate::figure::panels::{BEST_EPOCH_DASH, Panel, Panels, Scale, TrainingCurve};
use crate::number_format;
use crate::palette::{ACCENT, DASHES, MUTED, OTHERS, SERIES, series};
use crate::{NetworkRecord, TargetRecord, TrainingEpoch, TrainingPhase};

/// Points of a curve: more cannot be told apart.
const MAX_CURVE_POINTS: usize = 240;
/// With more networks than this, all curves are grey.
const MAX_COLOURED: usize = SERIES.len();
/// Networks that are plotted.
const MAX_NETWORKS: usize = 60;

/// What a panel shows: title, scale, and the value of an epoch.
type PanelSpec<'a> = (&'a str, Scale, fn(&NetworkRecord, usize) -> Option<f64>);

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let regression = context.model.targets.iter().any(|t| matches!(t, TargetRecord::Regression(_)));
    let rmse = format!("Validation RMSE{}", if regression { " (standardised targets)" } else { "" });
    let nll = format!("Validation NLL (nats{})", if regression { ", standardised targets" } else { "" });
    let loss: PanelSpec<'_> = ("Training loss", Scale::Linear, |n, k| n.history[k].loss);
    let rmse: PanelSpec<'_> = (&rmse, Scale::Linear, |n, k| n.history[k].rmse);
    let nll: PanelSpec<'_> = (&nll, Scale::Linear, |n, k| n.history[k].nll);
    let accuracy: PanelSpec<'_> =
        ("Validation accuracy (%)", Scale::Linear, |n, k| Some(100.0 * n.history[k].accuracy?));
    let time: PanelSpec<'_> = ("Time per step (s)", Scale::FromZero, seconds_per_step);
    let hyperparameters: [PanelSpec<'_>; 3] = [
        ("Noise σ (log scale)", Scale::Log, |n, k| n.history[k].noise),
        ("Kernel scale s (log scale)", Scale::Log, |n, k| Some(n.history[k].kernel?[0])),
        ("Kernel γ (linear kernel: offset c; log scale)", Scale::Log, |n, k| Some(n.history[k].kernel?[1])),
    ];
    let process = context.model.networks.iter().any(|network| !network.inducing.is_empty());
    let (pretraining_title, pretraining_caption) = match process {
        true => ("Pretraining of the encoder", PRETRAINING),
        false => ("Training", "The encoder and its softmax layer are trained together."),
    };
    let (kernel_title, kernel_caption) = match regression {
        true => ("Noise and kernel hyperparameters", NOISE_AND_KERNEL),
        false => ("Kernel hyperparameters", KERNEL),
    };
    let figures: Vec<PageFigure> = [
        draw(
            context,
            ("pretraining", pretraining_title, pretraining_caption),
            TrainingPhase::Pretraining,
            &[loss, rmse, accuracy, time],
        ),
        draw(
            context,
            ("joint-training", "Training of encoder and Gaussian process", JOINT),
            TrainingPhase::Training,
            &[loss, nll, rmse, accuracy, time],
        ),
        draw(
            context,
            ("hyperparameters", kernel_title, kernel_caption),
            TrainingPhase::Training,
            &hyperparameters,
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let validated = |epoch: &TrainingEpoch| epoch.nll.or(epoch.rmse).or(epoch.accuracy).is_some();
    let mut intro = String::from("The training loss falls as long as the model learns. ");
    intro += match context.model.networks.iter().flat_map(|network| &network.history).any(validated) {
        true => {
            "Validation metrics are computed on held-out rows and show when to stop; the parameters of the best epoch are \
             kept."
        }
        false => "No rows were held out for validation.",
    };
    let networks = context.model.networks.len();
    if networks > MAX_NETWORKS {
        intro +=
            &format!(" The first {MAX_NETWORKS} of {} networks are plotted.", number_format::count(networks));
    }
    (!figures.is_empty())
        .then(|| context.section("training", "Training", intro, vec![Block::Figures(figures)]))
}

const PRETRAINING: &str = "The encoder is first trained with a linear output layer, so that its features are informative \
                           before the Gaussian process is added.";
const JOINT: &str = "All parameters are then trained together to maximise the likelihood. Where the training loss falls \
                     while the validation metrics get worse, the model overfits.";
const KERNEL: &str = "The scale s is the prior variance of the latent function; the larger γ, the faster the similarity of \
                      two inputs decays with the distance of their features.";
const NOISE_AND_KERNEL: &str = "The noise σ is the part of the targets that the model cannot explain, in standardised \
                                units. The scale s is the prior variance of the latent function; the larger γ, the faster \
                                the similarity of two inputs decays with the distance of their features.";

/// Mean duration of a step of the epoch.
fn seconds_per_step(network: &NetworkRecord, k: usize) -> Option<f64> {
    let epoch = &network.history[k];
    let before = network.history[..k].iter().rev().find(|e| e.phase == epoch.phase).map_or(0, |e| e.steps);
    let steps = epoch.steps.checked_sub(before).filter(|&steps| steps > 0)?;
    Some(epoch.seconds? / steps as f64)
}

/// Name, title and caption of a figure.
type Heading<'a> = (&'a str, &'static str, &'a str);

fn draw(
    context: Context<'_>,
    (name, title, caption): Heading<'_>,
    phase: TrainingPhase,
    specs: &[PanelSpec<'_>],
) -> Option<PageFigure> {
    let networks = &context.model.networks[..context.model.networks.len().min(MAX_NETWORKS)];
    let coloured = networks.len() > 1 && networks.len() <= MAX_COLOURED;
    let style = |n: usize| match (networks.len(), coloured) {
        (1, _) => (ACCENT, ""),
        (_, true) => (series(n), DASHES[n % DASHES.len()]),
        _ => (OTHERS, ""),
    };
    let is_best = |network: &NetworkRecord, epoch: &TrainingEpoch| {
        phase == TrainingPhase::Training && epoch.phase == phase && epoch.epoch == network.best_epoch
    };
    let panel = |(y_title, scale, value): &PanelSpec<'_>| {
        let curve = |(n, network): (usize, &NetworkRecord)| {
            let epochs = || network.history.iter().enumerate().filter(|(_, epoch)| epoch.phase == phase);
            let point = |(k, epoch): (usize, &TrainingEpoch)| Some([epoch.steps as f64, value(network, k)?]);
            let best = epochs().find(|(_, epoch)| *scale != Scale::FromZero && is_best(network, epoch));
            let (paint, dash) = style(n);
            let at = thinned(epochs().filter_map(point).collect());
            TrainingCurve { paint, dash, at, best: best.and_then(point) }
        };
        let curves: Vec<TrainingCurve> =
            networks.iter().enumerate().map(curve).filter(|c| !c.at.is_empty()).collect();
        (!curves.is_empty()).then(|| Panel { y_title: (*y_title).into(), curves, scale: *scale })
    };
    let panels: Vec<Panel> = specs.iter().filter_map(panel).collect();
    if panels.is_empty() {
        return None;
    }
    let best_step = match networks {
        [network] => network.history.iter().find(|epoch| is_best(network, epoch)).map(|e| e.steps as f64),
        _ => None,
    };
    let key = |(n, network): (usize, &NetworkRecord)| {
        let (paint, dash) = style(n);
        Key::Line(paint, dash, legend::name(network.name.trim_end_matches(" vs. rest")))
    };
    let mut legend: Vec<Key> =
        if coloured { networks.iter().enumerate().map(key).collect() } else { Vec::new() };
    if best_step.is_some() {
        legend.push(Key::Line(MUTED, BEST_EPOCH_DASH, "best epoch".into()));
    }
    let desc = "Curves over the training steps.";
    let drawing = Panels { title, x_title: "Training steps", panels, legend, best_step, desc };
    Some(PageFigure::new(context.id(name), title, drawing.draw(), caption.into()))
}

/// Every n-th point, and always the last.
fn thinned(at: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let every = at.len().div_ceil(MAX_CURVE_POINTS).max(1);
    let last = at.len().saturating_sub(1);
    at.into_iter().enumerate().filter(|(k, _)| k % every == 0 || *k == last).map(|(_, at)| at).collect()
}
