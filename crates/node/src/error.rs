//! Errors on their way to JavaScript: instances of the TypeScript classes, one for each code, and panics as such errors.

use crate::callback::Args;
use crate::environment::Environment;
use crate::value;
use ferrotensor_core::error::Code;
use ferrotensor_core::{Error, Result};
use napi_sys as sys;
use std::any::Any;
use std::cell::RefCell;
use std::ffi::CString;
use std::ptr;

thread_local! {
    /// Where the last panic of this thread happened.
    static PANIC_LOCATION: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Keeps the location of panics and prints nothing, unless `FERROTENSOR_DEBUG` is set: a panic becomes an exception.
pub fn install_panic_hook() {
    let before = std::panic::take_hook();
    let debug = std::env::var_os("FERROTENSOR_DEBUG").is_some();
    std::panic::set_hook(Box::new(move |info| {
        if let Some(at) = info.location() {
            PANIC_LOCATION.with(|l| *l.borrow_mut() = format!("{}:{}", at.file(), at.line()));
        }
        if debug {
            before(info);
        }
    }));
}

/// A caught panic as an error.
pub fn from_panic(payload: Box<dyn Any + Send>) -> Error {
    let text = payload
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic".to_string());
    let at = PANIC_LOCATION.with(|l| l.borrow().clone());
    Error::internal(format!("{text} ({at}); this is a bug in ferrotensor"))
}

/// The constructors of one environment, by code number less one.
#[derive(Default)]
pub struct ErrorClasses {
    constructors: Vec<sys::napi_ref>,
}

impl ErrorClasses {
    /// A JavaScript error object.
    pub fn object(&self, env: sys::napi_env, error: &Error) -> sys::napi_value {
        let message = value::from_text(env, &error.message);
        let mut out = ptr::null_mut();
        let class = Code::ALL.iter().position(|c| *c == error.code).and_then(|i| self.constructors.get(i));
        // SAFETY: references are strong and belong to `env`; on any failure we fall through to a plain error.
        unsafe {
            if let Some(class) = class {
                let mut constructor = ptr::null_mut();
                sys::napi_get_reference_value(env, *class, &mut constructor);
                if sys::napi_new_instance(env, constructor, 1, &message, &mut out) == sys::Status::napi_ok {
                    return out;
                }
                let mut ignored = ptr::null_mut();
                sys::napi_get_and_clear_last_exception(env, &mut ignored);
            }
            sys::napi_create_error(env, value::from_text(env, error.code.name()), message, &mut out);
        }
        out
    }

    /// Throws an error from the running callback; the result is what the callback returns.
    pub fn throw(&self, env: sys::napi_env, error: &Error) -> sys::napi_value {
        // SAFETY: `env` is live and inside a callback.
        unsafe {
            if sys::napi_throw(env, self.object(env, error)) != sys::Status::napi_ok {
                let text = CString::new(error.message.replace('\0', " ")).unwrap_or_default();
                sys::napi_throw_error(env, ptr::null(), text.as_ptr());
            }
        }
        ptr::null_mut()
    }
}

/// `setErrorClasses(classes)`: the constructors, in the order of `Code::ALL`; each takes a message.
pub fn set_classes(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    let mut constructors = Vec::new();
    for i in 0..Code::ALL.len() {
        let mut reference = ptr::null_mut();
        let class = value::element(env, args.value(0), i);
        // SAFETY: `class` belongs to the running callback; a strong reference, freed with the environment.
        value::check(unsafe { sys::napi_create_reference(env, class, 1, &mut reference) }, "setErrorClasses")?;
        constructors.push(reference);
    }
    state.errors.constructors = constructors;
    Ok(ptr::null_mut())
}
