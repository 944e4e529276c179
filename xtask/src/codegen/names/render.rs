//! The files of names: TypeScript for each namespace and for methods, and the page that lists all.

use super::{Instead, Same, instead, same, written};
use crate::codegen::HEADER;
use crate::codegen::docs::GENERATED;

use std::fmt::Write;

/// Namespaces, their files below `lib/generated/names`, and their titles in the documentation.
pub const SPACES: [(&str, &str, &str); 10] = [
    ("", "root", "Functions: `ft`"),
    ("linalg", "linalg", "Linear algebra: `ft.linalg`"),
    ("fft", "fft", "Fourier transforms: `ft.fft`"),
    ("random", "random", "Random numbers: `ft.random`"),
    ("nn", "nn", "Neural networks: `ft.nn`"),
    ("nn.init", "init", "Initialisers: `ft.nn.init`"),
    ("optim", "optim", "Optimisers: `ft.optim`"),
    ("special", "special", "Special functions: `ft.special`"),
    ("data", "data", "Data: `ft.data`"),
    ("io", "io", "Files: `ft.io`"),
];

/// The files, each with its path.
pub fn render() -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = SPACES
        .iter()
        .map(|(space, file, title)| (format!("lib/generated/names/{file}.ts"), functions(space, title)))
        .collect();
    files.push(("lib/generated/names/methods.ts".into(), methods()));
    files.push(("docs/names.md".into(), page()));
    files
}

/// A target's name, and the module it is in as seen from `lib/generated/names`.
fn place(target: &str) -> (&str, String) {
    if let Some((name, module)) = target.split_once('@') {
        return (name, format!("../../{module}.js"));
    }
    let (space, name) = target.split_once('.').unwrap_or(("", target));
    let file = if space.is_empty() { "functions" } else { space };
    (name, format!("../{file}.js"))
}

/// A target as users write it after `ft.`.
fn shown(target: &str) -> String {
    match target.split_once('@') {
        None => target.into(),
        Some((name, module)) => {
            let space = match module {
                "nn/initializers" => "nn.init.",
                "arrays/factors" | "arrays/tolerances" => "linalg.",
                _ if module.starts_with("nn/") => "nn.",
                _ if module.starts_with("optim/") => "optim.",
                _ if module.starts_with("random/") => "random.",
                _ => "",
            };
            format!("{space}{name}")
        }
    }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// What PyTorch's numbers in names of layers and their functions say of the operand: `conv2d`.
fn operand_shape(space: &str, name: &str) -> &'static str {
    match name.get(name.len().saturating_sub(2)..) {
        Some("1d") if space == "nn" => ", for `x` [batch, channels, length]",
        Some("2d") if space == "nn" => ", for `x` [batch, channels, height, width]",
        Some("3d") if space == "nn" => ", for `x` [batch, channels, depth, height, width]",
        _ => "",
    }
}

fn functions(space: &str, title: &str) -> String {
    let (same, instead) = (same(Some(space)), instead(Some(space)));
    let mut imports: Vec<(String, Vec<&str>)> = Vec::new();
    let (mut again, mut body) = (String::new(), String::new());
    for Same { name, target } in &same {
        let (own, module) = place(target);
        // What a class names is a type too.
        if own == name || own.starts_with(|c: char| c.is_ascii_uppercase()) {
            let renamed = if own == name { String::new() } else { format!(" as {name}") };
            let _ = writeln!(again, "export {{ {own}{renamed} }} from '{module}'");
            continue;
        }
        match imports.iter_mut().find(|(from, _)| *from == module) {
            Some((_, names)) if names.contains(&own) => {}
            Some((_, names)) => names.push(own),
            None => imports.push((module, vec![own])),
        }
        let shape = operand_shape(space, name);
        let _ = writeln!(body, "/** Alias of {{@link {own}}}{shape}. */\nexport const {name}: typeof {own} = {own}");
    }
    let prefix = if space.is_empty() { String::new() } else { format!("{space}.") };
    for Instead { name, words } in &instead {
        let _ = writeln!(
            body,
            "/** @deprecated Not a function here: {words}. */\nexport const {name} = instead('{prefix}{name}', {})",
            quoted(words)
        );
    }
    imports.sort();
    let mut out = format!("{HEADER}// Names of NumPy and PyTorch. {title}.\n\n");
    for (module, mut names) in imports {
        names.sort_unstable();
        let _ = writeln!(out, "import {{ {} }} from '{module}'", names.join(", "));
    }
    if !instead.is_empty() {
        out.push_str("import { instead } from '../../errors/instead.js'\n");
    }
    if !again.is_empty() {
        let _ = write!(out, "\n{again}");
    }
    if !body.is_empty() {
        let _ = write!(out, "\n{body}");
    }
    if same.is_empty() && instead.is_empty() { format!("{out}export {{}}\n") } else { out }
}

