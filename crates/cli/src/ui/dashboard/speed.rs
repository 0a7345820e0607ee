//! Recent steps per second, and when the run should end.

use std::collections::VecDeque;
use std::time::Duration;

/// Between two marks.
const APART: Duration = Duration::from_millis(100);
/// Older marks are forgotten, but some are kept where steps are slow.
const WINDOW: Duration = Duration::from_secs(10);
const FEWEST: usize = 5;

/// How many steps were done when.
#[derive(Debug, Clone, Default)]
pub(super) struct Speed {
    marks: VecDeque<(Duration, usize)>,
}

impl Speed {
    /// Notes how many steps are done by now.
    pub(super) fn mark(&mut self, now: Duration, done: usize) {
        if self.marks.back().is_some_and(|&(_, before)| before > done) {
            self.forget(); // steps are repeated
        }
        if self.marks.back().is_none_or(|&(then, _)| now.saturating_sub(then) >= APART) {
            self.marks.push_back((now, done));
        }
        while self.marks.len() > FEWEST
            && self.marks.front().is_some_and(|&(then, _)| now.saturating_sub(then) > WINDOW)
        {
            self.marks.pop_front();
        }
    }

    /// Starts over, for another kind of step.
    pub(super) fn forget(&mut self) {
        self.marks.clear();
    }

    /// Steps per second; `None` before there is something to measure.
    pub(super) fn per_second(&self) -> Option<f64> {
        let (&(from, first), &(to, last)) = self.marks.front().zip(self.marks.back())?;
        let seconds = to.saturating_sub(from).as_secs_f64();
        (seconds > 0.0 && last > first).then(|| (last - first) as f64 / seconds)
    }

    /// Time left at this speed; it counts down between steps too.
    pub(super) fn left(&self, now: Duration, planned: usize) -> Option<Duration> {
        let &(then, done) = self.marks.back()?;
        let seconds = planned.saturating_sub(done) as f64 / self.per_second()?;
        Some(Duration::try_from_secs_f64(seconds).ok()?.saturating_sub(now.saturating_sub(then)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_is_recent_and_the_remaining_time_follows_from_it() {
        let mut speed = Speed::default();
        assert_eq!(speed.per_second(), None);
        let seconds = Duration::from_secs;
        (0..=20).for_each(|t| speed.mark(seconds(t), t as usize));
        (21..=40).for_each(|t| speed.mark(seconds(t), 20 + 4 * (t as usize - 20)));
        assert_eq!(speed.per_second(), Some(4.0), "the slow beginning is forgotten");
        assert_eq!(speed.left(seconds(40), 500), Some(seconds(100)));
        assert_eq!(speed.left(seconds(41), 500), Some(seconds(99)));
        assert_eq!(speed.left(seconds(400), 500), Some(seconds(0)));
    }

    #[test]
    fn repeated_steps_have_no_speed() {
        let mut speed = Speed::default();
        speed.mark(Duration::from_secs(1), 100);
        speed.mark(Duration::from_secs(2), 50);
        assert_eq!(speed.per_second(), None);
        speed.mark(Duration::from_secs(3), 60);
        assert_eq!(speed.per_second(), Some(10.0));
    }
}
