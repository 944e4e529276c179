//! The hot calls: running programs, inferring types, uploading. Words travel through buffers handed over once.
//!
//! Layout of `ints`: eight header words, then the payload. A call takes one argument at most (the wrapper of its result).

use crate::callback::Args;
use crate::environment::Environment;
use crate::hash::TABLE_HASH;
use crate::protocol;
use crate::reference::Reference;
use crate::value;
use ferrotensor_core::{Error, Result};
use ferrotensor_engine::{Mode, Request, RunOutcome, Tensor};
use napi_sys as sys;
use smallvec::SmallVec;
use std::ptr;
use std::sync::Arc;

/// The shared buffers; empty until TypeScript hands them over.
#[derive(Default)]
pub struct Buffers {
    ints: Shared<i32>,
    params: Shared<u64>,
    handles: Shared<f64>,
    small: Shared<u8>,
}

impl Buffers {
    /// Hands a type id to TypeScript as the first payload word.
    ///
    /// # Errors
    /// `Code::Internal` before the buffers were set.
    pub fn put_type(&mut self, id: i32) -> Result<()> {
        *self.ints.slice().get_mut(protocol::HEADER).ok_or_else(short)? = id;
        Ok(())
    }
}

/// The program in the buffers: its words, the slots asked for, and how many inputs it has.
///
/// # Errors
/// `Code::Internal` for one that does not fit.
pub fn program(buffers: &mut Buffers) -> Result<(&[i32], &[i32], usize)> {
    let (head, words, asked) = payload(buffers.ints.slice())?;
    Ok((words, asked, count(&head, protocol::INPUTS)?))
}

/// Header, words of the program and slots asked for.
fn payload(ints: &[i32]) -> Result<([i32; protocol::HEADER], &[i32], &[i32])> {
    let head = *ints.first_chunk().ok_or_else(short)?;
    let (words, outputs) = (count(&head, protocol::WORDS)?, count(&head, protocol::OUTPUTS)?);
    let payload = ints.get(protocol::HEADER..protocol::HEADER + words + outputs).ok_or_else(short)?;
    let (program, asked) = payload.split_at(words);
    Ok((head, program, asked))
}

/// Memory of a typed array that we hold a strong reference to.
struct Shared<T> {
    data: *mut T,
    len: usize,
    /// Keeps the memory where it is.
    _array: Option<Reference>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Shared { data: ptr::dangling_mut(), len: 0, _array: None }
    }
}

impl<T> Shared<T> {
    fn take(&mut self, env: sys::napi_env, array: sys::napi_value) -> Result<()> {
        let (data, bytes) = value::typed_array(env, array)?;
        *self = Shared { data: data.cast(), len: bytes / size_of::<T>(), _array: Some(Reference::strong(env, array)?) };
        Ok(())
    }

    fn slice(&mut self) -> &mut [T] {
        // SAFETY: `data` and `len` describe a typed array we hold; typed arrays are aligned for their elements; JavaScript
        // does not run while a callback does, and `&mut self` allows one borrow at a time.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.len) }
    }
}

/// `setBuffers(ints: Int32Array, params: Float64Array, handles: Float64Array, small: Uint8Array)`.
pub fn set_buffers(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let buffers = &mut state.buffers;
    buffers.ints.take(state.env, args.value(0))?;
    buffers.params.take(state.env, args.value(1))?;
    buffers.handles.take(state.env, args.value(2))?;
    buffers.small.take(state.env, args.value(3))?;
    Ok(ptr::null_mut())
}

fn short() -> Error {
    Error::internal("a program does not fit the shared buffers")
}

/// The eight header words.
fn header(ints: &mut [i32]) -> Result<&mut [i32; protocol::HEADER]> {
    ints.first_chunk_mut().ok_or_else(short)
}

fn count(header: &[i32; protocol::HEADER], at: usize) -> Result<usize> {
    usize::try_from(header[at]).map_err(|_| short())
}

