//! Recorded expressions that pin much more memory than their value would take, held weakly until pressure runs them.
//!
//! A JavaScript `WeakRef` keeps its target alive until a synchronous loop ends; a weak Node-API reference does not.

use crate::callback::Args;
use crate::environment::Environment;
use crate::reference::{Reference, Scope};
use crate::value;
use ferrotensor_core::Result;
use napi_sys as sys;
use std::ptr;

/// Fewest expressions between two prunings: 10^6 dropped ones over one large tensor stay at 62 MiB, not 115.
const PRUNE: usize = 4096;
/// Entries between two handle scopes.
const SCOPE_ENTRIES: usize = 1024;

/// The watch list of one environment.
#[derive(Default)]
pub struct Watched {
    list: Vec<Reference>,
    /// Length at which the next pruning is due.
    due: usize,
}

impl Watched {
    fn prune(&mut self, env: sys::napi_env) {
        let mut kept = Vec::new();
        let mut rest = std::mem::take(&mut self.list).into_iter().peekable();
        while rest.peek().is_some() {
            let _scope = Scope::open(env);
            kept.extend(rest.by_ref().take(SCOPE_ENTRIES).filter(|weak| weak.get(env).is_some()));
        }
        self.due = PRUNE.max(2 * kept.len());
        self.list = kept;
    }
}

/// `watch(expression)`: returns whether enough came together for a minor collection and `pruneWatched`.
pub fn watch(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    state.watched.list.push(Reference::weak(state.env, args.value(0))?);
    Ok(value::from_bool(state.env, state.watched.list.len() >= state.watched.due.max(PRUNE)))
}

/// `pruneWatched()`: forgets the collected ones.
pub fn prune(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    state.watched.prune(state.env);
    Ok(ptr::null_mut())
}

/// `watched()`: the live ones, oldest first.
pub fn watched(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    Ok(value::from_list(env, state.watched.list.iter().filter_map(|weak| weak.get(env))))
}

/// `takeWatched()`: the live ones, oldest first, all of them forgotten.
pub fn take(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    state.watched.prune(state.env);
    let live = watched(state, args)?;
    state.watched.list.clear();
    Ok(live)
}
