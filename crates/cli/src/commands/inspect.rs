//! `ign inspect`: what the inducing points stand for.

use super::given::GivenArgs;
use super::judged::{Asked, Judged, Truth};
use super::report::{make_folder, read_once};
use super::{Failure, Reading, Threads};
use crate::output::{number, print};
use data::{Part, write_atomically};
use ign::{Model, RefineOptions};
use report::{Around, Body, Example, InducingRecord, NetworkRecord, inducing};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Where the nearest examples are looked for: best what was learned from
    #[arg(long, value_name = "INPUT")]
    data: String,
    /// Inputs of which it is counted how many lean on each point [default: those of --data]
    #[arg(long, value_name = "INPUT")]
    test: Option<String>,
    /// Write what is shown into this folder: inducing.jsonl, and the pictures or drawings of pictures and graphs
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Nearest examples of each point
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    nearest: u16,
    /// Do not move examples towards the points
    #[arg(long)]
    no_refine: bool,
    /// Print one JSON object a point
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    given: GivenArgs,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    threads: Threads,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    let model = Model::load(&args.model, args.threads.start())?;
    if model.heads().next().is_none() {
        return Err(Failure::Usage(format!(
            "{} has a softmax layer and no inducing points\nhint: train without `--head softmax`",
            args.model.display()
        )));
    }
    read_once(&[Some(&args.data), args.test.as_ref()].into_iter().flatten().collect::<Vec<_>>(), 1)?;
    let known = read(args, &model, &args.data, Part::Train)?;
    let test = match &args.test {
        Some(input) => Some(read(args, &model, input, Part::Test)?),
        None => None,
    };
    let (rows, shown) = (known.all(), known.show(&model));
    let tested = test.as_ref().map(|test| (test.all(), test.show(&model)));
    let judged = match (&test, &tested, &args.test) {
        (Some(test), Some((rows, shown)), Some(words)) => test.side(rows, shown, words),
        _ => known.side(&rows, &shown, &args.data),
    };
    let around = Around {
        judged,
        known: known.side(&rows, &shown, &args.data),
        nearest: usize::from(args.nearest),
        shown: usize::MAX,
        refine: (!args.no_refine).then(RefineOptions::default),
    };
    let (networks, examples) = inducing(&model, &around);
    let found = Found { model: &model, networks: &networks, examples: &examples, around: &around };
    if let Some(folder) = &args.out {
        make_folder(folder)?;
        found.write(folder)?;
    }
    if args.json {
        return print(found.lines().join("\n").trim_end());
    }
    print(found.table().trim_end())?;
    match &args.out {
        Some(folder) => print(&folder.display().to_string()),
        None => Ok(()),
    }
}

/// All that is shown.
struct Found<'a> {
    model: &'a Model,
    networks: &'a [NetworkRecord],
    examples: &'a [Example],
    around: &'a Around<'a>,
}

