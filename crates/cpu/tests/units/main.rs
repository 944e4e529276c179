//! Parts of the backend by themselves, below what `kernels` runs through its door. They are a program of their own instead of `cfg(test)`
//! modules: a harness of the library would compile every kernel once more, a minute of a core.

mod cache;
mod casts;
mod coordinates;
mod groups;
mod half_bits;
mod memory;
mod peak;
#[cfg(not(miri))]
mod pool;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod registers;
mod sort_keys;
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod squares;
#[cfg(not(miri))]
mod stretches;
mod tier;
