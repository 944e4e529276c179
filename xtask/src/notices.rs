//! `cargo xtask notices TARGET FILE`: the licence texts of everything that is linked into the native module for a target, as
//! its package must carry them.
//!
//! Cargo says what is linked; the texts are the files each package ships. Where its licence offers a choice, one is taken and the
//! files of the others are left out. A package that ships no text of its licence gets the standard one of `xtask/licences/`.

use crate::command;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A licence as it is found in packages.
struct Licence {
    /// Its SPDX name.
    name: &'static str,
    /// What the name of its file contains when a package offers several.
    file_tag: &'static str,
    /// Words that only its text has.
    phrase: &'static str,
    /// The text without a copyright line, for packages that ship none.
    standard: &'static str,
}

/// In the order of choice. A licence that deny.toml allows and that some package has alone must be here.
const LICENCES: &[Licence] = &[
    Licence {
        name: "MIT",
        file_tag: "MIT",
        phrase: "Permission is hereby granted, free of charge",
        standard: include_str!("../licences/MIT.txt"),
    },
    Licence {
        name: "ISC",
        file_tag: "ISC",
        phrase: "Permission to use, copy, modify, and/or distribute",
        standard: include_str!("../licences/ISC.txt"),
    },
    Licence {
        name: "BSD-2-Clause",
        file_tag: "BSD",
        phrase: "Redistribution and use in source and binary forms",
        standard: include_str!("../licences/BSD-2-Clause.txt"),
    },
    Licence {
        name: "Apache-2.0",
        file_tag: "APACHE",
        phrase: "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION",
        standard: include_str!("../licences/Apache-2.0.txt"),
    },
    Licence {
        name: "Zlib",
        file_tag: "ZLIB",
        phrase: "The origin of this software must not be misrepresented",
        standard: include_str!("../licences/Zlib.txt"),
    },
];

/// What the name of a file with legal text begins with, in capitals.
const LEGAL: &[&str] = &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// A linked package.
struct Package {
    /// Name and version.
    title: String,
    /// Its SPDX expression.
    licence: String,
    repository: String,
    folder: PathBuf,
}

/// Writes the notices of a target.
///
/// # Errors
/// A package whose licence is unknown here, or whose files cannot be read.
pub fn write(target: &str, file: &str) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let packages = linked(&root, target)?;
    let text = document(&packages)?;
    std::fs::write(file, text).map_err(|error| format!("{file}: {error}"))
}

/// The packages of others below the native module, without what only runs while it is built.
fn linked(root: &Path, target: &str) -> Result<Vec<Package>, String> {
    let edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}|{r}"];
    let tree = command::output(
        root,
        "cargo",
        &[&["tree", "--package", "ferrotensor-node", "--target", target], &edges[..]].concat(),
    )?;
    let folders = folders(&command::output(root, "cargo", &["metadata", "--format-version", "1"])?);
    let mut lines: Vec<&str> = tree.lines().filter(|line| !line.starts_with("ferrotensor-")).collect();
    lines.sort_unstable();
    lines.dedup();
    lines.into_iter().map(|line| package(line, &folders)).collect()
}

/// One line of the tree: `name v1.2.3|licence|repository`.
fn package(line: &str, folders: &BTreeMap<String, PathBuf>) -> Result<Package, String> {
    let mut fields = line.split('|');
    let mut next = || fields.next().unwrap_or_default().to_string();
    let (title, licence, repository) = (next(), next(), next());
    let key = title.replacen(" v", "-", 1);
    let folder =
        folders.get(&key).ok_or_else(|| format!("{title}: cargo metadata does not say where its files are"))?.clone();
    Ok(Package { title: title.replacen(" v", " ", 1), licence, repository, folder })
}

/// The folder of each package by `name-version`, which is what its source folder is called. The only thing needed of this JSON is
/// a list of paths, for which a parser would be a dependency too many.
fn folders(metadata: &str) -> BTreeMap<String, PathBuf> {
    let manifests = metadata.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let folders = manifests.filter_map(|path| Some(Path::new(&path.replace("\\\\", "\\")).parent()?.to_path_buf()));
    folders.filter_map(|folder| Some((folder.file_name()?.to_str()?.to_string(), folder))).collect()
}