impl Found<'_> {
    /// For a terminal.
    fn table(&self) -> String {
        let mut text = String::new();
        for network in self.networks {
            if !network.name.is_empty() {
                text += &format!("\n{}\n", network.name);
            }
            text += &self.summary(network);
            let width = |cell: &dyn Fn(&InducingRecord) -> usize, least: usize| {
                network.inducing.iter().map(cell).max().unwrap_or(0).clamp(least, 32)
            };
            let label = width(&|point| point.label.chars().count(), 12);
            let truth = width(&|point| point.nearest.first().map_or(0, |n| n.truth.chars().count()), 5);
            let moves = network.inducing.iter().any(|point| point.refined.is_some());
            let moved = if moves { "  distance → moved " } else { "  distance" };
            text += &format!(
                "\n     #  {:label$}  leaning{moved}  similarity  {:truth$}  nearest example\n",
                "pseudo-label", "truth"
            );
            for (i, point) in network.inducing.iter().enumerate() {
                for (rank, near) in point.nearest.iter().enumerate() {
                    let first = rank == 0;
                    let head = match first {
                        true => {
                            format!("{:6}  {:label$}  {:7}", i + 1, cut(&point.label, label), point.leaning)
                        }
                        false => format!("{:6}  {:label$}  {:7}", "", "", ""),
                    };
                    let distance = number(near.distance);
                    let moved = match &point.refined {
                        Some(refined) if first => format!("  {distance:>8} → {:<7}", number(refined.after)),
                        _ if moves => format!("  {distance:>8}{:10}", ""),
                        _ => format!("  {distance:>8}"),
                    };
                    text += &format!(
                        "{head}{moved}  {:10.3}  {:truth$}  {}\n",
                        near.similarity,
                        cut(&near.truth, truth),
                        self.words(&self.examples[near.example])
                    );
                }
            }
        }
        text
    }

    fn summary(&self, network: &NetworkRecord) -> String {
        let points = network.inducing.len();
        let (known, judged) = (&self.around.known, &self.around.judged);
        let mut text = format!(
            "{points} inducing points; {} different examples are the nearest of one, among {} of {}\n",
            network.distinct,
            known.rows.len(),
            known.words
        );
        let idle = network.inducing.iter().filter(|point| point.leaning == 0).count();
        text += &format!(
            "leaning: how many of the {} of {} have this point as their most similar one; {idle} of the points have none\n",
            judged.rows.len(),
            judged.words
        );
        if let Some(classes) = self.model.header().schema.classes() {
            let count = |class: Option<usize>| network.inducing.iter().filter(|p| p.class == class).count();
            let all = classes.iter().enumerate().map(|(k, class)| (class.as_str(), count(Some(k))));
            let with: Vec<String> = all
                .chain([("the rest", count(None))])
                .filter(|(_, count)| *count > 0)
                .map(|(class, count)| format!("{class} {count}"))
                .collect();
            text += &format!("pseudo-labels: {}\n", with.join(", "));
        }
        text
    }

    /// An example in a line.
    fn words(&self, example: &Example) -> String {
        let Example { name, body } = example;
        match body {
            Body::Cells(cells) => {
                let columns = self.model.header().schema.table().into_iter().flat_map(|table| &table.inputs);
                let cells: Vec<String> =
                    columns.zip(cells).map(|(column, cell)| format!("{} {cell}", column.name)).collect();
                format!("{name}: {}", cells.join(", ").replace(['\n', '\r', '\t'], " "))
            }
            Body::Picture(_) => name.clone(),
            Body::Graph(graph) => format!("{name}: {} nodes, {} edges", graph.nodes, graph.edges.len()),
        }
    }

    /// One JSON object a point.
    fn lines(&self) -> Vec<String> {
        let columns: Vec<&String> = match self.model.header().schema.table() {
            Some(table) => table.inputs.iter().map(|input| &input.name).collect(),
            None => Vec::new(),
        };
        let body = |example: usize| match &self.examples[example].body {
            Body::Cells(cells) => {
                columns.iter().zip(cells).map(|(column, cell)| ((*column).clone(), json!(cell))).collect()
            }
            Body::Graph(graph) => {
                json!({ "nodes": graph.nodes, "edges": graph.edges, "labels": graph.labels })
            }
            Body::Picture(_) => serde_json::Value::Null,
        };
        let mut lines = Vec::new();
        for network in self.networks {
            for (i, point) in network.inducing.iter().enumerate() {
                let near = |near: &report::Neighbour| {
                    json!({
                        "name": self.examples[near.example].name,
                        "similarity": near.similarity,
                        "distance": near.distance,
                        "truth": near.truth,
                        "example": body(near.example),
                    })
                };
                let mut line = json!({
                    "point": i + 1,
                    "pseudo_label": point.label,
                    "leaning": point.leaning,
                    "nearest": point.nearest.iter().map(near).collect::<Vec<_>>(),
                });
                if !network.name.is_empty() {
                    line["network"] = json!(network.name);
                }
                if let Some(refined) = &point.refined {
                    line["refined"] = json!({
                        "before": refined.before,
                        "after": refined.after,
                        "example": body(refined.example),
                    });
                }
                lines.push(line.to_string());
            }
        }
        lines
    }

    /// Everything, and pictures and drawings of their own.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let lines = self.lines().join("\n") + "\n";
        write_atomically(&folder.join("inducing.jsonl"), |file| file.write_all(lines.as_bytes()))?;
        for (k, network) in self.networks.iter().enumerate() {
            let prefix =
                if self.networks.len() > 1 { format!("network-{:02}-", k + 1) } else { String::new() };
            for (i, point) in network.inducing.iter().enumerate() {
                let nearest = point.nearest.first().map(|near| ("nearest", near.example));
                let refined = point.refined.as_ref().map(|refined| ("refined", refined.example));
                for (what, example) in nearest.into_iter().chain(refined) {
                    let Some((ending, bytes)) = report::picture_file(&self.examples[example].body) else {
                        continue;
                    };
                    let name = format!("{prefix}point-{:03}-{what}.{ending}", i + 1);
                    write_atomically(&folder.join(name), |file| file.write_all(&bytes))?;
                }
            }
            if let Some(sheet) = report::gallery(network, self.examples) {
                let place = |ending: &str| folder.join(format!("{prefix}{}.{ending}", sheet.name));
                write_atomically(&place("svg"), |file| file.write_all(sheet.svg.as_bytes()))?;
                let png = sheet.png(2.0).map_err(|e| Failure::Usage(e.to_string()))?;
                write_atomically(&place("png"), |file| file.write_all(&png))?;
            }
        }
        Ok(())
    }
}

/// At most so many characters.
fn cut(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}

fn read(args: &Args, model: &Model, input: &str, part: Part) -> Result<Judged, Failure> {
    let (file, given, reading) = (&args.model, &args.given, &args.reading);
    let asked = Asked { model, file, input, part, target: None, truth: Truth::IfThere, given, reading };
    let judged = asked.read()?;
    if judged.inputs.rows() == 0 {
        return Err(Failure::Usage(format!("{input} is empty\nhint: name inputs with `--data`")));
    }
    if !args.json {
        judged.notices.iter().for_each(|notice| eprintln!("note: {notice}"));
    }
    Ok(judged)
}
