//! `ign demo`: train, save and report on a simulated data set.

use crate::failure::Failure;
use crate::output_file::check_writable;
use crate::training::run_args::RunArgs;
use crate::training::train_run::{TrainRun, print_report_path};
use crate::training::world::Processes;
use crate::ui::output::print;
use data::Simulated;
use inducing::config::ProblemKind;
use inducing::{Dataset, Trainer};
use std::path::PathBuf;

/// Rows of the demonstration; the paper's Levy set has as many.
const ROWS: usize = 10_000;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write the model
    #[arg(short, long, visible_alias = "output", default_value = "demo.ign")]
    out: PathBuf,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    args.run.check()?;
    check_writable(&args.out)?;
    let mut run = args.run.clone();
    run.default_test_share(0.4);
    run.threads();
    let settings = run.settings(&[])?;
    let seed = settings.resolve(ProblemKind::Regression)?.seed;
    if run.for_people() {
        print(&format!("Levy function of 4 inputs, {ROWS} rows, of which 40 % are held out for testing\n"))?;
    }
    let data = Dataset::from_table(Simulated::Levy.sample(ROWS, seed, 0.0)).target("y")?;
    let (prepared, config) = Trainer::new(&data).settings(settings).prepare()?;
    let page = TrainRun {
        data: &data,
        prepared,
        notices: Vec::new(),
        config: &config,
        out: &args.out,
        args: &run,
        processes: &Processes::alone(),
        cross_validation: None,
    }
    .run()?;
    if run.for_people() {
        let out = args.out.display();
        print(&format!(
            "\nNext:\n  ign info {out}\n  ign data generate levy --rows 1000 --seed 1 -o new.csv\n  ign predict {out} new.csv --interval 0.9\n  ign inspect {out} --data new.csv\n\nThe report:"
        ))?;
    }
    print_report_path(page.as_deref(), &run)
}
