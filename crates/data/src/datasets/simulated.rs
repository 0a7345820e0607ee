//! Test functions of the Virtual Library of Simulation Experiments (Surjanovic & Bingham), as tables.
//!
//! Inputs are uniform on the library's ranges; the target is `y`, with normal noise on request.

use std::f64::consts::PI;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::table::{Column, Table};

/// A function with known values everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Simulated {
    /// Many local minima, d = 4.
    Levy,
    /// Many regular local minima on a wide bowl, d = 6.
    Griewank,
    /// Water flow through a borehole, d = 8.
    Borehole,
    /// Midpoint voltage of a push-pull circuit, d = 6.
    OtlCircuit,
    /// Weight of a light aircraft's wing, d = 10.
    WingWeight,
}

type Range = (&'static str, f64, f64);

const LEVY: [Range; 4] = [("x1", -10.0, 10.0), ("x2", -10.0, 10.0), ("x3", -10.0, 10.0), ("x4", -10.0, 10.0)];
const GRIEWANK: [Range; 6] = [
    ("x1", -600.0, 600.0),
    ("x2", -600.0, 600.0),
    ("x3", -600.0, 600.0),
    ("x4", -600.0, 600.0),
    ("x5", -600.0, 600.0),
    ("x6", -600.0, 600.0),
];
const BOREHOLE: [Range; 8] = [
    ("rw", 0.05, 0.15),
    ("r", 100.0, 50_000.0),
    ("Tu", 63_070.0, 115_600.0),
    ("Hu", 990.0, 1110.0),
    ("Tl", 63.1, 116.0),
    ("Hl", 700.0, 820.0),
    ("L", 1120.0, 1680.0),
    ("Kw", 9855.0, 12_045.0),
];
const OTL_CIRCUIT: [Range; 6] = [
    ("Rb1", 50.0, 150.0),
    ("Rb2", 25.0, 70.0),
    ("Rf", 0.5, 3.0),
    ("Rc1", 1.2, 2.5),
    ("Rc2", 0.25, 1.2),
    ("beta", 50.0, 300.0),
];
const WING_WEIGHT: [Range; 10] = [
    ("Sw", 150.0, 200.0),
    ("Wfw", 220.0, 300.0),
    ("A", 6.0, 10.0),
    ("Lambda", -10.0, 10.0),
    ("q", 16.0, 45.0),
    ("lambda", 0.5, 1.0),
    ("tc", 0.08, 0.18),
    ("Nz", 2.5, 6.0),
    ("Wdg", 1700.0, 2500.0),
    ("Wp", 0.025, 0.08),
];

impl Simulated {
    /// All functions.
    pub const ALL: [Simulated; 5] = [
        Simulated::Levy,
        Simulated::Griewank,
        Simulated::Borehole,
        Simulated::OtlCircuit,
        Simulated::WingWeight,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Simulated::Levy => "levy",
            Simulated::Griewank => "griewank",
            Simulated::Borehole => "borehole",
            Simulated::OtlCircuit => "otl-circuit",
            Simulated::WingWeight => "wing-weight",
        }
    }

    /// The function of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|function| function.name() == name)
    }

    /// One line for the user.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Simulated::Levy => "4 inputs on [-10, 10]: many local minima",
            Simulated::Griewank => "6 inputs on [-600, 600]: small regular waves on a wide bowl",
            Simulated::Borehole => "8 inputs: water flow through a borehole, m³ a year",
            Simulated::OtlCircuit => {
                "6 inputs: midpoint voltage of an output-transformerless push-pull circuit"
            }
            Simulated::WingWeight => "10 inputs: weight of a light aircraft's wing, pounds",
        }
    }

    fn ranges(self) -> &'static [Range] {
        match self {
            Simulated::Levy => &LEVY,
            Simulated::Griewank => &GRIEWANK,
            Simulated::Borehole => &BOREHOLE,
            Simulated::OtlCircuit => &OTL_CIRCUIT,
            Simulated::WingWeight => &WING_WEIGHT,
        }
    }

    /// Names of the inputs.
    #[must_use]
    pub fn input_names(self) -> Vec<&'static str> {
        self.ranges().iter().map(|(name, ..)| *name).collect()
    }

    /// The value without noise; `None` if the number of inputs is wrong.
    #[must_use]
    pub fn value(self, x: &[f64]) -> Option<f64> {
        match self {
            Simulated::Levy => <&[f64; 4]>::try_from(x).ok().map(levy),
            Simulated::Griewank => <&[f64; 6]>::try_from(x).ok().map(griewank),
            Simulated::Borehole => <&[f64; 8]>::try_from(x).ok().map(borehole),
            Simulated::OtlCircuit => <&[f64; 6]>::try_from(x).ok().map(otl_circuit),
            Simulated::WingWeight => <&[f64; 10]>::try_from(x).ok().map(wing_weight),
        }
    }

    /// `rows` random inputs and their `y`, the same for the same seed; noise does not change the inputs.
    #[must_use]
    pub fn sample(self, rows: usize, seed: u64, noise_std: f64) -> Table {
        let ranges = self.ranges();
        let mut inputs = ChaCha8Rng::seed_from_u64(seed);
        let mut noise = ChaCha8Rng::seed_from_u64(seed);
        noise.set_stream(1);
        let mut columns = vec![Vec::with_capacity(rows); ranges.len() + 1];
        for _ in 0..rows {
            let x: Vec<f64> =
                ranges.iter().map(|(_, low, high)| low + (high - low) * inputs.random::<f64>()).collect();
            let y = self.value(&x).expect("one value for each range");
            let y = if noise_std > 0.0 { y + noise_std * standard_normal(&mut noise) } else { y };
            columns.iter_mut().zip(x.iter().chain([&y])).for_each(|(column, value)| column.push(*value));
        }
        let names = self.input_names().into_iter().chain(["y"]).map(String::from);
        Table::new(self.name(), names.zip(columns.into_iter().map(Column::Number)).collect())
            .expect("distinct names and equal lengths")
    }
}

