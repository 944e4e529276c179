//! Files: opening sources of tensors, filling tensors from them, and writing tensors; blocking, and on the thread for files.

use crate::callback::Args;
use crate::environment::Environment;
use crate::error;
use crate::program::keep;
use crate::promise::{Answer, Settle, Settled};
use crate::tables::{self, ascii};
use crate::value;
use ferrotensor_core::backend::Buffer;
use ferrotensor_core::{Error, Result};
use ferrotensor_cpu::Lent;
use ferrotensor_engine::{Tensor, on_file_thread};
use ferrotensor_io::{Array, Content, Elements, Format, Source, Writing, encode, encode_into, length, save};
use napi_sys as sys;
use std::io;
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

/// What is to be opened.
struct Opening {
    op: String,
    from: From,
    format: Format,
}

enum From {
    Path { path: PathBuf, mapped: bool },
    Bytes(Vec<u8>),
}

impl Opening {
    fn of(env: sys::napi_env, args: &Args) -> Result<Opening> {
        let (op, options) = (value::text(env, args.value(0))?, args.value(2));
        let from = match value::text(env, args.value(1)) {
            Ok(path) => {
                From::Path { path: path.into(), mapped: value::boolean(env, value::property(env, options, "mapped")?) }
            }
            Err(_) => From::Bytes(copy(env, args.value(1))?),
        };
        Ok(Opening { op, from, format: format(env, options)? })
    }

    fn run(self) -> Result<Source> {
        let Opening { op, from, format } = self;
        let opened = match from {
            From::Bytes(bytes) => Source::open(&format, Content::Owned(bytes)),
            From::Path { path, mapped } => Content::open(&path, mapped).and_then(|content| {
                let named = |e: Error| Error::new(e.code, format!("'{}': {}", path.display(), e.message));
                Source::open(&format, content).map_err(named)
            }),
        };
        opened.map_err(|e| e.in_op(&op))
    }
}

/// A copy of the caller's bytes: they may change, or go, while we look.
fn copy(env: sys::napi_env, array: sys::napi_value) -> Result<Vec<u8>> {
    let (data, len) = value::typed_array(env, array)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| Error::out_of_memory(format!("no memory to copy {len} bytes")))?;
    // SAFETY: the typed array lives through this callback, during which no JavaScript runs. TypeScript copies shared memory,
    // which another thread could write, before it comes here.
    bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(data, len) });
    Ok(bytes)
}

fn format(env: sys::napi_env, options: sys::napi_value) -> Result<Format> {
    let property = |name| value::property(env, options, name);
    match value::text(env, property("format")?)?.as_str() {
        "npy" => Ok(Format::Npy),
        "npz" => Ok(Format::Npz),
        "safetensors" => Ok(Format::Safetensors),
        "text" => Ok(Format::Text(tables::matrix(env, options)?)),
        "table" => Ok(Format::Table(tables::table(env, options)?)),
        other => Err(Error::internal(format!("unknown format {other}"))),
    }
}

/// Runs a job on the thread for files, unless its worker has ended by then: what a worker left behind would keep others waiting. A
/// promise is settled whatever happens: an open one would keep the process alive for ever.
fn on_thread(settle: Settle, job: impl FnOnce() -> Settled + Send + 'static) {
    on_file_thread(Box::new(move || {
        if !settle.is_awaited() {
            return;
        }
        settle.settle(error::guarded(job));
    }));
}

/// `openSource(op, path or bytes, options)`: what is in a file, see [`Sources::describe`].
///
/// # Errors
/// `Code::File` from the system, `Code::Format`.
pub fn open(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let source = Opening::of(state.env, args)?.run()?;
    state.sources.describe(state.env, source)
}

/// `openSourceAsync(...)`: a promise of the same.
pub fn open_async(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let opening = Opening::of(state.env, args)?;
    let (promise, settle) = state.promise()?;
    on_thread(settle, move || opening.run().map(Answer::Source));
    Ok(promise)
}

/// `closeSource(id)`: forgets it; fills under way keep it until they are done.
pub fn close(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    state.sources.close(args.index(0)?);
    Ok(ptr::null_mut())
}

