//! Rare calls: devices, memory, threads, settings, statistics.

use crate::callback::Args;
use crate::environment::{Environment, engine};
use crate::value::{from_entries, from_f64, from_list, from_text, text};
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::scalar::Program;
use ferrotensor_core::{DType, Error, Result};
use ferrotensor_engine::{Config, Strict};
use napi_sys as sys;
use std::ptr;

/// `memory()`: `{ live, limit, devices: [{ device, live, cached, peak }] }` in bytes.
pub fn memory(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    let bytes = |n: usize| from_f64(env, n as f64);
    let devices = engine().memory().into_iter().map(|m| {
        let sizes = [(c"live", bytes(m.live)), (c"cached", bytes(m.cached)), (c"peak", bytes(m.peak))];
        from_entries(env, &[[(c"device", from_text(env, &m.device))].as_slice(), &sizes].concat())
    });
    let devices = from_list(env, devices);
    let totals = [(c"live", bytes(engine().live_bytes())), (c"limit", bytes(engine().limit())), (c"devices", devices)];
    Ok(from_entries(env, &totals))
}

/// `setLimit(bytes)`.
pub fn set_limit(_: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    // TypeScript lets whole numbers from 1 on through; on 32-bit machines `as` saturates.
    engine().set_limit(args.f64(0)? as usize);
    Ok(ptr::null_mut())
}

/// `trim()`: gives cached memory back to the operating system and drivers.
pub fn trim(_: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    engine().trim();
    Ok(ptr::null_mut())
}

/// `devices()`: one entry for each device present (`number`, `name`, `kind`, `class`, `description`, `dtypes`, `memory`,
/// `maxBuffer`) and each absent backend (`name`, `kind`, `reason`).
pub fn devices(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    let mut number = 0;
    let mut list = Vec::new();
    for entry in engine().registry().entries() {
        let kind = || (c"kind", from_text(env, entry.name));
        match &entry.devices {
            Err(reason) => list.push(from_entries(
                env,
                &[(c"name", from_text(env, entry.name)), kind(), (c"reason", from_text(env, reason))],
            )),
            Ok(devices) => {
                for device in devices {
                    let caps = device.caps();
                    // Derived, like all support: a device has a dtype if it can copy it.
                    let copy = |dtype| Kernel::Map(Map { program: Program::identity(dtype) });
                    let dtypes = DType::all().filter(|&d| device.supports(&copy(d)).is_ok());
                    list.push(from_entries(
                        env,
                        &[
                            (c"number", from_f64(env, f64::from(number))),
                            (c"name", from_text(env, &caps.name)),
                            kind(),
                            (c"class", from_text(env, caps.class.name())),
                            (c"description", from_text(env, &caps.description)),
                            (c"dtypes", from_list(env, dtypes.map(|d| from_text(env, d.name())))),
                            (c"memory", from_f64(env, device.mem().total as f64)),
                            (c"maxBuffer", from_f64(env, caps.max_buffer as f64)),
                        ],
                    ));
                    number += 1;
                }
            }
        }
    }
    Ok(from_list(env, list))
}

/// `deviceName(number)`: as users write it.
///
/// # Errors
/// `Code::Device` for a number without a device.
pub fn device_name(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let number = u16::try_from(args.index(0)?).map_err(|_| Error::device("a device number is too large"))?;
    Ok(from_text(state.env, &engine().device(number)?.caps().name))
}

/// `findDevice(op, name)`: its number in programs.
///
/// # Errors
/// Led by `op`: `Code::Device` for an unknown name, `Code::BackendUnavailable` with the reason for a known one that is absent.
pub fn find_device(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let (op, name) = (text(state.env, args.value(0))?, text(state.env, args.value(1))?);
    let number = engine().registry().find(&name).map_err(|e| e.in_op(&op))?;
    Ok(from_f64(state.env, number as f64))
}

/// `preferredDevice()`: the number of the default device.
///
/// # Errors
/// `Code::BackendUnavailable` when there is no real device.
pub fn preferred_device(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    Ok(from_f64(state.env, engine().registry().preferred()? as f64))
}

/// `setThreads(count)`.
pub fn set_threads(_: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let count = args.index(0)?;
    ferrotensor_cpu::set_threads(count);
    ferrotensor_host::set_threads(count);
    Ok(ptr::null_mut())
}

/// `stats()`: this environment's counters since the start or `resetStats()`.
pub fn stats(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    let stats = state.session.stats();
    let count = |n: u64| from_f64(env, n as f64);
    let fallbacks = stats.fallbacks.iter().map(|f| {
        from_entries(
            env,
            &[
                (c"device", from_text(env, &f.device)),
                (c"op", from_text(env, &f.op)),
                (c"dtype", from_text(env, &f.dtype)),
                (c"reason", from_text(env, &f.reason)),
                (c"count", count(f.count)),
                (c"bytes", count(f.bytes)),
            ],
        )
    });
    let fallbacks = from_list(env, fallbacks);
    let rewritten = stats.rewritten.iter().map(|r| {
        from_entries(
            env,
            &[
                (c"device", from_text(env, &r.device)),
                (c"op", from_text(env, &r.op)),
                (c"kernel", from_text(env, &r.kernel)),
                (c"dtype", from_text(env, &r.dtype)),
                (c"count", count(r.count)),
            ],
        )
    });
    let rewritten = from_list(env, rewritten);
    Ok(from_entries(
        env,
        &[
            (c"programs", count(stats.programs)),
            (c"ops", count(stats.ops)),
            (c"launches", count(stats.launches)),
            (c"fusions", count(stats.fusions)),
            (c"schedules", count(stats.schedules)),
            (c"inline", count(stats.inline)),
            (c"uploaded", count(stats.uploaded)),
            (c"rewritten", rewritten),
            (c"fallbacks", fallbacks),
        ],
    ))
}

/// `takeWarnings()`: texts left under `strict('warn')`, forgotten here.
pub fn take_warnings(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    Ok(from_list(env, state.warnings.drain(..).map(|text| from_text(env, &text))))
}

/// `resetStats()`.
pub fn reset_stats(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    state.session.reset_stats();
    Ok(ptr::null_mut())
}

/// `config(fusion, strict)`: `strict` is 0 allow, 1 warn, 2 throw.
pub fn config(state: &mut Environment, args: &Args) -> Result<sys::napi_value> {
    let strict = match args.index(1)? {
        0 => Strict::Allow,
        1 => Strict::Warn,
        2 => Strict::Throw,
        other => return Err(Error::argument(format!("native call: {other} is no strictness"))),
    };
    state.session.set_config(Config { fusion: args.bool(0), strict });
    Ok(ptr::null_mut())
}
