//! `ign man`: a manual page for the program and for each command.

use crate::failure::Failure;
use crate::output_file::make_folder;
use crate::ui::output::print;
use clap_mangen::Man;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where to write ign.1, ign-train.1, …; `man -M` wants a folder `man1` in it, so name one, for example man/man1
    folder: PathBuf,
    /// Print errors only
    #[arg(short, long)]
    quiet: bool,
}

pub(crate) fn run(args: &Args, command: clap::Command) -> Result<(), Failure> {
    make_folder(&args.folder)?;
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let pages = write(&command, &args.folder)?;
    if args.quiet {
        return Ok(());
    }
    print(&format!("{pages} manual pages written to {}", args.folder.display()))
}

/// Writes a command's page and those of the commands beneath it; how many there are.
fn write(command: &clap::Command, folder: &Path) -> Result<usize, Failure> {
    // `ign-data-list`, once the command is built.
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let page = Man::new(command.clone());
    data::write_atomically(&folder.join(format!("{name}.1")), |file| page.render(file))?;
    command.get_subcommands().try_fold(1, |pages, below| Ok(pages + write(below, folder)?))
}
