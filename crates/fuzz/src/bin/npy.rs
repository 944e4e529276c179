//! The target `npy` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(problem) = ferrotensor_fuzz::files::npy(bytes) {
        panic!("{problem}");
    }
});
