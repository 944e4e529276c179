//! The direction of dependencies between this workspace's crates: core <- ops <- engine <- node, core <- {backends, io} <- node, and
//! core <- gpu <- {GPU backends}.
//! No backend knows the table of operations, another backend, or JavaScript.

use crate::command;
use std::path::Path;

/// Each crate and the crates of this workspace it may use (development dependencies apart).
const ALLOWED: &[(&str, &[&str])] = &[
    // Nothing but features that everybody asks for.
    ("ferrotensor-unified", &[]),
    ("ferrotensor-core", &["ferrotensor-unified"]),
    ("ferrotensor-ops", &["ferrotensor-core"]),
    ("ferrotensor-engine", &["ferrotensor-core", "ferrotensor-ops"]),
    ("ferrotensor-cpu", &["ferrotensor-core"]),
    ("ferrotensor-host", &["ferrotensor-core"]),
    ("ferrotensor-fakes", &["ferrotensor-core"]),
    ("ferrotensor-gpu", &["ferrotensor-core"]),
    ("ferrotensor-vulkan", &["ferrotensor-core", "ferrotensor-gpu"]),
    // Files know dtypes and shapes, no device and no operation.
    ("ferrotensor-io", &["ferrotensor-core"]),
    // The table reaches the native module through the engine only.
    (
        "ferrotensor-node",
        &[
            "ferrotensor-core",
            "ferrotensor-engine",
            "ferrotensor-cpu",
            "ferrotensor-host",
            "ferrotensor-io",
            "ferrotensor-vulkan",
        ],
    ),
    (
        "ferrotensor-conformance",
        &[
            "ferrotensor-core",
            "ferrotensor-ops",
            "ferrotensor-engine",
            "ferrotensor-cpu",
            "ferrotensor-host",
            "ferrotensor-fakes",
            "ferrotensor-gpu",
            "ferrotensor-vulkan",
        ],
    ),
    (
        "ferrotensor-fuzz",
        &[
            "ferrotensor-core",
            "ferrotensor-ops",
            "ferrotensor-engine",
            "ferrotensor-cpu",
            "ferrotensor-io",
            "ferrotensor-conformance",
        ],
    ),
    ("xtask", &["ferrotensor-core", "ferrotensor-ops"]),
];

/// Edges that point the wrong way, and crates that have no place yet.
pub fn problems(root: &Path) -> Result<Vec<String>, String> {
    // Not offline: on a new machine no dependency but those of this program has been fetched.
    let tree = ["tree", "--workspace", "--edges", "normal,build"];
    // Not shortened: a crate that others use is a line without its own edges where it stands once more.
    let lines = ["--depth", "1", "--no-dedupe", "--prefix", "depth", "--format", " {p}"];
    Ok(wrong_edges(&command::output(root, "cargo", &[&tree[..], &lines].concat())?))
}

/// Reads `0 crate v1 (path)` for a crate and `1 crate v1 ...` for what it uses.
fn wrong_edges(tree: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut user = "";
    let mut allowed: &[&str] = &[];
    for line in tree.lines() {
        let mut words = line.split_whitespace();
        let (Some(depth), Some(name)) = (words.next(), words.next()) else { continue };
        let row = ALLOWED.iter().find(|(known, _)| *known == name);
        if depth == "0" {
            (user, allowed) = (name, row.map_or(&[] as &[&str], |(_, uses)| uses));
            if row.is_none() {
                found
                    .push(format!("{name}: a new crate needs a row in xtask/src/dependencies.rs that says what it may use"));
            }
        } else if row.is_some() && !allowed.contains(&name) {
            found.push(format!("{user} must not use {name}: dependencies point one way"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backend_that_knows_the_table_is_refused() {
        let tree =
            "0 ferrotensor-cpu v0.1.0 (somewhere)\n1 ferrotensor-core v0.1.0\n1 rayon v1.12.0\n1 ferrotensor-ops v0.1.0\n";
        assert_eq!(wrong_edges(tree), ["ferrotensor-cpu must not use ferrotensor-ops: dependencies point one way"]);
    }

    #[test]
    fn a_crate_without_a_row_is_refused() {
        assert_eq!(wrong_edges("0 ferrotensor-new v0.1.0 (somewhere)\n").len(), 1);
    }

    #[test]
    fn this_workspace_has_no_wrong_edge() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        assert_eq!(problems(&root), Ok(Vec::new()));
    }
}
