//! Classes from a table: three kinds of flowers, each with a probability, and what was never seen.
//! `cargo run --release -p inducing --example table_classification`

#![allow(clippy::print_stdout)]

use inducing::{Dataset, Prediction, Trainer};
use std::error::Error;
use std::fmt::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join("inducing-table-classification");
    std::fs::create_dir_all(&folder)?;
    let (train, new) = (folder.join("flowers.csv"), folder.join("new.csv"));
    std::fs::write(&train, flowers(300)?)?;
    std::fs::write(&new, "length,width\n1.5,0.3\n4.3,1.4\n5.1,1.7\n30,-20\n")?;

    // The settings only keep this example short.
    let data = Dataset::read(&train)?.target("kind")?;
    let trainer =
        Trainer::new(&data).set("gp.inducing=48").set("train.pretrain_min_steps=200").set("train.epochs=3");
    let model = trainer.fit()?;

    for row in model.predict(&Dataset::read(&new)?)? {
        let Prediction::Classification(kind) = row else { unreachable!("kinds are classes") };
        let all: Vec<String> = kind.probabilities().map(|(name, p)| format!("{name} {p:.2}")).collect();
        let deviation = kind.latent().map(|(_, std)| std).fold(0.0, f64::max);
        println!("{}: {} (latent deviation {deviation:.2})", kind.label(), all.join(", "));
    }
    Ok(())
}

/// Lengths and widths of petals around the mean of their kind.
fn flowers(count: u64) -> Result<String, std::fmt::Error> {
    let kinds = [("setosa", 1.5, 0.25), ("versicolor", 4.3, 1.3), ("virginica", 5.6, 2.0)];
    let mut text = "length,width,kind\n".to_owned();
    for row in 0..count {
        let draw = |k: u64| ((row * 5 + k) as f64 * 12.9898).sin().abs() * 43758.547 % 1.0 - 0.5;
        let (kind, length, width) = kinds[(row % 3) as usize];
        let both = (length + 1.6 * draw(0), width + 0.3 * draw(0) + 0.5 * draw(1));
        writeln!(text, "{:.2},{:.2},{kind}", both.0, both.1)?;
    }
    Ok(text)
}
