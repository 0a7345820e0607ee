//! Rows as bytes between processes of one version, exact to the last bit.

use std::sync::Arc;

use super::chosen::{Chosen, RowKey};
use super::rows::Rows;
use crate::error::Place;
use crate::table::line_numbers::LineNumbers;
use crate::table::{Column, Table};

const NO_CODE: u32 = u32::MAX;
const NO_TEXT: u64 = u64::MAX;

/// Appends rows, whose columns and files have names that the reader knows.
pub(super) fn write_rows(rows: &mut Rows, to: &mut Vec<u8>) {
    put(to, rows.keys.len() as u64);
    for key in &rows.keys {
        put(to, key.file as u64);
        put(to, key.row as u64);
    }
    if rows.keys.is_empty() {
        return;
    }
    let Some(table) = rows.table() else { return };
    for row in 0..table.rows() {
        let (is_line, number) = match table.lines.place(row) {
            Place::Line(line) => (1, line),
            Place::Row(row) => (0, row),
        };
        to.push(is_line);
        put(to, number);
    }
    table.columns().iter().for_each(|column| write_column(column, to));
}

fn write_column(column: &Column, to: &mut Vec<u8>) {
    match column {
        Column::Number(values) => {
            to.push(0);
            values.iter().for_each(|value| put(to, value.to_bits()));
        }
        Column::Boolean(values) => {
            to.push(1);
            to.extend(values.iter().map(|value| value.map_or(2, u8::from)));
        }
        Column::Category { codes, levels } => {
            to.push(2);
            codes.iter().for_each(|code| to.extend(code.unwrap_or(NO_CODE).to_le_bytes()));
            put(to, levels.len() as u64);
            levels.iter().for_each(|level| put_text(to, Some(level)));
        }
        Column::Text(texts) => {
            to.push(3);
            texts.iter().for_each(|text| put_text(to, text.as_deref()));
        }
        Column::DateTime(values) => {
            to.push(4);
            for value in values {
                to.push(u8::from(value.is_some()));
                to.extend(value.unwrap_or(0).to_le_bytes());
            }
        }
    }
}

fn put(to: &mut Vec<u8>, number: u64) {
    to.extend(number.to_le_bytes());
}

fn put_text(to: &mut Vec<u8>, text: Option<&str>) {
    put(to, text.map_or(NO_TEXT, |text| text.len() as u64));
    to.extend(text.unwrap_or_default().as_bytes());
}

/// What is left of a message.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// Rows of a table with columns of these names, as [`write_rows`] wrote them; nothing if it did not.
    pub(super) fn rows(&mut self, names: &[String], files: &[Arc<str>], chosen: &Chosen) -> Option<Rows> {
        let count = self.count(16)?;
        let mut keys: Vec<RowKey> = Vec::with_capacity(count);
        for _ in 0..count {
            let (file, row) = (usize::try_from(self.number()?).ok()?, usize::try_from(self.number()?).ok()?);
            keys.push(chosen.key(file, row));
        }
        let mut lines = LineNumbers::Files(Vec::new());
        for (row, key) in keys.iter().enumerate() {
            let is_line = self.byte()? == 1;
            let number = self.number()?;
            let place = if is_line { Place::Line(number) } else { Place::Row(number) };
            lines.push_place(row, files.get(key.file)?, place);
        }
        if count == 0 {
            return Some(Rows::default());
        }
        let columns = names.iter().map(|_| self.column(count)).collect::<Option<Vec<Column>>>()?;
        let table = Table::from_file(files.first()?.clone(), names.to_vec(), columns, count, lines);
        Some(Rows::of(table, keys))
    }

    fn column(&mut self, rows: usize) -> Option<Column> {
        Some(match self.byte()? {
            0 => Column::Number((0..rows).map(|_| self.number().map(f64::from_bits)).collect::<Option<_>>()?),
            1 => {
                let value = |byte: &u8| (*byte < 2).then_some(*byte == 1);
                Column::Boolean(self.take(rows)?.iter().map(value).collect())
            }
            2 => {
                let code = |_| Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?));
                let codes = (0..rows).map(code).collect::<Option<Vec<u32>>>()?;
                let levels = (0..self.count(8)?).map(|_| self.text()?).collect::<Option<Vec<String>>>()?;
                if codes.iter().any(|code| *code != NO_CODE && *code as usize >= levels.len()) {
                    return None;
                }
                let codes = codes.into_iter().map(|code| (code != NO_CODE).then_some(code)).collect();
                Column::Category { codes, levels }
            }
            3 => Column::Text((0..rows).map(|_| self.text()).collect::<Option<_>>()?),
            4 => {
                let value = |_| {
                    let is_there = self.byte()? == 1;
                    let micros = self.number()?.cast_signed();
                    Some(is_there.then_some(micros))
                };
                Column::DateTime((0..rows).map(value).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }

    /// A number of things of so many bytes at least, which has to fit.
    fn count(&mut self, bytes: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.0.len() / bytes).then_some(count)
    }

    fn text(&mut self) -> Option<Option<String>> {
        let length = self.number()?;
        if length == NO_TEXT {
            return Some(None);
        }
        let bytes = self.take(usize::try_from(length).ok()?)?;
        Some(Some(String::from_utf8(bytes.to_vec()).ok()?))
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}
