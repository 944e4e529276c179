//! Conversion of single JavaScript values, both ways.

use ferrotensor_core::{DType, Error, Result};
use napi_sys as sys;
use std::ffi::CStr;
use std::ptr;

/// Turns a Node-API status into a result.
///
/// # Errors
/// `Code::Internal`, naming the call: our callers hand over what the call expects.
pub fn check(status: sys::napi_status, call: &str) -> Result<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(Error::internal(format!("{call} failed with status {status}"))) }
}

/// A number.
///
/// # Errors
/// `Code::Argument` for anything else.
pub fn number(env: sys::napi_env, value: sys::napi_value) -> Result<f64> {
    let mut out = 0.0;
    // SAFETY: `value` belongs to the running callback of `env`.
    match unsafe { sys::napi_get_value_double(env, value, &mut out) } {
        sys::Status::napi_ok => Ok(out),
        _ => Err(Error::argument("native call: a number is missing")),
    }
}

/// `true`, or anything else.
pub fn boolean(env: sys::napi_env, value: sys::napi_value) -> bool {
    let mut out = false;
    // SAFETY: as above; on a failure `out` stays false.
    unsafe { sys::napi_get_value_bool(env, value, &mut out) };
    out
}

/// A JavaScript string as UTF-8.
///
/// # Errors
/// `Code::Argument` for anything else.
pub fn text(env: sys::napi_env, value: sys::napi_value) -> Result<String> {
    let missing = || Error::argument("native call: a string is missing");
    let mut length = 0;
    // SAFETY: a null buffer asks for the length only.
    if unsafe { sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &mut length) } != sys::Status::napi_ok {
        return Err(missing());
    }
    let mut bytes = vec![0u8; length + 1];
    // SAFETY: `bytes` holds `length` bytes and the terminator.
    unsafe { sys::napi_get_value_string_utf8(env, value, bytes.as_mut_ptr().cast(), bytes.len(), &mut length) };
    bytes.truncate(length);
    String::from_utf8(bytes).map_err(|_| missing())
}

/// The texts of an array.
///
/// # Errors
/// `Code::Argument` for anything else.
pub fn texts(env: sys::napi_env, array: sys::napi_value) -> Result<Vec<String>> {
    let mut length = 0;
    // SAFETY: `array` belongs to the running callback.
    check(unsafe { sys::napi_get_array_length(env, array, &mut length) }, "napi_get_array_length")?;
    (0..length as usize).map(|i| text(env, element(env, array, i))).collect()
}

/// A new number.
pub fn from_f64(env: sys::napi_env, v: f64) -> sys::napi_value {
    let mut out = ptr::null_mut();
    // SAFETY: `env` is live; on a failure the null result reads as `undefined`.
    unsafe { sys::napi_create_double(env, v, &mut out) };
    out
}

/// `true` or `false`.
pub fn from_bool(env: sys::napi_env, v: bool) -> sys::napi_value {
    let mut out = ptr::null_mut();
    // SAFETY: `env` is live.
    unsafe { sys::napi_get_boolean(env, v, &mut out) };
    out
}

/// A new string.
pub fn from_text(env: sys::napi_env, v: &str) -> sys::napi_value {
    let mut out = ptr::null_mut();
    // SAFETY: pointer and length describe `v`.
    unsafe { sys::napi_create_string_utf8(env, v.as_ptr().cast(), v.len() as isize, &mut out) };
    out
}

/// A new array.
pub fn from_list(env: sys::napi_env, items: impl IntoIterator<Item = sys::napi_value>) -> sys::napi_value {
    let mut out = ptr::null_mut();
    // SAFETY: `env` is live, and items belong to it.
    unsafe {
        sys::napi_create_array(env, &mut out);
        for (i, item) in items.into_iter().enumerate() {
            sys::napi_set_element(env, out, i as u32, item);
        }
    }
    out
}

/// A new object with these properties.
pub fn from_entries(env: sys::napi_env, entries: &[(&CStr, sys::napi_value)]) -> sys::napi_value {
    let mut out = ptr::null_mut();
    // SAFETY: `env` is live, and values belong to it.
    unsafe {
        sys::napi_create_object(env, &mut out);
        for (name, value) in entries {
            sys::napi_set_named_property(env, out, name.as_ptr(), *value);
        }
    }
    out
}

