//! One call and all that its derivatives are compared by.

use super::Tally;
use super::arrays::{array, dot, first_of, hermitian, numbers, random, size};
use super::comparison::{Comparison, Term};
use super::differences::difference;
use crate::case::{Case, Operand};
use crate::executor::{self, Known};
use crate::values::Rng;
use ferrotensor_core::reference::Array;
use ferrotensor_core::{Code, DType, Dims, Error, Result};
use ferrotensor_ops::attrs::Attrs;
use ferrotensor_ops::def::OpDef;
use ferrotensor_ops::gradient::{self, Facts, Gradient};
use ferrotensor_ops::graph::{Def, Graph, Val};
use ferrotensor_ops::lower::{self, Operand as Lowered};

/// A graph over the call's tensors and more inputs.
pub struct Built {
    pub graph: Graph,
    pub operands: Vec<Lowered>,
    pub attrs: Attrs,
    pub first_param: u16,
    pub inputs: Vec<Array>,
}

impl Built {
    /// The call's operands, nothing lowered yet.
    pub fn new(case: &Case) -> Result<Built> {
        let (mut graph, mut inputs, mut weak, mut operands) = (Graph::default(), Vec::new(), 0, Vec::new());
        for operand in &case.operands {
            operands.push(match operand {
                Operand::Tensor { logical, .. } => Lowered::Val(input(&mut graph, &mut inputs, logical.clone())),
                Operand::Weak(kind, _) => {
                    weak += 1;
                    Lowered::Weak(weak - 1, *kind)
                }
                Operand::Absent => Lowered::Absent,
            });
        }
        Ok(Built { graph, operands, attrs: Attrs::decode(case.op, &case.words)?, first_param: weak, inputs })
    }

    /// The operands that have derivatives.
    pub fn wrt(&self) -> Vec<Option<Val>> {
        let float = |v: Val| matches!(self.graph.dtype(v), DType::F64 | DType::C128);
        let val = |o: &Lowered| if let Lowered::Val(v) = o { Some(*v).filter(|&v| float(v)) } else { None };
        self.operands.iter().map(val).collect()
    }

    /// Values of the graph for inputs.
    pub fn run(&self, inputs: &[Array], params: &[u64], wanted: &[Val]) -> Result<Vec<Array>> {
        run(&self.graph, inputs, params, wanted)
    }
}

fn run(graph: &Graph, inputs: &[Array], params: &[u64], wanted: &[Val]) -> Result<Vec<Array>> {
    let known: Vec<Known> = inputs.iter().cloned().map(Known::exact).collect();
    let values = executor::unbounded(graph, &known, params)?;
    wanted.iter().map(|v| values[v.0 as usize].clone().map(|k| k.array)).collect()
}

/// One more input.
pub fn input(graph: &mut Graph, inputs: &mut Vec<Array>, a: Array) -> Val {
    let dims: Dims = a.dims().iter().copied().collect();
    let v = graph.push(0, Def::Input(inputs.len() as u32), [(a.dtype(), dims)]);
    inputs.push(a);
    v
}

/// Which input a value is.
fn number_of(graph: &Graph, v: Val) -> Option<usize> {
    match graph.nodes[graph.values[v.0 as usize].node as usize].def {
        Def::Input(n) => Some(n as usize),
        _ => None,
    }
}

/// An error with its code.
pub fn told(e: Error) -> String {
    format!("{:?}: {e}", e.code)
}

/// What is compared.
#[derive(Clone, Copy, PartialEq)]
pub enum How {
    /// Gradient, tangent, and the gradient's gradient.
    Whole,
    /// The gradient that is given results whose last digits are those of another computation.
    Elsewhere,
}

/// A call whose operands move in a direction, and whose results are weighed.
pub struct Trial<'a> {
    case: &'a Case,
    params: Vec<u64>,
    built: Built,
    /// The call alone, and its results.
    pub plain: Graph,
    pub outputs: Vec<Val>,
    /// How many inputs it has.
    operands: usize,
    pub wrt: Vec<Option<Val>>,
    values: Vec<Array>,
    /// The results as inputs, as a gradient is given them.
    known: Vec<Val>,
    /// A cotangent of each differentiable result, and its elements; zeros in no place of the others.
    cotangents: Vec<Option<Val>>,
    weights: Vec<Array>,
    /// By number of input.
    directions: Vec<(usize, Array)>,
    tangents: Vec<Option<Val>>,
}

