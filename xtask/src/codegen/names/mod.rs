//! Names of NumPy and PyTorch: which functions and methods they are here, and what those say that are none. Written are
//! `lib/generated/names/`, a file for each namespace and one for methods, and `docs/names.md`.
//!
//! Most names follow from the columns `numpy` and `torch` of the table of operations; [`same`] and [`instead`] have the others, and
//! come first where both speak of a name.

mod instead;
mod render;
mod same;

use ferrotensor_ops::OpDef;
use ferrotensor_ops::def::{Form, Namespace};
use instead::INSTEAD;
use same::SAME;

pub use render::render;

/// Where a name is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the root namespace, and as a method of tensors.
    Both,
    /// In a namespace: `""` is the root.
    Function(&'static str),
    /// A method of tensors.
    Method,
}

/// Groups of names with a word or a sentence for each, by the place they are looked for.
type Names = [(Place, &'static [(&'static str, &'static str)])];

/// Names written by hand, since their arguments stand otherwise than ours, each with what it is here: `lib/arrays/numpy.ts`, `lib/arrays/pytorch.ts`,
/// `lib/fft/fft.ts`, `lib/arrays` and, of methods, `lib/tensor/named.ts` and `lib/tensor/composed.ts`.
const WRITTEN: &Names = &[
    (
        Place::Both,
        &[
            ("adjoint", "x.mT.conj()"),
            ("bucketize", "ft.searchsorted(boundaries, x)"),
            ("clamp", "x.clip(min, max), with bounds by name too"),
            ("cummax", "x.cumulativeMax(axis), and where each stands"),
            ("cummin", "x.cumulativeMin(axis), and where each stands"),
            ("dot", "a.matmul(b) of vectors and matrices"),
            ("expand", "x.broadcastTo(shape), where -1 keeps a size"),
            ("gather", "x.takeAlongAxis(indices, axis)"),
            ("indexAdd", "x.scatterAdd(index, source, axis)"),
            ("indexCopy", "x.scatter(index, source, axis)"),
            ("indexSelect", "x.take(indices, axis)"),
            ("isComplex", "ft.isdtype(x.dtype, 'complex floating')"),
            ("isFloatingPoint", "ft.isdtype(x.dtype, 'real floating')"),
            ("maskedFill", "ft.where(mask, value, x)"),
            ("maskedSelect", "x.at(mask)"),
            ("narrow", "x.at(ft.slice(start, start + length))"),
            ("norm", "ft.linalg.vectorNorm(x), ft.linalg.matrixNorm(x)"),
            ("numel", "x.size"),
            ("partition", "x.sort(axis)"),
            ("permute", "x.permuteDims(axes)"),
            ("scatterReduce", "x.putAlongAxis(index, source, { axis, update })"),
            ("select", "x.at(index) along an axis; NumPy's of conditions and choices"),
            ("t", "x.T"),
            ("transpose", "x.permuteDims(axes), x.swapaxes(a, b)"),
            ("unique", "ft.uniqueValues(x), ft.uniqueAll(x)"),
            ("vdot", "ft.vecdot(a.flatten(), b.flatten())"),
            ("view", "x.reshape(shape), x.bitcast(dtype)"),
        ],
    ),
    (
        Place::Function(""),
        &[
            ("dsplit", "ft.split(x, n, 2)"),
            ("flatnonzero", "ft.nonzero(x.flatten())[0]"),
            ("hsplit", "ft.split(x, n, 1)"),
            ("isTensor", "x instanceof ft.Tensor"),
            ("ndim", "x.ndim"),
            ("shape", "x.shape"),
            ("size", "x.size"),
            ("vsplit", "ft.split(x, n, 0)"),
        ],
    ),
    (
        Place::Method,
        &[
            ("H", "x.T.conj()"),
            ("bfloat16", "x.astype('bfloat16')"),
            ("bincount", "ft.bincount(x, options)"),
            ("bool", "x.astype('bool')"),
            ("byte", "x.astype('uint8')"),
            ("char", "x.astype('int8')"),
            ("cholesky", "ft.linalg.cholesky(x)"),
            ("chunk", "ft.chunk(x, n, axis)"),
            ("cpu", "x.to('cpu')"),
            ("det", "ft.linalg.det(x)"),
            ("detach", "ft.stopGradient(x)"),
            ("dim", "x.ndim"),
            ("double", "x.astype('float64')"),
            ("elementSize", "x.itemsize"),
            ("expandAs", "x.broadcastTo(y.shape)"),
            ("float", "x.astype('float32')"),
            ("half", "x.astype('float16')"),
            ("int", "x.astype('int32')"),
            ("inverse", "ft.linalg.inv(x)"),
            ("itemsize", "bytes of an element"),
            ("long", "x.astype('int64')"),
            ("mH", "x.mT.conj()"),
            ("matrixExp", "ft.linalg.expm(x)"),
            ("matrixPower", "ft.linalg.matrixPower(x, n)"),
            ("nbytes", "bytes of all elements"),
            ("newFull", "ft.full(shape, value, { dtype: x.dtype, device: x.device })"),
            ("newOnes", "ft.ones(shape, { dtype: x.dtype, device: x.device })"),
            ("newTensor", "ft.tensor(data, { dtype: x.dtype, device: x.device })"),
            ("newZeros", "ft.zeros(shape, { dtype: x.dtype, device: x.device })"),
            ("pinverse", "ft.linalg.pinv(x)"),
            ("qr", "ft.linalg.qr(x)"),
            ("reshapeAs", "x.reshape(y.shape)"),
            ("short", "x.astype('int16')"),
            ("slogdet", "ft.linalg.slogdet(x)"),
            ("tensorSplit", "ft.arraySplit(x, n, axis)"),
            ("typeAs", "x.astype(y.dtype)"),
            ("unbind", "ft.unstack(x, axis)"),
            ("viewAs", "x.reshape(y.shape)"),
            ("where", "ft.where(condition, x, other)"),
        ],
    ),
    (
        Place::Function("fft"),
        &[
            ("fft2", "ft.fft.fftn(x, { axes: [-2, -1] })"),
            ("ifft2", "ft.fft.ifftn(x, { axes: [-2, -1] })"),
            ("irfft2", "ft.fft.irfftn(x, { axes: [-2, -1] })"),
            ("rfft2", "ft.fft.rfftn(x, { axes: [-2, -1] })"),
        ],
    ),
    (Place::Function("linalg"), &[("norm", "ft.linalg.vectorNorm(x), ft.linalg.matrixNorm(x)")]),
];

/// What tensors have beside rows and names of others.
const OWN: &[&str] = &["T", "mT", "at", "data", "device", "dtype", "item", "ndim", "shape", "share", "size", "to"];

/// A name and what it is here.
pub struct Same {
    pub name: String,
    /// A row's path, or a name, `@` and its module below `lib/`.
    pub target: String,
}

/// A name and the sentence that calls of it throw.
pub struct Instead {
    pub name: &'static str,
    pub words: &'static str,
}

/// Whether a name at `place` is one of `space`; `None` for methods.
fn is_in(place: Place, space: Option<&str>) -> bool {
    match place {
        Place::Both => space.is_none_or(str::is_empty),
        Place::Function(own) => space == Some(own),
        Place::Method => space.is_none(),
    }
}

/// The pairs of a table that are names of `space`.
fn of(table: &Names, space: Option<&str>) -> Vec<(&'static str, &'static str)> {
    table.iter().filter(|(place, _)| is_in(*place, space)).flat_map(|(_, pairs)| pairs.iter().copied()).collect()
}

/// Names that throw, of a namespace or of tensors.
pub fn instead(space: Option<&str>) -> Vec<Instead> {
    let groups = of(INSTEAD, space).into_iter();
    groups.flat_map(|(names, words)| names.split(' ').map(move |name| Instead { name, words })).collect()
}

/// Names written by hand, each with what it is here.
pub fn written(space: Option<&str>) -> Vec<(&'static str, &'static str)> {
    of(WRITTEN, space)
}

/// Names that are the same as one of ours, in alphabetical order.
pub fn same(space: Option<&str>) -> Vec<Same> {
    let mut all: Vec<Same> =
        of(SAME, space).into_iter().map(|(name, target)| Same { name: name.into(), target: target.into() }).collect();
    let others: Vec<&str> =
        instead(space).iter().map(|i| i.name).chain(written(space).iter().map(|(name, _)| *name)).collect();
    for op in public() {
        for column in [op.doc.numpy, op.doc.torch] {
            let Some(name) = named_in(op, column, space) else { continue };
            let known = others.contains(&name.as_str()) || all.iter().any(|s| s.name == name) || is_ours(&name, space);
            if !known {
                all.push(Same { name, target: op.path().into_owned() });
            }
        }
    }
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Names that are the same as a row, as users write them.
pub fn of_row(op: &OpDef) -> Vec<String> {
    let spaces = render::SPACES.iter().map(|(space, ..)| Some(*space));
    let mut names: Vec<String> = spaces
        .chain([None])
        .flat_map(|space| {
            let own = same(space).into_iter().filter(|s| s.target == op.path() && s.name != op.name);
            own.map(move |s| match space {
                None | Some("") => s.name,
                Some(space) => format!("ft.{space}.{}", s.name),
            })
            .collect::<Vec<_>>()
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The name that a column of a row says for a space.
fn named_in(op: &OpDef, column: &str, space: Option<&str>) -> Option<String> {
    let method = space.is_none();
    let (prefix, name) = column.rsplit_once('.').unwrap_or(("", column));
    let there = if prefix == "nn.functional" { "nn" } else { prefix };
    if there != space.unwrap_or("") || method && (op.form != Form::Both || op.namespace != Namespace::Root) {
        return None;
    }
    let plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    plain.then(|| camel(name))
}

/// Whether something of ours has the name already.
fn is_ours(name: &str, space: Option<&str>) -> bool {
    let in_space = |op: &&OpDef, space: &str| op.namespace.path() == space || op.also.iter().any(|s| s.path() == space);
    let called = |op: &&OpDef| op.name == name || op.aliases.contains(&name);
    match space {
        Some(space) => {
            space.is_empty() && ["mT", "to"].contains(&name) || public().any(|op| in_space(&op, space) && called(&op))
        }
        None => OWN.contains(&name) || public().any(|op| op.form == Form::Both && called(&op)),
    }
}

fn public() -> impl Iterator<Item = &'static OpDef> {
    ferrotensor_ops::OPS.iter().filter(|op| op.form != Form::Internal)
}

/// `index_select` as `indexSelect`.
fn camel(name: &str) -> String {
    let mut out = String::new();
    for (i, part) in name.split('_').enumerate() {
        let mut chars = part.chars();
        match chars.next() {
            Some(first) if i > 0 => out.push(first.to_ascii_uppercase()),
            Some(first) => out.push(first),
            None => {}
        }
        out.push_str(chars.as_str());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Option<&str>; 11] = [
        None,
        Some(""),
        Some("linalg"),
        Some("fft"),
        Some("random"),
        Some("nn"),
        Some("nn.init"),
        Some("optim"),
        Some("special"),
        Some("data"),
        Some("io"),
    ];

    #[test]
    fn a_name_means_one_thing() {
        for space in ALL {
            let mut names: Vec<String> = same(space).into_iter().map(|s| s.name).collect();
            names.extend(instead(space).iter().map(|i| i.name.to_string()));
            names.extend(written(space).iter().map(|(name, _)| name.to_string()));
            for name in &names {
                assert_eq!(names.iter().filter(|n| *n == name).count(), 1, "{space:?} {name}");
                assert!(!is_ours(name, space), "{space:?} {name} is a row");
            }
        }
    }

    #[test]
    fn names_follow_from_the_columns() {
        let target = |space, name: &str| same(space).into_iter().find(|s| s.name == name).map(|s| s.target);
        assert_eq!(target(Some(""), "cumsum").as_deref(), Some("cumulativeSum"));
        assert_eq!(target(None, "unsqueeze").as_deref(), Some("expandDims"));
        assert_eq!(target(None, "cat"), None, "concat is no method");
        assert_eq!(target(Some("nn"), "conv2d").as_deref(), Some("nn.conv"));
        assert_eq!(target(Some("special"), "xlog1py").as_deref(), Some("xlog1py"));
        assert_eq!(target(Some(""), "equal"), None, "PyTorch's torch.equal is another function than ours");
    }
}
