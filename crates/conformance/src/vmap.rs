//! Mapped calls: each row at three positions of an axis, beside the row at each of them, on the reference, and so for gradients. The axis
//! is given to all operands, and to each alone. Both sides run the same kernels on the same numbers, so the bits are the same; but for sums
//! over positions.

use crate::Check;
use crate::case::{Case, Operand};
use crate::executor::{self, Known};
use crate::gradients::calls::filled;
use crate::gradients::trial::told;
use crate::recipe;
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::{Code, DType, Dims, Result};
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::gradient::{self, Gradient};
use ferrotensor_ops::graph::{Def, Graph, Val};
use ferrotensor_ops::lower::{self, Operand as Lowered};

/// Positions of the axis.
const POSITIONS: usize = 3;
/// A dtype of each kind: what is written does not ask for more.
const DTYPES: [DType; 4] = [DType::F64, DType::C128, DType::I32, DType::Bool];
/// How far from each other sums over positions may be, beside the size of what is added: they are added in another order.
const SUMS: f64 = 1e-12;

/// One check for each row.
pub fn trials() -> Vec<(String, Check)> {
    let rows = ferrotensor_ops::OPS.iter().map(|op| {
        let check: Check = Box::new(move || check_row(op));
        (format!("vmap/{}", op.path()), check)
    });
    rows.collect()
}

fn check_row(op: &'static OpDef) -> Result<(), String> {
    let taken = recipe::dtypes(op);
    let (mut compared, mut tried, mut problems) = (0, 0, Vec::new());
    for dtype in DTYPES.into_iter().filter(|dtype| taken.contains(dtype)) {
        for alike in filled(op, dtype, POSITIONS)? {
            for mapped in choices(&alike) {
                tried += 1;
                match check(&alike, &mapped) {
                    Ok(is_compared) => compared += is_compared as usize,
                    Err(e) => problems.push(format!("{dtype} {} mapped {mapped:?}: {e}", alike[0])),
                }
            }
        }
    }
    if tried > 0 && compared == 0 && problems.is_empty() {
        problems.push(format!("none of {tried} calls has a value"));
    }
    let shown: Vec<String> = problems.iter().take(3).cloned().collect();
    if problems.is_empty() { Ok(()) } else { Err(format!("{} calls\n  {}", problems.len(), shown.join("\n  "))) }
}

/// Which of a call's tensors have the axis: all, or each alone.
fn choices(alike: &[Case]) -> Vec<Vec<bool>> {
    let count = alike.first().map_or(0, |case| tensors(case).len());
    let alone = (0..count).filter(|_| count > 1).map(|n| (0..count).map(|other| n == other).collect());
    std::iter::once(vec![true; count]).filter(|_| count > 0).chain(alone).collect()
}

fn tensors(case: &Case) -> Vec<&Array> {
    case.operands.iter().filter_map(|o| if let Operand::Tensor { logical, .. } = o { Some(logical) } else { None }).collect()
}

/// Arrays of one shape along a new first axis.
fn stacked(arrays: &[Array]) -> Result<Array> {
    let dims: Vec<usize> = std::iter::once(arrays.len()).chain(arrays[0].dims().iter().copied()).collect();
    Array::new(arrays[0].dtype(), &dims, arrays.iter().flat_map(|a| a.bytes().iter().copied()).collect())
}

/// The words of a mapped call.
fn words(case: &Case, of: usize, mapped: &[bool]) -> Vec<f64> {
    let mut words = vec![case.op.id() as f64, case.operands.len() as f64];
    words.extend(case.operands.iter().map(|o| match o {
        Operand::Tensor { .. } => 0.0,
        Operand::Weak(kind, _) => match kind {
            ferrotensor_ops::dtype_rule::Arg::Number => 1.0,
            ferrotensor_ops::dtype_rule::Arg::BigInt => 2.0,
            _ => 3.0,
        },
        Operand::Absent => 4.0,
    }));
    words.extend([of as f64, mapped.len() as f64]);
    words.extend(mapped.iter().map(|&is| is as u8 as f64));
    words.extend(&case.words);
    words
}

/// A graph, its inputs, and what was written about a call over them.
#[derive(Default)]
struct Sheet {
    graph: Graph,
    inputs: Vec<Known>,
}

