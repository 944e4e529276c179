//! Which tensors JavaScript holds: a slab of weakly referenced wrappers, swept a bounded number at a time.
//!
//! Finalizers never run inside a synchronous loop (400 temporaries of 8 MiB made 3.2 GB), so each handle has a weak
//! reference without finalizer to its JavaScript object. Young handles are looked at once after each garbage collection,
//! which a canary (a weak reference to an object nobody holds) tells; old ones one by one with a cursor.
//!
//! Trap: `napi_get_reference_value` of a live target makes a strong handle in the current scope, and what is collected in
//! that scope survives. Every sweep has its own handle scope.

use crate::callback::Args;
use crate::environment::{Environment, engine};
use crate::protocol::{WANT_FULL, WANT_MINOR};
use crate::reference::{Reference, Scope};
use crate::value;
use ferrotensor_core::error::Code;
use ferrotensor_core::planted;
use ferrotensor_core::{Error, Result};
use ferrotensor_engine::Tensor;
use napi_sys as sys;
use std::collections::HashMap;
use std::ptr;
use std::sync::Arc;

/// Bits of a handle's generation: with 32 bits of index, 53 in all, what a double holds.
const GENERATIONS: u32 = 1 << 21;
/// Looks a handle survives before it counts as old.
const OLD: u8 = 2;
/// New handles between two bounded sweeps.
const STEP: u32 = 8;
/// New handles between two looks at the canary, and the bytes that make one due at once.
const CANARY_HANDLES: u32 = 64;
const CANARY_BYTES: usize = 4 << 20;
/// New handles after which a minor collection is asked for: the worst pause with 10^6 handles falls from 57 to 6 ms.
const MINOR_HANDLES: u32 = 4096;
/// Entries of a long sweep between two handle scopes.
const SCOPE_ENTRIES: usize = 1024;

/// A slot's position and generation.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    index: u32,
    generation: u32,
}

impl Key {
    fn to_f64(self) -> f64 {
        f64::from(self.generation) * 4_294_967_296.0 + f64::from(self.index)
    }

    /// Any double: what is no key at all becomes one that no slot has.
    fn from_f64(v: f64) -> Key {
        let bits = v as u64;
        Key { index: bits as u32, generation: (bits >> 32) as u32 }
    }
}

struct Held {
    tensor: Arc<Tensor>,
    wrapper: Reference,
    age: u8,
    scope: i32,
}

#[derive(Default)]
struct Slot {
    generation: u32,
    held: Option<Held>,
}

/// The slab of one environment.
pub struct Handles {
    env: sys::napi_env,
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// Young handles not looked at since the last collection.
    nursery: Vec<Key>,
    /// Young handles to look at.
    due: Vec<Key>,
    /// Next slot to look at for old handles.
    cursor: usize,
    canary: Option<Reference>,
    since_canary: (u32, usize),
    since_minor: u32,
    created: u32,
    /// Live bytes the last collection left.
    left: usize,
    old_bytes: usize,
    /// What the last full collection left: bytes of old handles, and of JavaScript's heap.
    old_left: usize,
    heap_left: usize,
    scopes: HashMap<i32, Vec<Key>>,
}

impl Handles {
    /// An empty slab.
    pub fn new(env: sys::napi_env) -> Self {
        Handles {
            env,
            slots: Vec::new(),
            free: Vec::new(),
            nursery: Vec::new(),
            due: Vec::new(),
            cursor: 0,
            canary: None,
            since_canary: (0, 0),
            since_minor: 0,
            created: 0,
            left: 0,
            old_bytes: 0,
            old_left: 0,
            heap_left: 0,
            scopes: HashMap::new(),
        }
    }

    /// The tensor of a handle.
    ///
    /// # Errors
    /// `Code::Disposed` for a handle that is not in use (any more).
    pub fn get(&self, handle: f64) -> Result<&Arc<Tensor>> {
        self.held(Key::from_f64(handle))
            .map(|held| &held.tensor)
            .ok_or_else(|| Error::new(Code::Disposed, "the tensor was disposed"))
    }

    fn held(&self, key: Key) -> Option<&Held> {
        let fits = |slot: &&Slot| slot.generation == key.generation || planted::is("a-stale-handle-is-another-tensor");
        self.slots.get(key.index as usize).filter(fits)?.held.as_ref()
    }

