//! Profiles: opened and closed, and what came of them as plain objects.

use crate::callback::Args;
use crate::environment::Environment;
use crate::readback;
use crate::value::{from_bool, from_entries, from_f64, from_list, from_text, own_buffer};
use ferrotensor_core::{Error, Result};
use ferrotensor_engine::Timeline;
use napi_sys as sys;
use std::time::Duration;

/// `openProfile()`: times every kernel of this environment from now on; returns the profile's number. Waits for what is queued.
pub fn open(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    readback::drain(state, args)?;
    let id = state.session.open_profile();
    Ok(from_f64(state.env, f64::from(id)))
}

/// `closeProfile(profile)`: `{ wall, busy, kernels, peaks, spans, threads, devices, leftOut }`, times in milliseconds, after waiting for
/// what is queued. Spans are an `ArrayBuffer` of [`words`], `devices` the names of devices by their numbers.
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
    let devices = report
        .devices
        .iter()
        .map(|(id, name)| from_entries(env, &[(c"number", number(f64::from(*id))), (c"name", from_text(env, name))]));
    Ok(from_entries(
        env,
        &[
            (c"wall", millis(report.wall)),
            (c"busy", millis(report.busy)),
            (c"kernels", kernels),
            (c"peaks", peaks),
            (c"spans", own_buffer(env, &words(&report.timeline))?),
            (c"threads", from_list(env, report.timeline.threads.iter().map(|name| from_text(env, name)))),
            (c"devices", from_list(env, devices)),
            (c"leftOut", number(report.timeline.left_out as f64)),
        ],
    ))
}

/// Eight float64 for each span: what, thread, device, kernel, start and end in milliseconds, amount, live bytes.
fn words(timeline: &Timeline) -> Vec<u8> {
    let millis = |t: Duration| t.as_secs_f64() * 1e3;
    let of = |s: &ferrotensor_engine::Span| {
        let (start, end) = (millis(s.start), millis(s.end));
        [
            f64::from(s.what as u8),
            s.thread.into(),
            s.device.into(),
            s.kernel.into(),
            start,
            end,
            s.amount as f64,
            s.live as f64,
        ]
    };
    timeline.spans.iter().flat_map(of).flat_map(f64::to_ne_bytes).collect()
}
