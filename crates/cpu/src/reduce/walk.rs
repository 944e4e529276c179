//! The orders in which a reduction walks its inputs.

use super::{ReduceKernel, Rule, position};
use crate::indices::axes;
use ferrotensor_core::error::Result;
use ferrotensor_core::kernel::tree::LANES;
use ferrotensor_core::layout::{Layout, coalesce};
use smallvec::SmallVec;

// Bytes of outputs side by side: 32 lanes of them are 16 KiB of accumulators, and a float32 row is long enough to be read
// where it lies.
const BLOCK_BYTES: usize = 512;
/// Rows for which blocks are as wide as they get: 4 KiB.
const FEWEST_ROWS: usize = 4;
// Rows from which one at a time pays; narrower ones are collected into tiles.
const WIDE_BYTES: usize = 256;

/// An order in which the inputs are walked: `items` runs of `extent * width` elements, each giving `width` outputs.
pub struct Walk {
    /// Each input seen as `[items..., extent..., width]`.
    pub layouts: SmallVec<[Layout; 2]>,
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

/// Elements that lie apart: those of an operand that was not broadcast.
fn elements(layout: &Layout) -> usize {
    layout.dims().iter().zip(layout.strides()).filter(|(_, stride)| **stride != 0).map(|(dim, _)| dim).product()
}

impl ReduceKernel {
    /// The orders to walk in: one, or two where the last block of outputs is shorter than the others. The inputs have one shape.
    pub fn walks(&self, inputs: &[&Layout], kept: usize) -> Result<Vec<Walk>> {
        // The others are spread over this one, or lie as it does.
        let most = (0..inputs.len()).rev().max_by_key(|&n| elements(inputs[n])).unwrap_or(0);
        let (dims, strides) = (inputs[most].dims(), inputs[most].strides());
        let items = dims[..kept].iter().product();
        let plain = || {
            let layouts = inputs.iter().map(|&layout| layout.clone()).collect();
            Walk { layouts, items, width: 1, split: 1, stride: 1, first: 0, step: None }
        };
        let nearest = (kept..dims.len()).filter(|&a| dims[a] > 1).map(|a| strides[a].unsigned_abs()).min();
        // Kept axes that follow each other in memory are one: of 1000 pixels of three channels 3000 outputs lie side by side, not 3.
        let seen: Option<SmallVec<[Layout; 2]>> = inputs.iter().map(|input| axes(input, 0..kept)).collect();
        let seen = seen.unwrap_or_default();
        let outputs = coalesce(&seen.iter().collect::<SmallVec<[&Layout; 2]>>());
        let steps_of = |n: usize| outputs.strides.get(n).map_or(&[][..], |strides| &strides[..]);
        // Coordinates would count along the permuted axes, so a program that asks for them takes the plain order.
        let (Some(nearest), Some((&length, before)), Some(&inner), true) =
            (nearest, outputs.dims.split_last(), steps_of(most).last(), self.pre.coordinates.is_empty())
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
        let row = if self.pre.is_copy { BLOCK_BYTES } else { 4 * BLOCK_BYTES };
        let widest = if is_position { position::WIDTH } else { row * LANES / rows / self.acc_size };
        let block = widest.min(self.post.tile).min(length);
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
            let turned = |(n, input): (usize, &&Layout)| {
                let (&inner, before) = steps_of(n).split_last().unwrap_or((&0, &[]));
                let steps = [before, &[inner * block as isize], &input.strides()[kept..], &[inner]].concat();
                let offset = (input.offset() as isize + first as isize * inner) as usize;
                // The elements are among those of the launch's own layout.
                Layout::new(&order, &steps, offset, usize::MAX)
            };
            let layouts = inputs.iter().enumerate().map(turned).collect::<Result<_>>()?;
            let step = step.filter(|_| width * self.acc_size >= WIDE_BYTES);
            walks.push(Walk { layouts, items: outer * count, width, split: count, stride: length, first, step });
        }
        Ok(walks)
    }
}
