//! What the integration tests share: random problems and the one gradient check.

use inducing_gp::{
    Coupling, Error, Gradient, InducingPoints, Kernel, Likelihood, Link, Objective, Posterior, Process, Real,
    Value,
};

/// Everything an evaluation needs, owned.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    pub(crate) kernel: Kernel,
    pub(crate) inducing: InducingPoints<f64>,
    pub(crate) log_sigma: Vec<f64>,
    /// Weights of the rows, if `y` holds labels ±1 and not numbers.
    pub(crate) labelled: Option<Vec<f64>>,
    /// How latent functions become probabilities of labels.
    pub(crate) link: Link,
    pub(crate) jitter: f64,
    pub(crate) coupling: Coupling,
    pub(crate) phi: Vec<f64>,
    pub(crate) y: Vec<f64>,
}

impl Problem {
    /// A well-scaled random problem; `seed` decides every number.
    pub(crate) fn random(kernel: Kernel, [n, m, d, c]: [usize; 4], seed: u64) -> Self {
        let mut next = uniform(seed);
        let mut draw =
            |count: usize, scale: f64| (0..count).map(|_| scale * (next() - 0.5)).collect::<Vec<_>>();
        let spread = 2.0 / (d as f64).sqrt();
        Self {
            kernel,
            inducing: InducingPoints::new(&draw(m * d, spread), &draw(d * c, 2.0), &draw(c, 1.0)),
            log_sigma: draw(c, 1.0).iter().map(|x| x - 1.5).collect(),
            labelled: None,
            link: Link::Probit,
            jitter: 1e-4,
            coupling: Coupling::Batch,
            phi: draw(n * d, spread),
            y: draw(n * c, 2.0),
        }
    }

    /// A random problem of classes: rows of random weights with labels of this kind, as +1 for a row's own class and
    /// −1 for the others; with one output for two classes.
    pub(crate) fn of_classes(kernel: Kernel, shape: [usize; 4], labels: Labels, seed: u64) -> Self {
        let [n, _, d, c] = shape;
        let mut problem = Self::random(kernel, shape, seed);
        let mut next = uniform(seed ^ 0xc1a55e5);
        let classes = inducing_gp::classes_of(c);
        if labels == Labels::Contradictory {
            let (pairs, width) = (n / 4, 2 * d); // two rows after two rows, on the same two points
            for pair in 0..pairs {
                problem.phi.copy_within(2 * pair * width..(2 * pair + 1) * width, (2 * pair + 1) * width);
            }
        }
        let posterior = Posterior::new(kernel, problem.inducing.clone(), problem.jitter, 1);
        let mean = posterior.expect("well-posed").predict(&problem.phi, n).mean; // [N, C]
        let class = |row: usize| match labels {
            Labels::Easy if row % 5 == 4 => (next() * classes as f64) as usize,
            Labels::Easy if c == 1 => usize::from(mean[row] > 0.0),
            Labels::Easy => {
                let of_row = &mean[row * c..(row + 1) * c];
                (0..c).max_by(|&i, &j| of_row[i].total_cmp(&of_row[j])).expect("an output")
            }
            Labels::Separable => {
                let direction = problem.phi[row * d] + 0.3 * problem.phi[row * d + d - 1];
                if direction > 0.0 { classes - 1 } else { usize::from(classes > 2 && direction > -0.2) }
            }
            Labels::Contradictory => row / 2 % classes,
        };
        let classes: Vec<usize> = (0..n).map(class).collect();
        let sign = |own: bool| if own { 1.0 } else { -1.0 };
        problem.y = match c {
            1 => classes.iter().map(|&class| sign(class == 1)).collect(),
            _ => classes.iter().flat_map(|&class| (0..c).map(move |output| sign(output == class))).collect(),
        };
        problem.labelled = Some((0..n).map(|_| 0.4 + 2.0 * next()).collect());
        problem
    }

    pub(crate) fn rows(&self) -> usize {
        self.phi.len() / self.inducing.dim()
    }

    pub(crate) fn evaluate(&self) -> (Value, Gradient<f64>) {
        self.evaluate_in::<f64>(1)
    }

