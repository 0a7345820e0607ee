//! Minimisation of a smooth and convex function of some hundreds of numbers by L-BFGS (Liu & Nocedal 1989).

use std::collections::VecDeque;

/// Pairs of moves and changes of slope that are remembered.
const MEMORY: usize = 10;
/// A step must bring this part of what the slope promises.
const SUFFICIENT: f64 = 1e-4;
/// An improvement below this part of the value ends the search.
const SMALLEST: f64 = 1e-6;

/// A move, the change of the gradient along it, and their product.
struct Pair {
    x: Vec<f64>,
    gradient: Vec<f64>,
    product: f64,
}

/// Moves `x` to a minimum of `f`, which writes its gradient and returns its value, in at most `most` steps. The value never
/// rises.
pub(super) fn descend(x: &mut Vec<f64>, most: usize, f: impl Fn(&[f64], &mut [f64]) -> f64) {
    let mut gradient = vec![0.0; x.len()];
    let mut value = f(x, &mut gradient);
    let mut memory: VecDeque<Pair> = VecDeque::new();
    for step in 0..most {
        let direction = direction(&gradient, &memory);
        let slope = dot(&gradient, &direction);
        let Some((next_x, next_gradient, next)) = search(x, &direction, value, slope, &f) else { return };
        let (moved, change) = (difference(&next_x, x), difference(&next_gradient, &gradient));
        let product = dot(&moved, &change);
        if product > 1e-12 * dot(&change, &change) {
            memory.truncate(MEMORY - 1);
            memory.push_front(Pair { x: moved, gradient: change, product });
        }
        let gained = value - next;
        (*x, gradient, value) = (next_x, next_gradient, next);
        // The first step is as long as the gradient, which says nothing of how far there is to go.
        if step > 0 && gained <= SMALLEST * value.abs() {
            return;
        }
    }
}

/// `−H g`, H the inverse curvature that the memory tells of, latest first.
fn direction(gradient: &[f64], memory: &VecDeque<Pair>) -> Vec<f64> {
    let mut d: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(memory.len());
    for pair in memory {
        let share = dot(&pair.x, &d) / pair.product;
        add(&mut d, -share, &pair.gradient);
        shares.push(share);
    }
    if let Some(last) = memory.front() {
        let curvature = dot(&last.gradient, &last.gradient) / last.product;
        d.iter_mut().for_each(|d| *d /= curvature);
    }
    for (pair, share) in memory.iter().zip(shares).rev() {
        let other = dot(&pair.gradient, &d) / pair.product;
        add(&mut d, share - other, &pair.x);
    }
    d
}

/// The first of ever shorter steps that is good enough: point, gradient and value there.
fn search(
    x: &[f64],
    direction: &[f64],
    value: f64,
    slope: f64,
    f: &impl Fn(&[f64], &mut [f64]) -> f64,
) -> Option<(Vec<f64>, Vec<f64>, f64)> {
    let mut fraction = 1.0;
    while slope < 0.0 && fraction > 1e-6 {
        let (mut next_x, mut gradient) = (x.to_vec(), vec![0.0; x.len()]);
        add(&mut next_x, fraction, direction);
        let next = f(&next_x, &mut gradient);
        if next <= value + SUFFICIENT * fraction * slope {
            return Some((next_x, gradient, next));
        }
        fraction *= 0.5;
    }
    None
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], factor: f64, x: &[f64]) {
    to.iter_mut().zip(x).for_each(|(to, x)| *to += factor * x);
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_the_bottom_of_a_long_valley_and_of_a_flat_bowl() {
        let mut x = vec![1.0; 20];
        descend(&mut x, 200, |x, gradient| {
            let mut value = 1.0;
            for (i, x) in x.iter().enumerate() {
                let curvature = 10_f64.powf(i as f64 / 7.0);
                value += 0.5 * curvature * (x - 3.0).powi(2);
                gradient[i] = curvature * (x - 3.0);
            }
            value
        });
        assert!(x.iter().all(|x| (x - 3.0).abs() < 0.01), "{x:?}");
        let mut x = vec![-8.0, 9.0, -7.0, 3.0, 5.0];
        descend(&mut x, 200, |x, gradient| {
            // Straight far from its bottom, like the loss of a class: log cosh(k(x − 1)/2) + log 2 and a weak bond.
            let mut value = 0.0;
            gradient.fill(0.0);
            for i in 0..5 {
                let (k, next) = ((i + 1) as f64, (i + 1) % 5);
                let (at, bond) = (0.5 * k * (x[i] - 1.0), x[next] - x[i]);
                value += (at.exp() + (-at).exp()).ln() + 0.05 * bond * bond;
                gradient[i] += 0.5 * k * at.tanh() - 0.1 * bond;
                gradient[next] += 0.1 * bond;
            }
            value
        });
        assert!(x.iter().all(|x| (x - 1.0).abs() < 0.01), "{x:?}");
    }

    #[test]
    fn what_is_not_a_number_is_no_improvement() {
        let mut x = vec![1.0];
        descend(&mut x, 50, |x, gradient| {
            gradient[0] = -1.0 / x[0];
            if x[0] > 2.0 { f64::NAN } else { -x[0].ln() }
        });
        assert!(x[0] > 1.5 && x[0] <= 2.0, "{x:?}");
    }
}
