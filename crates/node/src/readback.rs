//! Values of tensors: reading and waiting, blocking and with promises.

use crate::callback::Args;
use crate::environment::Environment;
use crate::error;
use crate::promise::{Answer, Settled};
use crate::value;
use ferrotensor_core::{Error, Result};
use ferrotensor_engine::{Tensor, What, on_reader_thread};
use napi_sys as sys;
use std::borrow::Cow;
use std::ptr;

/// Bytes up to which a result is copied by the thread that finished it; a larger one goes to the reader thread.
const COPY_AT_ONCE: usize = 64 << 10;

/// `read(handle, array, wait)`: fills the typed array with the tensor's dense row-major bytes. Returns false, having done
/// nothing, if the value is not there yet and `wait` is not set.
///
/// # Errors
/// The tensor's remembered failure; `Code::Internal` when the length does not fit.
pub fn read(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let tensor = state.handles.get(args.f64(0)?)?;
    let read = args.bool(2) || tensor.is_ready();
    if read {
        waited_for(state, tensor)?;
        let (data, len) = value::typed_array(state.env, args.value(1))?;
        // SAFETY: a typed array TypeScript made for this call; no JavaScript runs during it.
        let out = unsafe { std::slice::from_raw_parts_mut(data, len) };
        state.session.profiles().around(What::Download, tensor, || tensor.read(out))?;
    }
    Ok(value::from_bool(state.env, read))
}

/// Blocks until the tensor's value is there; open profiles note for how long.
fn waited_for(state: &Environment, tensor: &Tensor) -> Result<()> {
    if tensor.is_ready() { tensor.wait() } else { state.session.profiles().around(What::Wait, tensor, || tensor.wait()) }
}

/// The dense row-major bytes of a tensor, once it is ready.
///
/// # Errors
/// The tensor's remembered failure, `Code::OutOfMemory`.
pub fn bytes_of(tensor: &Tensor) -> Result<Vec<u8>> {
    let mut own = Ok(Vec::new());
    tensor.lend(&mut |bytes| {
        own = match bytes {
            Cow::Owned(bytes) => Ok(bytes),
            Cow::Borrowed(bytes) => copied(bytes),
        }
    })?;
    own
}

fn copied(bytes: &[u8]) -> Result<Vec<u8>> {
    let (mut copy, len) = (Vec::new(), bytes.len());
    copy.try_reserve_exact(len).map_err(|_| Error::out_of_memory(format!("no memory to read {len} bytes")))?;
    ferrotensor_cpu::expect_writes(copy.spare_capacity_mut());
    copy.extend_from_slice(bytes);
    Ok(copy)
}

/// `readAsync(handle)`: a promise of an `ArrayBuffer` with the tensor's bytes; rejects with the tensor's failure.
pub fn read_async(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let tensor = state.handles.get(args.f64(0)?)?.clone();
    let (promise, settle) = state.promise()?;
    let source = tensor.clone();
    let profiles = state.session.profiles().clone();
    tensor.on_ready(Box::new(move || {
        let large = source.len() * source.dtype().bytes() > COPY_AT_ONCE;
        let job = move || {
            // A promise is settled whatever happens: an open one would keep the process alive for ever.
            let bytes: Settled = error::guarded(|| {
                let bytes = profiles.around(What::Download, &source, || bytes_of(&source));
                bytes.map(Answer::Bytes)
            });
            // Before the promise is settled: who awaits it may dispose the tensor and expects the memory back at once.
            drop(source);
            settle.settle(bytes);
        };
        if large { on_reader_thread(Box::new(job)) } else { job() }
    }));
    Ok(promise)
}

/// `wait(handle)`: blocks until the value is there.
///
/// # Errors
/// The tensor's remembered failure.
pub fn wait(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    waited_for(state, state.handles.get(args.f64(0)?)?)?;
    Ok(ptr::null_mut())
}

/// `waitAsync(handle)`: a promise resolved when the value is there; rejects with the tensor's failure.
pub fn wait_async(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let tensor = state.handles.get(args.f64(0)?)?.clone();
    let (promise, settle) = state.promise()?;
    let waited = tensor.clone();
    tensor.on_ready(Box::new(move || {
        let outcome = waited.wait().map(|()| Answer::Nothing);
        // Before the promise is settled: see `read_async`.
        drop(waited);
        settle.settle(outcome);
    }));
    Ok(promise)
}

/// `drain()`: blocks until every program this environment has queued is done, so that its temporaries are free again.
pub fn drain(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    for program in std::mem::take(&mut state.queued).into_values() {
        program.wait();
    }
    Ok(ptr::null_mut())
}
