//! Coverage and accuracy in parts of the rows: by familiarity, and in slices by the value of one input.

use super::chance;
use crate::record::conditional::{CHANCE, FEWEST_ROWS, LEVEL};
use crate::record::*;
use inducing::data::{Encoding, Scale, TableSchema};
use inducing::dataset::Matrix;

/// Where familiarity is cut. In a random sample of rows, bins hold 1, 4, 15, 30 and 50 % of them.
const EDGES: [f64; 6] = [0.0, 0.01, 0.05, 0.2, 0.5, 1.0];
/// Slices of an input, at most.
const SLICES: usize = 10;
/// Inputs whose slices are kept for the page.
const MAX_COLUMNS: usize = 8;

/// Bins of familiarity that are not empty, least familiar first: their range, and the positions of their rows.
pub(super) fn familiarity_bins(familiarity: &[f64]) -> impl Iterator<Item = ([f64; 2], Vec<usize>)> {
    let mut bins = vec![Vec::new(); EDGES.len() - 1];
    for (i, value) in familiarity.iter().enumerate() {
        // What is not a number is not familiar.
        let bin = EDGES[1..EDGES.len() - 1].iter().filter(|edge| value >= *edge).count();
        bins[bin].push(i);
    }
    let ranges = EDGES.windows(2).map(|pair| [pair[0], pair[1]]);
    ranges.zip(bins).filter(|(_, rows)| !rows.is_empty())
}

/// The rows of a table that are evaluated.
pub(super) struct EvaluatedTable<'a> {
    pub(super) schema: &'a TableSchema,
    pub(super) matrix: &'a Matrix,
    /// Rows of `matrix`.
    pub(super) rows: &'a [usize],
}

impl EvaluatedTable<'_> {
    /// Coverage in slices of every number column; `inside` says which rows are inside their interval. `None` where no
    /// column can be cut into slices of enough rows.
    ///
    /// Sorts each column: O(columns · N log N).
    pub(super) fn coverage(&self, inside: &[bool]) -> Option<SlicedCoverage> {
        let columns = self.schema.inputs.iter().zip(self.schema.feature_ranges()).enumerate();
        let mut sliced: Vec<SlicedColumn> = Vec::new();
        for (column, (input, [numeric, indicators])) in columns {
            let Encoding::Number { scale, missing, .. } = &input.encoding else { continue };
            // An indicator of missing values is the last of its column's.
            let missing = missing.then(|| indicators.end - 1);
            let (mut known, mut empty) = (Vec::new(), Vec::new());
            for (&row, &inside) in self.rows.iter().zip(inside) {
                let cells = &self.matrix.x[row * self.matrix.width..][..self.matrix.width];
                let made_up = missing.is_some_and(|at| cells[at] != 0.0)
                    || self.matrix.absent.get(&row).is_some_and(|absent| absent.contains(&column));
                let value = cells[numeric.start];
                match made_up || !value.is_finite() {
                    true => empty.push(inside),
                    false => known.push((value, inside)),
                }
            }
            let mut slices = slices(known, scale);
            if empty.len() >= FEWEST_ROWS {
                slices.push(slice(None, empty.into_iter()));
            }
            if slices.len() > 1 {
                sliced.push(SlicedColumn { name: input.name.clone(), slices });
            }
        }
        summary(sliced)
    }
}

/// Slices of about equal size, in which equal values stay together; those of too few rows are left out.
fn slices(mut rows: Vec<(f32, bool)>, scale: &Scale) -> Vec<CoverageSlice> {
    let (n, count) = (rows.len(), (rows.len() / FEWEST_ROWS).min(SLICES));
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Equal values belong to the slice of the first of them.
    let mut first = 0;
    let slice_of: Vec<usize> = (0..n)
        .map(|rank| {
            if rows[rank].0 != rows[first].0 {
                first = rank;
            }
            first * count / n
        })
        .collect();
    let mut start = 0;
    let parts = slice_of.chunk_by(|a, b| a == b).map(|part| {
        start += part.len();
        &rows[start - part.len()..start]
    });
    let slice = |part: &[(f32, bool)]| {
        let range = [part[0].0, part[part.len() - 1].0].map(|scaled| in_units(scaled, scale));
        slice(Some(range), part.iter().map(|(_, inside)| *inside))
    };
    parts.filter(|part| part.len() >= FEWEST_ROWS).map(slice).collect()
}

