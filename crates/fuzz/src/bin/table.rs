//! The target `table` under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Err(problem) = ferrotensor_fuzz::files::table(bytes) {
        panic!("{problem}");
    }
});
