//! Rows in blocks of known types, in constant memory: prediction over pipes of any length.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Field, Schema, SchemaRef};

use crate::error::{DataError, Problem};
use crate::io::input::Input;
use crate::io::source::Source;
use crate::table::dates::format::DateFormat;
use crate::table::options::{ColumnType, ReadOptions};
use crate::table::reader::{ColumnSink, Reader};
use crate::table::{Column, Table, no_such_column};

/// Some consecutive rows of a file.
#[derive(Debug, Clone)]
pub struct Block {
    /// The columns that were asked for, typed.
    pub table: Table,
    /// The columns carried along as they were read: text from CSV, JSON values from JSON lines, typed from
    /// Parquet. A [`RowWriter`](crate::RowWriter) gives text the type that it stands for.
    pub passthrough: RecordBatch,
    /// Position of the block's first row in the file, from 0.
    pub first_row: usize,
}

/// Iterator over the blocks of a file; it ends after the first error.
pub struct Blocks {
    file: Arc<str>,
    reader: Reader,
    /// Position in the file, name and type of each column of the table.
    wanted: Vec<(usize, String, ColumnType)>,
    /// Formats of its columns of dates.
    date_formats: Arc<BTreeMap<String, DateFormat>>,
    /// Position in the file of each column carried along.
    passthrough: Vec<usize>,
    passthrough_schema: SchemaRef,
    /// Columns whose type the user gave.
    declared: Arc<BTreeSet<String>>,
    block_rows: usize,
    rows: usize,
    done: bool,
    /// Whether a trained model asks for these columns.
    for_model: bool,
    /// Whether each key of JSON lines has to stand in a row of the first block.
    expects_keys: bool,
}

/// Reads the named columns, matched by name in any order, in blocks of `block_rows`.
///
/// `passthrough` names columns that are carried along unparsed. A file without rows has no blocks. In a JSON-lines
/// file a column counts as there if any row of the first block has it.
///
/// # Errors
/// If the file cannot be read or lacks a column; faults in later rows come out of the iterator.
pub fn read_blocks(
    source: &Source,
    options: &ReadOptions,
    columns: &[(String, ColumnType)],
    passthrough: &[String],
    block_rows: usize,
) -> Result<Blocks, DataError> {
    let blocks = Blocks::open(Input::find(source, false)?, options, columns, passthrough, block_rows);
    blocks.map(|blocks| Blocks { for_model: true, ..blocks }).map_err(DataError::for_model)
}

impl Blocks {
    pub(crate) fn open(
        mut input: Input,
        options: &ReadOptions,
        columns: &[(String, ColumnType)],
        passthrough: &[String],
        block_rows: usize,
    ) -> Result<Self, DataError> {
        let mut reader = Reader::open(&mut input, options)?;
        let mut columns: Vec<_> = columns.iter().filter(|(_, kind)| *kind != ColumnType::Ignore).collect();
        let mut named = std::collections::HashSet::new();
        columns.retain(|(name, _)| named.insert(name));
        let passthrough_only = passthrough.iter().filter(|name| named.insert(name));
        let names: Vec<String> =
            columns.iter().map(|(name, _)| name).chain(passthrough_only).cloned().collect();
        match &mut reader {
            Reader::Json(json) => json.expect_names(&names),
            Reader::Shards(shards) => shards.expect_names(&names),
            _ => {}
        }
        let position: HashMap<&String, usize> =
            reader.names().iter().enumerate().map(|(index, name)| (name, index)).collect();
        let find = |name: &String| {
            position.get(name).copied().ok_or_else(|| {
                DataError::new(input.name.as_ref(), no_such_column(name, reader.names())).in_column(name)
            })
        };
        let wanted = columns
            .into_iter()
            .map(|(name, kind)| Ok((find(name)?, name.clone(), *kind)))
            .collect::<Result<Vec<_>, DataError>>()?;
        let dates = wanted.iter().filter(|(.., kind)| *kind == ColumnType::DateTime);
        let format = |name: &String| Some((name.clone(), options.date_formats.of(name)?.clone()));
        let date_formats = dates.filter_map(|(_, name, _)| format(name)).collect();
        let passthrough = passthrough.iter().map(find).collect::<Result<Vec<_>, DataError>>()?;
        let fields: Vec<Field> =
            passthrough.iter().map(|index| reader.passthrough_field(*index)).collect::<Result<_, _>>()?;
        let passthrough_schema = Arc::new(Schema::new(fields));
        Ok(Blocks {
            file: input.name,
            reader,
            wanted,
            date_formats: Arc::new(date_formats),
            passthrough,
            passthrough_schema,
            declared: Arc::new(options.column_types.keys().cloned().collect()),
            block_rows: block_rows.max(1),
            rows: 0,
            done: false,
            for_model: false,
            expects_keys: true,
        })
    }

