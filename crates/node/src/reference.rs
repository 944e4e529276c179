//! References to JavaScript objects, without finalizers, and the handle scopes around looking at them.

use crate::value;
use ferrotensor_core::Result;
use napi_sys as sys;
use std::ptr;

/// A weak or strong reference; deleting it needs the JavaScript thread, where all of its owners live. Node deletes none at the end
/// of an environment.
pub struct Reference {
    env: sys::napi_env,
    reference: sys::napi_ref,
}

impl Reference {
    /// Refers to an object, which may be collected.
    ///
    /// # Errors
    /// `Code::Internal` when `object` is none.
    pub fn weak(env: sys::napi_env, object: sys::napi_value) -> Result<Reference> {
        Reference::new(env, object, 0)
    }

    /// Keeps an object.
    ///
    /// # Errors
    /// As [`Reference::weak`].
    pub fn strong(env: sys::napi_env, object: sys::napi_value) -> Result<Reference> {
        Reference::new(env, object, 1)
    }

    fn new(env: sys::napi_env, object: sys::napi_value, count: u32) -> Result<Reference> {
        let mut reference = ptr::null_mut();
        // SAFETY: `object` belongs to the running callback; a count of 0 makes the reference weak.
        value::check(unsafe { sys::napi_create_reference(env, object, count, &mut reference) }, "napi_create_reference")?;
        Ok(Reference { env, reference })
    }

    /// The object, unless it was collected. It lives at least until the current handle scope ends.
    pub fn get(&self, env: sys::napi_env) -> Option<sys::napi_value> {
        let mut out = ptr::null_mut();
        // SAFETY: the reference belongs to `env` and is deleted in `drop` only.
        unsafe { sys::napi_get_reference_value(env, self.reference, &mut out) };
        (!out.is_null()).then_some(out)
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // SAFETY: on the environment's thread, and before it is gone: owners are dropped in its cleanup hook at the latest.
        unsafe { sys::napi_delete_reference(self.env, self.reference) };
    }
}

/// A handle scope: JavaScript values made inside are released at its end.
pub struct Scope {
    env: sys::napi_env,
    scope: sys::napi_handle_scope,
}

impl Scope {
    /// Opens one.
    pub fn open(env: sys::napi_env) -> Scope {
        let mut scope = ptr::null_mut();
        // SAFETY: `env` is live, and we are inside a callback or a cleanup hook.
        unsafe { sys::napi_open_handle_scope(env, &mut scope) };
        Scope { env, scope }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        // SAFETY: opened in `open`; scopes are locals, so they close in reverse order.
        unsafe { sys::napi_close_handle_scope(self.env, self.scope) };
    }
}
