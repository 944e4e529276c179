//! Fuzz targets: functions from any bytes to a verdict. libFuzzer drives them by coverage (`src/bin/`, built and run by
//! `scripts/fuzz/native.mjs`), `tests/seeded.rs` with random bytes wherever the tests run.

#![forbid(unsafe_code)]

pub mod bytes;
pub mod files;
pub mod layouts;
pub mod programs;
