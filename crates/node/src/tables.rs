//! Tables of text: what is asked of them, and texts on their way to JavaScript.

use crate::callback::Args;
use crate::environment::Environment;
use crate::value;
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_io::columns::Columns;
use ferrotensor_io::fields::Delimiter;
use ferrotensor_io::rows::Layout;
use ferrotensor_io::table::{self, Kind};
use ferrotensor_io::text;
use napi_sys as sys;
use std::ptr;

/// What TypeScript writes for a column whose dtype nobody chose, and for one of text.
const INFERRED: f64 = -1.0;
const TEXT: f64 = -2.0;

/// A matrix of numbers.
///
/// # Errors
/// `Code::Internal` for what TypeScript does not write.
pub fn matrix(env: sys::napi_env, options: sys::napi_value) -> Result<text::Options> {
    let property = |name| value::property(env, options, name);
    let Layout { delimiter, comment, skip_rows, header } = layout(env, options)?;
    Ok(text::Options {
        delimiter,
        comment,
        skip_rows,
        header,
        dtype: dtype(value::number(env, property("dtype")?)?)?,
        exact: value::boolean(env, property("exact")?),
        // One text, or none.
        filling: value::texts(env, property("filling")?)?.pop(),
        missing: value::texts(env, property("missing")?)?,
        columns: columns(env, options)?,
    })
}

/// Columns of several kinds.
///
/// # Errors
/// `Code::Internal` for what TypeScript does not write.
pub fn table(env: sys::napi_env, options: sys::napi_value) -> Result<table::Options> {
    let property = |name| value::property(env, options, name);
    let names = value::texts(env, property("typed")?)?;
    let kinds = value::doubles(env, property("kinds")?)?;
    Ok(table::Options {
        layout: layout(env, options)?,
        kind: kind(value::number(env, property("kind")?)?)?,
        kinds: names.into_iter().zip(kinds).map(|(name, code)| Ok((name, kind(code)?))).collect::<Result<_>>()?,
        filling: value::texts(env, property("filling")?)?.pop(),
        missing: value::texts(env, property("missing")?)?,
        columns: columns(env, options)?,
    })
}

fn layout(env: sys::napi_env, options: sys::napi_value) -> Result<Layout> {
    let property = |name| value::property(env, options, name);
    Ok(Layout {
        delimiter: ascii(env, property("delimiter")?)?.map_or(Delimiter::Blanks, Delimiter::One),
        comment: ascii(env, property("comments")?)?,
        skip_rows: value::number(env, property("skipRows")?)? as u64,
        header: value::boolean(env, property("header")?),
    })
}

/// `names` or `places`, whichever is there.
fn columns(env: sys::napi_env, options: sys::napi_value) -> Result<Columns> {
    let property = |name| value::property(env, options, name);
    let names = value::texts(env, property("names")?)?;
    let places = value::doubles(env, property("places")?)?;
    Ok(match (names.is_empty(), places.is_empty()) {
        (false, _) => Columns::Named(names),
        (true, false) => Columns::At(places.into_iter().map(|place| place as i64).collect()),
        (true, true) => Columns::All,
    })
}

fn kind(code: f64) -> Result<Kind> {
    match code {
        INFERRED => Ok(Kind::Inferred),
        TEXT => Ok(Kind::Text),
        code => dtype(code).map(Kind::Number),
    }
}

fn dtype(code: f64) -> Result<DType> {
    DType::from_code(code as u8).ok_or_else(|| Error::internal("unknown dtype number"))
}

/// A text of one ASCII character; none for an empty one.
///
/// # Errors
/// `Code::Internal` for another text.
pub fn ascii(env: sys::napi_env, text: sys::napi_value) -> Result<Option<u8>> {
    match value::text(env, text)?.as_bytes() {
        [] => Ok(None),
        [byte] if byte.is_ascii() => Ok(Some(*byte)),
        _ => Err(Error::internal("a text of one ASCII character is expected")),
    }
}

/// `texts(source, entry, first, start, bytes, ends)`: texts of a column from the `first` on, whose bytes begin at `start`, as many as there is
/// room for, see [`ferrotensor_io::texts::Texts::copy`].
///
/// # Errors
/// `Code::Internal` for a column that is no text.
pub fn texts(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let source = state.sources.get(args.index(0)?)?;
    let texts = source.texts(args.index(1)?).ok_or_else(|| Error::internal("the column is no text"))?;
    let (bytes, length) = value::typed_array(state.env, args.value(4))?;
    let (ends, ends_length) = value::typed_array(state.env, args.value(5))?;
    if !ends.cast::<u32>().is_aligned() {
        return Err(Error::internal("places of texts are 32-bit integers"));
    }
    // SAFETY: two typed arrays over memory of their own that TypeScript made for this call; no JavaScript runs during it. The second is aligned.
    let (into, ends) = unsafe {
        let into = std::slice::from_raw_parts_mut(bytes, length);
        (into, std::slice::from_raw_parts_mut(ends.cast::<u32>(), ends_length / size_of::<u32>()))
    };
    texts.copy(args.f64(2)? as usize, args.f64(3)? as usize, into, ends)?;
    Ok(ptr::null_mut())
}
