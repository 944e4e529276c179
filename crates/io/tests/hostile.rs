//! Bytes that no honest program wrote: each gives elements, exactly as many as were declared, or an error of `Code::Format`.

use ferrotensor_core::error::Code;
use ferrotensor_core::{DType, Error};
use ferrotensor_io::{Array, Content, Format, Source, Writing, text, write};
use std::collections::BTreeMap;

/// A small file of each format.
fn samples() -> Vec<(Format, Vec<u8>)> {
    let data = |bytes: &'static [u8]| move || Ok(bytes.to_vec());
    let (one, two) = (data(&[1, 2, 3, 4, 5, 6, 7, 8]), data(&[1, 0, 1]));
    let arrays = [
        Array { name: "a", dtype: DType::I16, shape: &[2, 2], data: &one },
        Array { name: "b/c", dtype: DType::Bool, shape: &[3], data: &two },
    ];
    let file = |arrays: &[Array<'_>], how: &Writing| {
        let mut out = Vec::new();
        write(&mut out, arrays, how).expect("written");
        out
    };
    let metadata = BTreeMap::from([("k".to_string(), "v".to_string())]);
    vec![
        (Format::Npy, file(&arrays[..1], &Writing::Npy)),
        (Format::Npz, file(&arrays, &Writing::Npz { compressed: false })),
        (Format::Npz, file(&arrays, &Writing::Npz { compressed: true })),
        (Format::Safetensors, file(&arrays, &Writing::Safetensors { metadata })),
        (
            Format::Text(text::Options::new(DType::F32)),
            file(&arrays[..1], &Writing::Text { delimiter: b',', header: vec![] }),
        ),
    ]
}

/// Opens and decodes everything. An error must be of the format's.
fn outcome(format: &Format, bytes: Vec<u8>) -> Result<(), Error> {
    let source = Source::open(format, Content::Owned(bytes))?;
    for (i, entry) in source.entries.iter().enumerate() {
        let mut end = 0;
        match source.decode(i, &mut |at, part| {
            assert_eq!(at, end);
            end += part.len();
            Ok(())
        }) {
            Ok(()) => assert_eq!(end, entry.bytes),
            Err(error) if error.code == Code::Unsupported => assert!(entry.dtype.is_none()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn checked(format: &Format, bytes: Vec<u8>) -> bool {
    match outcome(format, bytes) {
        Ok(()) => true,
        Err(error) => {
            assert_eq!(error.code, Code::Format, "{error}");
            false
        }
    }
}

#[test]
fn a_file_cut_anywhere_is_refused() {
    for (format, bytes) in samples() {
        assert!(checked(&format, bytes.clone()), "{format:?}");
        for end in 0..bytes.len() {
            let passes = checked(&format, bytes[..end].to_vec());
            // Fewer lines, and fewer digits, are a table too.
            assert!(!passes || matches!(format, Format::Text(_)), "{format:?} cut to {end} of {} bytes", bytes.len());
        }
        if !matches!(format, Format::Text(_)) {
            assert!(!checked(&format, [&bytes[..], b"x"].concat()), "{format:?} with a byte more");
        }
    }
}

#[test]
fn every_change_of_one_byte_gives_a_value_or_an_error() {
    for (format, bytes) in samples() {
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            for value in 0..=255 {
                changed[at] = value;
                checked(&format, changed.clone());
            }
        }
    }
}

#[test]
fn elements_of_an_archive_are_protected_by_their_checksum() {
    for (format, bytes) in samples().into_iter().filter(|(f, _)| matches!(f, Format::Npz)) {
        let at = bytes.windows(8).position(|w| w == [1, 2, 3, 4, 5, 6, 7, 8]);
        let Some(at) = at else { continue };
        let mut changed = bytes.clone();
        changed[at] = 9;
        assert!(outcome(&format, changed).expect_err("changed").message.contains("checksum"));
    }
}

#[test]
fn declared_sizes_are_compared_with_what_is_there_before_anything_is_made() {
    // 2^50 elements in 128 bytes: an allocation of that size would fail the test.
    for shape in
        ["(1125899906842624,)", "(4294967296, 4294967296, 4294967296)", "(9007199254740992, 0)", "(18446744073709551615,)"]
    {
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        let header = [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
        assert!(!checked(&Format::Npy, header), "{shape}");
    }
    let axes = format!("({})", "1,".repeat(33));
    let text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {axes}, }}");
    let file = [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes(), b"1"].concat();
    assert!(outcome(&Format::Npy, file).expect_err("rank 33").message.contains("rank 33"));
}

#[test]
fn large_arrays_are_decoded_in_chunks_of_whole_elements() {
    let bytes: Vec<u8> = (0..3_000_000u32).flat_map(|i| (i % 251).to_be_bytes()).collect();
    let text = "{'descr': '>u4', 'fortran_order': False, 'shape': (3000000,), }";
    let header = [&b"\x93NUMPY\x01\x00"[..], &(text.len() as u16).to_le_bytes(), text.as_bytes()].concat();
    let plain = [&header[..], &bytes].concat();
    let read = |format: &Format, file: Vec<u8>| {
        let source = Source::open(format, Content::Owned(file)).expect("read");
        let mut out = Vec::new();
        source
            .decode(0, &mut |at, part| {
                assert!(at == out.len() && part.len() % 4 == 0);
                out.extend_from_slice(part);
                Ok(())
            })
            .expect("decoded");
        out
    };
    let little = read(&Format::Npy, plain);
    assert_eq!(&little[4 * 250..4 * 252], [250, 0, 0, 0, 0, 0, 0, 0]);
    let data = || Ok(little.clone());
    let array = [Array { name: "x", dtype: DType::U32, shape: &[3_000_000], data: &data }];
    let mut packed = Vec::new();
    write(&mut packed, &array, &Writing::Npz { compressed: true }).expect("written");
    assert!(packed.len() < 200_000);
    assert!(read(&Format::Npz, packed) == little);
}

#[test]
fn names_that_would_be_paths_elsewhere_are_not_written() {
    let none = || Ok(vec![]);
    let attempt = |name: &str| {
        let array = [Array { name, dtype: DType::U8, shape: &[0], data: &none }];
        let mut out = Vec::new();
        let written = write(&mut out, &array, &Writing::Npz { compressed: false });
        written.map(|()| Source::open(&Format::Npz, Content::Owned(out)).expect("read").entries.remove(0).name)
    };
    for name in ["a", "w:0", "layer/0:w", "é", "a b", "a.npy", "__proto__"] {
        assert_eq!(attempt(name).expect(name), name.strip_suffix(".npy.npy").unwrap_or(name));
    }
    for name in ["", "/a", "../a", "a/../b", "a//b", ".", "C:/a", "a\\b", "a\0", "é:w", &"x".repeat(70_000)] {
        let error = attempt(name).expect_err(name).downcast::<Error>().expect("ours");
        assert_eq!(error.code, Code::Argument, "{name}: {error}");
    }
}
