//! How a row is called from TypeScript: type parameters, parameters in order, result type, and the call that records it.

use ferrotensor_ops::OpDef;
use ferrotensor_ops::def::{AttrDef, AttrKind, EachAxis, Form, OperandDef};
use ferrotensor_ops::dtype_rule::{Class, Compute, Out};

/// Names of type parameters for the dtypes of operands.
const LETTERS: [&str; 5] = ["A", "B", "C", "F", "G"];

/// JavaScript words that cannot name a function; such a row is exported as `name_ as name`.
const RESERVED: [&str; 4] = ["var", "delete", "in", "with"];

/// One parameter of the TypeScript function.
pub struct Param {
    pub name: String,
    pub optional: bool,
    pub ty: String,
    pub doc: String,
}

/// One way of calling a row: as a method, or as a function.
pub struct Signature {
    /// `<B extends Operand>`, or nothing.
    pub generics: String,
    /// Parameters in order; a method's first operand is not among them.
    pub params: Vec<Param>,
    pub result: String,
}

/// A public row as TypeScript sees it.
pub struct Call {
    pub op: &'static OpDef,
    pub function: Signature,
    pub method: Option<Signature>,
}

impl Call {
    /// # Errors
    /// A row whose schema has no TypeScript form, in words.
    pub fn of(op: &'static OpDef) -> Result<Call, String> {
        if op.operands.len() > LETTERS.len() {
            return Err(format!("{}: more than {} operands", op.path(), LETTERS.len()));
        }
        let method = op.form == Form::Both;
        if method && (op.variadic || op.operands.is_empty()) {
            return Err(format!("{}: a method needs a first operand", op.path()));
        }
        let function = signature(op, false);
        let mut optional = false;
        for p in &function.params {
            if optional && !p.optional {
                return Err(format!("{}: required '{}' after an optional parameter", op.path(), p.name));
            }
            optional |= p.optional;
        }
        Ok(Call { op, function, method: method.then(|| signature(op, true)) })
    }

    /// The identifier of the function in generated code.
    pub fn identifier(&self) -> String {
        let name = self.op.name;
        if RESERVED.contains(&name) { format!("{name}_") } else { name.to_string() }
    }

    /// The interface of the options object, if there is one.
    pub fn options(&self) -> Option<String> {
        has_options(self.op).then(|| options_name(self.op))
    }

    /// The expression that records the call; `first` stands for operand 0.
    pub fn body(&self, first: &str) -> String {
        let op = self.op;
        let operands: Vec<&str> = op.operands.iter().enumerate().map(|(i, o)| if i == 0 { first } else { o.name }).collect();
        let plain = op.attrs.is_empty() && op.params.is_empty() && op.outputs.len() == 1 && !op.variadic;
        if plain && operands.len() == 1 {
            return format!("unary({}, {})", op.id(), operands[0]);
        }
        if plain && operands.len() == 2 && op.operands.iter().all(|o| !o.optional) {
            return format!("binary({}, {}, {})", op.id(), operands[0], operands[1]);
        }
        let value = |name: &str, positional: bool| {
            if positional { name.to_string() } else { format!("o.{name}") }
        };
        let attrs: Vec<String> = op.attrs.iter().map(|a| value(a.name, a.positional)).collect();
        let params: Vec<String> = op.params.iter().map(|p| value(p.name, p.default.is_none())).collect();
        let list =
            if op.variadic { format!("tensorList({}, {first})", op.id()) } else { format!("[{}]", operands.join(", ")) };
        let many = if op.outputs.len() > 1 { "many" } else { "one" };
        format!("{many}({}, {list}, [{}], [{}])", op.id(), attrs.join(", "), params.join(", "))
    }

    /// The statement that reads the options object into `o`, where there is one. It is the last parameter: what a caller passes
    /// behind it would be ignored (`x.sum(0, { keepdims: true })`), so it is counted.
    pub fn read_options(&self, signature: &Signature) -> Option<String> {
        has_options(self.op).then(|| {
            let names: Vec<String> = option_names(self.op).iter().map(|n| format!("'{n}'")).collect();
            let bare = if bare_axis(self.op).is_some() { ", 'axis'" } else { "" };
            let (id, names, last) = (self.op.id(), names.join(", "), signature.params.len());
            format!("const o = readOptions({id}, options, [{names}], arguments.length - {last}{bare})")
        })
    }
}

