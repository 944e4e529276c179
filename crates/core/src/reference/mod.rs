//! The reference interpreter: the slow, obvious meaning of every kernel, on dense arrays in host memory.
//!
//! It shares no code with `core::math` or a backend. Floating results are computed in double-double or float64 and rounded
//! once; integers are i128 and wrap at the end. Results are exact to the bit for Map without transcendental functions or
//! complex products, integer and bool kernels, max, min and positions, Scan and Scatter of real numbers, Gather and Sort;
//! elsewhere they are what a backend's error is measured from, with [`magnitude`] as the scale of the error bound.

mod array;
mod attention;
mod double;
mod eigen;
mod factor;
mod fold;
mod function;
mod movement;
mod program;
mod routine;
mod rows;
mod singular;
mod special;
mod value;
mod window;

pub use array::Array;
pub use double::Double;
pub use function::function;
pub use program::constant;
pub use value::Scalar;

use crate::error::{Error, Result};
use crate::kernel::{Combine, Kernel, Map, Monoid, WindowCombine};
use crate::scalar;
use program::Ready;

/// Runs a kernel: outputs in the kernel's order, of the shapes asked for. `params` as in [`crate::backend::Launch`].
///
/// # Errors
/// What depends on values: `Code::Index` (index out of range), `Code::LinAlg` (singular matrix), `Code::Argument`
/// (position of nothing). `Code::Internal` for operands that break the kernel's documented contract.
pub fn run(kernel: &Kernel, inputs: &[Array], output_dims: &[&[usize]], params: &[u64]) -> Result<Vec<Array>> {
    check(kernel, inputs, output_dims, params)?;
    let one = |array: Result<Array>| array.map(|array| vec![array]);
    match (kernel, inputs, output_dims) {
        (Kernel::Map(k), ..) => map(k, inputs, output_dims, params),
        (Kernel::Reduce(k), ..) => fold::reduce(k, inputs, output_dims, params),
        (Kernel::Scan(k), [input], [output]) if input.dims() == *output => one(fold::scan(k, input)),
        (Kernel::Gather(k), [data, indices @ ..], [output]) => one(movement::gather(k, data, indices, output)),
        (Kernel::Scatter(k), [data, indices @ .., updates], [output]) if data.dims() == *output => {
            one(movement::scatter(k, data, indices, updates))
        }
        (Kernel::Contract(k), [a, b, more @ ..], [output]) => {
            let product = fold::contract(k, a, b, output)?;
            let Some(post) = &k.post else { return Ok(vec![product]) };
            let inputs: Vec<Array> = std::iter::once(product).chain(more.iter().cloned()).collect();
            map(&Map { program: post.clone() }, &inputs, output_dims, params)
        }
        (Kernel::Window(k), ..) => match output_dims {
            [output] => one(window::window(k, inputs, output)),
            _ => Err(Error::internal("window: one output")),
        },
        (Kernel::Sort(k), [input], _) => movement::sort(k, input, output_dims),
        (Kernel::Rows(k), ..) => rows::run(k, inputs, output_dims, params),
        (Kernel::Attention(k), ..) => attention::run_parts(k, inputs, output_dims, params),
        (Kernel::Routine(k), ..) => routine::run(*k, inputs, output_dims),
        _ => Err(Error::internal(format!("{}: operand shapes do not fit", kernel.kind()))),
    }
}

/// For each element of the first output the sum of the absolute values that were added there (a float sum before `post`,
/// a contraction, windows of both): the factor of the unit roundoff in their error bounds. `None` for other kernels.
///
/// # Errors
/// As [`run`].
pub fn magnitude(kernel: &Kernel, inputs: &[Array], output_dims: &[&[usize]], params: &[u64]) -> Result<Option<Vec<f64>>> {
    check(kernel, inputs, output_dims, params)?;
    match (kernel, inputs, output_dims) {
        (Kernel::Reduce(k), _, [output]) if k.combine == Combine::Value(Monoid::Sum) => {
            fold::reduce_magnitude(k, inputs, output, params).map(Some)
        }
        (Kernel::Contract(_), [a, b, ..], [output]) => fold::contract_magnitude(a, b, output).map(Some),
        (Kernel::Window(k), _, [output]) => window::magnitude(k, inputs, output),
        _ => Ok(None),
    }
}

/// Dtypes and counts of operands, and the rules of programs. Shapes are checked where they are used.
fn check(kernel: &Kernel, inputs: &[Array], output_dims: &[&[usize]], params: &[u64]) -> Result<()> {
    match kernel {
        Kernel::Rows(k) => k.verify().map_err(Error::internal)?,
        Kernel::Attention(k) => k.verify().map_err(Error::internal)?,
        Kernel::Contract(k) => k.verify().map_err(Error::internal)?,
        Kernel::Reduce(k) => k.verify().map_err(Error::internal)?,
        _ => {}
    }
    let programs: Vec<&scalar::Program> = match kernel {
        Kernel::Map(k) => vec![&k.program],
        Kernel::Reduce(k) => k.pre.iter().chain(&k.post).collect(),
        Kernel::Contract(k) => k.post.iter().collect(),
        _ => Vec::new(),
    };
    for program in programs {
        scalar::verify(program).map_err(Error::internal)?;
    }
    let ordered = match kernel {
        Kernel::Reduce(k) => (!matches!(k.combine, Combine::Value(Monoid::Sum | Monoid::Prod))).then_some(k.acc),
        Kernel::Scan(k) => (!matches!(k.combine, Monoid::Sum | Monoid::Prod)).then_some(k.dtype),
        Kernel::Window(k) => match k.combine {
            WindowCombine::Dot | WindowCombine::Reduce(Monoid::Sum | Monoid::Prod) => None,
            WindowCombine::Reduce(_) => Some(k.dtype),
        },
        Kernel::Sort(k) => Some(k.dtype),
        _ => None,
    };
    if ordered.is_some_and(|dtype| dtype.is_complex()) {
        return Err(Error::internal(format!("{}: complex numbers have no order", kernel.kind())));
    }
    let found: Vec<_> = inputs.iter().map(Array::dtype).collect();
    if found != kernel.inputs() || output_dims.len() != kernel.outputs().len() || params.len() != kernel.params().len() {
        return Err(Error::internal(format!(
            "{}: expects inputs {:?}, {} outputs and {} parameters; got {found:?}, {} and {}",
            kernel.kind(),
            kernel.inputs(),
            kernel.outputs().len(),
            kernel.params().len(),
            output_dims.len(),
            params.len()
        )));
    }
    Ok(())
}

fn map(kernel: &Map, inputs: &[Array], output_dims: &[&[usize]], params: &[u64]) -> Result<Vec<Array>> {
    let Some(&dims) = output_dims.first() else { return Ok(Vec::new()) };
    if inputs.iter().map(Array::dims).chain(output_dims.iter().copied()).any(|d| d != dims) {
        return Err(Error::internal("map: operands differ in shape"));
    }
    let mut results = vec![Vec::new(); output_dims.len()];
    let mut program = Ready::new(&kernel.program, params)?;
    for i in 0..crate::layout::count(dims)? {
        let values = program.run(|n| inputs.get(n).map(|input| input.get(i)), dims, i)?;
        for (result, value) in results.iter_mut().zip(values) {
            result.push(value);
        }
    }
    let dtypes = (0..results.len()).map(|n| kernel.program.output_dtype(n));
    results.into_iter().zip(dtypes).map(|(values, dtype)| Array::from_scalars(dtype, dims, values)).collect()
}

#[cfg(test)]
mod tests;
