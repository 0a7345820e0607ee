//! The normal distribution in 64 bits: ONNX runtimes have an error function of 32 bits alone.
//!
//! ```text
//! Φ(−x) = t·exp(P(2t − 1) − x²/2)      t = 7/(7 + 2x), x ≥ 0
//! ```
//! P interpolates `ln(Φ(−x)·exp(x²/2)/t)` at 19 Chebyshev nodes in t, computed in 50 digits: Φ and its logarithm to a relative 10⁻¹² on
//! the whole line, without a branch that a vector would have to take twice.

use crate::graph::{Graph, Type, Value};

/// P, the highest power first.
const TAIL: [f64; 19] = [
    4.773694142843272e-07,
    -5.464389916912037e-07,
    -3.999907349196017e-06,
    4.9277881842386464e-06,
    1.8927722695152535e-05,
    -2.5007195488383717e-05,
    -7.33728343805701e-05,
    9.883806703208947e-05,
    0.0002769014081822071,
    -0.0003379943163086744,
    -0.0011021881094216454,
    0.0009696815826151902,
    0.004799871980887599,
    -0.001323829717947809,
    -0.023542598269645283,
    -0.019847763210897675,
    0.13511976729414818,
    0.7597388540115011,
    -1.5479181277841476,
];

impl Graph {
    /// `t` and `P(2t − 1) − x²/2` for x = |z|.
    fn normal_tail(&mut self, z: Value) -> [Value; 2] {
        let x = self.map("Abs", z);
        let denominator = self.plus(x, 3.5);
        let numerator = self.number(x, 3.5);
        let t = self.div(numerator, denominator);
        let twice = self.times(t, 2.0);
        let centred = self.plus(twice, -1.0);
        let polynomial = self.polynomial(centred, &TAIL);
        let square = self.square(x);
        let half = self.times(square, 0.5);
        [t, self.sub(polynomial, half)]
    }

    /// Φ(z)
    pub(crate) fn normal_cdf(&mut self, z: Value) -> Value {
        let [t, exponent] = self.normal_tail(z);
        let factor = self.exp(exponent);
        let beyond = self.mul(t, factor);
        let rest = self.from(1.0, beyond);
        let is_below = self.is_number("Less", z, 0.0);
        self.choose(is_below, beyond, rest)
    }

    /// log Φ(z)
    pub(crate) fn normal_log_cdf(&mut self, z: Value) -> Value {
        let [t, exponent] = self.normal_tail(z);
        let log_t = self.ln(t);
        let below = self.add(log_t, exponent);
        let beyond = self.exp(below);
        let rest = self.from(1.0, beyond);
        // The logarithm of 1 − p where p is below the last digit of one.
        let above = self.ln(rest);
        let small = self.negative(beyond);
        let is_tiny = self.is_number("Less", beyond, 1e-9);
        let above = self.choose(is_tiny, small, above);
        let is_below = self.is_number("Less", z, 0.0);
        self.choose(is_below, below, above)
    }

    /// Softmax along the last axis, in 64 bits.
    pub(crate) fn softmax(&mut self, a: Value) -> Value {
        debug_assert_eq!(a.ty, Type::F64, "probabilities are computed in 64 bits");
        let largest = self.reduce("ReduceMax", a, &[-1], true);
        let from_largest = self.sub(a, largest);
        let weights = self.exp(from_largest);
        let sum = self.reduce("ReduceSum", weights, &[-1], true);
        self.div(weights, sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_polynomial_is_the_normal_distribution_function_in_both_tails() {
        // Beyond 37 deviations a probability is subnormal.
        for i in -370..=370 {
            let z = 0.1 * f64::from(i);
            let x = z.abs();
            let t = 3.5 / (3.5 + x);
            let s = 2.0 * t - 1.0;
            let exponent = TAIL.iter().fold(0.0, |sum, c| sum * s + c) - 0.5 * x * x;
            let beyond = t * exponent.exp();
            // 7e-13 is the error of 19 nodes; x²/2, up to 684, adds its rounding.
            assert!((beyond / gp::cdf(-x) - 1.0).abs() < 1e-12 + 4e-16 * x * x, "{z}: {beyond}");
        }
    }
}
