//! The process of a network on its inducing points (docs/model-file.md, section 7, "Latent functions").
//!
//! The kernel's scale s stands in the constants: onnxruntime joins a factor and a product of matrices into one operator, whose factor has
//! 32 bits whatever the matrices have, and `s − ‖a‖²` loses seven digits to that.

use crate::error::ExportError;
use crate::graph::{Graph, Value};
use crate::tensors::{Tensors, widen};
use inducing::model::Kernel;
use linalg::{Cholesky, Mat, MatRef};

/// What the graph holds of a process: everything that does not depend on the row.
struct Conditioned {
    alpha: Vec<f64>,   // [M, C]  s (L Lᵀ)⁻¹ r
    inverse: Vec<f64>, // [M, M]  s L⁻ᵀ
    points: usize,
}

/// Latent mean `[n, c]` and variance `[n, 1]` of network k at `phi [n, D]`, in 64 bits.
pub(crate) fn latent(
    graph: &mut Graph,
    tensors: &Tensors<'_>,
    k: usize,
    family: &Kernel,
    jitter: f64,
    phi: Value,
) -> Result<[Value; 2], ExportError> {
    let tensor = |name: &str| tensors.of_network(k, name);
    let (z, w, b) = (tensor("inducing.z")?, tensor("inducing.w")?, tensor("inducing.b")?);
    let log_parameters = widen(tensor("kernel.log_parameters")?.values);
    let kernel = family.with_log_parameters([log_parameters[0], log_parameters[1]]);
    let (m, d, c) = (z.shape[0], z.shape[1], b.shape[0]);
    let (z, w, b) = (widen(z.values), widen(w.values), widen(b.values));
    let fixed = condition(&kernel, &z, [d, c], &w, &b, jitter)?;
    let factor = match kernel {
        Kernel::Linear { scale, .. } => scale,
        _ => 1.0,
    };
    let transposed: Vec<f64> =
        (0..d).flat_map(|j| (0..m).map(move |i| (i, j))).map(|(i, j)| factor * z[i * d + j]).collect();
    let phi = graph.wide(phi);
    let z_transposed = graph.f64s(&[d, m], &transposed);
    let dots = graph.matmul(phi, z_transposed); // [n, M]
    let squares = graph.square(phi);
    let own = graph.reduce("ReduceSum", squares, &[1], true); // [n, 1]  ‖φ‖²
    let norms: Vec<f64> = z.chunks_exact(d).map(|z| z.iter().map(|x| x * x).sum()).collect();
    let norms = graph.f64s(&[m], &norms);
    let k_xz = match kernel {
        Kernel::Linear { offset, .. } => graph.plus(dots, offset),
        _ => {
            let twice = graph.times(dots, -2.0);
            let sum = graph.add(twice, own);
            let sum = graph.add(sum, norms);
            let squared = graph.at_least(sum, 0.0);
            stationary(graph, &kernel, squared)
        }
    };
    let alpha = graph.f64s(&[fixed.points, c], &fixed.alpha);
    let mean = graph.matmul(k_xz, alpha);
    let inverse = graph.f64s(&[fixed.points, fixed.points], &fixed.inverse);
    let a = graph.matmul(k_xz, inverse); // [n, M]
    let a_squared = graph.square(a);
    let explained = graph.reduce("ReduceSum", a_squared, &[1], true);
    let prior = match kernel {
        Kernel::Linear { scale, offset } => {
            let scaled = graph.times(own, scale);
            graph.plus(scaled, offset)
        }
        Kernel::Rbf { scale, .. } | Kernel::Matern32 { scale, .. } | Kernel::Matern52 { scale, .. } => {
            graph.f64s(&[1, 1], &[scale])
        }
    };
    let rest = graph.sub(prior, explained);
    Ok([mean, graph.at_least(rest, 0.0)])
}

/// k/s by squared distances.
fn stationary(graph: &mut Graph, kernel: &Kernel, squared: Value) -> Value {
    match *kernel {
        Kernel::Rbf { gamma, .. } => {
            let exponent = graph.times(squared, -gamma);
            graph.exp(exponent)
        }
        Kernel::Matern32 { gamma, .. } => {
            let u = graph.times(squared, 6.0 * gamma);
            let u = graph.sqrt(u);
            graph.matern_32(u)
        }
        Kernel::Matern52 { gamma, .. } => {
            let u = graph.times(squared, 10.0 * gamma);
            let u = graph.sqrt(u);
            graph.matern_52(u)
        }
        Kernel::Linear { .. } => squared,
    }
}

impl Graph {
    /// `(1 + u)·exp(−u)`
    pub(crate) fn matern_32(&mut self, u: Value) -> Value {
        let [decay, linear] = [self.negative(u), self.plus(u, 1.0)];
        let decay = self.exp(decay);
        self.mul(linear, decay)
    }

    /// `(1 + u + u²/3)·exp(−u)`
    pub(crate) fn matern_52(&mut self, u: Value) -> Value {
        let polynomial = self.polynomial(u, &[1.0 / 3.0, 1.0, 1.0]);
        let decay = self.negative(u);
        let decay = self.exp(decay);
        self.mul(polynomial, decay)
    }
}

/// Factors `K_zz + εI`, with ten times the jitter as long as that is not positive definite.
fn condition(
    kernel: &Kernel,
    z: &[f64],
    [d, c]: [usize; 2],
    w: &[f64],
    b: &[f64],
    jitter: f64,
) -> Result<Conditioned, ExportError> {
    let m = z.len() / d;
    let row = |i: usize| &z[i * d..][..d];
    let k_zz = Mat::from_fn(m, m, |i, j| value(kernel, row(i), row(j)));
    let mut factor = Cholesky::with_size(m);
    factor.factor(k_zz.as_ref(), jitter).map_err(|error| ExportError::Model(error.to_string()))?;
    let r: Vec<f64> = (0..m)
        .flat_map(|i| {
            (0..c).map(move |output| {
                row(i).iter().enumerate().map(|(j, x)| x * w[j * c + output]).sum::<f64>() + b[output]
            })
        })
        .collect();
    let mut alpha = MatRef::from_row_major_slice(&r, m, c).to_owned();
    factor.solve(alpha.as_mut());
    let mut inverse = Mat::zeros(m, m);
    factor.inverse_factor(inverse.as_mut());
    let scale = match *kernel {
        Kernel::Rbf { scale, .. } | Kernel::Matern32 { scale, .. } | Kernel::Matern52 { scale, .. } => scale,
        Kernel::Linear { .. } => 1.0,
    };
    let scaled = |values: Vec<f64>| values.into_iter().map(|x| scale * x).collect();
    let (alpha, inverse) = (alpha.as_ref().to_row_major(), inverse.transpose().to_row_major());
    Ok(Conditioned { alpha: scaled(alpha), inverse: scaled(inverse), points: m })
}

fn value(kernel: &Kernel, a: &[f64], b: &[f64]) -> f64 {
    let scale = match *kernel {
        Kernel::Rbf { scale, .. } | Kernel::Matern32 { scale, .. } | Kernel::Matern52 { scale, .. } => scale,
        Kernel::Linear { scale, offset } => {
            return scale * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() + offset;
        }
    };
    scale * kernel.similarity(a, b)
}
