//! How much of the product of variants a run tries. The newest instruction set has a case for every two circumstances of every group in
//! every run. That the others, programs without fusion, and (of single kernels) layouts give the same bits is a promise of few mechanisms,
//! which a quick run samples: a third of the groups, by name. So it does what tells rows from broken ones, beside those cases
//! (`rounds.rs`), and Vulkan. `CONFORMANCE=all` is the whole product. Most of a run is the reference's, once for each case,
//! whatever the number of variants.

use crate::machine;
use crate::share;
use ferrotensor_cpu::Tier;
use std::sync::OnceLock;

/// Of 100 groups those that a quick run tries in every way.
const SAMPLED: usize = 33;

/// Whether this run tries everything.
pub fn is_whole() -> bool {
    static WHOLE: OnceLock<bool> = OnceLock::new();
    *WHOLE.get_or_init(|| asked().unwrap_or(true))
}

/// What `CONFORMANCE` asks for.
///
/// # Errors
/// A sentence for a value that nobody knows.
pub fn asked() -> Result<bool, String> {
    match std::env::var("CONFORMANCE").as_deref() {
        // The files of expected/ speak of everything.
        _ if std::env::var("UPDATE_EXPECT").is_ok_and(|v| v == "1") => Ok(true),
        Err(_) | Ok("" | "quick") => Ok(false),
        Ok("all") => Ok(true),
        Ok(other) => Err(format!("CONFORMANCE={other}: it is `quick` (the default) or `all`")),
    }
}

/// Whether a group of this name is tried in every way.
pub fn is_sampled(name: &str) -> bool {
    is_whole() || share::is_chosen(name, SAMPLED)
}

/// Whether a group of this name is tried on a tier.
pub fn takes(name: &str, tier: Tier) -> bool {
    tier == machine::newest() || is_sampled(name)
}
