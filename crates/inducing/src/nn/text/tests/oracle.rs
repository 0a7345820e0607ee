//! The encoder written down from its equations: every sum a loop over one text, in f64.

use super::*;
use crate::nn::init::dropout_mask;
use crate::nn::text::batch::{Batch, part_seed};
use crate::nn::text::tower::GROUP;

/// Takes parameters one after another.
struct Cursor<'a>(&'a [f64]);

impl<'a> Cursor<'a> {
    fn take(&mut self, len: usize) -> &'a [f64] {
        let (part, rest) = self.0.split_at(len);
        self.0 = rest;
        part
    }

    fn norm(&mut self, w: usize) -> impl Fn(&[f64]) -> Vec<f64> + use<'a> {
        let (gain, shift) = (self.take(w), self.take(w));
        move |h| {
            let mean = h.iter().sum::<f64>() / w as f64;
            let variance = h.iter().map(|h| (h - mean) * (h - mean)).sum::<f64>() / w as f64;
            (0..w).map(|c| gain[c] * (h[c] - mean) / (variance + 1e-5).sqrt() + shift[c]).collect()
        }
    }

    fn dense(&mut self, inputs: usize, outputs: usize) -> impl Fn(&[f64]) -> Vec<f64> + use<'a> {
        let (weight, bias) = (self.take(inputs * outputs), self.take(outputs));
        move |x| {
            let sum = |o: usize| (0..inputs).map(|i| x[i] * weight[i * outputs + o]).sum::<f64>();
            (0..outputs).map(|o| bias[o] + sum(o)).collect()
        }
    }
}

fn plus(a: &mut [f64], b: &[f64]) {
    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
}

/// What training draws: the factor of a block's contribution `(depth, place, token, channel)`.
type Drawn<'a> = &'a dyn Fn(usize, usize, usize, usize) -> f64;

/// The pooled text, written down from the equations: every sum a loop over one text, in f64.
fn oracle_tower(shape: &TowerShape, theta: &mut Cursor<'_>, tokens: &[u32], drawn: Drawn<'_>) -> Vec<f64> {
    let (w, d) = (shape.width, shape.width / shape.heads);
    let (token, position) = (theta.take(shape.vocabulary * w), theta.take(shape.length * w));
    let mut h: Vec<Vec<f64>> = tokens
        .iter()
        .enumerate()
        .map(|(t, &id)| (0..w).map(|c| token[id as usize * w + c] + position[t * w + c]).collect())
        .collect();
    for depth in 0..shape.blocks {
        let (norm, qkv, mix) = (theta.norm(w), theta.dense(w, 3 * w), theta.dense(w, w));
        let qkv: Vec<Vec<f64>> = h.iter().map(|h| qkv(&norm(h))).collect();
        for (t, h) in h.iter_mut().enumerate() {
            let mut mixed = vec![0.0; w];
            for head in 0..shape.heads {
                let score = |j: usize| {
                    let dot = (0..d).map(|c| qkv[t][head * d + c] * qkv[j][w + head * d + c]).sum::<f64>();
                    (dot / (d as f64).sqrt()).exp()
                };
                let scores: Vec<f64> = (0..tokens.len()).map(score).collect();
                let total: f64 = scores.iter().sum();
                for (score, qkv) in scores.iter().zip(&qkv) {
                    for c in 0..d {
                        mixed[head * d + c] += score / total * qkv[2 * w + head * d + c];
                    }
                }
            }
            let mixed = mix(&mixed).into_iter().enumerate().map(|(c, x)| x * drawn(depth, 0, t, c));
            plus(h, &mixed.collect::<Vec<_>>());
        }
        let (norm, up, down) =
            (theta.norm(w), theta.dense(w, shape.feed_forward), theta.dense(shape.feed_forward, w));
        for (t, h) in h.iter_mut().enumerate() {
            let hidden: Vec<f64> = up(&norm(h)).into_iter().map(|x| x.max(0.0)).collect();
            let dense = down(&hidden).into_iter().enumerate().map(|(c, x)| x * drawn(depth, 1, t, c));
            plus(h, &dense.collect::<Vec<_>>());
        }
    }
    let norm = theta.norm(w);
    let h: Vec<Vec<f64>> = h.iter().map(|h| norm(h)).collect();
    let mean = (0..w).map(|c| h.iter().map(|h| h[c]).sum::<f64>() / h.len() as f64);
    let max = (0..w).map(|c| h.iter().map(|h| h[c]).fold(f64::MIN, f64::max));
    match shape.pooling {
        Pooling::Mean => mean.collect(),
        Pooling::Max => max.collect(),
        Pooling::MeanMax => mean.chain(max).collect(),
    }
}

