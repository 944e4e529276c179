//! The TypeScript signature of a row: type parameters, parameters in order, result type, and what each operand must be.

use super::call::{attr_doc, attr_optional, attr_type, bare_axis, has_options, options_name, param_doc, result_dtype};
use super::classes::{self, INDEX};
use super::meanings::meaning;
use ferrotensor_ops::OpDef;
use ferrotensor_ops::def::{AttrKind, Form, OperandDef};
use ferrotensor_ops::dtype_rule::{Compute, Out};

/// Whether nested arrays of numbers compile in the place of the only operand.
fn takes_list(op: &OpDef, method: bool) -> bool {
    !method && op.operands.len() == 1 && !op.variadic && op.dtype.class.has(ferrotensor_core::DType::F32)
}

/// Names of type parameters for the dtypes of operands.
pub const LETTERS: [&str; 5] = ["A", "B", "C", "F", "G"];

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
    /// What a method's tensor must be, where not any.
    pub this: Option<String>,
    /// Parameters in order; a method's first operand is not among them.
    pub params: Vec<Param>,
    pub result: String,
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

fn is_ruled(op: &OpDef, i: usize) -> bool {
    i >= op.dtype.first && i < op.dtype.last
}

/// The class of an operand, and what messages call it; nothing for one that may be of any dtype.
fn class(op: &OpDef, i: usize) -> Option<(&'static str, &'static str)> {
    match (op.name, op.operands[i].name) {
        _ if is_ruled(op, i) => classes::name(op.dtype.class).map(|name| (name, op.dtype.class.words())),
        (_, "indices" | "segments" | "sorter") | ("nllLoss", "target") => Some(INDEX),
        _ => None,
    }
}

fn operand_doc(op: &OpDef, i: usize, o: &OperandDef) -> String {
    let what = match (op.variadic, o.weak) {
        (true, _) => "Tensors, at least one",
        (false, true) => "A tensor or a JavaScript scalar",
        (false, false) => "A tensor",
    };
    let what = class(op, i).map_or(what.into(), |(_, words)| format!("{what} of {words}"));
    meaning(op, o.name).map_or(format!("{what}."), |words| format!("{what}: {words}."))
}

/// The dtype beside which a scalar must make sense: somewhere there must be a tensor, and a bool tensor combines with a number only where it
/// is cast, or becomes of the number's dtype.
fn beside(op: &OpDef, i: usize, method: bool) -> Option<String> {
    let cast = is_ruled(op, i)
        && match op.dtype.compute {
            Compute::Own | Compute::AttrOrPromote => false,
            Compute::Promote => op.dtype.class.has(ferrotensor_core::DType::F32) && op.dtype.out != Out::Compute,
            _ => true,
        };
    // The first other operand of those that are combined; what stands outside of the rule is combined with the first.
    let first = if is_ruled(op, i) { op.dtype.first } else { 0 };
    let Some(other) = (first..op.operands.len()).find(|&other| other != i) else {
        return result_dtype(op).map(|_| "E".to_string());
    };
    if !method && op.operands.iter().all(|o| o.weak) {
        return Some(format!("DTypeOf<{}>{}", LETTERS[other], if cast { ", 'any'" } else { "" }));
    }
    // Without bool among them there is nothing to look at.
    if cast || is_ruled(op, i) && !op.dtype.class.has(ferrotensor_core::DType::Bool) {
        return None;
    }
    match other {
        0 if method => Some("D".into()),
        _ if op.operands[other].weak => Some(format!("Common<{}, {}>", LETTERS[first], LETTERS[first + 1])),
        _ => Some(LETTERS[other].into()),
    }
}

/// A method's signature for bools and a number, which then decides the dtype: apart from the general one, whose result would be of no known
/// dtype where the tensor's is a type parameter. Functions have none: what is overloaded is no argument for a function of a function.
pub fn bools_and_number(op: &OpDef) -> Option<String> {
    let OpDef { dtype, operands: [x, y], .. } = op else { return None };
    let both = [ferrotensor_core::DType::Bool, ferrotensor_core::DType::F32].iter().all(|&d| dtype.class.has(d));
    let own = dtype.compute == Compute::Promote && dtype.out == Out::Compute && both && x.weak && y.weak;
    own.then(|| format!("<S extends number | bigint>(this: Tensor<'bool'>, {}: S): Tensor<Weak<S>>", y.name))
}

