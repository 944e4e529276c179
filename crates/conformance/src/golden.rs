//! NumPy's and PyTorch's answers (golden/golden.txt.gz, written by golden/make.py; golden/records.py documents the format) against
//! the reference executor: what checks everything else is checked by something that shares no code with it.

use crate::Check;
use crate::bounds::Bound;
use crate::case::{Case, Operand, Placement};
use crate::compare::{same_bits, spacing, within};
use crate::executor::Known;
use ferrotensor_core::reference::{Array, Scalar};
use ferrotensor_core::{Code, DType, Error, promotion};
use ferrotensor_ops::def::Form;
use ferrotensor_ops::dtype_rule::Arg;
use std::collections::BTreeMap;
use std::io::Read;
use std::sync::OnceLock;

const PACKED: &[u8] = include_bytes!("../golden/golden.txt.gz");

/// How close an expected output is.
#[derive(Clone, Copy, Debug)]
enum Tolerance {
    /// Zeros have their signs.
    Ulps(f64),
    /// Zeros of both signs count as equal.
    UnsignedUlps(f64),
    /// As the first, and each part of a complex number in its own units.
    PartUlps(f64),
    Absolute(f64),
}

/// A call with NumPy's answers.
pub struct Golden {
    /// Where it stands in the file.
    pub line: usize,
    /// The call.
    pub case: Case,
    outputs: Vec<(Array, Tolerance)>,
    /// It names a position out of range.
    fails: bool,
    /// Of each output, where PyTorch's gradients are the answers (see golden/gradients.py).
    pub cotangents: Vec<Option<Array>>,
    /// Of each operand: unknown, zeros, or these.
    pub gradients: Vec<Option<Option<Array>>>,
    /// What the gradients are weighed with, and the gradients of their sum, as far as they are known.
    pub weights: Vec<Option<Option<Array>>>,
    /// See there.
    pub seconds: Vec<Option<Option<Array>>>,
}

/// One test for each row, one for promotion, and one that fails when a public row has no answers.
pub fn trials() -> Vec<(String, Check)> {
    let rows = match answers() {
        Ok(rows) => rows,
        Err(e) => return vec![("golden/format".into(), Box::new(move || Err(e)))],
    };
    let mut out: Vec<(String, Check)> = rows
        .iter()
        .map(|(name, goldens)| -> (String, Check) { (format!("golden/{name}"), Box::new(move || check_all(goldens))) })
        .collect();
    out.push(("golden/promotion".into(), Box::new(check_promotion)));
    out.push((
        "golden/every public row has answers".into(),
        Box::new(move || {
            let public = ferrotensor_ops::OPS.iter().filter(|op| op.form != Form::Internal).map(|op| op.path().into_owned());
            let missing: Vec<String> = public.filter(|name| !rows.contains_key(name)).collect();
            if missing.is_empty() { Ok(()) } else { Err(format!("golden/make.py has no case for {}", missing.join(", "))) }
        }),
    ));
    out
}

fn check_all(goldens: &[Golden]) -> Result<(), String> {
    let failures: Vec<String> =
        goldens.iter().filter_map(|g| check(g).err().map(|e| format!("line {}: {e}", g.line))).collect();
    match failures.len() {
        0 => Ok(()),
        n => Err(format!("{n} of {} answers\n  {}", goldens.len(), failures[..n.min(5)].join("\n  "))),
    }
}

impl Golden {
    /// Whether an operand or a result is of such a dtype.
    pub fn is_of(&self, named: &dyn Fn(DType) -> bool) -> bool {
        let operand = |v: &Operand| matches!(v, Operand::Tensor { logical, .. } if named(logical.dtype()));
        self.case.operands.iter().any(operand) || self.outputs.iter().any(|(array, _)| named(array.dtype()))
    }

    /// All that it says, as text: what a mutant is judged by.
    pub fn text(&self) -> String {
        let Case { operands, words, numbers, .. } = &self.case;
        format!("{operands:?}{words:?}{numbers:?}{:?}{}", self.outputs, self.fails)
    }

    /// Whether results pass as the answers.
    pub fn accepts(&self, results: &[Result<Known, Error>]) -> bool {
        compare(self, results).is_ok()
    }
}

fn check(golden: &Golden) -> Result<(), String> {
    let (graph, outputs) = golden.case.lower().map_err(|e| e.to_string())?;
    compare(golden, &golden.case.evaluate(&graph, &outputs).map_err(|e| e.to_string())?)
}

