//! Encoders of every kind behind one door: what training and prediction ask of a network, and the shapes that a model
//! file names.

use crate::encoder::cnn::{Cnn, CnnShape};
use crate::encoder::graph::{GraphKind, GraphNetwork, GraphShape};
use crate::encoder::identity::{Identity, IdentityShape};
use crate::encoder::mlp::{Mlp, MlpShape, TableShape};
use crate::encoder::transformer::{TextShape, Transformer};
use crate::encoder::{ByHand, Encoder, Mode, parameters};
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
    fn features_at(&self, x: Tensor<2>) -> Option<Tensor<2>>;
    fn by_hand(&self) -> Option<&dyn ByHand>;
    fn decays(&self, path: &str) -> bool;
    /// Names, shapes and values of the parameters.
    fn parameters(&self) -> (Vec<Slot>, Vec<f32>);
    /// Sets `values` to the gradients of all parameters, which are gone afterwards.
    fn take_gradients(&self, gradients: &mut Gradients, values: &mut [f32]);
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

    fn features_at(&self, x: Tensor<2>) -> Option<Tensor<2>> {
        Encoder::features_at(self, x)
    }

    fn by_hand(&self) -> Option<&dyn ByHand> {
        Encoder::by_hand(self)
    }

    fn decays(&self, path: &str) -> bool {
        E::decays(path)
    }

    fn parameters(&self) -> (Vec<Slot>, Vec<f32>) {
        parameters::read(self)
    }

    fn take_gradients(&self, gradients: &mut Gradients, values: &mut [f32]) {
        parameters::take_gradients(self, gradients, values);
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
    /// Attention over words.
    Text(TextShape),
    /// Messages between nodes.
    Graph(GraphShape),
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
            Self::Text(shape) => shape.features,
            Self::Graph(shape) => shape.features,
            Self::Identity(shape) => shape.features,
            Self::Own(shape) => shape.features,
        }
    }

    /// Number of parameters, without making them; `None` where only the maker knows.
    pub(crate) fn parameters(&self) -> Option<u128> {
        match self {
            Self::Mlp(shape) => Some(shape.parameters()),
            Self::Cnn(shape) => Some(shape.parameters()),
            Self::Text(shape) => Some(shape.parameters()),
            Self::Graph(shape) => Some(shape.parameters()),
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
            Self::Text(shape) => Box::new(Transformer::new(shape.clone(), seed, device)),
            Self::Graph(shape) => Box::new(GraphNetwork::new(shape.clone(), seed, device)),
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
            Self::Mlp(shape) => mlp_is_sound(shape, schema) && has_numbers(schema),
            Self::Cnn(shape) => {
                let size = [shape.height, shape.width, shape.channels];
                let pictures = schema.images().map(|images| [images.height, images.width, images.channels]);
                pictures == Some(size) && shape.fault().is_none()
            }
            Self::Text(shape) => {
                let towers = shape.towers.iter().map(|tower| (tower.vocabulary, tower.length));
                let texts = schema.texts().map(|tokenizer| (tokenizer.vocabulary(), tokenizer.length()));
                towers.eq(texts)
                    && shape.beside.is_some() == (schema.width() > 0)
                    && shape.beside.as_ref().is_none_or(|mlp| mlp_is_sound(mlp, schema))
                    && shape.fault().is_none()
            }
            Self::Graph(shape) => {
                schema.graphs().is_some() && shape.inputs == schema.width() && shape.fault().is_none()
            }
            Self::Identity(shape) => {
                shape.features > 0 && has_numbers(schema) && shape.features == schema.width()
            }
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
            Self::Own(shape) => format!("`{}` → {} features", shape.own, shape.features),
        }
    }
}

/// Whether an input is a row of numbers and nothing else.
fn has_numbers(schema: &Schema) -> bool {
    (schema.table().is_some() || schema.images().is_some()) && schema.texts().next().is_none()
}

fn mlp_is_sound(shape: &MlpShape, schema: &Schema) -> bool {
    let tables = |t: &TableShape| t.column < shape.numeric && t.knots >= 2 && t.high > t.low;
    let sizes = [shape.width, shape.features].into_iter().chain(shape.hidden.iter().copied());
    let embedding = shape.periodic.iter().flat_map(|periodic| [periodic.frequencies, periodic.width]);
    sizes.chain(embedding).all(|size| size > 0)
        && (shape.tables.is_empty() || shape.table_width > 0)
        && shape.width == schema.width()
        && shape.numeric == schema.numeric_width()
        && shape.members > 0
        && shape.features.is_multiple_of(shape.members)
        && (0.0..1.0).contains(&shape.dropout)
        && shape.tables.iter().all(tables)
}
