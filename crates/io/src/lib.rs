//! Files of tensors: npy, npz, safetensors and tables of text. Bytes in, descriptions and elements out, and back; nothing here
//! knows JavaScript, a device or the table of operations.
//!
//! Whatever the bytes: a value or an error of `Code::Format`. What a file declares is compared with the bytes that are there before
//! anything of that size is made. Elements are decoded in chunks into memory that somebody else has, so that beside the source
//! there is never more than one chunk.

#![deny(unsafe_code)]

pub mod columns;
pub mod fields;
pub mod inferred;
pub mod literal;
#[allow(unsafe_code)]
pub mod mapped;
pub mod npy;
pub mod npz;
pub mod number;
pub mod rows;
pub mod safetensors;
pub mod save;
#[allow(unsafe_code)]
pub mod shortened;
pub mod table;
pub mod text;
pub mod texts;

pub use mapped::Content;
pub use save::{encode, encode_into, save};

use ferrotensor_core::layout::{MAX_ELEMENTS, count};
use ferrotensor_core::{DType, Error, Result};
use npz::Packed;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

/// Bytes decoded at a time; a multiple of the size of every dtype.
pub const CHUNK: usize = 1 << 20;

/// Bytes that the texts and sizes of a description take, about: a name of 30 letters, a code, four sizes.
const DESCRIPTION: usize = 128;

/// What bytes are said to be.
#[derive(Clone, Debug)]
pub enum Format {
    /// One array of NumPy's.
    Npy,
    /// An archive of them.
    Npz,
    /// Named tensors.
    Safetensors,
    /// A table of numbers.
    Text(text::Options),
    /// A table whose columns have dtypes of their own, or are text.
    Table(table::Options),
}

/// One array of a source.
pub struct Entry {
    /// Its name; empty where the format has none.
    pub name: String,
    /// The element type; none where a safetensors file holds one that tensors do not have, and of an array that cannot be read.
    pub dtype: Option<DType>,
    /// The format's own name of the element type.
    pub code: String,
    /// Axis sizes, as the array is seen.
    pub shape: Vec<usize>,
    /// Whether the first axis runs fastest: the elements are those of the transposed array in row-major order.
    pub fortran: bool,
    /// How many bytes its elements are.
    pub bytes: usize,
    /// Why it cannot be read, though others of its file can.
    pub refusal: Option<Error>,
    place: Place,
}

impl Entry {
    /// Whether the elements are compressed: a small file may then hold a large array.
    pub fn is_packed(&self) -> bool {
        matches!(self.place, Place::Deflated { .. })
    }

    fn refused(name: String, why: Error) -> Entry {
        let place = Place::Plain { start: 0, swapped: false, stored: None };
        Entry {
            name,
            dtype: None,
            code: "unreadable".into(),
            shape: vec![],
            fortran: false,
            bytes: 0,
            refusal: Some(why),
            place,
        }
    }
}

/// Where the elements are, and what must be done to them.
enum Place {
    Plain {
        start: usize,
        swapped: bool,
        stored: Option<Packed>,
    },
    Deflated {
        data: Packed,
        start: usize,
        swapped: bool,
    },
    Text(text::Options),
    /// Elements that were read when the file was opened.
    Read(Vec<u8>),
    Texts(texts::Texts),
}

/// Opened bytes: what is in them is known; of columns of tables the elements, and of the others none has been looked at.
pub struct Source {
    content: Arc<Content>,
    /// Its arrays.
    pub entries: Vec<Entry>,
    /// Texts beside the arrays (safetensors).
    pub metadata: BTreeMap<String, String>,
}

impl Source {
    /// Reads the descriptions.
    ///
    /// # Errors
    /// `Code::Format` for bytes that are not in the format, or whose arrays no tensor can hold.
    pub fn open(format: &Format, content: Content) -> Result<Source> {
        let described = describe(format, content.bytes());
        // Whatever was made of a file that was shortened meanwhile, that comes first.
        content.check()?;
        let (entries, metadata) = described?;
        Ok(Source { content: Arc::new(content), entries, metadata })
    }

    /// Bytes of memory that it takes: those of a file that is not mapped, and some hundred for each array described.
    pub fn memory(&self) -> usize {
        let content = if let Content::Owned(bytes) = &*self.content { bytes.len() } else { 0 };
        let read = self.entries.iter().map(|entry| match &entry.place {
            Place::Read(elements) => elements.len(),
            Place::Texts(texts) => texts.bytes(),
            Place::Plain { .. } | Place::Deflated { .. } | Place::Text(_) => 0,
        });
        content + read.sum::<usize>() + self.entries.len() * (size_of::<Entry>() + DESCRIPTION)
    }

