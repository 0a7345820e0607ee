//! Rows that are predicted in a second: `predict_rate MODEL TABLE`. The library's side of bench/python.

use inducing::{Dataset, Error, Model};
use std::time::Instant;

#[allow(clippy::print_stdout)] // an example
fn main() -> Result<(), Error> {
    let mut words = std::env::args().skip(1);
    let (Some(model), Some(table)) = (words.next(), words.next()) else {
        println!("usage: predict_rate MODEL TABLE");
        return Ok(());
    };
    let model = Model::load(model)?;
    let (started, mut rows) = (Instant::now(), 0);
    for block in model.stream(&Dataset::read(table)?, &[])? {
        rows += block?.predictions.len();
    }
    println!("{rows} {:.6}", started.elapsed().as_secs_f64());
    Ok(())
}
