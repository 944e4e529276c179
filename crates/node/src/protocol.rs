//! The words that TypeScript and this module exchange beside a program: places in the header of `ints`, bits of its flags and of
//! its status. `cargo xtask codegen` includes this file and writes `lib/generated/protocol.ts` from it: it uses nothing of its crate.

macro_rules! words {
    ($($(#[doc = $doc:literal])+ $name:ident: $kind:ty = $value:expr;)+) => {
        $($(#[doc = $doc])+ pub const $name: $kind = $value;)+

        /// Each word: its name, its value, and what it is.
        #[allow(dead_code, reason = "for the code generator")]
        pub const ALL: &[(&str, i64, &str)] = &[$((stringify!($name), $name as i64, concat!($($doc),+))),+];
    };
}

words! {
    /// Header: words of the program.
    WORDS: usize = 0;
    /// Header: parameters of the program.
    PARAMS: usize = 1;
    /// Header: handles of the program's inputs.
    INPUTS: usize = 2;
    /// Header: outputs asked for.
    OUTPUTS: usize = 3;
    /// Header: what is wanted of the call.
    FLAGS: usize = 4;
    /// Header: what the call tells back.
    STATUS: usize = 5;
    /// Header: the scope that owns the results.
    SCOPE: usize = 6;
    /// Words of the header; the payload follows.
    HEADER: usize = 8;

    /// Flag: wait for the results.
    SYNC: i32 = 1;
    /// Flag: run whatever the memory budget says.
    FORCE: i32 = 2;
    /// Flag: copy the first result if it is small.
    SMALL: i32 = 4;

    /// Status: a minor garbage collection is due.
    WANT_MINOR: i32 = 1;
    /// Status: a full garbage collection is due.
    WANT_FULL: i32 = 2;
    /// Status: the first result was copied.
    COPIED: i32 = 8;
    /// Status: there are warnings to take.
    WARNED: i32 = 16;

    /// Elements up to which a result travels with the call: saves 430 ns of a read of 1.1 us.
    SMALL_ELEMENTS: usize = 64;
}