/// `run(out)`: runs the program in the buffers; `out` is the wrapper of its output, or an array of them. Returns the first
/// handle (all are in `handles`), or 0 when the memory budget refused: `params[0]` is then the bytes asked for.
///
/// # Errors
/// `Code::Internal` and `Code::Disposed` for broken programs; errors that depend on values come with the first read.
pub fn run(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    let Buffers { ints, params, handles, small } = &mut state.buffers;
    let (ints, params, handles, small) = (ints.slice(), params.slice(), handles.slice(), small.slice());
    let (head, program, asked) = payload(ints)?;
    let inputs = handles
        .get(..count(&head, protocol::INPUTS)?)
        .ok_or_else(short)?
        .iter()
        .map(|&h| state.handles.get(h).cloned())
        .collect::<Result<SmallVec<[Arc<Tensor>; 8]>>>()?;
    let flags = head[protocol::FLAGS];
    let sync = flags & protocol::SYNC != 0;
    let outcome = state.session.run(&Request {
        words: program,
        params: params.get(..count(&head, protocol::PARAMS)?).ok_or_else(short)?,
        inputs: &inputs,
        outputs: asked,
        mode: if sync { Mode::Sync } else { Mode::Async },
        force: flags & protocol::FORCE != 0,
    })?;
    let tensors = match outcome {
        RunOutcome::Done(tensors) => tensors,
        RunOutcome::Refused { bytes } => {
            *params.first_mut().ok_or_else(short)? = (bytes as f64).to_bits();
            return Ok(value::from_f64(env, 0.0));
        }
    };
    state.warnings.append(&mut state.session.take_warnings());
    let mut status = if state.warnings.is_empty() { 0 } else { protocol::WARNED };
    if let Some(first) = tensors.first() {
        // A failure shows up at the read that follows: this is a short cut for values that are there.
        let ready = if sync && flags & protocol::SMALL != 0 { first.wait().is_ok() } else { first.is_ready() };
        let bytes = first.len() * first.dtype().bytes();
        // First in, first out on each device: the last one tells about all before it (see `drain`).
        match first.pending() {
            Some(program) => state.queued.insert(first.device(), program.clone()),
            None => state.queued.remove(&first.device()),
        };
        if ready && flags & protocol::SMALL != 0 && first.len() <= protocol::SMALL_ELEMENTS {
            let target = small.get_mut(..bytes).ok_or_else(short)?;
            if first.read(target).is_ok() {
                status |= protocol::COPIED;
            }
        }
    }
    let single = tensors.len() == 1;
    for (i, tensor) in tensors.into_iter().enumerate() {
        let wrapper = if single { args.value(0) } else { value::element(env, args.value(0), i) };
        let handle = state.handles.insert(tensor, wrapper, head[protocol::SCOPE])?;
        *handles.get_mut(i).ok_or_else(short)? = handle;
    }
    header(ints)?[protocol::STATUS] = status | state.handles.pressure();
    Ok(value::from_f64(env, handles.first().copied().ok_or_else(short)?))
}

/// `infer()`: header words op, operand forms, attribute id, number of types; payload the type ids of the tensor operands.
/// Returns the number of outputs; payload out: their type ids, then the dtype weak scalars must fit.
///
/// # Errors
/// The typed error of the call: shape, dtype, axis, device.
pub fn infer(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    let ints = state.buffers.ints.slice();
    let [op, forms, attr, types, ..] = *header(ints)?;
    let op = u16::try_from(op).map_err(|_| short())?;
    let types = ints.get(protocol::HEADER..).and_then(|p| p.get(..types as usize)).ok_or_else(short)?;
    let inferred = state.session.infer(op, forms as u32, attr, types)?;
    let out = ints.get_mut(protocol::HEADER..protocol::HEADER + inferred.outputs.len() + 1).ok_or_else(short)?;
    out[..inferred.outputs.len()].copy_from_slice(&inferred.outputs);
    out[inferred.outputs.len()] = inferred.weak as i32;
    Ok(value::from_f64(state.env, inferred.outputs.len() as f64))
}

