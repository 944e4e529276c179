//! Copies of constant operands: what a product copied for its tiles stays beside an operand that product after product reads, until the
//! operand's memory is written, given back or asked for.

use crate::memory::Block;
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Operands of one buffer that are remembered: weights that are one tensor may be read in so many parts.
const PARTS: usize = 16;

/// Products without a copy before the one that makes it: a copy costs fresh memory, which some five later products of 16 rows earn back, and
/// weights that are trained change before that.
const BEFORE: u8 = 4;

/// How a product reads an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// Type of its elements.
    pub element: TypeId,
    /// Its first element's address.
    pub start: usize,
    /// Places and columns.
    pub dims: (usize, usize),
    /// Elements from a place to the next one, and from a column to the next one.
    pub strides: (isize, isize),
}

/// What is known of an operand.
pub enum Found {
    /// It was read a few times at most.
    New,
    /// So often that a copy is worth its memory.
    Often,
    /// Its copy.
    Copy(Arc<Block>),
}

/// An operand that was read.
struct Entry {
    key: Key,
    reads: u8,
    copy: Option<Arc<Block>>,
}

/// By the first address of their buffers.
type Shelf = HashMap<usize, Vec<Entry>>;

/// The copies of one device.
#[derive(Default)]
pub struct Kept {
    shelf: Mutex<Shelf>,
    /// A bit for each group of addresses that has entries: few buffers that are written have any, and for others nobody locks.
    filter: AtomicU64,
    bytes: AtomicUsize,
}

fn bit(buffer: usize) -> u64 {
    // Large buffers begin with a page.
    1 << ((buffer as u64 >> 12).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58)
}

impl Kept {
    /// Bytes of all copies.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// What is known of a buffer's operand, and notes that it is read.
    pub fn find(&self, buffer: *const u8, key: Key) -> Found {
        let mut shelf = self.lock();
        let entries = shelf.entry(buffer as usize).or_default();
        if let Some(entry) = entries.iter_mut().find(|entry| entry.key == key) {
            entry.reads = entry.reads.saturating_add(1);
            return match &entry.copy {
                Some(copy) => Found::Copy(Arc::clone(copy)),
                None if entry.reads > BEFORE => Found::Often,
                None => Found::New,
            };
        }
        // Views that are read once do not push out what is read again.
        let gone = (entries.len() == PARTS).then(|| entries.iter().position(|entry| entry.copy.is_none()));
        let gone = gone.map(|at| entries.remove(at.unwrap_or(0)));
        entries.push(Entry { key, reads: 1, copy: None });
        self.filter.fetch_or(bit(buffer as usize), Relaxed);
        drop(shelf);
        self.uncount(gone);
        Found::New
    }

    /// Keeps the copy of an operand.
    pub fn keep(&self, buffer: *const u8, key: Key, copy: Arc<Block>) {
        let mut shelf = self.lock();
        // Noted no longer, or copied by another thread meanwhile: then this one is of this product alone.
        let entry = shelf.get_mut(&(buffer as usize)).and_then(|entries| entries.iter_mut().find(|entry| entry.key == key));
        if let Some(Entry { copy: kept @ None, .. }) = entry {
            self.bytes.fetch_add(copy.bytes(), Relaxed);
            *kept = Some(copy);
        }
    }

    /// Drops what belongs to a buffer that is written or given back.
    pub fn forget(&self, buffer: *const u8) {
        if self.filter.load(Relaxed) & bit(buffer as usize) == 0 {
            return;
        }
        let mut shelf = self.lock();
        let Some(entries) = shelf.remove(&(buffer as usize)) else { return };
        self.filter.store(shelf.keys().fold(0, |bits, &buffer| bits | bit(buffer)), Relaxed);
        drop(shelf);
        self.uncount(entries);
    }

    /// Drops all copies; products that go on make them again. Those in use last as long as their product.
    pub fn clear(&self) {
        let mut shelf = self.lock();
        let all = std::mem::take(&mut *shelf);
        self.filter.store(0, Relaxed);
        drop(shelf);
        self.uncount(all.into_values().flatten());
    }

    fn uncount(&self, entries: impl IntoIterator<Item = Entry>) {
        for copy in entries.into_iter().filter_map(|entry| entry.copy) {
            self.bytes.fetch_sub(copy.bytes(), Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
