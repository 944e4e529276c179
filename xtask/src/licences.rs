//! The licences of everything that is linked into the native module or runs its build: each must be one that a package under
//! MIT may pass on with no duty but keeping the notice.

use crate::command;
use std::path::Path;

/// SPDX names. Nothing with copyleft, nothing unknown.
const ALLOWED: &[&str] =
    &["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "0BSD", "Unlicense", "Unicode-3.0"];

/// Packages whose licence is missing or not allowed.
pub fn problems(root: &Path) -> Result<Vec<String>, String> {
    let tree = ["tree", "--workspace", "--edges", "normal,build", "--target", "all"];
    let lines = ["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"];
    let tree = command::output(root, "cargo", &[&tree[..], &lines].concat())?;
    let mut found: Vec<String> = tree.lines().filter_map(refused).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

/// Why a line `name version|expression` is refused.
fn refused(line: &str) -> Option<String> {
    let (package, licence) = line.split_once('|')?;
    (!is_allowed(licence)).then(|| format!("{package}: licence '{licence}' is not one of {}", ALLOWED.join(", ")))
}

/// Whether each part of an `AND` offers an allowed choice.
fn is_allowed(expression: &str) -> bool {
    offers(expression).iter().all(|names| names.iter().any(|name| ALLOWED.contains(&name.as_str())))
}

/// The licences to choose from, for each part of an `AND` in an SPDX expression. `/` is the old spelling of `OR`.
pub fn offers(expression: &str) -> Vec<Vec<String>> {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").map(|part| part.split(" OR ").map(|name| name.trim().to_string()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copyleft_and_missing_licences_are_refused() {
        assert_eq!(refused("half v2.7.1|MIT OR Apache-2.0"), None);
        assert_eq!(refused("unicode-ident v1.0.24|(MIT OR Apache-2.0) AND Unicode-3.0"), None);
        assert!(refused("mpi v1.0.0|MIT AND GPL-3.0-only").is_some());
        assert!(refused("nameless v1.0.0|").is_some());
    }
}