fn compare(golden: &Golden, results: &[Result<Known, Error>]) -> Result<(), String> {
    if golden.fails {
        let failed = results.iter().all(|r| r.as_ref().is_err_and(|e| matches!(e.code, Code::Index | Code::DType)));
        return if failed { Ok(()) } else { Err("what fails by NumPy, or is beyond its dtype, has a value".into()) };
    }
    if results.len() != golden.outputs.len() {
        return Err(format!("{} outputs instead of {}", results.len(), golden.outputs.len()));
    }
    for (n, (result, (wanted, tolerance))) in results.iter().zip(&golden.outputs).enumerate() {
        let got = &result.as_ref().map_err(|e| e.to_string())?.array;
        if got.dtype() != wanted.dtype() || got.dims() != wanted.dims() {
            let types = (got.dtype(), got.dims(), wanted.dtype(), wanted.dims());
            return Err(format!("output {n} is {} {:?}, NumPy gives {} {:?}", types.0, types.1, types.2, types.3));
        }
        let errors = |x: f64| match tolerance {
            Tolerance::Ulps(n) | Tolerance::UnsignedUlps(n) | Tolerance::PartUlps(n) => n * spacing(wanted.dtype(), x),
            Tolerance::Absolute(e) => *e,
        };
        match tolerance {
            Tolerance::Ulps(0.0) => same_bits(wanted.dtype(), got.bytes(), wanted.bytes())?,
            _ => {
                let array = if matches!(tolerance, Tolerance::PartUlps(_)) { parts(wanted)? } else { wanted.clone() };
                let errors = array.scalars().map(|x| errors(size(x))).collect();
                within(got.bytes(), &Known { array, bound: Bound::Absolute(errors) }).map(drop)?;
                if matches!(tolerance, Tolerance::Ulps(_) | Tolerance::PartUlps(_)) {
                    same_zeros(got, wanted)?;
                }
            }
        }
    }
    Ok(())
}

/// A complex array as one of its parts.
fn parts(array: &Array) -> Result<Array, String> {
    let real = array.dtype().info().real;
    Array::new(real, &[array.bytes().len() / real.bytes()], array.bytes().to_vec()).map_err(|e| e.message)
}

/// Whether the zeros of both have the same signs.
fn same_zeros(got: &Array, wanted: &Array) -> Result<(), String> {
    let zeros = |x: Scalar| [x.real().hi, x.imaginary().hi].map(|p| (p == 0.0).then_some(p.is_sign_negative()));
    let other = |(a, b): (Scalar, Scalar)| zeros(a).iter().zip(zeros(b)).any(|(a, b)| a.is_some() && b.is_some() && *a != b);
    match got.scalars().zip(wanted.scalars()).position(other) {
        None => Ok(()),
        Some(i) => Err(format!("element {i} is {:?}, should be {:?}: a zero of the other sign", got.get(i), wanted.get(i))),
    }
}

/// The size that errors are counted by: of a complex number that of its larger finite part.
fn size(x: Scalar) -> f64 {
    match x {
        Scalar::Complex(re, im) => {
            [re.hi, im.hi].into_iter().filter(|p| p.is_finite()).fold(0.0, |a, p| f64::max(a, p.abs()))
        }
        x => x.real().hi,
    }
}

fn check_promotion() -> Result<(), String> {
    let mut count = 0;
    for line in unpacked(PACKED)?.lines() {
        let Some([a, b, c]) =
            line.strip_prefix("promote ").and_then(|l| <[&str; 3]>::try_from(l.split(' ').collect::<Vec<_>>()).ok())
        else {
            continue;
        };
        let dtype = |name: &str| DType::from_name(name).ok_or_else(|| format!("unknown dtype {name}"));
        let got = promotion::promote(dtype(a)?, dtype(b)?).map_or("!", DType::name);
        if got != c {
            return Err(format!("{a} and {b} promote to {got}, NumPy and the array API say {c}"));
        }
        count += 1;
    }
    if count < 100 { Err(format!("only {count} pairs were compared")) } else { Ok(()) }
}

/// Every call that has answers, by row.
///
/// # Errors
/// A sentence for a line that is no record.
pub fn answers() -> Result<&'static BTreeMap<String, Vec<Golden>>, String> {
    static ANSWERS: OnceLock<Result<BTreeMap<String, Vec<Golden>>, String>> = OnceLock::new();
    let read = || {
        let mut rows: BTreeMap<String, Vec<Golden>> = BTreeMap::new();
        for golden in records("golden", &unpacked(PACKED)?)? {
            rows.entry(golden.case.op.path().into_owned()).or_default().push(golden);
        }
        Ok(rows)
    };
    ANSWERS.get_or_init(read).as_ref().map_err(Clone::clone)
}

/// The text of a packed file.
///
/// # Errors
/// A sentence for bytes that are not packed.
pub fn unpacked(packed: &[u8]) -> Result<String, String> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).map_err(|e| format!("golden answers: {e}"))?;
    Ok(text)
}

