//! What NumPy and the Python package safetensors wrote (`golden/make.py`) is read as they mean it, or refused as it must be.

use ferrotensor_core::DType;
use ferrotensor_core::error::Code;
use ferrotensor_io::{Array, Content, Format, Source, Writing, encode};
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden").join(name)
}

fn format(name: &str) -> Format {
    match Path::new(name).extension().and_then(|e| e.to_str()) {
        Some("npy") => Format::Npy,
        Some("npz") => Format::Npz,
        _ => Format::Safetensors,
    }
}

/// The elements of an array in row-major order, by index arithmetic: those in Fortran order lie transposed.
fn row_major(source: &Source, at: usize) -> Vec<u8> {
    let entry = &source.entries[at];
    let mut bytes = Vec::new();
    source
        .decode(at, &mut |place, part| {
            assert_eq!(place, bytes.len(), "chunks come in order");
            bytes.extend_from_slice(part);
            Ok(())
        })
        .expect("decoded");
    assert_eq!(bytes.len(), entry.bytes);
    if !entry.fortran || bytes.is_empty() {
        return bytes;
    }
    let size = entry.dtype.expect("known").bytes();
    let count = entry.shape.iter().product::<usize>();
    let mut out = Vec::new();
    for n in 0..count {
        let (mut left, mut offset) = (n, 0);
        let mut step = count;
        for &length in entry.shape.iter().rev() {
            step /= length;
            offset += left % length * step;
            left /= length;
        }
        out.extend_from_slice(&bytes[offset * size..][..size]);
    }
    out
}

#[test]
fn golden_arrays_have_the_elements_numpy_says() {
    let text = std::fs::read_to_string(golden("expected.txt")).expect("the list");
    assert!(text.lines().count() > 50);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [file, member, dtype, shape, hex] = words[..] else { panic!("{line}") };
        for mapped in [true, false] {
            let source = Source::open(&format(file), Content::open(&golden(file), mapped).expect(file)).expect(file);
            let at = source.entries.iter().position(|e| member == "-" || e.name == member).expect(line);
            let entry = &source.entries[at];
            assert_eq!(entry.dtype.map(|d| d.name()), Some(dtype), "{line}");
            let found: Vec<String> = entry.shape.iter().map(usize::to_string).collect();
            assert_eq!(if found.is_empty() { "scalar".into() } else { found.join(",") }, shape, "{line}");
            let bytes: String = row_major(&source, at).iter().map(|b| format!("{b:02x}")).collect();
            assert_eq!(if bytes.is_empty() { "none" } else { &bytes }, hex, "{line}");
        }
    }
}

#[test]
fn metadata_of_safetensors_is_read() {
    let source =
        Source::open(&Format::Safetensors, Content::open(&golden("all.safetensors"), true).expect("there")).expect("read");
    let metadata: Vec<(&str, &str)> = source.metadata.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(metadata, [("b", "2"), ("format", "np")]);
}

#[test]
fn refused_files_say_why() {
    let text = std::fs::read_to_string(golden("refused.txt")).expect("the list");
    assert!(text.lines().count() > 10);
    for line in text.lines() {
        let (file, why) = line.split_once(' ').expect(line);
        let opened = Source::open(&format(file), Content::open(&golden(file), true).expect(file));
        let error = match opened {
            Err(error) => error,
            // A wrong checksum shows when the elements are read.
            Ok(source) => source.decode(0, &mut |_, _| Ok(())).expect_err(file),
        };
        assert_eq!(error.code, Code::Format, "{file}: {error}");
        assert!(error.message.contains(why), "{file}: {error}");
    }
}

#[test]
fn what_cannot_be_read_leaves_the_others_readable() {
    let cases: [(&str, &[(&str, &str)]); 3] = [
        ("cut.npy", &[("", ""), ("1", ""), ("2", ""), ("3", "declares 2 bytes of elements, there are 1")]),
        ("several-and-more.npy", &[("", ""), ("1", ""), ("2", ""), ("3", "declares 2 bytes of elements, there are 3")]),
        (
            "mixed.npz",
            &[("broken", "no npy file"), ("a", ""), ("object", "Python objects"), ("bzip2", "compression"), ("b", "")],
        ),
    ];
    for (file, wanted) in cases {
        let source = Source::open(&format(file), Content::open(&golden(file), true).expect(file)).expect(file);
        let names: Vec<&str> = source.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, wanted.iter().map(|&(name, _)| name).collect::<Vec<_>>(), "{file}");
        for (i, &(name, why)) in wanted.iter().enumerate() {
            let (entry, read) = (&source.entries[i], source.decode(i, &mut |_, _| Ok(())));
            assert_eq!(entry.refusal.is_none(), why.is_empty(), "{file} {name}");
            match read {
                Ok(()) => assert!(why.is_empty(), "{file} {name}"),
                Err(error) => assert!(error.code == Code::Format && error.message.contains(why), "{file} {name}: {error}"),
            }
        }
    }
}

#[test]
fn arrays_are_written_as_numpy_writes_them() {
    let dtypes = DType::all().map(DType::name).filter(|&name| name != "bfloat16");
    for name in dtypes.chain(["scalar", "empty", "vector"]) {
        let theirs = std::fs::read(golden(&format!("{name}.npy"))).expect(name);
        let source = Source::open(&Format::Npy, Content::Owned(theirs.clone())).expect(name);
        let (entry, elements) = (&source.entries[0], row_major(&source, 0));
        let data = || Ok(elements.clone());
        let array = Array { name: "", dtype: entry.dtype.expect("known"), shape: &entry.shape, data: &data };
        assert!(encode(&[array], &Writing::Npy).expect(name) == theirs, "{name}");
    }
}
