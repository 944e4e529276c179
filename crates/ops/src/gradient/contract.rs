//! Matrix products backwards.

use super::back::{Back, Launch};
use ferrotensor_core::Result;

/// `y = a b`: `ga = g b^H`, `gb = a^H g`.
pub fn contract(back: &mut Back, launch: &Launch) -> Result<()> {
    let (a, b, Some(g)) = (launch.inputs[0], launch.inputs[1], launch.cotangents[0]) else { return Ok(()) };
    if back.wants(a) {
        let other = back.w.adjoint(b)?;
        let g = back.w.contract(g, other);
        back.give(a, g)?;
    }
    if back.wants(b) {
        let other = back.w.adjoint(a)?;
        let g = back.w.contract(other, g);
        back.give(b, g)?;
    }
    Ok(())
}
