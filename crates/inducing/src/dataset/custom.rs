//! Custom encoders with inputs of any type: training, files and predictions work as for ours.
//! `examples/custom_encoder.rs` brings clouds of points.

use crate::nn::{CustomEncoder, Encoder};
use data::{ClassTarget, ColumnType, Target, TargetColumn, TargetScale};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// What is known of each row.
#[derive(Debug, Clone)]
pub enum Labels {
    /// A number.
    Numbers(Vec<f64>),
    /// A class.
    Classes {
        /// Its place among `names`.
        labels: Vec<u32>,
        /// The classes.
        names: Vec<String>,
    },
}

/// What a model with a custom encoder predicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomSchema {
    /// The encoder's type.
    #[serde(rename = "own")]
    pub encoder: String,
    /// What is predicted.
    pub targets: Target,
}

/// The shape of a custom encoder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CustomShape {
    /// The encoder's type.
    #[serde(rename = "own")]
    pub encoder: String,
    /// D
    pub features: usize,
    /// As the encoder itself wrote it.
    pub shape: Value,
}

/// Builds encoders of one custom type.
#[derive(Clone)]
pub(crate) struct EncoderFactory {
    encoder: String,
    build: Arc<BuildEncoder>,
}

type BuildEncoder = dyn Fn(&Value) -> Result<Box<dyn Encoder>, String> + Send + Sync;

impl fmt::Debug for EncoderFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EncoderFactory({})", self.encoder)
    }
}

impl EncoderFactory {
    pub(crate) fn new<E: CustomEncoder>() -> Self {
        let build = |shape: &Value| -> Result<Box<dyn Encoder>, String> {
            let shape = serde_json::from_value(shape.clone()).map_err(|e| e.to_string())?;
            Ok(Box::new(E::new(&shape)?))
        };
        Self { encoder: type_name::<E>(), build: Arc::new(build) }
    }

    /// The encoder of a shape, which must be of this factory's type.
    pub(crate) fn build(&self, shape: &CustomShape) -> Result<Box<dyn Encoder>, String> {
        if shape.encoder != self.encoder {
            return Err(format!("its encoder is `{}`, not `{}`", shape.encoder, self.encoder));
        }
        let encoder = (self.build)(&shape.shape).map_err(|e| {
            format!("the encoder `{}` does not know the shape in its header: {e}", self.encoder)
        })?;
        if encoder.dim() != shape.features {
            let (name, dim, features) = (&self.encoder, encoder.dim(), shape.features);
            return Err(format!("the encoder `{name}` has {dim} features instead of {features}"));
        }
        Ok(encoder)
    }
}

impl CustomShape {
    /// What a model file keeps of a shape; an error where the encoder refuses it.
    pub(crate) fn new<E: CustomEncoder>(shape: &E::Shape) -> Result<Self, String> {
        let features = E::new(shape)?.dim();
        let shape = serde_json::to_value(shape).map_err(|e| e.to_string())?;
        Ok(Self { encoder: type_name::<E>(), features, shape })
    }
}

/// The type's own name, without the modules around it.
fn type_name<E>() -> String {
    let path = std::any::type_name::<E>();
    let plain = path.split('<').next().unwrap_or(path);
    plain.rsplit("::").next().unwrap_or(plain).to_owned()
}

impl Labels {
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Numbers(y) => y.len(),
            Self::Classes { labels, .. } => labels.len(),
        }
    }

    /// What is wrong with it, if anything.
    pub(crate) fn fault(&self, train: &[usize]) -> Option<String> {
        match self {
            Self::Numbers(y) => {
                let wild = y.iter().position(|y| !y.is_finite());
                let first = train.first().map(|&row| y[row]);
                wild.map(|row| format!("the target of row {row} is {}", y[row])).or_else(|| {
                    let constant = train.iter().all(|&row| Some(y[row]) == first);
                    constant.then(|| "all training rows have the same target".into())
                })
            }
            Self::Classes { labels, names } => {
                let twice = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name));
                if let Some((_, name)) = twice {
                    return Some(format!("two classes are called `{name}`"));
                }
                let unknown = labels.iter().position(|&label| label as usize >= names.len());
                let first = train.first().map(|&row| labels[row]);
                unknown.map(|row| format!("row {row} has class {} of {}", labels[row], names.len())).or_else(
                    || {
                        let one = train.iter().all(|&row| Some(labels[row]) == first);
                        one.then(|| "all training rows have the same class".into())
                    },
                )
            }
        }
    }

    /// Standardisation or counts of the training rows.
    pub(crate) fn target(&self, name: &str, train: &[usize]) -> Target {
        match self {
            Self::Numbers(y) => {
                let n = train.len() as f64;
                let mean = train.iter().map(|&row| y[row]).sum::<f64>() / n;
                let var = train.iter().map(|&row| (y[row] - mean).powi(2)).sum::<f64>() / n;
                Target::Numbers(vec![TargetColumn {
                    name: name.into(),
                    mean,
                    std: var.sqrt(),
                    scale: TargetScale::default(),
                }])
            }
            Self::Classes { labels, names } => {
                let mut counts = vec![0; names.len()];
                train.iter().for_each(|&row| counts[labels[row] as usize] += 1);
                let (name, levels, column_type) = (name.into(), names.clone(), ColumnType::Category);
                Target::Classes(ClassTarget { name, levels, counts, column_type })
            }
        }
    }
}
