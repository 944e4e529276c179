//! A hasher for keys that are looked up by the million: the standard one took a tenth of the time of planning.

use std::hash::Hasher;

/// FNV-1a over words of 8 bytes, folded.
#[derive(Default)]
pub struct Folded(u64);

impl Folded {
    fn word(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            self.word(chunk.iter().rev().fold(0, |word, &b| word << 8 | u64::from(b)));
        }
    }

    fn write_u128(&mut self, n: u128) {
        self.word((n ^ n >> 64) as u64);
    }

    fn write_usize(&mut self, n: usize) {
        self.word(n as u64);
    }
}
