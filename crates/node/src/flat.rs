//! Operations on flat arrays: JavaScript's memory, without tensors.

use crate::callback::Args;
use crate::environment::Environment;
use crate::error;
use crate::promise::Answer;
use crate::value::{self, from_entries, from_f64, from_text};
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_cpu::{FlatArrays, FlatEngine, FlatOp, run_flat};
use ferrotensor_engine::on_flat_thread;
use napi_sys as sys;
use std::ptr;

/// The engine of a name.
///
/// # Errors
/// `Code::Internal` for another one.
fn engine_named(env: sys::napi_env, name: sys::napi_value) -> Result<FlatEngine> {
    let name = value::text(env, name)?;
    let engine = FlatEngine::ALL.into_iter().find(|engine| engine.name() == name);
    engine.ok_or_else(|| Error::internal(format!("flat: unknown engine {name}")))
}

/// `engine(name)`: `name`, and either the `reason` why it is absent or what it is (`isa`, `threads`, `library`, `version`, `core`).
///
/// # Errors
/// `Code::Internal` for an unknown name.
pub fn engine(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    let engine = engine_named(env, args.value(0))?;
    let mut entries = vec![(c"name", from_text(env, engine.name()))];
    let mut text = |name, text: Option<&str>| entries.extend(text.map(|text| (name, from_text(env, text))));
    match engine.info() {
        Err(reason) => text(c"reason", Some(&reason)),
        Ok(info) => {
            text(c"isa", info.isa);
            text(c"library", info.library.as_deref());
            text(c"version", info.version.as_deref());
            text(c"core", info.core.as_deref());
            entries.extend(info.threads.map(|n| (c"threads", from_f64(env, n as f64))));
        }
    }
    Ok(from_entries(env, &entries))
}

/// What a call asks for.
struct Call {
    engine: FlatEngine,
    op: FlatOp,
    arrays: FlatArrays,
    /// Bytes of `a`, `b` and `out`.
    bytes: [usize; 3],
}

impl Call {
    /// The arguments of `flat` and `flatAsync`.
    ///
    /// # Errors
    /// `Code::Internal` for what TypeScript does not send: unknown names, other arrays, lengths that the sizes do not give.
    fn of(env: sys::napi_env, args: &Args) -> Result<Call> {
        let unknown = |what: &str| Error::internal(format!("flat: unknown {what}"));
        let engine = engine_named(env, args.value(1))?;
        let sizes = value::doubles(env, args.value(6))?;
        // TypeScript lets no other sizes through than those of arrays.
        let size = |i: usize| sizes.get(i).map(|&size| size as usize).ok_or_else(|| unknown("size"));
        let op = match value::text(env, args.value(2))?.as_str() {
            "matmul" => FlatOp::Matmul { m: size(0)?, n: size(1)?, k: size(2)? },
            "add" => FlatOp::Add(size(0)?),
            "dot" => FlatOp::Dot(size(0)?),
            "sum" => FlatOp::Sum(size(0)?),
            "scale" => FlatOp::Scale(size(0)?, args.f64(7)?),
            _ => return Err(unknown("operation")),
        };
        let (a, a_len, dtype) = value::float_array(env, args.value(3))?;
        let has_second = matches!(op, FlatOp::Matmul { .. } | FlatOp::Add(_) | FlatOp::Dot(_));
        let (b, b_len, b_dtype) = if has_second { value::float_array(env, args.value(4))? } else { (a, 0, dtype) };
        let (out, out_len, out_dtype) = value::float_array(env, args.value(5))?;
        let product = usize::saturating_mul;
        let (lengths, result) = match op {
            FlatOp::Matmul { m, n, k } => ([product(m, k), product(k, n), product(m, n)], dtype),
            FlatOp::Add(len) => ([len; 3], dtype),
            FlatOp::Dot(len) => ([len, len, 1], DType::F64),
            FlatOp::Sum(len) => ([len, 0, 1], DType::F64),
            FlatOp::Scale(len, _) => ([len, 0, len], dtype),
        };
        if [a_len, b_len, out_len] != lengths || b_dtype != dtype || out_dtype != result || sizes.contains(&0.0) {
            return Err(Error::internal("flat: arrays do not fit the operation"));
        }
        let bytes = [a_len * dtype.bytes(), b_len * dtype.bytes(), out_len * out_dtype.bytes()];
        Ok(Call { engine, op, arrays: FlatArrays { dtype, a, b, out }, bytes })
    }
}

