//! Writes `tests/golden/v2-classes*`: a tiny model of classes from every kind of column, rows to predict, and their
//! predictions.
//!
//! `cargo run --release -p ign --example golden`, from anywhere in the repository, before the release that first writes
//! format 2 only: the file stands for all models that users keep. `v1.ign` beside it was made likewise by the program of
//! format 1; no later program can make it again.

use data::{ReadOptions, Source, read_columns, read_table};
use ign::{Config, Fit, Kind, Model, Prepared};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const SETTINGS: [&str; 14] = [
    "data.target=[\"price\"]",
    "data.max_categories=8",
    "encoder.members=2",
    "encoder.hidden=[6]",
    "encoder.features=6",
    "encoder.frequencies=2",
    "encoder.embedding_width=2",
    "encoder.skip=true",
    "gp.inducing=12",
    "gp.jitter=1e-4",
    "train.warm_epochs=5",
    "train.warm_steps=0",
    "train.epochs=4",
    "train.validation_share=0.25", // enough rows to recalibrate with
];

/// A number in [0, 1) that looks random and is the same everywhere (SplitMix64).
fn noise(index: u64) -> f64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// Rows with gaps; three classes of price that no input tells for certain.
fn rows(start: u64, count: u64, colours: [&str; 4]) -> String {
    let mut text = "size,colour,sold,day,hour,price\n".to_owned();
    for row in 0..count {
        let [a, b, c, e] = [0, 1, 2, 3].map(|k| noise(4 * (start + row) + k));
        let colour = colours[(4.0 * b) as usize];
        let size = if row % 11 == 5 { String::new() } else { format!("{:.3}", 10.0 * a) };
        let sold = ["yes", "no", ""][(2.9 * c + 0.1) as usize % 3];
        let day = format!("202{}-{:02}-{:02}", row % 5, 1 + row % 12, 1 + row % 28);
        let price = 3.0 * a + if colour == "red" { 1.0 } else { 0.0 } + e;
        let class = ["cheap", "fair", "dear"][(price / 1.5).min(2.0) as usize];
        writeln!(text, "{size},{colour},{sold},{day},{row},{class}").expect("memory");
    }
    text
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden"].iter().collect();
    let input = folder.join("v2-classes-input.csv");
    // The training rows are not kept: the test is about reading, not about learning.
    std::fs::write(&input, rows(0, 900, ["red", "green", "blue", ""]))?;
    let table = read_table(&Source::Path(input.clone()), &ReadOptions::default())?;
    let config = Config::resolve(Kind::Classes, None, None, &SETTINGS.map(String::from))?;
    let prepared = Prepared::new(&table, &config)?;
    let Fit::Finished(model) = prepared.fit(&config, 1, None, &mut |_| true)? else {
        unreachable!("nobody stops it")
    };
    model.save(&folder.join("v2-classes.ign"))?;
    let new = rows(5000, 24, ["red", "green", "blue", "mauve"]);
    std::fs::write(&input, only_two_mauve(&new))?;
    std::fs::write(folder.join("v2-classes-predictions.csv"), predictions(&model, &input)?)?;
    Ok(())
}

/// Two rows hold a colour that was never seen, the others of them none.
fn only_two_mauve(text: &str) -> String {
    let mut seen = 0;
    let mut lines = Vec::new();
    for line in text.lines() {
        seen += usize::from(line.contains("mauve"));
        lines.push(if seen > 2 { line.replace("mauve", "") } else { line.to_owned() });
    }
    lines.join("\n") + "\n"
}

fn predictions(model: &Model, input: &Path) -> Result<String, Box<dyn Error>> {
    let schema = model.header().schema.table().ok_or("the model is of a table")?;
    let table = read_columns(&Source::Path(input.to_owned()), &ReadOptions::default(), &schema.columns())?;
    let prediction = model.predict_classes(&schema.encode(&table, None)?.into());
    let classes = model.header().schema.classes().ok_or("the model is of classes")?;
    let names: Vec<String> = ["p", "latent_mean", "latent_std"]
        .iter()
        .flat_map(|name| classes.iter().map(move |class| format!("{name}_{class}")))
        .collect();
    let mut text = names.join(",") + "\n";
    for row in 0..table.rows() {
        let of_row = row * classes.len()..(row + 1) * classes.len();
        let values = [&prediction.p, &prediction.latent_mean, &prediction.latent_std];
        let cells: Vec<String> =
            values.iter().flat_map(|values| &values[of_row.clone()]).map(f64::to_string).collect();
        text += &(cells.join(",") + "\n");
    }
    Ok(text)
}
