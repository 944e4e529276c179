//! How a row is called from TypeScript: its names, its options and attributes, and the call that records it.

use super::meanings::meaning;
use super::signature::{LETTERS, Signature, signature};
use ferrotensor_ops::OpDef;
use ferrotensor_ops::def::{AttrDef, AttrKind, EachAxis, Form, ParamDef};
use ferrotensor_ops::dtype_rule::{Compute, Out};

/// JavaScript words that cannot name a function; such a row is exported as `name_ as name`.
const RESERVED: [&str; 4] = ["var", "delete", "in", "with"];

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

    /// The statement that reads the options object into `o`, where there is one, and counts the arguments: what a caller passes
    /// behind the last parameter would be ignored (`x.sum(0, { keepdims: true })`, `x.round(2)`).
    pub fn arguments(&self, signature: &Signature) -> Option<String> {
        let (id, last) = (self.op.id(), signature.params.len());
        if has_options(self.op) {
            let names: Vec<String> = option_names(self.op).iter().map(|n| format!("'{n}'")).collect();
            let bare = if bare_axis(self.op).is_some() { ", 'axis'" } else { "" };
            let names = names.join(", ");
            return Some(format!("const o = readOptions({id}, options, [{names}], arguments.length - {last}{bare})"));
        }
        let rest = signature.params.iter().any(|p| p.name.starts_with("..."));
        (!rest).then(|| format!("if (arguments.length > {last}) surplus({id}, arguments, {last})"))
    }
}

fn option_names(op: &OpDef) -> Vec<&'static str> {
    let attrs = op.attrs.iter().filter(|a| !a.positional).map(|a| a.name);
    attrs.chain(op.params.iter().filter(|p| p.default.is_some()).map(|p| p.name)).collect()
}

pub fn has_options(op: &OpDef) -> bool {
    !option_names(op).is_empty()
}

pub fn options_name(op: &OpDef) -> String {
    let mut chars = op.name.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    format!("{}{}Options", first.map(String::from).unwrap_or_default(), chars.as_str())
}

/// The attribute that may stand bare in place of the options object.
pub fn bare_axis(op: &OpDef) -> Option<&'static AttrDef> {
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
        AttrKind::Choice(words) => {
            let mut types: Vec<String> = words.iter().map(|w| choice_type(w)).collect();
            types.dedup();
            types.join(" | ")
        }
        AttrKind::Items | AttrKind::Call => "never".into(),
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

/// A number that may be left out, in words. NaN stands for one that is computed, which the words say.
pub fn param_doc(op: &OpDef, param: &ParamDef) -> String {
    let words = meaning(op, param.name).unwrap_or("A number");
    match param.default {
        Some(value) if !value.is_nan() => format!("{words}; {value} by default."),
        _ => format!("{words}."),
    }
}

/// An attribute in words.
pub fn attr_doc(op: &OpDef, attr: &AttrDef) -> String {
    format!("{}{}.", meaning(op, attr.name).unwrap_or_else(|| kind_words(op, attr)), default_words(attr))
}

/// What an attribute is whose name says what it means.
fn kind_words(op: &OpDef, attr: &AttrDef) -> &'static str {
    match attr.kind {
        AttrKind::Int(_) | AttrKind::OptAxis => "One axis; negative ones count from the last",
        AttrKind::Axes => "One axis or several; negative ones count from the last; all by default",
        AttrKind::Padding if op.name == "convTranspose" => {
            "How many places are cut off the result: one number, one for each axis of a window, or a pair [before, after] for each; \
             'same' gives stride times as many as `x` has; 0 ('valid') by default"
        }
        AttrKind::Padding => {
            "How many places around `x`: one number, one for each axis of a window, or a pair [before, after] for each; 'same' gives \
             ceil(size / stride) windows; 0 ('valid') by default"
        }
        AttrKind::Bool(_) if attr.name == "keepdims" => "Whether reduced axes stay, with size 1",
        AttrKind::Bool(_) => "A boolean",
        AttrKind::Number(_) => "A number, which may be infinite",
        AttrKind::PerAxis(_) => "One number for all axes of a window, or one for each",
        AttrKind::Widths | AttrKind::AxisPairs | AttrKind::Shape | AttrKind::NewShape => "Whole numbers",
        AttrKind::Text => "Text of ASCII characters",
        AttrKind::OptDType if attr.positional => "The dtype of the result",
        AttrKind::OptDType => "The dtype of the result, in place of the usual one",
        AttrKind::Device => "The device; the default device where it is left out",
        AttrKind::Choice(_) => "One of a few words",
        AttrKind::Items => "Index items",
        AttrKind::Call => "A call",
    }
}

/// What an attribute is where it is left out, if the table knows it.
fn default_words(attr: &AttrDef) -> String {
    let said = |value: String| format!("; {value} by default");
    match attr.kind {
        AttrKind::Int(Some(v)) => said(v.to_string()),
        AttrKind::Number(v) => said(v.to_string()),
        AttrKind::PerAxis(EachAxis::Window) => said("the window's size".into()),
        AttrKind::PerAxis(EachAxis::Number(v)) => said(v.to_string()),
        AttrKind::Bool(v) => said(v.to_string()),
        AttrKind::Choice(words) => said(words.first().map(|word| choice_literal(word)).unwrap_or_default()),
        _ => String::new(),
    }
}

/// Whether a positional attribute may be left out.
pub fn attr_optional(attr: &AttrDef) -> bool {
    match attr.kind {
        AttrKind::Int(default) => default.is_some(),
        AttrKind::PerAxis(default) => default != EachAxis::Required,
        // No `axis` means all of them; other lists (`shift`, `source`) are what the call is about.
        AttrKind::Axes => attr.name == "axis",
        // A dtype that stands alone is what the call is about (`astype`).
        AttrKind::OptDType => false,
        AttrKind::Shape | AttrKind::NewShape | AttrKind::Items | AttrKind::Call | AttrKind::Widths | AttrKind::Text => false,
        _ => true,
    }
}
