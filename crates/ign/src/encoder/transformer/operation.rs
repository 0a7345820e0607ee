//! A tower as one operation of burn's autodiff.

use super::network::{self, Tape, part_seed};
use super::{TextShape, Texts, TowerShape, UNKNOWN};
use crate::encoder::Mode;
use crate::encoder::tensors::{from_shape, from_vec};
use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// Some texts on their way through one tower.
#[derive(Debug)]
pub struct Batch {
    pub(super) shape: TowerShape,
    pub(super) tokens: Vec<u32>,
    pub(super) offsets: Vec<usize>, // [N + 1]
    /// Share and seed.
    pub(super) dropout: Option<(f64, u64)>,
}

impl Batch {
    pub(super) fn new(
        shape: &TextShape,
        tower: usize,
        texts: &Texts,
        rows: &[usize],
        mode: Mode,
        place: [usize; 2],
    ) -> Self {
        let (tower, mut tokens, mut offsets) = (&shape.towers[tower], Vec::new(), vec![0]);
        for &row in rows {
            let text = texts.row(row);
            assert!((1..=tower.length).contains(&text.len()), "row {row} has {} tokens", text.len());
            tokens.extend_from_slice(text);
            offsets.push(tokens.len());
        }
        assert!(
            tokens.iter().all(|&id| (id as usize) < tower.vocabulary),
            "a token outside of the vocabulary"
        );
        let mut dropout = None;
        if let Mode::Train { seed } = mode {
            let seed = part_seed(seed, place);
            if shape.word_dropout > 0.0 {
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let threshold = (shape.word_dropout * f64::from(u32::MAX)) as u32;
                tokens
                    .iter_mut()
                    .for_each(|id| *id = if rng.random::<u32>() < threshold { UNKNOWN } else { *id });
            }
            dropout = (shape.dropout > 0.0).then_some((shape.dropout, seed));
        }
        Self { shape: tower.clone(), tokens, offsets, dropout }
    }

    /// N
    pub(super) fn texts(&self) -> usize {
        self.offsets.len() - 1
    }
}

/// A tower as one operation of burn.
#[backend_extension(Flex, Autodiff)]
pub trait TowerOps: Backend {
    /// Pooled texts `[N, P]` from the tokens' table `[V, W]` and all other parameters, in the module's order.
    fn tower(token: FloatTensor<Self>, rest: FloatTensor<Self>, batch: Arc<Batch>) -> FloatTensor<Self>;
}

impl TowerOps for Flex {
    fn tower(token: FloatTensor<Self>, rest: FloatTensor<Self>, batch: Arc<Batch>) -> FloatTensor<Self> {
        let (token, rest) = (token.to_contiguous(), rest.to_contiguous());
        from_vec(network::forward(&batch, slice(&token), slice(&rest)), batch.shape.outputs())
    }
}

impl<C: CheckpointStrategy> TowerOps for Autodiff<Flex, C> {
    fn tower(token: FloatTensor<Self>, rest: FloatTensor<Self>, batch: Arc<Batch>) -> FloatTensor<Self> {
        let prepared = PullBack.prepare::<C>([token.node(), rest.node()]).compute_bound().stateful();
        let (token, rest) = (token.into_primitive(), rest.into_primitive());
        match prepared {
            OpsKind::Tracked(prepared) => {
                let width = batch.shape.outputs();
                let (token, rest) = (token.to_contiguous(), rest.to_contiguous());
                let (pooled, tape) = network::record(batch, slice(&token), slice(&rest).to_vec());
                prepared.finish(Arc::new(tape), from_vec(pooled, width))
            }
            OpsKind::UnTracked(prepared) => prepared.finish(Flex::tower(token, rest, batch)),
        }
    }
}

/// From ∂pooled to the gradients of the parameters.
#[derive(Debug)]
struct PullBack;

impl Backward<Flex, 2> for PullBack {
    type State = Arc<Tape>;

    fn backward(self, ops: Ops<Arc<Tape>, 2>, grads: &mut Gradients, _checkpointer: &mut Checkpointer) {
        let d_pooled = grads.consume::<Flex>(&ops.node).to_contiguous();
        let [d_token, d_rest] = network::pull_back(&ops.state, slice(&d_pooled));
        let (width, len) = (ops.state.width(), d_rest.len());
        let both = [from_vec(d_token, width), from_shape(d_rest, [len])];
        for (parent, gradient) in ops.parents.into_iter().zip(both) {
            if let Some(node) = parent {
                grads.register::<Flex>(node.id, gradient);
            }
        }
    }
}

fn slice(tensor: &FloatTensor<Flex>) -> &[f32] {
    tensor.as_slice().expect("contiguous, and the encoder computes in f32")
}
