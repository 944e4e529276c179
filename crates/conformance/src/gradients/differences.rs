//! Derivatives by differences, and when they agree with others.

use super::arrays::{array, numbers};
use ferrotensor_core::Result;
use ferrotensor_core::reference::Array;

/// The step of the differences, whose error is of the fourth order.
const STEP: f64 = 2e-4;
/// Relative error of a difference, and of a value in it that rounding leaves.
const TOLERANCE: f64 = 1e-5;
const ROUNDING: f64 = 1e-13 / STEP;

/// The derivative of `f` at inputs along directions, from four values; nothing where another step gives another one: a jump, a kink or
/// a pole is near.
pub fn difference(
    inputs: &[Array],
    directions: &[(usize, Array)],
    f: &dyn Fn(&[Array]) -> Result<f64>,
) -> Result<Option<f64>> {
    let at = |h: f64| -> Result<f64> {
        let mut moved = inputs.to_vec();
        for (n, d) in directions {
            let (x, d) = (numbers(&moved[*n]).unwrap_or_default(), numbers(d).unwrap_or_default());
            let x: Vec<f64> = x.iter().zip(&d).map(|(x, d)| x + h * d).collect();
            moved[*n] = array(inputs[*n].dtype(), inputs[*n].dims(), &x)?;
        }
        f(&moved)
    };
    let slope = |h: f64| -> Result<f64> { Ok((8.0 * (at(h)? - at(-h)?) - (at(2.0 * h)? - at(-2.0 * h)?)) / (12.0 * h)) };
    let (fine, coarse) = (slope(STEP)?, slope(1.7 * STEP)?);
    let values = at(0.0)?.abs();
    Ok(((fine - coarse).abs() <= TOLERANCE * fine.abs() + ROUNDING * (values + 1.0)).then_some(fine))
}

/// Whether a derivative is the one that differences say, where they say something. `size` is that of its terms, `values` that of the
/// function's.
pub fn near(what: &str, is: f64, should: Option<f64>, size: f64, values: f64) -> Result<bool, String> {
    let Some(should) = should.filter(|v| v.is_finite() && values.is_finite()) else { return Ok(false) };
    // NaN is not near.
    if (is - should).abs() <= TOLERANCE * (size + should.abs()) + ROUNDING * (values + 1.0) {
        return Ok(true);
    }
    Err(format!("{what}: {is}, should be {should} (of terms {size})"))
}
