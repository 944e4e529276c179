//! Stores past the caches.

use ferrotensor_cpu::internals::cache::{fence, store_past};

#[test]
fn stores_past_the_caches_copy_every_byte_and_no_more() {
    let from: Vec<u8> = (0..400).map(|i| (i % 251) as u8).collect();
    for (start, bytes) in [(0, 0), (1, 1), (3, 62), (0, 64), (5, 64), (5, 200), (63, 300), (64, 256)] {
        let mut to = vec![255u8; 500];
        // SAFETY: both have that many bytes.
        unsafe { store_past(from[7..].as_ptr(), to[start..].as_mut_ptr(), bytes) };
        fence();
        assert_eq!(to[start..start + bytes], from[7..7 + bytes]);
        assert!(to[..start].iter().chain(&to[start + bytes..]).all(|&b| b == 255));
    }
}
