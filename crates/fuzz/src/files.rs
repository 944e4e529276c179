//! The targets `npy`, `npz`, `safetensors`, `text` and `table`: bytes as files, as the headers of files, and as changes of honest files.
//! Whatever they are, each array gives as many bytes as it declares, which the file could hold, or an error of `Code::Format`; and
//! what was read can be written, and is the same when it is read again.

use crate::bytes::Bytes;
use ferrotensor_core::DType;
use ferrotensor_core::error::Code;
use ferrotensor_io::columns::Columns;
use ferrotensor_io::fields::Delimiter;
use ferrotensor_io::rows::Layout;
use ferrotensor_io::table::{self, Kind};
use ferrotensor_io::texts::Texts;
use ferrotensor_io::{Array, Content, Format, Source, Writing, encode, text};
use std::collections::BTreeMap;

/// What deflate makes of a byte at most.
const MOST_INFLATED: usize = 1032;

/// Bytes as npy files.
///
/// # Errors
/// What is wrong.
pub fn npy(bytes: &[u8]) -> Result<(), String> {
    let header = |text: &[u8]| [b"\x93NUMPY\x02\0", &(text.len() as u32).to_le_bytes()[..], text].concat();
    check(&Format::Npy, &Writing::Npy, bytes, &header)
}

/// Bytes as npz archives.
///
/// # Errors
/// What is wrong.
pub fn npz(bytes: &[u8]) -> Result<(), String> {
    let compressed = bytes.len() % 2 == 1;
    check(&Format::Npz, &Writing::Npz { compressed }, bytes, &|text| [b"PK\x03\x04", text].concat())
}

/// Bytes as safetensors files.
///
/// # Errors
/// What is wrong.
pub fn safetensors(bytes: &[u8]) -> Result<(), String> {
    let header = |text: &[u8]| [&(text.len() as u64).to_le_bytes()[..], text, &[0; 4]].concat();
    let metadata = BTreeMap::from([("k".to_string(), "v".to_string())]);
    check(&Format::Safetensors, &Writing::Safetensors { metadata }, bytes, &header)
}

/// Bytes as tables of text.
///
/// # Errors
/// What is wrong.
pub fn text(bytes: &[u8]) -> Result<(), String> {
    let mut choices = Bytes::new(bytes);
    let dtype = choices.pick(&[DType::I16, DType::F32, DType::F64, DType::Bool, DType::U64, DType::F16]);
    let (skip_rows, header) = (choices.below(3) as u64, choices.below(4) == 0);
    let delimiter = choices.pick(b",; \t");
    let between = if choices.below(4) == 0 { Delimiter::Blanks } else { Delimiter::One(delimiter) };
    let filling = (choices.below(2) == 0).then(|| "1".to_string());
    let options = text::Options { delimiter: between, skip_rows, header, filling, ..text::Options::new(dtype) };
    let delimiter = if between == Delimiter::Blanks { b' ' } else { delimiter };
    let writing = Writing::Text { delimiter, header: vec![] };
    check(&Format::Text(options), &writing, choices.rest(), &|text| text.to_vec())
}