/// `internType(dtype, shape, device)`: the type with the sizes in a `Float64Array`; returns its id.
/// `typeOf(id)` is its inverse.
///
/// # Errors
/// `Code::Shape` for sizes that are negative, fractional or too large, `Code::Device` for an unknown device.
pub fn intern_type(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let dims = value::doubles(state.env, args.value(1))?;
    let dtype = u8::try_from(args.index(0)?).map_err(|_| Error::dtype("unknown dtype number"))?;
    let device = u16::try_from(args.index(2)?).map_err(|_| Error::device("unknown device number"))?;
    let id = state.session.intern_type(dtype, &dims, device)?;
    Ok(value::from_f64(state.env, f64::from(id)))
}

/// `typeOf(id)`: writes dtype and device to the payload and the sizes to `params`; returns the rank.
///
/// # Errors
/// `Code::Internal` for an id of another epoch.
pub fn type_of(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let id = args.i32(0)?;
    let t = state.session.type_of(id).ok_or_else(|| Error::internal(format!("there is no type {id}")))?;
    let out = state.buffers.ints.slice().get_mut(protocol::HEADER..protocol::HEADER + 2).ok_or_else(short)?;
    out[0] = t.dtype as i32;
    out[1] = i32::from(t.device);
    let params = state.buffers.params.slice().get_mut(..t.dims.len()).ok_or_else(short)?;
    for (to, &size) in params.iter_mut().zip(&t.dims) {
        *to = (size as f64).to_bits();
    }
    Ok(value::from_f64(state.env, t.dims.len() as f64))
}

/// `internAttrs(op, words)`: the attributes with the words in a `Float64Array`; returns their id.
///
/// # Errors
/// What the row's schema refuses.
pub fn intern_attrs(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let words = value::doubles(state.env, args.value(1))?;
    let op = u16::try_from(args.index(0)?).map_err(|_| Error::internal("unknown operation"))?;
    let id = state.session.intern_attrs(op, &words)?;
    Ok(value::from_f64(state.env, f64::from(id)))
}

/// `table()`: the hash of the tables that this half was made from.
pub fn table(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    Ok(value::from_text(state.env, TABLE_HASH))
}

/// `endEpoch()`: forgets types, attributes and schedules; their ids start again.
pub fn end_epoch(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    state.session.end_epoch();
    Ok(ptr::null_mut())
}

/// `upload(type, bytes, out)`: a tensor of that type from a typed array's dense row-major bytes, copied; `out` is its
/// wrapper. Returns its handle, or 0 when the budget refused.
///
/// # Errors
/// `Code::OutOfMemory` from the device, `Code::Internal` when the length does not fit the type.
pub fn upload(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let (data, len) = value::typed_array(state.env, args.value(1))?;
    // SAFETY: the typed array lives through this callback, during which no JavaScript runs. TypeScript copies shared
    // memory, which another thread could write, before it comes here.
    let bytes = unsafe { std::slice::from_raw_parts(data, len) };
    let head = *header(state.buffers.ints.slice())?;
    let Some(tensor) = state.session.upload(args.i32(0)?, bytes, head[protocol::FLAGS] & protocol::FORCE != 0)? else {
        return Ok(value::from_f64(state.env, 0.0));
    };
    keep(state, tensor, args.value(2))
}

/// `reserve(type, out)`: as `upload`, its elements still to be written (`fill`). Returns its handle, or 0 when the budget refused.
///
/// # Errors
/// `Code::OutOfMemory` from the device.
pub fn reserve(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let head = *header(state.buffers.ints.slice())?;
    let Some(tensor) = state.session.reserve(args.i32(0)?, head[protocol::FLAGS] & protocol::FORCE != 0)? else {
        return Ok(value::from_f64(state.env, 0.0));
    };
    keep(state, tensor, args.value(1))
}

/// A handle for a new tensor in the scope that the header names.
pub(crate) fn keep(state: &mut Environment, tensor: Arc<Tensor>, wrapper: sys::napi_value) -> Result<sys::napi_value> {
    let scope = header(state.buffers.ints.slice())?[protocol::SCOPE];
    let handle = state.handles.insert(tensor, wrapper, scope)?;
    header(state.buffers.ints.slice())?[protocol::STATUS] = state.handles.pressure();
    Ok(value::from_f64(state.env, handle))
}
