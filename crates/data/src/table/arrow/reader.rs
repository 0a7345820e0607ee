//! Record batches into column sinks.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Field;

use super::batches::{BatchIter, Batches};
use super::cells::ArrayCells;
use crate::error::{DataError, Place, Problem};
use crate::table::cell::MissingValues;
use crate::table::check_distinct;
use crate::table::reader::{ColumnSink, active};

/// A pass over record batches.
pub(crate) struct ArrowReader {
    source: Batches,
    names: Vec<String>,
    batches: BatchIter,
    /// The batch in the middle of being read, and its next row.
    batch: Option<(RecordBatch, usize)>,
    rows: u64,
    cells: ArrayCells,
}

impl ArrowReader {
    pub(crate) fn open(source: Batches, missing: MissingValues) -> Result<Self, DataError> {
        let file: Arc<str> = source.name().into();
        let names: Vec<String> = source.schema().fields().iter().map(|field| field.name().clone()).collect();
        if names.is_empty() {
            return Err(DataError::new(&*file, Problem::Empty));
        }
        check_distinct(&names).map_err(|(column, what)| DataError::new(&*file, what).in_column(column))?;
        let batches = source.iter()?;
        Ok(ArrowReader { source, names, batches, batch: None, rows: 0, cells: ArrayCells { file, missing } })
    }

    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// How a column looks when it is passed through.
    pub(crate) fn field(&self, index: usize) -> Field {
        self.source.schema().field(index).clone().with_nullable(true)
    }

