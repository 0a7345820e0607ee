//! A data set as the user names it: a table, images, graphs, or inputs of a custom encoder.

use super::custom::{CustomShape, EncoderFactory, Labels};
use super::inputs::Inputs;
use super::stream::Streamed;
use crate::config::{DataConfig, ProblemKind};
use crate::error::Error;
use crate::nn::CustomEncoder;
use crate::train::{Alone, Collective};
use data::{
    Column, DatasetPart, GraphSet, GraphSource, ImageOptions, ImageSet, ImageSize, ImageSource, NamedTable,
    Notice, ReadOptions, Shards, Source, Table, Task,
};
use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What to learn from, or what to predict.
///
/// A data set that comes from a file is read when it is needed: whole, to learn from it; the columns that a model
/// reads, of the types that it expects, to predict it.
///
/// ```
/// use inducing::Dataset;
/// # let path = std::env::temp_dir().join("inducing-doc-dataset.csv");
/// # std::fs::write(&path, "size,price\n1,2\n2,4\n").unwrap();
/// let data = Dataset::read(&path)?.target("price")?;
/// assert_eq!(data.targets(), ["price"]);
/// assert!(Dataset::read(&path)?.target("prize").is_err());
/// # Ok::<(), inducing::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dataset {
    name: String,
    origin: Origin,
    targets: Vec<String>,
    /// A target that stands in another file.
    target_column: Option<(String, Column)>,
    /// Bytes that a table may take in memory.
    memory: Option<u64>,
    /// Who reads its files.
    processes: Arc<dyn Collective>,
    /// Where the rows of a larger table are, of which a sample is loaded.
    streamed: OnceLock<Streamed>,
    loaded: OnceLock<(Loaded, Vec<Notice>)>,
}

/// Where the rows are.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    Table { source: Source, options: ReadOptions },
    Images { source: ImageSource, options: ImageOptions },
    Graphs { source: GraphSource },
    Memory,
}

/// Rows in memory.
#[derive(Debug, Clone)]
pub(crate) enum Loaded {
    Table(Arc<Table>),
    Images(Arc<ImageSet>),
    Graphs(Arc<GraphSet>),
    Custom(Arc<Custom>),
}

/// Inputs of a custom encoder, with what is known of them.
#[derive(Debug, Clone)]
pub(crate) struct Custom {
    pub(crate) inputs: Inputs,
    pub(crate) labels: Option<Labels>,
    pub(crate) shape: Option<CustomShape>,
    pub(crate) factory: Option<EncoderFactory>,
}

/// How to find and read a data set; the default suits most.
///
/// ```no_run
/// use inducing::DatasetReader;
/// let reader = DatasetReader { data_dir: Some("sets".into()), ..DatasetReader::default() };
/// let data = reader.read("mnist")?;
/// # Ok::<(), inducing::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct DatasetReader {
    /// Where named sets are; by default the environment variable `IGN_DATA` says so.
    pub data_dir: Option<PathBuf>,
    /// Delimiter, format, cells that mean "missing" and types of columns.
    pub table: ReadOptions,
    /// The size that images are brought to.
    pub image_size: Option<ImageSize>,
    /// Leave images out that cannot be read.
    pub skip_unreadable: bool,
    /// Which part of a set that has parts; by default the training part.
    pub part: Option<DatasetPart>,
}

impl DatasetReader {
    /// Recognises what a name stands for: a table (`-` is standard input), a folder of images, graphs, or a named set.
    pub fn read(&self, name: impl AsRef<Path>) -> Result<Dataset, Error> {
        let name = name.as_ref().to_string_lossy().into_owned();
        self.read_all(std::slice::from_ref(&name))
    }

    /// Graphs, whatever the name looks like: `-` and JSON lines may be graphs or tables.
    pub fn read_graphs(&self, name: &str) -> Result<Dataset, Error> {
        let data_dir = data::data_dir(self.data_dir.as_deref());
        let origin = Origin::Graphs { source: GraphSource::given(name, data_dir.as_deref())? };
        let (name, targets, loaded) = (name.to_owned(), Vec::new(), OnceLock::new());
        Ok(Dataset { targets, loaded, ..Dataset::of(name, origin) })
    }

