//! Whether every package asks for the same features of shared dependencies when it is built alone as in a build of the whole
//! workspace: what differs is compiled again, with all that stands on it (see `crates/unified/Cargo.toml`).

use crate::command;
use std::collections::BTreeSet;
use std::path::Path;

/// Dependencies that a package would have compiled once more.
pub fn problems(root: &Path) -> Result<Vec<String>, String> {
    let members = listed(root, &["--workspace", "--depth", "0"])?;
    let whole = listed(root, &["--workspace"])?;
    let mut found = Vec::new();
    for member in &members {
        let name = member.split(' ').next().unwrap_or_default();
        found.extend(apart(name, &listed(root, &["--package", name])?, &whole));
    }
    Ok(found)
}

/// `crate version features` of what a build of that selection compiles.
fn listed(root: &Path, selection: &[&str]) -> Result<BTreeSet<String>, String> {
    // Not offline: where only this program was built, development dependencies of others have yet to be fetched.
    let tree = ["tree", "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p} {f}"];
    let text = command::output(root, "cargo", &[&tree[..], selection].concat())?;
    Ok(text
        .lines()
        .map(|line| line.trim_end_matches("(*)").trim_end().to_string())
        .filter(|line| !line.is_empty())
        .collect())
}

fn apart(name: &str, alone: &BTreeSet<String>, whole: &BTreeSet<String>) -> Vec<String> {
    let say = |line: &String| {
        format!("{name} alone asks for other features than the workspace, add them to crates/unified: {line}")
    };
    alone.difference(whole).map(say).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_asks_for_less_than_the_workspace_is_told() {
        let set = |lines: &[&str]| lines.iter().map(|l| l.to_string()).collect::<BTreeSet<_>>();
        let whole = set(&["syn v3.0.9 default,full", "half v2.7.1 std"]);
        assert_eq!(apart("x", &set(&["half v2.7.1 std"]), &whole), [""; 0]);
        assert_eq!(apart("x", &set(&["syn v3.0.9 default"]), &whole).len(), 1);
    }

    #[test]
    fn every_package_shares_the_builds_of_the_workspace() {
        assert_eq!(problems(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..")), Ok(Vec::new()));
    }
}
