//! Writes golden files of the newest format: tiny models of texts with a number beside them, of graphs, and ensembles of a table, of a
//! number and of classes; each with inputs to predict and their predictions.
//!
//! `cargo run --release -p inducing --example golden [folder]`, into `tests/golden` unless a folder is named, before the
//! release that first writes that format only: the files stand for all models that users keep, and none is overwritten.
//! Those of formats 1 and 2 beside them were made likewise by the programs of their time; no later program can make
//! them again.

use inducing::model::{FORMAT_VERSION, Predictions};
use inducing::{Dataset, Model, Settings, Trainer};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;

const TEXT: [&str; 22] = [
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
    "train.pretrain_epochs=20",
    "train.pretrain_learning_rate=0.01",
    "train.pretrain_min_steps=0",
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
    "train.pretrain_epochs=20",
    "train.pretrain_learning_rate=0.01",
    "train.epochs=4",
    "train.validation_share=0.25",
];

const TABLE: [&str; 13] = [
    "seed=1", // a seed whose process is a Matérn 5/2
    "encoder.hidden=[4]",
    "encoder.features=4",
    "encoder.frequencies=2",
    "encoder.embedding_width=2",
    "gp.inducing=8",
    "train.pretrain_epochs=4",
    "train.pretrain_min_steps=0",
    "train.crossfit_folds=2",
    "neighbours.count=8",
    "neighbours.feature_count=4",
    "data.target_transform=\"asinh\"", // of the number
    "train.epochs=1",
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

/// Sizes, colours and an hour with gaps; what they cost, and in words.
fn goods(start: u64, count: u64) -> String {
    let mut text = "size,colour,hour,price,kind\n".to_owned();
    for row in 0..count {
        let draw = |k: u64| noise(8 * (start + row) + k);
        let (size, colour, hour) = (10.0 * draw(0), (3.0 * draw(1)) as usize, 24.0 * draw(2));
        let price = size * (1.0 + 0.3 * colour as f64) + 3.0 * (hour / 4.0).sin() + draw(3);
        let kind = if price < 6.0 {
            "cheap"
        } else if price < 10.0 {
            "fair"
        } else {
            "dear"
        };
        let hour = if draw(4) < 0.1 { String::new() } else { format!("{hour:.1}") };
        writeln!(text, "{size:.2},{},{hour},{price:.3},{kind}", ["red", "green", "blue"][colour])
            .expect("memory");
    }
    text
}

/// A size and a colour are missing, which they never were; two colours are new; a size is far away.
const ODD_GOODS: &str =
    ",red,3.5,0,fair\n4.5,,7,0,fair\n2,mauve,9,0,fair\n3,puce,,0,fair\n900,green,12,0,fair\n";

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

/// Trains on one thread, as the files of all formats were.
fn fit(data: &Dataset, keys: &[&str]) -> Result<Model, inducing::Error> {
    let settings = keys.iter().fold(Settings::default(), |all, key| all.set(*key));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    pool.install(|| Trainer::new(data).settings(settings).fit())
}

/// The files of this format in a folder: none is ever overwritten.
struct Files {
    folder: PathBuf,
}

impl Files {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("v{FORMAT_VERSION}-{name}"))
    }

    fn write(&self, name: &str, text: &str) -> std::io::Result<()> {
        std::fs::File::create_new(self.path(name))?.write_all(text.as_bytes())
    }

    /// Trains on rows that are not kept: the tests are about reading, not about learning.
    fn train(
        &self,
        name: &str,
        rows: &str,
        target: Option<&str>,
        keys: &[&str],
    ) -> Result<Model, Box<dyn Error>> {
        let path = std::env::temp_dir().join(format!("inducing-golden-{name}"));
        std::fs::write(&path, rows)?;
        let data = Dataset::read(&path)?;
        let data = target.map_or(Ok(data.clone()), |target| data.target(target))?;
        let model = fit(&data, keys)?;
        std::fs::remove_file(path)?;
        Ok(model)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => folder.into(),
        None => [env!("CARGO_MANIFEST_DIR"), "tests", "golden"].iter().collect(),
    };
    let files = Files { folder };

    files.write("text-input.csv", &(reviews(5000, 20) + STRANGE))?;
    let model = files.train("text.csv", &reviews(0, 600), Some("stars"), &TEXT)?;
    model.save(files.path("text.ign"))?;
    let predictions = model.predict(&Dataset::read(files.path("text-input.csv"))?)?;
    files.write("text-predictions.csv", &numbers(&predictions)?)?;

    files.write("table-input.csv", &(goods(5000, 20) + ODD_GOODS))?;
    for (name, target, other) in [("table", "price", "kind"), ("classes", "kind", "price")] {
        let ignored = format!("data.ignore=[\"{other}\"]");
        let keys = [&TABLE[..], &[&ignored]].concat();
        let model = files.train("table.csv", &goods(0, 120), Some(target), &keys)?;
        model.save(files.path(&format!("{name}.ign")))?;
        let predictions = model.predict(&Dataset::read(files.path("table-input.csv"))?)?;
        let text = match model.header().schema.classes() {
            Some(names) => classes(&predictions, names)?,
            None => numbers(&predictions)?,
        };
        files.write(&format!("{name}-predictions.csv"), &text)?;
    }

    let new = graphs(5000, 16, ["C", "O", "N"]) + &graphs(6000, 4, ["C", "O", "Xe"]);
    files.write("graphs-input.jsonl", &new)?;
    let model = files.train("graphs.jsonl", &graphs(0, 300, ["C", "O", "N"]), None, &GRAPHS)?;
    model.save(files.path("graphs.ign"))?;
    let predictions = model.predict(&Dataset::read(files.path("graphs-input.jsonl"))?)?;
    let names = model.header().schema.classes().ok_or("the model is of classes")?;
    files.write("graphs-predictions.csv", &classes(&predictions, names)?)?;
    Ok(())
}

fn numbers(predictions: &Predictions) -> Result<String, Box<dyn Error>> {
    let prediction = predictions.as_regression().ok_or("the model is of numbers")?;
    let mut text = "mean,std,std_latent,familiarity\n".to_owned();
    let rows = prediction.mean.iter().zip(&prediction.std).zip(&prediction.std_latent);
    for (((mean, std), latent), familiarity) in rows.zip(&prediction.familiarity) {
        writeln!(text, "{mean},{std},{latent},{familiarity}")?;
    }
    Ok(text)
}

fn classes(predictions: &Predictions, names: &[String]) -> Result<String, Box<dyn Error>> {
    let prediction = predictions.as_classification().ok_or("the model is of classes")?;
    let column = |name| names.iter().map(|class| format!("{name}_{class}")).collect::<Vec<_>>().join(",");
    let mut text = ["p", "latent_mean", "latent_std"].map(column).join(",") + "\n";
    for row in 0..predictions.len() {
        let of_row = row * names.len()..(row + 1) * names.len();
        let values = [&prediction.p, &prediction.latent_mean, &prediction.latent_std];
        let cells: Vec<String> =
            values.iter().flat_map(|values| &values[of_row.clone()]).map(f64::to_string).collect();
        text += &(cells.join(",") + "\n");
    }
    Ok(text)
}
