//! In which order a product adds its inner places, for every backend that promises equal bits.
//!
//! One chain over a million places loses six digits of seven. So places are added in blocks: each block is a chain of fused multiply-adds
//! from zero on, and the results of blocks are added in order, one after the other, as a running total. After [`BLOCKS`] blocks that total
//! is set aside and a new one begins; the totals are added in the same way. A product of at most one block is one chain.
//!
//! The error is at most `(min(K, b) + min(K / b, BLOCKS) + K / (b BLOCKS) + 2) u |A| |B|` with `b` places in a block (Higham, Accuracy and
//! Stability of Numerical Algorithms, 4.2: blocked summation). A place of complex numbers is two steps of its
//! chain for each part; their bound is that of K places with |A| and |B| the sizes of numbers, which are more than the parts' (Higham, 3.6).

use crate::dtype::DType;

/// Bytes of a block's places in the dtype that they are added in: of float32 512 places, what a first-level cache holds of a few rows and
/// columns, and short beside the error of the chain that a sum of a million would be.
pub const BYTES: usize = 2048;

/// Blocks of a running total.
pub const BLOCKS: usize = 512;

/// Places of a block of products that are added in a dtype.
pub fn places(sums: DType) -> usize {
    BYTES / sums.bytes()
}

/// The roundings that a sum of so many products meets at most, one for each addition on the longest way.
pub fn roundings(sums: DType, inner: usize) -> usize {
    let block = places(sums);
    let blocks = inner.div_ceil(block);
    inner.min(block) + blocks.min(BLOCKS) + blocks.div_ceil(BLOCKS)
}

/// A sum over `inner` places by the definition. `chain`: the sum over some places of one block, from zero on.
pub fn sum<T>(inner: usize, block: usize, chain: impl Fn(std::ops::Range<usize>) -> T, add: impl Fn(T, T) -> T) -> T {
    let total = |first: usize, last: usize| {
        let blocks = (first + block..last).step_by(block).map(|p| chain(p..(p + block).min(last)));
        blocks.fold(chain(first..(first + block).min(last)), &add)
    };
    let each = block * BLOCKS;
    let totals = (each..inner).step_by(each).map(|first| total(first, (first + each).min(inner)));
    totals.fold(total(0, inner.min(each)), &add)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How a sum was put together, as text.
    fn text(inner: usize, block: usize) -> String {
        sum(inner, block, |p| format!("{}-{}", p.start, p.end), |x, y| format!("({x} + {y})"))
    }

    #[test]
    fn blocks_are_added_in_order_and_totals_after_them() {
        assert_eq!(text(0, 4), "0-0");
        assert_eq!(text(4, 4), "0-4");
        assert_eq!(text(9, 4), "((0-4 + 4-8) + 8-9)");
        let (one, two) = (text(BLOCKS, 1), text(2 * BLOCKS + 1, 1));
        assert!(one.starts_with("(((") && one.ends_with("511-512)"), "{one}");
        assert!(two.starts_with(&format!("(({one} + ")) && two.ends_with(" + 1024-1025)"), "{two}");
    }

    #[test]
    fn roundings_are_those_of_the_longest_way() {
        assert_eq!([0, 1, 512, 513, 1 << 18, (1 << 18) + 1].map(|k| roundings(DType::F32, k)), [0, 3, 514, 515, 1025, 1026]);
        assert_eq!([DType::F32, DType::F64, DType::C64, DType::C128].map(places), [512, 256, 256, 128]);
    }
}
