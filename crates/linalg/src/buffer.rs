//! Memory that begins on a cache line.
//!
//! A vector load that crosses two cache lines takes twice as long, so matrices and packed operands begin on one.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vector.
pub(crate) const LINE: usize = 64;

/// A slice of numbers whose first one stands at the beginning of a cache line.
///
/// ```
/// let buffer = inducing_linalg::Buffer::<f64>::zeros(10);
/// assert_eq!(buffer.len(), 10);
/// assert_eq!(buffer.as_ptr().align_offset(64), 0);
/// ```
#[derive(Debug, Default)]
pub struct Buffer<T> {
    data: Vec<T>,
    start: usize, // numbers left out to reach a cache line
    len: usize,
}

impl<T: Copy + Default> Buffer<T> {
    /// An empty buffer; allocates nothing.
    pub const fn new() -> Self {
        Self { data: Vec::new(), start: 0, len: 0 }
    }

    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        if len == 0 {
            return Self::new();
        }
        let spare = LINE / size_of::<T>().clamp(1, LINE);
        let data = vec![T::default(); len + spare];
        // `align_offset` may give up, but then nothing but speed is lost.
        let start = data.as_ptr().align_offset(LINE).min(spare);
        Self { data, start, len }
    }

    /// Makes room for at least `len` numbers. What the buffer held is lost when it has to grow.
    pub fn grow(&mut self, len: usize) {
        if self.len < len {
            *self = Self::zeros(len);
        }
    }
}

impl<T: Copy + Default> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        &self.data[self.start..self.start + self.len]
    }
}

impl<T> DerefMut for Buffer<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.data[self.start..self.start + self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clone_begins_on_a_cache_line_too_and_growing_keeps_what_is_large_enough() {
        let mut buffer = Buffer::<f32>::zeros(100);
        buffer[99] = 7.0;
        buffer.grow(50);
        assert_eq!((buffer.len(), buffer[99]), (100, 7.0));
        let copy = buffer.clone();
        assert_eq!((copy.as_ptr().align_offset(LINE), copy[99]), (0, 7.0));
        buffer.grow(101);
        assert_eq!((buffer.len(), buffer.as_ptr().align_offset(LINE)), (101, 0));
    }
}
