//! Kernels that combine elements: reductions, cumulative combinations, contractions; and how large their terms were.

use super::array::Array;
use super::double::Double;
use super::program::Ready;
use super::value::{Scalar, integer_range};
use crate::dtype::{DType, Kind};
use crate::error::{Error, Result};
use crate::kernel::{Combine, Contract, Monoid, Reduce, Scan};
use std::cmp::Ordering;

impl Monoid {
    /// What combining nothing starts from, as documented on each variant.
    pub(super) fn identity(self, dtype: DType) -> Scalar {
        let (low, high) = integer_range(dtype);
        let limit = |integer: i128, float: f64| match dtype.kind() {
            Kind::Signed | Kind::Unsigned => Scalar::Int(integer),
            Kind::Bool => Scalar::Bool(float > 0.0),
            _ => Scalar::float(float),
        };
        match self {
            // -0 is the identity of addition: +0 would turn a sum of -0 into +0.
            Monoid::Sum if dtype.is_complex() => Scalar::Complex((-0.0).into(), (-0.0).into()),
            Monoid::Sum => limit(0, -0.0),
            Monoid::Prod => Scalar::Int(1).fit(dtype),
            Monoid::Max => limit(low, f64::NEG_INFINITY),
            Monoid::Min => limit(high, f64::INFINITY),
            Monoid::All => Scalar::Bool(true),
            Monoid::Any => Scalar::Bool(false),
        }
    }

    pub(super) fn combine(self, x: Scalar, y: Scalar) -> Scalar {
        match self {
            Monoid::Sum => x + y,
            Monoid::Prod => x * y,
            Monoid::Max => x.extreme(y, Ordering::Greater),
            Monoid::Min => x.extreme(y, Ordering::Less),
            Monoid::All => Scalar::Bool(x.truth() && y.truth()),
            Monoid::Any => Scalar::Bool(x.truth() || y.truth()),
        }
    }
}

/// What `finish` makes of the values that are combined for each output element (after `pre`): in order, of each combination.
fn groups<T>(
    kernel: &Reduce,
    inputs: &[Array],
    output: &[usize],
    params: &[u64],
    mut finish: impl FnMut(usize, &[Vec<Scalar>]) -> Result<T>,
) -> Result<Vec<T>> {
    let dims = inputs.first().map_or(&[][..], Array::dims);
    let kept = dims.len().checked_sub(kernel.axes).map(|n| &dims[..n]);
    if kept != Some(output) || inputs.iter().any(|input| input.dims() != dims) {
        return Err(Error::internal(format!("reduce: {dims:?} without its last {} axes is not {output:?}", kernel.axes)));
    }
    let extent: usize = dims[output.len()..].iter().product();
    let mut pre = kernel.pre.as_ref().map(|p| Ready::new(p, params)).transpose()?;
    let mut group = |o: usize| -> Result<Vec<Vec<Scalar>>> {
        let mut values = vec![Vec::with_capacity(extent); kernel.sums()];
        for i in o * extent..(o + 1) * extent {
            match &mut pre {
                Some(pre) => {
                    let results = pre.run(|n| inputs.get(n).map(|input| input.get(i)), dims, i)?;
                    values.iter_mut().zip(results).for_each(|(to, value)| to.push(value));
                }
                None => values[0].push(inputs[0].get(i).fit(kernel.acc)),
            }
        }
        Ok(values)
    };
    (0..output.iter().product()).map(|o| finish(o, &group(o)?)).collect()
}

/// [`Reduce`]: sums and products of floats are double-double, rounded once before `post`.
pub(super) fn reduce(kernel: &Reduce, inputs: &[Array], outputs: &[&[usize]], params: &[u64]) -> Result<Vec<Array>> {
    let Some(&output) = outputs.first() else { return Err(Error::internal("reduce: an output is missing")) };
    if outputs.iter().any(|dims| *dims != output) {
        return Err(Error::internal("reduce: outputs have one shape"));
    }
    let pre_params = kernel.pre.as_ref().map_or(0, |p| p.params.len());
    let mut post = kernel.post.as_ref().map(|p| Ready::new(p, params.get(pre_params..).unwrap_or(&[]))).transpose()?;
    let rows = groups(kernel, inputs, output, params, |o, groups| {
        let monoid = match kernel.combine {
            Combine::Value(monoid) => monoid,
            Combine::ArgMax => return Ok(vec![position(&groups[0], Ordering::Greater)?]),
            Combine::ArgMin => return Ok(vec![position(&groups[0], Ordering::Less)?]),
        };
        let total = |values: &Vec<Scalar>| match (monoid, &values[..]) {
            (Monoid::Sum, []) => Scalar::Int(0),
            (_, values) => values.iter().fold(monoid.identity(kernel.acc), |x, &y| monoid.combine(x, y)),
        };
        let totals: Vec<Scalar> = groups.iter().map(total).collect();
        match &mut post {
            Some(post) => Ok(post.run(|n| totals.get(n).map(|t| t.fit(kernel.acc)), output, o)?.collect()),
            None => Ok(totals),
        }
    })?;
    let array = |(n, dtype)| Array::from_scalars(dtype, output, rows.iter().map(|results: &Vec<Scalar>| results[n]));
    kernel.results().into_iter().enumerate().map(array).collect()
}

