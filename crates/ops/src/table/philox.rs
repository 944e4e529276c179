//! Philox4x32-10 as scalar IR: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).

use ferrotensor_core::DType;
use ferrotensor_core::scalar::{Builder, Op, Value};

const MULTIPLIERS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u64; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The block of four uint32 words for a counter and a key of uint32 words.
pub fn block(b: &mut Builder, counter: [Value; 4], key: [Value; 2]) -> [Value; 4] {
    let (mut c, mut k) = (counter, key);
    for round in 0..10 {
        if round > 0 {
            for (word, weyl) in k.iter_mut().zip(WEYL) {
                let step = b.bits(DType::U32, weyl);
                *word = b.binary(Op::Add, *word, step);
            }
        }
        let m = MULTIPLIERS.map(|m| b.bits(DType::U32, m));
        let (hi0, lo0) = (b.binary(Op::MulHi, c[0], m[0]), b.binary(Op::Mul, c[0], m[0]));
        let (hi1, lo1) = (b.binary(Op::MulHi, c[2], m[1]), b.binary(Op::Mul, c[2], m[1]));
        let left = b.binary(Op::Xor, hi1, c[1]);
        let right = b.binary(Op::Xor, hi0, c[3]);
        c = [b.binary(Op::Xor, left, k[0]), lo1, b.binary(Op::Xor, right, k[1]), lo0];
    }
    c
}
