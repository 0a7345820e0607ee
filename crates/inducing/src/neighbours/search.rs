//! The rows nearest to a point, exactly: scores by blocked products, then the true distances of the best.

use linalg::gemm::{Plus, product};
use linalg::{MatMut, MatRef};
use rayon::prelude::*;

/// Queries that share a product.
const QUERIES: usize = 32;
/// Points that share one: with the queries' scores they stay in the cache.
const POINTS: usize = 512;
/// Candidates beyond those asked for: scores are rounded, distances are not.
const SPARE: usize = 8;

/// Points that can be asked for the nearest ones.
#[derive(Debug)]
pub(crate) struct Index {
    /// Coordinates from the centre and squared norm, row-major `[N, d + 1]`.
    points: Vec<f32>,
    /// Mean of the points `[d]`: scores of points far from the origin would lose their digits.
    centre: Vec<f32>,
    width: usize,
}

impl Index {
    /// Points of `coordinates [N, d]`, each coordinate times its weight.
    pub(crate) fn new(coordinates: &[f32], weights: &[f32]) -> Self {
        let (d, width) = (weights.len(), weights.len() + 1);
        let n = coordinates.len() / d.max(1);
        let mut centre = vec![0.0_f64; d];
        for row in coordinates.chunks_exact(d.max(1)) {
            let weighted = row.iter().zip(weights).map(|(x, w)| f64::from(x * w) / n as f64);
            centre.iter_mut().zip(weighted).for_each(|(sum, x)| *sum += x);
        }
        let centre: Vec<f32> = centre.into_iter().map(|x| x as f32).collect();
        let mut points = Vec::with_capacity(n * width);
        for row in coordinates.chunks_exact(d.max(1)) {
            let start = points.len();
            points.extend(row.iter().zip(weights).zip(&centre).map(|((x, w), centre)| x * w - centre));
            let norm = points[start..].iter().map(|x| x * x).sum();
            points.push(norm);
        }
        Self { points, centre, width }
    }

    /// Queries from the centre.
    fn centred(&self, queries: &[f32]) -> Vec<f32> {
        let rows = queries.chunks_exact(self.centre.len());
        rows.flat_map(|row| row.iter().zip(&self.centre).map(|(x, centre)| x - centre)).collect()
    }

    /// The `k` points nearest to each query, nearest first, `[N, min(k, points)]`; queries are weighted as the points were.
    /// A query that is the point `except[i]` itself does not count it.
    pub(crate) fn nearest(&self, queries: &[f32], except: Option<&[usize]>, k: usize) -> Vec<Vec<u32>> {
        let d = self.width - 1;
        let blocks: Vec<Vec<Vec<u32>>> = queries
            .par_chunks(QUERIES * d)
            .enumerate()
            .map(|(block, queries)| {
                let first = block * QUERIES;
                let except = except.map(|rows| &rows[first..first + queries.len() / d]);
                self.block(queries, except, k)
            })
            .collect();
        blocks.into_iter().flatten().collect()
    }

    /// Distances of a query from some points.
    pub(crate) fn distances(&self, query: &[f32], points: &[u32]) -> Vec<f64> {
        let query = self.centred(query);
        let to = |&point: &u32| {
            let point = &self.points[point as usize * self.width..][..self.width - 1];
            point.iter().zip(&query).map(|(p, q)| f64::from(p - q).powi(2)).sum::<f64>().sqrt()
        };
        points.iter().map(to).collect()
    }

    fn block(&self, queries: &[f32], except: Option<&[usize]>, k: usize) -> Vec<Vec<u32>> {
        let (w, d) = (self.width, self.width - 1);
        let (n, queries) = (queries.len() / d, &self.centred(queries)[..]);
        // ‖p‖² − 2pᵀq orders the points as their distances do.
        let asked: Vec<f32> =
            queries.chunks_exact(d).flat_map(|q| q.iter().map(|x| -2.0 * x).chain([1.0])).collect();
        let asked = MatRef::from_row_major_slice(&asked, n, w);
        let mut best: Vec<Best> = (0..n).map(|_| Best::new(k + SPARE)).collect();
        let mut scores = vec![0.0_f32; POINTS * n];
        for (tile, points) in self.points.chunks(POINTS * w).enumerate() {
            let count = points.len() / w;
            let scores = &mut scores[..count * n];
            product(
                MatMut::from_column_major_slice_mut(scores, count, n),
                Plus::Nothing,
                MatRef::from_row_major_slice(points, count, w),
                asked.transpose(),
                1.0,
            );
            for (i, (best, scores)) in best.iter_mut().zip(scores.chunks_exact(count)).enumerate() {
                let own = except.map_or(usize::MAX, |rows| rows[i]);
                best.offer(scores, tile * POINTS, own);
            }
        }
        let exact = |(best, query): (Best, &[f32])| {
            let distance = |&(_, point): &(f32, u32)| {
                let point_at = &self.points[point as usize * w..][..d];
                let squares = point_at.iter().zip(query).map(|(p, q)| f64::from(p - q).powi(2));
                (squares.sum::<f64>(), point)
            };
            let mut found: Vec<(f64, u32)> = best.kept.iter().map(distance).collect();
            found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            found.truncate(k);
            found.into_iter().map(|(_, point)| point).collect()
        };
        best.into_iter().zip(queries.chunks_exact(d)).map(exact).collect()
    }
}

