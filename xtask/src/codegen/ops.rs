//! `lib/generated/{functions,linalg,fft,random,nn}.ts` and `ops.ts`: functions and methods of every public row.

use super::HEADER;
use super::call::{Call, attr_doc, attr_type, param_doc, result_dtype};
use super::docs;
use super::signature::{Signature, bools_and_number};
use ferrotensor_ops::def::Namespace;
use std::fmt::Write;

const SPACES: [(Namespace, &str, &str); 5] = [
    (Namespace::Root, "functions", "Operations of the root namespace as functions: `ft`."),
    (Namespace::Linalg, "linalg", "Linear algebra: `ft.linalg`."),
    (Namespace::Fft, "fft", "Fourier transforms: `ft.fft`."),
    (Namespace::Random, "random", "Random tensors from a key: `ft.random`."),
    (Namespace::Nn, "nn", "Neural networks: `ft.nn`."),
];

/// The files, each with its path. A namespace without public rows has none.
pub fn render(calls: &[Call]) -> Result<Vec<(String, String)>, String> {
    let mut files = Vec::new();
    for (space, file, title) in SPACES {
        let own: Vec<&Call> = calls.iter().filter(|c| c.op.namespace == space).collect();
        if own.is_empty() {
            continue;
        }
        let mut body = String::new();
        for call in &own {
            options(&mut body, call);
            function(&mut body, call);
        }
        shown_too(&mut body, space, calls);
        files.push(file_of(file, title, &body, &[]));
    }
    let mut body = String::new();
    methods(&mut body, calls)?;
    let options: Vec<(String, Vec<String>)> = SPACES
        .iter()
        .map(|(space, file, _)| {
            let own = calls.iter().filter(|c| c.op.namespace == *space && c.method.is_some());
            (format!("./{file}.js"), own.filter_map(Call::options).collect())
        })
        .collect();
    files.push(file_of("ops", "The operations as methods of a tensor.", &body, &options));
    Ok(files)
}

/// What a namespace shows of the others, each under its own name.
fn shown_too(body: &mut String, space: Namespace, calls: &[Call]) {
    for (from, file, _) in SPACES {
        let there = calls.iter().filter(|c| c.op.namespace == from && c.op.also.contains(&space));
        let names: Vec<String> = there
            .flat_map(|c| {
                let functions = std::iter::once(c.op.name).chain(c.op.aliases.iter().copied());
                functions.map(String::from).chain(c.options().map(|o| format!("type {o}"))).collect::<Vec<_>>()
            })
            .collect();
        if !names.is_empty() {
            let _ = write!(body, "export {{\n  {}\n}} from './{file}.js'\n\n", names.join(",\n  "));
        }
    }
}

/// A file's path and text.
fn file_of(file: &str, title: &str, body: &str, options: &[(String, Vec<String>)]) -> (String, String) {
    (format!("lib/generated/{file}.ts"), format!("{HEADER}// {title}\n\n{}{}\n", imports(body, options), body.trim_end()))
}

/// The import lines a file needs, found by the names it uses.
fn imports(body: &str, options: &[(String, Vec<String>)]) -> String {
    // In code: a word of a comment names nothing.
    let code = || body.lines().filter(|line| !line.trim_start().starts_with(['*', '/']));
    let uses = |name: &str| code().any(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == name));
    let mut out = String::new();
    let mut line = |kind: &str, names: &[&str], from: &str| {
        let used: Vec<&str> = names.iter().copied().filter(|n| uses(n)).collect();
        if !used.is_empty() {
            let _ = writeln!(out, "import {kind}{{ {} }} from '{from}'", used.join(", "));
        }
    };
    line("type ", &["Listed", "Positions"], "../calls/arrays.js");
    line("", &["tensorList"], "../calls/operands.js");
    line("", &["binary", "many", "one", "readOptions", "surplus", "unary"], "../calls/record-call.js");
    line("", &["Methods"], "../tensor/methods.js");
    line(
        "type ",
        &["AsDType", "Common", "Device", "DTypeOf", "Fits", "Operand", "PromoteAll", "TakesEach", "Weak", "With"],
        "../tensor/operand.js",
    );
    line("", &["several"], "../calls/several.js");
    line("type ", &["Several"], "../calls/several.js");
    line("type ", &["Tensor"], "../tensor/tensor.js");
    line("type ", &["ComplexOf", "DType", "FloatOf", "Promote", "RealOf", "SumOf", "Takes"], "./dtypes.js");
    for (from, names) in options {
        line("type ", &names.iter().map(String::as_str).collect::<Vec<_>>(), from);
    }
    out.push('\n');
    out
}