/// Position of the first NaN, else of the first element that none surpasses (`-0` equals `+0`).
fn position(values: &[Scalar], wanted: Ordering) -> Result<Scalar> {
    if values.is_empty() {
        return Err(Error::argument("argmax and argmin need at least one element"));
    }
    let mut best = 0;
    for (i, value) in values.iter().enumerate() {
        if value.is_nan() {
            return Ok(Scalar::Int(i as i128));
        }
        if value.compare(values[best]) == Some(wanted) {
            best = i;
        }
    }
    Ok(Scalar::Int(best as i128))
}

/// [`Scan`]: the order is part of the definition, so each step is rounded to the dtype, and the result is exact to the bit.
pub(super) fn scan(kernel: &Scan, input: &Array) -> Result<Array> {
    let (length, block) = (input.dims().last().copied().unwrap_or(1).max(1), kernel.block());
    // The running value of a block, and what the block before ended with.
    let (mut running, mut before) = (Scalar::Bool(false), Scalar::Bool(false));
    let results = input.scalars().enumerate().map(|(i, value)| {
        let place = i % length;
        // A block's first element is not combined with the identity: a complex product would spoil infinite parts.
        running = if place.is_multiple_of(block) { value } else { step(kernel, running, value) };
        let result = if place < block { running } else { step(kernel, before, running) };
        if place % block == block - 1 {
            before = result;
        }
        result
    });
    Array::from_scalars(kernel.dtype, input.dims(), results)
}

/// The next running value; a complex product by the plain formula, each product and each sum of it rounded.
fn step(kernel: &Scan, running: Scalar, value: Scalar) -> Scalar {
    let (Monoid::Prod, Scalar::Complex(a, b), Scalar::Complex(c, d)) = (kernel.combine, running, value) else {
        return kernel.combine.combine(running, value).fit(kernel.dtype);
    };
    let part = kernel.dtype.info().real;
    let rounded = |x: Double| Scalar::Float(x).fit(part).real();
    let product = |x: Double, y: Double| rounded(x * y);
    Scalar::Complex(rounded(product(a, c) - product(b, d)), rounded(product(a, d) + product(b, c)))
}

/// What `finish` makes of the pairs that are multiplied for each output element.
fn pairs<T>(
    a: &Array,
    b: &Array,
    output: &[usize],
    finish: impl Fn(&mut dyn Iterator<Item = (Scalar, Scalar)>) -> T,
) -> Result<Vec<T>> {
    let ([a_batch @ .., m, k], [b_batch @ .., k2, n], [batch @ .., m2, n2]) = (a.dims(), b.dims(), output) else {
        return Err(Error::internal("contract: operands need rank 2 or more"));
    };
    if (a_batch, b_batch, k, m, n) != (batch, batch, k2, m2, n2) {
        return Err(Error::internal(format!("contract: {:?} and {:?} do not make {output:?}", a.dims(), b.dims())));
    }
    let (x, y): (Vec<Scalar>, Vec<Scalar>) = (a.scalars().collect(), b.scalars().collect());
    let one = |o: usize| {
        let (batch, i, j) = (o / (m * n), o / n % m, o % n);
        finish(&mut (0..*k).map(|l| (x[(batch * m + i) * k + l], y[(batch * k + l) * n + j])))
    };
    Ok((0..output.iter().product()).map(one).collect())
}

/// [`Contract`]: products and sums in double-double, rounded once.
pub(super) fn contract(kernel: &Contract, a: &Array, b: &Array, output: &[usize]) -> Result<Array> {
    let zero = Scalar::Int(0).fit(kernel.dtype);
    let results = pairs(a, b, output, |terms| terms.fold(zero, |sum, (x, y)| sum + x * y))?;
    Array::from_scalars(kernel.dtype, output, results)
}

/// Sum of the absolute values added for each output of a sum, before `post`.
pub(super) fn reduce_magnitude(kernel: &Reduce, inputs: &[Array], output: &[usize], params: &[u64]) -> Result<Vec<f64>> {
    groups(kernel, inputs, output, params, |_, groups| Ok(total(groups[0].iter().map(|v| v.magnitude()))))
}

/// `|A| |B|`.
pub(super) fn contract_magnitude(a: &Array, b: &Array, output: &[usize]) -> Result<Vec<f64>> {
    pairs(a, b, output, |terms| total(terms.map(|(x, y)| x.magnitude() * y.magnitude())))
}

pub(super) fn total(values: impl Iterator<Item = Double>) -> f64 {
    values.fold(Double::from(0.0), |x, y| x + y).hi
}
