//! One value over the steps of a run, thinned so that any run costs the same to keep and to draw.

/// Most points of a curve, which is then thinned to half: a chart has about as many columns, and means of batches are
/// smoother.
const MOST_POINTS: usize = 200;
/// Larger numbers count as infinite: their differences overflow.
const LARGEST: f64 = 1e100;
/// Positive values with a larger ratio of maximum to minimum get a logarithmic axis.
const LOGARITHMIC: f64 = 30.0;

/// Values over steps; where there were too many, means of neighbours.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    points: Vec<(f64, f64)>,
    /// How many values each point averages.
    stride: usize,
    /// Sums of the values that do not make a point yet, and their number.
    pending: (f64, f64, usize),
    last: Option<f64>,
    least: f64,
    most: f64,
}

impl Default for Curve {
    fn default() -> Self {
        Self {
            points: Vec::new(),
            stride: 1,
            pending: (0.0, 0.0, 0),
            last: None,
            least: f64::INFINITY,
            most: f64::NEG_INFINITY,
        }
    }
}

impl Curve {
    /// Adds a value, unless it is not finite. A repeated step replaces what came after it.
    pub(super) fn push(&mut self, step: usize, y: f64) {
        if y.is_nan() || y.abs() > LARGEST {
            return;
        }
        let x = step as f64;
        if self.points.last().is_some_and(|&(last, _)| last > x) {
            self.points.retain(|&(old, _)| old <= x);
            self.pending = (0.0, 0.0, 0);
        }
        (self.last, self.least, self.most) = (Some(y), self.least.min(y), self.most.max(y));
        let (sum_x, sum_y, count) = self.pending;
        self.pending = (sum_x + x, sum_y + y, count + 1);
        if self.pending.2 == self.stride {
            let (sum_x, sum_y, count) = std::mem::take(&mut self.pending);
            self.points.push((sum_x / count as f64, sum_y / count as f64));
        }
        if self.points.len() > MOST_POINTS {
            self.stride *= 2;
            let mean = |pair: &[(f64, f64)]| {
                let n = pair.len() as f64;
                (pair.iter().map(|p| p.0).sum::<f64>() / n, pair.iter().map(|p| p.1).sum::<f64>() / n)
            };
            self.points = self.points.chunks(2).map(mean).collect();
        }
    }

    /// The latest value, as it was.
    pub(super) fn last(&self) -> Option<f64> {
        self.last
    }

    /// The minimum of all values.
    pub(super) fn least(&self) -> Option<f64> {
        self.last.map(|_| self.least)
    }

    /// The maximum of all values.
    pub(super) fn most(&self) -> Option<f64> {
        self.last.map(|_| self.most)
    }
}

/// Curves scaled to share one chart.
#[derive(Debug, PartialEq)]
pub(super) struct Plot {
    /// Points of each curve; with a logarithmic axis the logarithms of its values.
    pub(super) points: Vec<Vec<(f64, f64)>>,
    /// First and last step, never equal.
    pub(super) x: [f64; 2],
    /// The same for the values.
    pub(super) y: [f64; 2],
    /// Whether the axis of values is logarithmic.
    pub(super) logarithmic: bool,
}

impl Plot {
    /// `None` without points.
    pub(super) fn new(curves: &[&Curve]) -> Option<Self> {
        let mut points: Vec<Vec<(f64, f64)>> = curves.iter().map(|curve| curve.points.clone()).collect();
        let x = range(points.iter().flatten().map(|p| p.0));
        let y = values(&points);
        if x[0] > x[1] {
            return None;
        }
        let all_positive = points.iter().flatten().all(|p| p.1 > 0.0);
        let logarithmic = all_positive && y[1] / y[0] >= LOGARITHMIC;
        if logarithmic {
            points.iter_mut().flatten().for_each(|p| p.1 = p.1.ln());
        }
        let y = if logarithmic { values(&points) } else { y };
        let height = 1e-6 * y[0].abs().max(y[1].abs()).max(1e-6);
        Some(Self { points, x: apart(x, 1.0), y: apart(y, height), logarithmic })
    }

