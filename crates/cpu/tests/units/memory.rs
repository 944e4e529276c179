//! Blocks of memory and their account.

use ferrotensor_core::backend::Backend;
use ferrotensor_cpu::internals::memory::{ALIGN, Account, MAP_FROM};
use ferrotensor_cpu::{CpuBackend, CpuBuffer, Lent, Tier, lend};
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

/// Words, for they are aligned.
struct Words(Vec<u64>);

impl Lent for Words {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

#[test]
fn lent_memory_is_read_where_it_lies_and_never_written() {
    let device = CpuBackend::new(Tier::Baseline).unwrap();
    let own = device.alloc(64).unwrap();
    let memory: Arc<dyn Lent> = Arc::new(Words((1..=8).collect()));
    let lent = lend(&own, &memory, 8..24).unwrap();
    assert_eq!((lent.bytes(), device.mem().used), (16, 64), "it counts as nothing");
    let mut read = [0; 16];
    device.download(&lent, 0, &mut read).unwrap();
    assert_eq!(read[..], memory.bytes()[8..24]);
    assert!(device.upload(&[1], &lent, 0).is_err());
    assert!(device.in_place(&[], &[(&lent, 0..16)], &mut |_, _| panic!("it was written")).is_none());
    let mut seen = 0;
    let read = device.in_place(&[(&lent, 0..16)], &[(&own, 0..16)], &mut |inputs, _| {
        seen = inputs[0].as_ptr() as usize;
        Ok(())
    });
    assert_eq!((read, seen), (Some(Ok(())), memory.bytes()[8..].as_ptr() as usize));
    for range in [4..12, 60..68] {
        assert!(lend(&own, &memory, range.clone()).is_none(), "{range:?}");
    }
    let weak = Arc::downgrade(&memory);
    drop((memory, lent));
    assert!(weak.upgrade().is_none(), "it goes with the last buffer in it");
}