/// Bytes as tables whose columns are inferred: texts are whole, and each column of numbers has the bits that a matrix of it alone has.
///
/// # Errors
/// What is wrong.
pub fn table(bytes: &[u8]) -> Result<(), String> {
    let mut choices = Bytes::new(bytes);
    let delimiter = choices.pick(&[Delimiter::One(b','), Delimiter::One(b' '), Delimiter::One(b'\t'), Delimiter::Blanks]);
    let comment = (choices.below(2) == 0).then_some(b'#');
    let layout = Layout { delimiter, comment, skip_rows: choices.below(2) as u64, header: choices.below(2) == 0 };
    let missing = vec!["x".to_string()];
    let options = table::Options {
        layout,
        kind: Kind::Inferred,
        kinds: vec![],
        filling: None,
        missing: missing.clone(),
        columns: Columns::All,
    };
    let file = choices.rest();
    let Some(source) = opened(&Format::Table(options), file)? else { return Ok(()) };
    for (i, entry) in source.entries.iter().enumerate() {
        if let Some(texts) = source.texts(i) {
            whole(texts)?;
        }
        let Some(dtype) = entry.dtype else { continue };
        let filling = dtype.is_float().then(|| "NaN".to_string());
        let Layout { delimiter, comment, skip_rows, header } = layout;
        let columns = Columns::At(vec![i as i64]);
        let missing = missing.clone();
        let alone = text::Options {
            delimiter,
            comment,
            skip_rows,
            header,
            filling,
            missing,
            columns,
            exact: true,
            ..text::Options::new(dtype)
        };
        let matrix = opened(&Format::Text(alone), file)?.ok_or("a column that is refused alone")?;
        let elements = |source: &Source, entry| {
            let mut bytes = Vec::new();
            let decoded = source.decode(entry, &mut |_, part| {
                bytes.extend_from_slice(part);
                Ok(())
            });
            decoded.map(|()| bytes).map_err(|e| e.to_string())
        };
        let (column, expected) = (elements(&source, i)?, elements(&matrix, 0)?);
        if column != expected || column.len() != entry.bytes {
            return Err(format!("column {i} of {dtype}: {column:?}, alone {expected:?}"));
        }
    }
    Ok(())
}

/// What is in a table, or none where its rows, quotes or digits are refused.
fn opened(format: &Format, file: &[u8]) -> Result<Option<Source>, String> {
    match Source::open(format, Content::Owned(file.to_vec())) {
        Ok(source) => Ok(Some(source)),
        // What is no number is text where the dtype is inferred.
        Err(error) if error.code == Code::Format && !error.message.contains("is no number of") => Ok(None),
        Err(error) => Err(format!("{:?}: {error}", error.code)),
    }
}

/// Takes texts out as JavaScript does, through little room.
fn whole(texts: &Texts) -> Result<(), String> {
    let (mut done, mut start, mut room, mut ends) = (0, 0, vec![0; 8], [0; 4]);
    while done < texts.len() {
        texts.copy(done, start, &mut room, &mut ends).map_err(|e| e.to_string())?;
        let [count, taken, rest @ ..] = ends;
        let (count, taken) = (count as usize, taken as usize);
        if count == 0 {
            room.resize(taken, 0);
            continue;
        }
        let text = std::str::from_utf8(&room[..taken]).map_err(|e| e.to_string())?;
        if rest[..count].last() != Some(&(text.encode_utf16().count() as u32)) {
            return Err(format!("{text:?} ends at {rest:?}"));
        }
        (done, start) = (done + count, start + taken);
    }
    Ok(())
}

/// An honest file of the format.
fn honest(how: &Writing) -> Result<Vec<u8>, String> {
    let (one, two) = (|| Ok(vec![1, 0, 2, 0, 3, 0, 4, 0]), || Ok(vec![1, 0, 1]));
    let both = [
        Array { name: "a", dtype: DType::I16, shape: &[2, 2], data: &one },
        Array { name: "b", dtype: DType::Bool, shape: &[3], data: &two },
    ];
    let named = matches!(how, Writing::Npz { .. } | Writing::Safetensors { .. });
    encode(if named { &both } else { &both[..1] }, how).map_err(|e| e.to_string())
}

/// The file that the bytes mean.
fn file(bytes: &[u8], how: &Writing, header: &dyn Fn(&[u8]) -> Vec<u8>) -> Result<Vec<u8>, String> {
    let mut choices = Bytes::new(bytes);
    match choices.below(3) {
        0 => return Ok(choices.rest().to_vec()),
        1 => return Ok(header(choices.rest())),
        _ => {}
    }
    let mut file = honest(how)?;
    while !choices.is_empty() {
        let at = (choices.below(256) + 256 * choices.below(4)) % file.len().max(1);
        match (choices.below(8), file.is_empty()) {
            (0, _) => file.truncate(at),
            (1, _) => file.insert(at, choices.byte()),
            (2, false) => {
                file.remove(at);
            }
            (3, false) => file[at] = file[at].wrapping_add(1),
            (_, false) => file[at] = choices.byte(),
            _ => break,
        }
    }
    Ok(file)
}

