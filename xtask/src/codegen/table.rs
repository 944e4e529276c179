//! `lib/generated/table.ts`: what the TypeScript core needs to know of each row at run time.

use super::HEADER;
use super::call::choice_literal;
use ferrotensor_ops::def::{AttrDef, AttrKind, EachAxis, OpDef};
use ferrotensor_ops::{DERIVED, OPS};
use std::fmt::Write;

/// The encoder of `lib/calls/encode.ts` for an attribute, and its default word.
fn kind(def: &AttrDef) -> (&'static str, String) {
    match def.kind {
        AttrKind::Int(default) => ("int", default.map_or("null".into(), |v| v.to_string())),
        AttrKind::Number(default) => ("number", default.to_string()),
        AttrKind::OptAxis => ("optAxis", "NaN".into()),
        AttrKind::Axes => ("axes", "-1".into()),
        AttrKind::AxisPairs => ("axisPairs", "2".into()),
        AttrKind::PerAxis(default) => ("axes", if default == EachAxis::Required { "null" } else { "-1" }.into()),
        AttrKind::Padding => ("padding", "0".into()),
        AttrKind::Widths => ("widths", "null".into()),
        AttrKind::Text => ("text", "null".into()),
        AttrKind::Shape | AttrKind::NewShape => ("shape", "null".into()),
        AttrKind::Bool(default) => ("bool", u8::from(default).to_string()),
        // A dtype that stands alone is what the call is about (`astype`).
        AttrKind::OptDType => ("dtype", if def.positional { "null" } else { "NaN" }.into()),
        AttrKind::Device => ("device", "null".into()),
        AttrKind::Choice(_) => ("choice", "0".into()),
        AttrKind::Items => ("items", "null".into()),
        AttrKind::Call => ("call", "null".into()),
    }
}

fn attr(def: &AttrDef) -> String {
    let (kind, default) = kind(def);
    let choices = match def.kind {
        AttrKind::Choice(names) => {
            format!(", choices: [{}]", names.iter().map(|n| choice_literal(n)).collect::<Vec<_>>().join(", "))
        }
        _ => String::new(),
    };
    format!("{{ name: '{}', kind: '{kind}', default: {default}{choices} }}", def.name)
}

fn row(op: &OpDef) -> String {
    let attrs: Vec<String> = op.attrs.iter().map(attr).collect();
    let params: Vec<String> = op
        .params
        .iter()
        .map(|p| {
            let default = p.default.map_or("null".into(), |v| v.to_string());
            format!("{{ name: '{}', default: {default}, kind: '{}' }}", p.name, p.kind.name())
        })
        .collect();
    let operands: Vec<String> = op.operands.iter().map(|o| format!("'{}'", o.name)).collect();
    let weak: Vec<String> = (0..op.operands.len()).filter(|&i| op.operands[i].weak).map(|i| i.to_string()).collect();
    let range = op.operands.iter().find_map(|o| o.range);
    let range = range.map_or(String::new(), |(low, high)| format!(" range: [{low}, {high}],"));
    format!(
        "{{ name: '{}', operands: [{}], weak: [{}],{range} outputs: {}, variadic: {}, attrs: [{}], params: [{}] }}",
        op.path(),
        operands.join(", "),
        weak.join(", "),
        op.outputs.len(),
        op.variadic,
        attrs.join(", "),
        params.join(", ")
    )
}

pub fn render() -> String {
    let mut out = String::from(HEADER);
    out.push_str("// The operation table as the recording core and the argument encoder see it.\n\n");
    out.push_str(
        "/** An attribute: its encoder, and the word that stands for \"left out\" (null: required). */\nexport interface AttrRow {\n  readonly name: string\n  readonly kind: 'int' | 'number' | 'optAxis' | 'axes' | 'axisPairs' | 'padding' | 'widths' | 'text' | 'shape' | 'bool' | 'dtype' | 'device' | 'choice' | 'items' | 'call'\n  readonly default: number | null\n  readonly choices?: readonly (string | number)[]\n}\n\n\
         /** A number handed over at run time; null: required. */\nexport interface ParamRow {\n  readonly name: string\n  readonly default: number | null\n  readonly kind: 'number' | 'positive' | 'notNegative' | 'integer' | 'element'\n}\n\n\
         /** One operation. */\nexport interface OpRow {\n  readonly name: string\n  readonly operands: readonly string[]\n  /** Positions of operands that may be JavaScript scalars. */\n  readonly weak: readonly number[]\n  /** Where a scalar must lie, ends included. */\n  readonly range?: readonly [low: number, high: number]\n  readonly outputs: number\n  readonly variadic: boolean\n  readonly attrs: readonly AttrRow[]\n  readonly params: readonly ParamRow[]\n}\n\n\
         /** The operations; an operation's number in programs is its position plus one. */\nexport const OP_TABLE: readonly OpRow[] = [\n",
    );
    for op in OPS.iter().chain(&DERIVED) {
        let _ = writeln!(out, "  {},", row(op));
    }
    out.push_str("]\n\n/** Numbers of the operations. */\nexport const OP = {\n");
    for op in OPS.iter().chain(&DERIVED) {
        let path = op.path();
        let key = if path.contains('.') { format!("'{path}'") } else { path.to_string() };
        let _ = writeln!(out, "  {key}: {},", op.id());
    }
    out.push_str("} as const\n");
    out
}