/// A new `ArrayBuffer` with a copy of these bytes: memory of JavaScript's own, which a collection frees at once. For few bytes: V8 ends the
/// process where it has none.
///
/// # Errors
/// `Code::OutOfMemory` where Node refuses.
pub fn own_buffer(env: sys::napi_env, bytes: &[u8]) -> Result<sys::napi_value> {
    let (mut data, mut out) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: `env` is live; `data` is room for as many bytes as were asked for, where there are any.
    unsafe {
        if sys::napi_create_arraybuffer(env, bytes.len(), &mut data, &mut out) != sys::Status::napi_ok {
            return Err(Error::out_of_memory(format!("no memory for an ArrayBuffer of {} bytes", bytes.len())));
        }
        if !bytes.is_empty() {
            ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len());
        }
    }
    Ok(out)
}

/// The element at a position of an array.
pub fn element(env: sys::napi_env, array: sys::napi_value, i: usize) -> sys::napi_value {
    let mut out = ptr::null_mut();
    // SAFETY: `array` belongs to the running callback; on a failure the null result is refused by its users.
    unsafe { sys::napi_get_element(env, array, i as u32, &mut out) };
    out
}

/// The property of this name.
///
/// # Errors
/// `Code::Internal` when `object` is none, or the property throws.
pub fn property(env: sys::napi_env, object: sys::napi_value, name: &str) -> Result<sys::napi_value> {
    let mut out = ptr::null_mut();
    // SAFETY: `object` belongs to the running callback; both names belong to it, and a missing property is `undefined`.
    check(unsafe { sys::napi_get_property(env, object, from_text(env, name), &mut out) }, "napi_get_property")?;
    Ok(out)
}

/// The bytes under a typed array: address and length. Never kept beyond the callback, but for buffers we hold a strong
/// reference to.
///
/// # Errors
/// `Code::Argument` for anything else.
pub fn typed_array(env: sys::napi_env, value: sys::napi_value) -> Result<(*mut u8, usize)> {
    let (kind, length, data) = typed_array_info(env, value)?;
    use sys::TypedarrayType as T;
    let bytes = match kind {
        T::int8_array | T::uint8_array | T::uint8_clamped_array => 1,
        T::int16_array | T::uint16_array => 2,
        T::int32_array | T::uint32_array | T::float32_array => 4,
        T::float64_array | T::bigint64_array | T::biguint64_array => 8,
        other => return Err(Error::argument(format!("native call: typed arrays of kind {other} are not taken"))),
    };
    Ok((data, length * bytes))
}

/// The elements of a `Float32Array` or `Float64Array`: address, how many, and their dtype. Never kept beyond the callback.
///
/// # Errors
/// `Code::Argument` for anything else.
pub fn float_array(env: sys::napi_env, value: sys::napi_value) -> Result<(*mut u8, usize, DType)> {
    let (kind, length, data) = typed_array_info(env, value)?;
    let dtype = match kind {
        sys::TypedarrayType::float32_array => DType::F32,
        sys::TypedarrayType::float64_array => DType::F64,
        other => return Err(Error::argument(format!("native call: typed arrays of kind {other} are not taken"))),
    };
    Ok((data, length, dtype))
}

/// Kind, length and address of a typed array. An empty one may have no address; slices need one that is not null and aligned.
fn typed_array_info(env: sys::napi_env, value: sys::napi_value) -> Result<(sys::napi_typedarray_type, usize, *mut u8)> {
    let (mut kind, mut length, mut data) = (0, 0, ptr::null_mut());
    // SAFETY: `value` belongs to the running callback; the out-pointers we leave null are optional.
    let status = unsafe {
        sys::napi_get_typedarray_info(env, value, &mut kind, &mut length, &mut data, ptr::null_mut(), ptr::null_mut())
    };
    if status != sys::Status::napi_ok {
        return Err(Error::argument("native call: a typed array is missing"));
    }
    Ok((kind, length, if data.is_null() { ptr::dangling_mut::<u64>().cast() } else { data.cast() }))
}

/// The numbers of a `Float64Array`.
///
/// # Errors
/// As [`typed_array`].
pub fn doubles(env: sys::napi_env, value: sys::napi_value) -> Result<Vec<f64>> {
    let (data, len) = typed_array(env, value)?;
    // SAFETY: a typed array TypeScript made for this call; no JavaScript runs before it is copied.
    let bytes = unsafe { std::slice::from_raw_parts(data, len) };
    Ok(bytes.chunks_exact(8).map(|b| f64::from_ne_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])).collect())
}
