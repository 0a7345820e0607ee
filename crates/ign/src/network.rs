//! The encoders that come with the library, behind one door.

use crate::encoder::cnn::{Cnn, CnnShape};
use crate::encoder::mlp::{Mlp, MlpShape};
use crate::encoder::{Encoder, Mode, parameters};
use crate::inputs::Inputs;
use crate::schema::Schema;
use burn::tensor::{Device, Tensor};
use parameters::Slot;
use serde::{Deserialize, Serialize};

/// Everything that fixes a network's parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NetworkShape {
    /// Dense layers.
    Mlp(MlpShape),
    /// Convolutions.
    Cnn(CnnShape),
}

/// A network with its parameters, ready to predict.
#[derive(Debug)]
pub(crate) enum Network {
    Mlp(Box<Mlp>),
    Cnn(Box<Cnn>),
}

impl NetworkShape {
    /// D
    pub fn features(&self) -> usize {
        match self {
            Self::Mlp(shape) => shape.features,
            Self::Cnn(shape) => shape.features,
        }
    }

    /// Number of parameters, without making them.
    pub(crate) fn parameters(&self) -> u128 {
        match self {
            Self::Mlp(shape) => shape.parameters(),
            Self::Cnn(shape) => shape.parameters(),
        }
    }

    /// Whether sizes fit each other and the inputs.
    pub(crate) fn is_sound(&self, schema: &Schema) -> bool {
        match self {
            Self::Mlp(shape) => {
                let tables = |t: &crate::encoder::mlp::TableShape| {
                    t.column < shape.numeric && t.knots >= 2 && t.high > t.low
                };
                shape.width == schema.width()
                    && shape.numeric == schema.numeric_width()
                    && shape.members > 0
                    && shape.features.is_multiple_of(shape.members)
                    && shape.tables.iter().all(tables)
            }
            Self::Cnn(shape) => {
                let size = [shape.height, shape.width, shape.channels];
                let pictures = schema.images().map(|images| [images.height, images.width, images.channels]);
                pictures == Some(size) && shape.fault().is_none()
            }
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
        }
    }
}

impl Network {
    /// A network of this shape with initial parameters.
    pub(crate) fn new(shape: &NetworkShape) -> Self {
        match shape {
            NetworkShape::Mlp(shape) => Self::Mlp(Box::new(Mlp::new(shape.clone(), 0, &Device::default()))),
            NetworkShape::Cnn(shape) => Self::Cnn(Box::new(Cnn::new(shape.clone(), 0, &Device::default()))),
        }
    }

    /// The same with other parameters.
    pub(crate) fn with(self, values: &[f32]) -> Self {
        match self {
            Self::Mlp(mlp) => Self::Mlp(Box::new(parameters::write(*mlp, values, &Device::default()))),
            Self::Cnn(cnn) => Self::Cnn(Box::new(parameters::write(*cnn, values, &Device::default()))),
        }
    }

    /// Names, shapes and values of the parameters.
    pub(crate) fn parameters(&self) -> (Vec<Slot>, Vec<f32>) {
        match self {
            Self::Mlp(mlp) => parameters::read(mlp.as_ref()),
            Self::Cnn(cnn) => parameters::read(cnn.as_ref()),
        }
    }

    /// Features of some rows `[N, D]`.
    pub(crate) fn features(&self, inputs: &Inputs, rows: &[usize]) -> Tensor<2> {
        match self {
            Self::Mlp(mlp) => mlp.features(inputs, rows, Mode::Predict),
            Self::Cnn(cnn) => cnn.features(inputs, rows, Mode::Predict),
        }
    }
}
