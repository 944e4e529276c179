//! What an environment has opened: files, and bytes in their formats, until they are closed or the objects that hold them were collected.

use crate::protocol::{WANT_FULL, WANT_MINOR};
use crate::reference::{Reference, Scope};
use crate::value;
use ferrotensor_core::{Error, Result};
use ferrotensor_io::Source;
use napi_sys as sys;
use std::collections::HashMap;
use std::sync::Arc;

/// What an environment has opened and not closed.
#[derive(Default)]
pub struct Sources {
    next: u32,
    open: HashMap<u32, Open>,
    /// What the last sweep left, and the last after a full collection.
    left: Held,
    full_left: Held,
}

/// An open source. Where an object of JavaScript's holds it, it is closed when that was collected: finalizers would not say so before a
/// synchronous loop ends (2,000 files of 4 MiB held 8 GB).
struct Open {
    source: Arc<Source>,
    holder: Option<Reference>,
}

/// How many sources, and the bytes they take.
#[derive(Clone, Copy, Default)]
struct Held {
    count: usize,
    bytes: usize,
}

/// Sources opened after which a minor collection is asked for, and left after which a full one is: each may have a file descriptor, of which a
/// process has 256 (macOS) or 1,024 (Linux).
const MINOR: Held = Held { count: 32, bytes: 64 << 20 };
const FULL: Held = Held { count: 128, bytes: 256 << 20 };

impl Sources {
    /// The source of this number.
    ///
    /// # Errors
    /// `Code::Internal` where it was closed.
    pub fn get(&self, id: usize) -> Result<Arc<Source>> {
        let open = u32::try_from(id).ok().and_then(|id| self.open.get(&id));
        open.map(|open| open.source.clone()).ok_or_else(|| Error::internal("the source is closed"))
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
        let facts = value::own_buffer(env, &facts)?;
        let texts = source.metadata.iter();
        let pair =
            |(key, text): (&String, &String)| value::from_list(env, [key, text].map(|text| value::from_text(env, text)));
        let metadata = value::from_list(env, texts.map(pair));
        self.next = self.next.wrapping_add(1);
        self.open.insert(self.next, Open { source: Arc::new(source), holder: None });
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

    /// Forgets a source; whoever still fills a tensor from it keeps it until that is done.
    pub fn close(&mut self, id: usize) {
        self.open.retain(|&open, _| open as usize != id);
    }

    /// Closes a source when `object` has been collected. Returns what should be collected now.
    ///
    /// # Errors
    /// `Code::Internal` for an unknown source.
    pub fn hold(&mut self, env: sys::napi_env, id: usize, object: sys::napi_value) -> Result<i32> {
        let open = u32::try_from(id).ok().and_then(|id| self.open.get_mut(&id));
        open.ok_or_else(|| Error::internal("the source is closed"))?.holder = Some(Reference::weak(env, object)?);
        let Held { count, bytes } = self.held();
        let minor = count > self.left.count + MINOR.count || bytes > self.left.bytes + MINOR.bytes.max(self.left.bytes / 2);
        let full = count > FULL.count.max(2 * self.full_left.count) || bytes > FULL.bytes.max(2 * self.full_left.bytes);
        Ok(i32::from(minor) * WANT_MINOR + i32::from(full) * WANT_FULL)
    }

    fn held(&self) -> Held {
        let held = self.open.values().filter(|open| open.holder.is_some());
        held.fold(Held::default(), |all, open| Held { count: all.count + 1, bytes: all.bytes + open.source.memory() })
    }

    /// Closes the sources whose objects a garbage collection, a full one or not, found dead.
    pub fn sweep(&mut self, env: sys::napi_env, full: bool) {
        self.open.retain(|_, open| {
            let _scope = Scope::open(env);
            open.holder.as_ref().is_none_or(|holder| holder.get(env).is_some())
        });
        self.left = self.held();
        if full {
            self.full_left = self.left;
        }
    }
}
