//! Which bytes of a block are free: best fit, neighbours joined. Knows no device.

use std::collections::{BTreeMap, BTreeSet};

/// The free ranges of one block.
pub struct FreeList {
    bytes: u64,
    free: u64,
    by_offset: BTreeMap<u64, u64>,
    /// (length, offset): the first one at or after (wanted, 0) fits best.
    by_length: BTreeSet<(u64, u64)>,
}

impl FreeList {
    /// A block of which everything is free.
    pub fn new(bytes: u64) -> FreeList {
        let mut list = FreeList { bytes, free: 0, by_offset: BTreeMap::new(), by_length: BTreeSet::new() };
        list.insert(0, bytes);
        list.free = bytes;
        list
    }

    fn insert(&mut self, offset: u64, length: u64) {
        self.by_offset.insert(offset, length);
        self.by_length.insert((length, offset));
    }

    fn remove(&mut self, offset: u64, length: u64) {
        self.by_offset.remove(&offset);
        self.by_length.remove(&(length, offset));
    }

    /// The offset of that many bytes, which must be a multiple of the alignment; so are then all offsets.
    pub fn take(&mut self, bytes: u64) -> Option<u64> {
        let &(length, offset) = self.by_length.range((bytes, 0)..).next()?;
        self.remove(offset, length);
        if length > bytes {
            self.insert(offset + bytes, length - bytes);
        }
        self.free -= bytes;
        Some(offset)
    }

    /// Gives back what [`FreeList::take`] gave.
    pub fn give(&mut self, offset: u64, bytes: u64) {
        self.free += bytes;
        let (mut start, mut length) = (offset, bytes);
        if let Some((&before, &size)) = self.by_offset.range(..offset).next_back() {
            debug_assert!(before + size <= offset, "bytes were given back twice");
            if before + size == offset {
                self.remove(before, size);
                (start, length) = (before, size + length);
            }
        }
        if let Some(&size) = self.by_offset.get(&(offset + bytes)) {
            self.remove(offset + bytes, size);
            length += size;
        }
        self.insert(start, length);
    }

    /// Whether nothing is taken.
    pub fn is_empty(&self) -> bool {
        self.free == self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_never_overlap_and_all_come_back() {
        let mut list = FreeList::new(1 << 16);
        let mut taken: Vec<(u64, u64)> = Vec::new();
        let mut random = 1u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let bytes = (1 + (random >> 33) % 16) * 256;
            if random >> 63 == 0 && !taken.is_empty() {
                let (offset, bytes) = taken.swap_remove((random >> 40) as usize % taken.len());
                list.give(offset, bytes);
            } else if let Some(offset) = list.take(bytes) {
                assert!(offset % 256 == 0 && offset + bytes <= 1 << 16);
                assert!(taken.iter().all(|&(o, b)| o + b <= offset || offset + bytes <= o), "{offset} {bytes} {taken:?}");
                taken.push((offset, bytes));
            }
        }
        for (offset, bytes) in taken {
            list.give(offset, bytes);
        }
        assert!(list.is_empty() && list.by_offset.len() == 1 && list.by_length.len() == 1);
    }
}
