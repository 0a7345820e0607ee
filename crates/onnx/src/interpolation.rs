//! Places in sorted lists, and straight lines between them.

use crate::graph::{Graph, Type, Value};

impl Graph {
    /// How many entries of an increasing list are `Less`, or `LessOrEqual`, than each value: by halving, one look-up a step.
    pub(crate) fn count_below(&mut self, z: Value, list: &[f64], op: &str) -> Value {
        let size = (list.len() + 1).next_power_of_two();
        let mut padded = list.to_vec();
        padded.resize(size, f64::INFINITY);
        let table = self.f64s(&[size], &padded);
        let zero = self.times(z, 0.0);
        // A value that is infinite has no zero.
        let nothing = self.number(z, 0.0);
        let is_number = self.is("Equal", zero, nothing);
        let start = self.choose(is_number, zero, nothing);
        let mut count = self.cast(start, Type::I64);
        let mut step = size / 2;
        while step > 0 {
            let further = self.plus(count, step as f64);
            let entry = self.plus(further, -1.0);
            let entry = self.gather(table, entry, 0);
            let is_beyond = self.is(op, entry, z);
            count = self.choose(is_beyond, further, count);
            step /= 2;
        }
        // An infinite value is beyond the padding too.
        self.at_most(count, list.len() as f64)
    }

    /// Straight lines between increasing knots, constant outside.
    pub(crate) fn between(&mut self, z: Value, knots: &[f64], values: &[f64]) -> Value {
        let (Some(&first), Some(&last)) = (knots.first(), knots.last()) else { return self.number(z, 0.0) };
        if knots.len() == 1 {
            let zero = self.times(z, 0.0);
            return self.plus(zero, values[0]);
        }
        let z = self.clip(z, first, last);
        let above = self.count_below(z, knots, "LessOrEqual");
        let above = self.clip(above, 1.0, (knots.len() - 1) as f64);
        let below = self.plus(above, -1.0);
        let steps = |values: &[f64]| values.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<f64>>();
        let mut pick = |values: &[f64]| {
            let table = self.f64s(&[values.len()], values);
            self.gather(table, below, 0)
        };
        let [knot, run, value, rise] = [pick(knots), pick(&steps(knots)), pick(values), pick(&steps(values))];
        let from = self.sub(z, knot);
        let share = self.div(from, run);
        let risen = self.mul(share, rise);
        self.add(value, risen)
    }
}