    /// The texts of a column of text.
    pub fn texts(&self, entry: usize) -> Option<&texts::Texts> {
        match &self.entries.get(entry)?.place {
            Place::Texts(texts) => Some(texts),
            Place::Plain { .. } | Place::Deflated { .. } | Place::Text(_) | Place::Read(_) => None,
        }
    }

    /// Where the elements of an array lie as tensors hold them, in a file that is mapped; none where they have to be decoded, and of an array that
    /// cannot be read.
    pub fn lying(&self, entry: usize) -> Option<(&Arc<Content>, Range<usize>)> {
        let entry = self.entries.get(entry)?;
        let Place::Plain { start, swapped: false, stored: None } = &entry.place else { return None };
        let whole = entry.dtype.is_some_and(|dtype| dtype != DType::Bool) && entry.bytes > 0 && self.content.is_mapped();
        whole.then(|| (&self.content, *start..start + entry.bytes))
    }

    /// Gives the elements of an array to `sink`, in order: place in bytes, and bytes. Dense, row-major (of the transposed array,
    /// for one in Fortran order), little-endian; booleans are 0 or 1.
    ///
    /// # Errors
    /// `Code::Format` for data that are corrupt, `Code::Unsupported` for a dtype that tensors do not have, and those of the sink.
    pub fn decode(&self, entry: usize, sink: &mut dyn FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        let Some(entry) = self.entries.get(entry) else { return Err(Error::internal("there is no such array")) };
        if let Some(why) = &entry.refusal {
            return Err(why.clone());
        }
        let Some(dtype) = entry.dtype else {
            return Err(Error::unsupported(format!(
                "tensor '{}' is of dtype {}, which tensors do not have",
                entry.name, entry.code
            )));
        };
        self.content.check()?;
        let decoded = self.elements(entry, dtype, sink);
        self.content.check()?;
        decoded
    }

    fn elements(&self, entry: &Entry, dtype: DType, sink: &mut dyn FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        let (bytes, name) = (self.content.bytes(), &entry.name);
        let member = |e: Error| if name.is_empty() { e } else { Error::new(e.code, format!("'{name}': {}", e.message)) };
        match &entry.place {
            Place::Plain { start, swapped, stored } => {
                if let Some(stored) = stored {
                    stored.check_stored(bytes).map_err(member)?;
                }
                let data = bytes.get(*start..start + entry.bytes).ok_or_else(|| Error::internal("data outside the file"))?;
                if !*swapped && dtype != DType::Bool {
                    return if data.is_empty() { Ok(()) } else { sink(0, data) };
                }
                let mut buffer = buffer(entry.bytes)?;
                for (i, part) in data.chunks(CHUNK).enumerate() {
                    let chunk = &mut buffer[..part.len()];
                    chunk.copy_from_slice(part);
                    correct(chunk, dtype, *swapped);
                    sink(i * CHUNK, chunk)?;
                }
                Ok(())
            }
            Place::Deflated { data, start, swapped } => {
                let mut buffer = buffer(data.size)?;
                let inflated = data.inflate(bytes, *start, &mut buffer, &mut |at, chunk| {
                    correct(chunk, dtype, *swapped);
                    sink(at, chunk)
                });
                inflated.map_err(member)
            }
            Place::Text(options) => text::decode(bytes, options, sink),
            Place::Read(elements) if elements.is_empty() => Ok(()),
            Place::Read(elements) => sink(0, elements),
            Place::Texts(_) => Err(Error::internal("texts are no elements")),
        }
    }
}

/// The arrays in bytes, and the texts beside them.
fn describe(format: &Format, bytes: &[u8]) -> Result<(Vec<Entry>, BTreeMap<String, String>)> {
    let mut metadata = BTreeMap::new();
    let entries = match format {
        Format::Npy => npy_entries(bytes)?,
        Format::Npz => npz::parse(bytes)?.into_iter().map(npz_entry).collect(),
        Format::Safetensors => {
            let (tensors, texts) = safetensors::parse(bytes)?;
            metadata = texts;
            tensors.into_iter().map(safetensors_entry).collect::<Result<_>>()?
        }
        Format::Table(options) => table::read(bytes, options)?.into_iter().map(column_entry).collect::<Result<_>>()?,
        Format::Text(options) => vec![text_entry(text::shape(bytes, options)?, options)?],
    };
    Ok((entries, metadata))
}

fn buffer(most: usize) -> Result<Vec<u8>> {
    let mut buffer = Vec::new();
    buffer.try_reserve_exact(CHUNK.min(most)).map_err(|_| Error::out_of_memory("no memory to decode into"))?;
    buffer.resize(CHUNK.min(most), 0);
    Ok(buffer)
}

