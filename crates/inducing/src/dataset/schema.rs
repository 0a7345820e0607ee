//! What a model reads and predicts, whatever the kind of input.

use super::custom::CustomSchema;
use data::{GraphSchema, ImageSchema, TableSchema, Target, TargetColumn};
use serde::{Deserialize, Serialize};

/// The name under which classes of images and graphs are scored.
const CLASS_TARGET: &str = "class";

/// How inputs become numbers, and what is predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Schema {
    /// Rows of a table.
    Table(TableSchema),
    /// Images.
    Images(ImageSchema),
    /// Graphs.
    Graphs(GraphSchema),
    /// Inputs of a custom encoder.
    Custom(CustomSchema),
}

impl Schema {
    /// The table's schema, if it is one.
    pub fn table(&self) -> Option<&TableSchema> {
        match self {
            Self::Table(schema) => Some(schema),
            _ => None,
        }
    }

    /// The images' schema, if it is one.
    pub fn images(&self) -> Option<&ImageSchema> {
        match self {
            Self::Images(schema) => Some(schema),
            _ => None,
        }
    }

    /// The graphs' schema, if it is one.
    pub fn graphs(&self) -> Option<&GraphSchema> {
        match self {
            Self::Graphs(schema) => Some(schema),
            _ => None,
        }
    }

    /// The schema of a custom encoder, if it is one.
    pub fn custom(&self) -> Option<&CustomSchema> {
        match self {
            Self::Custom(schema) => Some(schema),
            _ => None,
        }
    }

    /// What is predicted, where it is a column or the like.
    fn targets(&self) -> Option<&Target> {
        match self {
            Self::Table(schema) => Some(&schema.targets),
            Self::Custom(schema) => Some(&schema.targets),
            Self::Images(_) | Self::Graphs(_) => None,
        }
    }

    /// Names of the classes; `None` for regression.
    pub fn classes(&self) -> Option<&[String]> {
        match self {
            Self::Images(schema) => Some(&schema.classes),
            Self::Graphs(schema) => Some(&schema.classes),
            _ => self.targets()?.classes().map(|target| &target.levels[..]),
        }
    }

    /// Training rows of each class; empty for regression.
    pub fn class_counts(&self) -> &[usize] {
        match self {
            Self::Images(schema) => &schema.counts,
            Self::Graphs(schema) => &schema.counts,
            _ => self.targets().and_then(Target::classes).map_or(&[], |target| &target.counts),
        }
    }

    /// The numbers of a regression; none for classes.
    pub fn numbers(&self) -> &[TargetColumn] {
        self.targets().map_or(&[], Target::numbers)
    }

    /// Names of what is predicted.
    pub fn target_names(&self) -> Vec<String> {
        self.targets().map_or_else(|| vec![CLASS_TARGET.into()], Target::names)
    }

    /// C: latent functions.
    pub fn outputs(&self) -> usize {
        self.classes().map_or(self.numbers().len(), |classes| crate::train::outputs_of(classes.len()))
    }

    /// Text columns.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &data::Tokenizer> {
        self.table().into_iter().flat_map(|table| table.text_columns().map(|(_, tokenizer)| tokenizer))
    }

    /// Numbers that the network sees of one input besides texts; of one node of graphs.
    pub fn width(&self) -> usize {
        match self {
            Self::Table(schema) => schema.numeric_width() + schema.indicator_width(),
            Self::Images(schema) => schema.image_bytes(),
            Self::Graphs(schema) => schema.width(),
            Self::Custom(_) => 0,
        }
    }

    /// How many of them are numeric columns, which come first.
    pub(crate) fn numeric_width(&self) -> usize {
        self.table().map_or(0, TableSchema::numeric_width)
    }
}
