//! Refuses what the configuration cannot have with the data.

use super::Prepared;
use crate::config::{Config, ConfigError, EncoderKind, HeadKind};
use crate::error::Error;
use crate::network::NetworkShape;
use crate::schema::Schema;

impl Prepared {
    /// The data again, if nothing is wrong.
    pub(super) fn checked(self, config: &Config) -> Result<Self, Error> {
        let refuse = |reason: &str| Err(refusal(reason));
        if self.schema.classes().is_none() && config.head == HeadKind::Softmax {
            return refuse(
                "head = \"softmax\" is for classes, and the target is a number\nhint: leave it out, or say `--task classification`",
            );
        }
        let (kind, texts) = (config.encoder.kind, self.schema.texts().next().is_some());
        let fits = match (&self.schema, kind) {
            // Texts that turn out to be of no use leave a plain table.
            (Schema::Table(_), EncoderKind::Transformer) => true,
            (Schema::Table(_), EncoderKind::Mlp | EncoderKind::Identity) => !texts,
            (Schema::Images(_), kind) => {
                matches!(kind, EncoderKind::Mlp | EncoderKind::Cnn | EncoderKind::Identity)
            }
            (Schema::Graphs(_), kind) => matches!(kind, EncoderKind::Bag | EncoderKind::Gin),
            (Schema::Own(_), _) => true,
            (Schema::Table(_), _) => false,
        };
        if !fits {
            let given = match (&self.schema, texts) {
                (Schema::Images(_), _) => "pictures",
                (Schema::Graphs(_), _) => "graphs",
                (_, true) => "a table with texts",
                _ => "a table without texts",
            };
            let domain = match kind {
                EncoderKind::Mlp | EncoderKind::Identity => "pictures and tables without texts",
                EncoderKind::Cnn => "pictures",
                EncoderKind::Transformer => "tables with texts",
                EncoderKind::Bag | EncoderKind::Gin => "graphs",
            };
            let kind = toml::Value::try_from(kind).expect("a kind is a word");
            return refuse(&format!(
                "encoder.kind = {kind} is for {domain}, not for {given}\nhint: leave it out"
            ));
        }
        let fault = match self.network_shape(config) {
            NetworkShape::Cnn(shape) => shape
                .fault()
                .map(|fault| format!("{fault}\nhint: choose other `encoder.blocks`, or `--image-size`")),
            NetworkShape::Text(shape) => {
                shape.fault().map(|fault| format!("{fault}\nhint: choose other sizes under `encoder.text`"))
            }
            NetworkShape::Graph(shape) => {
                shape.fault().map(|fault| format!("{fault}\nhint: choose other sizes under `encoder.graph`"))
            }
            _ => None,
        };
        if let Some(fault) = fault {
            return refuse(&fault);
        }
        Ok(self)
    }
}

/// What the configuration or the caller's data cannot have.
pub(super) fn refusal(reason: &str) -> Error {
    let (file, reason) = ("configuration".into(), reason.into());
    ConfigError::Invalid { file, reason }.into()
}