    /// The same for several names, which may be files of images.
    pub fn read_all(&self, names: &[String]) -> Result<Dataset, Error> {
        let data_dir = data::data_dir(self.data_dir.as_deref());
        let part = self.part.unwrap_or(DatasetPart::Train);
        let mut targets = Vec::new();
        let origin = if let Some(source) = ImageSource::recognise(names, data_dir.as_deref())? {
            let (size, skip_unreadable) = (self.image_size, self.skip_unreadable);
            Origin::Images {
                source,
                options: ImageOptions { size, skip_unreadable, part, ..ImageOptions::default() },
            }
        } else if let Some(source) = GraphSource::recognise(names, data_dir.as_deref())? {
            Origin::Graphs { source }
        } else {
            let named = NamedTable::recognise(names, data_dir.as_deref())?;
            let mut options = self.table.clone();
            let source = match &named {
                Some(named) => {
                    for (column, kind) in named.column_types() {
                        options.column_types.entry(column).or_insert(kind);
                    }
                    targets.push(named.target().to_owned());
                    match &named.sources(part)?[..] {
                        [source] => source.clone(),
                        _ => return Err(Error::inputs("one part of the set", "both of its parts")),
                    }
                }
                None => match names {
                    [name] => match Shards::recognise(name)? {
                        Some(shards) => Source::Shards(shards),
                        None => Source::new(name),
                    },
                    several => {
                        return Err(Error::inputs("one table", format!("{} names", several.len())));
                    }
                },
            };
            Origin::Table { source, options }
        };
        Ok(Dataset { targets, ..Dataset::of(names.join(", "), origin) })
    }
}

impl Dataset {
    /// Recognises what a name stands for: a table (`-` is standard input), a folder of images, graphs, or a named set.
    pub fn read(name: impl AsRef<Path>) -> Result<Self, Error> {
        DatasetReader::default().read(name)
    }

    /// Rows that another program holds as Arrow record batches. As from a file, types are found in the values to learn from
    /// them, and are those that a model expects to predict them.
    pub fn from_batches(batches: data::Batches, options: ReadOptions) -> Self {
        let name = batches.name().to_owned();
        let origin = Origin::Table { source: Source::Batches(batches), options };
        Self::of(name, origin)
    }

    fn of(name: String, origin: Origin) -> Self {
        let (streamed, loaded) = (OnceLock::new(), OnceLock::new());
        let (targets, target_column, memory, processes) = (Vec::new(), None, None, Arc::new(Alone));
        Self { name, origin, targets, target_column, memory, processes, streamed, loaded }
    }

    /// Rows of a table in memory.
    pub fn from_table(table: Table) -> Self {
        let name = table.file().to_owned();
        Self::in_memory(name, Loaded::Table(Arc::new(table)))
    }

    /// Images in memory.
    pub fn from_images(images: ImageSet) -> Self {
        Self::in_memory(images.origin.clone(), Loaded::Images(Arc::new(images)))
    }

    pub(crate) fn from_shared_images(images: Arc<ImageSet>) -> Self {
        Self::in_memory(images.origin.clone(), Loaded::Images(images))
    }

    pub(crate) fn from_shared_table(table: Arc<Table>) -> Self {
        Self::in_memory(table.file().to_owned(), Loaded::Table(table))
    }

    /// Graphs in memory.
    pub fn from_graphs(graphs: GraphSet) -> Self {
        Self::in_memory("graphs".into(), Loaded::Graphs(Arc::new(graphs)))
    }

    /// Inputs that a custom encoder of that shape reads, and what is known of each: what to learn from.
    pub fn custom<E: CustomEncoder>(
        inputs: impl Any + Send + Sync,
        labels: Labels,
        target: impl Into<String>,
        shape: &E::Shape,
    ) -> Result<Self, Error> {
        let shape = CustomShape::new::<E>(shape)
            .map_err(|reason| Error::inputs("a shape that can be built", reason))?;
        let inputs = Inputs::custom(inputs, labels.rows());
        let (shape, factory) = (Some(shape), Some(EncoderFactory::new::<E>()));
        let custom = Custom { inputs, labels: Some(labels), shape, factory };
        let mut data = Self::in_memory("custom inputs".into(), Loaded::Custom(Arc::new(custom)));
        data.targets = vec![target.into()];
        Ok(data)
    }

