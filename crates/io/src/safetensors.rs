//! The safetensors format: the header read strictly, and written. Dtypes, the header's form and its rules are those of the crate
//! `safetensors`, the format's own library; the header is read here all the same, because that crate keeps the last of two
//! tensors of one name, and buffers whatever JSON it is given at many times its size.

use ferrotensor_core::layout::{MAX_RANK, count};
use ferrotensor_core::planted;
use ferrotensor_core::{DType, Error, Result};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::de::{self, Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::collections::{BTreeMap, HashSet};
use std::fmt;

/// The format's own bound on its header.
const MAX_HEADER: usize = 100_000_000;
/// The bytes of the header's length.
const LENGTH: usize = 8;
/// The key beside the tensors' names.
const METADATA: &str = "__metadata__";

/// One tensor of a file.
#[derive(Debug, PartialEq)]
pub struct Described {
    /// Its name.
    pub name: String,
    /// The format's name of its dtype.
    pub code: String,
    /// Ours, if there is one.
    pub dtype: Option<DType>,
    /// Axis sizes.
    pub shape: Vec<u64>,
    /// Where its bytes start in the file, and how many there are.
    pub start: usize,
    /// How many bytes it has.
    pub bytes: usize,
}

/// Tensors in the order of their data, and the file's own entries.
pub type Parsed = (Vec<Described>, BTreeMap<String, String>);

/// Reads the header of a file.
///
/// # Errors
/// `Code::Format` for everything that the format forbids: a header that is too long or no such JSON, names that repeat, data that
/// overlap, have gaps, or do not end where the file does.
pub fn parse(bytes: &[u8]) -> Result<Parsed> {
    let Some(length) = bytes.first_chunk::<LENGTH>() else {
        return Err(Error::format(format!(
            "it is no safetensors file: {} bytes, the length of the header takes 8",
            bytes.len()
        )));
    };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    if length > MAX_HEADER {
        return Err(Error::format(format!(
            "it is no safetensors file: a header of {length} bytes; the most is {MAX_HEADER}"
        )));
    }
    let text = bytes
        .get(LENGTH..LENGTH + length)
        .ok_or_else(|| Error::format(format!("the header ends after {} of {length} bytes", bytes.len() - LENGTH)))?;
    if text.first() != Some(&b'{') {
        return Err(Error::format("it is no safetensors file: its header does not begin with '{'"));
    }
    let Header { metadata, mut tensors } =
        serde_json::from_slice(text).map_err(|e| Error::format(format!("the header is not valid: {e}")))?;
    tensors.sort_by(|(a, left), (b, right)| (left.data_offsets, a).cmp(&(right.data_offsets, b)));
    let described = tensors
        .iter()
        .map(|(name, info)| Described {
            name: name.clone(),
            code: info.dtype.to_string(),
            dtype: ours(info.dtype),
            shape: info.shape.iter().map(|&size| size as u64).collect(),
            start: LENGTH + length + info.data_offsets.0,
            bytes: info.data_offsets.1.saturating_sub(info.data_offsets.0),
        })
        .collect();
    // The crate's rules: data without gaps, as many bytes as shape and dtype say.
    let rules = Metadata::new(None, tensors).map_err(|e| Error::format(format!("the header is not valid: {e}")))?;
    let (data, there) = (rules.data_len(), bytes.len() - LENGTH - length);
    if data != there && !planted::is("a-short-file-is-read") {
        return Err(Error::format(format!("the header describes {data} bytes of data, the file has {there}")));
    }
    Ok((described, metadata))
}

fn ours(dtype: Dtype) -> Option<DType> {
    let code = dtype.to_string();
    DType::all().find(|d| d.info().safetensors == Some(code.as_str()))
}

/// The header of a file, and the order in which the tensors' data follow it.
///
/// # Errors
/// `Code::DType` for complex128, `Code::Argument` for a name that the format reserves.
pub fn write_header(
    tensors: &[(&str, DType, &[usize])],
    metadata: &BTreeMap<String, String>,
) -> Result<(Vec<u8>, Vec<usize>)> {
    let mut order: Vec<(usize, Dtype)> =
        tensors.iter().enumerate().map(|(i, &(name, dtype, _))| Ok((i, theirs(name, dtype)?))).collect::<Result<_>>()?;
    // As the crate orders them: by falling alignment, so that everything is aligned, then by name.
    order.sort_by(|&(i, left), &(j, right)| right.cmp(&left).then_with(|| tensors[i].0.cmp(tensors[j].0)));
    let mut end = 0;
    let mut infos = Vec::new();
    for &(i, dtype) in &order {
        let (name, ours, shape) = tensors[i];
        let start = end;
        end += count(shape)? * ours.bytes();
        infos.push((name, TensorInfo { dtype, shape: shape.to_vec(), data_offsets: (start, end) }));
    }
    let mut text = serde_json::to_vec(&Written { metadata, tensors: &infos })
        .map_err(|e| Error::internal(format!("a safetensors header could not be written: {e}")))?;
    // Spaces up to a multiple of 8, so that the data are aligned.
    text.resize(text.len().next_multiple_of(LENGTH), b' ');
    if text.len() > MAX_HEADER {
        return Err(Error::argument(format!("names and metadata of {} bytes; the format takes {MAX_HEADER}", text.len())));
    }
    let bytes = [&(text.len() as u64).to_le_bytes()[..], &text].concat();
    Ok((bytes, order.into_iter().map(|(i, _)| i).collect()))
}

fn theirs(name: &str, dtype: DType) -> Result<Dtype> {
    if name == METADATA {
        return Err(Error::argument(format!(
            "a tensor cannot be called '{METADATA}': safetensors keeps that name to itself"
        )));
    }
    let code = dtype.info().safetensors.ok_or_else(|| {
        let advice = "write it with saveNpz, or convert it with x.astype('complex64')";
        Error::dtype(format!("safetensors has no {dtype} (tensor '{name}'); {advice}"))
    })?;
    let text = serde_json::Value::String(code.into());
    Dtype::deserialize(text).map_err(|e| Error::internal(format!("safetensors does not know its dtype {code}: {e}")))
}

/// A header to be written: metadata in the order of their keys, so that equal files are equal bytes.
struct Written<'a> {
    metadata: &'a BTreeMap<String, String>,
    tensors: &'a [(&'a str, TensorInfo)],
}

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.metadata.is_empty() {
            map.serialize_entry(METADATA, self.metadata)?;
        }
        for (name, info) in self.tensors {
            map.serialize_entry(name, info)?;
        }
        map.end()
    }
}

