//! `ign info`: what is in a model file.

use crate::failure::Failure;
use crate::ui::output::{self, print, print_json, print_raw};
use crate::ui::text::{json_safe, one_line};
use inducing::Model;
use inducing::dataset::Schema;
use inducing::model::Kernel;
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
    let model = Model::load(&args.model)?;
    let header = model.header();
    if args.json {
        return print_json(header);
    }
    let configuration = toml::to_string(&header.config).expect("a configuration is plain data");
    if args.config {
        return print_raw(&json_safe(configuration.trim_end()));
    }
    let mut lines = Vec::new();
    let [train, validation, test] = header.rows;
    let written = std::fs::metadata(&args.model).and_then(|m| m.modified()).ok().map(timestamp);
    lines.push(format!("{}", args.model.display()));
    lines.push(format!(
        "  written    {} by ign {} (format {})",
        written.unwrap_or_default(),
        one_line(&header.ign_version),
        header.format_version
    ));
    let predicted = join(header.schema.target_names().iter());
    let classes = header.schema.classes().map(|classes| join(classes.iter()));
    lines.push(format!("  predicts   {predicted}{}", classes.map_or(String::new(), |c| format!(": {c}"))));
    lines.push(format!(
        "  from       {}",
        match &header.schema {
            Schema::Table(table) => {
                join(table.inputs.iter().map(|i| format!("{} ({})", i.name, i.encoding.column_type())))
            }
            Schema::Images(images) => {
                let colours = if images.channels == 1 { "grey" } else { "colour" };
                format!("{colours} images of {} × {} pixels", images.height, images.width)
            }
            Schema::Graphs(graphs) => format!("graphs with {} features per node", graphs.width()),
            Schema::Custom(custom) => format!("inputs of the custom encoder `{}`", one_line(&custom.encoder)),
        }
    ));
    lines.push(format!("  rows       {train} training, {validation} validation, {test} test"));
    let networks = match header.others.len() {
        0 => String::new(),
        others if header.ensemble.is_some() => format!("{} cross-fitted members of ", others + 1),
        others => format!("{} networks of ", others + 1),
    };
    lines.push(format!(
        "  network    {networks}{}; {} parameters in total",
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
        if model.heads().next().is_some() { " of the likelihood phase" } else { "" },
        header.config.seed
    ));
    for (part, scores) in &header.metrics {
        lines.push(format!("{}\n{}", output::part(part), output::scores(scores)));
    }
    lines.push(format!("configuration\n{}", json_safe(&configuration)));
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

/// Names from the file, separated by commas.
fn join(names: impl Iterator<Item = impl AsRef<str>>) -> String {
    names.map(|name| one_line(name.as_ref()).into_owned()).collect::<Vec<_>>().join(", ")
}

/// `2026-01-31 12:00 UTC`
fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let minutes = seconds % 86_400 / 60;
    format!("{} {:02}:{:02} UTC", reproduce::utc_date(seconds), minutes / 60, minutes % 60)
}