    /// Inputs that a custom encoder reads, to be predicted.
    pub fn custom_inputs(inputs: impl Any + Send + Sync, rows: usize) -> Self {
        let inputs = Inputs::custom(inputs, rows);
        let custom = Custom { inputs, labels: None, shape: None, factory: None };
        Self::in_memory("custom inputs".into(), Loaded::Custom(Arc::new(custom)))
    }

    fn in_memory(name: String, rows: Loaded) -> Self {
        let loaded = OnceLock::from((rows, Vec::new()));
        Self { loaded, ..Self::of(name, Origin::Memory) }
    }

    /// Says which column of a table is to be predicted. Reads the table; an error where there is no such column.
    pub fn target(self, name: impl Into<String>) -> Result<Self, Error> {
        self.with_targets(&[name.into()])
    }

    /// Says which columns of a table are to be predicted, all of them numbers if there are several.
    pub fn with_targets(mut self, names: &[String]) -> Result<Self, Error> {
        self.targets = names.to_vec();
        if let Loaded::Table(table) = self.load()? {
            for name in names {
                table.column(name)?;
            }
        }
        Ok(self)
    }

    /// Holds no more of a table in memory than these bytes, about. Of a larger one a sample of the rows is loaded, from which schema,
    /// calibration, neighbours and scores come, and networks read all other rows from the files, epoch by epoch. What is
    /// learned from a table that fits is the same as without a limit.
    #[must_use]
    pub fn within_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Reads the files of a table together with other processes: each scans some of them, and all find the same. The least memory that one of
    /// them gives decides for all. Every process must do so, and read the rows.
    #[must_use]
    pub fn shared_by(mut self, processes: Arc<dyn Collective>) -> Self {
        self.processes = processes;
        self
    }

    /// Rows of a table of which a sample is in memory.
    pub(crate) fn streamed(&self) -> Option<&Streamed> {
        self.streamed.get()
    }

    /// Reads cells and columns of a table as a configuration says, such as its types and missing values.
    #[must_use]
    pub fn with_config(mut self, config: &DataConfig) -> Self {
        if let Origin::Table { options, .. } = &mut self.origin {
            *options = config.read_options(options);
            self.loaded = OnceLock::new();
        }
        self
    }

    /// Takes the target from a column that was read from another file, such as a `.npy` file.
    #[must_use]
    pub fn with_target_column(mut self, name: &str, column: Column) -> Self {
        self.targets = vec![name.to_owned()];
        self.target_column = Some((name.to_owned(), column));
        self
    }

    pub(crate) fn target_column(&self) -> Option<&Column> {
        self.target_column.as_ref().map(|(_, column)| column)
    }

    /// The columns to predict.
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    /// What it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the user should know of the files, once they were read.
    pub fn notices(&self) -> &[Notice] {
        self.loaded.get().map_or(&[], |(_, notices)| notices)
    }

