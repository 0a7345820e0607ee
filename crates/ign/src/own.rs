//! Encoders from outside of this library, with inputs of any type: training, files and predictions work as for ours.
//!
//! ```text
//! Prepared::own::<E>(OwnData { inputs, truth, .. }, shape, config) → fit → Model → save
//! Model::load_own::<E>(path) → predict(&Inputs::own_of(new, rows))
//! ```
//! `examples/own_encoder.rs` brings clouds of points.

use crate::encoder::OwnEncoder;
use crate::network::Network;
use data::{ClassTarget, ColumnType, Target, TargetColumn};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::sync::Arc;

/// What to learn from.
#[derive(Debug, Clone)]
pub struct OwnData<I> {
    /// All inputs; the encoder knows how to read a row.
    pub inputs: I,
    /// What is known of each row.
    pub truth: Truth,
    /// A name for what is predicted.
    pub name: String,
}

/// What is known of each row.
#[derive(Debug, Clone)]
pub enum Truth {
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

/// What a model of an encoder from outside predicts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnSchema {
    /// The encoder's type.
    pub own: String,
    /// What is predicted.
    pub targets: Target,
}

/// The shape of an encoder from outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnShape {
    /// The encoder's type.
    pub own: String,
    /// D
    pub features: usize,
    /// As the encoder itself wrote it.
    pub shape: Value,
}

/// Makes networks of one outside type.
#[derive(Clone)]
pub(crate) struct Maker {
    own: String,
    make: Arc<MakeNetwork>,
}

type MakeNetwork = dyn Fn(&Value, u64) -> Result<Box<dyn Network>, String> + Send + Sync;

impl fmt::Debug for Maker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Maker({})", self.own)
    }
}

impl Maker {
    pub(crate) fn of<E: OwnEncoder>() -> Self {
        let make = |shape: &Value, seed: u64| -> Result<Box<dyn Network>, String> {
            let shape = serde_json::from_value(shape.clone()).map_err(|e| e.to_string())?;
            Ok(Box::new(E::new(&shape, seed)))
        };
        Self { own: name_of::<E>(), make: Arc::new(make) }
    }

    /// A network of the shape, which must be of this maker's type.
    pub(crate) fn make(&self, shape: &OwnShape, seed: u64) -> Result<Box<dyn Network>, String> {
        if shape.own != self.own {
            return Err(format!("its network is the encoder `{}`, not `{}`", shape.own, self.own));
        }
        let network = (self.make)(&shape.shape, seed)
            .map_err(|e| format!("the encoder `{}` does not know the shape in its header: {e}", self.own))?;
        if network.dim() != shape.features {
            return Err(format!(
                "the encoder `{}` has {} features instead of {}",
                self.own,
                network.dim(),
                shape.features
            ));
        }
        Ok(network)
    }
}

impl OwnShape {
    pub(crate) fn new<E: OwnEncoder>(shape: &E::Shape) -> Self {
        let features = crate::encoder::Encoder::dim(&E::new(shape, 0));
        let json = serde_json::to_value(shape).expect("a shape is plain data");
        Self { own: name_of::<E>(), features, shape: json }
    }
}

/// The type's own name, without the modules around it.
fn name_of<E>() -> String {
    let path = std::any::type_name::<E>();
    let plain = path.split('<').next().unwrap_or(path);
    plain.rsplit("::").next().unwrap_or(plain).to_owned()
}

impl Truth {
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
                Target::Numbers(vec![TargetColumn { name: name.into(), mean, std: var.sqrt() }])
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