/// `holdSource(id, object)`: closes it when that object has been collected. Returns whether a collection is due (`WANT_MINOR`, `WANT_FULL`).
pub fn hold(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let wanted = state.sources.hold(state.env, args.index(0)?, args.value(1))?;
    Ok(value::from_f64(state.env, f64::from(wanted)))
}

/// A mapped file that tensors lie in.
struct Lying(Arc<Content>);

impl Lent for Lying {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// `lend(source, entry, type, out)`: a handle for an array where it lies in a mapped file, or 0 where it cannot be lent.
///
/// # Errors
/// `Code::Internal` for another type than the array's.
pub fn lend(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let source = state.sources.get(args.index(0)?)?;
    let lent = source.lying(args.index(1)?).map(|(content, range)| {
        let (memory, content): (Arc<dyn Lent>, _) = (Arc::new(Lying(content.clone())), content.clone());
        let changed = |_| Error::format("the file that the tensor lies in was changed; load it without { lend: true }");
        let check = Arc::new(move || content.check().map_err(changed));
        let lend = |beside: &Buffer| ferrotensor_cpu::lend(beside, &memory, range.clone());
        state.session.adopt(args.i32(2)?, &lend, check)
    });
    match lent.transpose()?.flatten() {
        Some(tensor) => keep(state, tensor, args.value(3)),
        None => Ok(value::from_f64(state.env, 0.0)),
    }
}

/// Elements on their way into a reserved tensor.
struct Filling {
    op: String,
    source: Arc<Source>,
    entry: usize,
    tensor: Arc<Tensor>,
}

impl Filling {
    fn of(state: &Environment, args: &Args) -> Result<Filling> {
        let op = value::text(state.env, args.value(0))?;
        let (source, entry) = (state.sources.get(args.index(1)?)?, args.index(2)?);
        let tensor = state.handles.get(args.f64(3)?)?.clone();
        let described = source.entries.get(entry).ok_or_else(|| Error::internal("there is no such array"))?;
        if described.dtype != Some(tensor.dtype()) || described.bytes != tensor.len() * tensor.dtype().bytes() {
            return Err(Error::internal("the reserved tensor is of another type"));
        }
        Ok(Filling { op, source, entry, tensor })
    }

    fn run(self) -> Result<()> {
        let Filling { op, source, entry, tensor } = self;
        source.decode(entry, &mut |at, bytes| tensor.write(at, bytes)).map_err(|e| e.in_op(&op))
    }
}

/// `fill(op, source, entry, handle)`: decodes an array into a tensor that `reserve` made for it.
///
/// # Errors
/// `Code::Format` for corrupt data.
pub fn fill(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    Filling::of(state, args)?.run()?;
    Ok(ptr::null_mut())
}

/// `fillAsync(...)`: a promise settled when that is done.
pub fn fill_async(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let filling = Filling::of(state, args)?;
    let (promise, settle) = state.promise()?;
    on_thread(settle, move || filling.run().map(|()| Answer::Nothing));
    Ok(promise)
}

/// Elements of a tensor, which are lent where they lie.
struct Of(Arc<Tensor>);

impl Elements for Of {
    fn lend(&self, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut taken = Ok(());
        self.0.lend(&mut |bytes| taken = to(&bytes)).map_err(io::Error::other)?;
        taken
    }
}

/// Tensors on their way to a file, or to bytes.
struct Output {
    op: String,
    path: Option<PathBuf>,
    sync: bool,
    tensors: Vec<(String, Of)>,
    how: Writing,
}

impl Output {
    fn of(state: &Environment, args: &Args) -> Result<Output> {
        let (env, options) = (state.env, args.value(2));
        let property = |name| value::property(env, options, name);
        let path = value::text(env, args.value(0))?;
        let names = value::texts(env, property("names")?)?;
        let handles = value::doubles(env, args.value(1))?;
        if names.len() != handles.len() {
            return Err(Error::internal("as many names as tensors are expected"));
        }
        let tensors = names.into_iter().zip(handles).map(|(name, h)| Ok((name, Of(state.handles.get(h)?.clone()))));
        let how = match value::text(env, property("format")?)?.as_str() {
            "npy" => Writing::Npy,
            "npz" => Writing::Npz { compressed: value::boolean(env, property("compressed")?) },
            "safetensors" => {
                let texts = value::texts(env, property("metadata")?)?;
                let pairs = texts.as_chunks().0.iter().map(|[key, text]| (key.clone(), text.clone()));
                Writing::Safetensors { metadata: pairs.collect() }
            }
            _ => Writing::Text {
                delimiter: ascii(env, property("delimiter")?)?.ok_or_else(|| Error::internal("a delimiter is missing"))?,
                header: value::texts(env, property("header")?)?,
            },
        };
        Ok(Output {
            op: value::text(env, property("op")?)?,
            path: (!path.is_empty()).then(|| path.into()),
            sync: value::boolean(env, property("sync")?),
            tensors: tensors.collect::<Result<_>>()?,
            how,
        })
    }

