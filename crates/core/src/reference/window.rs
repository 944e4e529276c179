//! Window kernels as loops over windows and their places; no padded or unfolded copy of the data exists.

use super::array::{Array, coordinates};
use super::fold::total;
use super::value::Scalar;
use crate::error::{Error, Result};
use crate::kernel::{Monoid, Window, WindowCombine};

/// The element at a place of a window and its weight's position in the window; `None` outside the data.
struct Place {
    element: Option<Scalar>,
    weight: usize,
}

/// The places of one window: `at` is its position in the output's spatial axes, `plane` the data's elements there, `taps` the
/// coordinates of each place in a window.
fn places<'a>(
    kernel: &'a Window,
    plane: &'a [Scalar],
    extents: &'a [usize],
    at: &'a [usize],
    taps: &'a [Vec<usize>],
) -> impl Iterator<Item = Place> + 'a {
    let element = move |tap: &Vec<usize>| {
        let mut position = 0;
        for (((axis, &extent), &o), k) in kernel.axes.iter().zip(extents).zip(at).zip(tap) {
            let place = (o * axis.stride + k * axis.dilation).checked_sub(axis.low).filter(|&p| p < extent)?;
            position = position * extent + place;
        }
        Some(plane[position])
    };
    taps.iter().enumerate().map(move |(weight, tap)| Place { element: element(tap), weight })
}

/// The terms of every output: elements for a reduction, element and weight for a dot.
fn terms<T>(
    kernel: &Window,
    inputs: &[Array],
    output: &[usize],
    finish: impl Fn(Vec<(Scalar, Option<Scalar>)>) -> T,
) -> Result<Vec<T>> {
    let unfit = || {
        let shapes: Vec<&[usize]> = inputs.iter().map(Array::dims).collect();
        Error::internal(format!("window: {shapes:?} do not make {output:?}"))
    };
    let n = kernel.axes.len();
    let (Some(data), true) = (inputs.first(), kernel.axes.iter().all(|a| a.size * a.stride * a.dilation > 0)) else {
        return Err(unfit());
    };
    let rank = data.dims().len();
    if n == 0 || rank < n || output.len() != rank {
        return Err(unfit());
    }
    let ((lead, extents), (out_lead, outs)) = (data.dims().split_at(rank - n), output.split_at(rank - n));
    let all: Vec<Scalar> = data.scalars().collect();
    let area: usize = extents.iter().product();
    let plane = |i: usize| &all[i * area..(i + 1) * area];
    let (sizes, windows): (Vec<usize>, usize) = (kernel.axes.iter().map(|a| a.size).collect(), outs.iter().product());
    let volume: usize = sizes.iter().product();
    let taps: Vec<Vec<usize>> = (0..volume).map(|place| coordinates(&sizes, place)).collect();
    match (kernel.combine, inputs.get(1)) {
        (WindowCombine::Reduce(monoid), None) if lead == out_lead => {
            let outside = monoid.identity(kernel.dtype);
            let one = |o: usize| {
                let at = coordinates(outs, o % windows);
                let places = places(kernel, plane(o / windows), extents, &at, &taps);
                finish(places.map(|p| (p.element.unwrap_or(outside), None)).collect())
            };
            Ok((0..output.iter().product()).map(one).collect())
        }
        (WindowCombine::Dot, Some(weights)) => {
            let (&[batch, group, cin], &[batch2, group2, cout]) = (lead, out_lead) else { return Err(unfit()) };
            if (batch, group) != (batch2, group2) || weights.dims() != [&[group, cout, cin], &sizes[..]].concat() {
                return Err(unfit());
            }
            let factors: Vec<Scalar> = weights.scalars().collect();
            let zero = Scalar::Int(0).fit(kernel.dtype);
            let one = |o: usize| {
                let (at, channel) = (coordinates(outs, o % windows), o / windows);
                let (image, filter) = (channel / cout, channel % (group * cout));
                let of_channel = |c: usize| {
                    let weight = (filter * cin + c) * volume;
                    let factors = &factors;
                    places(kernel, plane(image * cin + c), extents, &at, &taps)
                        .map(move |p| (p.element.unwrap_or(zero), Some(factors[weight + p.weight])))
                };
                finish((0..cin).flat_map(of_channel).collect())
            };
            Ok((0..output.iter().product()).map(one).collect())
        }
        _ => Err(unfit()),
    }
}

/// [`Window`]: sums and products in double-double, rounded once.
pub(super) fn window(kernel: &Window, inputs: &[Array], output: &[usize]) -> Result<Array> {
    let results = terms(kernel, inputs, output, |terms| match kernel.combine {
        // From the first place on: a complex product with the identity would spoil infinite parts.
        WindowCombine::Reduce(monoid) => {
            let all = terms.into_iter().map(|(x, _)| x);
            all.reduce(|x, y| monoid.combine(x, y)).unwrap_or(monoid.identity(kernel.dtype))
        }
        WindowCombine::Dot => {
            let zero = Scalar::Int(0).fit(kernel.dtype);
            terms.into_iter().fold(zero, |sum, (x, w)| w.map_or(sum, |w| sum + x * w))
        }
    })?;
    Array::from_scalars(kernel.dtype, output, results)
}

/// Sum of the absolute values added for each output; `None` where nothing is added.
pub(super) fn magnitude(kernel: &Window, inputs: &[Array], output: &[usize]) -> Result<Option<Vec<f64>>> {
    if !matches!(kernel.combine, WindowCombine::Dot | WindowCombine::Reduce(Monoid::Sum)) {
        return Ok(None);
    }
    let size = |(x, w): (Scalar, Option<Scalar>)| w.map_or(x.magnitude(), |w| x.magnitude() * w.magnitude());
    terms(kernel, inputs, output, |terms| total(terms.into_iter().map(size))).map(Some)
}