    /// The same blocks of a file that is known to be one of a table: a key that it lacks is missing in all of its rows.
    pub(crate) fn of_scanned(self) -> Self {
        Blocks { expects_keys: false, ..self }
    }

    /// The schema of [`Block::passthrough`], known before the first block.
    #[must_use]
    pub fn passthrough_schema(&self) -> SchemaRef {
        Arc::clone(&self.passthrough_schema)
    }

    /// Columns of the file, if it has a header.
    pub(crate) fn file_columns(&self) -> Option<usize> {
        match &self.reader {
            Reader::Json(_) => None,
            _ => Some(self.reader.names().len()),
        }
    }

    fn next_block(&mut self) -> Result<Option<Block>, DataError> {
        let mut sinks: Vec<ColumnSink> = Vec::new();
        sinks.resize_with(self.reader.names().len(), ColumnSink::default);
        for (index, name, kind) in &self.wanted {
            let format = self.date_formats.get(name).cloned().unwrap_or_default();
            sinks[*index] = ColumnSink::building(*kind, format);
        }
        for index in &self.passthrough {
            sinks[*index].passthrough = Some(self.reader.new_passthrough());
        }
        let mut lines = self.reader.line_numbers(self.rows);
        let rows = self.reader.read(self.block_rows, &mut sinks, &mut lines)?;
        self.done = rows < self.block_rows;
        if rows == 0 {
            return Ok(None);
        }
        if let Reader::Json(json) = &self.reader
            && self.rows == 0
            && self.expects_keys
        {
            json.check_all_seen()?;
        }
        let columns: Vec<Column> = self
            .wanted
            .iter()
            .filter_map(|(index, ..)| sinks[*index].build.take())
            .map(|builder| builder.finish())
            .collect();
        let names = self.wanted.iter().map(|(_, name, _)| name.clone()).collect();
        let table = Table::from_file(Arc::clone(&self.file), names, columns, rows, lines)
            .with_declared(Arc::clone(&self.declared))
            .with_date_formats(Arc::clone(&self.date_formats));
        let passthrough = self.passthrough_batch(&mut sinks, rows)?;
        let first_row = self.rows;
        self.rows += rows;
        Ok(Some(Block { table, passthrough, first_row }))
    }

    fn passthrough_batch(&self, sinks: &mut [ColumnSink], rows: usize) -> Result<RecordBatch, DataError> {
        let failed = |problem| DataError::new(self.file.as_ref(), problem);
        let mut finished: HashMap<usize, ArrayRef> = HashMap::new();
        let mut arrays = Vec::with_capacity(self.passthrough.len());
        for (index, field) in self.passthrough.iter().zip(self.passthrough_schema.fields()) {
            if let Some(passthrough) = sinks[*index].passthrough.take() {
                finished.insert(*index, passthrough.finish(field).map_err(failed)?);
            }
            arrays.extend(finished.get(index).cloned());
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.passthrough_schema(), arrays, &options)
            .map_err(|error| failed(Problem::Unwritable { message: error.to_string() }))
    }
}

impl Iterator for Blocks {
    type Item = Result<Block, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let block = self.next_block();
        self.done |= !matches!(block, Ok(Some(_)));
        let for_model = self.for_model;
        block.map_err(|error| if for_model { error.for_model() } else { error }).transpose()
    }
}