/// `flat(name, engine, op, a, b, out, sizes, s)`: see `lib/native/flat.ts`.
///
/// # Errors
/// Led by the name of the function that was called: `Code::BackendUnavailable` with the reason, `Code::OutOfMemory`, `Code::Unsupported`.
pub fn flat(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let name = value::text(state.env, args.value(0))?;
    let Call { engine, op, arrays, .. } = Call::of(state.env, args)?;
    // SAFETY: the lengths were checked, and typed arrays live through this callback, during which no JavaScript runs; TypeScript copies shared
    // memory, and lets no result lie in an operand but where that is allowed.
    unsafe { run_flat(engine, op, arrays) }.map_err(|e| e.in_op(&name))?;
    Ok(ptr::null_mut())
}

/// Memory of ours for elements: a worker may end, and its arrays go, while another thread computes.
struct Room(Vec<u64>);

impl Room {
    fn new(bytes: usize) -> Result<Room> {
        let (mut words, len) = (Vec::new(), bytes.div_ceil(8));
        words.try_reserve_exact(len).map_err(|_| Error::out_of_memory(format!("no memory for {bytes} bytes")))?;
        words.resize(len, 0);
        Ok(Room(words))
    }

    /// A copy of an array.
    ///
    /// # Safety
    /// It has so many bytes.
    unsafe fn copy(from: *const u8, bytes: usize) -> Result<Room> {
        let mut room = Room::new(bytes)?;
        // SAFETY: as the caller promises; the room has as many.
        unsafe { ptr::copy_nonoverlapping(from, room.start(), bytes) };
        Ok(room)
    }

    fn start(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}

/// `flatAsync(name, engine, op, a, b, out, sizes, s)`: the same on another thread; operands are copied, and `out` only says how large the result is:
/// a promise of its bytes.
///
/// # Errors
/// As `flat`, by the promise; at once for wrong arguments and without memory for copies.
pub fn flat_async(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let name = value::text(state.env, args.value(0))?;
    let Call { engine, op, arrays, bytes: [a, b, out] } = Call::of(state.env, args)?;
    let dtype = arrays.dtype;
    // SAFETY: typed arrays live through this callback, during which no JavaScript runs.
    let copies = unsafe { Room::copy(arrays.a, a).and_then(|x| Ok((x, Room::copy(arrays.b, b)?, Room::new(out)?))) };
    let (mut x, mut y, mut z) = copies.map_err(|e| e.in_op(&name))?;
    let (promise, settle) = state.promise()?;
    on_flat_thread(Box::new(move || {
        if !settle.is_awaited() {
            return;
        }
        let outcome = error::guarded(|| {
            let arrays = FlatArrays { dtype, a: x.start(), b: y.start(), out: z.start() };
            // SAFETY: the copies have the lengths that were checked.
            unsafe { run_flat(engine, op, arrays)? };
            let mut result = Vec::new();
            result.try_reserve_exact(out).map_err(|_| Error::out_of_memory(format!("no memory for {out} bytes")))?;
            // SAFETY: the room has as many bytes, all of them written.
            result.extend_from_slice(unsafe { std::slice::from_raw_parts(z.start(), out) });
            Ok(Answer::Bytes(result))
        });
        settle.settle(outcome.map_err(|e| e.in_op(&name)));
    }));
    Ok(promise)
}
