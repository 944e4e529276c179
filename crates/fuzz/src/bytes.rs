//! Bytes as a source of choices. What is missing at the end reads as zeros, so that every input means something and a small
//! change of the input is a small change of what it means.

/// Reads choices from bytes.
pub struct Bytes<'a> {
    left: &'a [u8],
}

impl<'a> Bytes<'a> {
    /// Choices made by these bytes.
    pub fn new(bytes: &'a [u8]) -> Bytes<'a> {
        Bytes { left: bytes }
    }

    /// Whether every byte was used.
    pub fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// All that is left.
    pub fn rest(self) -> &'a [u8] {
        self.left
    }

    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        match self.left.split_first() {
            Some((&first, rest)) => {
                self.left = rest;
                first
            }
            None => 0,
        }
    }

    /// A number below `n`, which is from 1 to 256 (0 for `n` = 0).
    pub fn below(&mut self, n: usize) -> usize {
        self.byte() as usize % n.max(1)
    }

    /// One of the items.
    ///
    /// # Panics
    /// When there are none.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }

    /// Eight bytes, little-endian.
    pub fn word(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }
}
