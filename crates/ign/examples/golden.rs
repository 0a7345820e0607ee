//! Writes `tests/golden`: a tiny model of every kind of column, rows to predict, and their predictions.
//!
//! `cargo run --release -p ign --example golden`, from anywhere in the repository, before the first release only: the
//! file stands for all models that users keep.

use data::{ReadOptions, Source, read_columns, read_table};
use ign::{Config, Fit, Matrix, Model, Prepared};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const SETTINGS: [&str; 15] = [
    "data.target=[\"price\", \"weight\"]",
    "data.max_categories=8",
    "encoder.members=2",
    "encoder.hidden=[6]",
    "encoder.features=6",
    "encoder.frequencies=2",
    "encoder.embedding_width=2",
    "encoder.skip=true",
    "encoder.tables=true",
    "gp.inducing=12",
    "gp.jitter=1e-4",
    "train.warm_epochs=5",
    "train.warm_steps=0",
    "train.epochs=4",
    "train.validation_share=0.25", // 200 rows and more have empirical quantiles
];

/// A number in [0, 1) that looks random and is the same everywhere (SplitMix64).
fn noise(index: u64) -> f64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// Rows with gaps; `hour` counts on and the targets follow it smoothly, so that it gets tables.
fn rows(start: u64, count: u64, colours: [&str; 4]) -> String {
    let mut text = "size,colour,sold,day,hour,price,weight\n".to_owned();
    for row in 0..count {
        let [a, b, c, e] = [0, 1, 2, 3].map(|k| noise(4 * (start + row) + k));
        let colour = colours[(4.0 * b) as usize];
        let size = if row % 11 == 5 { String::new() } else { format!("{:.3}", 10.0 * a) };
        let sold = ["yes", "no", ""][(2.9 * c + 0.1) as usize % 3];
        let day = format!("202{}-{:02}-{:02}", row % 5, 1 + row % 12, 1 + row % 28);
        let season = (row as f64 / 60.0).sin();
        let price = 3.0 * a + 20.0 * season + if colour == "red" { 2.0 } else { 0.0 } + e;
        writeln!(
            text,
            "{size},{colour},{sold},{day},{row},{price:.4},{:.4}",
            100.0 - 10.0 * a - 5.0 * season
        )
        .expect("memory");
    }
    text
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden"].iter().collect();
    std::fs::create_dir_all(&folder)?;
    let input = folder.join("input.csv");
    // The training rows are not kept: the test is about reading, not about learning.
    std::fs::write(&input, rows(0, 900, ["red", "green", "blue", ""]))?;
    let table = read_table(&Source::Path(input.clone()), &ReadOptions::default())?;
    let config = Config::resolve(None, None, &SETTINGS.map(String::from))?;
    let prepared = Prepared::new(&table, &config)?;
    let Fit::Finished(model) = prepared.fit(&config, 1, None, &mut |_| true)? else {
        unreachable!("nobody stops it")
    };
    model.save(&folder.join("v1.ign"))?;
    let new = rows(5000, 24, ["red", "green", "blue", "mauve"]);
    std::fs::write(&input, only_two_mauve(&new))?;
    std::fs::write(folder.join("predictions.csv"), predictions(&model, &input)?)?;
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
    let schema = &model.header().schema;
    let table = read_columns(&Source::Path(input.to_owned()), &ReadOptions::default(), &schema.columns())?;
    let encoded = schema.encode(&table, None)?;
    let prediction = model.predict(&Matrix { x: encoded.x, width: encoded.width });
    let names: Vec<String> = ["price", "weight"]
        .iter()
        .flat_map(|target| ["mean", "std", "std_latent", "q5", "q95"].map(|name| format!("{target}_{name}")))
        .collect();
    let mut text = names.join(",") + "\n";
    for row in 0..table.rows() {
        let mut cells = Vec::new();
        for (output, calibration) in model.header().calibration.iter().enumerate() {
            let i = row * model.outputs() + output;
            let (mean, std) = (prediction.mean[i], prediction.std[i]);
            let quantile = |p: f64| mean + std * calibration.quantile(p);
            cells.extend(
                [mean, std, prediction.std_latent[i], quantile(0.05), quantile(0.95)].map(|x| x.to_string()),
            );
        }
        text += &(cells.join(",") + "\n");
    }
    Ok(text)
}