/// Makes elements what tensors hold: the other byte order, and no bool but 0 and 1.
fn correct(chunk: &mut [u8], dtype: DType, swapped: bool) {
    if swapped {
        // Parts of complex numbers are swapped each by itself.
        chunk.chunks_exact_mut(dtype.info().real.bytes()).for_each(<[u8]>::reverse);
    }
    if dtype == DType::Bool {
        chunk.iter_mut().for_each(|b| *b = u8::from(*b != 0));
    }
}

/// Axis sizes as a tensor has them, and the bytes of its elements.
fn measure(shape: &[u64], size: usize) -> Result<(Vec<usize>, usize)> {
    let too_large = || Error::format(format!("no array has the shape {shape:?}"));
    if shape.iter().any(|&size| size > MAX_ELEMENTS as u64) {
        return Err(too_large());
    }
    let shape: Vec<usize> =
        shape.iter().map(|&size| usize::try_from(size).map_err(|_| too_large())).collect::<Result<_>>()?;
    let count = count(&shape).map_err(|e| Error::format(e.message))?;
    let bytes = count.checked_mul(size).ok_or_else(too_large)?;
    Ok((shape, bytes))
}

fn exactly(declared: usize, there: usize) -> Result<()> {
    if declared == there {
        return Ok(());
    }
    Err(Error::format(format!("the header declares {declared} bytes of elements, there are {there}")))
}

fn array_entry(name: String, header: npy::Header, place: Place) -> Result<Entry> {
    let npy::Header { dtype, fortran, shape, .. } = header;
    let (shape, bytes) = measure(&shape, dtype.bytes())?;
    Ok(Entry { name, dtype: Some(dtype), code: dtype.info().numpy.into(), shape, fortran, bytes, refusal: None, place })
}

/// The arrays of an npy file: one, or as many as `numpy.save` wrote to it, one behind the other. The first has no name, the others that of
/// their place. A later one that cannot be read is the last: where it ends is not known.
fn npy_entries(bytes: &[u8]) -> Result<Vec<Entry>> {
    let (mut entries, mut at) = (Vec::new(), 0);
    while at < bytes.len() || entries.is_empty() {
        let name = if entries.is_empty() { String::new() } else { entries.len().to_string() };
        match npy_entry(name.clone(), &bytes[at..], at) {
            Ok((entry, length)) => {
                entries.push(entry);
                at += length;
            }
            Err(error) if entries.is_empty() => return Err(error),
            Err(error) => {
                entries.push(Entry::refused(name.clone(), Error::format(format!("array {name}: {}", error.message))));
                break;
            }
        }
    }
    Ok(entries)
}

/// The array that bytes begin with, which are those of a file from a place on, and how many of them are its.
fn npy_entry(name: String, bytes: &[u8], at: usize) -> Result<(Entry, usize)> {
    let header = npy::header(bytes)?;
    let (start, swapped) = (header.start, header.big_endian);
    let entry = array_entry(name, header, Place::Plain { start: at + start, swapped, stored: None })?;
    let rest = bytes.len() - start;
    if rest > entry.bytes && bytes[start + entry.bytes..].starts_with(npy::MAGIC) {
        let length = start + entry.bytes;
        return Ok((entry, length));
    }
    exactly(entry.bytes, rest)?;
    Ok((entry, bytes.len()))
}

fn npz_entry(member: npz::Member) -> Entry {
    let npz::Member { name, array } = member;
    array.and_then(|(header, data)| npz_array(&name, header, data)).unwrap_or_else(|why| Entry::refused(name, why))
}

fn npz_array(name: &str, header: npy::Header, data: Packed) -> Result<Entry> {
    let (start, swapped, size) = (header.start, header.big_endian, data.size);
    let place = if data.deflated {
        Place::Deflated { data, start, swapped }
    } else {
        Place::Plain { start: data.range.start + start, swapped, stored: Some(data) }
    };
    let fits = |entry: Entry| exactly(entry.bytes, size.saturating_sub(start)).map(|()| entry);
    let found = array_entry(name.to_string(), header, place).and_then(fits);
    found.map_err(|e| Error::format(format!("member '{name}': {}", e.message)))
}

fn safetensors_entry(tensor: safetensors::Described) -> Result<Entry> {
    let safetensors::Described { name, code, dtype, shape, start, bytes } = tensor;
    let (shape, declared) = measure(&shape, dtype.map_or(0, DType::bytes))?;
    if dtype.is_some() {
        exactly(declared, bytes)?;
    }
    Ok(Entry {
        name,
        dtype,
        code,
        shape,
        fortran: false,
        bytes,
        refusal: None,
        place: Place::Plain { start, swapped: false, stored: None },
    })
}