/// The types of operands, as they are collected.
#[derive(Default)]
struct Operands {
    generics: Vec<String>,
    params: Vec<Param>,
    /// Those that decide the dtype of the result.
    dtypes: Vec<Decides>,
    this: Option<String>,
}

/// An operand in a dtype expression.
enum Decides {
    /// A type parameter that is a dtype.
    Dtype(String),
    /// A type parameter that is a tensor or a scalar.
    Operand(String),
    /// A type parameter that is a list of tensors.
    List(String),
}

impl Operands {
    fn of(op: &OpDef, method: bool) -> Operands {
        let deciding = deciding(op);
        let mut all = Operands::default();
        for (i, o) in op.operands.iter().enumerate() {
            let decides = deciding.contains(&i);
            let class = class(op, i).map(|(name, _)| name);
            if method && i == 0 {
                all.this = class.map(|class| format!("Takes<'{class}', D>"));
                all.dtypes.extend(decides.then(|| Decides::Dtype("D".into())));
                continue;
            }
            let ty = match (op.variadic, o.weak) {
                (true, _) => all.list(LETTERS[i], class),
                (false, true) => all.weak(LETTERS[i], o, decides, class, beside(op, i, method)),
                (false, false) => all.tensor(LETTERS[i], o, decides, class, takes_list(op, method)),
            };
            let name = if takes_text(op) { format!("...{}", o.name) } else { o.name.into() };
            all.params.push(Param { name, optional: o.optional, ty, doc: operand_doc(op, i, o) });
        }
        all
    }

    /// A list of tensors, each with its dtype.
    fn list(&mut self, letter: &str, class: Option<&str>) -> String {
        self.generics.push(format!("const {letter} extends readonly Tensor[]"));
        self.dtypes.push(Decides::List(letter.into()));
        class.map_or(letter.into(), |class| format!("{letter} & TakesEach<'{class}', {letter}>"))
    }

    /// A tensor or a scalar.
    fn weak(&mut self, letter: &str, o: &OperandDef, decides: bool, class: Option<&str>, beside: Option<String>) -> String {
        if !decides && class.is_none() && beside.is_none() {
            return "Operand".into();
        }
        // What is left out is neutral, as a scalar is.
        let bound = if o.optional { "Operand | undefined = undefined" } else { "Operand" };
        self.generics.push(format!("{letter} extends {bound}"));
        if decides {
            self.dtypes.push(Decides::Operand(letter.into()));
        }
        match (class, beside) {
            (None, None) => letter.into(),
            (class, None) => format!("{letter} & Fits<'{}', {letter}>", class.unwrap_or("any")),
            (class, Some(beside)) => format!("{letter} & Fits<'{}', {letter}, {beside}>", class.unwrap_or("any")),
        }
    }

    fn tensor(&mut self, letter: &str, o: &OperandDef, decides: bool, class: Option<&str>, list: bool) -> String {
        if !decides && class.is_none() {
            return if list { "Tensor | Listed" } else { "Tensor" }.into();
        }
        // What is left out promotes nothing, as bool does; numbers in arrays are float32.
        let default = match (o.optional, decides) {
            (false, _) if list => " = 'float32'",
            (false, _) => "",
            (true, true) => " = 'bool'",
            (true, false) => " = DType",
        };
        self.generics.push(format!("{letter} extends DType{default}"));
        if decides {
            self.dtypes.push(Decides::Dtype(letter.into()));
        }
        let own = format!("Tensor<{letter}>");
        let array = if class == Some("index") { Some("Positions") } else { list.then_some("Listed") };
        match (class, array) {
            (None, None) => own,
            (None, Some(array)) => format!("{own} | {array}"),
            (Some(class), None) => format!("{own} & Takes<'{class}', {letter}>"),
            (Some(class), Some(array)) => format!("({own} & Takes<'{class}', {letter}>) | {array}"),
        }
    }
}