impl Sheet {
    fn input(&mut self, a: Array) -> Val {
        let dims: Dims = a.dims().iter().copied().collect();
        let v = self.graph.push(0, Def::Input(self.inputs.len() as u32), [(a.dtype(), dims)]);
        self.inputs.push(Known::exact(a));
        v
    }

    fn run(&self, params: &[u64], wanted: &[Val]) -> Result<Vec<Array>> {
        let values = executor::unbounded(&self.graph, &self.inputs, params)?;
        wanted.iter().map(|v| values[v.0 as usize].clone().map(|k| k.array)).collect()
    }
}

/// Results of a call, and cotangents of its tensors for each result that has one.
struct Found {
    results: Vec<Array>,
    cotangents: Vec<Vec<Option<Array>>>,
}

/// Whether a call has a gradient that is compared.
fn differentiated(case: &Case, result: &Array) -> bool {
    !matches!(case.op.gradient, Gradient::None(_)) && matches!(result.dtype(), DType::F64 | DType::C128)
}

/// Results and cotangents of a call written by these, of which a result is given a cotangent.
fn found(
    op: &'static OpDef,
    operands: &[Option<Array>],
    forms: &[Lowered],
    attrs: &Attrs,
    (first_param, params): (u16, &[u64]),
    given: &mut dyn FnMut(usize, &Array) -> Result<Option<Array>>,
) -> Result<Found> {
    let mut sheet = Sheet::default();
    let mut lowered = Vec::new();
    for (operand, form) in operands.iter().zip(forms) {
        lowered.push(match operand {
            Some(a) => Lowered::Val(sheet.input(a.clone())),
            None => *form,
        });
    }
    let outputs = lower::lower(&mut sheet.graph, op, &lowered, attrs, first_param)?;
    let results = sheet.run(params, &outputs)?;
    let known: Vec<Val> = results.iter().map(|a| sheet.input(a.clone())).collect();
    let mut cotangents = Vec::new();
    let wrt: Vec<bool> = lowered.iter().map(|o| matches!(o, Lowered::Val(_))).collect();
    for (n, result) in results.iter().enumerate() {
        let Some(g) = given(n, result)? else { continue };
        let mut gs = vec![None; results.len()];
        gs[n] = Some(sheet.input(g));
        let grads = gradient::vjp(&mut sheet.graph, op, &lowered, attrs, first_param, &known, &gs, &wrt)?;
        let wanted: Vec<Val> = grads.iter().flatten().copied().collect();
        let mut values = sheet.run(params, &wanted)?.into_iter();
        let of_tensors = grads.iter().zip(&wrt).filter(|(_, is)| **is);
        cotangents.push(of_tensors.map(|(g, _)| g.and_then(|_| values.next())).collect());
    }
    Ok(Found { results, cotangents })
}

/// A cotangent that differs from place to place and from position to position.
fn cotangent(like: &Array, position: usize) -> Result<Array> {
    let count = like.dims().iter().product::<usize>() * like.dtype().bytes() / 8;
    let x = (0..count).map(|i| ((i * 7 + position * 5) % 11) as f64 / 4.0 - 1.0);
    Array::new(like.dtype(), like.dims(), x.flat_map(f64::to_le_bytes).collect())
}

