//! Kept rows of a model of classes.

use super::search::Index;
use super::{BLOCK, KeptRows, narrow, scale};
use crate::model::{ClassStack, ClassificationBatch};
use rayon::prelude::*;

/// Kept rows, ready to be asked.
#[derive(Debug)]
pub(crate) struct ClassNeighbours {
    kept: KeptRows,
    index: Index,
    weights: Vec<f32>,
}

impl ClassNeighbours {
    pub(crate) fn new(kept: KeptRows, stack: &ClassStack) -> Self {
        let weights = narrow(&stack.process.inverse_lengths());
        Self { index: Index::new(&kept.x, &weights), kept, weights }
    }

    pub(crate) fn kept(&self) -> &KeptRows {
        &self.kept
    }

    /// Joins the probabilities of some rows `x [n, d]` with the classes of their nearest rows.
    pub(crate) fn join(&self, stack: &ClassStack, x: &[f32], batch: &mut ClassificationBatch) {
        let (d, k) = (self.kept.width, batch.classes);
        let block = |(x, p): (&[f32], &mut [f64])| -> Vec<f64> {
            let scaled = scale(x, &self.weights);
            let found = self.index.nearest(&scaled, None, stack.count);
            let rows = scaled.chunks_exact(d).zip(&found).zip(p.chunks_exact_mut(k));
            rows.map(|((x, found), p)| {
                let classes: Vec<usize> = found.iter().map(|&j| self.kept.y[j as usize] as usize).collect();
                stack.join(p, &self.index.distances(x, found), &classes)
            })
            .collect()
        };
        let blocks: Vec<Vec<f64>> =
            x.par_chunks(BLOCK * d).zip(batch.p.par_chunks_mut(BLOCK * k)).map(block).collect();
        batch.familiarity = blocks.into_iter().flatten().collect();
    }
}
