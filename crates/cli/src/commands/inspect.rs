//! `ign inspect`: the inducing points, their pseudo-labels and the examples closest to them.

use crate::failure::Failure;
use crate::input::check_stdin_once;
use crate::input::eval_data::{EvalRequest, all_rows, input_set, renderer};
use crate::input::flags::{InputFlags, TableFlags, ThreadFlags};
use crate::output_file::make_folder;
use crate::report_page::write_figures;
use crate::ui::output::{note, number, print, print_raw};
use crate::ui::text::{count, json_safe, one_line};
use data::{DatasetPart, write_atomically};
use inducing::Model;
use inducing::explain::RefineOptions;
use inducing::model::{EncodedData, TargetUse};
use report::{Body, Example, InducingPointRecord, InducingRequest, NetworkRecord, gather_inducing_points};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Model file
    model: PathBuf,
    /// Where to search for the nearest examples, best the training data
    #[arg(long, value_name = "INPUT")]
    data: String,
    /// Inputs to assign to the points, each to the most similar one [default: those of --data]
    #[arg(long, value_name = "INPUT")]
    test: Option<String>,
    /// Write the result into this folder: inducing.jsonl, and images and drawings of graphs
    #[arg(short, long, visible_alias = "output", value_name = "DIR")]
    out: Option<PathBuf>,
    /// How many nearest examples to show for each point
    #[arg(long, value_name = "K", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    nearest: u16,
    /// Do not refine examples towards the points
    #[arg(long)]
    no_refine: bool,
    /// Print one JSON object per point
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    input_flags: InputFlags,
    #[command(flatten)]
    table_flags: TableFlags,
    #[command(flatten)]
    threads: ThreadFlags,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.threads.start();
    let model = Model::load(&args.model)?;
    if model.heads().next().is_none() {
        return Err(Failure::Usage(format!(
            "{} has a softmax layer and no inducing points\nhint: train without `--head softmax`",
            args.model.display()
        )));
    }
    check_stdin_once(&[Some(&args.data), args.test.as_ref()].into_iter().flatten().collect::<Vec<_>>(), 1)?;
    let known = read(args, &model, &args.data, DatasetPart::Train)?;
    let test = match &args.test {
        Some(input) => Some(read(args, &model, input, DatasetPart::Test)?),
        None => None,
    };
    let (rows, examples) = (all_rows(&known), renderer(&known, &model));
    let tested = test.as_ref().map(|test| (all_rows(test), renderer(test, &model)));
    let evaluated = match (&test, &tested, &args.test) {
        (Some(test), Some((rows, examples)), Some(words)) => input_set(test, rows, examples, words),
        _ => input_set(&known, &rows, &examples, &args.data),
    };
    let request = InducingRequest {
        evaluated,
        reference: input_set(&known, &rows, &examples, &args.data),
        nearest: usize::from(args.nearest),
        max_shown: usize::MAX,
        refine: (!args.no_refine).then(RefineOptions::default),
    };
    let (networks, examples) = gather_inducing_points(&model, &request)?;
    let found = Found { model: &model, networks: &networks, examples: &examples, request: &request };
    if let Some(folder) = &args.out {
        make_folder(folder)?;
        found.write(folder)?;
    }
    if args.json {
        return print_raw(&json_safe(
            report::inducing_lines(&model, &networks, &examples).join("\n").trim_end(),
        ));
    }
    print(found.table().trim_end())?;
    match &args.out {
        Some(folder) => print(&folder.display().to_string()),
        None => Ok(()),
    }
}

/// The inducing points and what is around them.
struct Found<'a> {
    model: &'a Model,
    networks: &'a [NetworkRecord],
    examples: &'a [Example],
    request: &'a InducingRequest<'a>,
}

