//! A native module that commits the error that the environment variable `PLANTED` names, as the sanitizer that must report it
//! calls it. `scripts/sanitizers.mjs` compiles it, loads it and looks for the report; `scripts/miri.mjs` interprets it as a
//! program; nothing else ever builds it.

use std::ffi::c_void;
use std::hint::black_box;
use std::mem::MaybeUninit;

/// What Node calls when it loads a native module.
#[unsafe(no_mangle)]
pub extern "C" fn napi_register_module_v1(_env: *mut c_void, exports: *mut c_void) -> *mut c_void {
    main();
    exports
}

fn main() {
    match std::env::var("PLANTED").as_deref() {
        Ok("heap-buffer-overflow") => heap_buffer_overflow(),
        Ok("heap-use-after-free") => heap_use_after_free(),
        Ok("detected memory leaks") => leak(),
        Ok("data race") => data_race(),
        Ok("uninitialized memory") => uninitialized(),
        Ok("broken borrow") => broken_borrow(),
        _ => {}
    }
}

fn heap_buffer_overflow() {
    let values = black_box(vec![1u64; 8]);
    // SAFETY: none: the element after the last is read on purpose.
    black_box(unsafe { values.as_ptr().add(values.len()).read() });
}

fn heap_use_after_free() {
    let values = black_box(vec![1u64; 8]);
    let first = values.as_ptr();
    drop(values);
    // SAFETY: none: freed memory is read on purpose.
    black_box(unsafe { first.read() });
}

fn leak() {
    black_box(Box::into_raw(black_box(Box::new([1u8; 1 << 20]))));
}

fn data_race() {
    struct Shared(*mut u64);
    // SAFETY: none: two threads write to one place on purpose.
    unsafe impl Sync for Shared {}
    impl Shared {
        fn count(&self) {
            for _ in 0..1000 {
                // SAFETY: none, as above; the place itself outlives both threads.
                unsafe { self.0.write(black_box(self.0.read() + 1)) };
            }
        }
    }
    let mut place = 0;
    let shared = Shared(&mut place);
    std::thread::scope(|scope| {
        scope.spawn(|| shared.count());
        shared.count();
    });
    black_box(place);
}

fn uninitialized() {
    let place = black_box(Box::new(MaybeUninit::<u64>::uninit()));
    // SAFETY: none: nothing was ever written there.
    black_box(unsafe { place.assume_init_read() });
}

fn broken_borrow() {
    let mut value = 1u64;
    let place = &raw mut value;
    // SAFETY: none: the reference and the place it borrows are both written on purpose.
    let borrowed = unsafe { &mut *place };
    *borrowed = 2;
    // SAFETY: none, as above.
    unsafe { place.write(3) };
    black_box(*borrowed);
}
