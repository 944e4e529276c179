//! The orders in which a reduction walks its input.

use super::{ReduceKernel, Rule, position};
use crate::indices::axes;
use ferrotensor_core::error::Result;
use ferrotensor_core::kernel::tree::LANES;
use ferrotensor_core::layout::{Layout, coalesce};

// Bytes of outputs side by side: 32 lanes of them are 16 KiB of accumulators, and a float32 row is long enough to be read
// where it lies.
const BLOCK_BYTES: usize = 512;
/// Rows for which blocks are as wide as they get: 4 KiB.
const FEWEST_ROWS: usize = 4;
// Rows from which one at a time pays; narrower ones are collected into tiles.
const WIDE_BYTES: usize = 256;

/// An order in which the input is walked: `items` runs of `extent * width` elements, each giving `width` outputs.
pub struct Walk {
    /// The input seen as `[items..., extent..., width]`.
    pub layout: Layout,
    pub items: usize,
    pub width: usize,
    /// Item `i` gives the outputs from `(i / split) * stride + i % split * width + first` on.
    pub split: usize,
    pub stride: usize,
    pub first: usize,
    /// Elements from one row of the `width` outputs to the next, where all are equally far apart and can be met one by one in memory.
    pub step: Option<isize>,
}

impl Walk {
    /// The first output of an item.
    pub fn output(&self, item: usize) -> usize {
        item / self.split * self.stride + item % self.split * self.width + self.first
    }
}

impl ReduceKernel {
    /// The orders to walk in: one, or two where the last block of outputs is shorter than the others.
    pub fn walks(&self, input: &Layout, kept: usize) -> Result<Vec<Walk>> {
        let (dims, strides) = (input.dims(), input.strides());
        let items = dims[..kept].iter().product();
        let plain = || Walk { layout: input.clone(), items, width: 1, split: 1, stride: 1, first: 0, step: None };
        let nearest = (kept..dims.len()).filter(|&a| dims[a] > 1).map(|a| strides[a].unsigned_abs()).min();
        // Kept axes that follow each other in memory are one: of 1000 pixels of three channels 3000 outputs lie side by side, not 3.
        let outputs = axes(input, 0..kept).map(|l| coalesce(&[&l])).unwrap_or_default();
        let steps = outputs.strides.first().map_or(&[][..], |strides| &strides[..]);
        // Coordinates would count along the permuted axes, so a program that asks for them takes the plain order.
        let (Some(nearest), Some((&length, before)), Some((&inner, steps_before)), true) =
            (nearest, outputs.dims.split_last(), steps.split_last(), self.pre.coordinates.is_empty())
        else {
            return Ok(vec![plain()]);
        };
        if inner == 0 || inner.unsigned_abs() >= nearest {
            return Ok(vec![plain()]);
        }
        let outer = before.iter().product::<usize>();
        let is_position = matches!(self.rule, Rule::Position(_));
        // Of fewer rows than there are lanes a block has longer ones: 8 rows are met in 2 KiB of each.
        let rows = dims[kept..].iter().product::<usize>().clamp(FEWEST_ROWS, LANES);
        let most = if is_position { position::WIDTH } else { BLOCK_BYTES * LANES / rows / self.acc_size };
        let block = most.min(self.post.tile).min(length);
        let reduced = Layout::new(&dims[kept..], &strides[kept..], 0, usize::MAX).map(|l| coalesce(&[&l]));
        let step = match reduced.as_ref().map(|l| &l.strides[0][..]) {
            Ok(&[step]) if inner == 1 && self.pre.is_copy => Some(step),
            _ => None,
        };
        let mut walks = Vec::new();
        for (first, count, width) in [(0, length / block, block), (length / block * block, 1, length % block)] {
            if width == 0 {
                continue;
            }
            let order = [before, &[count], &dims[kept..], &[width]].concat();
            let steps = [steps_before, &[inner * block as isize], &strides[kept..], &[inner]].concat();
            let offset = (input.offset() as isize + first as isize * inner) as usize;
            // The elements are among those of the launch's own layout.
            let layout = Layout::new(&order, &steps, offset, usize::MAX)?;
            let step = step.filter(|_| width * self.acc_size >= WIDE_BYTES);
            walks.push(Walk { layout, items: outer * count, width, split: count, stride: length, first, step });
        }
        Ok(walks)
    }
}
