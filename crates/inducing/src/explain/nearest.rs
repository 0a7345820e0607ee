//! What an inducing point stands for: its pseudo-label, the inputs most similar to it, and how many are assigned to it.
//!
//! ```text
//! ρ(z, φ) = k(z, φ) / √(k(z, z) k(φ, φ))      similarity, in (0, 1] for stationary kernels
//! r(z)    = wᵀz + b                           pseudo-label
//! ```
//! An input is assigned to the inducing point that is most similar to it. O(NMD), in blocks of inputs.

use crate::head::HeadParameters;
use crate::model::{ClassCalibration, Features, Model};
use gp::Kernel;
use linalg::gemm::{Plus, product};
use linalg::{MatMut, MatRef};

/// Inputs that are compared with all inducing points at a time.
const BLOCK: usize = 2048;

/// The inputs around the inducing points of one network.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbourhood {
    /// For each inducing point the most similar inputs, the nearest first.
    pub nearest: Vec<Vec<Neighbour>>,
    /// For each inducing point the inputs that are assigned to it.
    pub assigned: Vec<usize>,
}

/// An input near an inducing point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour {
    /// Which of the inputs whose features were given.
    pub row: usize,
    /// ρ(z, φ)
    pub similarity: f64,
    /// ‖φ − z‖
    pub distance: f64,
}

/// What an inducing point says of the inputs like it.
#[derive(Debug, Clone, PartialEq)]
pub enum PseudoLabel {
    /// Numbers in the targets' own units.
    Numbers(Vec<f64>),
    /// Probability of each class, of a process without variance there.
    Classes(Vec<f64>),
    /// Where each class has its own network: the probability of that class.
    OneVsRest(f64),
}

impl Model {
    /// The inputs around the inducing points of each network: the `most` nearest, and how many are assigned to each point.
    /// Empty for a softmax layer.
    pub fn neighbourhoods(&self, features: &Features, most: usize) -> Vec<Neighbourhood> {
        let networks = self.heads().zip(self.kernels()).zip(&features.networks);
        networks.map(|((head, kernel), phi)| neighbourhood(head, &kernel, phi, most)).collect()
    }

    /// What the inducing points of each network say. Empty for a softmax layer.
    pub fn pseudo_labels(&self) -> Vec<Vec<PseudoLabel>> {
        let header = self.header();
        let (numbers, one_vs_rest) = (header.schema.numbers(), self.is_one_vs_rest());
        let slope = header.class_calibration.unwrap_or(ClassCalibration::none()).slope;
        let label = |r: Vec<f64>| {
            if numbers.is_empty() {
                let s: Vec<f64> = r.iter().map(|r| slope * r).collect();
                let p = gp::class_probabilities(header.config.link(), &s, 0.0);
                if one_vs_rest { PseudoLabel::OneVsRest(p[1]) } else { PseudoLabel::Classes(p) }
            } else {
                PseudoLabel::Numbers(r.iter().zip(numbers).map(|(r, target)| target.restore(*r)).collect())
            }
        };
        let of_network = |head: &HeadParameters| {
            let (c, d) = (head.b.len(), head.w.len() / head.b.len());
            let r = |z: &[f32]| {
                let output = |k: usize| {
                    let product = |(i, &z): (usize, &f32)| f64::from(z) * f64::from(head.w[i * c + k]);
                    z.iter().enumerate().map(product).sum::<f64>() + f64::from(head.b[k])
                };
                (0..c).map(output).collect::<Vec<f64>>()
            };
            head.z.chunks_exact(d).map(|z| label(r(z))).collect()
        };
        self.heads().map(of_network).collect()
    }

    /// The learned kernel of each network.
    fn kernels(&self) -> Vec<Kernel> {
        let header = self.header();
        std::iter::once(header.kernel).chain(header.others.iter().map(|other| other.kernel)).collect()
    }
}

fn neighbourhood(head: &HeadParameters, kernel: &Kernel, phi: &[f32], most: usize) -> Neighbourhood {
    let d = head.w.len() / head.b.len();
    let m = head.z.len() / d;
    let z_norms: Vec<f32> = head.z.chunks_exact(d).map(|z| dot(z, z)).collect();
    let mut assigned = vec![0; m];
    let mut nearest: Vec<Vec<Candidate>> = (0..m).map(|_| Vec::with_capacity(most + 1)).collect();
    let mut inner = vec![0.0_f32; m * BLOCK]; // [n, M]
    for (block, phi) in phi.chunks(BLOCK * d).enumerate() {
        let n = phi.len() / d;
        let z = MatRef::from_row_major_slice(&head.z, m, d);
        let out = MatMut::from_row_major_slice_mut(&mut inner[..n * m], n, m);
        product(out, Plus::Nothing, MatRef::from_row_major_slice(phi, n, d), z.transpose(), 1.0);
        for (i, (phi, inner)) in phi.chunks_exact(d).zip(inner.chunks_exact(m)).enumerate() {
            let row = block * BLOCK + i;
            let phi_norm = dot(phi, phi);
            let mut closest = (f32::INFINITY, 0);
            for (j, (&inner, &z_norm)) in inner.iter().zip(&z_norms).enumerate() {
                let far = dissimilarity(kernel, inner, z_norm, phi_norm);
                if far < closest.0 {
                    closest = (far, j);
                }
                let list = &mut nearest[j];
                if list.len() < most || list.last().is_some_and(|last| far < last.far) {
                    let place = list.partition_point(|other| other.far <= far);
                    list.insert(place, Candidate { far, row, phi: phi.to_vec() });
                    list.truncate(most);
                }
            }
            assigned[closest.1] += 1;
        }
    }
    let exact = |(list, z): (Vec<Candidate>, &[f32])| {
        let neighbour = |candidate: Candidate| Neighbour {
            row: candidate.row,
            similarity: kernel.similarity(&wide(z), &wide(&candidate.phi)),
            distance: distance(z, &candidate.phi),
        };
        list.into_iter().map(neighbour).collect()
    };
    let nearest = nearest.into_iter().zip(head.z.chunks_exact(d)).map(exact).collect();
    Neighbourhood { nearest, assigned }
}

/// An input that may be among the nearest.
struct Candidate {
    far: f32,
    row: usize,
    phi: Vec<f32>,
}

/// Orders inputs as the similarity does, but does not vanish far away where all similarities do.
fn dissimilarity(kernel: &Kernel, inner: f32, z_norm: f32, phi_norm: f32) -> f32 {
    match kernel {
        Kernel::Linear { scale, offset } => {
            let k = |x: f32| *scale as f32 * x + *offset as f32;
            -k(inner) / (k(z_norm) * k(phi_norm)).sqrt()
        }
        _ => z_norm + phi_norm - 2.0 * inner,
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|&x| f64::from(x)).collect()
}

/// ‖a − b‖
pub(crate) fn distance(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum::<f64>().sqrt()
}
