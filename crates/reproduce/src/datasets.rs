//! Data sets in memory, each read once.

use crate::Error;
use crate::experiment::Origin;
use crate::held_out;
use crate::request::Request;
use crate::score::mean_and_deviation;
use crate::wave;
use data::{
    Column, DatasetPart, GraphSource, ImageOptions, ImageSource, NamedSet, NamedTable, ReadOptions,
    Simulated, Table,
};
use inducing::Dataset;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Seed of all simulated rows: as in the paper, repeats split the same set differently.
const SAMPLE_SEED: u64 = 0;

/// A set, and its test part where that is not drawn at random.
pub(crate) struct Loaded {
    pub(crate) train: Dataset,
    pub(crate) test: Option<Dataset>,
}

/// Identifies a set in memory.
type Key = (Origin, Option<u64>);

/// A set that is being read, or was.
type Slot = Arc<Mutex<Option<Arc<Loaded>>>>;

/// Datasets that were read.
pub(crate) struct Datasets {
    data_dir: Option<PathBuf>,
    slots: Mutex<Vec<(Key, Slot)>>,
}

impl Datasets {
    pub(crate) fn new(data_dir: Option<PathBuf>) -> Self {
        Self { data_dir, slots: Mutex::default() }
    }

    /// Why there are no data for this, if there are none.
    pub(crate) fn missing(&self, origin: Origin) -> Option<String> {
        let set = origin.named()?;
        match &self.data_dir {
            None => Some("no data directory; pass it as `--data-dir`, or set IGN_DATA to it".into()),
            Some(dir) if set.is_in(dir) => None,
            Some(dir) => Some(format!("no data; the files of {} are not in {}", set.name(), dir.display())),
        }
    }

    /// The data of a run.
    pub(crate) fn load(&self, request: &Request) -> Result<Arc<Loaded>, Error> {
        match request.experiment.origin {
            Origin::Wave => Ok(Arc::new(wave::load(request.seed)?)),
            Origin::Numbers(..) if request.variant.is_away() => {
                Ok(Arc::new(without_part(&*self.whole(request)?, request)?))
            }
            _ => self.whole(request),
        }
    }

    /// A set with all its rows.
    fn whole(&self, request: &Request) -> Result<Arc<Loaded>, Error> {
        let key = (request.experiment.origin, request.noise.map(f64::to_bits));
        let slot = {
            let mut slots = self.slots.lock().expect("no reader panicked");
            match slots.iter().find(|(other, _)| *other == key) {
                Some((_, slot)) => slot.clone(),
                None => {
                    slots.push((key, Slot::default()));
                    slots.last().expect("just pushed").1.clone()
                }
            }
        };
        // Others wait for the first reader of the same set, and for nobody else.
        let mut slot = slot.lock().expect("no reader panicked");
        if let Some(loaded) = &*slot {
            return Ok(loaded.clone());
        }
        let loaded = Arc::new(read(request, self.data_dir.as_deref().unwrap_or(Path::new(".")))?);
        *slot = Some(loaded.clone());
        Ok(loaded)
    }
}

fn read(request: &Request, data_dir: &Path) -> Result<Loaded, Error> {
    let whole = |train| Loaded { train, test: None };
    let table = |set, part| table(set, part, data_dir);
    let images = |set: NamedSet, part| -> Result<Dataset, Error> {
        let source = ImageSource::Named { set, data_dir: data_dir.to_owned() };
        let options = ImageOptions { part, ..ImageOptions::default() };
        Ok(Dataset::from_images(data::read_images(&source, &options, None)?.0))
    };
    Ok(match request.experiment.origin {
        Origin::Simulated(function, rows) => {
            let table = simulated(function, rows, request.noise.unwrap_or(0.0))?;
            whole(Dataset::from_table(table).target("y")?)
        }
        Origin::Numbers(set, most) => {
            let table = table(set, DatasetPart::Train)?;
            let first: Vec<usize> = (0..table.rows().min(most)).collect();
            whole(with_target(table.select(&first), set, data_dir)?)
        }
        Origin::Texts(set) => Loaded {
            train: with_target(table(set, DatasetPart::Train)?, set, data_dir)?,
            test: Some(with_target(table(set, DatasetPart::Test)?, set, data_dir)?),
        },
        Origin::Images(set) => {
            Loaded { train: images(set, DatasetPart::Train)?, test: Some(images(set, DatasetPart::Test)?) }
        }
        Origin::Graphs(set) => {
            let source = GraphSource::Named { set, data_dir: data_dir.to_owned() };
            whole(Dataset::from_graphs(data::read_graphs(&source, true)?.0))
        }
        Origin::Wave => unreachable!("the wave is drawn, not read"),
    })
}

/// The set less the part that the run holds out.
fn without_part(whole: &Loaded, request: &Request) -> Result<Loaded, Error> {
    let (Some(table), [target]) = (whole.train.table(), whole.train.targets()) else {
        unreachable!("a table with one target");
    };
    let parts = held_out::split(table, target, request.variant)?;
    let [train, test] = parts.map(|rows| Dataset::from_table(table.select(&rows)).target(target));
    Ok(Loaded { train: train?, test: Some(test?) })
}

/// A table with the target that its name stands for.
fn with_target(table: Table, set: NamedSet, data_dir: &Path) -> Result<Dataset, Error> {
    let named = NamedTable { set, data_dir: data_dir.to_owned() };
    Ok(Dataset::from_table(table).target(named.target())?)
}

fn table(set: NamedSet, part: DatasetPart, data_dir: &Path) -> Result<Table, Error> {
    let named = NamedTable { set, data_dir: data_dir.to_owned() };
    let options = ReadOptions { column_types: named.column_types(), ..ReadOptions::default() };
    Ok(data::read_table(&named.sources(part)?.remove(0), &options)?)
}

/// Rows of a test function; noise is in deviations of its values.
fn simulated(function: Simulated, rows: usize, noise: f64) -> Result<Table, Error> {
    let clean = function.sample(rows, SAMPLE_SEED, 0.0);
    if noise == 0.0 {
        return Ok(clean);
    }
    let all: Vec<usize> = (0..rows).collect();
    let (_, std) = moments(&clean, "y", &all)?;
    Ok(function.sample(rows, SAMPLE_SEED, noise * std))
}

/// Mean and deviation of a column over some rows.
pub(crate) fn moments(table: &Table, column: &str, rows: &[usize]) -> Result<(f64, f64), Error> {
    let Column::Number(values) = table.column(column)? else {
        return Err(Error::Usage(format!(
            "{}: column `{column}` holds no numbers\nhint: is it the published file?",
            table.file()
        )));
    };
    Ok(mean_and_deviation(&rows.iter().map(|&row| values[row]).collect::<Vec<_>>()))
}
