//! The values that a column is moved over, and a table in which it has each of them.

use super::DependenceGrid;
use crate::dataset::Matrix;
use crate::explain::importance::select;
use data::Encoding;
use std::collections::BTreeMap;
use std::ops::Range;

/// Values of the grid, at most.
const VALUES: usize = 20;
/// Share of the rows beyond either end of a grid of numbers: one wild cell must not stretch it.
const BEYOND: f64 = 0.01;

/// One column of an encoded table.
pub(super) struct GridColumn<'a> {
    /// Its place among the inputs.
    pub(super) at: usize,
    pub(super) encoding: &'a Encoding,
    /// Its numeric features and its indicators.
    pub(super) ranges: &'a [Range<usize>; 2],
}

/// The cells of a column at one value: numeric features, then indicators.
type Cells = Vec<f32>;

impl GridColumn<'_> {
    /// The values and the cells that stand for them; `None` for a column without two values that can be set.
    pub(super) fn grid(&self, matrix: &Matrix, rows: &[usize]) -> Option<(DependenceGrid, Vec<Cells>)> {
        match self.encoding {
            Encoding::Number { .. } => self.numbers(matrix, rows),
            Encoding::Boolean { .. } | Encoding::Category { .. } => self.levels(matrix, rows),
            Encoding::DateTime { .. } | Encoding::Text { .. } | Encoding::MissingOnly { .. } => None,
        }
    }

    /// The sample once for each value, which all of its rows are set to.
    pub(super) fn set(&self, matrix: &Matrix, sample: &[usize], cells: &[Cells]) -> Matrix {
        let rows = sample.repeat(cells.len());
        let mut set = select(matrix, &rows);
        for (i, row) in set.x.chunks_exact_mut(matrix.width).enumerate() {
            let (numeric, indicators) = cells[i / sample.len()].split_at(self.ranges[0].len());
            row[self.ranges[0].clone()].copy_from_slice(numeric);
            row[self.ranges[1].clone()].copy_from_slice(indicators);
        }
        set
    }

    fn cells(&self, matrix: &Matrix, row: usize) -> Cells {
        let own = |range: &Range<usize>| &matrix.x[row * matrix.width..][range.clone()];
        [own(&self.ranges[0]), own(&self.ranges[1])].concat()
    }

    /// Rows in which the column's value is known.
    fn known<'a>(&'a self, matrix: &'a Matrix, rows: &'a [usize]) -> impl Iterator<Item = usize> + 'a {
        let known = |row: &usize| !matrix.absent.get(row).is_some_and(|absent| absent.contains(&self.at));
        rows.iter().copied().filter(known)
    }

    /// All values where there are few, otherwise equal steps between far quantiles.
    fn numbers(&self, matrix: &Matrix, rows: &[usize]) -> Option<(DependenceGrid, Vec<Cells>)> {
        let Encoding::Number { scale, one_hot, missing, .. } = self.encoding else { return None };
        let mut observed: Vec<(f32, Cells)> = self
            .known(matrix, rows)
            .map(|row| self.cells(matrix, row))
            .filter(|cells| !(*missing && cells.last().is_some_and(|missing| *missing != 0.0)))
            .map(|cells| (cells[0], cells))
            .filter(|(value, _)| value.is_finite())
            .collect();
        observed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |share: f64| {
            let last = observed.len().checked_sub(1)?;
            Some(scale.invert(observed[(share * last as f64).round() as usize].0))
        };
        let deciles: Vec<f64> = (0..=10).map(|k| at(f64::from(k) / 10.0)).collect::<Option<_>>()?;
        let (low, high) = (at(BEYOND)?, at(1.0 - BEYOND)?);
        observed.dedup_by(|a, b| a.0 == b.0);
        // Indicators of single values contradict a number between them.
        if observed.len() <= VALUES || !one_hot.is_empty() || low >= high {
            let every = observed.len().div_ceil(VALUES).max(1);
            let kept: Vec<(f32, Cells)> = observed.into_iter().step_by(every).collect();
            let values = kept.iter().map(|(value, _)| scale.invert(*value)).collect();
            let cells: Vec<Cells> = kept.into_iter().map(|(_, cells)| cells).collect();
            return (cells.len() > 1).then_some((DependenceGrid::Numbers { values, deciles }, cells));
        }
        let step = (high - low) / (VALUES - 1) as f64;
        let values: Vec<f64> = (0..VALUES).map(|k| low + step * k as f64).collect();
        let cells = |value: &f64| {
            let mut cells = vec![0.0; self.ranges[0].len() + self.ranges[1].len()];
            cells[0] = scale.apply(*value);
            cells
        };
        let cells = values.iter().map(cells).collect();
        Some((DependenceGrid::Numbers { values, deciles }, cells))
    }

    /// Observed values, the most frequent first.
    fn levels(&self, matrix: &Matrix, rows: &[usize]) -> Option<(DependenceGrid, Vec<Cells>)> {
        let mut counts: BTreeMap<Vec<u32>, (usize, Cells)> = BTreeMap::new();
        for row in self.known(matrix, rows) {
            let cells = self.cells(matrix, row);
            let key = cells.iter().map(|cell| cell.to_bits()).collect();
            counts.entry(key).or_insert((0, cells)).0 += 1;
        }
        let all: usize = counts.values().map(|(count, _)| count).sum();
        let mut levels: Vec<(usize, Cells)> = counts.into_values().collect();
        levels.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        levels.truncate(VALUES);
        let names = levels.iter().map(|(_, cells)| self.level(cells)).collect();
        let shares = levels.iter().map(|(count, _)| *count as f64 / all as f64).collect();
        let cells: Vec<Cells> = levels.into_iter().map(|(_, cells)| cells).collect();
        (cells.len() > 1).then_some((DependenceGrid::Levels { names, shares }, cells))
    }

    /// The value that indicators stand for.
    fn level(&self, cells: &[f32]) -> String {
        let set = cells.iter().rposition(|cell| *cell != 0.0);
        let last = cells.len().saturating_sub(1);
        match (self.encoding, set) {
            (
                Encoding::Boolean { missing: true, .. } | Encoding::Category { missing: true, .. },
                Some(at),
            ) if at == last => "(missing)".into(),
            (Encoding::Boolean { .. }, set) => if set.is_some() { "true" } else { "false" }.into(),
            (Encoding::Category { levels, .. }, Some(at)) => {
                levels.get(at).cloned().unwrap_or_else(|| "(other)".into())
            }
            _ => "(other)".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Scale;

    fn column<'a>(encoding: &'a Encoding, ranges: &'a [Range<usize>; 2]) -> GridColumn<'a> {
        GridColumn { at: 0, encoding, ranges }
    }

    #[test]
    fn numbers_move_in_equal_steps_and_few_values_are_all_taken() {
        let encoding = Encoding::Number { impute: 0.0, scale: Scale::None, one_hot: vec![], missing: true };
        let ranges = [0..1, 2..3];
        let column = column(&encoding, &ranges);
        // Value, another column, indicator of a missing value: row 0 is missing, row 1 is wild.
        let x = |i: usize| match i {
            0 => [9e9, 7.0, 1.0],
            1 => [1e9, 7.0, 0.0],
            i => [(i - 2) as f32, 7.0, 0.0],
        };
        let mut matrix = Matrix { x: (0..1002).flat_map(x).collect(), width: 3, ..Matrix::default() };
        matrix.absent.insert(2, vec![0]);
        let all: Vec<usize> = (0..1002).collect();
        let (grid, cells) = column.grid(&matrix, &all).expect("many values");
        let DependenceGrid::Numbers { values, deciles } = grid else { panic!("numbers") };
        assert_eq!((values.len(), deciles.len(), cells.len()), (20, 11, 20));
        assert_eq!((values[0], values[19], deciles[0], deciles[10]), (11.0, 990.0, 1.0, 1e9));
        let steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(steps.iter().all(|step| (step - 979.0 / 19.0).abs() < 1e-9), "{steps:?}");
        let set = column.set(&matrix, &[0, 5], &cells);
        assert_eq!(set.x[..6], [11.0, 7.0, 0.0, 11.0, 7.0, 0.0], "the cell is no longer missing");
        assert_eq!(set.x.len(), 3 * 2 * 20);

        let (grid, _) = column.grid(&matrix, &[3, 4, 4, 5]).expect("three values");
        assert!(matches!(grid, DependenceGrid::Numbers { values, .. } if values == [1.0, 2.0, 3.0]));
        for rows in [&[][..], &[0], &[2, 2], &[7, 7, 7]] {
            assert_eq!(column.grid(&matrix, rows), None, "{rows:?}");
        }
    }

    #[test]
    fn levels_are_named_and_the_most_frequent_comes_first() {
        let levels = vec!["red".to_owned(), "blue".into()];
        let encoding = Encoding::Category { levels, other: true, missing: true };
        let ranges = [0..0, 0..4];
        let one = |at: usize| (0..4).map(move |k| f32::from(u8::from(k == at)));
        let x = [1, 1, 0, 1, 2, 3, 0].into_iter().flat_map(one).collect();
        let matrix = Matrix { x, width: 4, ..Matrix::default() };
        let (grid, cells) =
            column(&encoding, &ranges).grid(&matrix, &[0, 1, 2, 3, 4, 5, 6]).expect("four levels");
        let DependenceGrid::Levels { names, shares } = grid else { panic!("levels") };
        assert_eq!(names[..2], ["blue", "red"]);
        assert!(names.contains(&"(other)".to_owned()) && names.contains(&"(missing)".to_owned()));
        assert_eq!((shares[0], cells[0].as_slice()), (3.0 / 7.0, &[0.0, 1.0, 0.0, 0.0][..]));

        let truth = Encoding::Boolean { impute: false, missing: false };
        let matrix = Matrix { x: vec![0.0, 1.0, 1.0], width: 1, ..Matrix::default() };
        let (grid, _) = column(&truth, &[0..0, 0..1]).grid(&matrix, &[0, 1, 2]).expect("two values");
        assert!(matches!(grid, DependenceGrid::Levels { names, .. } if names == ["true", "false"]));
    }
}