/// The pooled text of a row under what training draws, if it does.
fn drawn_tower(
    shape: &TextShape,
    theta: &mut Cursor<'_>,
    texts: &Texts,
    (row, mode): (usize, Mode),
    place: [usize; 2],
) -> Vec<f64> {
    let batch = Batch::new(shape, place, texts, &ROWS, mode).expect("good texts");
    let Batch { tokens, offsets, dropout } = batch;
    let tower = &shape.towers[place[1]];
    let (group, w) = (row / GROUP, tower.width);
    let first = offsets[group * GROUP];
    let drawn = |depth: usize, place: usize, t: usize, c: usize| {
        dropout.map_or(1.0, |(share, seed)| {
            let mask = dropout::Mask::new(share, part_seed(seed, [group, depth, place]));
            f64::from(mask.factor(((offsets[row] - first + t) * w + c) as u32))
        })
    };
    oracle_tower(tower, theta, &tokens[offsets[row]..offsets[row + 1]], &drawn)
}

/// Φ of all rows from the flat parameters.
pub(super) fn oracle(shape: &TextShape, theta: &[f64], inputs: &Inputs, mode: Mode) -> Vec<f64> {
    let (k, each) = (shape.members, shape.features / shape.members);
    let mut phi = Vec::new();
    for row in ROWS {
        let theta = &mut Cursor(theta);
        let mut u: Vec<Vec<f64>> = (0..k)
            .map(|member| {
                let towers = matrix(inputs).texts.iter().enumerate();
                towers
                    .flat_map(|(text, texts)| drawn_tower(shape, theta, texts, (row, mode), [member, text]))
                    .collect()
            })
            .collect();
        if let Some(mlp) = &shape.beside {
            let Matrix { x, width, .. } = matrix(inputs);
            let mut x: Vec<Vec<f64>> =
                vec![x[row * width..][..*width].iter().map(|&x| f64::from(x)).collect(); k];
            let outputs = [mlp.hidden[0], mlp.features / k];
            for (depth, outputs) in outputs.into_iter().enumerate() {
                let inputs = x[0].len();
                let (weight, bias) = (theta.take(k * inputs * outputs), theta.take(k * outputs));
                for (member, x) in x.iter_mut().enumerate() {
                    let one = [
                        &weight[member * inputs * outputs..][..inputs * outputs],
                        &bias[member * outputs..][..outputs],
                    ]
                    .concat();
                    *x = Cursor(&one).dense(inputs, outputs)(x);
                    if depth == 0 {
                        x.iter_mut().for_each(|x| *x = x.max(0.0));
                    }
                }
            }
            u.iter_mut().zip(x).for_each(|(u, x)| u.extend(x));
        }
        if let Mode::Train { seed } = mode {
            for (member, u) in u.iter_mut().enumerate() {
                let seed = part_seed(seed, [member, usize::MAX]);
                let mask = dropout_mask(ROWS.len() * u.len(), shape.dropout, seed);
                let width = u.len();
                u.iter_mut().zip(&mask[row * width..]).for_each(|(u, &mask)| *u *= f64::from(mask));
            }
        }
        let inputs = u[0].len();
        let (weight, bias) = (theta.take(k * inputs * each), theta.take(k * each));
        for member in 0..k {
            for o in 0..each {
                let weight = |i: usize| weight[(member * inputs + i) * each + o];
                let sum = u[member].iter().enumerate().map(|(i, u)| u * weight(i)).sum::<f64>();
                phi.push(bias[member * each + o] + sum);
            }
        }
        assert!(theta.0.is_empty(), "the oracle reads every parameter");
    }
    phi
}
