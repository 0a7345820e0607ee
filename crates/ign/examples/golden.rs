//! Writes `tests/golden/v3-*`: a tiny model of texts with a number beside them and a tiny model of graphs, each with
//! inputs to predict and their predictions.
//!
//! `cargo run --release --example golden`, from anywhere in the repository, before the release that first writes format
//! 3 only: the files stand for all models that users keep. Those of formats 1 and 2 beside them were made likewise by
//! the programs of their time; no later program can make them again.

use data::{GraphSource, ReadOptions, Source, read_columns, read_graphs, read_table};
use ign::{Config, Fit, Inputs, Kind, Model, Prepared};
use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const TEXT: [&str; 23] = [
    "data.target=[\"stars\"]",
    "data.text.length=12",
    "data.text.keep=\"both\"",
    "encoder.members=2",
    "encoder.hidden=[4]",
    "encoder.features=6",
    "encoder.frequencies=2",
    "encoder.embedding_width=2",
    "encoder.skip=true",
    "encoder.text.width=4",
    "encoder.text.heads=2",
    "encoder.text.feed_forward=4",
    "encoder.text.blocks=1",
    "encoder.text.pooling=\"mean_max\"",
    "encoder.text.word_dropout=0.1",
    "encoder.text.beside=2",
    "gp.inducing=12",
    "gp.jitter=1e-4",
    "train.warm_epochs=20",
    "train.warm_learning_rate=0.01",
    "train.warm_steps=0",
    "train.epochs=4",
    "train.validation_share=0.25", // enough rows to recalibrate with
];

const GRAPHS: [&str; 14] = [
    "data.graph.degree={one_hot={cap=3}}",
    "encoder.members=2",
    "encoder.hidden=[4]",
    "encoder.features=4",
    "encoder.graph.width=4",
    "encoder.graph.rounds=2",
    "encoder.graph.node_pooling=\"sum\"",
    "encoder.graph.graph_pooling=\"mean\"",
    "gp.inducing=12",
    "gp.jitter=1e-4",
    "train.warm_epochs=20",
    "train.warm_learning_rate=0.01",
    "train.epochs=4",
    "train.validation_share=0.25",
];

/// Words whose boundaries or small letters are not those of plain English, by what they are worth.
const WORDS: [&str; 28] = [
    "awful",
    "don't",
    "l\u{2019}été",
    "<br />",
    "no<br/>way",
    "שלום",
    "👎",
    "well-known",
    "3.14",
    "straße",
    "it's",
    "東京",
    "naïve",
    "İstanbul",
    "e\u{301}te\u{301}",
    "ﬁne",
    "ΣΟΦΟΣ",
    "a_b",
    "1,000",
    "とても良い",
    "\"quoted\"",
    "Dž",
    "🇩🇪",
    "ok",
    "مرحبا",
    "👍🏽",
    "👩\u{200d}👩\u{200d}👧",
    "GREAT",
];

/// A number in [0, 1) that looks random and is the same everywhere (SplitMix64).
fn noise(index: u64) -> f64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1_u64 << 53) as f64
}

/// Texts of 4 to 19 words, of which 12 count, with a number that has gaps.
fn reviews(start: u64, count: u64) -> String {
    let mut text = "review,price,stars\n".to_owned();
    for row in 0..count {
        let draw = |k: u64| noise(32 * (start + row) + k);
        let words: Vec<usize> = (0..4 + (16.0 * draw(0)) as u64)
            .map(|k| ((0.5 * draw(1) + 0.5 * draw(4 + k)) * WORDS.len() as f64) as usize)
            .collect();
        let worth = words.iter().sum::<usize>() as f64 / (words.len() * WORDS.len()) as f64;
        let stars = 1.0 + 3.0 * worth + draw(2) + 0.4 * draw(3);
        let price = if row % 9 == 4 { String::new() } else { format!("{:.2}", 10.0 * draw(2)) };
        let words: Vec<String> = words.iter().map(|&word| WORDS[word].replace('"', "\"\"")).collect();
        writeln!(text, "\"{}\",{price},{stars:.2}", words.join(" ")).expect("memory");
    }
    text
}

/// Texts without a word, with unknown words only, and with signs only.
const STRANGE: &str =
    ",1.5,2\n\"<br /><br />\",2.5,2\n\"words that nobody knows\",3.5,3\n\"?! … — ;-)\",,4\n";