    /// What is to be written, for `f`.
    fn with<T>(&self, f: impl FnOnce(&[Array<'_>], &Writing) -> Result<T>) -> Result<T> {
        let tensors = self.tensors.iter();
        let arrays: Vec<Array<'_>> =
            tensors.map(|(name, data)| Array { name, dtype: data.0.dtype(), shape: data.0.dims(), data }).collect();
        f(&arrays, &self.how).map_err(|e| e.in_op(&self.op))
    }

    fn run(self) -> Settled {
        self.with(|arrays, how| match &self.path {
            Some(path) => save(path, self.sync, |out| ferrotensor_io::write(out, arrays, how)).map(|()| Answer::Nothing),
            None => encode(arrays, how).map(Answer::Bytes),
        })
    }
}

/// A file in memory that JavaScript is still to give, of its own: what native code gives away is freed when the event loop turns, which it does
/// not within a synchronous loop (1,550 results of 4 MiB held 6 GB).
enum Encoding {
    /// Of known length.
    Due(Output),
    Done(Vec<u8>),
}

/// What `write` has left for `encoded`.
#[derive(Default)]
pub struct Encoded(Option<Encoding>);

/// `write(path, handles, options)`: tensors to a file. For an empty path to bytes: returns how many `encoded` will give.
///
/// # Errors
/// `Code::File` from the system; `Code::DType`, `Code::Argument` and `Code::Shape` for what the format does not hold; a tensor's
/// remembered failure.
pub fn write(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let output = Output::of(state, args)?;
    let known = if output.path.is_none() { output.with(length)? } else { None };
    let (length, encoding) = match known {
        Some(length) => (length, Some(Encoding::Due(output))),
        None => match output.run()? {
            Answer::Bytes(bytes) => (bytes.len(), Some(Encoding::Done(bytes))),
            _ => (0, None),
        },
    };
    state.encoded = Encoded(encoding);
    Ok(value::from_f64(state.env, length as f64))
}

/// `encoded(into)`: the bytes that `write` spoke of; without an array forgets them.
///
/// # Errors
/// As `write`; `Code::Internal` for another length, and where nothing was written.
pub fn encoded(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let Some(encoding) = state.encoded.0.take() else { return Err(Error::internal("nothing was encoded")) };
    let Ok((data, len)) = value::typed_array(state.env, args.value(0)) else { return Ok(ptr::null_mut()) };
    // SAFETY: a typed array TypeScript made for this call; no JavaScript runs during it.
    let into = unsafe { std::slice::from_raw_parts_mut(data, len) };
    ferrotensor_cpu::expect_writes(into);
    match encoding {
        Encoding::Due(output) => output.with(|arrays, how| encode_into(into, arrays, how))?,
        Encoding::Done(bytes) if bytes.len() == len => into.copy_from_slice(&bytes),
        Encoding::Done(_) => return Err(Error::internal("the encoded bytes are of another length")),
    }
    Ok(ptr::null_mut())
}

/// `writeAsync(...)`: a promise of nothing, or for an empty path of an `ArrayBuffer`.
pub fn write_async(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let output = Output::of(state, args)?;
    let (promise, settle) = state.promise()?;
    on_thread(settle, move || output.run());
    Ok(promise)
}
