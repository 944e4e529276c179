//! Copies of constant operands: what a product copied for its tiles stays beside an operand that products read again, until the operand's
//! memory is written, given back or asked for.

use crate::memory::Block;
use std::any::TypeId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Operands of one buffer that are remembered: weights that are one tensor may be read in so many parts.
const PARTS: usize = 16;

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
    /// Nothing until now: it may be read once.
    New,
    /// It was read before, so that a copy is worth its memory.
    Again,
    /// Its copy.
    Copy(Arc<Block>),
}

/// Operands with their copies; those without have been read once.
type Entries = Vec<(Key, Option<Arc<Block>>)>;
type Shelf = HashMap<usize, Entries>;

/// The copies of one device, by the first address of their operands' buffers.
#[derive(Default)]
pub struct Kept {
    shelf: Mutex<Shelf>,
    /// A bit for each group of addresses that has entries: most buffers that are written have none, and nobody locks for them.
    filter: AtomicU64,
    bytes: AtomicUsize,
}

fn bit(buffer: *const u8) -> u64 {
    // Large buffers begin with a page.
    1 << ((buffer as usize as u64 >> 12).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58)
}

impl Kept {
    /// Bytes of all copies.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Relaxed)
    }

    /// What is known of a buffer's operand, and notes that it was read.
    pub fn find(&self, buffer: *const u8, key: Key) -> Found {
        let mut shelf = self.lock();
        let entries = shelf.entry(buffer as usize).or_default();
        match entries.iter().find(|(k, _)| *k == key) {
            Some((_, Some(copy))) => return Found::Copy(Arc::clone(copy)),
            Some((_, None)) => return Found::Again,
            None => {}
        }
        self.filter.fetch_or(bit(buffer), Relaxed);
        let gone = if entries.len() == PARTS { entries.remove(0).1 } else { None };
        entries.push((key, None));
        self.uncount(gone);
        Found::New
    }

    /// Keeps the copy of an operand.
    pub fn keep(&self, buffer: *const u8, key: Key, copy: Arc<Block>) {
        let mut shelf = self.lock();
        // Noted no longer, or copied by another thread meanwhile: then this one is of this product alone.
        let entry = shelf.get_mut(&(buffer as usize)).and_then(|entries| entries.iter_mut().find(|(k, _)| *k == key));
        if let Some((_, kept @ None)) = entry {
            self.bytes.fetch_add(copy.bytes(), Relaxed);
            *kept = Some(copy);
        }
    }

    /// Drops what belongs to a buffer that is written or given back.
    pub fn forget(&self, buffer: *const u8) {
        if self.filter.load(Relaxed) & bit(buffer) == 0 {
            return;
        }
        let mut shelf = self.lock();
        let entries = shelf.remove(&(buffer as usize));
        if shelf.is_empty() {
            self.filter.store(0, Relaxed);
        }
        drop(shelf);
        for (_, copy) in entries.into_iter().flatten() {
            self.uncount(copy);
        }
    }

    /// Drops all copies; products make them again. Those in use last as long as their product.
    pub fn clear(&self) {
        let shelf = std::mem::take(&mut *self.lock());
        for (_, copy) in shelf.into_values().flatten() {
            self.uncount(copy);
        }
    }

    fn uncount(&self, copy: Option<Arc<Block>>) {
        if let Some(copy) = copy {
            self.bytes.fetch_sub(copy.bytes(), Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
