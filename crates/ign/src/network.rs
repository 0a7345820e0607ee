//! Encoders of every kind behind one door: what training and prediction ask of a network, and the shapes that a model
//! file names.

use crate::encoder::cnn::{Cnn, CnnShape};
use crate::encoder::identity::{Identity, IdentityShape};
use crate::encoder::mlp::{Mlp, MlpShape};
use crate::encoder::{Encoder, Mode, parameters};
use crate::inputs::Inputs;
use crate::own::{Maker, OwnShape};
use crate::schema::Schema;
use burn::tensor::{Device, Gradients, Tensor};
use parameters::Slot;
use serde::{Deserialize, Serialize};

/// An [`Encoder`] whose type is not known.
pub(crate) trait Network: std::fmt::Debug + Send + Sync {
    fn dim(&self) -> usize;
    fn members(&self) -> usize;
    fn features(&self, inputs: &Inputs, rows: &[usize], mode: Mode) -> Tensor<2>;
    fn decays(&self, path: &str) -> bool;
    /// Names, shapes and values of the parameters.
    fn parameters(&self) -> (Vec<Slot>, Vec<f32>);
    /// Appends the gradients of all parameters.
    fn gradients(&self, gradients: &Gradients, values: &mut Vec<f32>);
    /// The same network with other parameters, on `device`.
    fn with(&self, values: &[f32], device: &Device) -> Box<dyn Network>;
}

impl<E: Encoder> Network for E {
    fn dim(&self) -> usize {
        Encoder::dim(self)
    }

    fn members(&self) -> usize {
        Encoder::members(self)
    }

    fn features(&self, inputs: &Inputs, rows: &[usize], mode: Mode) -> Tensor<2> {
        Encoder::features(self, inputs, rows, mode)
    }

    fn decays(&self, path: &str) -> bool {
        E::decays(path)
    }

    fn parameters(&self) -> (Vec<Slot>, Vec<f32>) {
        parameters::read(self)
    }

    fn gradients(&self, gradients: &Gradients, values: &mut Vec<f32>) {
        parameters::read_gradients(self, gradients, values);
    }

    fn with(&self, values: &[f32], device: &Device) -> Box<dyn Network> {
        Box::new(parameters::write(self.clone(), values, device))
    }
}

/// Everything that fixes a network's parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NetworkShape {
    /// Dense layers.
    Mlp(MlpShape),
    /// Convolutions.
    Cnn(CnnShape),
    /// Features that are the inputs.
    Identity(IdentityShape),
    /// An encoder from outside.
    Own(OwnShape),
}

impl NetworkShape {
    /// D
    pub fn features(&self) -> usize {
        match self {
            Self::Mlp(shape) => shape.features,
            Self::Cnn(shape) => shape.features,
            Self::Identity(shape) => shape.features,
            Self::Own(shape) => shape.features,
        }
    }

    /// Number of parameters, without making them; `None` where only the maker knows.
    pub(crate) fn parameters(&self) -> Option<u128> {
        match self {
            Self::Mlp(shape) => Some(shape.parameters()),
            Self::Cnn(shape) => Some(shape.parameters()),
            Self::Identity(_) => Some(0),
            Self::Own(_) => None,
        }
    }

    /// A network of this shape with initial parameters.
    pub(crate) fn make(&self, seed: u64, maker: Option<&Maker>) -> Result<Box<dyn Network>, String> {
        let device = &Device::default();
        Ok(match self {
            Self::Mlp(shape) => Box::new(Mlp::new(shape.clone(), seed, device)),
            Self::Cnn(shape) => Box::new(Cnn::new(shape.clone(), seed, device)),
            Self::Identity(shape) => Box::new(Identity::new(*shape)),
            Self::Own(shape) => match maker {
                Some(maker) => maker.make(shape, seed)?,
                None => return Err(format!("its network is the encoder `{}` of another program", shape.own)),
            },
        })
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
            Self::Identity(shape) => shape.features > 0 && shape.features == schema.width(),
            Self::Own(shape) => schema.own().is_some() && shape.features > 0,
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
            Self::Identity(shape) => format!("the {} inputs themselves", shape.features),
            Self::Own(shape) => format!("`{}` → {} features", shape.own, shape.features),
        }
    }
}
