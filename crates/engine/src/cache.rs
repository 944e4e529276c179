//! A bounded cache without bookkeeping on a hit: two generations. When the young one is full it becomes the old one; a hit
//! in the old one moves the entry.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// At most twice `capacity` entries.
pub struct TwoGenerations<K, V> {
    young: HashMap<K, V, BuildHasherDefault<FoldHasher>>,
    old: HashMap<K, V, BuildHasherDefault<FoldHasher>>,
    capacity: usize,
}

impl<K: Eq + Hash, V: Clone> TwoGenerations<K, V> {
    /// An empty cache.
    pub fn new(capacity: usize) -> Self {
        TwoGenerations { young: HashMap::default(), old: HashMap::default(), capacity }
    }

    /// The entry of a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if let Some(value) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, value) = self.old.remove_entry(key)?;
        self.insert(key, value.clone());
        Some(value)
    }

    /// Adds an entry.
    pub fn insert(&mut self, key: K, value: V) {
        if self.young.len() >= self.capacity {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, value);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.young.clear();
        self.old.clear();
    }
}

/// A folded-multiply hash: keys are programs of our own making, compared in full on a hit.
#[derive(Default)]
pub struct FoldHasher(u64);

impl FoldHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        // The golden ratio in 64 bits; folding keeps the high half, where multiplication mixes best.
        let product = u128::from(self.0 ^ word) * 0x9E37_79B9_7F4A_7C15_u128;
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ word.rotate_left(23);
    }
}

impl Hasher for FoldHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            self.mix(u64::from_le_bytes(*word));
        }
        if !tail.is_empty() {
            let mut word = [0; 8];
            word[..tail.len()].copy_from_slice(tail);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, word: u64) {
        self.mix(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_in_use_survive_and_the_rest_is_bounded() {
        let mut cache = TwoGenerations::new(10);
        cache.insert(0, 0);
        for i in 1..1000 {
            cache.insert(i, i);
            assert_eq!(cache.get(&0), Some(0));
            assert!(cache.young.len() + cache.old.len() <= 21);
        }
        assert_eq!(cache.get(&1), None);
    }
}
