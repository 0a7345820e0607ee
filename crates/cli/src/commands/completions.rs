//! `ign completions`: commands and flags for the shell's completion.

use crate::failure::Failure;
use crate::ui::output::print_raw;
use clap_complete::Shell;

#[derive(clap::Args)]
#[command(after_help = "\
bash:        ign completions bash > ~/.local/share/bash-completion/completions/ign
zsh:         ign completions zsh > ~/.zfunc/_ign             (with ~/.zfunc in fpath)
fish:        ign completions fish > ~/.config/fish/completions/ign.fish
PowerShell:  ign completions powershell >> $PROFILE
elvish:      ign completions elvish >> ~/.config/elvish/rc.elv")]
pub(crate) struct Args {
    /// Which shell
    #[arg(value_enum)]
    shell: Shell,
}

pub(crate) fn run(args: &Args, mut command: clap::Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "ign", &mut script);
    print_raw(String::from_utf8_lossy(&script).trim_end())
}
