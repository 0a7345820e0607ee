//! Inputs as a model reads them, with what is known of them: what `evaluate`, `report` and `inspect` look at.

use super::given::{Given, GivenArgs, Known, is_npy};
use super::show::Shown;
use super::{Failure, Reading};
use data::{GraphSchema, ImageOptions, ImageSchema, Part, Table, TableSchema, TargetValues, read_columns};
use ign::{Images, Inputs, Model, Observed, Schema};
use report::Side;
use std::path::Path;

/// What is asked for.
pub(crate) struct Asked<'a> {
    pub(crate) model: &'a Model,
    /// The model's file.
    pub(crate) file: &'a Path,
    /// A path or name.
    pub(crate) input: &'a str,
    /// Which part of a named set or of pictures.
    pub(crate) part: Part,
    /// A `.npy` file of targets.
    pub(crate) target: Option<&'a str>,
    pub(crate) truth: Truth,
    pub(crate) given: &'a GivenArgs,
    pub(crate) reading: &'a Reading,
}

/// Whether the truth must be known.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Truth {
    Needed,
    IfThere,
    Ignored,
}

/// Inputs with what is known of them.
pub(crate) struct Judged {
    pub(crate) inputs: Inputs,
    /// What was observed, if the truth was needed.
    pub(crate) observed: Option<Observed>,
    /// For people to look at; pictures are looked at in `inputs`.
    pub(crate) known: Option<Known>,
    /// Rows of the table that `inputs` are made of.
    pub(crate) rows: Option<Vec<usize>>,
    /// What the user should know of tables.
    pub(crate) notes: Vec<String>,
    /// What the user should know of files.
    pub(crate) notices: Vec<data::Notice>,
}

impl Judged {
    /// All rows of the inputs.
    pub(crate) fn all(&self) -> Vec<usize> {
        (0..self.inputs.rows()).collect()
    }

    /// How they look.
    pub(crate) fn show<'a>(&'a self, model: &'a Model) -> Shown<'a> {
        Shown::new(&self.inputs, self.known.as_ref(), &model.header().schema, self.rows.as_deref())
    }

    /// For a page.
    pub(crate) fn side<'a>(&'a self, rows: &'a [usize], show: &'a Shown<'a>, words: &str) -> Side<'a> {
        Side { inputs: &self.inputs, rows, show, words: words.into() }
    }
}

