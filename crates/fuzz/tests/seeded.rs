//! The fuzz targets on random bytes: a few seconds of them wherever the tests run. Finding more is libFuzzer's work.

use ferrotensor_conformance::values::Rng;

/// Of what tables are made.
const PIECES: &[&str] =
    &[",", ",", ",", "\n", "\n", "\r", "\"", " ", "\t", "#", "x", "-", "1", "0.5", "16777217", "3000000001", "1e39", "é"];

/// Runs a target on inputs of random length; each is repeated by its number alone.
fn random(name: &str, inputs: usize, longest: usize, check: fn(&[u8]) -> Result<(), String>) {
    for n in 0..inputs {
        let mut rng = Rng::named(&format!("{name} {n}"));
        let bytes: Vec<u8> = (0..rng.below(longest)).map(|_| rng.bits() as u8).collect();
        if let Err(problem) = check(&bytes) {
            panic!("{name} {n}: {problem}\n{bytes:?}");
        }
    }
}

#[test]
fn layouts_are_what_index_arithmetic_says() {
    random("layouts", 20_000, 100, ferrotensor_fuzz::layouts::check);
}

#[test]
fn programs_give_the_reference_s_values_or_typed_errors() {
    random("programs", 3_000, 200, ferrotensor_fuzz::programs::check);
}

#[test]
fn files_give_what_they_declare_or_errors_of_their_format() {
    random("npy", 30_000, 200, ferrotensor_fuzz::files::npy);
    random("npz", 30_000, 60, ferrotensor_fuzz::files::npz);
    random("safetensors", 30_000, 200, ferrotensor_fuzz::files::safetensors);
    random("text", 30_000, 200, ferrotensor_fuzz::files::text);
    random("table", 30_000, 200, ferrotensor_fuzz::files::table);
    // Delimiters, quotes, numbers and ends of lines meet rarely among bytes of all kinds. The first four bytes choose how the table is read.
    for n in 0..100_000 {
        let mut rng = Rng::named(&format!("pieces {n}"));
        let mut letters: Vec<u8> = (0..4).map(|_| rng.bits() as u8).collect();
        letters.extend((0..rng.below(20)).flat_map(|_| PIECES[rng.below(PIECES.len())].bytes()));
        if let Err(problem) = ferrotensor_fuzz::files::table(&letters) {
            panic!("pieces {n}: {problem}\n{}", String::from_utf8_lossy(&letters));
        }
    }
}