/// The signature of a row as a method, or as a function.
pub fn signature(op: &OpDef, method: bool) -> Signature {
    let Operands { mut generics, mut params, dtypes, this } = Operands::of(op, method);
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
        params.push(Param { name: p.name.into(), optional: false, ty: "number".into(), doc: param_doc(op, p) });
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
            Some(axis) => (format!("{} | {object}", attr_type(op, axis)), "Options, or the value of `axis` alone."),
            None => (object, "Options."),
        };
        params.push(Param { name: "options".into(), optional: true, ty, doc: doc.into() });
    }
    let generics = if generics.is_empty() { String::new() } else { format!("<{}>", generics.join(", ")) };
    // A dtype that is not named is the default one, not that of the variable that the result is assigned to.
    let named = named.map(|a| if a.positional { "E" } else { "NoInfer<E>" });
    Signature { generics, this, params, result: result_type(op, named.unwrap_or(&compute), named) }
}

/// Whether a text says what is done with a list of tensors.
fn takes_text(op: &OpDef) -> bool {
    op.variadic && op.attrs.iter().any(|a| a.kind == AttrKind::Text)
}

/// Promotions of dtypes that the compiler unfolds in full, of a declaration with 15 of them for each: one more takes seconds.
const UNFOLDED: usize = 3;

/// The dtype operands are cast to, as a type.
fn compute_type(op: &OpDef, mut operands: Vec<Decides>) -> String {
    operands.sort_by_key(|d| matches!(d, Decides::Operand(_)));
    let dtypes = operands.iter().filter(|d| matches!(d, Decides::Dtype(_))).count();
    let mut operands = operands.into_iter().enumerate();
    let mut common = match operands.next() {
        None => "'float32'".to_string(),
        Some((_, Decides::Dtype(d))) => d,
        Some((_, Decides::List(l))) => format!("PromoteAll<{l}>"),
        Some((_, Decides::Operand(a))) => match operands.next() {
            Some((_, Decides::Operand(b) | Decides::Dtype(b) | Decides::List(b))) => format!("Common<{a}, {b}>"),
            None => format!("Common<{a}, {a}>"),
        },
    };
    for (i, next) in operands {
        if i == UNFOLDED && dtypes >= UNFOLDED {
            common = format!("AsDType<{common}>");
        }
        common = match next {
            Decides::Dtype(d) => format!("Promote<{common}, {d}>"),
            Decides::Operand(t) => format!("With<{common}, {t}>"),
            Decides::List(l) => format!("PromoteAll<{l}, {common}>"),
        };
    }
    match op.dtype.compute {
        Compute::Own | Compute::Promote | Compute::AttrOrPromote => common,
        Compute::Float => format!("FloatOf<{common}>"),
        Compute::ComplexFloat => format!("ComplexOf<{common}>"),
        Compute::Sum => format!("SumOf<{common}>"),
        Compute::Truth => "'bool'".into(),
    }
}

fn result_type(op: &OpDef, compute: &str, named: Option<&str>) -> String {
    let dtypes = output_types(op.dtype.out, compute, named);
    if let [dtype] = dtypes.as_slice() {
        return format!("Tensor<{dtype}>");
    }
    let fields: Vec<String> = op.outputs.iter().zip(&dtypes).map(|(name, d)| format!("{name}: Tensor<{d}>")).collect();
    format!("Several<{{ {} }}>", fields.join("; "))
}

