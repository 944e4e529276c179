//! The reference executor: a lowered graph, unfused, evaluated node by node on dense arrays, each value with a bound on how
//! far a correct backend may be from it.

mod distinct;

use crate::bounds::{self, Bound};
use crate::view;
use distinct::Distinct;
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::{Code, DType, Error, Result};
use ferrotensor_ops::graph::{Def, Graph, Param, Val};

/// A value of the reference.
#[derive(Clone, Debug)]
pub struct Known {
    /// The reference's result.
    pub array: Array,
    /// How far from it a backend may be.
    pub bound: Bound,
}

impl Known {
    /// A value that nothing has rounded yet.
    pub fn exact(array: Array) -> Known {
        Known { array, bound: Bound::Exact }
    }
}

/// Every value of a graph, or the error a read of it reports. `params`: 8 bytes for each program parameter.
///
/// # Errors
/// `Code::Internal` for a graph that breaks the rules of [`ferrotensor_ops::graph`]; `Code::Index` for run-time numbers of a
/// view out of range, which refuse the whole program.
pub fn evaluate(graph: &Graph, inputs: &[Known], params: &[u64]) -> Result<Vec<Result<Known>>> {
    let mut values = Vec::with_capacity(graph.values.len());
    extend(graph, &mut values, inputs, params)?;
    Ok(values)
}

/// The same for a graph that has grown: `values` are those of its first nodes.
///
/// # Errors
/// As [`evaluate`]; some of the new values may be there then.
pub fn extend(graph: &Graph, values: &mut Vec<Result<Known>>, inputs: &[Known], params: &[u64]) -> Result<()> {
    each(graph, values, inputs, params, bounds::after)
}

/// The same, as if nothing rounded: bounds take many times as long as the values.
///
/// # Errors
/// As [`evaluate`].
pub fn unbounded(graph: &Graph, inputs: &[Known], params: &[u64]) -> Result<Vec<Result<Known>>> {
    let mut values = Vec::with_capacity(graph.values.len());
    each(graph, &mut values, inputs, params, |_, _, _, outputs| Ok(outputs.into_iter().map(Known::exact).collect()))?;
    Ok(values)
}

fn each(
    graph: &Graph,
    values: &mut Vec<Result<Known>>,
    inputs: &[Known],
    params: &[u64],
    bounded: impl Fn(&Kernel, &[&Known], &[u64], Vec<Array>) -> Result<Vec<Known>>,
) -> Result<()> {
    let known = values.len();
    for node in graph.nodes.iter().filter(|node| node.first.0 as usize >= known) {
        let first = node.first.0 as usize;
        if first != values.len() {
            return Err(Error::internal("values are not in the order of their nodes"));
        }
        let types = &graph.values[first..first + node.outputs as usize];
        let results = match &node.def {
            Def::Input(n) => {
                let input = inputs.get(*n as usize).ok_or_else(|| Error::internal("too few inputs"))?;
                Ok(vec![input.clone()])
            }
            Def::View { of, view } => value(values, *of)?.and_then(|from| {
                let positions = view::positions(view, from.array.dims(), &types[0].dims, params)?;
                let array = view::pick(&from.array, &positions, &types[0].dims)?;
                Ok(vec![Known { array, bound: from.bound.picked(&positions) }])
            }),
            Def::Kernel { kernel, inputs, params: kernel_params } => {
                let operands = inputs.iter().map(|&v| value(values, v)).collect::<Result<Vec<_>>>()?;
                let launch = kernel_params.iter().map(|p| launch_bits(p, params)).collect::<Result<Vec<u64>>>()?;
                operands.into_iter().collect::<Result<Vec<_>>>().and_then(|operands| {
                    let computed = |operands: &[&Known], dims: &[&[usize]]| {
                        let arrays: Vec<Array> = operands.iter().map(|k| k.array.clone()).collect();
                        let outputs = reference::run(kernel, &arrays, dims, &launch)?;
                        bounded(kernel, operands, &launch, outputs)
                    };
                    let dims: Vec<&[usize]> = types.iter().map(|t| t.dims.as_slice()).collect();
                    let Some(distinct) = Distinct::of(kernel, &operands)? else { return computed(&operands, &dims) };
                    let few = [distinct.len()];
                    let results = computed(&distinct.operands.iter().collect::<Vec<_>>(), &vec![&few[..]; dims.len()])?;
                    distinct.spread(results, &dims)
                })
            }
            Def::Assemble { base, parts } => {
                let base = base.map(|v| value(values, v)).transpose()?;
                let parts = parts.iter().map(|(v, region)| Ok((value(values, *v)?, region))).collect::<Result<Vec<_>>>()?;
                (|| {
                    let base = base.transpose()?;
                    let parts = parts.into_iter().map(|(part, region)| Ok((part?, region))).collect::<Result<Vec<_>>>()?;
                    Ok(vec![assemble(types[0].dtype, &types[0].dims, base, &parts, params)?])
                })()
            }
        };
        match results {
            Ok(results) => {
                for (known, ty) in results.iter().zip(types) {
                    if known.array.dtype() != ty.dtype || known.array.dims() != ty.dims.as_slice() {
                        return Err(Error::internal(format!("op {}: a value is not of its declared type", node.op)));
                    }
                }
                values.extend(results.into_iter().map(Ok));
            }
            Err(e) if e.code == Code::Internal => return Err(e),
            // Indices of a view are numbers of the call, not values: the program is refused as a whole.
            Err(e) if matches!(node.def, Def::View { .. }) && depends_on_values(values, &node.def).is_none() => {
                return Err(e);
            }
            Err(e) => values.extend((0..node.outputs).map(|_| Err(e.clone()))),
        }
    }
    Ok(())
}