fn option_names(op: &OpDef) -> Vec<&'static str> {
    let attrs = op.attrs.iter().filter(|a| !a.positional).map(|a| a.name);
    attrs.chain(op.params.iter().filter(|p| p.default.is_some()).map(|p| p.name)).collect()
}

fn has_options(op: &OpDef) -> bool {
    !option_names(op).is_empty()
}

fn options_name(op: &OpDef) -> String {
    let mut chars = op.name.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    format!("{}{}Options", first.map(String::from).unwrap_or_default(), chars.as_str())
}

/// The attribute that may stand bare in place of the options object.
fn bare_axis(op: &OpDef) -> Option<&'static AttrDef> {
    op.attrs.iter().find(|a| a.name == "axis" && !a.positional)
}

/// The dtype attribute that names the result's dtype.
pub fn result_dtype(op: &OpDef) -> Option<&'static AttrDef> {
    let named = matches!(op.dtype.out, Out::AttrOrCompute | Out::AttrOr(_))
        || matches!(op.dtype.compute, Compute::Sum | Compute::AttrOrPromote);
    op.attrs.iter().find(|a| named && a.kind == AttrKind::OptDType)
}

/// An attribute's type in TypeScript.
pub fn attr_type(op: &OpDef, attr: &AttrDef) -> String {
    match attr.kind {
        AttrKind::Int(_) | AttrKind::Number(_) | AttrKind::OptAxis => "number".into(),
        AttrKind::Axes | AttrKind::PerAxis(_) => "number | readonly number[]".into(),
        AttrKind::Padding => "number | readonly number[] | readonly (readonly [number, number])[] | 'same' | 'valid'".into(),
        AttrKind::Widths => "number | readonly (readonly [number, number])[]".into(),
        AttrKind::Text => "string".into(),
        AttrKind::AxisPairs => "number | readonly [readonly number[], readonly number[]]".into(),
        AttrKind::Shape | AttrKind::NewShape => "readonly number[]".into(),
        AttrKind::Bool(_) => "boolean".into(),
        AttrKind::OptDType if result_dtype(op).is_some_and(|d| d.name == attr.name) => "E".into(),
        AttrKind::OptDType => "DType".into(),
        AttrKind::Device => "Device".into(),
        AttrKind::Choice(words) => words.iter().map(|w| choice_type(w)).collect::<Vec<_>>().join(" | "),
        AttrKind::Items => "never".into(),
    }
}

/// A number's literal, if the word spells one.
pub fn choice_literal(word: &str) -> String {
    if word.parse::<f64>().is_ok() { word.into() } else { format!("'{word}'") }
}

/// TypeScript has no literal types for the infinities.
fn choice_type(word: &str) -> String {
    if word.parse().is_ok_and(f64::is_infinite) { "number".into() } else { choice_literal(word) }
}

