//! Gradients of one step from several lanes, summed over processes in an order that does not depend on their number.
//!
//! Lanes are the leaves of a binary tree. A process sums the whole subtrees that it owns, then each process gets the same stretch of
//! all subtrees' sums, goes on to the root, and sends its stretch to all: as many bytes as a ring's all-reduce moves, two messages to each
//! process, and the same association of floating-point sums whoever owns a leaf.

use super::collective::Collective;
use crate::error::Error;
use linalg::threads::both;
use std::ops::Range;

/// The lanes of a step, and the processes that share them.
#[derive(Clone, Copy)]
pub(crate) struct Team<'a> {
    pub(crate) lanes: usize,
    pub(crate) processes: &'a dyn Collective,
}

impl Team<'_> {
    /// Whether a step is one batch of one process: nothing is to be summed.
    pub(crate) fn is_trivial(&self) -> bool {
        self.lanes == 1 && self.is_alone()
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.processes.size() == 1
    }

    /// Lanes of this process.
    pub(crate) fn own(&self) -> Range<usize> {
        self.lanes_of(self.processes.rank())
    }

    fn lanes_of(&self, rank: usize) -> Range<usize> {
        let size = self.processes.size();
        rank * self.lanes / size..(rank + 1) * self.lanes / size
    }

    /// The sum of what `leaf` says of this process's lanes and of what it says elsewhere of all others: `len` numbers, the same
    /// everywhere. A process whose leaf fails must still call [`Team::sum`] with it, or the others wait.
    pub(crate) fn sum(
        &self,
        len: usize,
        threads: usize,
        leaf: &(impl Fn(usize) -> Vec<f32> + Sync),
    ) -> Result<Vec<f32>, Error> {
        let own = self.own();
        let mut subtrees = Vec::new();
        whole_subtrees(0..self.lanes, &own, &mut subtrees);
        let at_leaf = |range: &Range<usize>| (range.len() == 1).then(|| leaf(range.start));
        let sums: Vec<Vec<f32>> =
            subtrees.iter().map(|range| sum_of(range.clone(), threads, &at_leaf)).collect();
        if self.is_alone() {
            return Ok(sums.into_iter().next().expect("one process owns the root"));
        }
        let (size, rank) = (self.processes.size(), self.processes.rank());
        let stretch = |rank: usize| rank * len / size..(rank + 1) * len / size;
        // To each process its stretch of all subtrees.
        let mut buffer = Vec::with_capacity(sums.len() * len);
        let mut ends = vec![0];
        for other in 0..size {
            sums.iter().for_each(|sum| buffer.extend_from_slice(&sum[stretch(other)]));
            ends.push(buffer.len());
        }
        let bytes = size_of::<f32>();
        let to: Vec<Range<usize>> = ends.windows(2).map(|ends| ends[0] * bytes..ends[1] * bytes).collect();
        let subtrees_of: Vec<Vec<Range<usize>>> = (0..size)
            .map(|other| {
                let mut subtrees = Vec::new();
                whole_subtrees(0..self.lanes, &self.lanes_of(other), &mut subtrees);
                subtrees
            })
            .collect();
        let mine = stretch(rank).len();
        let from: Vec<usize> = subtrees_of.iter().map(|subtrees| subtrees.len() * mine * bytes).collect();
        let received = self.processes.exchange(bytemuck::cast_slice(&buffer), &to, &from)?;
        let known = |range: &Range<usize>| {
            let owner = subtrees_of.iter().position(|subtrees| subtrees.contains(range))?;
            let at = subtrees_of[owner].iter().position(|subtree| subtree == range)?;
            let numbers = &received[owner][at * mine * bytes..(at + 1) * mine * bytes];
            Some(floats(numbers).collect())
        };
        let root = sum_of(0..self.lanes, 1, &known);
        // To all the stretch that is summed.
        let to = vec![0..mine * bytes; size];
        let from: Vec<usize> = (0..size).map(|other| stretch(other).len() * bytes).collect();
        let stretches = self.processes.exchange(bytemuck::cast_slice(&root), &to, &from)?;
        let mut whole = Vec::with_capacity(len);
        stretches.iter().for_each(|stretch| whole.extend(floats(stretch)));
        Ok(whole)
    }
}

/// Numbers as they were sent.
fn floats(bytes: &[u8]) -> impl ExactSizeIterator<Item = f32> {
    bytes.as_chunks::<4>().0.iter().map(|&four| f32::from_ne_bytes(four))
}

/// Where a subtree parts.
fn halves(range: &Range<usize>) -> [Range<usize>; 2] {
    let middle = range.start + range.len() / 2;
    [range.start..middle, middle..range.end]
}

/// The largest subtrees of `tree` that lie in `own`, from left to right.
fn whole_subtrees(tree: Range<usize>, own: &Range<usize>, found: &mut Vec<Range<usize>>) {
    if own.start <= tree.start && tree.end <= own.end {
        found.push(tree);
    } else if tree.start < own.end && own.start < tree.end {
        halves(&tree).into_iter().for_each(|half| whole_subtrees(half, own, found));
    }
}

/// The sum of a subtree, from what `known` says of parts of it.
fn sum_of(
    tree: Range<usize>,
    threads: usize,
    known: &(impl Fn(&Range<usize>) -> Option<Vec<f32>> + Sync),
) -> Vec<f32> {
    if let Some(sum) = known(&tree) {
        return sum;
    }
    let [left, right] = halves(&tree);
    let more = threads / 2;
    let (mut left, right) =
        both(threads, || sum_of(left, threads - more, known), || sum_of(right, more.max(1), known));
    left.iter_mut().zip(right).for_each(|(a, b)| *a += b);
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::{Alone, on_threads};

    /// Numbers whose sum depends on the order.
    fn leaf(lane: usize) -> Vec<f32> {
        (0..11)
            .map(|i| ((lane * 31 + i * 7) as f32 * 0.37).sin() * 10f32.powi((lane % 5) as i32 - 2))
            .collect()
    }

    #[test]
    fn a_sum_has_the_same_bits_for_any_number_of_processes_and_threads() {
        for lanes in [1, 2, 3, 5, 8, 13] {
            let alone = Team { lanes, processes: &Alone }.sum(11, 1, &leaf).expect("alone");
            let mut plain = vec![0.0_f64; 11];
            for lane in 0..lanes {
                plain.iter_mut().zip(leaf(lane)).for_each(|(sum, x)| *sum += f64::from(x));
            }
            for (a, b) in alone.iter().zip(plain) {
                // Thirteen numbers of at most 100 in single precision.
                assert!((f64::from(*a) - b).abs() < 1e-4, "{a} {b}");
            }
            assert_eq!(Team { lanes, processes: &Alone }.sum(11, 4, &leaf).expect("alone"), alone);
            for size in [2, 3, 4, 7] {
                let sums =
                    on_threads(size, |processes| Team { lanes, processes }.sum(11, 1, &leaf).expect("sums"));
                sums.iter().for_each(|sum| assert_eq!(sum, &alone, "{lanes} lanes, {size} processes"));
            }
        }
    }

    #[test]
    fn every_lane_has_one_owner() {
        for (lanes, size) in [(8, 3), (2, 5), (1, 1), (7, 7)] {
            let owners = on_threads(size, |processes| Team { lanes, processes }.own());
            let all: Vec<usize> = owners.into_iter().flatten().collect();
            assert_eq!(all, (0..lanes).collect::<Vec<_>>());
        }
    }
}