fn text_entry(shape: [u64; 2], options: &text::Options) -> Result<Entry> {
    let dtype = options.dtype;
    let (shape, bytes) = measure(&shape, dtype.bytes())?;
    let place = Place::Text(options.clone());
    Ok(Entry {
        name: String::new(),
        dtype: Some(dtype),
        code: dtype.name().into(),
        shape,
        fortran: false,
        bytes,
        refusal: None,
        place,
    })
}

/// The code of columns of text, which have no dtype.
const STRING: &str = "string";

fn column_entry(column: table::Column) -> Result<Entry> {
    let (dtype, count, bytes, place) = match column.data {
        table::Data::Numbers(dtype, elements) => {
            (Some(dtype), elements.len() / dtype.bytes(), elements.len(), Place::Read(elements))
        }
        table::Data::Texts(texts) => (None, texts.len(), texts.bytes(), Place::Texts(texts)),
    };
    let (shape, _) = measure(&[count as u64], dtype.map_or(1, DType::bytes))?;
    let code = dtype.map_or(STRING, DType::name).into();
    Ok(Entry { name: column.name, dtype, code, shape, fortran: false, bytes, refusal: None, place })
}

/// One tensor to be written.
pub struct Array<'a> {
    /// Its name, in formats that have names.
    pub name: &'a str,
    /// The element type.
    pub dtype: DType,
    /// Axis sizes.
    pub shape: &'a [usize],
    /// Its elements; asked for once, when they are written.
    pub data: &'a dyn Elements,
}

/// What gives the dense row-major elements of an array.
pub trait Elements {
    /// Hands them to `to`, all at once: where they lie, if that is in this order.
    ///
    /// # Errors
    /// Those of `to`; as [`io::Error::other`] what reading a tensor gives.
    fn lend(&self, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>;
}

impl<F: Fn() -> Result<Vec<u8>>> Elements for F {
    fn lend(&self, to: &mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        to(&self().map_err(io::Error::other)?)
    }
}

/// How tensors are written.
#[derive(Clone, Debug)]
pub enum Writing {
    /// One array.
    Npy,
    /// An archive.
    Npz {
        /// Whether its members are deflated.
        compressed: bool,
    },
    /// Named tensors.
    Safetensors {
        /// Texts beside them.
        metadata: BTreeMap<String, String>,
    },
    /// A table.
    Text {
        /// Between fields.
        delimiter: u8,
        /// Names of the columns; none for no such line.
        header: Vec<String>,
    },
}

/// Writes tensors, one after the other.
///
/// # Errors
/// Those of the output; as [`io::Error::other`] our own: what the format does not hold, and what reading a tensor gives.
pub fn write(out: &mut dyn Write, arrays: &[Array<'_>], how: &Writing) -> io::Result<()> {
    let single = || match arrays {
        [array] => Ok(array),
        _ => Err(io::Error::other(Error::internal("the format holds one array"))),
    };
    match how {
        Writing::Npy => {
            let array = single()?;
            out.write_all(&npy::write_header(array.dtype, array.shape).map_err(io::Error::other)?)?;
            array.data.lend(&mut |bytes| out.write_all(bytes))
        }
        Writing::Npz { compressed } => {
            let mut archive = npz::Archive::new(out, *compressed);
            for array in arrays {
                archive.add(array.name, array.dtype, array.shape, array.data)?;
            }
            archive.finish()
        }
        Writing::Safetensors { metadata } => {
            let described: Vec<_> = arrays.iter().map(|a| (a.name, a.dtype, a.shape)).collect();
            let (header, order) = safetensors::write_header(&described, metadata).map_err(io::Error::other)?;
            out.write_all(&header)?;
            order.into_iter().try_for_each(|i| arrays[i].data.lend(&mut |bytes| out.write_all(bytes)))
        }
        Writing::Text { delimiter, header } => {
            let array = single()?;
            array.data.lend(&mut |bytes| text::write(out, array.dtype, array.shape, bytes, *delimiter, header))
        }
    }
}

/// How many bytes [`write()`] gives, where that is known before: of npy and safetensors.
///
/// # Errors
/// What the format does not hold.
pub fn length(arrays: &[Array<'_>], how: &Writing) -> Result<Option<usize>> {
    let header = match (how, arrays) {
        (Writing::Npy, [array]) => npy::write_header(array.dtype, array.shape)?,
        (Writing::Safetensors { metadata }, _) => {
            let described: Vec<_> = arrays.iter().map(|a| (a.name, a.dtype, a.shape)).collect();
            safetensors::write_header(&described, metadata)?.0
        }
        _ => return Ok(None),
    };
    let bytes = |a: &Array<'_>| a.shape.iter().product::<usize>() * a.dtype.bytes();
    Ok(Some(header.len() + arrays.iter().map(bytes).sum::<usize>()))
}