/// An attribute in words.
pub fn attr_doc(op: &OpDef, attr: &AttrDef) -> String {
    match attr.kind {
        AttrKind::PerAxis(_) if attr.name == "outputPadding" => {
            "Places more at the end of the result, below the stride or the dilation: one number, or one for each axis of a window; \
             0 by default."
                .into()
        }
        AttrKind::Padding if op.name == "convTranspose" => {
            "Places cut off the result: one number, one for each axis of a window, or a pair [before, after] for each; 'same' \
             gives stride times as many as x has; 0 ('valid') by default."
                .into()
        }
        AttrKind::Int(Some(v)) if attr.name == "axis" => {
            format!("One axis; negative ones count from the last; {v} by default.")
        }
        AttrKind::Int(Some(v)) => format!("An integer; {v} by default."),
        AttrKind::Int(None) => "An integer.".into(),
        AttrKind::Number(v) => format!("A number, which may be infinite; {v} by default."),
        AttrKind::OptAxis if attr.name == "axis" => "One axis; negative ones count from the last.".into(),
        AttrKind::OptAxis => "An integer; follows from the other arguments by default.".into(),
        AttrKind::Axes => "One axis or several; negative ones count from the last. All that apply by default.".into(),
        AttrKind::PerAxis(EachAxis::Required) if attr.name == "size" => {
            "One number for all spatial axes, or one for each.".into()
        }
        AttrKind::PerAxis(default) => {
            let left_out = match default {
                EachAxis::Required => String::new(),
                EachAxis::Window => "; the window's size by default".into(),
                EachAxis::Number(v) => format!("; {v} by default"),
            };
            format!("One number for all axes of a window, or one for each{left_out}.")
        }
        AttrKind::Padding => {
            "Places around x: one number, one for each axis of a window, or a pair [before, after] for each; 'same' gives \
             ceil(size / stride) windows; 0 ('valid') by default."
                .into()
        }
        AttrKind::Widths => "Places on every side, or a pair [before, after] for all axes or for each.".into(),
        AttrKind::Text => "Text of ASCII characters.".into(),
        AttrKind::AxisPairs => "How many axes, or the axes of both operands; 2 by default.".into(),
        AttrKind::Shape => "Axis sizes.".into(),
        AttrKind::NewShape => "Axis sizes; one may be -1 and follows from the others.".into(),
        AttrKind::Bool(v) => match attr.name {
            "keepdims" => "Keeps reduced axes, with size 1; false by default.".into(),
            _ => format!("{v} by default."),
        },
        AttrKind::OptDType if attr.positional => "The dtype of the result.".into(),
        AttrKind::OptDType => "The dtype of the result, where not the default one.".into(),
        AttrKind::Device => "The device; the default device unless told.".into(),
        AttrKind::Choice(words) if words.iter().any(|w| w.parse::<f64>().is_ok()) => {
            let all: Vec<String> = words.iter().map(|w| choice_literal(w)).collect();
            format!("One of {}; {} by default.", all.join(", "), all.first().map_or("", String::as_str))
        }
        AttrKind::Choice(words) => format!("'{}' by default.", words.first().unwrap_or(&"")),
        AttrKind::Items => "Index items.".into(),
    }
}

/// Whether a positional attribute may be left out.
fn attr_optional(attr: &AttrDef) -> bool {
    match attr.kind {
        AttrKind::Int(default) => default.is_some(),
        AttrKind::PerAxis(default) => default != EachAxis::Required,
        // A dtype that stands alone is what the call is about (`astype`).
        AttrKind::OptDType => false,
        AttrKind::Shape | AttrKind::NewShape | AttrKind::Items | AttrKind::Widths | AttrKind::Text => false,
        _ => true,
    }
}

/// Which operands' dtypes decide the result's.
fn deciding(op: &OpDef) -> Vec<usize> {
    let fixed = match op.dtype.out {
        Out::Bool | Out::Int32 | Out::Fixed(_) | Out::AttrOr(_) => true,
        Out::Each(all) => all.iter().all(|o| matches!(o, Out::Bool | Out::Int32 | Out::Fixed(_))),
        Out::Compute | Out::RealPart | Out::ComplexOf | Out::ComputeAndInt32 | Out::Twice | Out::AttrOrCompute => {
            op.dtype.compute == Compute::Truth
        }
    };
    // `astype(dtype)`: the literal alone decides.
    let named = result_dtype(op).is_some_and(|a| a.positional);
    if fixed || named {
        return Vec::new();
    }
    let ruled = op.dtype.first..op.dtype.last.min(op.operands.len());
    if op.dtype.compute == Compute::Own { ruled.take(1).collect() } else { ruled.collect() }
}

fn operand_doc(op: &OpDef, i: usize, o: &OperandDef) -> String {
    let ruled = i >= op.dtype.first && i < op.dtype.last;
    let what = match (op.variadic, o.weak) {
        (true, _) => "Tensors, at least one",
        (false, true) => "A tensor or a JavaScript scalar",
        (false, false) => "A tensor",
    };
    let dtype =
        if ruled && op.dtype.class != Class::Any { format!(" of {}", op.dtype.class.words()) } else { String::new() };
    format!("{what}{dtype}.")
}

