//! How the model learned.

use super::{Block, Context, Section};
use crate::figure::Drawn;
use crate::figure::legend::{self, Key};
use crate::figure::panels::{KEPT, Panel, Panels, Scale, Track};
use crate::number;
use crate::palette::{ACCENT, DASHES, MUTED, OTHERS, SERIES, series};
use crate::{NetworkRecord, TargetRecord};
use ign::train::{EpochRecord, Phase};

/// Places of a line: more cannot be told apart.
const MOST_PLACES: usize = 240;
/// Networks that have a colour of their own.
const MOST_NAMED: usize = SERIES.len();
/// Networks that are drawn.
const MOST_NETWORKS: usize = 60;

/// What a panel shows of an epoch.
type Figure<'a> = (&'a str, Scale, fn(&NetworkRecord, usize) -> Option<f64>);

pub(super) fn section(context: Context<'_>) -> Option<Section> {
    let numbers = context.model.targets.iter().any(|t| matches!(t, TargetRecord::Number(_)));
    let of = if numbers { " (standardised targets)" } else { "" };
    let rmse = format!("Validation RMSE{of}");
    let nll = format!("Validation NLL{} (nats)", if numbers { ", standardised" } else { "" });
    let warm: Vec<Figure<'_>> = vec![
        ("Loss on training rows", Scale::Linear, |n, k| n.history[k].loss),
        (&rmse, Scale::Linear, |n, k| n.history[k].rmse),
        ("Validation accuracy (%)", Scale::Linear, |n, k| Some(100.0 * n.history[k].accuracy?)),
        ("Time (s a step)", Scale::FromZero, pace),
    ];
    let likelihood: Vec<Figure<'_>> = vec![
        ("Loss on training rows (nats)", Scale::Linear, |n, k| n.history[k].loss),
        (&nll, Scale::Linear, |n, k| n.history[k].nll),
        (&rmse, Scale::Linear, |n, k| n.history[k].rmse),
        ("Validation accuracy (%)", Scale::Linear, |n, k| Some(100.0 * n.history[k].accuracy?)),
        ("Time (s a step)", Scale::FromZero, pace),
    ];
    let parameters: Vec<Figure<'_>> = vec![
        ("Noise σ (logarithmic)", Scale::Log, |n, k| n.history[k].noise),
        ("Kernel scale s (logarithmic)", Scale::Log, |n, k| Some(n.history[k].kernel?[0])),
        ("Kernel γ, or offset c if linear (logarithmic)", Scale::Log, |n, k| Some(n.history[k].kernel?[1])),
    ];
    let process = context.model.networks.iter().any(|network| !network.inducing.is_empty());
    let (warm_title, warm_caption) = match process {
        true => ("Warm start: learning features", WARM),
        false => ("Learning", "The network and its softmax layer learn together."),
    };
    let (kernel_title, kernel_caption) =
        if numbers { ("Noise and kernel", PARAMETERS) } else { ("Kernel", KERNEL) };
    let figures: Vec<Drawn> = [
        draw(context, "warm-start", warm_title, Phase::WarmStart, &warm, warm_caption),
        draw(context, "learning", "Learning with uncertainty", Phase::Likelihood, &likelihood, LIKELIHOOD),
        draw(context, "parameters", kernel_title, Phase::Likelihood, &parameters, kernel_caption),
    ]
    .into_iter()
    .flatten()
    .collect();
    let validated = |epoch: &EpochRecord| epoch.nll.or(epoch.rmse).or(epoch.accuracy).is_some();
    let mut intro = String::from("Errors on the training rows fall as long as the model learns");
    intro += match context.model.networks.iter().flat_map(|network| &network.history).any(validated) {
        true => {
            "; those on validation rows, which it does not learn from, tell when to stop. The parameters of the kept epoch \
             are the model's."
        }
        false => ". No rows were held out to tell when to stop.",
    };
    let networks = context.model.networks.len();
    if networks > MOST_NETWORKS {
        intro.push_str(&format!(
            " The first {MOST_NETWORKS} of {} networks are drawn.",
            number::count(networks)
        ));
    }
    (!figures.is_empty())
        .then(|| context.section("training", "How it learned", intro, vec![Block::Figures(figures)]))
}

