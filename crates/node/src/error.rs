//! Errors on their way to JavaScript: instances of the TypeScript classes, one for each code, and panics as such errors.

use crate::callback::Args;
use crate::environment::Environment;
use crate::reference::Reference;
use crate::value;
use ferrotensor_core::error::Code;
use ferrotensor_core::planted;
use ferrotensor_core::{Error, Result};
use napi_sys as sys;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
fn from_panic(payload: Box<dyn Any + Send>) -> Error {
    let text = payload
        .downcast_ref::<&str>()
        .map(|s| s.to_string())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "panic".to_string());
    let at = PANIC_LOCATION.with(|l| l.borrow().clone());
    Error::internal(format!("{text} ({at}); this is a bug in ferrotensor"))
}

/// What the body gives; its panic as an error.
///
/// # Errors
/// Those of the body, `Code::Internal` for a panic.
pub fn guarded<T>(body: impl FnOnce() -> Result<T>) -> Result<T> {
    if planted::is("a-panic-leaves-native-code") {
        return body();
    }
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(from_panic(payload)))
}

/// The constructors of one environment.
#[derive(Default)]
pub struct ErrorClasses {
    constructors: Vec<(Code, Reference)>,
}

impl ErrorClasses {
    /// A JavaScript error object. None: its constructor, which is JavaScript, has left an exception pending.
    ///
    /// That exception must stay. It is the end of a worker that is being terminated (cleared, an endless loop of failing
    /// calls never ends: Node 22 and later), or a stack overflow.
    pub fn object(&self, env: sys::napi_env, error: &Error) -> Option<sys::napi_value> {
        let message = value::from_text(env, &error.message);
        let class = self.constructors.iter().find(|(code, _)| *code == error.code).and_then(|(_, class)| class.get(env));
        let mut out = ptr::null_mut();
        // SAFETY: `env` is live, and the values belong to the running callback.
        let status = unsafe {
            match class {
                Some(class) => sys::napi_new_instance(env, class, 1, &message, &mut out),
                // Before TypeScript has handed its classes over.
                None => sys::napi_create_error(env, value::from_text(env, error.code.name()), message, &mut out),
            }
        };
        (status == sys::Status::napi_ok).then_some(out)
    }

    /// Throws an error from the running callback; the result is what the callback returns.
    pub fn throw(&self, env: sys::napi_env, error: &Error) -> sys::napi_value {
        if let Some(object) = self.object(env, error) {
            // SAFETY: `env` is live and inside a callback; a call that fails leaves another exception pending.
            unsafe { sys::napi_throw(env, object) };
        }
        ptr::null_mut()
    }
}

/// `setErrorClasses(classes)`: an object with the constructor for each code's name; each takes a message.
///
/// # Errors
/// `Code::Internal` when the class of a code is missing.
pub fn set_classes(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    let class = |code: Code| Ok((code, Reference::strong(env, value::property(env, args.value(0), code.name())?)?));
    state.errors.constructors = Code::ALL.into_iter().map(class).collect::<Result<_>>()?;
    Ok(ptr::null_mut())
}

#[cfg(test)]
mod tests {
    use super::guarded;
    use ferrotensor_core::error::Code;
    use ferrotensor_core::{Error, Result};

    #[test]
    fn a_panic_is_an_error_from_which_the_caller_goes_on() {
        let message = |text: Option<&'static str>| {
            let body = || -> Result<i32> { text.map_or(Ok(1), |text| panic!("{text}")) };
            guarded(body).map_err(|e| (e.code, e.message))
        };
        assert_eq!(message(None), Ok(1));
        let (code, text) = message(Some("an index beyond its end")).unwrap_err();
        assert_eq!(code, Code::Internal);
        assert!(text.starts_with("an index beyond its end (") && text.ends_with("this is a bug in ferrotensor"), "{text}");
        assert_eq!(guarded(|| Err::<i32, _>(Error::index("one of ours"))), Err(Error::index("one of ours")));
    }
}
