//! From an experiment's origin to data in memory, each set read once.

use super::experiments::Origin;
use super::request::Request;
use crate::commands::Failure;
use crate::commands::given::Known;
use data::{
    Column, GraphSource, ImageOptions, ImageSource, NamedSet, NamedTable, Part, ReadOptions, Simulated, Table,
};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Seed of all simulated rows: repeats split the same set anew, as the paper does.
const SAMPLE_SEED: u64 = 0;

/// A set, and its test part where it has one of its own.
pub(crate) struct Loaded {
    pub(crate) known: Known,
    pub(crate) test: Option<Known>,
}

/// What tells one set in memory from another.
type Key = (Origin, Option<u64>);

/// A set that is being read, or was.
type Slot = Arc<Mutex<Option<Arc<Loaded>>>>;

/// Sets that were read.
pub(crate) struct Sets {
    data_dir: Option<PathBuf>,
    slots: Mutex<Vec<(Key, Slot)>>,
}

impl Sets {
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
    pub(crate) fn load(&self, request: &Request) -> Result<Arc<Loaded>, Failure> {
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

fn read(request: &Request, data_dir: &Path) -> Result<Loaded, Failure> {
    let whole = |known| Loaded { known, test: None };
    let table = |set, part| table(set, part, data_dir);
    let images = |set: NamedSet, part| -> Result<Known, Failure> {
        let source = ImageSource::Named { set, data_dir: data_dir.to_owned() };
        let options = ImageOptions { part, ..ImageOptions::default() };
        Ok(Known::Images(data::read_images(&source, &options, None)?.0))
    };
    Ok(match request.experiment.origin {
        Origin::Simulated(function, rows) => {
            whole(Known::Table(simulated(function, rows, request.noise.unwrap_or(0.0))?))
        }
        Origin::Numbers(set, most) => whole(Known::Table(first_rows(table(set, Part::Train)?, most)?)),
        Origin::Texts(set) => Loaded {
            known: Known::Table(table(set, Part::Train)?),
            test: Some(Known::Table(table(set, Part::Test)?)),
        },
        Origin::Images(set) => {
            Loaded { known: images(set, Part::Train)?, test: Some(images(set, Part::Test)?) }
        }
        Origin::Graphs(set) => {
            let source = GraphSource::Named { set, data_dir: data_dir.to_owned() };
            whole(Known::Graphs(data::read_graphs(&source, true)?.0))
        }
    })
}

fn table(set: NamedSet, part: Part, data_dir: &Path) -> Result<Table, Failure> {
    let named = NamedTable { set, data_dir: data_dir.to_owned() };
    let options = ReadOptions { column_types: named.column_types(), ..ReadOptions::default() };
    Ok(data::read_table(&named.sources(part)?.remove(0), &options)?)
}

/// Rows of a test function; noise is in deviations of its values.
fn simulated(function: Simulated, rows: usize, noise: f64) -> Result<Table, Failure> {
    let clean = function.sample(rows, SAMPLE_SEED, 0.0);
    if noise == 0.0 {
        return Ok(clean);
    }
    let all: Vec<usize> = (0..rows).collect();
    let std = deviation(&clean, "y", &all)?;
    Ok(function.sample(rows, SAMPLE_SEED, noise * std))
}

/// Deviation of a column over some rows.
pub(crate) fn deviation(table: &Table, column: &str, rows: &[usize]) -> Result<f64, Failure> {
    let Column::Number(values) = table.column(column)? else {
        return Err(Failure::Usage(format!(
            "{}: column `{column}` holds no numbers\nhint: is it the published file?",
            table.file()
        )));
    };
    let n = rows.len() as f64;
    let mean = rows.iter().map(|&row| values[row]).sum::<f64>() / n;
    Ok((rows.iter().map(|&row| (values[row] - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// The beginning of a table of numbers.
fn first_rows(table: Table, most: usize) -> Result<Table, Failure> {
    if table.rows() <= most {
        return Ok(table);
    }
    let cut = |column: &Column| match column {
        Column::Number(values) => Column::Number(values[..most].to_vec()),
        Column::Boolean(values) => Column::Boolean(values[..most].to_vec()),
        Column::Category { codes, levels } => {
            Column::Category { codes: codes[..most].to_vec(), levels: levels.clone() }
        }
        Column::Text(texts) => Column::Text(texts[..most].to_vec()),
        Column::DateTime(values) => Column::DateTime(values[..most].to_vec()),
    };
    let columns = table.names().iter().cloned().zip(table.columns().iter().map(cut));
    Ok(Table::new(table.file(), columns.collect())?)
}