fn signature(op: &OpDef, method: bool) -> Signature {
    let deciding = deciding(op);
    let mut generics = Vec::new();
    let (mut params, mut dtypes) = (Vec::new(), Vec::new());
    for (i, o) in op.operands.iter().enumerate() {
        let decides = deciding.contains(&i);
        if method && i == 0 {
            dtypes.extend(decides.then(|| Decides::Dtype("D".into())));
            continue;
        }
        let letter = LETTERS[i];
        let ty = match (op.variadic, decides, o.weak) {
            (true, true, _) => {
                generics.push(format!("{letter} extends DType"));
                dtypes.push(Decides::Dtype(letter.into()));
                dtypes.push(Decides::Dtype(letter.into()));
                format!("readonly Tensor<{letter}>[]")
            }
            (true, false, _) => "readonly Tensor[]".into(),
            (false, true, true) => {
                // What is left out is neutral, as a scalar is.
                let bound = if o.optional { "Operand | undefined = undefined" } else { "Operand" };
                generics.push(format!("{letter} extends {bound}"));
                dtypes.push(Decides::Operand(letter.into()));
                letter.into()
            }
            (false, true, false) => {
                generics.push(format!("{letter} extends DType"));
                dtypes.push(Decides::Dtype(letter.into()));
                format!("Tensor<{letter}>")
            }
            (false, false, true) => "Operand".into(),
            (false, false, false) => "Tensor".into(),
        };
        let name = if takes_text(op) { format!("...{}", o.name) } else { o.name.into() };
        params.push(Param { name, optional: o.optional, ty, doc: operand_doc(op, i, o) });
    }
    let positional = op.attrs.iter().filter(|a| a.positional).map(|attr| Param {
        name: attr.name.into(),
        optional: attr_optional(attr),
        ty: attr_type(op, attr),
        doc: attr_doc(op, attr),
    });
    // What makes a tensor out of scalars names the shape first, as NumPy does: `full(shape, fillValue)`.
    // So does what is said of any number of tensors: `einsum('ij,jk', x, y)`.
    let first = op.operands.iter().all(|o| o.weak) && op.form == Form::Function || takes_text(op);
    // What must be given stands before operands that may be left out.
    let required =
        params.iter().position(|p| p.optional).filter(|_| op.attrs.iter().any(|a| a.positional && !attr_optional(a)));
    let at = if first { 0 } else { required.unwrap_or(params.len()) };
    params.splice(at..at, positional);
    for p in op.params.iter().filter(|p| p.default.is_none()) {
        params.push(Param { name: p.name.into(), optional: false, ty: "number".into(), doc: "A number.".into() });
    }
    let compute = compute_type(op, dtypes);
    let named = result_dtype(op);
    if let Some(attr) = named {
        let default = match (attr.positional, op.dtype.out) {
            (true, _) => String::new(),
            (false, Out::AttrOr(d)) => format!(" = '{d}'"),
            (false, _) => format!(" = {compute}"),
        };
        generics.push(format!("E extends DType{default}"));
    }
    if has_options(op) {
        let name = options_name(op);
        let object = if named.is_some_and(|a| !a.positional) { format!("{name}<E>") } else { name };
        let (ty, doc) = match bare_axis(op) {
            Some(axis) => (format!("{} | {object}", attr_type(op, axis)), "The axis alone, or an object of options."),
            None => (object, "An object of options."),
        };
        params.push(Param { name: "options".into(), optional: true, ty, doc: doc.into() });
    }
    let generics = if generics.is_empty() { String::new() } else { format!("<{}>", generics.join(", ")) };
    Signature { generics, params, result: result_type(op, &compute, named.is_some()) }
}

/// Whether a text says what is done with a list of tensors.
fn takes_text(op: &OpDef) -> bool {
    op.variadic && op.attrs.iter().any(|a| a.kind == AttrKind::Text)
}

/// An operand in a dtype expression.
enum Decides {
    /// A type parameter that is a dtype.
    Dtype(String),
    /// A type parameter that is a tensor or a scalar.
    Operand(String),
}

