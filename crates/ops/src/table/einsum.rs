//! Einstein summation: an equation of labels becomes sums, products of broadcast views, and matrix products.

use super::diagonals::taken;
use super::exact;
use super::rows::{BASE, arg, doc, tensor};
use crate::def::{AttrKind, Domain, ErrorCase, Form, Lowering, OpDef};
use crate::dtype_rule::{Class, Compute, DTypeRule, Out};
use crate::infer::ShapeCtx;
use crate::lower::{Lower, Val};
use ferrotensor_core::error::Code;
use ferrotensor_core::kernel::{Combine, Monoid};
use ferrotensor_core::scalar::Op;
use ferrotensor_core::{Dims, Error, Result, layout};

/// What names an axis: a letter's code, or for an axis that `...` stands for its number from the last, above all codes.
type Label = usize;
const ELLIPSIS: Label = 256;

/// The labels of each operand's axes and of the result's.
struct Equation {
    operands: Vec<Vec<Label>>,
    result: Vec<Label>,
}

fn wrong(text: &str, what: impl std::fmt::Display) -> Error {
    Error::argument(format!("equation '{text}': {what}"))
}

/// The labels of one term, where `...` stands for `more` axes.
fn labels(text: &str, term: &str, more: usize) -> Result<Vec<Label>> {
    let letters = |part: &str| -> Result<Vec<Label>> {
        let label =
            |c: char| if c.is_ascii_alphabetic() { Ok(c as Label) } else { Err(wrong(text, format!("'{c}' is no label"))) };
        part.chars().map(label).collect()
    };
    match term.split_once("...") {
        None => letters(term),
        Some((first, last)) => {
            let between = (0..more).rev().map(|k| ELLIPSIS + k);
            Ok(letters(first)?.into_iter().chain(between).chain(letters(last)?).collect())
        }
    }
}

impl Equation {
    /// Reads an equation for operands of these ranks.
    ///
    /// # Errors
    /// `Code::Argument` for what is no equation, or none for these operands.
    fn new(text: &str, ranks: &[usize]) -> Result<Equation> {
        let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match plain.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (plain.as_str(), None),
        };
        let terms: Vec<&str> = left.split(',').collect();
        if terms.len() != ranks.len() {
            return Err(wrong(text, format!("names {} operands, got {}", terms.len(), ranks.len())));
        }
        let (mut operands, mut most) = (Vec::new(), 0);
        for (n, (term, &rank)) in terms.iter().zip(ranks).enumerate() {
            let named = labels(text, term, 0)?.len();
            let more = rank.checked_sub(named).filter(|&more| more == 0 || term.contains("..."));
            let more =
                more.ok_or_else(|| wrong(text, format!("'{term}' does not name the axes of operand {n}, of rank {rank}")))?;
            most = most.max(more);
            operands.push(labels(text, term, more)?);
        }
        let result = match right {
            Some(right) => labels(text, right, most)?,
            None => {
                let count = |label: &Label| operands.iter().flatten().filter(|&l| l == label).count();
                let letters = (0..ELLIPSIS).filter(|label| count(label) == 1);
                (0..most).rev().map(|k| ELLIPSIS + k).chain(letters).collect()
            }
        };
        let name = |label: Label| char::from_u32(label as u32).filter(|_| label < ELLIPSIS).unwrap_or('.');
        for (i, &label) in result.iter().enumerate() {
            if result[..i].contains(&label) {
                return Err(wrong(text, format!("'{}' stands twice in the result", name(label))));
            }
            if label < ELLIPSIS && !operands.iter().any(|o| o.contains(&label)) {
                return Err(wrong(text, format!("'{}' of the result is in no operand", name(label))));
            }
        }
        Ok(Equation { operands, result })
    }

    /// The size of each label; an axis of size 1 is stretched.
    ///
    /// # Errors
    /// `Code::Shape` for sizes that differ.
    fn sizes(&self, shapes: &[Dims]) -> Result<Vec<(Label, usize)>> {
        let mut sizes: Vec<(Label, usize)> = Vec::new();
        let differ = |label: Label, size: usize, other: usize| {
            let what = if label < ELLIPSIS { format!("'{}'", label as u8 as char) } else { "'...'".into() };
            Error::shape(format!("{what} has size {size} in one place and {other} in another"))
        };
        for (labels, dims) in self.operands.iter().zip(shapes) {
            for (i, (&label, &size)) in labels.iter().zip(dims).enumerate() {
                // Within an operand nothing is stretched: a diagonal is that of a square.
                let earlier = labels[..i].iter().position(|&l| l == label).map(|j| dims[j]);
                if let Some(other) = earlier.filter(|&other| other != size) {
                    return Err(differ(label, other, size));
                }
                match sizes.iter_mut().find(|(l, _)| *l == label) {
                    None => sizes.push((label, size)),
                    Some((_, known)) if *known == 1 => *known = size,
                    Some((_, known)) if size == 1 || size == *known => {}
                    Some((_, known)) => return Err(differ(label, *known, size)),
                }
            }
        }
        Ok(sizes)
    }
}

