//! Attention: values weighed by how well their keys go with queries.

use super::nn::softmax_or_nothing;
use super::rows::{BASE, attr, doc, optional_tensor, tensor};
use crate::def::{AttrKind, Domain, ErrorCase, Form, Lowering, Namespace, OpDef, ParamDef, ParamKind};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::gradient::{Gradient, rules};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{DType, Dims, Error, Result, layout};

/// The sizes of a call: batch axes, queries, keys, their length, and that of values.
struct Sizes {
    batch: Dims,
    queries: usize,
    keys: usize,
    length: usize,
    values: usize,
}

fn tail<'a>(dims: &'a [usize], name: &str) -> Result<(&'a [usize], usize, usize)> {
    match dims {
        [batch @ .., n, length] => Ok((batch, *n, *length)),
        _ => Err(Error::shape(format!("'{name}' must have at least two axes, got shape {dims:?}"))),
    }
}

impl Sizes {
    fn new(query: &[usize], key: &[usize], value: &[usize]) -> Result<Sizes> {
        let ((of_query, queries, length), (of_key, keys, same)) = (tail(query, "query")?, tail(key, "keys")?);
        let (of_value, each, values) = tail(value, "values")?;
        if length != same || keys != each {
            return Err(Error::shape(format!("queries {query:?}, keys {key:?} and values {value:?} do not go together")));
        }
        let batch = layout::broadcast_shapes(&layout::broadcast_shapes(of_query, of_key)?, of_value)?;
        Ok(Sizes { batch, queries, keys, length, values })
    }

    fn with(&self, n: usize, length: usize) -> Dims {
        self.batch.iter().copied().chain([n, length]).collect()
    }
}

fn attention_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let sizes = Sizes::new(ctx.shape(0), ctx.shape(1), ctx.shape(2))?;
    if let Some(mask) = ctx.dims.get(3).and_then(|d| d.as_ref()) {
        let scores = sizes.with(sizes.queries, sizes.keys);
        if !layout::broadcast_shapes(mask, &scores).is_ok_and(|found| found == scores) {
            let (mask, scores) = (mask.as_slice(), scores.as_slice());
            return Err(Error::shape(format!("a mask of shape {mask:?} does not broadcast to the scores {scores:?}")));
        }
        if ctx.dtype(3).is_some_and(|d| d != DType::Bool && !d.is_float()) {
            return Err(Error::dtype("a mask is bool, or floating and added to the scores"));
        }
    }
    Ok(vec![sizes.with(sizes.queries, sizes.values)])
}

fn attention(l: &mut Lower) -> Result<Vec<Val>> {
    let (scores, value) = scores(l)?;
    let weights = weights(l, scores)?;
    let out = l.contract(weights, value);
    Ok(vec![l.cast(out, l.out_dtype(0))?])
}

/// The weights once more, and the softmax's rule between what is before and behind it.
fn attention_back(l: &mut Lower, _: &[Val], g: &[Option<Val>]) -> Result<Option<Vec<Option<Val>>>> {
    let Some(g) = g[0] else { return Ok(Some(vec![None; l.len()])) };
    let start = l.graph.nodes.len();
    let (scores, value) = scores(l)?;
    let weights = weights(l, scores)?;
    let (g, rank) = (l.widened(g)?, l.dims(weights).len());
    let (right, left) = (l.transposed(value), l.transposed(weights));
    let (of_weights, of_value) = (l.contract(g, right), l.contract(left, g));
    let of_scores = rules::softmax_back(l, weights, of_weights, rank - 1)?;
    rules::of_operands(l, start, &[(scores, of_scores), (value, of_value)])
}

/// The weights of the keys for each query: 0 for a query whose mask shows it none.
fn weights(l: &mut Lower, scores: Val) -> Result<Val> {
    if l.is_absent(3) { l.op("softmax", &[scores], |a| a) } else { softmax_or_nothing(l, scores) }
}

/// Keys or values, 0 in place of those that a mask of bools shows to no query: whatever they hold, infinity and NaN too, takes no part.
fn shown(l: &mut Lower, v: Val) -> Result<Val> {
    let Some(mask) = l.tensor(3).filter(|&mask| l.dtype(mask) == DType::Bool) else { return Ok(v) };
    let (dims, rank) = (l.dims(v), l.dims(mask).len());
    let seen = match rank {
        0 | 1 => mask,
        _ => l.reduce(mask, &[rank - 2], Combine::Value(Monoid::Any), false),
    };
    let each = [l.dims(seen).as_slice(), &[1]].concat();
    let (seen, zero) = (l.reshape(seen, &each), l.dtype(v));
    l.map(&dims, &[seen, v], |b, v| {
        let zero = b.lit(zero, 0.0);
        b.select(v[0], v[1], zero)
    })
}

