//! The licences of everything that is linked into the native module or runs its build: each must be one that a package under
//! MIT may pass on with no duty but keeping the notice.

use std::path::Path;
use std::process::Command;

/// SPDX names. Nothing with copyleft, nothing unknown.
const ALLOWED: &[&str] =
    &["MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "0BSD", "Unlicense", "Unicode-3.0"];

/// Packages whose licence is missing or not allowed.
pub fn problems(root: &Path) -> Result<Vec<String>, String> {
    let tree = Command::new("cargo")
        .args(["tree", "--workspace", "--edges", "normal,build", "--target", "all"])
        .args(["--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo tree: {error}"))?;
    if !tree.status.success() {
        return Err(String::from_utf8_lossy(&tree.stderr).into_owned());
    }
    let mut found: Vec<String> = String::from_utf8_lossy(&tree.stdout).lines().filter_map(refused).collect();
    found.sort();
    found.dedup();
    Ok(found)
}

/// Why a line `name version|expression` is refused.
fn refused(line: &str) -> Option<String> {
    let (package, licence) = line.split_once('|')?;
    (!is_allowed(licence)).then(|| format!("{package}: licence '{licence}' is not one of {}", ALLOWED.join(", ")))
}

/// Whether each part of an `AND` offers an allowed choice. `/` is the old spelling of `OR`.
fn is_allowed(expression: &str) -> bool {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").all(|part| part.split(" OR ").any(|name| ALLOWED.contains(&name.trim())))
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
