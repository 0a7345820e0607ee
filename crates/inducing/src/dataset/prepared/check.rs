//! Refuses what the configuration cannot have with the data.

use super::Prepared;
use crate::config::{ClassWeights, Config, ConfigError, EncoderKind, HeadKind, TargetTransform};
use crate::dataset::Schema;
use crate::error::Error;
use crate::nn::EncoderShape;

/// Training keeps five vectors of that length: 5 GiB.
const MOST_PARAMETERS: usize = 1 << 28;

impl Prepared {
    /// An error where the configuration does not suit the data.
    pub(crate) fn check(&self, config: &Config) -> Result<(), Error> {
        config.validate()?;
        let refuse = |reason: &str| Err(refusal(reason));
        if self.schema.classes().is_none() && config.head == HeadKind::Softmax {
            return refuse(
                "head = \"softmax\" is for classes, and the target is a number\nhint: leave it out, or say `--task classification`",
            );
        }
        let classes = self.schema.classes().map_or(0, <[String]>::len);
        if let Some(reason) = without_effect(config, classes > 0) {
            return refuse(&reason);
        }
        if config.train.threshold.is_some() && classes != 2 {
            return refuse(&format!(
                "train.threshold is for two classes, and there are {classes}\nhint: `train.costs` decides between several classes"
            ));
        }
        if !config.train.costs.is_empty() && config.train.costs.len() != classes {
            return refuse(&format!(
                "train.costs has {} rows, and there are {classes} classes\nhint: give a row and a column for each class, in their order",
                config.train.costs.len()
            ));
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
            (Schema::Custom(_), _) => true,
            (Schema::Table(_), _) => false,
        };
        if !fits {
            let given = match (&self.schema, texts) {
                (Schema::Images(_), _) => "images",
                (Schema::Graphs(_), _) => "graphs",
                (_, true) => "a table with texts",
                _ => "a table without texts",
            };
            let domain = match kind {
                EncoderKind::Mlp | EncoderKind::Identity => "images and tables without texts",
                EncoderKind::Cnn => "images",
                EncoderKind::Transformer => "tables with texts",
                EncoderKind::Bag | EncoderKind::Gin => "graphs",
            };
            let kind = toml::Value::try_from(kind).expect("a kind is a word");
            return refuse(&format!(
                "encoder.kind = {kind} is for {domain}, not for {given}\nhint: leave it out"
            ));
        }
        let shape = self.encoder_shape(config);
        let hint = match &shape {
            EncoderShape::Cnn(_) => "choose other `encoder.blocks`, or `--image-size`",
            EncoderShape::Text(_) => "choose other sizes under `encoder.text`",
            EncoderShape::Graph(_) => "choose other sizes under `encoder.graph`",
            _ => "choose other sizes under `encoder`",
        };
        let encoder = match shape.build(self.factory.as_ref()) {
            Ok(encoder) => encoder,
            Err(fault) => return refuse(&format!("{fault}\nhint: {hint}")),
        };
        let parameters = encoder.layout().len();
        if parameters > MOST_PARAMETERS {
            return refuse(&format!(
                "the encoder would have {parameters} parameters, at most {MOST_PARAMETERS} are possible\nhint: {hint}"
            ));
        }
        Ok(())
    }
}

/// What is asked for and would do nothing with these targets.
fn without_effect(config: &Config, is_classes: bool) -> Option<String> {
    let (data, train) = (&config.data, &config.train);
    let asked = [
        ("train.threshold", true, train.threshold.is_some()),
        ("train.costs", true, !train.costs.is_empty()),
        ("train.class_weights", true, train.class_weights != ClassWeights::Equal),
        ("data.bounds", false, data.bounds.is_some()),
        ("data.target_transform", false, data.target_transform != TargetTransform::Auto),
    ];
    let (key, ..) = asked.into_iter().find(|(_, for_classes, asked)| *asked && *for_classes != is_classes)?;
    Some(match is_classes {
        true => format!(
            "{key} is for numbers, and the target is a class\nhint: leave it out, or say `--task regression`"
        ),
        false => format!(
            "{key} is for classes, and the target is a number\nhint: leave it out, or say `--task classification`"
        ),
    })
}

/// What the configuration or the caller's data cannot have.
pub(super) fn refusal(reason: &str) -> Error {
    let (file, reason) = ("configuration".into(), reason.into());
    ConfigError::Invalid { file, reason }.into()
}