/// The scores of the keys for each query, and the values, broadcast, in the accumulator dtype.
fn scores(l: &mut Lower) -> Result<(Val, Val)> {
    let (acc, causal) = (l.compute().compute(), l.attrs().bool("causal"));
    let operand = |l: &mut Lower, n: usize| -> Result<Val> {
        let v = l.operand(n)?;
        l.cast(v, acc)
    };
    let (query, key, value) = (operand(l, 0)?, operand(l, 1)?, operand(l, 2)?);
    let sizes = Sizes::new(&l.dims(query), &l.dims(key), &l.dims(value))?;
    let (queries, keys) = (sizes.with(sizes.queries, sizes.length), sizes.with(sizes.keys, sizes.length));
    let (query, key) = (l.broadcast(query, &queries)?, l.broadcast(key, &keys)?);
    let value = l.broadcast(value, &sizes.with(sizes.keys, sizes.values))?;
    let (key, value) = (shown(l, key)?, shown(l, value)?);
    let rank = queries.len();
    let order: Vec<usize> = (0..rank - 2).chain([rank - 1, rank - 2]).collect();
    let turned = l.permute(key, &order);
    let products = l.contract(query, turned);
    let dims = l.dims(products);
    let mut inputs = vec![products];
    if !l.is_absent(3) {
        let mask = l.operand(3)?;
        inputs.push(if l.dtype(mask) == DType::Bool { mask } else { l.cast(mask, acc)? });
    }
    let (given, usual) = (l.param(0, acc), 1.0 / (sizes.length.max(1) as f64).sqrt());
    let scores = l.map_with(&dims, &inputs, &[given], |b, v| {
        let (given, usual) = (v[v.len() - 1], b.lit(acc, usual));
        let is_given = b.compare(Op::Eq, given, given);
        let scale = b.select(is_given, given, usual);
        let mut score = b.binary(Op::Mul, v[0], scale);
        let nothing = b.lit(acc, f64::NEG_INFINITY);
        if v.len() > 2 {
            score = match b.dtype(v[1]) {
                DType::Bool => b.select(v[1], score, nothing),
                _ => b.binary(Op::Add, score, v[1]),
            };
        }
        if causal {
            let (row, column) = (b.index(rank as u8 - 2, DType::I64), b.index(rank as u8 - 1, DType::I64));
            let seen = b.compare(Op::Le, column, row);
            score = b.select(seen, score, nothing);
        }
        score
    })?;
    Ok((scores, value))
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "scaledDotProductAttention", gradient: Gradient::Rule(attention_back), namespace: Namespace::Nn, form: Form::Function, operands: &[tensor("query"), tensor("keys"), tensor("values"), optional_tensor("mask")],
        attrs: &[attr("causal", AttrKind::Bool(false))], params: &[ParamDef { name: "scale", default: Some(f64::NAN), kind: ParamKind::Number }], shape: attention_shape, lower: Lowering::Graph(attention), domain: Domain::Special,
        dtype: DTypeRule::new(Class::RealOrBool, Compute::Float, Out::Compute).over(0, 3),
        errors: &[
            ErrorCase { call: "ft.nn.scaledDotProductAttention(ft.zeros([2, 3]), ft.zeros([2, 4]), ft.zeros([2, 4]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.scaledDotProductAttention(ft.zeros([3]), ft.zeros([2, 3]), ft.zeros([2, 3]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.scaledDotProductAttention(ft.zeros([2, 3]), ft.zeros([4, 3]), ft.zeros([4, 3]), ft.ones([3, 4]))", code: Code::Shape },
            ErrorCase { call: "ft.nn.scaledDotProductAttention(ft.zeros([2, 3]), ft.zeros([4, 3]), ft.zeros([4, 3]), ft.ones([2, 4], { dtype: 'int32' }))", code: Code::DType },
        ],
        doc: doc("Values [..., n, values] weighed for each query [..., m, length] by the softmax of its products with the keys [..., n, length], times the scale (1 / sqrt(length) by default). A bool mask is true where a key takes part, a floating one is added to the scores; with causal the i-th query sees the first i + 1 keys. 0 for a query to which its mask shows none; keys and values that a bool mask shows to no query take no part, NaN or not.", "softmax(query @ keys^T scale + mask) @ values", "ft.nn.scaledDotProductAttention(ft.tensor([[1, 0]]), ft.tensor([[1, 0], [1, 0]]), ft.tensor([[2], [4]])) // [[3]]", "", "nn.functional.scaled_dot_product_attention"), ..BASE },
];
