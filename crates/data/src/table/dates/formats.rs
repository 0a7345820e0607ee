//! [`DateFormats`]: what the user says about the dates of a table, for all columns or for each.

use std::collections::BTreeMap;

use serde::de::{Error, MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::format::DateFormat;

/// Formats of dates: one for all columns whose cells do not tell it, or one for each of some columns.
///
/// In a configuration it is a text or a table: `"day-first"` or `{born = "%d%m%Y", seen = "epoch-seconds"}`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DateFormats {
    /// Of all columns that `columns` does not name.
    pub every: Option<DateFormat>,
    /// Of single columns, which are dates then.
    pub columns: BTreeMap<String, DateFormat>,
}

impl DateFormats {
    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.every.is_none() && self.columns.is_empty()
    }

    /// What is said about a column.
    pub(crate) fn of(&self, column: &str) -> Option<&DateFormat> {
        self.columns.get(column).or(self.every.as_ref())
    }
}

impl Serialize for DateFormats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.every {
            Some(format) => format.serialize(serializer),
            None => self.columns.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for DateFormats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Formats;
        impl<'de> Visitor<'de> for Formats {
            type Value = DateFormats;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a format of dates such as \"day-first\", or a table of formats by column")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<DateFormats, E> {
                let every = Some(text.parse().map_err(E::custom)?);
                Ok(DateFormats { every, columns: BTreeMap::new() })
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DateFormats, A::Error> {
                let columns = BTreeMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(DateFormats { every: None, columns })
            }
        }
        deserializer.deserialize_any(Formats)
    }
}