fn size_of(sizes: &[(Label, usize)], label: Label) -> usize {
    sizes.iter().find(|(l, _)| *l == label).map_or(1, |s| s.1)
}

fn einsum_shape(ctx: &ShapeCtx) -> Result<Vec<Dims>> {
    let shapes: Vec<Dims> = (0..ctx.args.len()).map(|n| ctx.shape(n).iter().copied().collect()).collect();
    let ranks: Vec<usize> = shapes.iter().map(|s| s.len()).collect();
    let equation = Equation::new(ctx.attrs.text("equation"), &ranks)?;
    let sizes = equation.sizes(&shapes)?;
    if equation.result.len() > layout::MAX_RANK {
        return Err(Error::shape(format!(
            "the result would have {} axes, above {}",
            equation.result.len(),
            layout::MAX_RANK
        )));
    }
    Ok(vec![equation.result.iter().map(|&label| size_of(&sizes, label)).collect()])
}

/// A value and the labels of its axes, all different and of the labels' whole sizes.
struct Term {
    v: Val,
    labels: Vec<Label>,
}

impl Term {
    /// An operand with its repeated labels as diagonals, and without the axes that stretch.
    fn new(l: &mut Lower, mut v: Val, labels: &[Label], sizes: &[(Label, usize)]) -> Term {
        let dims = l.dims(v);
        let stays = |a: &usize| dims[*a] == size_of(sizes, labels[*a]);
        let kept: Vec<usize> = (0..labels.len()).filter(stays).collect();
        v = l.reshape(v, &kept.iter().map(|&a| dims[a]).collect::<Vec<_>>());
        let mut labels: Vec<Label> = kept.iter().map(|&a| labels[a]).collect();
        while let Some((i, j)) = (0..labels.len()).find_map(|j| Some((labels[..j].iter().position(|&x| x == labels[j])?, j)))
        {
            let order = l.axes_last(labels.len(), &[i, j]);
            let moved = l.permute(v, &order);
            v = taken(l, moved, 0);
            let label = labels.remove(j);
            labels.remove(i);
            labels.push(label);
        }
        Term { v, labels }
    }

    /// Summed over the labels that nobody wants.
    fn summed(self, l: &mut Lower, wanted: impl Fn(Label) -> bool) -> Term {
        let axes: Vec<usize> = (0..self.labels.len()).filter(|&a| !wanted(self.labels[a])).collect();
        if axes.is_empty() {
            return self;
        }
        let v = l.reduce(self.v, &axes, Combine::Value(Monoid::Sum), false);
        Term { v, labels: self.labels.into_iter().filter(|&label| wanted(label)).collect() }
    }

    /// The axes in this order.
    fn ordered(&self, l: &mut Lower, labels: &[Label]) -> Val {
        let order: Vec<usize> = labels.iter().filter_map(|label| self.labels.iter().position(|x| x == label)).collect();
        l.permute(self.v, &order)
    }

    /// Two terms as one, summed over what only they have and nobody wants.
    fn times(self, l: &mut Lower, other: Term, sizes: &[(Label, usize)], wanted: impl Fn(Label) -> bool) -> Result<Term> {
        let (a, b) = (self.summed(l, |label| wanted(label) || other.labels.contains(&label)), other);
        let b = b.summed(l, |label| wanted(label) || a.labels.contains(&label));
        let both = |label: &&Label| b.labels.contains(label);
        let (batch, summed): (Vec<Label>, Vec<Label>) = a.labels.iter().filter(both).partition(|&&label| wanted(label));
        let rows: Vec<Label> = a.labels.iter().filter(|label| !both(label)).copied().collect();
        let columns: Vec<Label> = b.labels.iter().filter(|label| !a.labels.contains(label)).copied().collect();
        let count = |labels: &[Label]| labels.iter().map(|&label| size_of(sizes, label)).product::<usize>();
        let (outer, m, k, n) = (count(&batch), count(&rows), count(&summed), count(&columns));
        let x = a.ordered(l, &[&batch[..], &rows, &summed].concat());
        let y = b.ordered(l, &[&batch[..], &summed, &columns].concat());
        let (x, y) = (l.reshape(x, &[outer, m, k]), l.reshape(y, &[outer, k, n]));
        let product = if summed.is_empty() {
            l.map(&[outer, m, n], &[x, y], |b, v| b.binary(Op::Mul, v[0], v[1]))?
        } else {
            l.contract(x, y)
        };
        let labels = [batch, rows, columns].concat();
        if labels.len() > layout::MAX_RANK {
            let (n, most) = (labels.len(), layout::MAX_RANK);
            return Err(Error::shape(format!("a product on the way would have {n} axes, above {most}")));
        }
        let dims: Vec<usize> = labels.iter().map(|&label| size_of(sizes, label)).collect();
        Ok(Term { v: l.reshape(product, &dims), labels })
    }
}