/// A header that was read.
struct Header {
    metadata: BTreeMap<String, String>,
    tensors: Vec<(String, TensorInfo)>,
}

/// An axis list, bounded while it is read.
struct Shape(Vec<usize>);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Axes;
        impl<'de> Visitor<'de> for Axes {
            type Value = Shape;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of sizes")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
                let mut axes = Vec::new();
                while let Some(size) = items.next_element()? {
                    if axes.len() == MAX_RANK {
                        return Err(de::Error::custom(format!("a tensor of more than {MAX_RANK} axes")));
                    }
                    axes.push(size);
                }
                Ok(Shape(axes))
            }
        }
        deserializer.deserialize_seq(Axes)
    }
}

/// A tensor's entry; the crate's own type takes a shape of any length.
struct Info(TensorInfo);

impl<'de> Deserialize<'de> for Info {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> Visitor<'de> for Fields {
            type Value = Info;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a tensor's dtype, shape and data_offsets")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Info, A::Error> {
                let (mut dtype, mut shape, mut offsets) = (None, None, None);
                while let Some(key) = map.next_key::<String>()? {
                    let again = match key.as_str() {
                        "dtype" => dtype.replace(map.next_value::<Dtype>()?).is_some(),
                        "shape" => shape.replace(map.next_value::<Shape>()?).is_some(),
                        "data_offsets" => offsets.replace(map.next_value::<(usize, usize)>()?).is_some(),
                        _ => {
                            map.next_value::<IgnoredAny>()?;
                            false
                        }
                    };
                    if again {
                        return Err(de::Error::custom(format!("'{key}' is there twice")));
                    }
                }
                let dtype = dtype.ok_or_else(|| de::Error::missing_field("dtype"))?;
                let Shape(shape) = shape.ok_or_else(|| de::Error::missing_field("shape"))?;
                let data_offsets = offsets.ok_or_else(|| de::Error::missing_field("data_offsets"))?;
                Ok(Info(TensorInfo { dtype, shape, data_offsets }))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut header = Header { metadata: BTreeMap::new(), tensors: Vec::new() };
                let mut seen = HashSet::new();
                while let Some(name) = map.next_key::<String>()? {
                    if !seen.insert(name.clone()) {
                        return Err(de::Error::custom(format!("'{name}' is there twice")));
                    }
                    if name == METADATA {
                        header.metadata = map.next_value::<Unique>()?.0;
                    } else {
                        let Info(info) = map.next_value()?;
                        header.tensors.push((name, info));
                    }
                }
                Ok(header)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Texts by texts, each key once.
struct Unique(BTreeMap<String, String>);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = Unique;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
                let mut texts = BTreeMap::new();
                while let Some((key, value)) = map.next_entry::<String, String>()? {
                    if texts.insert(key, value).is_some() {
                        return Err(de::Error::custom("a key of the metadata is there twice"));
                    }
                }
                Ok(Unique(texts))
            }
        }
        deserializer.deserialize_map(Texts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: usize) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &vec![0; data]].concat()
    }

    fn refused(header: &str, data: usize) -> String {
        parse(&file(header, data)).expect_err(header).message
    }

    #[test]
    fn what_is_written_is_read_in_the_crate_s_order() {
        let tensors: [(&str, DType, &[usize]); 4] =
            [("b", DType::U8, &[3]), ("a", DType::F32, &[2, 2]), ("é", DType::BF16, &[]), ("empty", DType::C64, &[0, 5])];
        let metadata = BTreeMap::from([("format".to_string(), "pt".to_string())]);
        let (mut bytes, order) = write_header(&tensors, &metadata).expect("written");
        assert_eq!(bytes.len() % LENGTH, 0);
        bytes.extend([0; 3 + 16 + 2]);
        let (read, found) = parse(&bytes).expect("read");
        assert_eq!(found, metadata);
        assert_eq!(order, [3, 1, 2, 0]);
        let names: Vec<&str> = read.iter().map(|t| t.name.as_str()).collect();
        assert_eq!(names, ["empty", "a", "é", "b"]);
        // The crate itself agrees.
        assert_eq!(safetensors::SafeTensors::deserialize(&bytes).expect("valid").len(), 4);
        for end in 0..bytes.len() {
            assert!(parse(&bytes[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn every_dtype_of_the_table_is_the_crate_s() {
        for dtype in DType::all() {
            match (dtype.info().safetensors, theirs("x", dtype)) {
                (Some(code), Ok(found)) => assert_eq!((found.to_string().as_str(), ours(found)), (code, Some(dtype))),
                (None, Err(error)) => assert!(error.message.contains("saveNpz"), "{error}"),
                (code, found) => panic!("{dtype}: {code:?}, {found:?}"),
            }
        }
        assert_eq!(ours(Dtype::F8_E4M3), None);
    }

    #[test]
    fn hostile_headers_are_refused() {
        let entry = r#"{"dtype":"U8","shape":[1],"data_offsets":[0,1]}"#;
        assert!(refused(&format!(r#"{{"a":{entry},"a":{entry}}}"#), 1).contains("'a' is there twice"));
        assert!(refused(r#"{"__metadata__":{"k":"1","k":"2"}}"#, 0).contains("twice"));
        assert!(refused(r#"{"__metadata__":{"k":1}}"#, 0).contains("not valid"));
        assert!(refused(&format!(r#"{{"a":{entry}}}"#), 2).contains("describes 1 bytes of data, the file has 2"));
        assert!(refused(r#"{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}"#, 1).contains("not valid"));
        assert!(refused(r#"{"a":{"dtype":"F99","shape":[1],"data_offsets":[0,1]}}"#, 1).contains("F99"));
        assert!(refused(r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}"#, 2).contains("offset"));
        assert!(refused(r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}}"#, 1).contains("offset"));
        assert!(
            refused(r#"{"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}}"#, 0).contains("overflow")
        );
        assert!(refused(r#"{"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}}"#, 1).contains("twice"));
        assert!(refused(r#"{"a":{"dtype":"F4","shape":[1],"data_offsets":[0,1]}}"#, 1).contains("not valid"));
        let axes = format!("{}1", "1,".repeat(MAX_RANK));
        assert!(refused(&format!(r#"{{"a":{{"dtype":"U8","shape":[{axes}],"data_offsets":[0,1]}}}}"#), 1).contains("axes"));
        assert!(refused("[]", 0).contains("begin with '{'"));
        assert!(refused("{} x", 0).contains("not valid"));
        assert!(refused(&"{\"a\":".repeat(1000), 0).contains("not valid"));
        assert!(parse(&u64::MAX.to_le_bytes()).expect_err("long").message.contains("the most is"));
    }

    #[test]
    fn reserved_names_are_refused() {
        assert!(write_header(&[(METADATA, DType::U8, &[])], &BTreeMap::new()).is_err());
    }
}
