//! Blocks of memory and their account.

use ferrotensor_cpu::CpuBuffer;
use ferrotensor_cpu::internals::memory::{ALIGN, Account, MAP_FROM};
use std::sync::Arc;

#[test]
fn blocks_are_aligned_counted_and_given_back() {
    let account = Arc::<Account>::default();
    for bytes in [0, 1, 100, MAP_FROM - 1, MAP_FROM, 3 * MAP_FROM + 5] {
        let block = CpuBuffer::new(bytes, &account).unwrap();
        assert_eq!(block.as_ptr() as usize % ALIGN, 0);
        assert_eq!(account.used(), bytes);
        if bytes > 0 {
            // SAFETY: the last byte of the block.
            unsafe { *block.as_ptr().add(bytes - 1) = 7 };
        }
    }
    assert_eq!(account.used(), 0);
}

#[test]
#[cfg_attr(miri, ignore = "it ends where a system would refuse")]
fn an_impossible_request_is_an_error_and_counts_nothing() {
    let account = Arc::<Account>::default();
    for bytes in [usize::MAX / 2, usize::MAX] {
        let error = CpuBuffer::new(bytes, &account).err().unwrap();
        assert_eq!(error.code, ferrotensor_core::Code::OutOfMemory);
    }
    assert_eq!(account.used(), 0);
}
