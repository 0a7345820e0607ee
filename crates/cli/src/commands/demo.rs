//! `ign demo`: the whole way on an embedded default.

use super::Failure;
use super::given::Known;
use super::learn::{Job, learn, tell_page};
use super::train::{RunArgs, check_writable};
use crate::output::print;
use data::Simulated;
use ign::Kind;
use std::path::PathBuf;

/// Rows of the demonstration; the paper's Levy set has as many.
const ROWS: usize = 10_000;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write the model
    #[arg(short, long, default_value = "demo.ign")]
    out: PathBuf,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), Failure> {
    check_writable(&args.out)?;
    let mut run = args.run.clone();
    run.default_test_share(0.4);
    let config = run.config(Kind::Numbers, &[("data.target".into(), vec!["y"].into())])?;
    if !run.json() && !run.quiet() {
        print(&format!("Levy function of 4 inputs, {ROWS} rows; 40 % are held out for the test\n"))?;
    }
    let table = Simulated::Levy.sample(ROWS, config.seed, 0.0);
    let known = Known::Table(table);
    let (prepared, notices, folds) = (known.prepare(&config)?, Vec::new(), None);
    let page =
        learn(Job { known: &known, prepared, notices, config: &config, out: &args.out, args: &run, folds })?;
    if !run.json() && !run.quiet() {
        let out = args.out.display();
        print(&format!(
            "\nNext:\n  ign info {out}\n  ign data generate levy --rows 1000 --seed 1 -o new.csv\n  ign predict {out} new.csv --interval 0.9\n  ign inspect {out} --data new.csv\n\nThe page about it:"
        ))?;
    }
    tell_page(page.as_deref(), &run)
}