/// The smallest scores so far.
struct Best {
    kept: Vec<(f32, u32)>,
    count: usize,
    limit: f32,
}

impl Best {
    fn new(count: usize) -> Self {
        Self { kept: Vec::with_capacity(2 * count), count, limit: f32::INFINITY }
    }

    fn offer(&mut self, scores: &[f32], first: usize, except: usize) {
        for (chunk, part) in scores.chunks(16).enumerate() {
            // Not `any`: sixteen comparisons at once are faster than leaving early.
            if !part.iter().fold(false, |hit, &score| hit | (score <= self.limit)) {
                continue;
            }
            for (i, &score) in part.iter().enumerate() {
                let point = first + chunk * 16 + i;
                if score <= self.limit && point != except {
                    self.kept.push((score, point as u32));
                    if self.kept.len() == 2 * self.count {
                        self.shrink();
                    }
                }
            }
        }
        if self.kept.len() > self.count {
            self.shrink();
        }
    }

    fn shrink(&mut self) {
        let order = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        let (_, last, _) = self.kept.select_nth_unstable_by(self.count - 1, order);
        self.limit = last.0;
        self.kept.truncate(self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};

    fn cloud(n: usize, d: usize, seed: u64) -> Vec<f32> {
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        (0..n * d).map(|_| rng.random_range(-2.0..2.0)).collect()
    }

    #[test]
    fn the_nearest_are_those_of_a_full_sort_alone_and_in_company() {
        for (n, d, k) in [(1300, 5, 32), (40, 2, 7), (3, 1, 8), (600, 40, 20)] {
            let (points, queries) = (cloud(n, d, 1), cloud(50, d, 2));
            let index = Index::new(&points, &vec![1.0; d]);
            let found = index.nearest(&queries, None, k);
            for (query, found) in queries.chunks(d).zip(&found) {
                let distance = |i: usize| -> f64 {
                    points[i * d..][..d].iter().zip(query).map(|(p, q)| f64::from(p - q).powi(2)).sum()
                };
                let mut all: Vec<usize> = (0..n).collect();
                all.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
                let expected: Vec<u32> = all[..k.min(n)].iter().map(|&i| i as u32).collect();
                assert_eq!(found, &expected);
                assert_eq!(index.nearest(query, None, k), [expected]);
            }
        }
    }

    #[test]
    fn the_nearest_are_found_far_from_the_origin_too() {
        let (n, d, k) = (1500, 3, 40);
        let moved = |points: Vec<f32>| points.into_iter().map(|x| 3000.0 + x).collect::<Vec<f32>>();
        let (points, queries) = (moved(cloud(n, d, 5)), moved(cloud(20, d, 6)));
        let found = Index::new(&points, &vec![1.0; d]).nearest(&queries, None, k);
        for (query, found) in queries.chunks(d).zip(&found) {
            let distance = |i: usize| -> f64 {
                points[i * d..][..d].iter().zip(query).map(|(p, q)| f64::from(p - q).powi(2)).sum()
            };
            let mut all: Vec<f64> = (0..n).map(distance).collect();
            all.sort_by(f64::total_cmp);
            let farthest = found.iter().map(|&i| distance(i as usize)).fold(0.0, f64::max);
            assert!(farthest <= all[k - 1] * 1.001, "{farthest} {}", all[k - 1]);
        }
    }

    #[test]
    fn a_row_is_not_its_own_neighbour_but_its_copy_is() {
        let mut points = cloud(100, 3, 4);
        points.copy_within(0..3, 30); // row 10 is a copy of row 0
        let index = Index::new(&points, &[1.0; 3]);
        let rows: Vec<usize> = (0..100).collect();
        let found = index.nearest(&points, Some(&rows), 1);
        assert_eq!((&found[0][..], &found[10][..]), (&[10][..], &[0][..]));
        assert!(found.iter().enumerate().all(|(row, found)| found[0] as usize != row));
    }
}
