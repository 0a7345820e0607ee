//! What a user names as input: a table, images or graphs, by path, name or pipe.

use super::flags::{InputFlags, TableFlags};
use crate::failure::Failure;
use data::{DatasetPart, Format, GraphSource, ImageSource, NamedSet, NamedTable};
use inducing::{Dataset, DatasetReader};
use std::path::Path;

/// What an input is.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum InputKind {
    Table,
    /// A table that has a name instead of a path.
    NamedTable,
    Images,
    Graphs,
}

impl InputFlags {
    /// What the user means.
    pub(crate) fn recognise(&self, inputs: &[String]) -> Result<InputKind, Failure> {
        let data_dir = self.data_dir();
        if ImageSource::recognise(inputs, data_dir.as_deref())?.is_some() {
            return Ok(InputKind::Images);
        }
        if GraphSource::recognise(inputs, data_dir.as_deref())?.is_some() {
            return Ok(InputKind::Graphs);
        }
        Ok(match NamedTable::recognise(inputs, data_dir.as_deref())? {
            Some(_) => InputKind::NamedTable,
            None => InputKind::Table,
        })
    }

    /// How the library reads it.
    pub(crate) fn reader(&self, table: &TableFlags, part: DatasetPart) -> DatasetReader {
        DatasetReader {
            data_dir: self.data_dir(),
            table: table.options(),
            image_size: self.image_size,
            skip_unreadable: self.skip_unreadable,
            part: Some(part),
        }
    }

    /// Inputs of the kind that a model reads, refused where they are of another.
    pub(crate) fn for_model(
        &self,
        inputs: &[String],
        expected: InputKind,
        table: &TableFlags,
        part: DatasetPart,
    ) -> Result<Dataset, Failure> {
        let (reader, found) = (self.reader(table, part), self.recognise(inputs)?);
        let only = match inputs {
            [input] => Some(input.as_str()),
            _ => None,
        };
        match (expected, only) {
            (InputKind::Images, _) => Ok(reader.read_all(inputs)?),
            (_, None) => Err(Failure::Usage(format!(
                "the model takes one input, and {} were named\nhint: name one",
                inputs.len()
            ))),
            (InputKind::Graphs, Some(input)) => {
                let format = Format::from_path(Path::new(input));
                match found {
                    InputKind::Images => return Err(wrong_kind(input, "images", "graphs")),
                    InputKind::NamedTable => return Err(wrong_kind(input, "a table", "graphs")),
                    InputKind::Table if format.is_some_and(|format| format != Format::JsonLines) => {
                        return Err(wrong_kind(input, "a table", "graphs"));
                    }
                    _ => {}
                }
                self.refuse_image_flags(input)?;
                Ok(reader.read_graphs(input)?)
            }
            (_, Some(input)) => {
                match found {
                    InputKind::Images => return Err(wrong_kind(input, "images", "rows of a table")),
                    InputKind::Graphs => return Err(wrong_kind(input, "graphs", "rows of a table")),
                    _ => {}
                }
                self.refuse_image_flags(input)?;
                let named = NamedTable::recognise(inputs, self.data_dir().as_deref())?;
                let parts = named.map(|named| named.sources(part)).transpose()?;
                if parts.is_some_and(|parts| parts.len() > 1) {
                    return Err(Failure::Usage(format!(
                        "{input} has two parts\nhint: say `--part train` or `--part test`"
                    )));
                }
                Ok(reader.read_all(inputs)?)
            }
        }
    }

    /// Refuses image flags for an input that holds no images.
    pub(crate) fn refuse_image_flags(&self, input: &str) -> Result<(), Failure> {
        let flags =
            [("--image-size", self.image_size.is_some()), ("--skip-unreadable", self.skip_unreadable)];
        match flags.into_iter().find(|(_, set)| *set && is_there(input)) {
            Some((flag, _)) => Err(Failure::Usage(format!(
                "`{flag}` is for images, and {input} holds none\nhint: leave it out"
            ))),
            None => Ok(()),
        }
    }

    /// The part that `--part` names, refused for an input without parts; otherwise the test part.
    pub(crate) fn part(&self, name: Option<&str>, input: &str) -> Result<DatasetPart, Failure> {
        let part = match name {
            None => return Ok(DatasetPart::Test),
            Some("train") => DatasetPart::Train,
            Some("all") => return Ok(DatasetPart::All),
            Some(_) => DatasetPart::Test,
        };
        match self.recognise(&[input.to_owned()])? {
            InputKind::Table | InputKind::Graphs if is_there(input) => Err(Failure::Usage(format!(
                "`--part` is for sets with training and test parts, and {input} has none\nhint: leave it out"
            ))),
            _ => Ok(part),
        }
    }
}

/// Whether an input can be read at all; if not, reading it says so better.
fn is_there(input: &str) -> bool {
    input == "-" || Path::new(input).exists() || NamedSet::from_name(input).is_some()
}

fn wrong_kind(input: &str, found: &str, expected: &str) -> Failure {
    Failure::Usage(format!("{input} holds {found}, and the model reads {expected}\nhint: name {expected}"))
}

/// Whether a target is a file instead of a column.
pub(crate) fn is_npy(target: &str) -> bool {
    target.ends_with(".npy") && Path::new(target).is_file()
}
