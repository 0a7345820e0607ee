//! Axes: from values to positions, and where the ticks are.

use crate::number_format;

/// Larger values are drawn at the edge, so that no difference overflows.
const LARGEST: f64 = 1e300;

/// One axis.
#[derive(Debug, Clone)]
pub(crate) struct Axis {
    /// Smallest value shown.
    pub(crate) low: f64,
    /// Largest value shown; more than `low`.
    pub(crate) high: f64,
    /// Whether the scale is logarithmic.
    pub(crate) log: bool,
}

/// Value and label of a tick.
pub(crate) type Tick = (f64, String);

impl Axis {
    /// Exactly this range.
    pub(crate) fn exact(low: f64, high: f64) -> Self {
        Self { low, high, log: false }
    }

    /// All finite values with a small margin.
    pub(crate) fn around(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = bounds(values);
        let room = (high - low) * 0.04;
        Self { low: low - room, high: high + room, log: false }
    }

    /// From zero to just above the largest value: for what cannot be negative, so that a small difference looks small.
    pub(crate) fn from_zero(values: impl IntoIterator<Item = f64>) -> Self {
        let (low, high) = bounds(values.into_iter().map(|x| x.max(0.0)).chain([0.0]));
        let high = if low < 0.0 { 1.0 } else { high };
        Self { low: 0.0, high: high * 1.04, log: false }
    }

    /// A logarithmic scale; values that are not positive are left out.
    pub(crate) fn log(values: impl IntoIterator<Item = f64>) -> Self {
        let positive = values.into_iter().filter(|&x| x > 0.0 && x.is_finite());
        let logs = positive.map(|x| x.log10().clamp(-299.0, 299.0));
        let (low, high) = extent(logs).unwrap_or((0.0, 1.0));
        // At least a third of a decade, or noise would look like a trend.
        let room = ((high - low) * 0.06).max((0.35 - (high - low)) / 2.0);
        let clamp = |x: f64| x.clamp(-300.0, 300.0);
        Self { low: 10f64.powf(clamp(low - room)), high: 10f64.powf(clamp(high + room)), log: true }
    }

    /// Position in [0, 1]; `None` for NaN and, on a logarithmic scale, for what is not positive.
    pub(crate) fn position(&self, value: f64) -> Option<f64> {
        if value.is_nan() {
            return None;
        }
        if self.log {
            return (value > 0.0).then(|| {
                let (low, high) = (self.low.log10(), self.high.log10());
                ((value.min(LARGEST).log10() - low) / (high - low)).clamp(0.0, 1.0)
            });
        }
        Some(((value.clamp(-LARGEST, LARGEST) - self.low) / (self.high - self.low)).clamp(0.0, 1.0))
    }

    /// About `wanted` ticks at round values.
    pub(crate) fn ticks(&self, wanted: usize) -> Vec<Tick> {
        if self.log { self.log_ticks(wanted) } else { self.linear_ticks(wanted) }
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<Tick> {
        let step = round_step((self.high - self.low) / wanted.max(1) as f64);
        let first = (self.low / step - 1e-9).ceil();
        (0..=2 * wanted + 2)
            .map(|k| (first + k as f64) * step)
            .take_while(|&x| x <= self.high + step * 1e-9)
            .map(|x| (x, number_format::tick(x, step)))
            .collect()
    }

    fn log_ticks(&self, wanted: usize) -> Vec<Tick> {
        let (low, high) = (self.low.log10(), self.high.log10());
        let decades = high - low;
        if decades < 0.7 {
            return Self { log: false, ..*self }.linear_ticks(wanted.min(3));
        }
        let every = (decades / wanted.max(1) as f64).ceil().max(1.0) as i32;
        let between: &[f64] = if decades < 1.5 { &[1.0, 2.0, 3.0, 5.0] } else { &[1.0] };
        let mut ticks = Vec::new();
        let mut decade = low.floor() as i32;
        while f64::from(decade) <= high {
            if decade.rem_euclid(every) == 0 {
                ticks.extend(between.iter().map(|b| b * 10f64.powi(decade)));
            }
            decade += 1;
        }
        ticks.retain(|&x| x >= self.low * (1.0 - 1e-9) && x <= self.high * (1.0 + 1e-9));
        ticks.into_iter().map(|x| (x, number_format::significant(x, 2))).collect()
    }
}

/// 1, 2 or 5 times a power of ten, near `rough`.
fn round_step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let times = match rough / power {
        t if t < 1.45 => 1.0,
        t if t < 3.3 => 2.0,
        t if t < 7.3 => 5.0,
        _ => 10.0,
    };
    times * power
}

fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|x| x.is_finite())
        .map(|x| x.clamp(-LARGEST, LARGEST))
        .fold(None, |range: Option<(f64, f64)>, x| Some(range.map_or((x, x), |(a, b)| (a.min(x), b.max(x)))))
}

/// Smallest and largest finite value, always apart.
fn bounds(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (low, high) = extent(values.into_iter()).unwrap_or((0.0, 1.0));
    let magnitude = low.abs().max(high.abs());
    if high - low > magnitude * 1e-9 && high - low > 1e-290 {
        return (low, high);
    }
    let middle = low / 2.0 + high / 2.0;
    let half = if magnitude < 1e-280 { 1.0 } else { magnitude * 0.1 };
    (middle - half, middle + half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::exact(-0.3, 10.2);
        let text: Vec<_> = axis.ticks(5).into_iter().map(|(_, text)| text).collect();
        assert_eq!(text, ["0", "2", "4", "6", "8", "10"]);
        assert!(Axis::around([3.0, 4.0]).ticks(5).iter().all(|(x, _)| (2.96..=4.04).contains(x)));
    }

    #[test]
    fn every_range_has_ticks_and_finite_positions() {
        let ranges: [&[f64]; 9] = [
            &[],
            &[f64::NAN, f64::INFINITY],
            &[0.0],
            &[1e300, -1e300],
            &[f64::MAX, f64::MIN],
            &[1e-300, 2e-300],
            &[5e-324],
            &[1e15, 1e15 + 0.125],
            &[-7.0, -7.0],
        ];
        for values in ranges {
            for axis in [
                Axis::around(values.iter().copied()),
                Axis::from_zero(values.iter().copied()),
                Axis::log(values.iter().copied()),
            ] {
                let ticks = axis.ticks(5);
                assert!((1..30).contains(&ticks.len()), "{axis:?}: {ticks:?}");
                assert!(axis.low < axis.high, "{axis:?}");
                for &value in values {
                    assert!(
                        axis.position(value).is_none_or(|p| (0.0..=1.0).contains(&p)),
                        "{axis:?} {value}"
                    );
                }
            }
        }
    }

    #[test]
    fn decades_are_ticks_of_a_wide_log_axis() {
        let text: Vec<_> = Axis::log([0.01, 100.0]).ticks(5).into_iter().map(|(_, text)| text).collect();
        assert_eq!(text, ["0.01", "0.1", "1", "10", "100"]);
    }
}