    pub(crate) fn evaluate_in<T: Real>(&self, threads: usize) -> (Value, Gradient<T>) {
        let cast = |x: &[f64]| x.iter().map(|&x| T::from_f64(x)).collect::<Vec<_>>();
        let inducing =
            InducingPoints::new(&cast(&self.inducing.z), &cast(&self.inducing.w), &cast(&self.inducing.b));
        let mut objective = Objective::new(self.rows(), &self.kernel, &inducing, threads);
        let value = self.evaluate_with(&mut objective, &inducing);
        (value, objective.gradient().clone())
    }

    /// The value, or what is wrong with the problem.
    pub(crate) fn try_evaluate(&self) -> Result<Value, Error> {
        self.evaluate_in_space(
            &mut Objective::new(self.rows(), &self.kernel, &self.inducing, 1),
            &self.inducing,
        )
    }

    /// The same in a work space that may have seen other problems.
    pub(crate) fn evaluate_with<T: Real>(
        &self,
        objective: &mut Objective<T>,
        inducing: &InducingPoints<T>,
    ) -> Value {
        self.evaluate_in_space(objective, inducing).expect("the problem is well-posed")
    }

    fn evaluate_in_space<T: Real>(
        &self,
        objective: &mut Objective<T>,
        inducing: &InducingPoints<T>,
    ) -> Result<Value, Error> {
        let cast = |x: &[f64]| x.iter().map(|&x| T::from_f64(x)).collect::<Vec<_>>();
        let process = Process {
            kernel: &self.kernel,
            inducing,
            likelihood: match (&self.labelled, self.link) {
                (None, _) => Likelihood::Gaussian { log_sigma: &self.log_sigma, weights: &[] },
                (Some(weights), Link::Probit) => Likelihood::Probit { weights },
                (Some(weights), Link::Logit) => Likelihood::Logit { weights },
            },
            jitter: self.jitter,
            coupling: self.coupling,
        };
        objective.evaluate_batch(&process, &cast(&self.phi), &cast(&self.y))
    }
}

/// Labels of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labels {
    /// What the inducing points say, but for every fifth row.
    Easy,
    /// By a hyperplane, whatever the inducing points say.
    Separable,
    /// Different ones at the same point: the covariance of the batch is singular.
    Contradictory,
}

impl Labels {
    pub(crate) const ALL: [Self; 3] = [Self::Easy, Self::Separable, Self::Contradictory];
}

/// All four families with parameters that are not one.
pub(crate) fn kernels() -> [Kernel; 4] {
    [
        Kernel::Rbf { scale: 1.3, gamma: 0.7 },
        Kernel::Matern32 { scale: 0.8, gamma: 0.6 },
        Kernel::Matern52 { scale: 1.1, gamma: 0.9 },
        Kernel::Linear { scale: 0.7, offset: 0.4 },
    ]
}

/// Uniform numbers in [0, 1) (SplitMix64).
pub(crate) fn uniform(mut state: u64) -> impl FnMut() -> f64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Compares `analytic` with central differences of `loss` as entry `i` of a parameter moves by `h`.
///
/// The error of each entry is relative to the largest entry of the block, or absolute below 1.
pub(crate) fn assert_gradient(
    name: &str,
    analytic: &[f64],
    tolerance: f64,
    loss: impl Fn(usize, f64) -> f64,
) {
    // Fourth-order differences: truncation ~h⁴, rounding ~1e-16/h; both below 1e-11 at h = 1e-3 · (curvature of order 1).
    let h = 2e-4;
    let scale = analytic.iter().fold(1e-3_f64, |a, g| a.max(g.abs()));
    for (i, &g) in analytic.iter().enumerate() {
        let numeric =
            (8.0 * (loss(i, h) - loss(i, -h)) - (loss(i, 2.0 * h) - loss(i, -2.0 * h))) / (12.0 * h);
        let error = (numeric - g).abs() / scale;
        assert!(
            error <= tolerance,
            "{name}[{i}]: analytic {g:e}, numeric {numeric:e}, relative error {error:e}"
        );
    }
}
