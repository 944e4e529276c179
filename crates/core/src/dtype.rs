//! The dtype table: one row for each of the 15 element types, and nothing else that depends on a dtype's name.

use std::fmt;

/// The element type of a tensor. The discriminant is the number used in programs and in TypeScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum DType {
    Bool = 0,
    I8 = 1,
    U8 = 2,
    I16 = 3,
    U16 = 4,
    I32 = 5,
    U32 = 6,
    I64 = 7,
    U64 = 8,
    F16 = 9,
    BF16 = 10,
    F32 = 11,
    F64 = 12,
    C64 = 13,
    C128 = 14,
}

/// The array API's kinds, in promotion order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    Bool,
    Unsigned,
    Signed,
    Float,
    Complex,
}

/// One row of the dtype table.
#[derive(Debug)]
pub struct DTypeInfo {
    /// The dtype this row describes.
    pub dtype: DType,
    /// The public name (`'float32'`).
    pub name: &'static str,
    /// Bytes per element.
    pub bytes: usize,
    /// The array API kind.
    pub kind: Kind,
    /// The JavaScript typed array that holds the raw elements.
    pub js_storage: &'static str,
    /// The JavaScript typed array that `data()` returns (float16 and bfloat16 widen to Float32Array).
    pub js_read: &'static str,
    /// The NumPy code, little endian (`<f4`); bfloat16 has none of its own and is stored as `<V2`.
    pub numpy: &'static str,
    /// The safetensors code; complex128 has none.
    pub safetensors: Option<&'static str>,
    /// The real dtype of a complex one, otherwise itself.
    pub real: DType,
}

macro_rules! row {
    ($d:ident, $name:literal, $bytes:literal, $kind:ident, $store:literal, $read:literal, $np:literal, $st:expr, $real:ident) => {
        DTypeInfo {
            dtype: DType::$d,
            name: $name,
            bytes: $bytes,
            kind: Kind::$kind,
            js_storage: $store,
            js_read: $read,
            numpy: $np,
            safetensors: $st,
            real: DType::$real,
        }
    };
}

/// The table, indexed by `DType as usize`.
#[rustfmt::skip]
pub static DTYPES: [DTypeInfo; 15] = [
    row!(Bool, "bool",       1,  Bool,     "Uint8Array",     "Uint8Array",     "|b1",  Some("BOOL"), Bool),
    row!(I8,   "int8",       1,  Signed,   "Int8Array",      "Int8Array",      "|i1",  Some("I8"),   I8),
    row!(U8,   "uint8",      1,  Unsigned, "Uint8Array",     "Uint8Array",     "|u1",  Some("U8"),   U8),
    row!(I16,  "int16",      2,  Signed,   "Int16Array",     "Int16Array",     "<i2",  Some("I16"),  I16),
    row!(U16,  "uint16",     2,  Unsigned, "Uint16Array",    "Uint16Array",    "<u2",  Some("U16"),  U16),
    row!(I32,  "int32",      4,  Signed,   "Int32Array",     "Int32Array",     "<i4",  Some("I32"),  I32),
    row!(U32,  "uint32",     4,  Unsigned, "Uint32Array",    "Uint32Array",    "<u4",  Some("U32"),  U32),
    row!(I64,  "int64",      8,  Signed,   "BigInt64Array",  "BigInt64Array",  "<i8",  Some("I64"),  I64),
    row!(U64,  "uint64",     8,  Unsigned, "BigUint64Array", "BigUint64Array", "<u8",  Some("U64"),  U64),
    row!(F16,  "float16",    2,  Float,    "Uint16Array",    "Float32Array",   "<f2",  Some("F16"),  F16),
    row!(BF16, "bfloat16",   2,  Float,    "Uint16Array",    "Float32Array",   "<V2",  Some("BF16"), BF16),
    row!(F32,  "float32",    4,  Float,    "Float32Array",   "Float32Array",   "<f4",  Some("F32"),  F32),
    row!(F64,  "float64",    8,  Float,    "Float64Array",   "Float64Array",   "<f8",  Some("F64"),  F64),
    row!(C64,  "complex64",  8,  Complex,  "Float32Array",   "Float32Array",   "<c8",  Some("C64"),  F32),
    row!(C128, "complex128", 16, Complex,  "Float64Array",   "Float64Array",   "<c16", None,         F64),
];

impl DType {
    /// Every dtype, in table order.
    pub fn all() -> impl Iterator<Item = DType> {
        DTYPES.iter().map(|row| row.dtype)
    }

    /// This dtype's row.
    pub fn info(self) -> &'static DTypeInfo {
        &DTYPES[self as usize]
    }

    /// The public name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Bytes per element.
    pub fn bytes(self) -> usize {
        self.info().bytes
    }

    /// The array API kind.
    pub fn kind(self) -> Kind {
        self.info().kind
    }

    /// The dtype with this number, if there is one.
    pub fn from_code(code: u8) -> Option<DType> {
        DTYPES.get(code as usize).map(|row| row.dtype)
    }

    /// The dtype with this public name, if there is one.
    pub fn from_name(name: &str) -> Option<DType> {
        DTYPES.iter().find(|row| row.name == name).map(|row| row.dtype)
    }

    /// Signed or unsigned integer (bool is neither).
    pub fn is_integer(self) -> bool {
        matches!(self.kind(), Kind::Signed | Kind::Unsigned)
    }

    /// Real floating point.
    pub fn is_float(self) -> bool {
        self.kind() == Kind::Float
    }

    /// Complex.
    pub fn is_complex(self) -> bool {
        self.kind() == Kind::Complex
    }

    /// The dtype arithmetic is carried out in before one rounding to `self`: float32 for float16 and bfloat16.
    pub fn compute(self) -> DType {
        match self {
            DType::F16 | DType::BF16 => DType::F32,
            other => other,
        }
    }
}

/// The shape of a floating dtype.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatFormat {
    /// Exponent of the largest numbers.
    pub top: i32,
    /// Exponent of the smallest normal ones.
    pub bottom: i32,
    /// Bits of the fraction.
    pub fraction: i32,
}

impl DType {
    /// The format of a floating dtype, or of the parts of a complex one; nothing of others.
    pub fn float_format(self) -> Option<FloatFormat> {
        let format = |top, bottom, fraction| Some(FloatFormat { top, bottom, fraction });
        match self.info().real {
            DType::F16 => format(15, -14, 10),
            DType::BF16 => format(127, -126, 7),
            DType::F32 => format(127, -126, 23),
            DType::F64 => format(1023, -1022, 52),
            _ => None,
        }
    }
}

impl FloatFormat {
    /// The largest finite number.
    pub fn max(self) -> f64 {
        2f64.powi(self.top) * (2.0 - self.epsilon())
    }

    /// The distance from 1 to the next number.
    pub fn epsilon(self) -> f64 {
        2f64.powi(-self.fraction)
    }

    /// The smallest normal number.
    pub fn smallest_normal(self) -> f64 {
        2f64.powi(self.bottom)
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_indexed_by_discriminant() {
        for (i, row) in DTYPES.iter().enumerate() {
            assert_eq!(row.dtype as usize, i);
            assert_eq!(DType::from_name(row.name), Some(row.dtype));
            assert_eq!(DType::from_code(i as u8), Some(row.dtype));
        }
        assert_eq!(DType::from_code(15), None);
        assert_eq!(DType::from_name("float"), None);
    }
}
