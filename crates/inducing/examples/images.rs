//! Classes of images: small stripes, and noise that no class explains.
//! `cargo run --release -p inducing --example images`

#![allow(clippy::print_stdout)]

use data::ImageSet;
use inducing::{Dataset, Error, Prediction, Trainer};

const SIDE: usize = 8;
const CLASSES: [&str; 2] = ["lying", "standing"];

fn main() -> Result<(), Error> {
    let data = Dataset::from_images(stripes(400, 0));
    // The settings only keep this example short; a folder of folders of images is read by `Dataset::read`.
    let short = ["gp.inducing=32", "encoder.hidden=[32]", "encoder.features=16", "train.pretrain_epochs=10"];
    let model = short.into_iter().fold(Trainer::new(&data), Trainer::set).fit()?;

    let new = Dataset::from_images(ImageSet { labels: None, ..stripes(4, 1) });
    for (row, prediction) in model.predict(&new)?.into_iter().enumerate() {
        let Prediction::Classification(class) = prediction else { unreachable!("images have classes") };
        let (truth, p) = (CLASSES[row % 2], class.probability());
        println!("{truth}: predicted {} with probability {p:.2}", class.label());
    }
    Ok(())
}

/// Grey images whose rows or columns are bright by turns, half of each pixel being noise.
fn stripes(count: usize, seed: usize) -> ImageSet {
    let pixel = |at: usize| {
        let (image, y, x) = (at / (SIDE * SIDE), at / SIDE % SIDE, at % SIDE);
        let bright = if image.is_multiple_of(2) { y % 2 } else { x % 2 };
        let noise = ((at + seed * 1_000_003) as f64 * 12.9898).sin().abs() * 43758.547 % 1.0;
        (127.0 * bright as f64 + 128.0 * noise) as u8
    };
    ImageSet {
        pixels: (0..count * SIDE * SIDE).map(pixel).collect(),
        height: SIDE,
        width: SIDE,
        channels: 1,
        labels: Some((0..count as u32).map(|image| image % 2).collect()),
        classes: CLASSES.map(String::from).to_vec(),
        names: Vec::new(),
        origin: "stripes".into(),
    }
}
