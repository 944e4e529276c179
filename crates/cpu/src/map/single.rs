//! Launches of one tile, whose operands lie densely or are one element.

use super::compile::TileProgram;
#[cfg(doc)]
use super::frame::Bound;
use super::frame::{execute, fill_constants, fits};
use super::view::splat;
use crate::scratch::Scratch;
use ferrotensor_core::error::Result;
use ferrotensor_core::layout::Layout;

// Registers of a program that a single-tile launch keeps on the stack; larger ones take the general way.
const FEW: usize = 16;

/// Runs a launch whose operands are all dense or one element and fit one tile, without deciding loops or sharing work: half
/// the cost of a launch of 4 elements. Says whether it did.
///
/// # Safety
/// As [`Bound::new`].
///
/// # Errors
/// `Code::OutOfMemory`.
pub unsafe fn run_single_tile(
    program: &TileProgram,
    inputs: &[(&Layout, *mut u8)],
    outputs: &[(&Layout, *mut u8)],
    params: &[u64],
) -> Result<bool> {
    let Some((first, _)) = outputs.first() else { return Ok(false) };
    let (dims, len) = (first.dims(), first.len());
    let is_simple = |&(l, _): &(&Layout, *mut u8)| l.dims() == dims && l.is_row_major();
    let is_one = |l: &Layout| l.dims() == dims && l.strides().iter().all(|&s| s == 0);
    if len == 0
        || len > program.tile
        || program.registers > FEW
        || inputs.len() != program.inputs.len()
        || outputs.len() != program.outputs.len()
        || !outputs.iter().all(is_simple)
        || !inputs.iter().all(|o| is_simple(o) || is_one(o.0))
        || !fits(program, params, dims)
    {
        return Ok(false);
    }
    let scratch = Scratch::take(program.registers * program.slot)?;
    let mut registers = [std::ptr::null_mut(); FEW];
    for (n, register) in registers[..program.registers].iter_mut().enumerate() {
        *register = scratch.as_ptr().wrapping_add(n * program.slot);
    }
    for ((register, &(layout, start)), &(size, _)) in registers.iter_mut().zip(inputs).zip(&program.inputs) {
        let from = start.wrapping_add(layout.offset() * size);
        if is_simple(&(layout, start)) {
            *register = from;
        } else {
            // SAFETY: the element exists and the register has room for a tile.
            unsafe { splat(from, size, len, *register) };
        }
    }
    for (&(layout, start), &(register, size)) in outputs.iter().zip(&program.outputs) {
        registers[register as usize] = start.wrapping_add(layout.offset() * size);
    }
    // SAFETY: by the contract above, and as prepared here.
    unsafe {
        fill_constants(program, params, &registers, len);
        execute(program, &registers, dims, 0, len);
    }
    Ok(true)
}
