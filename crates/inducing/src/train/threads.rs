//! Threads in place of processes: a [`Collective`] without a launcher, to try a shared training on one machine.

use super::collective::Collective;
use crate::error::Error;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Barrier, Mutex, PoisonError};

/// Runs `work` on `size` threads that train together, and returns what each says, in the order of their ranks.
///
/// ```
/// use inducing::train::{Collective, on_threads};
/// let heard = on_threads(3, |ranks| ranks.gather(&[ranks.rank() as u8]).expect("nobody left"));
/// assert_eq!(heard[2], [[0], [1], [2]]);
/// ```
///
/// # Panics
/// If `work` panics on one of them while the others do not wait for it.
pub fn on_threads<R: Send>(size: usize, work: impl Fn(&dyn Collective) -> R + Sync) -> Vec<R> {
    let group = Arc::new(Group::new(size));
    std::thread::scope(|scope| {
        let run = |rank| {
            let own = Member { rank, group: Arc::clone(&group) };
            let work = &work;
            scope.spawn(move || work(&own))
        };
        let threads: Vec<_> = (0..size).map(run).collect();
        threads.into_iter().map(|thread| thread.join().expect("no thread panicked")).collect()
    })
}

#[derive(Debug)]
struct Group {
    /// What each member says to each.
    said: Vec<Mutex<Vec<Vec<u8>>>>,
    barrier: Barrier,
    /// Groups that are being made.
    parts: Mutex<BTreeMap<usize, Arc<Group>>>,
}

impl Group {
    fn new(size: usize) -> Self {
        let said = (0..size).map(|_| Mutex::default()).collect();
        Self { said, barrier: Barrier::new(size), parts: Mutex::default() }
    }
}

#[derive(Debug)]
struct Member {
    rank: usize,
    group: Arc<Group>,
}

impl Member {
    /// What `read` makes of all that was said.
    fn share<R>(&self, own: Vec<Vec<u8>>, read: impl Fn(&[Vec<u8>]) -> R) -> Vec<R> {
        let at = |rank: usize| self.group.said[rank].lock().unwrap_or_else(PoisonError::into_inner);
        *at(self.rank) = own;
        self.group.barrier.wait();
        let heard = (0..self.size()).map(|rank| read(&at(rank))).collect();
        self.group.barrier.wait();
        heard
    }
}

impl Collective for Member {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.group.said.len()
    }

    fn gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
        Ok(self.share(vec![bytes.to_vec()], |said| said[0].clone()))
    }

    fn exchange(&self, buffer: &[u8], to: &[Range<usize>], _: &[usize]) -> Result<Vec<Vec<u8>>, Error> {
        let own = to.iter().map(|range| buffer[range.clone()].to_vec()).collect();
        Ok(self.share(own, |said| said[self.rank].clone()))
    }

    fn split(&self, group: usize) -> Result<Box<dyn Collective>, Error> {
        let groups = self.gather(&(group as u64).to_le_bytes())?;
        let same = |bytes: &&Vec<u8>| ***bytes == (group as u64).to_le_bytes();
        let (size, rank) =
            (groups.iter().filter(same).count(), groups[..self.rank].iter().filter(same).count());
        let parts = || self.group.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if rank == 0 {
            parts().insert(group, Arc::new(Group::new(size)));
        }
        self.group.barrier.wait();
        let own = Arc::clone(&parts()[&group]);
        self.group.barrier.wait();
        Ok(Box::new(Member { rank, group: own }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gets_what_was_sent_to_it_in_the_whole_and_in_a_part() {
        let heard = on_threads(5, |all| {
            let odd = all.split(all.rank() % 2).expect("a part");
            let own = [all.rank() as u8, 100 + all.rank() as u8];
            let to = vec![0..1; odd.size()];
            let sent = odd.exchange(&own, &to, &vec![1; odd.size()]).expect("sent");
            (odd.rank(), sent.concat(), all.gather(&own[1..]).expect("gathered").concat())
        });
        assert_eq!(heard[3], (1, vec![1, 3], vec![100, 101, 102, 103, 104]));
        assert_eq!(heard[4], (2, vec![0, 2, 4], vec![100, 101, 102, 103, 104]));
    }
}
