//! How a JavaScript call arrives: arguments, state, and the one guard that turns errors and panics into exceptions.

use crate::environment::Environment;
use crate::error;
use crate::value;
use ferrotensor_core::{Error, Result};
use napi_sys as sys;
use std::ffi::CStr;
use std::ptr;

/// The most arguments any of our functions takes.
const MAX_ARGS: usize = 8;

/// One function of the module. A null result is `undefined`.
pub type Callback = fn(&mut Environment, &Args) -> Result<sys::napi_value>;

/// The arguments of one call; missing ones are `undefined`.
pub struct Args {
    env: sys::napi_env,
    values: [sys::napi_value; MAX_ARGS],
}

impl Args {
    /// The JavaScript value at a position.
    pub fn value(&self, i: usize) -> sys::napi_value {
        self.values[i]
    }

    /// A number.
    ///
    /// # Errors
    /// `Code::Argument` for anything else.
    pub fn f64(&self, i: usize) -> Result<f64> {
        value::number(self.env, self.values[i])
    }

    /// A number that is a whole, not negative 32-bit integer.
    ///
    /// # Errors
    /// `Code::Argument` for anything else.
    pub fn index(&self, i: usize) -> Result<usize> {
        let v = self.f64(i)?;
        if v.fract() != 0.0 || !(0.0..=u32::MAX as f64).contains(&v) {
            return Err(Error::argument(format!("native call: argument {i} must be a whole number, got {v}")));
        }
        Ok(v as usize)
    }

    /// A number that is a whole 32-bit integer.
    ///
    /// # Errors
    /// `Code::Argument` for anything else.
    pub fn i32(&self, i: usize) -> Result<i32> {
        let v = self.f64(i)?;
        if f64::from(v as i32) != v {
            return Err(Error::argument(format!("native call: argument {i} must be a 32-bit integer, got {v}")));
        }
        Ok(v as i32)
    }

    /// A boolean; everything but `true` is false.
    pub fn bool(&self, i: usize) -> bool {
        value::boolean(self.env, self.values[i])
    }
}

/// A function with its state, as the callback's data pointer.
pub struct Bound {
    /// The function.
    pub callback: Callback,
    /// Its environment.
    pub state: *mut Environment,
}

/// Adds one function to the exports.
///
/// # Safety
/// `env` and `exports` are live; `bound` stays where it is as long as JavaScript runs in `env`.
pub unsafe fn define(env: sys::napi_env, exports: sys::napi_value, name: &CStr, bound: *const Bound) {
    let mut function = ptr::null_mut();
    // SAFETY: `env` and `exports` are live, `name` is a C string; a failure leaves a pending exception that Node reports.
    unsafe {
        sys::napi_create_function(env, name.as_ptr(), -1, Some(enter), bound.cast_mut().cast(), &mut function);
        sys::napi_set_named_property(env, exports, name.as_ptr(), function);
    }
}

/// The C side of every function.
unsafe extern "C" fn enter(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let mut values = [ptr::null_mut(); MAX_ARGS];
    let mut count = MAX_ARGS;
    let mut data = ptr::null_mut();
    // SAFETY: out-pointers are valid for `count` values; Node fills missing arguments with `undefined`.
    unsafe { sys::napi_get_cb_info(env, info, &mut count, values.as_mut_ptr(), ptr::null_mut(), &mut data) };
    // SAFETY: `data` is the `Bound` given in `define`; it and its state live as long as JavaScript runs, and calls do not
    // nest: no callback runs JavaScript but the constructors of the error classes, which call nothing of ours.
    let (callback, state) = unsafe {
        let bound = &*data.cast::<Bound>();
        (bound.callback, &mut *bound.state)
    };
    let args = Args { env, values };
    match error::guarded(|| callback(state, &args)) {
        Ok(value) => value,
        Err(error) => state.errors.throw(env, &error),
    }
}
