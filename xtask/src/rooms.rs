//! The direction of imports in `lib/`: each folder may use itself and those above it in [`ROOMS`], and no files import each other in a circle.
//! Imports of types alone, which are gone when the code runs, may go anywhere. `import()` in the middle of code is not looked at.

use crate::command;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The folders from bottom to top, each with the beginnings of its paths; of two that fit a path the longer counts.
const ROOMS: &[(&str, &[&str])] = &[
    ("errors", &["lib/errors", "lib/realm.ts", "lib/elf.ts"]),
    ("text", &["lib/text/"]),
    ("tables", &["lib/generated/"]),
    ("native", &["lib/native", "lib/loader.ts"]),
    ("devices", &["lib/devices/"]),
    ("program", &["lib/program/"]),
    ("execution", &["lib/execution/"]),
    ("arguments", &["lib/arguments/"]),
    ("values", &["lib/values/"]),
    ("calls", &["lib/calls/"]),
    ("functions", &["lib/generated/functions.ts", "lib/generated/linalg.ts", "lib/generated/nn.ts", "lib/generated/fft.ts"]),
    ("indexing", &["lib/indexing/"]),
    ("tree", &["lib/tree/"]),
    ("autodiff", &["lib/autodiff/"]),
    ("transforms", &["lib/transforms/"]),
    ("arrays", &["lib/arrays/"]),
    ("tensor", &["lib/tensor/", "lib/generated/ops.ts", "lib/generated/names/methods.ts"]),
    ("linalg", &["lib/linalg/", "lib/generated/names/linalg.ts"]),
    ("fft", &["lib/fft/", "lib/generated/names/fft.ts"]),
    ("memory", &["lib/memory/"]),
    ("random", &["lib/random/", "lib/generated/names/random.ts"]),
    ("data", &["lib/data/", "lib/generated/names/data.ts"]),
    ("io", &["lib/io/", "lib/generated/names/io.ts"]),
    ("nn", &["lib/nn/", "lib/generated/names/nn.ts", "lib/generated/names/init.ts"]),
    ("optim", &["lib/optim/", "lib/generated/names/optim.ts"]),
    ("signal", &["lib/signal/"]),
    ("diagnostics", &["lib/diagnostics/"]),
    ("backends", &["lib/backends/"]),
    ("systolic", &["lib/systolic/"]),
    ("index", &["index.ts", "lib/generated/names/root.ts", "lib/generated/names/special.ts"]),
    ("plot", &["lib/plot/"]),
    ("testing", &["testing.ts", "lib/testing/"]),
    ("cli", &["lib/cli/"]),
];

/// Files, each with those that it imports when it runs.
type Imports = BTreeMap<String, Vec<String>>;

/// Imports that point up, circles, and files that have no room.
pub fn problems(root: &Path) -> Result<Vec<String>, String> {
    let listed = command::output(
        root,
        "git",
        &["ls-files", "--cached", "--others", "--exclude-standard", "lib/*.ts", "index.ts", "testing.ts"],
    )?;
    let mut imports = Imports::new();
    for path in listed.lines() {
        // One that is deleted and not yet committed is listed still.
        let Ok(text) = std::fs::read_to_string(root.join(path)) else { continue };
        imports.insert(path.into(), imported(path, &text));
    }
    Ok(wrong(&imports))
}

fn wrong(imports: &Imports) -> Vec<String> {
    let mut found = Vec::new();
    for (path, targets) in imports {
        let Some(own) = room(path) else {
            found.push(format!("{path}: a new folder needs a row in xtask/src/rooms.rs that says what it stands above"));
            continue;
        };
        for target in targets {
            if room(target).is_some_and(|other| other > own) {
                let (below, above) = (ROOMS[own].0, ROOMS[room(target).unwrap_or(own)].0);
                found.push(format!("{path} imports {target}: {below} stands below {above}"));
            }
        }
    }
    found.extend(circle(imports).map(|path| format!("imports in a circle: {}", path.join(" -> "))));
    found
}

