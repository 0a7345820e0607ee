//! Numbers from a table: prices of houses, each with an interval.
//! `cargo run --release -p inducing --example table_regression`

#![allow(clippy::print_stdout)]

use inducing::{Dataset, Model, Prediction, Trainer};
use std::error::Error;
use std::fmt::Write;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join("inducing-table-regression");
    std::fs::create_dir_all(&folder)?;
    let (train, new) = (folder.join("houses.csv"), folder.join("new.csv"));
    std::fs::write(&train, houses(0, 500)?)?;
    std::fs::write(&new, "size,rooms,town\n80,3,Bern\n200,6,Zug\n")?;

    // The first three lines are all it takes; the settings only keep this example short.
    let data = Dataset::read(&train)?.target("price")?;
    let trainer =
        Trainer::new(&data).set("gp.inducing=64").set("train.pretrain_min_steps=200").set("train.epochs=3");
    let model = trainer.fit()?;

    let file = folder.join("price.ign");
    model.save(&file)?;
    let model = Model::load(&file)?;
    for row in model.predict(&Dataset::read(&new)?)? {
        let Prediction::Regression(price) = row else { unreachable!("prices are numbers") };
        let (low, high) = price.interval(0.9);
        println!("{:.0} ± {:.0}, with 90 % between {low:.0} and {high:.0}", price.mean(), price.std());
    }
    Ok(())
}

/// Sizes, rooms and towns, and a price that follows from them but for a tenth.
fn houses(start: u64, count: u64) -> Result<String, std::fmt::Error> {
    let mut text = "size,rooms,town,price\n".to_owned();
    for row in start..start + count {
        let draw = |k: u64| ((row * 7 + k) as f64 * 12.9898).sin().abs() * 43758.547 % 1.0;
        let size = 40.0 + 200.0 * draw(0);
        let town = ["Bern", "Chur", "Zug"][(3.0 * draw(1)) as usize];
        let worth = if town == "Zug" { 12.0 } else { 7.0 };
        let price = size * worth * (0.9 + 0.2 * draw(2));
        writeln!(text, "{size:.0},{},{town},{price:.0}", 1 + (size / 30.0) as u32)?;
    }
    Ok(text)
}