fn methods() -> String {
    let (same, instead) = (same(None), instead(None));
    let mut out = format!("{HEADER}// Names of NumPy and PyTorch that are methods of tensors.\n\n");
    out.push_str("import type { Instead } from '../../errors/instead.js'\nimport { NamedMethods } from '../../tensor/named.js'\nimport type { Tensor } from '../../tensor/tensor.js'\nimport type { DType } from '../dtypes.js'\n\n");
    out.push_str("/** Methods under the names of other libraries; `Tensor` extends it. */\nexport abstract class AliasMethods<D extends DType> extends NamedMethods<D> {\n");
    for Same { name, target } in &same {
        let _ =
            writeln!(out, "  /** Alias of {{@link Tensor.{target}}}. */\n  declare readonly {name}: Tensor<D>['{target}']");
    }
    for Instead { name, words } in &instead {
        let _ = writeln!(
            out,
            "  /** @deprecated Not a method here: {words}. */\n  declare readonly {name}: Instead<{}>",
            quoted(words)
        );
    }
    out.push_str("}\n\n/** Names of methods, and the method that each is. */\nexport const SAME: Readonly<Record<string, string>> = {\n");
    for Same { name, target } in &same {
        let _ = writeln!(out, "  {name}: '{target}',");
    }
    out.push_str("}\n\n/** What calls of methods throw that are none, and their names. */\nexport const INSTEAD: readonly (readonly [words: string, names: string])[] = [\n");
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for Instead { name, words } in &instead {
        match groups.last_mut() {
            Some((last, names)) if last == words => names.push(name),
            _ => groups.push((words, vec![name])),
        }
    }
    for (words, names) in groups {
        let _ = writeln!(out, "  [{}, '{}'],", quoted(words), names.join(" "));
    }
    out.push_str("]\n");
    out
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

/// `docs/names.md`.
fn page() -> String {
    let mut out = format!("{GENERATED}# Names of NumPy and PyTorch\n\n");
    out.push_str(
        "What the two libraries call a function runs here under that name too, in camel case, where it has one meaning. Documentation and\n\
         examples use the first name. A name that does not run throws an `UnsupportedError` that says what to write; in TypeScript its type\n\
         says the same. Names that both libraries share with ours are not listed: [ops/README.md](ops/README.md) has those.\n",
    );
    let spaces = SPACES.iter().map(|(space, _, title)| (Some(*space), *title));
    for (space, title) in spaces.chain([(None, "Methods of tensors")]) {
        let (same, written, instead) = (same(space), written(space), instead(space));
        if same.is_empty() && written.is_empty() && instead.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n## {title}");
        let same: Vec<&Same> = same.iter().filter(|s| shown(&s.target) != s.name).collect();
        if !same.is_empty() || !written.is_empty() {
            out.push_str("\n| Name | Here |\n|---|---|\n");
        }
        for s in same {
            let _ = writeln!(out, "| `{}` | `{}` |", s.name, shown(&s.target));
        }
        for (name, here) in written {
            let _ = writeln!(out, "| `{name}`, with the arguments it has there | `{here}` |");
        }
        if !instead.is_empty() {
            out.push_str("\n| Name that does not run | What its error says |\n|---|---|\n");
        }
        let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
        for Instead { name, words } in &instead {
            match rows.last_mut() {
                Some((last, names)) if last == words => names.push(code(name)),
                _ => rows.push((words, vec![code(name)])),
            }
        }
        for (words, names) in rows {
            let _ = writeln!(out, "| {} | {words} |", names.join(", "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_ops::def::Namespace;

    #[test]
    fn every_namespace_of_rows_has_names() {
        for space in [Namespace::Root, Namespace::Linalg, Namespace::Fft, Namespace::Random, Namespace::Nn] {
            assert!(SPACES.iter().any(|(path, ..)| *path == space.path()));
        }
    }
}