/// The pair whose product takes the least memory beside what it replaces, and of such the one of the fewest multiplications.
fn cheapest(terms: &[Term], sizes: &[(Label, usize)], result: &[Label]) -> (usize, usize) {
    let count = |labels: &[Label]| labels.iter().map(|&label| size_of(sizes, label) as f64).product::<f64>();
    let mut best = (f64::INFINITY, f64::INFINITY, 0, 1);
    for j in 1..terms.len() {
        for i in 0..j {
            let (a, b) = (&terms[i].labels, &terms[j].labels);
            let all: Vec<Label> = a.iter().chain(b.iter().filter(|label| !a.contains(label))).copied().collect();
            let elsewhere = |label: &Label| {
                let others = terms.iter().enumerate().filter(|(n, _)| *n != i && *n != j);
                result.contains(label) || others.into_iter().any(|(_, t)| t.labels.contains(label))
            };
            let kept: Vec<Label> = all.iter().copied().filter(elsewhere).collect();
            let found = (count(&kept) - count(a) - count(b), count(&all), i, j);
            if (found.0, found.1) < (best.0, best.1) {
                best = found;
            }
        }
    }
    (best.2, best.3)
}

fn einsum(l: &mut Lower) -> Result<Vec<Val>> {
    // Half floats add up in float32 and are rounded once.
    let (acc, out) = (l.compute().compute(), l.out_dtype(0));
    let operands = (0..l.len()).map(|n| l.operand(n)).collect::<Result<Vec<_>>>()?;
    let shapes: Vec<Dims> = operands.iter().map(|&v| l.dims(v)).collect();
    let ranks: Vec<usize> = shapes.iter().map(|s| s.len()).collect();
    let equation = Equation::new(l.attrs().text("equation"), &ranks)?;
    let sizes = equation.sizes(&shapes)?;
    // Elements of the longest sum.
    let summed = sizes.iter().filter(|(label, _)| !equation.result.contains(label)).map(|&(_, size)| size);
    let places = summed.fold(1, usize::saturating_mul);
    let value = exact::multiplied(l, &operands, acc, (operands.len(), places), |l, v| reduced(l, v, &equation, &sizes))?;
    let value = l.cast(value, out)?;
    // What only stretched axes name is of size 1 by now.
    let dims = l.out_dims(0);
    Ok(vec![l.reshape(value, &dims)])
}

/// The product of operands, summed, with the axes of the result.
fn reduced(l: &mut Lower, operands: &[Val], equation: &Equation, sizes: &[(Label, usize)]) -> Result<Val> {
    let terms = operands.iter().zip(&equation.operands).map(|(&v, labels)| Term::new(l, v, labels, sizes));
    let mut terms: Vec<Term> = terms.collect();
    while terms.len() > 1 {
        let (i, j) = cheapest(&terms, sizes, &equation.result);
        let (second, first) = (terms.remove(j), terms.remove(i));
        let product = first.times(l, second, sizes, |label| {
            equation.result.contains(&label) || terms.iter().any(|t| t.labels.contains(&label))
        })?;
        terms.push(product);
    }
    let last = terms
        .pop()
        .ok_or_else(|| Error::internal("einsum: no operand"))?
        .summed(l, |label| equation.result.contains(&label));
    Ok(last.ordered(l, &equation.result))
}

#[rustfmt::skip]
pub const ROWS: &[OpDef] = &[
    OpDef { name: "einsum", form: Form::Function, operands: &[tensor("tensors")], variadic: true, attrs: &[arg("equation", AttrKind::Text)], shape: einsum_shape, lower: Lowering::Graph(einsum), domain: Domain::Special,
        dtype: DTypeRule::new(Class::Numeric, Compute::Sum, Out::Compute),
        errors: &[
            ErrorCase { call: "ft.einsum('ij,jk->ik', ft.zeros([2, 3]))", code: Code::Argument },
            ErrorCase { call: "ft.einsum('ij->ik', ft.zeros([2, 3]))", code: Code::Argument },
            ErrorCase { call: "ft.einsum('ij->ii', ft.zeros([2, 3]))", code: Code::Argument },
            ErrorCase { call: "ft.einsum('i1->i', ft.zeros([2, 3]))", code: Code::Argument },
            ErrorCase { call: "ft.einsum('i', ft.zeros([2, 3]))", code: Code::Argument },
            ErrorCase { call: "ft.einsum('i,i', ft.zeros([2]), ft.zeros([3]))", code: Code::Shape },
            ErrorCase { call: "ft.einsum('ii->i', ft.zeros([1, 3]))", code: Code::Shape },
        ],
        doc: doc("Einstein summation: axes of one label run together, labels that the result does not name are summed over, a label twice in one operand is its diagonal, '...' stands for further axes, which broadcast. Without '->' the result names the labels that stand once, in alphabetical order. Operands are multiplied in pairs, those first whose product is small. Small integers give 32 bits, as in sum; a result that its dtype does not hold is a DTypeError when it is read.", "out_ik = sum_j x1_ij x2_jk for 'ij,jk->ik'", "ft.einsum('ij,jk->ik', ft.tensor([[1, 2], [3, 4]]), ft.tensor([[1, 0], [1, 1]])) // [[3, 2], [7, 4]]", "einsum", "einsum"), ..BASE },
];