fn slice(range: Option<[f64; 2]>, inside: impl ExactSizeIterator<Item = bool>) -> CoverageSlice {
    let rows = inside.len();
    let coverage = inside.filter(|inside| *inside).count() as f64 / rows as f64;
    CoverageSlice { range, rows, coverage }
}

/// A value in the column's units, to the digits that 32 bits have left of it: otherwise 0 would read 5×10⁻⁹.
fn in_units(scaled: f32, scale: &Scale) -> f64 {
    let value = scale.invert(scaled);
    let precision = (scale.invert(scaled.next_up()) - scale.invert(scaled.next_down())).abs();
    // A whole number for all but huge values, and then the result is the decimal that it stands for.
    let per_unit = 10_f64.powf(-precision.log10().ceil());
    let rounded = (value * per_unit).round() / per_unit;
    if rounded.is_finite() { rounded } else { value }
}

fn summary(mut columns: Vec<SlicedColumn>) -> Option<SlicedCoverage> {
    if columns.is_empty() {
        return None;
    }
    let all: Vec<&CoverageSlice> = columns.iter().flat_map(|column| &column.slices).collect();
    let sizes: Vec<usize> = all.iter().map(|slice| slice.rows).collect();
    let by_chance = chance::Deviations::new(&sizes, 1.0 - LEVEL);
    let (inputs, slices) = (columns.len(), all.len());
    let deviating = all.iter().filter(|slice| slice.deviation().abs() > CHANCE).count();
    let largest = all.iter().map(|slice| (slice.coverage - LEVEL).abs()).fold(0.0, f64::max);
    let worst_of =
        |column: &SlicedColumn| column.slices.iter().map(|slice| slice.deviation().abs()).fold(0.0, f64::max);
    columns.sort_by(|a, b| worst_of(b).total_cmp(&worst_of(a)));
    columns.truncate(MAX_COLUMNS);
    Some(SlicedCoverage {
        inputs,
        slices,
        deviating,
        deviating_by_chance: by_chance.beyond(CHANCE),
        largest,
        largest_by_chance: by_chance.largest(),
        worst: columns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use inducing::data::{Column, EncodeOptions, Encoded, Table, Task};

    /// 400 rows: `size` counts them and is missing in every tenth, `kind` is a category, `flat` the same but for one row.
    fn table() -> (TableSchema, Matrix) {
        let size = |i: usize| if i.is_multiple_of(10) { f64::NAN } else { i as f64 };
        let kind = Column::Category {
            codes: (0..400).map(|i| Some(i % 2)).collect(),
            levels: vec!["a".into(), "b".into()],
        };
        let numbers = |f: &dyn Fn(usize) -> f64| Column::Number((0..400).map(f).collect());
        let columns = vec![
            ("size".into(), numbers(&size)),
            ("kind".into(), kind),
            ("flat".into(), numbers(&|i| f64::from(u8::from(i == 7)))),
            ("age".into(), numbers(&|i| (399 - i) as f64 / 4.0)),
            ("price".into(), numbers(&|i| i as f64)),
        ];
        let table = Table::new("memory", columns).expect("a table");
        let rows: Vec<usize> = (0..400).collect();
        let (schema, _) = TableSchema::fit(
            &table,
            &["price".to_owned()],
            Some(Task::Regression),
            &rows,
            &EncodeOptions::default(),
        )
        .expect("a schema");
        let Encoded { x, width, texts, absent, .. } = schema.encode(&table, None).expect("a matrix");
        (schema, Matrix { x, width, texts, absent })
    }

    #[test]
    fn slices_of_a_table_count_the_rows_whose_value_is_known() {
        let (schema, mut matrix) = table();
        // Of these rows the age was made up.
        (0..40).for_each(|row| drop(matrix.absent.insert(row, vec![3])));
        let rows: Vec<usize> = (0..400).rev().collect();
        // Outside are rows 0 to 39 of the table, the last of the evaluated ones.
        let inside: Vec<bool> = rows.iter().map(|&row| row >= 40).collect();
        let evaluated = EvaluatedTable { schema: &schema, matrix: &matrix, rows: &rows };
        let sliced = evaluated.coverage(&inside).expect("two columns");
        let names: Vec<&str> = sliced.worst.iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["age", "size"], "a category has no order, and one odd row is no slice");
        assert_eq!((sliced.inputs, sliced.slices), (2, 22));
        for SlicedColumn { slices, .. } in &sliced.worst {
            let rows: Vec<usize> = slices.iter().map(|slice| slice.rows).collect();
            assert_eq!(rows, [[36; 10].as_slice(), &[40]].concat());
        }
        let [age, size] = &sliced.worst[..] else { panic!("two columns") };
        assert_eq!(size.slices[0], CoverageSlice { range: Some([1.0, 39.0]), rows: 36, coverage: 0.0 });
        // Every tenth size is empty, and with it four of the 40 rows outside.
        assert_eq!(size.slices[10], CoverageSlice { range: None, rows: 40, coverage: 0.9 });
        assert_eq!(age.slices[10], CoverageSlice { range: None, rows: 40, coverage: 0.0 });
        assert_eq!(sliced.largest, LEVEL);
        // All others are inside: 100 % of 36 rows is no more than chance.
        assert_eq!(sliced.deviating, 2);
        assert!(sliced.deviating_by_chance < 2.0 && (0.05..0.2).contains(&sliced.largest_by_chance));
    }

    #[test]
    fn few_rows_are_not_sliced() {
        let (schema, matrix) = table();
        for n in [1, 39] {
            let rows: Vec<usize> = (0..n).collect();
            let evaluated = EvaluatedTable { schema: &schema, matrix: &matrix, rows: &rows };
            assert_eq!(evaluated.coverage(&vec![true; n]), None);
        }
    }

    #[test]
    fn every_row_is_in_one_bin_of_familiarity_and_nan_is_the_least_familiar() {
        let familiarity = [0.0, 0.0099, 0.01, 0.05, 0.19, 0.2, 0.5, 1.0, f64::NAN];
        let bins: Vec<_> = familiarity_bins(&familiarity).collect();
        let expected = [
            ([0.0, 0.01], vec![0, 1, 8]),
            ([0.01, 0.05], vec![2]),
            ([0.05, 0.2], vec![3, 4]),
            ([0.2, 0.5], vec![5]),
            ([0.5, 1.0], vec![6, 7]),
        ];
        assert_eq!(bins, expected);
        assert_eq!(familiarity_bins(&[0.3; 4]).collect::<Vec<_>>(), [([0.2, 0.5], vec![0, 1, 2, 3])]);
        assert_eq!(familiarity_bins(&[]).count(), 0);
    }

    #[test]
    fn slices_hold_every_row_once_in_order() {
        let rows = |n: usize| (0..n).rev().map(|i| (i as f32, i >= n / 10)).collect::<Vec<_>>();
        let scale = Scale::Standard { mean: 100.0, std: 2.0 };
        let cut = slices(rows(1000), &scale);
        assert_eq!(cut.iter().map(|slice| slice.rows).collect::<Vec<_>>(), [100; 10]);
        assert_eq!(cut[0], CoverageSlice { range: Some([100.0, 298.0]), rows: 100, coverage: 0.0 });
        assert_eq!(cut[9], CoverageSlice { range: Some([1900.0, 2098.0]), rows: 100, coverage: 1.0 });
        assert_eq!(slices(rows(70), &scale).len(), 3, "no slice of fewer than 20 rows");
        for few in [0, 1, 19] {
            assert!(slices(rows(few), &scale).len() < 2, "{few} rows");
        }
    }

    #[test]
    fn values_have_the_digits_that_32_bits_leave_them() {
        let scale = Scale::Standard { mean: 1234.567, std: 321.09 };
        assert_eq!([0.0, 17.0, -0.25].map(|x| in_units(scale.apply(x), &scale)), [0.0, 17.0, -0.25]);
        for x in [1e30, -1e30, 1e-30, 0.0] {
            let back = in_units(Scale::None.apply(x), &Scale::None);
            assert!((back - x).abs() <= 1e-6 * x.abs(), "{x} became {back}");
        }
    }

    #[test]
    fn equal_values_stay_together_and_slices_of_few_rows_are_left_out() {
        let mut rows = vec![(0.0, true); 340];
        rows.extend((0..150).map(|i| (1.0 + i as f32, true)));
        rows.extend([(1e6, false); 10]);
        let cut = slices(rows, &Scale::None);
        // Of ten slices of 50 rows, the zeros fill six and most of the seventh, and leave 10 rows of it.
        assert_eq!(cut.iter().map(|slice| slice.rows).collect::<Vec<_>>(), [340, 50, 50, 50]);
        assert_eq!((cut[0].range, cut[1].range), (Some([0.0, 0.0]), Some([11.0, 60.0])));
        assert_eq!(cut[3].coverage, 0.8);
        let constant = slices(vec![(5.0, true); 400], &Scale::None);
        assert_eq!(constant.len(), 1);
    }
}