    /// A handle for a tensor, alive as long as `wrapper` is; `scope` other than 0 also ends it with that scope.
    ///
    /// # Errors
    /// `Code::Internal` when `wrapper` is no object.
    pub fn insert(&mut self, tensor: Arc<Tensor>, wrapper: sys::napi_value, scope: i32) -> Result<f64> {
        let bytes = tensor.storage_bytes();
        self.step(bytes);
        let wrapper = Reference::weak(self.env, wrapper)?;
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.generation += 1;
        slot.held = Some(Held { tensor, wrapper, age: 0, scope });
        let key = Key { index, generation: slot.generation };
        self.nursery.push(key);
        if scope != 0 {
            self.remember(scope, key);
        }
        Ok(key.to_f64())
    }

    /// Frees a slot; its storage goes when nobody else holds the tensor.
    fn release(&mut self, key: Key) {
        let Some(slot) = self.slots.get_mut(key.index as usize).filter(|slot| slot.generation == key.generation) else {
            return;
        };
        let Some(held) = slot.held.take() else { return };
        if held.age >= OLD {
            self.old_bytes = self.old_bytes.saturating_sub(held.tensor.storage_bytes());
        }
        // An exhausted slot is retired: a reused generation could make a stale handle valid again.
        if slot.generation + 1 < GENERATIONS {
            self.free.push(key.index);
        }
    }

    /// Looks at a handle; a young survivor ages. Returns whether it is still young.
    fn look(&mut self, key: Key) -> bool {
        let Some(held) = self.held(key) else { return false };
        if held.wrapper.get(self.env).is_none() && !planted::is("dead-wrappers-keep-their-tensors") {
            self.release(key);
            return false;
        }
        let Some(held) = self.slots[key.index as usize].held.as_mut() else { return false };
        if held.age < OLD {
            held.age += 1;
            if held.age == OLD {
                self.old_bytes += held.tensor.storage_bytes();
            }
        }
        held.age < OLD
    }

    /// The bounded work of one new handle.
    fn step(&mut self, bytes: usize) {
        self.created = self.created.wrapping_add(1);
        self.since_minor += 1;
        self.since_canary.0 += 1;
        self.since_canary.1 += bytes;
        let large = bytes >= 1 << 20;
        if !large && !self.created.is_multiple_of(STEP) {
            return;
        }
        let _scope = Scope::open(self.env);
        if self.since_canary.0 >= CANARY_HANDLES || self.since_canary.1 >= CANARY_BYTES {
            self.since_canary = (0, 0);
            self.ask_canary();
        }
        let young = if large { self.due.len() } else { self.due.len().min(8 * STEP as usize) };
        for _ in 0..young {
            if let Some(key) = self.due.pop()
                && self.look(key)
            {
                self.nursery.push(key);
            }
        }
        for _ in 0..STEP {
            self.cursor = if self.cursor + 1 < self.slots.len() { self.cursor + 1 } else { 0 };
            self.look_old(self.cursor);
        }
    }

    /// Looks at a slot if an old handle is in it: young ones wait for a collection.
    fn look_old(&mut self, index: usize) {
        if let Some(slot) = self.slots.get(index)
            && slot.held.as_ref().is_some_and(|held| held.age >= OLD)
        {
            self.look(Key { index: index as u32, generation: slot.generation });
        }
    }

    /// After a collection every young handle is due for a look.
    fn ask_canary(&mut self) {
        if self.canary.as_ref().is_none_or(|canary| canary.get(self.env).is_none()) {
            self.due.append(&mut self.nursery);
            self.renew_canary();
        }
    }

    /// Waits for the next collection. Inside a handle scope that ends before it.
    fn renew_canary(&mut self) {
        let mut object = ptr::null_mut();
        // SAFETY: `env` is live; the object's only strong handle ends with the caller's scope.
        unsafe { sys::napi_create_object(self.env, &mut object) };
        self.canary = Reference::weak(self.env, object).ok();
    }

    /// Frees every young handle whose object is dead; after a full collection, which left `heap` bytes, every handle.
    fn sweep(&mut self, heap: Option<usize>) {
        {
            // One look for each collection: a second one would age, and so protect, what the next collection kills.
            let _scope = Scope::open(self.env);
            self.renew_canary();
        }
        let mut young = std::mem::take(&mut self.due);
        young.append(&mut self.nursery);
        for chunk in young.chunks(SCOPE_ENTRIES) {
            let _scope = Scope::open(self.env);
            for &key in chunk {
                if self.look(key) {
                    self.nursery.push(key);
                }
            }
        }
        if let Some(heap) = heap {
            for start in (0..self.slots.len()).step_by(SCOPE_ENTRIES) {
                let _scope = Scope::open(self.env);
                for index in start..(start + SCOPE_ENTRIES).min(self.slots.len()) {
                    self.look_old(index);
                }
            }
            self.old_left = self.old_bytes;
            self.heap_left = heap;
        }
        self.since_minor = 0;
        self.left = engine().live_bytes();
    }