fn jsdoc(out: &mut String, indent: &str, lines: &[String]) {
    match lines {
        [one] => {
            let _ = writeln!(out, "{indent}/** {one} */");
        }
        _ => {
            let _ = writeln!(out, "{indent}/**");
            for line in lines {
                let _ = writeln!(out, "{}", format!("{indent} * {line}").trim_end());
            }
            let _ = writeln!(out, "{indent} */");
        }
    }
}

fn options(out: &mut String, call: &Call) {
    let Some(name) = call.options() else { return };
    let named = result_dtype(call.op).is_some_and(|a| !a.positional);
    let _ = write!(out, "/** Options of `{}`. */\nexport interface {name}", call.op.path());
    out.push_str(if named { "<E extends DType = DType> {\n" } else { " {\n" });
    for attr in call.op.attrs.iter().filter(|a| !a.positional) {
        jsdoc(out, "  ", &[attr_doc(call.op, attr)]);
        let _ = writeln!(out, "  readonly {}?: {} | undefined", attr.name, attr_type(call.op, attr));
    }
    for param in call.op.params {
        if param.default.is_some() {
            jsdoc(out, "  ", &[param_doc(call.op, param)]);
            let _ = writeln!(out, "  readonly {}?: number | undefined", param.name);
        }
    }
    out.push_str("}\n\n");
}

fn parameters(signature: &Signature) -> String {
    let this = signature.this.iter().map(|ty| format!("this: {ty}"));
    let params = signature.params.iter().map(|p| format!("{}{}: {}", p.name, if p.optional { "?" } else { "" }, p.ty));
    this.chain(params).collect::<Vec<_>>().join(", ")
}

/// What a function returns, and the lines before it.
fn body(call: &Call, signature: &Signature, result: &str, first: &str, indent: &str) -> String {
    let mut out = String::new();
    if let Some(statement) = call.arguments(signature) {
        let _ = writeln!(out, "{indent}{statement}");
    }
    let record = call.body(first);
    if call.op.outputs.len() == 1 {
        let _ = writeln!(out, "{indent}return {record} as {result}");
    } else {
        let names = call.op.outputs.join(", ");
        let _ =
            writeln!(out, "{indent}const [{names}] = {record} as [{}]", vec!["Tensor"; call.op.outputs.len()].join(", "));
        let _ = writeln!(out, "{indent}return several({{ {names} }}) as {result}");
    }
    out
}

fn function(out: &mut String, call: &Call) {
    jsdoc(out, "", &docs::comment(call, &call.function));
    let (id, name) = (call.identifier(), call.op.name);
    let export = if id == name { "export " } else { "" };
    let (generics, result) = (&call.function.generics, &call.function.result);
    let _ = writeln!(out, "{export}function {id}{generics}({}): {result} {{", parameters(&call.function));
    let first = call.op.operands.first().map_or("", |o| o.name);
    out.push_str(&body(call, &call.function, result, first, "  "));
    out.push_str("}\n");
    if id != name {
        let _ = writeln!(out, "export {{ {id} as {name} }}");
    }
    for alias in call.op.aliases {
        let _ = writeln!(out, "export {{ {id} as {alias} }}");
    }
    out.push('\n');
}

/// A method, declared for bools and a number first where it has a signature for them.
fn method(out: &mut String, call: &Call, signature: &Signature, name: &str, comment: &[String]) {
    let general = format!("{name}{}({}): {}", signature.generics, parameters(signature), signature.result);
    let (line, result) = match bools_and_number(call.op) {
        None => (general.clone(), signature.result.as_str()),
        Some(own) => {
            jsdoc(out, "  ", &["Of bools and a number, which decides the dtype.".into()]);
            let _ = writeln!(out, "  {name}{own}");
            (format!("{name}({}: Operand): Tensor", call.op.operands[1].name), "Tensor")
        }
    };
    jsdoc(out, "  ", comment);
    if line != general {
        let _ = writeln!(out, "  {general}");
    }
    let _ = writeln!(out, "  {line} {{");
    out.push_str(&body(call, signature, result, "this", "    "));
    out.push_str("  }\n\n");
}

fn methods(out: &mut String, calls: &[Call]) -> Result<(), String> {
    out.push_str("/** The operations as methods; `Tensor` extends it. */\nexport abstract class OpMethods<D extends DType> extends Methods<D> {\n");
    let mut seen = Vec::new();
    for call in calls {
        let Some(signature) = &call.method else {
            continue;
        };
        for name in std::iter::once(&call.op.name).chain(call.op.aliases) {
            if seen.contains(name) {
                return Err(format!("two methods are called {name}"));
            }
            seen.push(name);
            let own = *name == call.op.name;
            let comment =
                if own { docs::comment(call, signature) } else { vec![format!("Another name for `{}`.", call.op.name)] };
            method(out, call, signature, name, &comment);
        }
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n}\n");
    Ok(())
}