    /// The table, if it is one that was read.
    pub fn table(&self) -> Option<&Table> {
        match self.loaded()? {
            Loaded::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The graphs, if they were read.
    pub fn graphs(&self) -> Option<&GraphSet> {
        match self.loaded()? {
            Loaded::Graphs(graphs) => Some(graphs),
            _ => None,
        }
    }

    /// Reads the rows into memory, if that was not done yet.
    pub fn read_rows(&self) -> Result<(), Error> {
        self.load().map(|_| ())
    }

    /// What it is, for error messages.
    pub(crate) fn describe(&self) -> &'static str {
        match (&self.origin, self.loaded()) {
            (Origin::Table { .. }, _) | (_, Some(Loaded::Table(_))) => "a table",
            (Origin::Images { .. }, _) | (_, Some(Loaded::Images(_))) => "images",
            (Origin::Graphs { .. }, _) | (_, Some(Loaded::Graphs(_))) => "graphs",
            (Origin::Memory, _) => "custom inputs",
        }
    }

    /// The rows if they are in memory.
    pub(crate) fn loaded(&self) -> Option<&Loaded> {
        self.loaded.get().map(|(loaded, _)| loaded)
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The rows, read whole if they were not yet.
    pub(crate) fn load(&self) -> Result<&Loaded, Error> {
        if self.loaded.get().is_none() {
            // If another thread was faster, its rows are the same.
            let _ = self.loaded.set(self.read_whole()?);
        }
        Ok(&self.loaded.get().expect("just read").0)
    }

    /// What the process with the least memory gives.
    fn least_memory(&self) -> Result<Option<u64>, Error> {
        if self.processes.size() == 1 {
            return Ok(self.memory);
        }
        let own = self.memory.unwrap_or(u64::MAX).to_le_bytes();
        let all = self.processes.gather(&own)?;
        let limit = |bytes: &Vec<u8>| bytes.first_chunk().copied().map_or(0, u64::from_le_bytes);
        Ok(all.iter().map(limit).min())
    }

    fn read_whole(&self) -> Result<(Loaded, Vec<Notice>), Error> {
        Ok(match &self.origin {
            Origin::Table { source, options } => {
                let (mut options, mut notices) = (options.clone(), Vec::new());
                // Labels as they are spelled: `yes` is not to come back as `true`.
                if self.target_column.is_none() {
                    options.keep_spelling.extend(self.targets.iter().cloned());
                }
                let limit = match self.target_column.is_none() && source.is_files() {
                    true => self.least_memory()?,
                    false => None,
                };
                let mut table = match limit {
                    None => data::read_table(source, &options)?,
                    Some(limit) => {
                        let target = match &self.targets[..] {
                            [target] => Some(target.as_str()),
                            _ => None,
                        };
                        let (table, streamed) =
                            Streamed::read(source, &options, limit, target, self.processes.as_ref())?;
                        // If another thread was faster, what it found is the same.
                        if let Some(streamed) = streamed {
                            notices
                                .push(Notice::SampleInMemory { rows: streamed.rows(), sample: table.rows() });
                            drop(self.streamed.set(streamed));
                        }
                        table
                    }
                };
                if let Some((name, column)) = &self.target_column {
                    table = table.with_column(name, column.clone())?;
                }
                (Loaded::Table(Arc::new(table)), notices)
            }
            Origin::Images { source, options } => {
                let (set, notices) = data::read_images(source, options, None)?;
                (Loaded::Images(Arc::new(set)), notices)
            }
            Origin::Graphs { source } => {
                let (set, notices) = data::read_graphs(source, true)?;
                (Loaded::Graphs(Arc::new(set)), notices)
            }
            Origin::Memory => unreachable!("rows in memory are loaded"),
        })
    }
}

impl Loaded {
    /// What kind of problem it is, and what the user should know of how that was found.
    pub(crate) fn problem(
        &self,
        targets: &[String],
        task: Option<Task>,
    ) -> Result<(ProblemKind, Option<Notice>), Error> {
        let table = match self {
            Self::Table(table) => table,
            Self::Images(_) => return Ok((ProblemKind::Images, None)),
            Self::Graphs(_) => return Ok((ProblemKind::Graphs, None)),
            Self::Custom(custom) => {
                let classes = matches!(custom.labels, Some(Labels::Classes { .. }));
                return Ok((
                    if classes { ProblemKind::CustomClassification } else { ProblemKind::CustomRegression },
                    None,
                ));
            }
        };
        let (task, notice) = match task {
            Some(task) => (task, None),
            None => data::recognise_task(table, targets)?,
        };
        let is_text =
            |(name, column): (&String, &Column)| matches!(column, Column::Text(_)) && !targets.contains(name);
        let texts = table.names().iter().zip(table.columns()).any(is_text);
        let kind = match (task, texts) {
            (Task::Regression, false) => ProblemKind::Regression,
            (Task::Classification, false) => ProblemKind::Classification,
            (Task::Regression, true) => ProblemKind::TextRegression,
            (Task::Classification, true) => ProblemKind::TextClassification,
        };
        Ok((kind, notice))
    }
}
