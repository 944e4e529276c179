//! NumPy's npz format: a zip archive of npy files. `rawzip` takes the archive apart and puts it together, `flate2` inflates and
//! deflates; what makes an archive hostile (names that repeat, members that overlap, sizes that no data of that length can have) is
//! refused here. Names are keys only: none is ever a path.

use crate::Elements;
use crate::npy::{self, Header};
use ferrotensor_core::planted;
use ferrotensor_core::{DType, Error, Result};
use flate2::Crc;
use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rawzip::path::{EntryPath, ZipFilePath};
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveWriter};
use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::ops::Range;

/// Deflate never makes more bytes of one: a match of 258 bytes takes two bits at least.
const MOST_INFLATED: u64 = 1032;
/// What NumPy appends to each name.
const SUFFIX: &str = ".npy";

/// One array of an archive.
#[derive(Debug)]
pub struct Member {
    /// Its name, without `.npy`.
    pub name: String,
    /// What its header says and its bytes in the archive, or why it cannot be read.
    pub array: Result<(Header, Packed)>,
}

/// The bytes of a member.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Where they are.
    pub range: Range<usize>,
    /// Whether they are deflated.
    pub deflated: bool,
    /// How many they are when inflated, the npy header included.
    pub size: usize,
    /// Their checksum.
    pub crc: u32,
}

fn broken(what: impl std::fmt::Display) -> Error {
    Error::format(format!("the zip archive is broken: {what}"))
}

/// The arrays of an archive, in its order; members of another kind are left out. One that cannot be read is an error of its own: the others
/// can.
///
/// # Errors
/// `Code::Format` for what is no zip archive, one that no honest program writes, or one without arrays.
pub fn parse(bytes: &[u8]) -> Result<Vec<Member>> {
    if !bytes.starts_with(b"PK\x03\x04") && !bytes.starts_with(b"PK\x05\x06") {
        return Err(Error::format("it is no npz file: it does not begin as a zip archive"));
    }
    let archive = ZipArchive::from_slice(bytes).map_err(broken)?;
    if archive.end_offset() != bytes.len() as u64 {
        return Err(broken("something follows its end"));
    }
    let (mut members, mut names, mut ranges, mut count) = (Vec::new(), HashSet::new(), Vec::new(), 0);
    for record in archive.entries() {
        let record = record.map_err(broken)?;
        count += 1;
        let path = record.file_path();
        let path = std::str::from_utf8(path.as_bytes()).map_err(|_| broken("the name of a member is not UTF-8"))?;
        let wrong = |what: String| Error::format(format!("member '{}': {what}", shortened(path)));
        let entry = archive.get_entry(record.wayfinder()).map_err(|e| wrong(e.to_string()))?;
        let (start, end) = entry.compressed_data_range();
        ranges.push((record.local_header_offset(), end));
        let local = entry.local_header();
        if local.file_path().as_bytes() != path.as_bytes() || local.compression_method() != record.compression_method() {
            return Err(wrong("the archive's directory and the member's own header contradict each other".into()));
        }
        if path.ends_with('/') && record.uncompressed_size_hint() == 0 {
            // A folder, as general tools write them.
            continue;
        }
        let (size, packed) = (record.uncompressed_size_hint(), end - start);
        let deflated = match record.compression_method() {
            CompressionMethod::STORE if size == packed => Ok(false),
            CompressionMethod::STORE => return Err(wrong(format!("it claims {size} bytes, and {packed} are stored"))),
            CompressionMethod::DEFLATE if size / MOST_INFLATED > packed => {
                return Err(wrong(format!("it claims {size} bytes, which no {packed} deflated bytes can hold")));
            }
            CompressionMethod::DEFLATE => Ok(true),
            other => Err(wrong(format!("its compression ({other:?}) is not read; stored and deflated members are"))),
        };
        let deflated = if record.flags().is_encrypted() { Err(wrong("it is encrypted".into())) } else { deflated };
        let size = usize::try_from(size).map_err(|_| wrong(format!("{size} bytes")))?;
        let (range, crc) = (start as usize..end as usize, entry.claim_verifier().crc);
        let data = deflated.map(|deflated| Packed { range, deflated, size, crc });
        let name = path.strip_suffix(SUFFIX);
        // A note beside the arrays: it has not the name of one, and nothing that can be read says it is.
        if name.is_none() && !data.as_ref().is_ok_and(|data| data.begins_as_npy(bytes)) {
            continue;
        }
        let name = name.unwrap_or(path);
        if !names.insert(name.to_string()) {
            return Err(wrong("its name is there twice".into()));
        }
        let array = data.and_then(|data| data.header(bytes).map(|header| (header, data)).map_err(|e| wrong(e.message)));
        members.push(Member { name: name.to_string(), array });
    }
    if count > 0 && members.is_empty() {
        return Err(Error::format("it is no npz file: there is no npy file among its members"));
    }
    if count != archive.entries_hint() {
        return Err(broken(format!("it claims {} members and has {count}", archive.entries_hint())));
    }
    ranges.push((archive.directory_offset(), bytes.len() as u64));
    ranges.sort_unstable();
    if ranges.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return Err(broken("its members overlap"));
    }
    Ok(members)
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= 80 { name.to_string() } else { format!("{}...", name.chars().take(77).collect::<String>()) }
}

