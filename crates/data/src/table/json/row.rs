//! One JSON object as a flat list of keys and scalar values, borrowed from its line where possible.
//!
//! Numbers stay text until they are wanted: a column carried along keeps all digits, and Rust's own parser is
//! both exact and several times faster than the exact one of `serde_json`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Keys and values in the order of the line.
pub(crate) struct JsonRow<'a>(pub(crate) Vec<(Cow<'a, str>, JsonValue<'a>)>);

/// A value of a cell.
#[derive(Debug, PartialEq)]
pub(crate) enum JsonValue<'a> {
    Null,
    Boolean(bool),
    /// As it is written.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array,
    Object,
}

impl<'a> JsonValue<'a> {
    /// The value of valid JSON text.
    pub(crate) fn from_raw(raw: &'a RawValue) -> Self {
        let json = raw.get();
        match json.as_bytes().first() {
            Some(b'"') => JsonValue::Text(unquoted(json)),
            Some(b't') => JsonValue::Boolean(true),
            Some(b'f') => JsonValue::Boolean(false),
            Some(b'[') => JsonValue::Array,
            Some(b'{') => JsonValue::Object,
            Some(b'n') | None => JsonValue::Null,
            Some(_) => JsonValue::Number(json),
        }
    }

    /// The value as JSON, for a column carried along.
    pub(crate) fn json(&self) -> Option<Cow<'_, str>> {
        match self {
            JsonValue::Boolean(true) => Some("true".into()),
            JsonValue::Boolean(false) => Some("false".into()),
            JsonValue::Number(text) => Some((*text).into()),
            JsonValue::Text(text) => serde_json::to_string(text).ok().map(Cow::Owned),
            JsonValue::Null | JsonValue::Array | JsonValue::Object => None,
        }
    }
}

/// The text of a JSON string; only one with escapes is copied.
fn unquoted(json: &str) -> Cow<'_, str> {
    match json.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => Cow::Borrowed(plain),
        // Lone surrogates such as "\ud800" are valid JSON text but no Unicode; they are kept as written.
        _ => serde_json::from_str(json).map_or(Cow::Borrowed(json), Cow::Owned),
    }
}

impl<'de> Deserialize<'de> for JsonRow<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Row;
        impl<'de> Visitor<'de> for Row {
            type Value = JsonRow<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a json object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonRow<'de>, A::Error> {
                let mut cells = Vec::new();
                while let Some((key, value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    cells.push((key.0, JsonValue::from_raw(value)));
                }
                Ok(JsonRow(cells))
            }
        }
        deserializer.deserialize_map(Row)
    }
}

/// A key; serde's own `Cow` would always copy.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_digits_and_lose_their_escapes() {
        let line = r#"{"a": 1.50, "b": "x\"\u00e9", "c\n": null, "d": [1, {}], "e": {"f": 1}, "g": true}"#;
        let row: JsonRow<'_> = serde_json::from_str(line).expect("valid json");
        let expected = [
            ("a", JsonValue::Number("1.50")),
            ("b", JsonValue::Text("x\"é".into())),
            ("c\n", JsonValue::Null),
            ("d", JsonValue::Array),
            ("e", JsonValue::Object),
            ("g", JsonValue::Boolean(true)),
        ];
        let found: Vec<(&str, &JsonValue<'_>)> =
            row.0.iter().map(|(key, value)| (key.as_ref(), value)).collect();
        assert_eq!(found, expected.iter().map(|(key, value)| (*key, value)).collect::<Vec<_>>());
    }
}