    /// The values at which the axis ends.
    pub(super) fn ends(&self) -> [f64; 2] {
        if self.logarithmic { self.y.map(f64::exp) } else { self.y }
    }
}

/// Minimum and maximum to show. A run starts far from where it ends: its first tenth may leave the frame, or the rest
/// would be a flat line.
fn values(points: &[Vec<(f64, f64)>]) -> [f64; 2] {
    range(points.iter().flat_map(|points| &points[points.len() / 10..]).map(|p| p.1))
}

fn range(values: impl Iterator<Item = f64>) -> [f64; 2] {
    values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
}

/// A range that is wide enough.
fn apart([low, high]: [f64; 2], least: f64) -> [f64; 2] {
    let margin = ((least - (high - low)) / 2.0).max(0.0);
    [low - margin, high + margin]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_history_is_thinned_and_keeps_its_ends_and_extremes() {
        let mut curve = Curve::default();
        for step in 0..100_000 {
            curve.push(step, if step == 70_000 { -5.0 } else { step as f64 });
        }
        let points = &curve.points;
        assert!((MOST_POINTS / 2 - 1..=MOST_POINTS).contains(&points.len()), "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0), "steps increase");
        assert!(points[0].0 < 1e3 && points[points.len() - 1].0 > 99e3, "both ends are there");
        assert_eq!(curve.last(), Some(99_999.0));
        assert_eq!((curve.least(), curve.most()), (Some(-5.0), Some(99_999.0)), "thinning hides no extreme");
    }

    #[test]
    fn values_that_are_not_finite_are_left_out() {
        let mut curve = Curve::default();
        for y in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, 2.0, f64::NAN] {
            curve.push(7, y);
        }
        assert_eq!(curve.points, [(7.0, 2.0)]);
        assert_eq!(curve.last(), Some(2.0));
        assert_eq!(Plot::new(&[&Curve::default()]), None);
    }

    #[test]
    fn repeated_steps_replace_the_old_ones() {
        let mut curve = Curve::default();
        (1..=10).for_each(|step| curve.push(step, 1.0));
        curve.push(4, 2.0);
        curve.push(5, 3.0);
        assert_eq!(curve.points, [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (4.0, 1.0), (4.0, 2.0), (5.0, 3.0)]);
    }

    #[test]
    fn an_axis_has_a_length_even_where_nothing_changes() {
        for y in [0.0, 1.0, -3e99] {
            let mut curve = Curve::default();
            curve.push(3, y);
            let plot = Plot::new(&[&curve]).expect("a point");
            let long = |[low, high]: [f64; 2]| low < high && (high - low).is_finite();
            assert!(long(plot.x) && long(plot.y), "{y}: {plot:?}");
        }
    }

    #[test]
    fn a_bad_beginning_does_not_flatten_the_rest() {
        let mut curve = Curve::default();
        (0..100).for_each(|step| curve.push(step, if step < 3 { 1e6 } else { 1.0 + step as f64 / 100.0 }));
        let plot = Plot::new(&[&curve]).expect("points");
        assert_eq!((plot.x, plot.logarithmic), ([0.0, 99.0], false));
        assert!(plot.y[0] > 1.0 && plot.y[1] < 2.0, "{:?}", plot.y);
    }

    #[test]
    fn positive_values_of_many_magnitudes_have_a_logarithmic_axis() {
        let falling = |sign: f64| {
            let mut curve = Curve::default();
            (0..5).for_each(|step| curve.push(step, sign * 10_f64.powi(-(step as i32))));
            Plot::new(&[&curve]).expect("points")
        };
        let plot = falling(1.0);
        assert!(plot.logarithmic);
        let [low, high] = plot.ends();
        assert!((low / 1e-4 - 1.0).abs() < 1e-12 && (high - 1.0).abs() < 1e-12, "{:?}", plot.ends()); // exp(ln(x)) rounds
        let heights: Vec<f64> = plot.points[0].windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        assert!(heights.iter().all(|h| (h + 10_f64.ln()).abs() < 1e-12), "a straight line: {heights:?}");
        assert!(!falling(-1.0).logarithmic);
    }
}