/// The place of a path's room.
fn room(path: &str) -> Option<usize> {
    let fits = ROOMS.iter().enumerate().flat_map(|(i, (_, starts))| starts.iter().map(move |start| (start, i)));
    fits.filter(|(start, _)| path.starts_with(**start)).max_by_key(|(start, _)| start.len()).map(|(_, i)| i)
}

/// Files of this package that a module's static imports and exports name, those of types left out.
fn imported(path: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let starts = ["import ", "export {", "export *"].iter().any(|start| line.starts_with(start));
        if !starts || line.starts_with("import type ") || line.starts_with("export type ") {
            continue;
        }
        let mut statement = line.to_string();
        while !statement.contains('\'') && !statement.contains('}') {
            let Some(next) = lines.next() else { break };
            statement.push_str(next);
        }
        let mut quoted = statement.split('\'').skip(1);
        let Some(from) = quoted.next().filter(|from| from.starts_with('.')) else { continue };
        let names = statement.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(names, _)| names);
        // `import D, { type C }` brings D.
        let bare = statement.starts_with("import {") || statement.starts_with("export {");
        let types_alone = bare
            && names.is_some_and(|names| {
                names.split(',').map(str::trim).filter(|name| !name.is_empty()).all(|name| name.starts_with("type "))
            });
        if !types_alone {
            found.push(resolved(path, from));
        }
    }
    found
}

/// A relative specifier as a path of the checkout.
fn resolved(path: &str, from: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in from.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            name => parts.push(name),
        }
    }
    let joined = parts.join("/");
    joined.strip_suffix(".js").map_or(joined.clone(), |stem| format!("{stem}.ts"))
}

/// Files that import each other in a circle, if any do.
fn circle(imports: &Imports) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    imports.keys().find_map(|path| descend(path, imports, &mut Vec::new(), &mut done))
}

fn descend(path: &str, imports: &Imports, way: &mut Vec<String>, done: &mut BTreeSet<String>) -> Option<Vec<String>> {
    if let Some(at) = way.iter().position(|known| known == path) {
        return Some([&way[at..], &[path.to_string()]].concat());
    }
    if done.contains(path) {
        return None;
    }
    way.push(path.into());
    let found = imports.get(path).and_then(|all| all.iter().find_map(|target| descend(target, imports, way, done)));
    way.pop();
    done.insert(path.into());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(all: &[(&str, &str)]) -> Imports {
        all.iter().map(|(path, text)| (path.to_string(), imported(path, text))).collect()
    }

    #[test]
    fn an_import_that_points_up_is_refused() {
        let up = files(&[("lib/program/a.ts", "import { b } from '../nn/b.js'\n"), ("lib/nn/b.ts", "")]);
        assert_eq!(wrong(&up), ["lib/program/a.ts imports lib/nn/b.ts: program stands below nn"]);
    }

    #[test]
    fn types_may_come_from_anywhere() {
        let text = "import type { B } from '../nn/b.js'\nimport {\n  type C, type D\n} from '../nn/b.js'\n";
        assert_eq!(wrong(&files(&[("lib/program/a.ts", text), ("lib/nn/b.ts", "")])), Vec::<String>::new());
    }

    #[test]
    fn a_circle_is_refused() {
        let a = "import {\n  b,\n  type B\n} from './b.js'\n";
        let found = wrong(&files(&[("lib/nn/a.ts", a), ("lib/nn/b.ts", "export * from './a.js'\n")]));
        assert_eq!(found, ["imports in a circle: lib/nn/a.ts -> lib/nn/b.ts -> lib/nn/a.ts"]);
    }

    #[test]
    fn a_folder_without_a_row_is_refused() {
        assert_eq!(wrong(&files(&[("lib/cellar/a.ts", "")])).len(), 1);
    }

    #[test]
    fn this_checkout_has_no_wrong_import() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(problems(&root), Ok(Vec::new()));
    }
}