    /// What the environment should collect now ([`WANT_MINOR`], [`WANT_FULL`]).
    ///
    /// Minor: live bytes grew by max(128 MiB, half of what the last collection left), or 4,096 handles were made.
    /// Full: old handles hold more than max(256 MiB, twice what the last full collection left of them, four times what it
    /// left of JavaScript's heap). A full collection takes about a second for each GiB of that heap: counted in bytes, never
    /// in time, its share of the work is bounded, and so is the garbage, on a machine of any speed.
    pub fn pressure(&mut self) -> i32 {
        let live = engine().live_bytes();
        self.left = self.left.min(live);
        let minor = live - self.left > (self.left / 2).max(128 << 20) || self.since_minor >= MINOR_HANDLES;
        let full = self.old_bytes > (2 * self.old_left).max(self.heap_left.saturating_mul(4)).max(256 << 20);
        i32::from(minor) * WANT_MINOR + i32::from(full) * WANT_FULL
    }

    fn remember(&mut self, scope: i32, key: Key) {
        let keys = self.scopes.entry(scope).or_default();
        // A loop inside a scope keeps few of the handles it makes: forget the dead whenever the list would grow.
        if keys.len() == keys.capacity() && keys.len() >= 64 {
            let slots = &self.slots;
            keys.retain(|k| slots.get(k.index as usize).is_some_and(|s| s.generation == k.generation && s.held.is_some()));
            keys.reserve(keys.len());
        }
        keys.push(key);
    }
}

/// `dispose(handle)`: frees the handle now. Unknown handles are ignored.
pub fn dispose(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let key = Key::from_f64(args.f64(0)?);
    state.handles.release(key);
    Ok(ptr::null_mut())
}

/// `adopt(handle, scope)`: moves a handle to another scope (0: none).
pub fn adopt(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let (key, scope) = (Key::from_f64(args.f64(0)?), args.i32(1)?);
    let handles = &mut state.handles;
    if handles.held(key).is_some() {
        if let Some(held) = handles.slots[key.index as usize].held.as_mut() {
            held.scope = scope;
        }
        if scope != 0 {
            handles.remember(scope, key);
        }
    }
    Ok(ptr::null_mut())
}

/// `closeScope(scope)`: frees every handle that still belongs to the scope.
pub fn close_scope(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let scope = args.i32(0)?;
    let handles = &mut state.handles;
    for key in handles.scopes.remove(&scope).unwrap_or_default() {
        if planted::is("a-closed-scope-keeps-its-handles") {
            break;
        }
        if handles.held(key).is_some_and(|held| held.scope == scope) {
            handles.release(key);
        }
    }
    Ok(ptr::null_mut())
}

/// `collect(heap)`: frees the handles whose objects a garbage collection found dead, and closes such files; young handles only, unless it was
/// a full collection, which left `heap` bytes.
pub fn collect(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let heap = args.f64(0)? as usize;
    state.handles.sweep((heap > 0).then_some(heap));
    state.sources.sweep(state.env, heap > 0);
    Ok(ptr::null_mut())
}

/// `press(bytes)`: tells the runtime of so much more memory outside of its heap, or less. More than its heap may be has V8 collect everything.
pub fn press(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let (bytes, mut all) = (args.f64(0)? as i64, 0);
    // SAFETY: `env` is live. A collection meanwhile runs no JavaScript.
    let status = unsafe { sys::napi_adjust_external_memory(state.env, bytes, &mut all) };
    value::check(status, "napi_adjust_external_memory")?;
    Ok(ptr::null_mut())
}

#[cfg(test)]
mod tests {
    use super::{GENERATIONS, Key};

    #[test]
    fn a_key_survives_the_way_through_a_double_and_is_never_zero() {
        for generation in [1, 2, GENERATIONS - 1] {
            for index in [0, 1, u32::MAX] {
                let key = Key { index, generation };
                let v = key.to_f64();
                assert!(v > 0.0 && v <= 9_007_199_254_740_991.0);
                assert!(Key::from_f64(v) == key);
            }
        }
    }

    #[test]
    fn what_is_no_handle_is_no_key_of_a_slot() {
        // Slots start at generation 1; saturating casts send NaN and negative numbers to generation 0.
        for v in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY, 4_294_967_295.0] {
            assert_eq!(Key::from_f64(v).generation, 0);
        }
    }
}
