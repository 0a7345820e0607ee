//! Transformer blocks over tokens, attention head by head, and pooling.

use crate::theta::{Theta, device, matrix};
use crate::{assert_agrees, dense};
use burn::tensor::activation::{relu, softmax};
use burn::tensor::{Int, Tensor, TensorData};
use inducing::data::Texts;
use inducing::dataset::{Inputs, Matrix};
use inducing::nn::mlp::MlpShape;
use inducing::nn::text::{Pooling, TextEncoder, TextShape, TowerShape};

/// `h W + b`
fn linear(theta: &Theta, name: &str, h: Tensor<2>) -> Tensor<2> {
    h.matmul(theta.matrix(&format!("{name}.weight"))) + theta.matrix(&format!("{name}.bias"))
}

/// `γ (h − mean) / √(var + ε) + β` of each token.
fn norm(theta: &Theta, name: &str, h: &Tensor<2>) -> Tensor<2> {
    let centred = h.clone() - h.clone().mean_dim(1);
    let variance = (centred.clone() * centred.clone()).mean_dim(1);
    let normed = centred / (variance + 1e-5).sqrt();
    normed * theta.matrix(&format!("{name}.gain")) + theta.matrix(&format!("{name}.shift"))
}

/// One text `[L]` through one tower: `[1, P]`.
fn tower(theta: &Theta, name: &str, shape: &TowerShape, tokens: &[u32]) -> Tensor<2> {
    let (w, d, length) = (shape.width, shape.width / shape.heads, tokens.len());
    let ids: Vec<i64> = tokens.iter().map(|&id| i64::from(id)).collect();
    let ids = Tensor::<1, Int>::from_data(TensorData::new(ids, [length]), &device());
    let token = theta.matrix(&format!("{name}.token")).select(0, ids);
    let mut h = token + theta.matrix(&format!("{name}.position")).narrow(0, 0, length); // [L, W]
    for block in 0..shape.blocks {
        let part = |part: &str| format!("{name}.blocks.{block}.{part}");
        let qkv = linear(theta, &part("qkv"), norm(theta, &part("before_attention"), &h)); // [L, 3W]
        let head = |head: usize| {
            let [q, k, v] = [0, 1, 2].map(|part| qkv.clone().narrow(1, part * w + head * d, d));
            softmax(q.matmul(k.transpose()) / (d as f32).sqrt(), 1).matmul(v)
        };
        let mixed = Tensor::cat((0..shape.heads).map(head).collect(), 1);
        h = h + linear(theta, &part("mix"), mixed);
        let hidden = relu(linear(theta, &part("up"), norm(theta, &part("before_dense"), &h)));
        h = h + linear(theta, &part("down"), hidden);
    }
    let h = norm(theta, &format!("{name}.last"), &h);
    match shape.pooling {
        Pooling::Mean => h.mean_dim(0),
        Pooling::Max => h.max_dim(0),
        Pooling::MeanMax => Tensor::cat(vec![h.clone().mean_dim(0), h.max_dim(0)], 1),
    }
}

/// The module's equations.
fn reference(theta: &Theta, shape: &TextShape, read: &Matrix) -> Tensor<2> {
    let beside = shape.beside.as_ref().map(|mlp| {
        dense::reference(&theta.below("beside"), mlp, matrix(&read.x, read.width)) // [N, K·B]
    });
    let member = |k: usize| {
        let mut u: Vec<Tensor<2>> = Vec::new();
        for (column, tower_shape) in shape.towers.iter().enumerate() {
            let (name, texts) = (format!("towers.{}", k * shape.towers.len() + column), &read.texts[column]);
            let text = |row: usize| tower(theta, &name, tower_shape, texts.row(row));
            u.push(Tensor::cat((0..read.rows()).map(text).collect(), 0));
        }
        if let (Some(phi), Some(mlp)) = (&beside, &shape.beside) {
            let each = mlp.features / shape.members;
            u.push(phi.clone().narrow(1, k * each, each));
        }
        Tensor::cat(u, 1).matmul(theta.part("weight", k)) + theta.part("bias", k)
    };
    Tensor::cat((0..shape.members).map(member).collect(), 1)
}

/// Six texts of 1 to 40 tokens in each column: more than one strip of queries, more than one group of texts.
fn check(shape: &TextShape) {
    const LENGTHS: [usize; 6] = [5, 1, 40, 2, 16, 17];
    let texts = |(column, tower): (usize, &TowerShape)| {
        let mut texts = Texts::default();
        for row in 0..LENGTHS.len() {
            let length = LENGTHS[(row + 2 * column) % LENGTHS.len()];
            let token = |t: usize| 1 + ((t * t + 3 * t + 5 * row + column) % (tower.vocabulary - 1)) as u32;
            texts.tokens.extend((0..length).map(token));
            texts.offsets.push(texts.tokens.len());
        }
        texts
    };
    let width = shape.beside.as_ref().map_or(0, |mlp| mlp.width);
    let x = crate::random(LENGTHS.len() * width, 9);
    let read = Matrix { x, width, texts: shape.towers.iter().enumerate().map(texts).collect(), ..Matrix::default() };
    let encoder = TextEncoder::new(shape.clone()).expect("a sound shape");
    assert_agrees(&encoder, &Inputs::Table(read.clone()), None, &|theta, _| reference(theta, shape, &read));
}

fn one(pooling: Pooling, blocks: usize) -> TextShape {
    let (vocabulary, length, width, heads, feed_forward) = (23, 40, 12, 3, 10);
    let tower = TowerShape { vocabulary, length, width, heads, feed_forward, blocks, pooling };
    TextShape { towers: vec![tower], beside: None, features: 5, members: 1, dropout: 0.0, word_dropout: 0.0 }
}

#[test]
fn a_bag_of_words_agrees() {
    check(&one(Pooling::Mean, 0));
}

#[test]
fn transformer_blocks_agree_for_all_poolings() {
    for pooling in [Pooling::Mean, Pooling::Max, Pooling::MeanMax] {
        check(&one(pooling, 2));
    }
}

#[test]
fn two_texts_beside_a_table_with_members_agree() {
    let beside = MlpShape {
        numeric: 2,
        width: 3,
        hidden: vec![4],
        features: 6,
        members: 2,
        periodic: None,
        skip: false,
        tables: Vec::new(),
        table_width: 0,
        dropout: 0.0,
    };
    let towers = [one(Pooling::MeanMax, 1).towers, one(Pooling::Mean, 1).towers].concat();
    check(&TextShape { towers, beside: Some(beside), features: 4, members: 2, ..one(Pooling::Mean, 1) });
}