/// The notices: each different text once, after the packages it is for.
fn document(packages: &[Package]) -> Result<String, String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in packages {
        let title = format!("{} ({}) {}", package.title, package.licence, package.repository);
        for text in package_texts(package)? {
            texts.entry(text).or_default().push(title.trim_end().to_string());
        }
    }
    // Rust's standard library is linked into every binary.
    let std = format!("Copyright (c) The Rust Project Developers\n\n{}", LICENCES[0].standard);
    texts
        .entry(std)
        .or_default()
        .push("The Rust standard library (MIT OR Apache-2.0) https://github.com/rust-lang/rust".into());
    let mut sections: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, titles)| (titles, text)).collect();
    sections.sort();
    let opening = "The native module of ferrotensor contains software of others, under the licences below.\n";
    let rule = "-".repeat(80);
    let body = sections.iter().map(|(titles, text)| format!("\n{rule}\n{}\n\n{}\n", titles.join("\n"), text.trim_end()));
    Ok(body.fold(opening.to_string(), |all, section| all + &section))
}

/// The texts a package asks to be passed on.
fn package_texts(package: &Package) -> Result<Vec<String>, String> {
    let (chosen, left) = choice(&package.licence).map_err(|name| format!("{}: no text of '{name}' here", package.title))?;
    let folder = std::fs::read_dir(&package.folder).map_err(|error| format!("{}: {error}", package.folder.display()))?;
    let mut files: Vec<PathBuf> = folder.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let mut texts = Vec::new();
    for file in files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        let legal = LEGAL.iter().any(|start| name.starts_with(start));
        if legal && file.is_file() && !left.iter().any(|licence| name.contains(licence.file_tag)) {
            let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
            texts.push(text.replace("\r\n", "\n").trim().to_string());
        }
    }
    for licence in chosen {
        if !texts.iter().any(|text| flat(text).contains(licence.phrase)) {
            texts.push(format!("Copyright (c) the authors of {}\n\n{}", package.title, licence.standard.trim_end()));
        }
    }
    Ok(texts)
}

/// A text with its line breaks and indentation as single spaces.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The licences to choose from, for each part of an `AND` in an SPDX expression. `/` is the old spelling of `OR`.
fn offers(expression: &str) -> Vec<Vec<String>> {
    let plain = expression.replace(['(', ')'], "").replace('/', " OR ");
    plain.split(" AND ").map(|part| part.split(" OR ").map(|name| name.trim().to_string()).collect()).collect()
}

type Choice = (Vec<&'static Licence>, Vec<&'static Licence>);

/// The licences taken from an SPDX expression, one for each part of an `AND`, and those left.
///
/// # Errors
/// The part none of whose licences is in [`LICENCES`].
fn choice(expression: &str) -> Result<Choice, String> {
    let (mut chosen, mut left) = (Vec::new(), Vec::new());
    for offered in offers(expression) {
        let mut known = LICENCES.iter().filter(|licence| offered.iter().any(|name| name == licence.name));
        chosen.push(known.next().ok_or_else(|| offered.join(" OR "))?);
        left.extend(known);
    }
    Ok((chosen, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(licences: &[&Licence]) -> Vec<&'static str> {
        licences.iter().map(|licence| licence.name).collect()
    }

    #[test]
    fn one_licence_is_taken_of_each_part() {
        let both = choice("Apache-2.0/MIT").ok().map(|(chosen, left)| (names(&chosen), names(&left)));
        assert_eq!(both, Some((vec!["MIT"], vec!["Apache-2.0"])));
        let all = choice("(MIT OR Zlib) AND ISC").ok().map(|(chosen, left)| (names(&chosen), names(&left)));
        assert_eq!(all, Some((vec!["MIT", "ISC"], vec!["Zlib"])));
        assert_eq!(choice("MIT AND GPL-3.0").err(), Some("GPL-3.0".to_string()));
    }

    #[test]
    fn a_standard_text_is_recognised_as_that_licence_only() {
        for text in LICENCES {
            let found: Vec<_> = LICENCES.iter().filter(|licence| flat(text.standard).contains(licence.phrase)).collect();
            assert_eq!(names(&found), [text.name]);
        }
    }

    #[test]
    fn every_linked_package_is_named_with_its_licence() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let packages = linked(&root, "x86_64-unknown-linux-gnu").unwrap();
        let text = document(&packages).unwrap();
        for package in &packages {
            assert!(text.contains(&format!("\n{} ({})", package.title, package.licence)), "{}", package.title);
        }
        // What each was chosen for: two licences, none of its own file, texts of ported code, the oldest spelling.
        for part in
            ["half 2.", "napi-sys 3.", "divide and conquer SVD", "Copyright (c) the authors of napi-sys", "rustc-hash 1."]
        {
            assert!(text.contains(part), "{part}");
        }
        assert!(!text.contains("ferrotensor-"), "our own crates are under the package's own LICENSE");
        assert!(!text.contains("\nsyn "), "what only runs in the build is not linked");
    }

    #[test]
    fn a_package_without_its_files_is_an_error() {
        let lost = package("half v2.7.1|MIT|", &BTreeMap::new());
        assert!(lost.is_err_and(|message| message.starts_with("half v2.7.1")));
    }
}
