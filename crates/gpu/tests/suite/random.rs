//! Numbers at random, and ways to lie in memory.

use ferrotensor_core::DType;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::reference::Scalar;

/// How a matrix (of a batch) lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Row by row.
    Dense,
    /// Column by column.
    Turned,
    /// With gaps between rows and columns, from somewhere.
    Gaps,
    /// From its end.
    Backwards,
    /// The same matrix for the whole batch.
    Broadcast,
    /// One row.
    Repeated,
}

impl Lie {
    /// Every way.
    pub const ALL: [Lie; 6] = [Lie::Dense, Lie::Turned, Lie::Gaps, Lie::Backwards, Lie::Broadcast, Lie::Repeated];

    /// The layout, and the elements that its buffer has.
    pub fn layout(self, dims: &[usize]) -> (Layout, usize) {
        let rank = dims.len();
        let dense = |dims: &[usize]| Layout::dense(dims).unwrap();
        let layout = match self {
            Lie::Dense => dense(dims),
            Lie::Turned => {
                let mut order: Vec<usize> = (0..rank).collect();
                order.swap(rank - 2, rank - 1);
                let turned: Vec<usize> = order.iter().map(|&a| dims[a]).collect();
                dense(&turned).permute(&order)
            }
            Lie::Gaps => {
                let mut wide = dims.to_vec();
                wide[rank - 1] = 2 * dims[rank - 1] + 3;
                wide[rank - 2] = 3 * dims[rank - 2] + 1;
                dense(&wide).slice(rank - 1, 1, 2, dims[rank - 1]).slice(rank - 2, 1, 3, dims[rank - 2])
            }
            Lie::Backwards => (0..rank).fold(dense(dims), |l, axis| l.flip(axis)),
            Lie::Broadcast => dense(&dims[rank - 2..]).broadcast(dims),
            Lie::Repeated => {
                let mut one = dims.to_vec();
                one[rank - 2] = 1.min(dims[rank - 2]);
                dense(&one).broadcast(dims)
            }
        };
        let elements = layout.range().end;
        (layout, elements)
    }
}

/// Bits at random (Marsaglia, "Xorshift RNGs", 2003), the same for the same seed.
pub fn bits(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Integers of all sizes; floats in [-1, 1] whose sums cancel, a few of them much smaller.
pub fn numbers(dtype: DType, count: usize, seed: u64) -> Vec<u8> {
    let mut next = bits(seed);
    let mut one = move || {
        if dtype == DType::Bool {
            return [u8::from(next() >> 60 == 0); 16];
        }
        if dtype.is_integer() {
            return (u128::from(next()) | u128::from(next()) << 64).to_le_bytes();
        }
        let mut float = || {
            let size = ((next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0) * if next() >> 61 == 0 { 1e-3 } else { 1.0 };
            size.into()
        };
        let (re, im) = (float(), float());
        let value = if dtype.is_complex() { Scalar::Complex(re, im) } else { Scalar::Float(re) };
        value.encode(dtype)
    };
    (0..count).flat_map(|_| one().into_iter().take(dtype.bytes())).collect()
}

/// Numbers that lie so.
pub fn placed(dtype: DType, dims: &[usize], lie: Lie, seed: u64) -> (Vec<u8>, Layout) {
    let (layout, elements) = lie.layout(dims);
    (numbers(dtype, elements, seed), layout)
}
