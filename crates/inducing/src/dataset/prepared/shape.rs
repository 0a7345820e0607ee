//! The encoder that suits the data.

use super::{Prepared, Values};
use crate::config::{Config, EncoderKind};
use crate::dataset::{Inputs, Schema};
use crate::nn::EncoderShape;
use crate::nn::cnn::CnnShape;
use crate::nn::graph::{GraphKind, GraphShape};
use crate::nn::identity::IdentityShape;
use crate::nn::mlp::{LookupShape, MlpShape, PeriodicShape};
use crate::nn::text::{TextShape, TowerShape};
use data::{GraphSchema, ImageSchema};

/// More numeric columns than this go into the network as they are: embeddings of all of them would be its bulk.
const MOST_EMBEDDED: usize = 256;

/// Channels that share mean and variance in a convolutional network.
const CHANNELS_A_GROUP: usize = 8;

impl Prepared {
    /// Kind and sizes of the encoder, as the data and the configuration ask for it.
    pub(crate) fn encoder_shape(&self, config: &Config) -> EncoderShape {
        let encoder = &config.encoder;
        match (&self.custom_shape, &self.schema, encoder.kind) {
            (Some(shape), ..) => return EncoderShape::Custom(shape.clone()),
            (_, Schema::Images(images), EncoderKind::Cnn) => {
                return EncoderShape::Cnn(cnn_shape(images, config));
            }
            (_, Schema::Graphs(graphs), kind) => {
                return EncoderShape::Graph(graph_shape(graphs, kind, config));
            }
            (.., EncoderKind::Identity) => {
                return EncoderShape::Identity(IdentityShape { features: self.inputs.width() });
            }
            _ if self.schema.texts().next().is_some() => return EncoderShape::Text(self.text_shape(config)),
            _ => {}
        }
        EncoderShape::Mlp(self.mlp_shape(config))
    }

    fn text_shape(&self, config: &Config) -> TextShape {
        let (encoder, text) = (&config.encoder, &config.encoder.text);
        let tower = |tokenizer: &data::Tokenizer| TowerShape {
            vocabulary: tokenizer.vocabulary(),
            length: tokenizer.length(),
            width: text.width.get(),
            heads: text.heads.get(),
            feed_forward: text.feed_forward.get(),
            blocks: text.blocks,
            pooling: text.pooling,
        };
        let beside = (self.inputs.width() > 0).then(|| MlpShape {
            features: text.beside.get() * encoder.members.get(),
            ..self.mlp_shape(config)
        });
        TextShape {
            towers: self.schema.texts().map(tower).collect(),
            beside,
            features: encoder.features.get(),
            members: encoder.members.get(),
            dropout: encoder.dropout.get(),
            word_dropout: text.word_dropout.get(),
        }
    }

    fn mlp_shape(&self, config: &Config) -> MlpShape {
        let encoder = &config.encoder;
        let tables = if encoder.lookup { self.serial_columns() } else { Vec::new() };
        MlpShape {
            numeric: self.schema.numeric_width(),
            width: self.inputs.width(),
            hidden: encoder.hidden.iter().map(|units| units.get()).collect(),
            features: encoder.features.get(),
            members: encoder.members.get(),
            periodic: (encoder.frequencies > 0 && (1..=MOST_EMBEDDED).contains(&self.schema.numeric_width()))
                .then(|| PeriodicShape {
                    frequencies: encoder.frequencies,
                    width: encoder.embedding_width.get(),
                    scale: encoder.frequency_scale.get(),
                }),
            skip: encoder.skip,
            tables,
            table_width: 8,
            dropout: encoder.dropout.get(),
        }
    }

    /// Lookup embeddings for columns that count something off in equal steps (a row number, a clock) and whose neighbours have
    /// similar targets: von Neumann's ratio `Σ(yᵢ₊₁−yᵢ)² / 2Σ(yᵢ−ȳ)²` in the column's order, 1 for unrelated ones.
    fn serial_columns(&self) -> Vec<LookupShape> {
        const RATIO: f32 = 0.5;
        const ROWS_A_KNOT: [usize; 3] = [48, 12, 3];
        let Values::Numbers(numbers) = &self.values else { return Vec::new() };
        let Inputs::Table(matrix) = &self.inputs else { return Vec::new() };
        let (n, c) = (self.train.len(), self.schema.outputs());
        let mut tables = Vec::new();
        for column in 0..self.schema.numeric_width() {
            let value = |row: usize| matrix.x[row * matrix.width + column];
            let mut distinct: Vec<f32> = self.train.iter().map(|&row| value(row)).collect();
            distinct.sort_unstable_by(f32::total_cmp);
            distinct.dedup();
            if distinct.len() < 32 || distinct.len() <= n / 2 {
                continue;
            }
            let (low, high) = (distinct[0], distinct[distinct.len() - 1]);
            let smallest = distinct.windows(2).map(|pair| pair[1] - pair[0]).fold(f32::INFINITY, f32::min);
            let equal_steps = smallest * (distinct.len() - 1) as f32 > 0.2 * (high - low);
            if !equal_steps {
                continue;
            }
            let mut order: Vec<(f32, usize)> = self.train.iter().map(|&row| (value(row), row)).collect();
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            let rows: Vec<usize> = order.into_iter().map(|(_, row)| row).collect();
            let ratio = |output: usize| {
                let y = |row: usize| numbers[row * c + output];
                let steps = rows.windows(2).map(|pair| (y(pair[1]) - y(pair[0])).powi(2)).sum::<f32>();
                steps / (2.0 * rows.iter().map(|&row| y(row).powi(2)).sum::<f32>())
            };
            if (0..c).map(ratio).fold(f32::INFINITY, f32::min) < RATIO {
                tables.extend(ROWS_A_KNOT.map(|rows| {
                    let knots = (distinct.len() / rows).max(4);
                    LookupShape { column, low, high, knots }
                }));
            }
        }
        tables
    }
}

/// The convolutional network that the configuration asks for.
fn cnn_shape(images: &ImageSchema, config: &Config) -> CnnShape {
    let encoder = &config.encoder;
    CnnShape {
        height: images.height,
        width: images.width,
        channels: images.channels,
        stem: encoder.stem,
        blocks: encoder.blocks.iter().map(|channels| channels.get()).collect(),
        convolutions: encoder.convolutions,
        group: CHANNELS_A_GROUP,
        features: encoder.features.get(),
    }
}

/// The network of graphs that the configuration asks for.
fn graph_shape(graphs: &GraphSchema, kind: EncoderKind, config: &Config) -> GraphShape {
    let (encoder, graph) = (&config.encoder, &config.encoder.graph);
    GraphShape {
        kind: if kind == EncoderKind::Bag { GraphKind::Bag } else { GraphKind::Gin },
        inputs: graphs.width(),
        width: graph.width.get(),
        rounds: graph.rounds,
        node_pooling: graph.node_pooling,
        graph_pooling: graph.graph_pooling,
        hidden: encoder.hidden.iter().map(|units| units.get()).collect(),
        features: encoder.features.get(),
        members: encoder.members.get(),
        dropout: encoder.dropout.get(),
    }
}
