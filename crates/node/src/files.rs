//! Files: opening sources of tensors, filling tensors from them, and writing tensors; blocking, and on the thread for files.

use crate::callback::Args;
use crate::environment::Environment;
use crate::error;
use crate::promise::{Answer, Settle, Settled, array_buffer};
use crate::readback::bytes_of;
use crate::value;
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_engine::{Tensor, on_file_thread};
use ferrotensor_io::fields::Delimiter;
use ferrotensor_io::{Array, Content, Format, Source, Writing, encode, save, text};
use napi_sys as sys;
use std::collections::HashMap;
use std::path::PathBuf;
use std::ptr;
use std::sync::Arc;

/// What an environment has opened and not closed.
#[derive(Default)]
pub struct Sources {
    next: u32,
    open: HashMap<u32, Arc<Source>>,
}

impl Sources {
    fn get(&self, id: usize) -> Result<Arc<Source>> {
        let source = u32::try_from(id).ok().and_then(|id| self.open.get(&id));
        source.cloned().ok_or_else(|| Error::internal("the source is closed"))
    }

    /// Keeps a source, and tells JavaScript what is in it: `{ id, names, codes, facts, refusals, metadata }`. `facts` are float64: for each
    /// array its dtype's number (or -1), the place of its code in `codes`, whether it is in Fortran order, whether it is packed, its bytes,
    /// its rank, and its sizes. `refusals` are pairs of an array's place and why it cannot be read. One object for each array takes five times
    /// as long as reading the header of a file with many.
    ///
    /// # Errors
    /// `Code::Internal` when Node refuses.
    pub fn describe(&mut self, env: sys::napi_env, source: Source) -> Result<sys::napi_value> {
        let names = value::from_list(env, source.entries.iter().map(|entry| value::from_text(env, &entry.name)));
        let mut codes: Vec<&str> = Vec::new();
        let mut facts: Vec<u8> = Vec::new();
        for entry in &source.entries {
            let code = codes.iter().position(|&code| code == entry.code).unwrap_or(codes.len());
            if code == codes.len() {
                codes.push(&entry.code);
            }
            let flag = |set| f64::from(u8::from(set));
            let dtype = entry.dtype.map_or(-1.0, |d| f64::from(d as u8));
            let (fortran, packed) = (flag(entry.fortran), flag(entry.is_packed()));
            let sizes = entry.shape.iter().map(|&size| size as f64);
            let fixed = [dtype, code as f64, fortran, packed, entry.bytes as f64, entry.shape.len() as f64];
            facts.extend(fixed.into_iter().chain(sizes).flat_map(f64::to_ne_bytes));
        }
        let refused = source.entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.refusal.as_ref()?)));
        let refusals = value::from_list(
            env,
            refused.map(|(at, why)| {
                value::from_list(env, [value::from_f64(env, at as f64), value::from_text(env, &why.message)])
            }),
        );
        let codes = value::from_list(env, codes.into_iter().map(|code| value::from_text(env, code)));
        let facts = array_buffer(env, facts)?;
        let texts = source.metadata.iter();
        let pair =
            |(key, text): (&String, &String)| value::from_list(env, [key, text].map(|text| value::from_text(env, text)));
        let metadata = value::from_list(env, texts.map(pair));
        self.next = self.next.wrapping_add(1);
        self.open.insert(self.next, Arc::new(source));
        let id = value::from_f64(env, f64::from(self.next));
        let parts = [
            (c"id", id),
            (c"names", names),
            (c"codes", codes),
            (c"facts", facts),
            (c"refusals", refusals),
            (c"metadata", metadata),
        ];
        Ok(value::from_entries(env, &parts))
    }
}

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
        "text" => Ok(Format::Text(text::Options {
            delimiter: ascii(env, property("delimiter")?)?.map_or(Delimiter::Blanks, Delimiter::One),
            comment: ascii(env, property("comments")?)?,
            skip_rows: value::number(env, property("skipRows")?)? as u64,
            header: value::boolean(env, property("header")?),
            dtype: DType::from_code(value::number(env, property("dtype")?)? as u8)
                .ok_or_else(|| Error::internal("unknown dtype number"))?,
            exact: value::boolean(env, property("exact")?),
            // One text, or none.
            filling: value::texts(env, property("filling")?)?.pop(),
            missing: value::texts(env, property("missing")?)?,
        })),
        other => Err(Error::internal(format!("unknown format {other}"))),
    }
}

/// A text of one ASCII character; none for an empty one.
fn ascii(env: sys::napi_env, text: sys::napi_value) -> Result<Option<u8>> {
    match value::text(env, text)?.as_bytes() {
        [] => Ok(None),
        [byte] if byte.is_ascii() => Ok(Some(*byte)),
        _ => Err(Error::internal("a text of one ASCII character is expected")),
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
    let id = args.index(0)?;
    state.sources.open.retain(|&open, _| open as usize != id);
    Ok(ptr::null_mut())
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

/// Tensors on their way to a file, or to bytes.
struct Output {
    op: String,
    path: Option<PathBuf>,
    tensors: Vec<(String, Arc<Tensor>)>,
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
        let tensors = names.into_iter().zip(handles).map(|(name, h)| Ok((name, state.handles.get(h)?.clone())));
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
            tensors: tensors.collect::<Result<_>>()?,
            how,
        })
    }

    fn run(self) -> Settled {
        let Output { op, path, tensors, how } = self;
        let data: Vec<_> = tensors.iter().map(|(_, tensor)| move || bytes_of(tensor)).collect();
        let arrays: Vec<Array<'_>> = tensors
            .iter()
            .zip(&data)
            .map(|((name, tensor), data)| Array { name, dtype: tensor.dtype(), shape: tensor.dims(), data })
            .collect();
        let done = match path {
            Some(path) => save(&path, |out| ferrotensor_io::write(out, &arrays, &how)).map(|()| Answer::Nothing),
            None => encode(&arrays, &how).map(Answer::Bytes),
        };
        done.map_err(|e| e.in_op(&op))
    }
}

/// `write(path, handles, options)`: tensors to a file, or for an empty path to an `ArrayBuffer`.
///
/// # Errors
/// `Code::File` from the system; `Code::DType`, `Code::Argument` and `Code::Shape` for what the format does not hold; a tensor's
/// remembered failure.
pub fn write(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    match Output::of(state, args)?.run()? {
        Answer::Bytes(bytes) => array_buffer(state.env, bytes),
        _ => Ok(ptr::null_mut()),
    }
}

/// `writeAsync(...)`: a promise of the same.
pub fn write_async(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let output = Output::of(state, args)?;
    let (promise, settle) = state.promise()?;
    on_thread(settle, move || output.run());
    Ok(promise)
}
