//! Profiles: opened and closed, and what came of them as plain objects.

use crate::callback::Args;
use crate::environment::Environment;
use crate::readback;
use crate::value::{from_bool, from_entries, from_f64, from_list, from_text};
use ferrotensor_core::{Error, Result};
use napi_sys as sys;
use std::time::Duration;

/// `openProfile()`: times every kernel of this environment from now on; returns the profile's number. Waits for what is queued.
pub fn open(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    readback::drain(state, args)?;
    let id = state.session.open_profile();
    Ok(from_f64(state.env, f64::from(id)))
}

/// `closeProfile(profile)`: `{ wall, busy, kernels, peaks }`, times in milliseconds, after waiting for what is queued.
///
/// # Errors
/// `Code::Internal` for the number of none.
pub fn close(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    readback::drain(state, args)?;
    let env = state.env;
    let id = args.index(0)?;
    let report = u32::try_from(id).ok().and_then(|id| state.session.close_profile(id));
    let report = report.ok_or_else(|| Error::internal(format!("there is no profile {id}")))?;
    let number = |n: f64| from_f64(env, n);
    let millis = |t: Duration| number(t.as_secs_f64() * 1e3);
    let kernels = report.kernels.iter().map(|k| {
        let mut entries = vec![
            (c"name", from_text(env, &k.name)),
            (c"device", from_text(env, &k.device)),
            (c"count", number(k.count as f64)),
            (c"time", millis(k.time)),
            (c"read", number(k.moved.0 as f64)),
            (c"written", number(k.moved.1 as f64)),
            (c"double", from_bool(env, k.double)),
        ];
        entries.extend(k.lacking.as_ref().map(|device| (c"lacking", from_text(env, device))));
        entries.extend(k.flops.map(|flops| (c"flops", number(flops))));
        from_entries(env, &entries)
    });
    let kernels = from_list(env, kernels);
    let peaks = report.peaks.iter().map(|(device, peak)| {
        let rates = [(c"copy", number(peak.copy)), (c"float32", number(peak.float32)), (c"float64", number(peak.float64))];
        from_entries(env, &[[(c"device", from_text(env, device))].as_slice(), &rates].concat())
    });
    let peaks = from_list(env, peaks);
    let (wall, busy) = (millis(report.wall), millis(report.busy));
    Ok(from_entries(env, &[(c"wall", wall), (c"busy", busy), (c"kernels", kernels), (c"peaks", peaks)]))
}