impl Packed {
    fn begins_as_npy(&self, archive: &[u8]) -> bool {
        let packed = &archive[self.range.clone()];
        if !self.deflated {
            return packed.starts_with(npy::MAGIC);
        }
        let mut start = [0; npy::MAGIC.len()];
        DeflateDecoder::new(packed).read_exact(&mut start).is_ok() && start == *npy::MAGIC
    }

    fn header(&self, archive: &[u8]) -> Result<Header> {
        let packed = &archive[self.range.clone()];
        if !self.deflated {
            return npy::header(packed);
        }
        let mut start = Vec::new();
        let most = npy::LONGEST_PREFIX.min(self.size) as u64;
        DeflateDecoder::new(packed).take(most).read_to_end(&mut start).map_err(corrupt)?;
        npy::header(&start)
    }

    /// Inflates a member into chunks of at most `buffer`, behind its header, and checks size and checksum.
    ///
    /// # Errors
    /// `Code::Format` where the data are corrupt, or not as many as claimed.
    pub fn inflate(
        &self,
        archive: &[u8],
        header: usize,
        buffer: &mut [u8],
        each: &mut dyn FnMut(usize, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut decoder = DeflateDecoder::new(&archive[self.range.clone()]);
        let (mut crc, mut done) = (Crc::new(), 0);
        while done < self.size {
            // The header alone first, so that chunks hold whole elements.
            let end = if done < header { header } else { self.size };
            let most = buffer.len().min(end - done);
            let chunk = &mut buffer[..most];
            decoder.read_exact(chunk).map_err(corrupt)?;
            crc.update(chunk);
            if done >= header {
                each(done - header, chunk)?;
            }
            done += most;
        }
        if decoder.read(&mut [0]).map_err(corrupt)? != 0 {
            return Err(Error::format(format!("it inflates to more than the {} bytes it claims", self.size)));
        }
        if decoder.total_in() != self.range.len() as u64 {
            return Err(Error::format("bytes follow its deflated data"));
        }
        self.verify(crc.sum())
    }

    /// Checks the bytes of a stored member.
    ///
    /// # Errors
    /// `Code::Format` where they are not what was written.
    pub fn check_stored(&self, archive: &[u8]) -> Result<()> {
        let mut crc = Crc::new();
        crc.update(&archive[self.range.clone()]);
        self.verify(crc.sum())
    }

    fn verify(&self, found: u32) -> Result<()> {
        if found == self.crc || planted::is("checksums-are-not-looked-at") {
            Ok(())
        } else {
            Err(Error::format("its checksum is wrong: the data are corrupt"))
        }
    }
}

fn corrupt(error: io::Error) -> Error {
    Error::format(format!("its deflated data are corrupt: {error}"))
}

/// Writes an archive, member by member.
pub struct Archive<'a> {
    writer: ZipArchiveWriter<&'a mut dyn Write>,
    names: HashSet<String>,
    compressed: bool,
}

impl<'a> Archive<'a> {
    /// An archive whose members are deflated or stored.
    pub fn new(out: &'a mut dyn Write, compressed: bool) -> Archive<'a> {
        Archive { writer: ZipArchiveWriter::new(out), names: HashSet::new(), compressed }
    }

    /// Adds an array; `data` gives its row-major elements once its header is known to be possible.
    ///
    /// # Errors
    /// Those of the output; as [`io::Error::other`] our own: `Code::DType` for bfloat16, `Code::Argument` for a name that would
    /// be a path outside the folder an archive is unpacked in, or that is there already.
    pub fn add(&mut self, name: &str, dtype: DType, shape: &[usize], data: &dyn Elements) -> io::Result<()> {
        let header = npy::write_header(dtype, shape).map_err(io::Error::other)?;
        check_name(name).map_err(io::Error::other)?;
        if !self.names.insert(name.to_string()) {
            return Err(io::Error::other(Error::argument(format!("two arrays are called '{name}'"))));
        }
        let path = format!("{name}{SUFFIX}");
        // Without the flag for UTF-8, ASCII names stay what they are, colons included.
        let path = if path.is_ascii() { EntryPath::verbatim(path.into_bytes()) } else { EntryPath::conformant(path) };
        let method = if self.compressed { CompressionMethod::DEFLATE } else { CompressionMethod::STORE };
        let (mut entry, config) = self.writer.new_file(path).compression_method(method).start().map_err(outward)?;
        let descriptor = if self.compressed {
            let mut writer = config.wrap(DeflateEncoder::new(&mut entry, flate2::Compression::default()));
            writer.write_all(&header)?;
            data.lend(&mut |bytes| writer.write_all(bytes))?;
            let (encoder, descriptor) = writer.finish().map_err(outward)?;
            encoder.finish()?;
            descriptor
        } else {
            let mut writer = config.wrap(&mut entry);
            writer.write_all(&header)?;
            data.lend(&mut |bytes| writer.write_all(bytes))?;
            writer.finish().map_err(outward)?.1
        };
        entry.finish(descriptor).map_err(outward)?;
        Ok(())
    }

    /// Writes the archive's directory.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(self) -> io::Result<()> {
        self.writer.finish().map(|_| ()).map_err(outward)
    }
}

