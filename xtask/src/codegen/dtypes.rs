//! `lib/generated/dtypes.ts`: the dtype table and the promotion rules, as values and as types.

use super::{HEADER, classes};
use ferrotensor_core::dtype::{DTYPES, DTypeInfo};
use ferrotensor_core::{DType, Kind, promotion};
use std::fmt::Write;

/// What an element of a complex dtype is to JavaScript.
const COMPLEX: &str = "
/** A complex number, as `item()` gives it. */
export interface Complex {
  /** Real part. */
  readonly re: number
  /** Imaginary part. */
  readonly im: number
}

";

/// The type of a row, and the head of the table.
const ROW: &str = "/** The class of such an array. */
export interface ElementArrayClass {
  new (length: number): ElementArray
  new (buffer: ArrayBufferLike): ElementArray
  readonly BYTES_PER_ELEMENT: number
}

/** The array API's kinds of dtype. */
export type DTypeKind = 'bool' | 'unsigned' | 'signed' | 'float' | 'complex'

/** Limits of a floating dtype. */
export interface FloatLimits {
  readonly dtype: DType
  /** From 1 to the next number. */
  readonly eps: number
  /** Largest finite number. */
  readonly max: number
  readonly smallestNormal: number
}

/** What is known of one dtype. */
export interface DTypeRow {
  readonly name: DType
  /** Its number in programs. */
  readonly code: number
  /** Bytes for each element. */
  readonly bytes: number
  readonly kind: DTypeKind
  /** Holds raw elements. */
  readonly storage: ElementArrayClass
  /** What `data()` returns. */
  readonly read: ElementArrayClass
  /** Smallest value of an integer dtype, else null. */
  readonly min: number | bigint | null
  /** Largest value of an integer dtype, else null. */
  readonly max: number | bigint | null
  /** Limits of a floating dtype, or of a complex one's parts, else null. */
  readonly float: FloatLimits | null
}

/** The table. */
export const DTYPE: Readonly<Record<DType, DTypeRow>> = {
";

/// The head of the promotion table. Were the result `never`, a tensor of it would be assignable to every other type, in silence.
const PROMOTION: &str = "
/**
 * What comes out of uint64 and a signed integer: no dtype holds both, and the call throws. Convert one of them with `astype`.
 */
export type NoCommonDType = 'int64' | 'uint64'

/** The promotion table. */
export interface PromotionTable {
";

/// The end of the promotion table, and its look-up.
const PROMOTE: &str = "}

/**
 * The dtype in which tensors of two dtypes are combined; {@link NoCommonDType} where they are not. Refusing the operand instead, as
 * {@link Takes} does, would stop `x.add(x)` from compiling where the dtype is a type parameter.
 */
export type Promote<A extends DType, B extends DType> = PromotionTable[A][B]
";

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Bool => "bool",
        Kind::Unsigned => "unsigned",
        Kind::Signed => "signed",
        Kind::Float => "float",
        Kind::Complex => "complex",
    }
}

/// Smallest and largest value of an integer dtype as TypeScript: bigint where a number is not exact.
fn range(row: &DTypeInfo) -> (String, String) {
    let bits = 8 * row.bytes as u32;
    let suffix = if bits == 64 { "n" } else { "" };
    match row.kind {
        Kind::Unsigned => (format!("0{suffix}"), format!("{}{suffix}", u64::MAX >> (64 - bits))),
        Kind::Signed => (format!("{}{suffix}", i64::MIN >> (64 - bits)), format!("{}{suffix}", i64::MAX >> (64 - bits))),
        Kind::Bool | Kind::Float | Kind::Complex => ("null".into(), "null".into()),
    }
}

/// The limits of a floating dtype, or of a complex one's parts, as TypeScript.
fn limits(dtype: DType) -> String {
    dtype.float_format().map_or("null".into(), |f| {
        let (real, eps, max, smallest) = (dtype.info().real, f.epsilon(), f.max(), f.smallest_normal());
        format!("{{ dtype: '{real}', eps: {eps:e}, max: {max:e}, smallestNormal: {smallest:e} }}")
    })
}

/// What one element is to JavaScript.
fn item(row: &DTypeInfo) -> &'static str {
    match row.kind {
        Kind::Bool => "boolean",
        Kind::Complex => "Complex",
        _ if row.js_read.starts_with("Big") => "bigint",
        _ => "number",
    }
}

/// A lookup type: one member for each dtype.
fn lookup(out: &mut String, doc: &str, name: &str, value: impl Fn(&DTypeInfo) -> String) {
    let _ = write!(out, "\n/** {doc} */\nexport type {name}<D extends DType> = {{\n");
    for row in &DTYPES {
        let _ = writeln!(out, "  {}: {}", row.name, value(row));
    }
    out.push_str("}[D]\n");
}

fn quoted(d: DType) -> String {
    format!("'{d}'")
}

pub fn render() -> String {
    let mut out = String::from(HEADER);
    out.push_str("// The dtypes: names, sizes, JavaScript arrays, and what operations make of them.\n\n");
    out.push_str("/** The element type of a tensor. */\nexport type DType =\n");
    for row in &DTYPES {
        let _ = writeln!(out, "  | '{}'", row.name);
    }
    classes::render(&mut out);
    out.push_str(COMPLEX);
    let mut arrays: Vec<&str> = DTYPES.iter().flat_map(|row| [row.js_storage, row.js_read]).collect();
    arrays.sort_unstable();
    arrays.dedup();
    let _ =
        writeln!(out, "/** The typed arrays that hold elements. */\nexport type ElementArray = {}\n", arrays.join(" | "));
    out.push_str(ROW);
    for (code, row) in DTYPES.iter().enumerate() {
        let ((min, max), float) = (range(row), limits(row.dtype));
        let (name, bytes, kind, store, read) = (row.name, row.bytes, kind(row.kind), row.js_storage, row.js_read);
        let _ = writeln!(
            out,
            "  {name}: {{ name: '{name}', code: {code}, bytes: {bytes}, kind: '{kind}', storage: {store}, read: {read}, min: {min}, max: {max}, float: {float} }},"
        );
    }
    out.push_str(
        "}\n\n/** The rows by their numbers. */\nexport const DTYPES: readonly DTypeRow[] = Object.values(DTYPE)\n",
    );
    lookup(&mut out, "The typed array that `data()` returns.", "DataOf", |row| row.js_read.into());
    lookup(&mut out, "The typed array that holds raw elements.", "StorageOf", |row| row.js_storage.into());
    lookup(&mut out, "What `item()` returns.", "ItemOf", |row| item(row).into());
    lookup(&mut out, "Floating dtype of functions that need one: integers and bool become float32.", "FloatOf", |row| {
        quoted(promotion::to_float(row.dtype))
    });
    lookup(&mut out, "Default dtype of `sum` and `prod`: small integers and bool widen to 32 bits.", "SumOf", |row| {
        quoted(promotion::to_sum(row.dtype))
    });
    lookup(&mut out, "Complex dtype of Fourier transforms and of numbers given by their parts.", "ComplexOf", |row| {
        quoted(promotion::to_complex(row.dtype))
    });
    lookup(&mut out, "The dtype of a complex dtype's parts; a real dtype itself.", "RealOf", |row| quoted(row.real));
    out.push_str(PROMOTION);
    for a in DType::all() {
        let row: Vec<String> = DType::all()
            .map(|b| format!("{b}: {}", promotion::promote(a, b).map_or("NoCommonDType".into(), quoted)))
            .collect();
        let _ = writeln!(out, "  {a}: {{ {} }}", row.join("; "));
    }
    out.push_str(PROMOTE);
    out
}
