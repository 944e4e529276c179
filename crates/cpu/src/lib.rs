//! The CPU backend: one source for several instruction sets, its own threads, and no knowledge of operations.
//!
//! Reading order: `backend.rs` (what the engine calls), `map/` (tile programs, the machine under everything), `reduce/`,
//! then the kernels that are a file each. `number/` holds the arithmetic of one element, `tier.rs` how one source becomes
//! one function for each instruction set, `parallel/` the threads, `memory.rs` the buffers, `cache.rs` what the
//! caches are told.

mod backend;
mod blas;
mod cache;
mod contract;
#[cfg(feature = "fault")]
pub mod fault;
mod flat;
mod gather;
mod indices;
mod kept;
mod launch;
mod map;
mod memory;
mod number;
mod parallel;
mod peak;
mod reduce;
mod rows;
mod scan;
mod scatter;
mod scratch;
mod sort;
mod tier;
mod window;

pub use backend::{CpuBackend, probe};
pub use flat::{EngineInfo, FlatArrays, FlatEngine, FlatOp, run as run_flat};
pub use memory::{CpuBuffer, Lent, expect_writes, lend};
pub use parallel::{GRAIN, set_grain, set_threads, threads};
pub use tier::Tier;

/// What tests of this crate look at from outside (`tests/units`), and nobody else uses.
#[doc(hidden)]
pub mod internals {
    pub mod peak {
        pub use crate::peak::peak;
    }

    pub mod cache {
        pub use crate::cache::{LINE, fence, store_past};
    }
    pub mod map {
        pub use crate::map::coordinates::fill as coordinates;
        pub use crate::map::groups::{Groups, OWN, Shared, groups, shared};
        pub mod squares {
            #[cfg(all(target_arch = "x86_64", not(miri)))]
            pub use crate::map::squares::{lines, quarters};
        }
        pub use crate::map::table::tile_fn;
        pub use crate::map::tile::{Tile, TileFn};
    }
    pub mod memory {
        pub use crate::memory::{ALIGN, Account, MAP_FROM};
    }
    pub mod number {
        pub use crate::number::cast::CastTo;
        pub use crate::number::half_bits::{bf16_from_f32, f16_from_f32, f32_from_bf16, f32_from_f16, f32_odd_from_f64};
    }
    pub mod parallel {
        pub use crate::parallel::Stretches;

        pub mod pool {
            pub use crate::parallel::pool::{LOOKING, SLOTS, expect_more, hire, is_awake, share};
        }
    }
    pub mod sort {
        pub use crate::sort::key::{Key, Word};
    }
}