impl Found<'_> {
    /// For a terminal.
    fn table(&self) -> String {
        let mut text = String::new();
        for network in self.networks {
            if !network.name.is_empty() {
                text += &format!("\n{}\n", one_line(&network.name));
            }
            text += &self.summary(network);
            let width = |cell: &dyn Fn(&InducingPointRecord) -> usize, least: usize| {
                network.inducing.iter().map(cell).max().unwrap_or(0).clamp(least, 32)
            };
            let label = width(&|point| point.pseudo_label.chars().count(), 12);
            let truth = width(&|point| point.nearest.first().map_or(0, |n| n.truth.chars().count()), 5);
            let moves = network.inducing.iter().any(|point| point.refined.is_some());
            let moved = if moves { "  distance → refined" } else { "  distance" };
            text += &format!(
                "\n     #  {:label$}  assigned{moved}  similarity  {:truth$}  nearest example\n",
                "pseudo-label", "truth"
            );
            for (i, point) in network.inducing.iter().enumerate() {
                for (rank, near) in point.nearest.iter().enumerate() {
                    let first = rank == 0;
                    let head = match first {
                        true => {
                            format!(
                                "{:6}  {:label$}  {:8}",
                                i + 1,
                                cut(&point.pseudo_label, label),
                                point.assigned
                            )
                        }
                        false => format!("{:6}  {:label$}  {:8}", "", "", ""),
                    };
                    let distance = number(near.distance);
                    let moved = match &point.refined {
                        Some(refined) if first => {
                            format!("  {distance:>8} → {:<7}", number(refined.distance_after))
                        }
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
        let (reference, evaluated) = (&self.request.reference, &self.request.evaluated);
        let mut text = format!(
            "{points} inducing points; their nearest examples are {} different rows, among {} of {}\n",
            network.distinct_nearest,
            reference.rows.len(),
            reference.description
        );
        let idle = network.inducing.iter().filter(|point| point.assigned == 0).count();
        text += &format!(
            "assigned: how many of the {} of {} are most similar to this point; {idle} points have none\n",
            evaluated.rows.len(),
            evaluated.description
        );
        if let Some(classes) = self.model.header().schema.classes() {
            let count = |class: Option<usize>| network.inducing.iter().filter(|p| p.class == class).count();
            let all = classes.iter().enumerate().map(|(k, class)| (class.as_str(), count(Some(k))));
            let with: Vec<String> = all
                .chain([("the rest", count(None))])
                .filter(|(_, count)| *count > 0)
                .map(|(class, count)| format!("{} {count}", one_line(class)))
                .collect();
            text += &format!("pseudo-labels: {}\n", with.join(", "));
        }
        text
    }

    /// An example on one line.
    fn words(&self, example: &Example) -> String {
        let Example { name, body } = example;
        let text = match body {
            Body::Cells(cells) => {
                let columns = self.model.header().schema.table().into_iter().flat_map(|table| &table.inputs);
                let cells: Vec<String> =
                    columns.zip(cells).map(|(column, cell)| format!("{} {cell}", column.name)).collect();
                format!("{name}: {}", cells.join(", ").replace(['\n', '\r', '\t'], " "))
            }
            Body::Image(_) => name.clone(),
            Body::Graph(graph) => {
                format!("{name}: {}, {}", count(graph.nodes, "node"), count(graph.edges.len(), "edge"))
            }
        };
        one_line(&text).into_owned()
    }

    /// Writes everything, and every image and drawing as a file.
    fn write(&self, folder: &Path) -> Result<(), Failure> {
        let lines = report::inducing_lines(self.model, self.networks, self.examples).join("\n") + "\n";
        write_atomically(&folder.join("inducing.jsonl"), |file| file.write_all(lines.as_bytes()))?;
        for (k, network) in self.networks.iter().enumerate() {
            let prefix =
                if self.networks.len() > 1 { format!("network-{:02}-", k + 1) } else { String::new() };
            for (i, point) in network.inducing.iter().enumerate() {
                let nearest = point.nearest.first().map(|near| ("nearest", near.example));
                let refined = point.refined.as_ref().map(|refined| ("refined", refined.example));
                for (what, example) in nearest.into_iter().chain(refined) {
                    let Some((ending, bytes)) = report::example_file(&self.examples[example].body) else {
                        continue;
                    };
                    let name = format!("{prefix}point-{:03}-{what}.{ending}", i + 1);
                    write_atomically(&folder.join(name), |file| file.write_all(&bytes))?;
                }
            }
            if let Some(sheet) = report::gallery(network, self.examples) {
                write_figures(folder, [(format!("{prefix}{}", sheet.name), sheet)])?;
            }
        }
        Ok(())
    }
}

/// At most `most` characters, on one line.
fn cut(text: &str, most: usize) -> String {
    let text = one_line(text);
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.into_owned(),
    }
}

fn read(args: &Args, model: &Model, input: &str, part: DatasetPart) -> Result<EncodedData, Failure> {
    let request = EvalRequest {
        model,
        file: &args.model,
        input,
        part,
        target: None,
        targets: TargetUse::IfPresent,
        input_flags: &args.input_flags,
        table_flags: &args.table_flags,
    };
    let data = request.read()?;
    if data.inputs.rows() == 0 {
        return Err(Failure::Usage(format!("{input} is empty\nhint: name inputs with `--data`")));
    }
    if !args.json {
        data.file_notes.iter().for_each(|text| note(text));
    }
    Ok(data)
}
