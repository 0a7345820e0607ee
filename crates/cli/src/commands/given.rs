//! What a user names as input: a table, pictures or graphs, by path, name or pipe.

use super::{Failure, Reading};
use data::{
    Column, ColumnType, GraphSet, GraphSource, ImageOptions, ImageSet, ImageSize, ImageSource, NamedSet,
    NamedTable, Notice, Part, Source, Table, read_graphs, read_images,
};
use ign::{Config, Prepared};
use std::path::{Path, PathBuf};

/// Flags that say what an input is and where.
#[derive(clap::Args, Clone)]
pub(crate) struct GivenArgs {
    /// Size that pictures are brought to, for example 32x32 [default: their own where it is the
    /// same for all and at most 256, else the most frequent one, at most 64 on the longer side]
    #[arg(long, value_name = "HxW")]
    image_size: Option<ImageSize>,
    /// Leave pictures out that cannot be read, and count them
    #[arg(long)]
    skip_unreadable: bool,
    /// Where named sets are [default: the environment variable IGN_DATA]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

/// What an input is.
pub(crate) enum Given {
    /// A table, perhaps a public one.
    Table(Option<NamedTable>),
    /// Pictures.
    Images(ImageSource),
    /// Graphs.
    Graphs(GraphSource),
}

/// Inputs with what is known of them, in memory.
pub(crate) enum Known {
    Table(Table),
    Images(ImageSet),
    Graphs(GraphSet),
}

impl Known {
    /// Splits and encodes.
    pub(crate) fn prepare(&self, config: &Config) -> Result<Prepared, ign::Error> {
        match self {
            Self::Table(table) => Prepared::new(table, config),
            Self::Images(set) => Prepared::images(set.clone(), config),
            Self::Graphs(set) => Prepared::graphs(set.clone(), config),
        }
    }
}

impl GivenArgs {
    /// What the user means.
    pub(crate) fn recognise(&self, inputs: &[String]) -> Result<Given, Failure> {
        let data_dir = self.data_dir();
        if let Some(source) = ImageSource::recognise(inputs, data_dir.as_deref())? {
            return Ok(Given::Images(source));
        }
        if let Some(source) = GraphSource::recognise(inputs, data_dir.as_deref())? {
            return Ok(Given::Graphs(source));
        }
        Ok(Given::Table(NamedTable::recognise(inputs, data_dir.as_deref())?))
    }

    /// Refuses flags for pictures where there are none.
    pub(crate) fn without_pictures(&self, input: &str) -> Result<(), Failure> {
        let flags =
            [("--image-size", self.image_size.is_some()), ("--skip-unreadable", self.skip_unreadable)];
        match flags.into_iter().find(|(_, given)| *given && is_there(input)) {
            Some((flag, _)) => Err(Failure::Usage(format!(
                "`{flag}` is for pictures, and {input} holds none\nhint: leave it out"
            ))),
            None => Ok(()),
        }
    }

    fn data_dir(&self) -> Option<PathBuf> {
        data::data_dir(self.data_dir.as_deref())
    }

    /// Pictures, as a model or nobody asks for them.
    pub(crate) fn images(
        &self,
        source: &ImageSource,
        base: ImageOptions,
    ) -> Result<(ImageSet, Vec<Notice>), Failure> {
        let options = ImageOptions {
            size: self.image_size.or(base.size),
            skip_unreadable: self.skip_unreadable || base.skip_unreadable,
            ..base
        };
        Ok(read_images(source, &options, None)?)
    }

    /// The part that `--part` names, refused where an input has no parts; else the test part.
    pub(crate) fn part(&self, name: Option<&str>, input: &str) -> Result<Part, Failure> {
        let part = match name {
            None => return Ok(Part::Test),
            Some("train") => Part::Train,
            Some("all") => return Ok(Part::All),
            Some(_) => Part::Test,
        };
        match self.recognise(&[input.to_owned()])? {
            Given::Table(None) | Given::Graphs(_) if is_there(input) => Err(Failure::Usage(format!(
                "`--part` is for sets with parts of their own, and {input} has none\nhint: leave it out"
            ))),
            _ => Ok(part),
        }
    }

    /// The graphs of this name, where nothing but graphs is expected.
    pub(crate) fn graphs(&self, input: &str, labelled: bool) -> Result<(GraphSet, Vec<Notice>), Failure> {
        let table = |path: &Path| data::Format::from_path(path).is_some_and(|f| f != data::Format::JsonLines);
        match self.recognise(&[input.to_owned()])? {
            Given::Images(_) => return Err(wrong_kind(input, "pictures", "graphs")),
            Given::Table(Some(_)) => return Err(wrong_kind(input, "a table", "graphs")),
            Given::Table(None) if table(Path::new(input)) => {
                return Err(wrong_kind(input, "a table", "graphs"));
            }
            _ => {}
        }
        self.without_pictures(input)?;
        Ok(read_graphs(&GraphSource::given(input, self.data_dir().as_deref())?, labelled)?)
    }

    /// The tables of this name, where nothing but a table is expected.
    pub(crate) fn tables(&self, input: &str, part: Part) -> Result<Vec<Source>, Failure> {
        let named = match self.recognise(&[input.to_owned()])? {
            Given::Images(_) => return Err(wrong_kind(input, "pictures", "rows of a table")),
            Given::Graphs(_) => return Err(wrong_kind(input, "graphs", "rows of a table")),
            Given::Table(named) => named,
        };
        self.without_pictures(input)?;
        match named {
            Some(named) => Ok(named.sources(part)?),
            None => Ok(vec![Source::new(input)]),
        }
    }
}

/// Whether an input can be read at all; one that is not there is told of where it is read.
fn is_there(input: &str) -> bool {
    input == "-" || Path::new(input).exists() || NamedSet::from_name(input).is_some()
}

fn wrong_kind(input: &str, found: &str, expected: &str) -> Failure {
    Failure::Usage(format!("{input} holds {found}, and the model reads {expected}\nhint: name {expected}"))
}

/// The table to learn from; a target that is a `.npy` file joins it as a column of the file's name.
pub(crate) fn read_table(source: &Source, reading: &Reading, config: &mut Config) -> Result<Table, Failure> {
    let options = reading.options(config);
    let mut table = data::read_table(source, &options)?;
    if let ([target], Source::Path(_)) = (&config.data.target[..], source)
        && !options.column_types.contains_key(target)
        && let Ok(Column::Boolean(_)) = table.column(target)
    {
        // Once more, for labels as they are spelled: `yes` is not to come back as `true`.
        let mut spelled = options;
        spelled.column_types.insert(target.clone(), ColumnType::Category);
        table = data::read_table(source, &spelled).unwrap_or(table);
    }
    for target in &mut config.data.target {
        if is_npy(target) {
            let (name, column) = data::read_npy_column(Path::new(target))?;
            table = table.with_column(&name, column)?;
            *target = name;
        }
    }
    Ok(table)
}

/// Whether a target is named by a file instead of a column.
pub(crate) fn is_npy(target: &str) -> bool {
    target.ends_with(".npy") && Path::new(target).is_file()
}
