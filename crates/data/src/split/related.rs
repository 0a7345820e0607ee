//! Parts of rows that belong together or follow each other: no group is in two parts, and no part has rows of a later part's time.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// What relates rows, one entry for every row of the table.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Related {
    /// Nothing: any rows may be parted.
    #[default]
    Nothing,
    /// Rows of a group stay together.
    Groups(Vec<u32>),
    /// Rows of a later time come later.
    Times(Vec<f64>),
    /// Both: groups follow each other by their last time, and earlier rows of a later group are in no part.
    GroupsInTime {
        /// Every row's time.
        times: Vec<f64>,
        /// The last time of every row's group.
        last: Vec<f64>,
    },
}

impl Related {
    /// Rows of these groups and times.
    #[must_use]
    pub fn groups_in_time(groups: &[u32], times: Vec<f64>) -> Self {
        let mut of_group = std::collections::HashMap::new();
        for (group, &time) in groups.iter().zip(&times) {
            let last = of_group.entry(group).or_insert(time);
            *last = f64::max(*last, time);
        }
        Self::GroupsInTime { last: groups.iter().map(|group| of_group[group]).collect(), times }
    }

    /// Whether parts follow each other in time.
    #[must_use]
    pub fn is_time(&self) -> bool {
        matches!(self, Self::Times(_) | Self::GroupsInTime { .. })
    }

    /// Leaves out of a later part what is not later than all rows of an earlier one.
    pub fn keep_later(&self, earlier: &[usize], later: &mut Vec<usize>) {
        if let Self::GroupsInTime { times, .. } = self {
            let end = earlier.iter().map(|&row| times[row]).fold(f64::NEG_INFINITY, f64::max);
            later.retain(|&row| times[row] > end);
        }
    }

    /// Splits `rows` in two, the second about `share` of them: whole groups at random, or the latest rows. Nothing where nothing
    /// relates them.
    #[must_use]
    pub fn split(&self, rows: &[usize], share: f64, seed: u64) -> Option<[Vec<usize>; 2]> {
        let wanted = (share.clamp(0.0, 1.0) * rows.len() as f64 + 1e-9).floor() as usize;
        let blocks = match self {
            Self::Nothing => return None,
            Self::Groups(groups) => {
                let mut blocks = blocks_of(rows, |a, b| groups[a].cmp(&groups[b]));
                blocks.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
                blocks
            }
            Self::Times(times) | Self::GroupsInTime { last: times, .. } => {
                blocks_of(rows, |a, b| times[a].total_cmp(&times[b]))
            }
        };
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for block in blocks.into_iter().rev() {
            // The block that crosses the border goes where more of it belongs; the first part is never empty.
            let over = (second.len() + block.len()).saturating_sub(wanted);
            let stays = wanted == 0 || !first.is_empty() || 2 * over > block.len();
            if stays { &mut first } else { &mut second }.extend(block);
        }
        if first.is_empty() {
            std::mem::swap(&mut first, &mut second);
        }
        first.sort_unstable();
        second.sort_unstable();
        self.keep_later(&first, &mut second);
        Some([first, second])
    }

    /// Which of `folds` parts each of `rows` is in: whole groups at random, or stretches of time. Nothing where nothing relates
    /// them. There are fewer parts where there are fewer groups or times.
    #[must_use]
    pub fn folds(&self, rows: &[usize], folds: usize, seed: u64) -> Option<Vec<usize>> {
        let mut sizes = vec![0; folds.max(1)];
        let mut fold_of = std::collections::HashMap::new();
        match self {
            Self::Nothing => return None,
            Self::Groups(groups) => {
                let mut blocks = blocks_of(rows, |a, b| groups[a].cmp(&groups[b]));
                blocks.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
                blocks.sort_by_key(|block| std::cmp::Reverse(block.len())); // stable: random among equals
                for block in blocks {
                    let fold = (0..sizes.len()).min_by_key(|&fold| sizes[fold]).unwrap_or(0);
                    sizes[fold] += block.len();
                    fold_of.extend(block.into_iter().map(|row| (row, fold)));
                }
            }
            Self::Times(times) | Self::GroupsInTime { last: times, .. } => {
                let mut before = 0;
                for block in blocks_of(rows, |a, b| times[a].total_cmp(&times[b])) {
                    let fold = (before + block.len() / 2) * sizes.len() / rows.len().max(1);
                    before += block.len();
                    fold_of.extend(block.into_iter().map(|row| (row, fold)));
                }
            }
        }
        Some(rows.iter().map(|row| fold_of[row]).collect())
    }
}

