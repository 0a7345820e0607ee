//! The shapes that a model file names, and the encoders that they stand for.

use super::Encoder;
use super::cnn::{Cnn, CnnShape};
use super::graph::{GraphEncoder, GraphKind, GraphShape};
use super::identity::{Identity, IdentityShape};
use super::mlp::{Mlp, MlpShape};
use super::text::{TextEncoder, TextShape};
use crate::dataset::{CustomShape, EncoderFactory, Schema};
use serde::{Deserialize, Serialize};

/// Everything that fixes an encoder's parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum EncoderShape {
    /// Dense layers.
    Mlp(MlpShape),
    /// Convolutions.
    Cnn(CnnShape),
    /// Attention over words.
    Text(TextShape),
    /// Messages between nodes.
    Graph(GraphShape),
    /// Features that are the inputs.
    Identity(IdentityShape),
    /// A custom encoder.
    Custom(CustomShape),
}

impl EncoderShape {
    /// D
    pub fn features(&self) -> usize {
        match self {
            Self::Mlp(shape) => shape.features,
            Self::Cnn(shape) => shape.features,
            Self::Text(shape) => shape.features,
            Self::Graph(shape) => shape.features,
            Self::Identity(shape) => shape.features,
            Self::Custom(shape) => shape.features,
        }
    }

    /// The encoder of this shape, or what is wrong with the shape. Allocates no parameters.
    pub(crate) fn build(&self, factory: Option<&EncoderFactory>) -> Result<Box<dyn Encoder>, String> {
        Ok(match self {
            Self::Mlp(shape) => Box::new(Mlp::new(shape.clone())?),
            Self::Cnn(shape) => Box::new(Cnn::new(shape.clone())?),
            Self::Text(shape) => Box::new(TextEncoder::new(shape.clone())?),
            Self::Graph(shape) => Box::new(GraphEncoder::new(shape.clone())?),
            Self::Identity(shape) => Box::new(Identity::new(*shape)?),
            Self::Custom(shape) => match factory {
                Some(factory) => factory.build(shape)?,
                None => {
                    return Err(format!("its encoder `{}` is custom code of another program", shape.encoder));
                }
            },
        })
    }

    /// Whether it reads what the schema gives.
    pub(crate) fn fits(&self, schema: &Schema) -> bool {
        let mlp_fits = |shape: &MlpShape| {
            shape.width == schema.width()
                && shape.numeric == schema.numeric_width()
                && shape.fault().is_none()
        };
        match self {
            Self::Mlp(shape) => mlp_fits(shape) && has_numbers(schema),
            Self::Cnn(shape) => {
                let size = [shape.height, shape.width, shape.channels];
                schema.images().map(|images| [images.height, images.width, images.channels]) == Some(size)
            }
            Self::Text(shape) => {
                let towers = shape.towers.iter().map(|tower| (tower.vocabulary, tower.length));
                let texts = schema.texts().map(|tokenizer| (tokenizer.vocabulary(), tokenizer.length()));
                towers.eq(texts)
                    && shape.beside.is_some() == (schema.width() > 0)
                    && shape.beside.as_ref().is_none_or(mlp_fits)
            }
            Self::Graph(shape) => schema.graphs().is_some() && shape.inputs == schema.width(),
            Self::Identity(shape) => has_numbers(schema) && shape.features == schema.width(),
            Self::Custom(shape) => schema.custom().is_some() && shape.features > 0,
        }
    }

    /// What it looks like, for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Mlp(shape) => {
                let layers = [&[shape.width], &shape.hidden[..]].concat();
                let layers: Vec<String> = layers.iter().map(usize::to_string).collect();
                format!("{} × {} → {} features", shape.members, layers.join("-"), shape.features)
            }
            Self::Cnn(shape) => {
                let blocks: Vec<String> = shape.blocks.iter().map(usize::to_string).collect();
                let (stem, each) = (shape.stem, shape.convolutions);
                format!(
                    "convolutions, {stem} then {each} × {} channels → {} features",
                    blocks.join("-"),
                    shape.features
                )
            }
            Self::Text(shape) => {
                let tower = &shape.towers[0];
                let others = match (shape.towers.len(), shape.beside.is_some()) {
                    (1, false) => String::new(),
                    (texts, beside) => {
                        format!(" of {texts} texts{}", if beside { " with columns beside them" } else { "" })
                    }
                };
                format!(
                    "{} × {} transformer blocks, {} words of {} numbers{others} → {} features",
                    shape.members, tower.blocks, tower.vocabulary, tower.width, shape.features
                )
            }
            Self::Graph(shape) => {
                let kind = match shape.kind {
                    GraphKind::Bag => "bags of nodes",
                    GraphKind::Gin => "messages between nodes",
                };
                format!(
                    "{} × {kind}, {} rounds of {} units → {} features",
                    shape.members, shape.rounds, shape.width, shape.features
                )
            }
            Self::Identity(shape) => format!("the {} inputs themselves", shape.features),
            Self::Custom(shape) => format!("`{}` → {} features", shape.encoder, shape.features),
        }
    }
}

/// Whether an input is a row of numbers and nothing else.
fn has_numbers(schema: &Schema) -> bool {
    (schema.table().is_some() || schema.images().is_some()) && schema.texts().next().is_none()
}