/// Compares a call; whether it has values.
fn check(alike: &[Case], mapped: &[bool]) -> Result<bool, String> {
    let first = &alike[0];
    let params = first.params();
    let attrs = Attrs::decode(first.op, &first.words).map_err(told)?;
    let mut weak = 0;
    let forms: Vec<Lowered> = first
        .operands
        .iter()
        .map(|o| match o {
            Operand::Weak(kind, _) => {
                weak += 1;
                Lowered::Weak(weak - 1, *kind)
            }
            _ => Lowered::Absent,
        })
        .collect();
    let mut each = Vec::new();
    for (position, case) in alike.iter().enumerate() {
        let mut tensor = 0;
        let operands = first.operands.iter().zip(&case.operands).map(|(shared, own)| match (shared, own) {
            (Operand::Tensor { logical: shared, .. }, Operand::Tensor { logical: own, .. }) => {
                tensor += 1;
                Some(if mapped[tensor - 1] { own.clone() } else { shared.clone() })
            }
            _ => None,
        });
        let operands: Vec<Option<Array>> = operands.collect();
        let mut given = |_: usize, result: &Array| {
            if differentiated(first, result) { cotangent(result, position).map(Some) } else { Ok(None) }
        };
        match found(first.op, &operands, &forms, &attrs, (weak, &params), &mut given) {
            Ok(found) => each.push(found),
            Err(e) if e.code == Code::Internal => return Err(told(e)),
            // Indices out of range, singular matrices: nothing to compare.
            Err(_) => return Ok(false),
        }
    }
    let row = ferrotensor_ops::DERIVED.iter().find(|op| op.name == "vmap").ok_or("no row vmap")?;
    let columns: Vec<Vec<&Array>> = alike.iter().map(tensors).collect();
    let operands = mapped.iter().enumerate().map(|(n, &is)| {
        let own: Vec<Array> = columns.iter().map(|c| c[n].clone()).collect();
        if is { stacked(&own) } else { Ok(own[0].clone()) }.map(Some)
    });
    let operands = operands.collect::<Result<Vec<Option<Array>>>>().map_err(told)?;
    let absent = vec![Lowered::Absent; operands.len()];
    let mut gradients = 0;
    for of in 0..each[0].results.len() {
        let attrs = Attrs::decode(row, &words(first, of, mapped)).map_err(told)?;
        let should: Vec<Array> = each.iter().map(|f| f.results[of].clone()).collect();
        let is_differentiated = differentiated(first, &should[0]);
        let mut given = |_: usize, _: &Array| -> Result<Option<Array>> {
            let own = should.iter().enumerate().map(|(p, a)| cotangent(a, p)).collect::<Result<Vec<Array>>>();
            if is_differentiated { stacked(&own?).map(Some) } else { Ok(None) }
        };
        let whole = found(row, &operands, &absent, &attrs, (0, &params), &mut given).map_err(told)?;
        same(&format!("result {of}"), &whole.results[0], &stacked(&should).map_err(told)?)?;
        if !is_differentiated {
            continue;
        }
        for (n, &is) in mapped.iter().enumerate() {
            let own: Vec<Option<Array>> = each.iter().map(|f| f.cotangents[gradients][n].clone()).collect();
            let what = format!("cotangent of operand {n} by result {of}");
            match (&whole.cotangents[0][n], own.iter().cloned().collect::<Option<Vec<Array>>>()) {
                (None, None) => {}
                (Some(g), Some(own)) if is => same(&what, g, &stacked(&own).map_err(told)?)?,
                (Some(g), Some(own)) => added(&what, g, &own)?,
                _ => return Err(format!("{what}: one side has none")),
            }
        }
        gradients += 1;
    }
    Ok(true)
}

/// An array's elements as text, NaN like NaN.
fn shown(a: &Array) -> String {
    let texts: Vec<String> = a.scalars().map(|x: Scalar| format!("{x:?}").replace("-NaN", "NaN")).collect();
    format!("{} {:?} {}", a.dtype(), a.dims(), texts.join(" "))
}

fn same(what: &str, a: &Array, b: &Array) -> Result<(), String> {
    let (a, b) = (shown(a), shown(b));
    if a == b { Ok(()) } else { Err(format!("{what}: {a}, and at each position {b}")) }
}

/// That an array is the sum of others.
fn added(what: &str, total: &Array, own: &[Array]) -> Result<(), String> {
    let parts = |a: &Array| -> Vec<f64> {
        a.bytes().chunks_exact(8).map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])).collect()
    };
    let wrong = || Err(format!("{what}: {}, and at each position {own:?}", shown(total)));
    if own.iter().any(|a| a.dims() != total.dims() || a.dtype() != total.dtype()) {
        return wrong();
    }
    let terms: Vec<Vec<f64>> = own.iter().map(parts).collect();
    for (i, &found) in parts(total).iter().enumerate() {
        let (sum, size) = terms.iter().fold((0.0, 0.0), |(sum, size), p| (sum + p[i], size + p[i].abs()));
        // Beside an infinite term of its own each side may be NaN where the other is not.
        if size.is_finite() && (found - sum).abs() > SUMS * (1.0 + size) {
            return wrong();
        }
    }
    Ok(())
}