impl Asked<'_> {
    /// Reads and encodes.
    pub(crate) fn read(&self) -> Result<Judged, Failure> {
        match &self.model.header().schema {
            Schema::Table(schema) => self.rows(schema),
            Schema::Images(schema) => self.pictures(schema),
            Schema::Graphs(schema) => self.graphs(schema),
            Schema::Own(_) => unreachable!("loading refuses an encoder from outside"),
        }
    }

    fn rows(&self, schema: &TableSchema) -> Result<Judged, Failure> {
        let table = match self.truth {
            Truth::Needed => self.table(schema, true)?,
            Truth::Ignored => self.table(schema, false)?,
            Truth::IfThere => match self.table(schema, true) {
                // Standard input can be read once.
                Err(_) if self.input != "-" => self.table(schema, false)?,
                table => table?,
            },
        };
        let mut notes = Vec::new();
        let rows = if self.truth == Truth::Needed {
            let (rows, dropped) = data::rows_with_targets(&table, &schema.targets.names())?;
            if dropped > 0 {
                notes.push(format!("{dropped} rows without a target were left out"));
            }
            rows
        } else {
            (0..table.rows()).collect()
        };
        let mut encoded = schema.encode(&table, Some(&rows))?;
        for (column, count) in std::mem::take(&mut encoded.unseen) {
            notes.push(format!(
                "column `{column}`: {count} rows hold a category that was never seen in training"
            ));
        }
        let observed = match self.truth {
            Truth::Needed => Some(match schema.targets(&table, Some(&rows))? {
                TargetValues::Numbers(y) => {
                    let targets = schema.targets.numbers();
                    let restored =
                        y.iter().enumerate().map(|(i, &y)| targets[i % targets.len()].restore(y)).collect();
                    Observed::Numbers(restored)
                }
                TargetValues::Classes(labels) => Observed::Classes(labels.into_iter().flatten().collect()),
            }),
            _ => None,
        };
        let inputs = Inputs::from(encoded);
        let known = Some(Known::Table(table));
        Ok(Judged { inputs, observed, known, rows: Some(rows), notes, notices: Vec::new() })
    }

    fn table(&self, schema: &TableSchema, with_targets: bool) -> Result<Table, Failure> {
        let options = self.reading.options(&self.model.header().config);
        let sources = self.given.tables(self.input, self.part)?;
        let [source] = &sources[..] else {
            return Err(Failure::Usage(format!(
                "{} has two parts\nhint: say `--part train` or `--part test`",
                self.input
            )));
        };
        let targets = schema.targets.columns();
        let (Some(file), [(name, _)]) = (self.target, &targets[..]) else {
            let targets = if with_targets { targets } else { Vec::new() };
            return Ok(read_columns(source, &options, &[schema.columns(), targets].concat())?);
        };
        if !Path::new(file).exists() {
            return Err(Failure::Usage(format!(
                "there is no file {file}\nhint: `--target` names a .npy file of the targets"
            )));
        }
        if !is_npy(file) {
            return Err(Failure::Usage(format!(
                "`--target {file}` is no .npy file\nhint: the targets of {} are the columns that it was trained for",
                self.file.display()
            )));
        }
        let (_, column) = data::read_npy_column(Path::new(file))?;
        Ok(read_columns(source, &options, &schema.columns())?.with_column(name, column)?)
    }

    fn graphs(&self, schema: &GraphSchema) -> Result<Judged, Failure> {
        let read = |labelled: bool| -> Result<_, Failure> {
            let (set, notices) = self.given.graphs(self.input, labelled)?;
            Ok((schema.conform(if labelled { set } else { set.unlabelled() })?, notices))
        };
        let (set, notices) = match self.truth {
            Truth::Needed => read(true)?,
            Truth::Ignored => read(false)?,
            Truth::IfThere => read(true).or_else(|_| read(false))?,
        };
        let labels = set.labels.clone().filter(|_| self.truth == Truth::Needed);
        let known = Some(Known::Graphs(set.clone()));
        let inputs = Inputs::graphs(set, schema)?;
        let observed = labels.map(Observed::Classes);
        Ok(Judged { inputs, observed, known, rows: None, notes: Vec::new(), notices })
    }

    fn pictures(&self, schema: &ImageSchema) -> Result<Judged, Failure> {
        let Given::Images(source) = self.given.recognise(&[self.input.to_owned()])? else {
            return Err(Failure::Usage(format!(
                "{} reads pictures, and {} is none\nhint: name a folder of pictures or a named set",
                self.file.display(),
                self.input
            )));
        };
        let read = |labelled: bool| -> Result<_, Failure> {
            let base = ImageOptions { part: self.part, need_labels: labelled, ..schema.options() };
            let (set, notices) = self.given.images(&source, base)?;
            Ok((schema.conform(if labelled { set } else { set.unlabelled() })?, notices))
        };
        let (set, notices) = match self.truth {
            Truth::Needed => read(true)?,
            Truth::Ignored => read(false)?,
            Truth::IfThere => read(true).or_else(|_| read(false))?,
        };
        let observed = match self.truth {
            Truth::Needed => Some(Observed::Classes(set.labels.clone().unwrap_or_default())),
            _ => None,
        };
        let inputs = Inputs::Images(Images::new(set, schema, false));
        Ok(Judged { inputs, observed, known: None, rows: None, notes: Vec::new(), notices })
    }
}