fn output_types(out: Out, compute: &str, named: Option<&str>) -> Vec<String> {
    match out {
        Out::Compute | Out::AttrOrCompute => vec![compute.into()],
        Out::RealPart => vec![format!("RealOf<{compute}>")],
        Out::ComplexOf => vec![format!("ComplexOf<{compute}>")],
        Out::Bool => vec!["'bool'".into()],
        Out::Int32 => vec!["'int32'".into()],
        Out::ComputeAndInt32 => vec![compute.into(), "'int32'".into()],
        Out::Twice => vec![compute.into(); 2],
        Out::AttrOr(d) => vec![named.map_or(format!("'{d}'"), String::from)],
        Out::Fixed(d) => vec![format!("'{d}'")],
        Out::Each(all) => all.iter().flat_map(|&one| output_types(one, compute, named)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_ops::find;

    fn function(name: &str) -> String {
        shown(&signature(find(name).unwrap(), false))
    }

    fn method(name: &str) -> String {
        shown(&signature(find(name).unwrap(), true))
    }

    fn shown(s: &Signature) -> String {
        let this = s.this.iter().map(|ty| format!("this: {ty}"));
        let params = s.params.iter().map(|p| format!("{}{}: {}", p.name, if p.optional { "?" } else { "" }, p.ty));
        format!("{}({}): {}", s.generics, this.chain(params).collect::<Vec<_>>().join(", "), s.result)
    }

    #[test]
    fn signatures_follow_the_dtype_rule() {
        assert_eq!(function("exp"), "<A extends DType = 'float32'>(x: Tensor<A> | Listed): Tensor<FloatOf<A>>");
        assert_eq!(
            function("divide"),
            "<A extends Operand, B extends Operand>(x1: A & Fits<'any', A, DTypeOf<B>, 'any'>, x2: B & Fits<'any', B, DTypeOf<A>, 'any'>): Tensor<FloatOf<Common<A, B>>>"
        );
        assert_eq!(method("astype"), "<E extends DType>(dtype: E): Tensor<E>");
        assert_eq!(
            method("sum"),
            "<E extends DType = SumOf<D>>(options?: number | readonly number[] | SumOptions<E>): Tensor<NoInfer<E>>"
        );
        assert_eq!(
            function("stack"),
            "<const A extends readonly Tensor[]>(arrays: A, options?: number | StackOptions): Tensor<PromoteAll<A>>"
        );
    }

    #[test]
    fn operands_of_a_class_are_checked() {
        assert_eq!(
            function("floor"),
            "<A extends DType = 'float32'>(x: (Tensor<A> & Takes<'integerOrFloat', A>) | Listed): Tensor<A>"
        );
        assert_eq!(method("floor"), "(this: Takes<'integerOrFloat', D>): Tensor<D>");
        assert_eq!(
            method("subtract"),
            "<B extends Operand>(this: Takes<'numeric', D>, x2: B & Fits<'numeric', B>): Tensor<With<D, B>>"
        );
        assert_eq!(
            method("matmul"),
            "<B extends DType>(this: Takes<'numeric', D>, x2: Tensor<B> & Takes<'numeric', B>): Tensor<SumOf<Promote<D, B>>>"
        );
        let own = |name: &str| bools_and_number(find(name).unwrap());
        let wanted = "<S extends number | bigint>(this: Tensor<'bool'>, x2: S): Tensor<Weak<S>>";
        assert_eq!(own("add").as_deref(), Some(wanted));
        assert_eq!([own("subtract"), own("less"), own("where"), own("hypot")], [None, None, None, None]);
        assert_eq!(
            method("takeAlongAxis"),
            "<B extends DType>(indices: (Tensor<B> & Takes<'index', B>) | Positions, options?: number | TakeAlongAxisOptions): Tensor<D>"
        );
    }

    #[test]
    fn a_scalar_is_checked_against_the_tensor_beside_it() {
        assert_eq!(method("equal"), "(x2: Operand): Tensor<'bool'>");
        assert_eq!(
            function("less"),
            "<A extends Operand, B extends Operand>(x1: A & Fits<'real', A, DTypeOf<B>, 'any'>, x2: B & Fits<'real', B, DTypeOf<A>, 'any'>): Tensor<'bool'>"
        );
        assert_eq!(
            function("where"),
            "<B extends Operand, C extends Operand>(condition: Tensor, x1: B & Fits<'any', B, Common<B, C>>, x2: C & Fits<'any', C, Common<B, C>>): Tensor<Common<B, C>>"
        );
        assert_eq!(
            method("atan2"),
            "<B extends Operand>(this: Takes<'real', D>, x2: B & Fits<'real', B>): Tensor<FloatOf<With<D, B>>>"
        );
    }

    #[test]
    fn what_is_left_out_promotes_nothing() {
        assert_eq!(
            function("trapezoid"),
            "<A extends DType, B extends DType = 'bool'>(y: Tensor<A> & Takes<'real', A>, coordinates?: Tensor<B> & Takes<'real', B>, options?: number | TrapezoidOptions): Tensor<FloatOf<Promote<A, B>>>"
        );
    }

    #[test]
    fn positional_attributes_stand_before_the_options() {
        assert_eq!(method("reshape"), "(shape: readonly number[]): Tensor<D>");
        assert_eq!(
            method("topk"),
            "(this: Takes<'real', D>, k: number, options?: number | TopkOptions): Several<{ values: Tensor<D>; indices: Tensor<'int32'> }>"
        );
        assert_eq!(
            function("full"),
            "<A extends Operand, E extends DType = Common<A, A>>(shape: readonly number[], fillValue: A & Fits<'any', A, E>, options?: FullOptions<E>): Tensor<NoInfer<E>>"
        );
    }
}