/// Names that stay inside the folder where somebody may unpack them.
fn check_name(name: &str) -> Result<()> {
    let drive = matches!(name.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic());
    let parts_fit = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    let keeps = name.is_ascii() || ZipFilePath::from_str(name).as_str() == name;
    if drive || !parts_fit || !keeps || name.contains(['\\', '\0']) {
        return Err(Error::argument(format!(
            "'{}' cannot be a name in an archive: it would be a path elsewhere",
            shortened(name)
        )));
    }
    if name.len() > 60_000 {
        return Err(Error::argument("a name of more than 60,000 bytes"));
    }
    Ok(())
}

/// The output's own error, or a reason of the zip writer.
fn outward(error: rawzip::Error) -> io::Error {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) => error,
        other => io::Error::other(Error::argument(format!("the archive cannot be written: {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An archive of stored files.
    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = ZipArchiveWriter::new(&mut out);
        for &(path, data) in files {
            let (mut entry, config) = writer.new_file(EntryPath::verbatim(path.as_bytes().to_vec())).start().expect("begun");
            let mut writer = config.wrap(&mut entry);
            writer.write_all(data).expect("written");
            let (_, descriptor) = writer.finish().expect("whole");
            entry.finish(descriptor).expect("ended");
        }
        writer.finish().expect("closed");
        out
    }

    /// Sets two bytes in both headers of the first member: bits of its flags, or its method.
    fn marked(mut archive: Vec<u8>, place: usize, bits: u16) -> Vec<u8> {
        let directory = archive.windows(4).position(|four| four == b"PK\x01\x02").expect("a directory");
        for at in [4 + place, directory + 6 + place] {
            let set = u16::from_le_bytes([archive[at], archive[at + 1]]) | bits;
            archive[at..at + 2].copy_from_slice(&set.to_le_bytes());
        }
        archive
    }

    const FLAGS: usize = 2;
    const METHOD: usize = 4;
    const ENCRYPTED: u16 = 1;
    const BZIP2: u16 = 12;

    fn array() -> Vec<u8> {
        [npy::write_header(DType::U8, &[2]).expect("a header"), vec![1, 2]].concat()
    }

    /// Names, and whether they can be read.
    fn names(archive: &[u8]) -> Vec<(String, bool)> {
        parse(archive).expect("an archive").into_iter().map(|member| (member.name, member.array.is_ok())).collect()
    }

    #[test]
    fn a_note_is_no_array_whatever_its_name_and_its_method() {
        let array = array();
        let only = [("a".to_string(), true)];
        for files in [[("a", &b"note"[..]), ("a.npy", &array)], [("a.npy", &array), ("a", b"note")]] {
            assert_eq!(names(&zipped(&files)), only);
        }
        let noted = zipped(&[("README.txt", b"note"), ("a.npy", &array)]);
        for (place, bits) in [(FLAGS, ENCRYPTED), (METHOD, BZIP2)] {
            assert_eq!(names(&marked(noted.clone(), place, bits)), only);
        }
    }

    #[test]
    fn an_array_that_cannot_be_read_is_refused_by_its_name() {
        let array = array();
        let two = zipped(&[("a.npy", &array), ("b.npy", &array)]);
        for (place, bits) in [(FLAGS, ENCRYPTED), (METHOD, BZIP2)] {
            assert_eq!(names(&marked(two.clone(), place, bits)), [("a".to_string(), false), ("b".to_string(), true)]);
        }
        // What begins as an array is one, as NumPy has it.
        assert_eq!(names(&zipped(&[("a", &array)])), [("a".to_string(), true)]);
        let twice = parse(&zipped(&[("a", &array), ("a.npy", &array)])).expect_err("two of a name");
        assert!(twice.message.contains("its name is there twice"), "{}", twice.message);
    }
}