    pub(crate) fn read(&mut self, limit: usize, sinks: &mut [ColumnSink]) -> Result<usize, DataError> {
        let (active, mut rows) = (active(sinks), 0);
        while rows < limit {
            let (batch, first) = match self.batch.take() {
                Some(begun) => begun,
                None => match self.batches.next() {
                    None => break,
                    Some(Err(error)) => return Err(self.source.broken(&error)),
                    Some(Ok(batch)) => (batch, 0),
                },
            };
            let count = (batch.num_rows() - first).min(limit - rows);
            for &index in &active {
                // Fewer columns than its schema promises: another program's mistake.
                let column = batch.columns().get(index).ok_or_else(|| {
                    let message = format!(
                        "a batch has {} columns instead of {}",
                        batch.num_columns(),
                        self.names.len()
                    );
                    DataError::new(self.source.name(), Problem::BrokenArrow { message })
                })?;
                let place = Place::Row(self.rows + 1);
                self.cells.push(&column.slice(first, count), &self.names[index], place, &mut sinks[index])?;
            }
            rows += count;
            self.rows += count as u64;
            if first + count < batch.num_rows() {
                self.batch = Some((batch, first + count));
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::types::{Int8Type, Int32Type};
    use arrow_array::{
        ArrayRef, BooleanArray, DictionaryArray, Float32Array, Int8Array, LargeStringArray, NullArray,
        RecordBatch, RecordBatchIterator, StringViewArray, TimestampSecondArray, UInt16Array,
    };

    use crate::{Batches, Column, ColumnType, ReadOptions, Source, read_blocks, read_columns, read_table};

    fn source(columns: Vec<(&str, ArrayRef)>) -> Source {
        let batch = RecordBatch::try_from_iter(columns).expect("equal lengths");
        Source::Batches(Batches::new("frame", batch.schema(), vec![batch]))
    }

    #[test]
    fn every_type_of_array_becomes_the_column_that_a_person_would_expect() {
        let dictionary: DictionaryArray<Int8Type> = vec![Some("b"), None, Some("a")].into_iter().collect();
        let source = source(vec![
            ("small", Arc::new(Int8Array::from(vec![Some(-1), None, Some(2)]))),
            ("count", Arc::new(UInt16Array::from(vec![1, 2, 3]))),
            ("float", Arc::new(Float32Array::from(vec![0.5, f32::NAN, 1.5]))),
            ("large", Arc::new(LargeStringArray::from(vec!["x", "NA", "y"]))),
            ("view", Arc::new(StringViewArray::from(vec!["x", "a longer text than fits into a view", "y"]))),
            ("dictionary", Arc::new(dictionary)),
            ("truth", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
            ("when", Arc::new(TimestampSecondArray::from(vec![0, 1, 2]))),
            ("nothing", Arc::new(NullArray::new(3))),
        ]);
        let table = read_table(&source, &ReadOptions::default()).expect("readable");
        let texts = |name: &str| {
            let column = table.column(name).expect("there");
            (0..3).map(|row| column.text(row)).collect::<Vec<_>>()
        };
        assert_eq!(texts("small"), ["-1", "", "2"]);
        assert_eq!(texts("count"), ["1", "2", "3"]);
        assert_eq!(texts("float"), ["0.5", "", "1.5"]);
        assert_eq!(texts("large"), ["x", "", "y"]);
        assert_eq!(texts("view"), ["x", "a longer text than fits into a view", "y"]);
        assert_eq!(texts("dictionary"), ["b", "", "a"]);
        assert_eq!(
            table.column("truth").expect("there"),
            &Column::Boolean(vec![Some(true), None, Some(false)])
        );
        assert_eq!(
            table.column("when").expect("there"),
            &Column::DateTime(vec![Some(0), Some(1_000_000), Some(2_000_000)])
        );
        assert_eq!(texts("nothing"), ["", "", ""]);
    }

    #[test]
    fn whole_numbers_keep_all_digits_as_categories() {
        let dictionary: DictionaryArray<Int32Type> = vec!["z"].into_iter().collect();
        let id = 9_007_199_254_740_993_i64; // no f64
        let source = source(vec![
            ("id", Arc::new(arrow_array::Int64Array::from(vec![id]))),
            ("d", Arc::new(dictionary)),
        ]);
        let columns = [("id".to_owned(), ColumnType::Category), ("d".to_owned(), ColumnType::Text)];
        let table = read_columns(&source, &ReadOptions::default(), &columns).expect("readable");
        assert_eq!(table.columns()[0].text(0), id.to_string());
        assert_eq!(table.columns()[1], Column::Text(vec![Some("z".into())]));
    }

    #[test]
    fn a_stream_is_read_once_in_blocks_across_its_batches() {
        let batch = |from: u16| {
            let array: ArrayRef = Arc::new(UInt16Array::from_iter_values(from..from + 5));
            RecordBatch::try_from_iter([("x", array)])
        };
        let batches = [batch(0), batch(5), batch(10)];
        let schema = batch(0).expect("a batch").schema();
        let source = Source::Batches(Batches::stream("pipe", RecordBatchIterator::new(batches, schema)));
        let columns = [("x".to_owned(), ColumnType::Number)];
        let keep = ["x".to_owned()];
        let blocks = read_blocks(&source, &ReadOptions::default(), &columns, &keep, 7).expect("readable");
        let sizes: Vec<usize> = blocks.map(|block| block.expect("sound").passthrough.num_rows()).collect();
        assert_eq!(sizes, [7, 7, 1]);
        let again = read_blocks(&source, &ReadOptions::default(), &columns, &keep, 7).err().expect("spent");
        assert!(again.to_string().contains("was read already"), "{again}");
    }

    #[test]
    fn a_frame_that_is_no_table_is_refused_with_its_column() {
        let list = arrow_array::ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]);
        let error =
            read_table(&source(vec![("l", Arc::new(list))]), &ReadOptions::default()).expect_err("lists");
        assert!(error.to_string().starts_with("frame: column `l`"), "{error}");
        let twice: ArrayRef = Arc::new(UInt16Array::from(vec![1]));
        let schema = arrow_schema::Schema::new(vec![
            arrow_schema::Field::new("a", twice.data_type().clone(), true),
            arrow_schema::Field::new("a", twice.data_type().clone(), true),
        ]);
        let batch =
            RecordBatch::try_new(Arc::new(schema), vec![twice.clone(), twice]).expect("arrow allows it");
        let batches = Batches::new("frame", batch.schema(), vec![batch]);
        assert!(read_table(&Source::Batches(batches), &ReadOptions::default()).is_err());
        let infinite = source(vec![("x", Arc::new(Float32Array::from(vec![1.0, f32::INFINITY])))]);
        let error = read_table(&infinite, &ReadOptions::default()).err();
        assert!(error.is_none_or(|error| error.to_string().starts_with("frame: row 2: column `x`")));
    }
}
