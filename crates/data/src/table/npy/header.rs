//! The header and the numbers of a NumPy file (format versions 1 to 3).
//!
//! ```text
//! \x93NUMPY, version, length, {'descr': '<f8', 'fortran_order': False, 'shape': (150, 4), }, numbers
//! ```

use crate::error::Problem;
use crate::table::cell::Cell;

/// A header above this describes a structured array, which is no table here.
const LONGEST_HEADER: usize = 64 * 1024;
/// More columns than this are a mistake, and their names alone would fill the memory.
const MOST_COLUMNS: usize = 1 << 20;

/// What an array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) element: Element,
    pub(crate) rows: usize,
    /// 1 for an array of one dimension.
    pub(crate) columns: usize,
    /// Column by column instead of row by row.
    pub(crate) fortran: bool,
}

/// The type of the numbers, little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F4,
    F8,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    Boolean,
}

impl Element {
    fn from_descr(descr: &str) -> Option<Self> {
        Some(match descr {
            "<f4" => Element::F4,
            "<f8" => Element::F8,
            "|i1" => Element::I1,
            "<i2" => Element::I2,
            "<i4" => Element::I4,
            "<i8" => Element::I8,
            "|u1" => Element::U1,
            "<u2" => Element::U2,
            "<u4" => Element::U4,
            "<u8" => Element::U8,
            "|b1" => Element::Boolean,
            _ => return None,
        })
    }

    /// Bytes of a number.
    pub(crate) fn size(self) -> usize {
        match self {
            Element::I1 | Element::U1 | Element::Boolean => 1,
            Element::I2 | Element::U2 => 2,
            Element::F4 | Element::I4 | Element::U4 => 4,
            Element::F8 | Element::I8 | Element::U8 => 8,
        }
    }

    /// The number in these bytes, of which there are [`size`](Self::size).
    pub(crate) fn cell(self, bytes: &[u8]) -> Cell<'static> {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let [b0, b1, b2, b3, ..] = wide;
        match self {
            Element::F4 => Cell::number(f32::from_le_bytes([b0, b1, b2, b3]).into()),
            Element::F8 => Cell::number(f64::from_le_bytes(wide)),
            Element::I1 => Cell::Number(i8::from_le_bytes([b0]).into()),
            Element::I2 => Cell::Number(i16::from_le_bytes([b0, b1]).into()),
            Element::I4 => Cell::Number(i32::from_le_bytes([b0, b1, b2, b3]).into()),
            Element::I8 => Cell::Number(i64::from_le_bytes(wide) as f64),
            Element::U1 | Element::U2 | Element::U4 | Element::U8 => {
                Cell::Number(u64::from_le_bytes(wide) as f64)
            }
            Element::Boolean => Cell::Boolean(b0 != 0),
        }
    }
}

/// Bytes of the header after the first 8, by those and the next 4.
pub(crate) fn header_length(start: &[u8; 12]) -> Result<(usize, usize), Problem> {
    let [_, b'N', b'U', b'M', b'P', b'Y', version, _, b0, b1, b2, b3] = *start else {
        return Err(broken("it does not begin as one"));
    };
    let (prefix, length) = match version {
        1 => (2, usize::from(u16::from_le_bytes([b0, b1]))),
        2 | 3 => (4, u32::from_le_bytes([b0, b1, b2, b3]) as usize),
        _ => return Err(broken(&format!("its version {version} is not known"))),
    };
    if length > LONGEST_HEADER { Err(broken("its header is too long")) } else { Ok((prefix, length)) }
}

impl Header {
    /// The header in the words of Python.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let value = |key: &str| {
            let (_, rest) = text.split_once(&format!("'{key}':"))?;
            Some(rest.trim_start())
        };
        let missing = || broken("its header lacks the type, the order or the shape");
        let descr = value("descr").ok_or_else(missing)?;
        let quoted = descr.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map(|(descr, _)| descr);
        let element = quoted.and_then(Element::from_descr).ok_or_else(|| {
            let shown = quoted.map_or_else(|| descr.chars().take(40).collect(), String::from);
            Problem::NpyType { descr: shown }
        })?;
        let fortran = value("fortran_order").ok_or_else(missing)?.starts_with("True");
        let shape =
            value("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')')).ok_or_else(missing)?.0;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty()).map(str::parse);
        let sizes: Vec<usize> = sizes.collect::<Result<_, _>>().map_err(|_| missing())?;
        let (rows, columns) = match sizes[..] {
            [rows] => (rows, 1),
            [rows, columns] if (1..=MOST_COLUMNS).contains(&columns) => (rows, columns),
            _ => return Err(Problem::NpyShape { shape: format!("({shape})") }),
        };
        let bytes = rows.checked_mul(columns).and_then(|count| count.checked_mul(element.size()));
        bytes.ok_or_else(|| Problem::NpyShape { shape: format!("({shape})") })?;
        Ok(Header { element, rows, columns, fortran })
    }

    /// Bytes of all numbers.
    pub(crate) fn bytes(&self) -> usize {
        self.rows * self.columns * self.element.size()
    }
}

pub(crate) fn broken(message: &str) -> Problem {
    Problem::BrokenNpy { message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_type_order_and_shape() {
        let parsed = Header::parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }");
        assert_eq!(parsed, Ok(Header { element: Element::F8, rows: 3, columns: 4, fortran: false }));
        let parsed = Header::parse("{'descr': '<i4', 'fortran_order': True, 'shape': (5,), }");
        assert_eq!(parsed, Ok(Header { element: Element::I4, rows: 5, columns: 1, fortran: true }));
        for descr in ["'>f8'", "'|O'", "[('a', '<f8')]", "'<c16'"] {
            let parsed =
                Header::parse(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,), }}"));
            assert!(matches!(parsed, Err(Problem::NpyType { .. })), "{descr}");
        }
        for shape in ["()", "(2, 2, 2)", "(3, 0)", "(1, 99999999999)", "(99999999999999, 9999999)"] {
            let parsed =
                Header::parse(&format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"));
            assert!(matches!(parsed, Err(Problem::NpyShape { .. })), "{shape}");
        }
    }
}
