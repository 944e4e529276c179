//! Paths that the documents name must exist: links of every Markdown file, and paths in backticks of those about the code.

use std::path::Path;

/// Files whose prose names places in the repository.
const MAPS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/architecture/"];

/// Paths a document names that do not exist.
pub fn problems(root: &Path, path: &str, text: &str) -> Vec<String> {
    let folder = Path::new(path).parent().unwrap_or(Path::new(""));
    let links = links(text).map(|link| (link, folder.join(link)));
    let is_map = MAPS.iter().any(|map| if map.ends_with('/') { path.starts_with(map) } else { path == *map });
    let named = paths(text).filter(|_| is_map).map(|named| (named, named.into()));
    let missing = links.chain(named).filter(|(_, target)| !root.join(target).exists());
    missing.map(|(name, _)| format!("{path}: '{name}' does not exist")).collect()
}

/// Targets of `[text](target)` inside the repository.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| {
        let target = rest.split(')').next()?.split('#').next()?;
        (!target.is_empty() && !target.contains(':')).then_some(target)
    })
}

/// Whole backticked words that look like the path of a folder or file: `a/b.rs`, `a/b/`.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    quoted.filter(|word| {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        let (_, last) = word.rsplit_once('/').unwrap_or(("", ""));
        // What the build makes is not in the repository.
        plain && word.contains('/') && (last.is_empty() || last.contains('.')) && !word.starts_with("dist/")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_links_and_paths_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let text = "See [this](Cargo.toml), [that](gone.md#part), `xtask/src/links.rs`, `xtask/src/gone.rs` and `a.b / c`.";
        let found = problems(&root, "README.md", text);
        assert_eq!(found, ["README.md: 'gone.md' does not exist", "README.md: 'xtask/src/gone.rs' does not exist"]);
        assert_eq!(problems(&root, "docs/architecture/gpu.md", "`xtask/src/gone.rs`").len(), 1);
        assert_eq!(problems(&root, "docs/gpu.md", "`xtask/src/gone.rs`").len(), 0);
    }
}
