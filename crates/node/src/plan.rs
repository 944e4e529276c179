//! Plans: what a program would do, as a plain object.

use crate::callback::Args;
use crate::environment::Environment;
use crate::program::program;
use crate::value::{from_bool, from_entries, from_f64, from_list, from_text};
use ferrotensor_core::Result;
use ferrotensor_engine::PlannedKernel;
use napi_sys as sys;

/// `plan()`: of the program in the buffers, whose inputs need no values: see `lib/native/plan.ts`.
///
/// # Errors
/// What is wrong with the program.
pub fn plan(state: &mut Environment, _: &Args) -> Result<sys::napi_value> {
    let env = state.env;
    let (words, outputs, inputs) = program(&mut state.buffers)?;
    let plan = state.session.plan(words, outputs, inputs)?;
    let number = |n: f64| from_f64(env, n);
    let kernels = from_list(env, plan.kernels.iter().map(|k| kernel(env, k)));
    Ok(from_entries(
        env,
        &[
            (c"device", from_text(env, &plan.device.0)),
            (c"engine", from_text(env, &plan.device.1)),
            (c"kernels", kernels),
            (c"temporary", number(plan.temporary as f64)),
            (c"results", number(plan.results as f64)),
            (c"fused", number(plan.fused as f64)),
        ],
    ))
}

fn kernel(env: sys::napi_env, k: &PlannedKernel) -> sys::napi_value {
    let number = |n: f64| from_f64(env, n);
    let rejected = k.rejected.iter().map(|(backend, reason)| {
        from_entries(env, &[(c"backend", from_text(env, backend)), (c"reason", from_text(env, reason))])
    });
    let mut entries = vec![
        (c"name", from_text(env, &k.name)),
        (c"device", from_text(env, &k.device)),
        (c"conditional", from_bool(env, k.is_conditional)),
        (c"read", number(k.moved.0 as f64)),
        (c"written", number(k.moved.1 as f64)),
        (c"carried", number(k.carried as f64)),
        (c"fallbacks", from_list(env, k.alternatives.iter().map(|name| from_text(env, name)))),
        (c"rejected", from_list(env, rejected)),
    ];
    entries.extend(k.lacking.as_ref().map(|reason| (c"lacking", from_text(env, reason))));
    entries.extend(k.flops.map(|flops| (c"flops", number(flops))));
    from_entries(env, &entries)
}