/// Trees and trees with shortcuts, whose nodes have labels and an attribute.
fn graphs(start: u64, count: u64, levels: [&str; 3]) -> String {
    let mut text = String::new();
    for row in 0..count {
        let draw = |k: u64| noise(64 * (start + row) + k);
        let nodes = 1 + (9.0 * draw(0)) as u64;
        let class = u64::from(draw(1) < 0.5);
        let list: Vec<String> = (0..nodes)
            .map(|k| {
                let level = levels[((0.7 * draw(4 + k) + 0.3 * class as f64) * 3.0) as usize];
                format!("{{\"label\":\"{level}\",\"attributes\":[{:.2}]}}", draw(14 + k) * 4.0)
            })
            .collect();
        let tree = (1..nodes).map(|k| [(draw(24 + k) * k as f64) as u64, k]);
        let shortcuts = (2..nodes).filter(|k| class == 1 && draw(34 + k) < 0.5).map(|k| [0, k]);
        let edges: Vec<String> = tree.chain(shortcuts).map(|[a, b]| format!("[{a},{b}]")).collect();
        let name = ["tree", "net"][usize::from(draw(2) < 0.1) ^ class as usize];
        let (list, edges) = (list.join(","), edges.join(","));
        writeln!(text, "{{\"nodes\":[{list}],\"edges\":[{edges}],\"label\":\"{name}\"}}").expect("memory");
    }
    text
}

fn fit(prepared: &Prepared, config: &Config) -> Result<Model, Box<dyn Error>> {
    match prepared.fit(config, 1, None, &mut |_| true)? {
        Fit::Finished(model) => Ok(*model),
        Fit::Interrupted(_) => unreachable!("nobody stops it"),
    }
}

// The training rows are not kept: the tests are about reading, not about learning.

fn main() -> Result<(), Box<dyn Error>> {
    let folder: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "golden"].iter().collect();

    let input = folder.join("v3-text-input.csv");
    std::fs::write(&input, reviews(0, 600))?;
    let table = read_table(&Source::Path(input.clone()), &ReadOptions::default())?;
    let config = Config::resolve(Kind::TextNumbers, None, None, &TEXT.map(String::from))?;
    let model = fit(&Prepared::new(&table, &config)?, &config)?;
    model.save(&folder.join("v3-text.ign"))?;
    std::fs::write(&input, reviews(5000, 20) + STRANGE)?;
    std::fs::write(folder.join("v3-text-predictions.csv"), numbers(&model, &input)?)?;

    let input = folder.join("v3-graphs-input.jsonl");
    std::fs::write(&input, graphs(0, 300, ["C", "O", "N"]))?;
    let (set, _) = read_graphs(&GraphSource::Path(input.clone()), true)?;
    let config = Config::resolve(Kind::Graphs, None, None, &GRAPHS.map(String::from))?;
    let model = fit(&Prepared::graphs(set, &config)?, &config)?;
    model.save(&folder.join("v3-graphs.ign"))?;
    std::fs::write(&input, graphs(5000, 16, ["C", "O", "N"]) + &graphs(6000, 4, ["C", "O", "Xe"]))?;
    std::fs::write(folder.join("v3-graphs-predictions.csv"), classes(&model, &input)?)?;
    Ok(())
}

fn numbers(model: &Model, input: &Path) -> Result<String, Box<dyn Error>> {
    let schema = model.header().schema.table().ok_or("the model is of a table")?;
    let table = read_columns(&Source::Path(input.to_owned()), &ReadOptions::default(), &schema.columns())?;
    let prediction = model.predict(&schema.encode(&table, None)?.into());
    let mut text = "mean,std,std_latent\n".to_owned();
    for ((mean, std), latent) in prediction.mean.iter().zip(&prediction.std).zip(&prediction.std_latent) {
        writeln!(text, "{mean},{std},{latent}")?;
    }
    Ok(text)
}

fn classes(model: &Model, input: &Path) -> Result<String, Box<dyn Error>> {
    let schema = model.header().schema.graphs().ok_or("the model is of graphs")?;
    let (set, _) = read_graphs(&GraphSource::Path(input.to_owned()), false)?;
    let rows = set.len();
    let prediction = model.predict_classes(&Inputs::graphs(schema.conform(set.unlabelled())?, schema)?);
    let names = ["p", "latent_mean", "latent_std"].map(|name| {
        schema.classes.iter().map(|class| format!("{name}_{class}")).collect::<Vec<_>>().join(",")
    });
    let mut text = names.join(",") + "\n";
    for row in 0..rows {
        let of_row = row * schema.classes.len()..(row + 1) * schema.classes.len();
        let values = [&prediction.p, &prediction.latent_mean, &prediction.latent_std];
        let cells: Vec<String> =
            values.iter().flat_map(|values| &values[of_row.clone()]).map(f64::to_string).collect();
        text += &(cells.join(",") + "\n");
    }
    Ok(text)
}