/// Rows in order, equal ones together.
fn blocks_of(rows: &[usize], order: impl Fn(usize, usize) -> std::cmp::Ordering) -> Vec<Vec<usize>> {
    let mut sorted = rows.to_vec();
    sorted.sort_by(|&a, &b| order(a, b).then(a.cmp(&b)));
    sorted.chunk_by(|&a, &b| order(a, b).is_eq()).map(<[usize]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_group_is_in_two_parts(groups in prop::collection::vec(0_u32..12, 1..80), share in 0.0..0.9, seed in 0_u64..9) {
            let rows: Vec<usize> = (0..groups.len()).collect();
            let related = Related::Groups(groups.clone());
            let [first, second] = related.split(&rows, share, seed).expect("rows are related");
            prop_assert!(!first.is_empty());
            prop_assert_eq!(first.len() + second.len(), rows.len());
            prop_assert!(first.iter().all(|&a| second.iter().all(|&b| groups[a] != groups[b])));
            let folds = related.folds(&rows, 4, seed).expect("rows are related");
            prop_assert!(rows.iter().all(|&a| rows.iter().all(|&b| groups[a] != groups[b] || folds[a] == folds[b])));
        }

        #[test]
        fn no_later_row_is_in_an_earlier_part(times in prop::collection::vec(0_i32..30, 1..80), share in 0.0..0.9) {
            let times: Vec<f64> = times.into_iter().map(f64::from).collect();
            let rows: Vec<usize> = (0..times.len()).collect();
            let related = Related::Times(times.clone());
            let [first, second] = related.split(&rows, share, 0).expect("rows are related");
            prop_assert!(!first.is_empty());
            prop_assert_eq!(first.len() + second.len(), rows.len());
            prop_assert!(first.iter().all(|&a| second.iter().all(|&b| times[a] < times[b])));
            let folds = related.folds(&rows, 4, 0).expect("rows are related");
            prop_assert!(rows.iter().all(|&a| rows.iter().all(|&b| times[a] > times[b] || folds[a] <= folds[b])));
        }
    }

    proptest! {
        #[test]
        fn groups_in_time_share_neither_groups_nor_times(
            rows in prop::collection::vec((0_u32..12, 0_i32..30), 1..80), share in 0.0..0.9,
        ) {
            let (groups, times): (Vec<u32>, Vec<f64>) = rows.into_iter().map(|(g, t)| (g, f64::from(t))).unzip();
            let rows: Vec<usize> = (0..groups.len()).collect();
            let related = Related::groups_in_time(&groups, times.clone());
            let [first, second] = related.split(&rows, share, 0).expect("rows are related");
            prop_assert!(!first.is_empty());
            prop_assert!(first.iter().all(|&a| second.iter().all(|&b| times[a] < times[b] && groups[a] != groups[b])));
            let folds = related.folds(&rows, 4, 0).expect("rows are related");
            prop_assert!(rows.iter().all(|&a| rows.iter().all(|&b| groups[a] != groups[b] || folds[a] == folds[b])));
        }
    }

    #[test]
    fn earlier_rows_of_a_later_group_are_in_no_part() {
        // Group 0 ends at 3, group 1 at 9; its row at time 2 was before that.
        let related = Related::groups_in_time(&[0, 0, 1, 1, 1], vec![1.0, 3.0, 2.0, 8.0, 9.0]);
        let rows: Vec<usize> = (0..5).collect();
        assert_eq!(related.split(&rows, 0.6, 0), Some([vec![0, 1], vec![3, 4]]));
    }

    #[test]
    fn parts_have_about_the_size_that_was_asked_for() {
        let rows: Vec<usize> = (0..1000).collect();
        let groups = Related::Groups((0..1000).map(|i| i / 7).collect());
        let [first, second] = groups.split(&rows, 0.2, 3).expect("rows are related");
        assert!((193..=207).contains(&second.len()), "{} {}", first.len(), second.len());
        let times = Related::Times((0..1000).map(f64::from).collect());
        assert_eq!(times.split(&rows, 0.1, 0).expect("rows are related")[1], (900..1000).collect::<Vec<_>>());
        let folds = times.folds(&rows, 4, 0).expect("rows are related");
        assert_eq!(folds.iter().filter(|&&fold| fold == 2).count(), 250);
        assert_eq!(Related::Nothing.split(&rows, 0.1, 0), None);
    }
}