fn value(values: &[Result<Known>], v: Val) -> Result<Result<&Known, Error>> {
    let known = values.get(v.0 as usize).ok_or_else(|| Error::internal("a value is used before it is defined"))?;
    Ok(known.as_ref().map_err(Clone::clone))
}

/// The earlier failure a view shows.
fn depends_on_values<'a>(values: &'a [Result<Known>], def: &Def) -> Option<&'a Error> {
    let Def::View { of, .. } = def else { return None };
    values.get(of.0 as usize)?.as_ref().err()
}

fn assemble(
    dtype: DType,
    dims: &[usize],
    base: Option<&Known>,
    parts: &[(&Known, &ferrotensor_ops::graph::Region)],
    params: &[u64],
) -> Result<Known> {
    let count: usize = dims.iter().product();
    let size = dtype.bytes();
    let mut written = vec![base.is_some(); count];
    let mut bytes = base.map_or_else(|| vec![0; count * size], |b| b.array.bytes().to_vec());
    let mut errors = base.map_or_else(|| vec![0.0; count], |b| b.bound.absolute(&b.array));
    let mut exact = base.is_none_or(|b| b.bound == Bound::Exact);
    for (part, region) in parts {
        let at = match region {
            Some(region) => view::positions(region, dims, part.array.dims(), params)?,
            None => (0..count).collect(),
        };
        exact &= part.bound == Bound::Exact;
        let more = part.bound.absolute(&part.array);
        if at.len() != part.array.len() {
            return Err(Error::internal("a part is not of its region's shape"));
        }
        for (i, &p) in at.iter().enumerate() {
            bytes[p * size..(p + 1) * size].copy_from_slice(&part.array.bytes()[i * size..(i + 1) * size]);
            (written[p], errors[p]) = (true, more[i]);
        }
    }
    if written.contains(&false) {
        return Err(Error::internal("the parts of an assembled value leave a hole"));
    }
    let bound = if exact { Bound::Exact } else { Bound::Absolute(errors) };
    Ok(Known { array: Array::new(dtype, dims, bytes)?, bound })
}

/// A program parameter in the form a kernel wants: a float64 or int64 converted as `astype` would.
fn launch_bits(param: &Param, params: &[u64]) -> Result<u64> {
    let bits = *params.get(param.index as usize).ok_or_else(|| Error::internal("a kernel names an absent parameter"))?;
    let number = if param.bigint { Scalar::Int(bits as i64 as i128) } else { Scalar::float(f64::from_bits(bits)) };
    let encoded = number.encode(param.dtype);
    Ok(encoded[..8].iter().rev().fold(0, |word, &b| word << 8 | b as u64))
}