/// Box–Muller.
fn standard_normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
    (-2.0 * u.ln()).sqrt() * (2.0 * PI * v).cos()
}

fn levy(x: &[f64; 4]) -> f64 {
    let w = x.map(|x| 1.0 + (x - 1.0) / 4.0);
    let wave = |w: f64| (w - 1.0).powi(2) * (1.0 + 10.0 * (PI * w + 1.0).sin().powi(2));
    let last = (w[3] - 1.0).powi(2) * (1.0 + (2.0 * PI * w[3]).sin().powi(2));
    (PI * w[0]).sin().powi(2) + w[..3].iter().map(|w| wave(*w)).sum::<f64>() + last
}

fn griewank(x: &[f64; 6]) -> f64 {
    let bowl: f64 = x.iter().map(|x| x * x / 4000.0).sum();
    let waves: f64 = x.iter().zip(1..).map(|(x, i)| (x / f64::from(i).sqrt()).cos()).product();
    bowl - waves + 1.0
}

fn borehole(&[rw, r, tu, hu, tl, hl, l, kw]: &[f64; 8]) -> f64 {
    let log_ratio = (r / rw).ln();
    2.0 * PI * tu * (hu - hl) / (log_ratio * (1.0 + 2.0 * l * tu / (log_ratio * rw * rw * kw) + tu / tl))
}

fn otl_circuit(&[rb1, rb2, rf, rc1, rc2, beta]: &[f64; 6]) -> f64 {
    let vb1 = 12.0 * rb2 / (rb1 + rb2);
    let gain = beta * (rc2 + 9.0);
    ((vb1 + 0.74) * gain + 11.35 * rf + 0.74 * rf * gain / rc1) / (gain + rf)
}

fn wing_weight(&[sw, wfw, a, sweep, q, taper, tc, nz, wdg, wp]: &[f64; 10]) -> f64 {
    let cos = sweep.to_radians().cos();
    0.036
        * sw.powf(0.758)
        * wfw.powf(0.0035)
        * (a / (cos * cos)).powf(0.6)
        * q.powf(0.006)
        * taper.powf(0.04)
        * (100.0 * tc / cos).powf(-0.3)
        * (nz * wdg).powf(0.49)
        + sw * wp
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(function: Simulated, x: &[f64], expected: f64, tolerance: f64) {
        let value = function.value(x).expect("as many inputs as the function has");
        assert!((value - expected).abs() <= tolerance, "{}: {value} is not {expected}", function.name());
    }

    #[test]
    fn minima_are_met() {
        close(Simulated::Levy, &[1.0; 4], 0.0, 1e-30); // sin²π in floating point
        close(Simulated::Griewank, &[0.0; 6], 0.0, 0.0);
    }

    #[test]
    fn independently_computed_values_are_met() {
        // The baseline aircraft of Forrester et al. (2008), computed with 40 decimal digits.
        let cessna = [174.0, 252.0, 7.52, 0.0, 34.0, 0.672, 0.12, 3.8, 2000.0, 0.064];
        close(Simulated::WingWeight, &cessna, 244.967_151_335_930_23, 1e-10);
        let well = [0.1, 25_000.0, 90_000.0, 1050.0, 90.0, 760.0, 1400.0, 11_000.0];
        close(Simulated::Borehole, &well, 71.196_771_699_319_9, 1e-12);
        // Vb1 = 4 and β(Rc2 + 9) = 1000, hence (4740 + 22.7 + 740) / 1002.
        close(Simulated::OtlCircuit, &[100.0, 50.0, 2.0, 2.0, 1.0, 100.0], 5502.7 / 1002.0, 1e-12);
        assert_eq!(Simulated::Levy.value(&[1.0; 3]), None);
    }

    #[test]
    fn a_seed_fixes_the_sample_and_noise_changes_only_y() {
        for function in Simulated::ALL {
            let (quiet, loud) = (function.sample(50, 3, 0.0), function.sample(50, 3, 0.5));
            assert_eq!(quiet, function.sample(50, 3, 0.0));
            let inputs = quiet.columns().len() - 1;
            assert_eq!(quiet.columns()[..inputs], loud.columns()[..inputs]);
            assert_ne!(quiet.columns()[inputs], loud.columns()[inputs]);
            assert_eq!(quiet.names()[inputs], "y");
            assert_eq!(Simulated::from_name(function.name()), Some(function));
        }
    }
}
