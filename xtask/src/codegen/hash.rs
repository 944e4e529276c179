//! The hash of all that both halves of the package have from the tables: a native binary of other tables is refused when it is loaded.

use super::HEADER;

/// The generated files, of these texts: one for TypeScript and one for Rust.
pub fn render(texts: &[String]) -> [(String, String); 2] {
    let hash = texts.iter().flat_map(|text| text.bytes()).fold(0xcbf2_9ce4_8422_2325, fnv1a);
    let what =
        "Hash of the tables of operations, of dtypes and of protocol words, which both halves of the package must share.";
    [
        ("lib/generated/hash.ts".into(), format!("{HEADER}\n// {what}\nexport const TABLE_HASH = '{hash:016x}'\n")),
        (
            "crates/node/src/hash.rs".into(),
            format!("//! {what}\n{HEADER}\n/// As in TypeScript.\npub const TABLE_HASH: &str = \"{hash:016x}\";\n"),
        ),
    ]
}

/// One byte more (Fowler, Noll and Vo).
fn fnv1a(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn both_files_have_one_hash_which_depends_on_each_byte() {
        let of = |texts: &[&str]| render(&texts.iter().map(|text| text.to_string()).collect::<Vec<_>>());
        // The published value of "foobar".
        let [ts, rust] = of(&["foo", "bar"]);
        assert!(ts.1.contains("'85944171f73967e8'") && rust.1.contains("\"85944171f73967e8\""), "{}", ts.1);
        assert_ne!(of(&["foo", "baz"])[0], ts);
    }
}