/// An array that was read: its name, dtype, shape as it lies in the file, and elements.
type Read = (String, DType, Vec<usize>, Vec<u8>);

fn read(format: &Format, file: Vec<u8>) -> Result<Option<Vec<Read>>, String> {
    let length = file.len();
    let refused =
        |e: ferrotensor_core::Error| if e.code == Code::Format { Ok(None) } else { Err(format!("{:?}: {e}", e.code)) };
    let source = match Source::open(format, Content::Owned(file)) {
        Ok(source) => source,
        Err(error) => return refused(error),
    };
    let mut arrays = Vec::new();
    for (i, entry) in source.entries.iter().enumerate() {
        // A table of one delimiter has two fields, which then turn out to be empty.
        let most = if entry.is_packed() { length * MOST_INFLATED } else { (length + 1) * 8 };
        if entry.bytes > most {
            return Err(format!("{} bytes of elements in a file of {length}", entry.bytes));
        }
        let mut bytes = Vec::new();
        let decoded = source.decode(i, &mut |at, part| {
            if at == bytes.len() {
                bytes.extend_from_slice(part);
                Ok(())
            } else {
                Err(ferrotensor_core::Error::internal(format!("a chunk for {at} after {} bytes", bytes.len())))
            }
        });
        match (decoded, entry.dtype) {
            (Ok(()), Some(dtype)) if bytes.len() == entry.bytes => {
                let mut shape = entry.shape.clone();
                if entry.fortran {
                    shape.reverse();
                }
                arrays.push((entry.name.clone(), dtype, shape, bytes));
            }
            (Ok(()), _) => return Err(format!("{} of {} bytes", bytes.len(), entry.bytes)),
            (Err(error), None) if error.code == Code::Unsupported => {}
            (Err(error), _) => return refused(error),
        }
    }
    Ok(Some(arrays))
}

fn check(format: &Format, how: &Writing, bytes: &[u8], header: &dyn Fn(&[u8]) -> Vec<u8>) -> Result<(), String> {
    let Some(arrays) = read(format, file(bytes, how, header)?)? else { return Ok(()) };
    let data: Vec<_> = arrays.iter().map(|(.., bytes)| move || Ok(bytes.clone())).collect();
    let described = arrays.iter().zip(&data);
    let all: Vec<Array<'_>> =
        described.map(|((name, dtype, shape, _), data)| Array { name, dtype: *dtype, shape, data }).collect();
    let again = match encode(&all, how) {
        Ok(again) => again,
        // Names that are read, as keys, but not written.
        Err(error) if error.code == Code::Argument => return Ok(()),
        Err(error) => return Err(format!("cannot be written: {error}")),
    };
    if let Format::Text(options) = format {
        // NaN has one text; a table without fields has none; nothing is skipped of what we wrote.
        if again.windows(3).any(|w| w == b"NaN") || again.is_empty() {
            return Ok(());
        }
        let plain = Format::Text(text::Options { skip_rows: 0, header: false, ..options.clone() });
        return same(&arrays, read(&plain, again)?);
    }
    same(&arrays, read(format, again)?)
}

fn same(before: &[Read], after: Option<Vec<Read>>) -> Result<(), String> {
    let Some(mut after) = after else { return Err("what was written is refused".into()) };
    let mut before: Vec<Read> = before.to_vec();
    before.sort();
    after.sort();
    if before == after { Ok(()) } else { Err(format!("read {before:?}, and after writing {after:?}")) }
}
