//! Some rows of a batch, in any order.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_data::transform::MutableArrayData;
use arrow_schema::ArrowError;

use crate::error::{DataError, Problem};

/// The rows of `batch` at these positions, in this order, each as often as it is named.
///
/// ```
/// use inducing_data::arrow_array::{Int64Array, RecordBatch, cast::AsArray, types::Int64Type};
/// use inducing_data::take_rows;
/// let batch = RecordBatch::try_from_iter([("id", std::sync::Arc::new(Int64Array::from(vec![7, 8, 9])) as _)])?;
/// let taken = take_rows(&batch, &[2, 0])?;
/// assert_eq!(taken.column(0).as_primitive::<Int64Type>().values(), &[9, 7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the texts of the rows are too long for one array.
///
/// # Panics
/// If a row is beyond the batch.
pub fn take_rows(batch: &RecordBatch, rows: &[usize]) -> Result<RecordBatch, DataError> {
    let taken = || -> Result<RecordBatch, ArrowError> {
        let arrays: Result<Vec<ArrayRef>, ArrowError> =
            batch.columns().iter().map(|c| take(c, rows)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
        RecordBatch::try_new_with_options(Arc::clone(&batch.schema()), arrays?, &options)
    };
    taken().map_err(|error| DataError::new("rows", Problem::Unwritable { message: error.to_string() }))
}

fn take(column: &ArrayRef, rows: &[usize]) -> Result<ArrayRef, ArrowError> {
    let data = column.to_data();
    let mut taken = MutableArrayData::new(vec![&data], false, rows.len());
    for &row in rows {
        taken.try_extend(0, row, row + 1)?;
    }
    Ok(make_array(taken.freeze()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::StringArray;
    use arrow_array::cast::AsArray;
    use arrow_schema::{DataType, Field, Schema};
    use std::collections::HashMap;

    #[test]
    fn rows_come_in_the_order_asked_for_with_their_gaps() {
        let field = Field::new("name", DataType::Utf8, true)
            .with_metadata(HashMap::from([("a".to_owned(), "b".to_owned())]));
        let schema = Arc::new(Schema::new(vec![field]));
        let names: ArrayRef = Arc::new(StringArray::from(vec![Some("x"), None, Some("z")]));
        let batch = RecordBatch::try_new(schema, vec![names]).expect("one column");
        let taken = take_rows(&batch.slice(1, 2), &[1, 0, 1]).expect("short texts");
        let texts: Vec<_> = taken.column(0).as_string::<i32>().iter().collect();
        assert_eq!(texts, [Some("z"), None, Some("z")]);
        assert_eq!(taken.schema(), batch.schema());
    }

    #[test]
    fn a_batch_without_columns_keeps_its_number_of_rows() {
        let options = RecordBatchOptions::new().with_row_count(Some(5));
        let schema = Arc::new(Schema::empty());
        let batch = RecordBatch::try_new_with_options(schema, Vec::new(), &options).expect("no columns");
        assert_eq!(take_rows(&batch, &[4, 0]).expect("nothing to copy").num_rows(), 2);
    }
}
