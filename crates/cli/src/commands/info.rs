//! `ign info`: what is inside a model file.

use super::Failure;
use crate::output::{self, print};
use ign::{Kernel, Model, Schema};
use std::path::PathBuf;
use std::time::SystemTime;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Print the whole header as JSON
    #[arg(long)]
    json: bool,
    /// Print the configuration alone, as a file for `ign train --config`
    #[arg(long, conflicts_with = "json")]
    config: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model, 1)?;
    let header = model.header();
    if args.json {
        return print(&serde_json::to_string(header).expect("a header is plain data"));
    }
    let configuration = toml::to_string(&header.config).expect("a configuration is plain data");
    if args.config {
        return print(configuration.trim_end());
    }
    let mut lines = Vec::new();
    let [train, validation, test] = header.rows;
    let written = std::fs::metadata(&args.model).and_then(|m| m.modified()).ok().map(timestamp);
    lines.push(format!("{}", args.model.display()));
    lines.push(format!(
        "  written    {} by ign {} (format {})",
        written.unwrap_or_default(),
        header.ign_version,
        header.format_version
    ));
    let predicted = join(header.schema.target_names().into_iter());
    let classes = header.schema.classes().map(|classes| join(classes.iter().cloned()));
    lines.push(format!("  predicts   {predicted}{}", classes.map_or(String::new(), |c| format!(": {c}"))));
    lines.push(format!(
        "  from       {}",
        match &header.schema {
            Schema::Table(table) => {
                join(table.inputs.iter().map(|i| format!("{} ({})", i.name, i.encoding.column_type())))
            }
            Schema::Images(images) => {
                let colours = if images.channels == 1 { "grey" } else { "colour" };
                format!("{colours} pictures of {} × {} pixels", images.height, images.width)
            }
            Schema::Graphs(graphs) => format!("graphs whose nodes have {} numbers", graphs.width()),
            Schema::Own(own) => format!("inputs of the encoder `{}`", own.own),
        }
    ));
    lines.push(format!("  rows       {train} trained on, {validation} for validation, {test} for the test"));
    let networks = match header.others.len() {
        0 => String::new(),
        others => format!("{} networks of ", others + 1),
    };
    lines.push(format!(
        "  network    {networks}{}; {} parameters in all",
        header.encoder.describe(),
        model.parameters()
    ));
    lines.push(match model.heads().next() {
        Some(head) => {
            let points = head.z.len() / header.encoder.features();
            format!("  process    {points} inducing points, {}", kernel(&header.kernel))
        }
        None => "  head       softmax layer".into(),
    });
    lines.push(format!(
        "  training   best epoch {}{}, seed {}\n",
        header.best_epoch,
        if model.heads().next().is_some() { " of the likelihood" } else { "" },
        header.config.seed
    ));
    for (part, scores) in &header.metrics {
        lines.push(format!("{}\n{}", output::part(part), output::scores(scores)));
    }
    lines.push(format!("configuration\n{configuration}"));
    print(lines.join("\n").trim_end())
}

/// `rbf, scale 1, γ 0.3`.
fn kernel(kernel: &Kernel) -> String {
    let (family, scale, shape) = match *kernel {
        Kernel::Rbf { scale, gamma } => ("rbf", scale, ("γ", gamma)),
        Kernel::Matern32 { scale, gamma } => ("matern32", scale, ("γ", gamma)),
        Kernel::Matern52 { scale, gamma } => ("matern52", scale, ("γ", gamma)),
        Kernel::Linear { scale, offset } => ("linear", scale, ("offset", offset)),
    };
    format!("{family} kernel, scale {}, {} {}", output::number(scale), shape.0, output::number(shape.1))
}

fn join(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// `2026-01-31 12:00 UTC`
fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let minutes = seconds % 86_400 / 60;
    format!("{} {:02}:{:02} UTC", output::date(seconds), minutes / 60, minutes % 60)
}
