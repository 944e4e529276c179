//! Tokens that hand a tensor to another environment of this process. They are weak: they work while any
//! tensor on the same storage lives.

use crate::callback::Args;
use crate::environment::Environment;
use crate::value;
use ferrotensor_core::error::Code;
use ferrotensor_core::{Error, Result};
use ferrotensor_engine::WeakTensor;
use napi_sys as sys;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The shared tensors of this process.
struct Table {
    /// Distinguishes this process: a token that was stored or sent elsewhere is refused.
    nonce: u64,
    next: u32,
    tensors: HashMap<u64, WeakTensor>,
    /// Size at which dead entries are dropped.
    due: usize,
}

fn table() -> &'static Mutex<Table> {
    static TABLE: OnceLock<Mutex<Table>> = OnceLock::new();
    TABLE.get_or_init(|| {
        // 21 random bits above 32 of count: a double holds both.
        let nonce = RandomState::new().hash_one(std::process::id()) >> 43;
        Mutex::new(Table { nonce, next: 0, tensors: HashMap::new(), due: 64 })
    })
}

/// `share(handle)`: a number that `fromShared` takes in any environment of this process.
pub fn share(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let tensor = state.handles.get(args.f64(0)?)?;
    let mut table = table().lock().unwrap_or_else(PoisonError::into_inner);
    if table.tensors.len() >= table.due {
        table.tensors.retain(|_, tensor| !tensor.is_gone());
        table.due = 2 * table.tensors.len().max(32);
    }
    table.next = table.next.wrapping_add(1);
    let token = table.nonce << 32 | u64::from(table.next);
    table.tensors.insert(token, tensor.downgrade());
    Ok(value::from_f64(state.env, token as f64))
}

/// `fromShared(token, out)`: the same storage under a handle of this environment; waits for its value. Returns the handle;
/// payload out: the id of its type.
///
/// # Errors
/// `Code::Disposed` when no tensor holds that storage any more, or the token is not of this process.
pub fn from_shared(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let token = args.f64(0)? as u64;
    let found = table().lock().unwrap_or_else(PoisonError::into_inner).tensors.get(&token).and_then(WeakTensor::upgrade);
    let tensor = Arc::new(found.ok_or_else(|| {
        Error::new(Code::Disposed, "fromShared: the shared tensor is gone; keep it alive in its worker until it was taken")
    })?);
    tensor.wait()?;
    let sizes: Vec<f64> = tensor.dims().iter().map(|&d| d as f64).collect();
    let id = state.session.intern_type(tensor.dtype() as u8, &sizes, tensor.device())?;
    state.buffers.put_type(id)?;
    let handle = state.handles.insert(tensor, args.value(1), 0)?;
    Ok(value::from_f64(state.env, handle))
}