/// The calls of a file of this name and text.
///
/// # Errors
/// As [`answers`].
pub fn records(file: &str, text: &str) -> Result<Vec<Golden>, String> {
    let mut arrays: Vec<Array> = Vec::new();
    let mut out: Vec<Golden> = Vec::new();
    for (n, text) in text.lines().enumerate() {
        let at = |e: &str| format!("{file}.txt line {}: {e}", n + 1);
        let fields: Vec<&str> = text.split(' ').collect();
        let known = |field: &str, arrays: &[Array]| {
            field.parse().ok().and_then(|i: usize| arrays.get(i)).cloned().ok_or_else(|| at("unknown array"))
        };
        match (&fields[..], out.last_mut()) {
            (["array", dtype, dims, hex], _) => arrays.push(array(dtype, dims, hex).map_err(|e| at(&e))?),
            (["case", name, words, numbers], _) => {
                let op = ferrotensor_ops::find(name).ok_or_else(|| at("unknown row"))?;
                let list = |text: &str| -> Result<Vec<f64>, String> {
                    if text == "-" {
                        Ok(vec![])
                    } else {
                        text.split(',').map(|w| w.parse().map_err(|_| at("bad number"))).collect()
                    }
                };
                let case = Case {
                    op,
                    operands: vec![],
                    words: list(words)?,
                    numbers: list(numbers)?,
                    device_word: None,
                    axes: vec![],
                };
                out.push(Golden {
                    line: n + 1,
                    case,
                    outputs: vec![],
                    fails: false,
                    cotangents: vec![],
                    gradients: vec![],
                    weights: vec![],
                    seconds: vec![],
                });
            }
            (["in", i], Some(golden)) => {
                let array = known(i, &arrays)?;
                let dims = array.dims().to_vec();
                golden.case.operands.push(Operand::tensor(array, Placement::Contiguous, &dims).map_err(|e| at(&e.message))?);
            }
            (["weak", kind, value], Some(golden)) => {
                golden.case.operands.push(weak(kind, value).ok_or_else(|| at("bad scalar"))?)
            }
            (["absent"], Some(golden)) => golden.case.operands.push(Operand::Absent),
            (["out", i, tolerance], Some(golden)) => {
                let number = |t: &str| t.parse().map_err(|_| at("bad tolerance"));
                let tolerance =
                    match (tolerance.strip_prefix("abs:"), tolerance.strip_suffix('~'), tolerance.strip_suffix('|')) {
                        (Some(t), ..) => Tolerance::Absolute(number(t)?),
                        (_, Some(t), _) => Tolerance::UnsignedUlps(number(t)?),
                        (.., Some(t)) => Tolerance::PartUlps(number(t)?),
                        _ => Tolerance::Ulps(number(tolerance)?),
                    };
                golden.outputs.push((known(i, &arrays)?, tolerance));
            }
            (["fails"], Some(golden)) => golden.fails = true,
            (["cot", i], Some(golden)) => golden.cotangents.push(if *i == "-" { None } else { Some(known(i, &arrays)?) }),
            ([kind @ ("grad" | "weight" | "second"), i], Some(golden)) => {
                let found = match *i {
                    "?" => None,
                    "-" => Some(None),
                    i => Some(Some(known(i, &arrays)?)),
                };
                match *kind {
                    "grad" => golden.gradients.push(found),
                    "weight" => golden.weights.push(found),
                    _ => golden.seconds.push(found),
                }
            }
            (["promote", ..], _) => {}
            _ => return Err(at("unknown record")),
        }
    }
    Ok(out)
}

fn weak(kind: &str, value: &str) -> Option<Operand> {
    Some(match kind {
        "number" => Operand::Weak(Arg::Number, value.parse::<f64>().ok()?.to_bits()),
        "bigint" => Operand::Weak(Arg::BigInt, value.parse::<i64>().ok()? as u64),
        "boolean" => Operand::Weak(Arg::Boolean, value.parse::<f64>().ok()?.to_bits()),
        _ => return None,
    })
}

fn array(dtype: &str, dims: &str, hex: &str) -> Result<Array, String> {
    let dtype = DType::from_name(dtype).ok_or("unknown dtype")?;
    let dims: Vec<usize> = match dims {
        "." => vec![],
        _ => dims.split('x').map(|d| d.parse().map_err(|_| "bad shape".to_string())).collect::<Result<_, _>>()?,
    };
    let hex = if hex == "-" { "" } else { hex };
    let byte =
        |pair: &[u8]| std::str::from_utf8(pair).ok().and_then(|p| u8::from_str_radix(p, 16).ok()).ok_or("bad hexadecimal");
    let bytes = hex.as_bytes().chunks(2).map(byte).collect::<Result<Vec<u8>, _>>()?;
    Array::new(dtype, &dims, bytes).map_err(|e| e.message)
}
