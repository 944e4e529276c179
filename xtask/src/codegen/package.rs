//! What the package says of itself at run time, from package.json: a bundle has no such file beside it.

use super::{HEADER, root};
use std::fs;

/// `lib/generated/package.ts`.
pub fn render() -> Result<(String, String), String> {
    let path = root().join("package.json");
    let manifest = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let text = text(&manifest).map_err(|what| format!("{}: {what}", path.display()))?;
    Ok(("lib/generated/package.ts".into(), text))
}

fn text(manifest: &str) -> Result<String, String> {
    let [version] = strings(manifest, "\n  \"version\":", ",")?[..] else { return Err("no version".into()) };
    let platforms = strings(manifest, "\"targets\": [", "]")?
        .into_iter()
        .map(|target| Ok(format!("  '{}'", platform(target).ok_or(format!("no platform {target}"))?)))
        .collect::<Result<Vec<_>, String>>()?
        .join(",\n");
    Ok(format!(
        "{HEADER}
/** Version of this package. */
export const VERSION = '{version}'

/** The platforms that there are packages for, as napi-rs names them. */
export const PLATFORMS: readonly string[] = [
{platforms}
]
"
    ))
}

/// The strings between two texts of a file that npm formats.
fn strings<'a>(manifest: &'a str, before: &str, after: &str) -> Result<Vec<&'a str>, String> {
    let found = manifest.split_once(before).and_then(|(_, rest)| rest.split_once(after));
    let (inside, _) = found.ok_or(format!("{before} is missing"))?;
    Ok(inside.split('"').skip(1).step_by(2).collect())
}

/// The platform of one of Rust's targets: system, processor, and the ABI where a system has several.
fn platform(target: &str) -> Option<String> {
    let (processor, system) = target.split_once('-')?;
    let processor = match processor {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        _ => return None,
    };
    Some(match system {
        "unknown-linux-gnu" => format!("linux-{processor}-gnu"),
        "unknown-linux-musl" => format!("linux-{processor}-musl"),
        "apple-darwin" => format!("darwin-{processor}"),
        "pc-windows-msvc" => format!("win32-{processor}-msvc"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn version_and_platforms_are_those_of_the_manifest() {
        let manifest = |target: &str| {
            format!(
                "{{\n  \"name\": \"x\",\n  \"version\": \"1.2.3\",\n  \"napi\": {{ \"targets\": [\n \"{target}\"\n ] }}\n}}"
            )
        };
        let written = text(&manifest("aarch64-apple-darwin")).unwrap();
        assert!(written.contains("VERSION = '1.2.3'") && written.contains("[\n  'darwin-arm64'\n]"), "{written}");
        assert!(text(&manifest("sparc-sun-solaris")).is_err() && text("{}").is_err());
    }
}
