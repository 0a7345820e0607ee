//! What makes the program pleasant to use: completions, manual pages, a template, other spellings.

use crate::folder::{Folder, TINY};
use crate::tables::linear;

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.ign(&format!("completions {shell}")).succeeds().stdout;
        assert!(script.contains("tune") && script.contains("budget"), "{shell}");
    }
    folder.refuses("completions csh", &["csh", "fish"]);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    folder.ign("man pages/man1 --quiet").succeeds();
    for page in ["ign", "ign-train", "ign-tune", "ign-data-generate", "ign-config-template"] {
        let text = folder.text(&format!("pages/man1/{page}.1"));
        assert!(text.starts_with(".ie") && text.contains(&format!(".TH {page}")), "{page}: {text}");
    }
}

#[test]
fn the_template_is_a_configuration_that_changes_nothing() {
    let folder = Folder::new();
    folder.write("t.csv", linear(80));
    let template = folder.ign("config template").succeeds().stdout;
    assert!(template.contains("\n#epochs = 2\n") && template.contains("# share in [0, 1)"), "{template}");
    folder.write("run.toml", &template);
    folder.ign(&format!("train t.csv --target y -o a.ign --quiet --no-report {TINY}")).succeeds();
    folder
        .ign(&format!("train t.csv --target y --config run.toml -o b.ign --quiet --no-report {TINY}"))
        .succeeds();
    assert!(folder.read("a.ign") == folder.read("b.ign"));
    folder.refuses("config template --preset papre", &["papre"]);
}

#[test]
fn output_is_another_name_of_out_and_ninety_per_cent_is_an_interval() {
    let folder = Folder::with_model();
    folder.ign("predict m.ign t.csv --out a.csv --interval 0.9,0.5").succeeds();
    folder.ign("predict m.ign t.csv --output b.csv --interval 90,50").succeeds();
    assert_eq!(folder.text("a.csv"), folder.text("b.csv"));
    folder.refuses("predict m.ign t.csv -o c.csv --quantiles 90", &["--quantiles"]);
    folder.ign(&format!("train t.csv --target y --output n.ign --quiet {TINY}")).succeeds();
}
