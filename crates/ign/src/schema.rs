//! What a model reads and predicts, whatever the kind of input.

use crate::train::outputs_of;
use data::{ImageSchema, TableSchema, TargetColumn};
use serde::{Deserialize, Serialize};

/// The name under which classes of pictures are scored.
const IMAGE_TARGET: &str = "class";

/// How inputs become numbers, and what is predicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Schema {
    /// Rows of a table.
    Table(TableSchema),
    /// Pictures.
    Images(ImageSchema),
}

impl Schema {
    /// The table's schema, if it is one.
    pub fn table(&self) -> Option<&TableSchema> {
        match self {
            Self::Table(schema) => Some(schema),
            Self::Images(_) => None,
        }
    }

    /// The pictures' schema, if it is one.
    pub fn images(&self) -> Option<&ImageSchema> {
        match self {
            Self::Table(_) => None,
            Self::Images(schema) => Some(schema),
        }
    }

    /// Names of the classes; `None` for regression.
    pub fn classes(&self) -> Option<&[String]> {
        match self {
            Self::Table(schema) => schema.targets.classes().map(|target| &target.levels[..]),
            Self::Images(schema) => Some(&schema.classes),
        }
    }

    /// Training rows of each class; empty for regression.
    pub fn class_counts(&self) -> &[usize] {
        match self {
            Self::Table(schema) => schema.targets.classes().map_or(&[], |target| &target.counts),
            Self::Images(schema) => &schema.counts,
        }
    }

    /// The numbers of a regression; none for classes.
    pub fn numbers(&self) -> &[TargetColumn] {
        self.table().map_or(&[], |schema| schema.targets.numbers())
    }

    /// Names of what is predicted.
    pub fn target_names(&self) -> Vec<String> {
        self.table().map_or_else(|| vec![IMAGE_TARGET.into()], |schema| schema.targets.names())
    }

    /// C: latent functions.
    pub fn outputs(&self) -> usize {
        self.classes().map_or(self.numbers().len(), |classes| outputs_of(classes.len()))
    }

    /// Numbers that the network sees of one input.
    pub fn width(&self) -> usize {
        match self {
            Self::Table(schema) => schema.numeric_width() + schema.indicator_width(),
            Self::Images(schema) => schema.image_bytes(),
        }
    }

    /// How many of them are numeric columns, which come first.
    pub(crate) fn numeric_width(&self) -> usize {
        self.table().map_or(0, TableSchema::numeric_width)
    }
}