/// Compares the derivatives of a call with differences; `right` is shown those that are right.
///
/// # Errors
/// A sentence that says which derivative is wrong.
pub fn check(case: &Case, tally: &mut Tally, how: How, right: &mut dyn FnMut(&Comparison)) -> Result<(), String> {
    if matches!(case.op.gradient, Gradient::None(_)) {
        return Ok(());
    }
    let mut rng = Rng::named(&case.to_string());
    let Some(mut trial) = Trial::new(case, &mut rng, how).map_err(told)? else { return Ok(()) };
    let start = trial.built.graph.nodes.len();
    let first = trial.vjp(&trial.cotangents.clone()).map_err(told)?;
    trial.fits(&first)?;
    let backwards = trial.backwards(&first)?;
    if !backwards.judged()? {
        tally.undefined += 1;
        return Ok(());
    }
    tally.first += 1;
    right(&backwards);
    let forwards = trial.forwards(&backwards)?;
    if forwards.judged()? {
        right(&forwards);
    }
    if how != How::Whole {
        return Ok(());
    }
    if let Some(second) = trial.second_order(start, &first, &mut rng)?
        && second.judged()?
    {
        tally.second += 1;
        right(&second);
    }
    Ok(())
}

impl<'a> Trial<'a> {
    /// Nothing for a call that has nothing to differentiate, fails, or computes in fewer digits than differences need.
    pub fn new(case: &'a Case, rng: &mut Rng, how: How) -> Result<Option<Trial<'a>>> {
        let mut built = Built::new(case)?;
        let wrt = built.wrt();
        let (params, operands) = (case.params(), built.inputs.len());
        let Built { graph, operands: lowered, attrs, first_param, .. } = &mut built;
        let outputs = lower::lower(graph, case.op, lowered, attrs, *first_param)?;
        let plain = built.graph.clone();
        let narrow = |d: DType| matches!(d, DType::F16 | DType::BF16 | DType::F32 | DType::C64);
        if wrt.iter().all(Option::is_none) || plain.values.iter().any(|v| narrow(v.dtype)) {
            return Ok(None);
        }
        let values = match built.run(&built.inputs, &params, &outputs) {
            Ok(values) => values,
            Err(e) if e.code == Code::Internal => return Err(e),
            Err(_) => return Ok(None),
        };
        let (mut known, mut cotangents, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for a in &values {
            let mut weight = if numbers(a).is_some() { Some(random(a.dtype(), a.dims(), rng)?) } else { None };
            if let (Some(w), Some(keep)) = (&weight, spanned(case, weights.len())) {
                weight = Some(first_of(w, keep)?);
            }
            let given = match (how, numbers(a)) {
                (How::Elsewhere, Some(x)) => {
                    let x: Vec<f64> = x.iter().map(|v| v * (1.0 + 8.0 * f64::EPSILON)).collect();
                    array(a.dtype(), a.dims(), &x)?
                }
                _ => a.clone(),
            };
            known.push(input(&mut built.graph, &mut built.inputs, given));
            cotangents.push(weight.clone().map(|w| input(&mut built.graph, &mut built.inputs, w)));
            weights.push(weight.unwrap_or_else(|| a.clone()));
        }
        if cotangents.iter().all(Option::is_none) {
            return Ok(None);
        }
        let (mut directions, mut tangents) = (Vec::new(), Vec::new());
        for v in &wrt {
            let Some((v, n)) = v.and_then(|v| Some((v, number_of(&built.graph, v)?))) else {
                tangents.push(None);
                continue;
            };
            let mut d = random(built.graph.dtype(v), &built.graph.dims(v).clone(), rng)?;
            if reads_triangle(case.op) {
                d = hermitian(&d)?;
            }
            directions.push((n, d.clone()));
            tangents.push(Some(input(&mut built.graph, &mut built.inputs, d)));
        }
        let (known, built) = (known, built);
        Ok(Some(Trial {
            case,
            params,
            built,
            plain,
            outputs,
            operands,
            wrt,
            values,
            known,
            cotangents,
            weights,
            directions,
            tangents,
        }))
    }

    fn vjp(&mut self, cotangents: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let asked: Vec<bool> = self.wrt.iter().map(Option::is_some).collect();
        let Built { graph, operands, attrs, first_param, .. } = &mut self.built;
        gradient::vjp(graph, self.case.op, operands, attrs, *first_param, &self.known, cotangents, &asked)
    }

    /// What the walk gives, without the row's own rules, for another graph of the call, whose inputs are these.
    ///
    /// # Errors
    /// Those of the walk.
    pub fn walked(
        &self,
        mut graph: Graph,
        mut inputs: Vec<Array>,
        outputs: &[Val],
        should: Option<f64>,
    ) -> Result<Comparison> {
        let mut seeds = Vec::new();
        for (n, &v) in outputs.iter().enumerate().filter(|(n, _)| self.cotangents[*n].is_some()) {
            seeds.push((v, input(&mut graph, &mut inputs, self.weights[n].clone())));
        }
        let values: Vec<Val> = self.wrt.iter().flatten().copied().collect();
        let facts = Facts::of(self.case.op, &self.built.attrs);
        let mut found = gradient::walk(&mut graph, self.case.op.id(), 0, &seeds, &values, facts)?.into_iter();
        let found: Vec<Option<Val>> = self.wrt.iter().map(|v| v.and_then(|_| found.next().flatten())).collect();
        let wanted: Vec<Val> = found.iter().flatten().copied().collect();
        let values = run(&graph, &inputs, &self.params, &wanted)?;
        self.compared("walk", &found, values, should)
    }

    /// The operands, as inputs of the call alone.
    pub fn operands(&self) -> &[Array] {
        &self.built.inputs[..self.operands]
    }

    /// A value of the call alone.
    ///
    /// # Errors
    /// Its own.
    pub fn value(&self, v: Val) -> Result<Array> {
        let mut values = run(&self.plain, self.operands(), &self.params, &[v])?;
        values.pop().ok_or_else(|| Error::internal("no value"))
    }

    /// What differences of the weighed results say.
    ///
    /// # Errors
    /// Those of the call.
    pub fn should(&self) -> Result<Option<f64>> {
        let weighed = |inputs: &[Array]| Ok(dot(&self.weights, &self.results(inputs)?));
        difference(&self.built.inputs, &self.directions, &weighed)
    }

    /// Cotangents of the operands beside the derivative they should give.
    fn compared(
        &self,
        what: &'static str,
        found: &[Option<Val>],
        values: Vec<Array>,
        should: Option<f64>,
    ) -> Result<Comparison> {
        let (mut values, mut terms) = (values.into_iter(), Vec::new());
        for (n, (g, v)) in found.iter().zip(&self.wrt).enumerate() {
            let value = g.and_then(|_| values.next());
            if let Some(along) = v.and_then(|v| self.along(&self.directions, v)) {
                terms.push(Term::new(n, value, along)?);
            }
        }
        Ok(Comparison { what, terms, should, of: None, values: size(&self.weights, &self.values) })
    }

    /// That cotangents are of their operands' types.
    fn fits(&self, found: &[Option<Val>]) -> Result<(), String> {
        let graph = &self.built.graph;
        for (g, v) in found.iter().zip(&self.wrt) {
            let (Some(g), Some(v)) = (g, v) else { continue };
            if graph.dtype(*g) != graph.dtype(*v) || graph.dims(*g) != graph.dims(*v) {
                return Err(format!("a cotangent is {} {:?}", graph.dtype(*g), graph.dims(*g)));
            }
        }
        Ok(())
    }

    fn run(&self, wanted: &[Val]) -> Result<Vec<Array>, String> {
        self.built.run(&self.built.inputs, &self.params, wanted).map_err(told)
    }

    /// The results for other inputs.
    fn results(&self, inputs: &[Array]) -> Result<Vec<Array>> {
        run(&self.plain, &inputs[..self.operands], &self.params, &self.outputs)
    }

    /// The direction of an input.
    fn along(&self, directions: &[(usize, Array)], v: Val) -> Option<Array> {
        let at = number_of(&self.built.graph, v)?;
        directions.iter().find(|(n, _)| *n == at).map(|(_, d)| d.clone())
    }

    /// Reverse mode beside differences of the weighed results.
    fn backwards(&self, found: &[Option<Val>]) -> Result<Comparison, String> {
        let wanted: Vec<Val> = found.iter().flatten().copied().collect();
        let should = self.should().map_err(told)?;
        self.compared("vjp", found, self.run(&wanted)?, should).map_err(told)
    }

    /// Forward mode beside reverse mode.
    fn forwards(&mut self, backwards: &Comparison) -> Result<Comparison, String> {
        let Built { graph, operands, attrs, first_param, .. } = &mut self.built;
        let moves = gradient::jvp(graph, self.case.op, operands, attrs, *first_param, &self.known, &self.tangents);
        let moves = moves.map_err(|e| format!("jvp: {}", told(e)))?;
        let wanted: Vec<Val> = moves.iter().flatten().copied().collect();
        let (mut values, mut terms) = (self.run(&wanted)?.into_iter(), Vec::new());
        for (n, (moved, weight)) in moves.iter().zip(&self.weights).enumerate() {
            let value = moved.and_then(|_| values.next());
            if self.cotangents[n].is_some() {
                terms.push(Term::new(n, value, weight.clone()).map_err(told)?);
            }
        }
        let (should, of) = (Some(backwards.sum()), Some(backwards.size()));
        Ok(Comparison { what: "jvp", terms, should, of, values: 0.0 })
    }

    /// The gradient of the gradient, weighed, against differences of it: it depends on operands and cotangents, and by the results, which
    /// it is given, on the operands again.
    fn second_order(&mut self, start: usize, found: &[Option<Val>], rng: &mut Rng) -> Result<Option<Comparison>, String> {
        let firsts: Vec<Val> = found.iter().flatten().copied().collect();
        if firsts.is_empty() {
            return Ok(None);
        }
        let after = self.built.graph.clone();
        let (mut seeds, mut by) = (Vec::new(), Vec::new());
        for &g in &firsts {
            let weight = random(after.dtype(g), after.dims(g), rng).map_err(told)?;
            by.push(weight.clone());
            seeds.push((g, input(&mut self.built.graph, &mut self.built.inputs, weight)));
        }
        let operands: Vec<Val> = self.wrt.iter().flatten().copied().collect();
        let cotangents: Vec<Val> = self.cotangents.iter().flatten().copied().collect();
        let sources: Vec<Val> = [&operands[..], &cotangents, &self.known].concat();
        let facts = Facts::of(self.case.op, &self.built.attrs);
        let told = |e: Error| format!("second order: {}", told(e));
        let second =
            gradient::walk(&mut self.built.graph, self.case.op.id(), start, &seeds, &sources, facts).map_err(told)?;
        let by_results = second[sources.len() - self.known.len()..].to_vec();
        let through = if by_results.iter().any(Option::is_some) { self.vjp(&by_results).map_err(told)? } else { vec![] };

        let mut more = self.directions.clone();
        for &v in &cotangents {
            let n = number_of(&self.built.graph, v).unwrap_or(0);
            let dims = self.built.graph.dims(v).clone();
            more.push((n, random(self.built.graph.dtype(v), &dims, rng).map_err(told)?));
        }
        let by_input = second.iter().zip(&sources).filter_map(|(h, v)| Some(((*h)?, self.along(&more, *v)?)));
        let by_result = through.iter().zip(&self.wrt).filter_map(|(h, v)| Some(((*h)?, self.along(&more, (*v)?)?)));
        let (wanted, along): (Vec<Val>, Vec<Array>) = by_input.chain(by_result).unzip();
        let slopes = self.run(&wanted)?.into_iter().zip(along).enumerate();
        let terms = slopes.map(|(n, (slope, along))| Term::new(n, Some(slope), along));
        let terms = terms.collect::<Result<Vec<Term>>>().map_err(told)?;
        let known: Vec<usize> = self.known.iter().filter_map(|&v| number_of(&self.built.graph, v)).collect();
        let weighed = |inputs: &[Array]| -> Result<f64> {
            let mut inputs = inputs.to_vec();
            for (&n, y) in known.iter().zip(self.results(&inputs)?) {
                inputs[n] = y;
            }
            Ok(dot(&by, &run(&after, &inputs, &self.params, &firsts)?))
        };
        let should = difference(&self.built.inputs, &more, &weighed).map_err(told)?;
        let values = weighed(&self.built.inputs).map_err(told)?.abs();
        Ok(Some(Comparison { what: "second order", terms, should, of: None, values }))
    }
}

/// Rows that read one triangle of a matrix and mean a symmetric (Hermitian) one: their gradients, as PyTorch's, are those of the whole.
fn reads_triangle(op: &OpDef) -> bool {
    ["cholesky", "eigh", "eigvalsh"].contains(&op.name)
}

/// Of singular vectors beyond the values, which span what is left and have no derivative: the axis of the vectors from behind, and how
/// many have one.
fn spanned(case: &Case, output: usize) -> Option<(usize, usize)> {
    let Some(Operand::Tensor { logical, .. }) = case.operands.first() else { return None };
    let axis = [Some(1), None, Some(2)].get(output).copied().flatten()?;
    let dims = logical.dims();
    let k = dims.iter().rev().take(2).copied().min()?;
    (case.op.name == "svd").then_some((axis, k))
}
