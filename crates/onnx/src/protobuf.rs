//! The few protobuf messages that an ONNX model is made of, written by hand.
//!
//! Four kinds of message with a dozen fields each need varints and length-delimited fields and nothing else. A code generator would bring
//! a compiler at build time and a schema of 900 lines of which a tenth is used.

/// A message under construction.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push((value as u8) | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// An integer or enumeration.
    pub(crate) fn int(mut self, field: u32, value: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
        self
    }

    /// Bytes, text or another message.
    pub(crate) fn bytes(mut self, field: u32, value: &[u8]) -> Self {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(crate) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    pub(crate) fn message(self, field: u32, value: &Message) -> Self {
        self.bytes(field, &value.0)
    }

    /// The same field for each of some messages.
    pub(crate) fn messages<'a>(self, field: u32, values: impl IntoIterator<Item = &'a Message>) -> Self {
        values.into_iter().fold(self, |message, value| message.message(field, value))
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_as_the_specification_of_protobuf_shows_them() {
        // The examples of protobuf.dev/programming-guides/encoding: 150 in field 1, "testing" in field 2.
        assert_eq!(Message::new().int(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        let text = Message::new().text(2, "testing").into_bytes();
        assert_eq!(text, [&[0x12, 0x07][..], b"testing"].concat());
        let inner = Message::new().int(1, 150);
        assert_eq!(Message::new().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        // A negative number takes ten bytes; a field above 15 two.
        assert_eq!(Message::new().int(1, -1).into_bytes().len(), 11);
        assert_eq!(Message::new().int(20, 2).into_bytes(), [0xa0, 0x01, 0x02]);
    }
}