/// The dtype operands are cast to, as a type.
fn compute_type(op: &OpDef, mut operands: Vec<Decides>) -> String {
    operands.sort_by_key(|d| matches!(d, Decides::Operand(_)));
    let mut operands = operands.into_iter();
    let common = match operands.next() {
        None => "'float32'".to_string(),
        Some(Decides::Dtype(d)) => d,
        Some(Decides::Operand(a)) => match operands.next() {
            Some(Decides::Operand(b) | Decides::Dtype(b)) => format!("Common<{a}, {b}>"),
            None => format!("Common<{a}, {a}>"),
        },
    };
    let common = operands.fold(common, |common, next| match next {
        Decides::Dtype(d) => format!("Promote<{common}, {d}>"),
        Decides::Operand(t) => format!("With<{common}, {t}>"),
    });
    match op.dtype.compute {
        Compute::Own | Compute::Promote | Compute::AttrOrPromote => common,
        Compute::Float => format!("FloatOf<{common}>"),
        Compute::ComplexFloat => format!("ComplexOf<{common}>"),
        Compute::Sum => format!("SumOf<{common}>"),
        Compute::Truth => "'bool'".into(),
    }
}

fn result_type(op: &OpDef, compute: &str, named: bool) -> String {
    let compute = if named { "E" } else { compute };
    let dtypes = output_types(op.dtype.out, compute, named);
    if let [dtype] = dtypes.as_slice() {
        return format!("Tensor<{dtype}>");
    }
    let fields: Vec<String> = op.outputs.iter().zip(&dtypes).map(|(name, d)| format!("{name}: Tensor<{d}>")).collect();
    format!("{{ {} }}", fields.join("; "))
}

fn output_types(out: Out, compute: &str, named: bool) -> Vec<String> {
    match out {
        Out::Compute | Out::AttrOrCompute => vec![compute.into()],
        Out::RealPart => vec![format!("RealOf<{compute}>")],
        Out::ComplexOf => vec![format!("ComplexOf<{compute}>")],
        Out::Bool => vec!["'bool'".into()],
        Out::Int32 => vec!["'int32'".into()],
        Out::ComputeAndInt32 => vec![compute.into(), "'int32'".into()],
        Out::Twice => vec![compute.into(); 2],
        Out::AttrOr(d) => vec![if named { "E".into() } else { format!("'{d}'") }],
        Out::Fixed(d) => vec![format!("'{d}'")],
        Out::Each(all) => all.iter().flat_map(|&one| output_types(one, compute, named)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_ops::find;

    fn function(name: &str) -> String {
        let call = Call::of(find(name).unwrap()).unwrap();
        shown(&call.function)
    }

    fn method(name: &str) -> String {
        shown(&Call::of(find(name).unwrap()).unwrap().method.unwrap())
    }

    fn shown(s: &Signature) -> String {
        let params: Vec<String> =
            s.params.iter().map(|p| format!("{}{}: {}", p.name, if p.optional { "?" } else { "" }, p.ty)).collect();
        format!("{}({}): {}", s.generics, params.join(", "), s.result)
    }

    #[test]
    fn signatures_follow_the_dtype_rule() {
        assert_eq!(function("exp"), "<A extends DType>(x: Tensor<A>): Tensor<FloatOf<A>>");
        assert_eq!(method("add"), "<B extends Operand>(x2: B): Tensor<With<D, B>>");
        assert_eq!(function("add"), "<A extends Operand, B extends Operand>(x1: A, x2: B): Tensor<Common<A, B>>");
        assert_eq!(method("equal"), "(x2: Operand): Tensor<'bool'>");
        assert_eq!(method("astype"), "<E extends DType>(dtype: E): Tensor<E>");
        assert_eq!(method("matmul"), "<B extends DType>(x2: Tensor<B>): Tensor<Promote<D, B>>");
        assert_eq!(
            method("sum"),
            "<E extends DType = SumOf<D>>(options?: number | readonly number[] | SumOptions<E>): Tensor<E>"
        );
    }

    #[test]
    fn positional_attributes_stand_before_the_options() {
        assert_eq!(method("reshape"), "(shape: readonly number[]): Tensor<D>");
        assert_eq!(
            method("topk"),
            "(k: number, options?: number | TopkOptions): { values: Tensor<D>; indices: Tensor<'int32'> }"
        );
        assert_eq!(
            function("full"),
            "<A extends Operand, E extends DType = Common<A, A>>(shape: readonly number[], fillValue: A, options?: FullOptions<E>): Tensor<E>"
        );
    }
}