const KERNEL: &str = "The kernel says how far and how strongly examples resemble each other.";
const WARM: &str = "First the network alone learns, with a linear layer, so that its features mean something before the \
                    Gaussian process is set on top.";
const LIKELIHOOD: &str = "Then all parts learn together to give the truth a high probability. Where the training loss \
                          falls and the validation figures rise, the model begins to learn by heart.";
const PARAMETERS: &str = "The noise is what the model takes for unexplainable, in standardised units; the kernel says how \
                          far and how strongly examples resemble each other.";

/// Seconds a step of the epoch.
fn pace(network: &NetworkRecord, k: usize) -> Option<f64> {
    let seconds = (*network.seconds.get(k)?)?;
    let epoch = &network.history[k];
    let before = network.history[..k].iter().rev().find(|e| e.phase == epoch.phase).map_or(0, |e| e.steps);
    let steps = epoch.steps.checked_sub(before).filter(|&steps| steps > 0)?;
    Some(seconds / steps as f64)
}

fn draw(
    context: Context<'_>,
    name: &str,
    title: &'static str,
    phase: Phase,
    figures: &[Figure<'_>],
    caption: &str,
) -> Option<Drawn> {
    let networks = &context.model.networks[..context.model.networks.len().min(MOST_NETWORKS)];
    let named = networks.len() > 1 && networks.len() <= MOST_NAMED;
    let look = |n: usize| match (networks.len(), named) {
        (1, _) => (ACCENT, ""),
        (_, true) => (series(n), DASHES[n % DASHES.len()]),
        _ => (OTHERS, ""),
    };
    let panel = |(y_title, scale, value): &Figure<'_>| {
        let track = |(n, network): (usize, &NetworkRecord)| {
            let epochs = || network.history.iter().enumerate().filter(|(_, epoch)| epoch.phase == phase);
            let at: Vec<[f64; 2]> =
                epochs().filter_map(|(k, epoch)| Some([epoch.steps as f64, value(network, k)?])).collect();
            let kept = epochs()
                .find(|(_, epoch)| {
                    phase == Phase::Likelihood
                        && *scale != Scale::FromZero
                        && epoch.epoch == network.best_epoch
                })
                .and_then(|(k, epoch)| Some([epoch.steps as f64, value(network, k)?]));
            let (paint, dash) = look(n);
            Track { paint, dash, at: thinned(at), kept }
        };
        let lines: Vec<Track> = networks.iter().enumerate().map(track).filter(|t| !t.at.is_empty()).collect();
        (!lines.is_empty()).then(|| Panel { y_title: (*y_title).into(), lines, scale: *scale })
    };
    let panels: Vec<Panel> = figures.iter().filter_map(panel).collect();
    if panels.is_empty() {
        return None;
    }
    let kept = match networks {
        [network] if phase == Phase::Likelihood => {
            let kept = |e: &&EpochRecord| e.phase == phase && e.epoch == network.best_epoch;
            network.history.iter().find(kept).map(|e| e.steps as f64)
        }
        _ => None,
    };
    let key = |(n, network): (usize, &NetworkRecord)| {
        let (paint, dash) = look(n);
        Key::Line(paint, dash, legend::name(network.name.trim_end_matches(" against the rest")))
    };
    let mut legend: Vec<Key> =
        if named { networks.iter().enumerate().map(key).collect() } else { Vec::new() };
    if kept.is_some() {
        legend.push(Key::Line(MUTED, KEPT, "kept epoch".into()));
    }
    let drawing = Panels {
        title,
        x_title: "Steps",
        panels,
        legend,
        kept,
        desc: "Lines over the steps of the training.",
    };
    Some(Drawn::new(context.id(name), title, drawing.draw(), caption.into()))
}

/// Every so many places, and always the last.
fn thinned(at: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let every = at.len().div_ceil(MOST_PLACES).max(1);
    let last = at.len().saturating_sub(1);
    at.into_iter().enumerate().filter(|(k, _)| k % every == 0 || *k == last).map(|(_, at)| at).collect()
}
