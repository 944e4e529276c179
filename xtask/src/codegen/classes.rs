//! The classes of dtypes that operations take, as TypeScript knows them: a union of each, and a table by which a call with a wrong
//! dtype does not compile.

use ferrotensor_core::DType;
use ferrotensor_ops::OPS;
use ferrotensor_ops::dtype_rule::Class;
use std::fmt::Write;

/// Every class but those without bounds.
const CLASSES: [Class; 9] = [
    Class::Numeric,
    Class::Real,
    Class::Ordered,
    Class::RealOrBool,
    Class::Float,
    Class::Native,
    Class::Bool,
    Class::Integer,
    Class::IntegerOrBool,
];

/// What index operands take, which stand outside of their row's dtype rule: the class, and what messages call it.
pub const INDEX: (&str, &str) = ("index", "integers up to int64");

/// A class in generated types; nothing for one that takes all dtypes.
pub fn name(class: Class) -> Option<&'static str> {
    match class {
        Class::Any | Class::Complex => None,
        Class::Numeric => Some("numeric"),
        Class::Real => Some("integerOrFloat"),
        Class::Ordered | Class::RealOrBool => Some("real"),
        Class::Float => Some("float"),
        Class::Native => Some("native"),
        Class::Bool => Some("bool"),
        Class::Integer => Some("integer"),
        Class::IntegerOrBool => Some("integerOrBool"),
    }
}

/// A row of the table: a class, its words, and its dtypes.
type Row = (&'static str, &'static str, Vec<DType>);

/// The classes that rows of the table name, and those of calls by hand.
fn rows() -> Vec<Row> {
    let row = |name, words, has: &dyn Fn(DType) -> bool| (name, words, DType::all().filter(|&d| has(d)).collect());
    let mut rows: Vec<Row> = Vec::new();
    for class in CLASSES.iter().filter(|&&class| OPS.iter().any(|op| op.dtype.class == class)) {
        if let Some(name) = name(*class).filter(|name| rows.iter().all(|row| row.0 != *name)) {
            rows.push(row(name, class.words(), &|d| class.has(d)));
        }
    }
    let index = |d: DType| d.is_integer() && d != DType::U64;
    rows.push(row("floatOrComplex", "a floating or complex dtype", &|d| d.is_float() || d.is_complex()));
    rows.push(row(INDEX.0, INDEX.1, &index));
    rows.push(row("indexOrMask", "integers up to int64 or bool", &|d| index(d) || d == DType::Bool));
    rows
}

/// The first letter in upper case.
fn capital(words: &str) -> String {
    let (first, rest) = words.split_at(1);
    format!("{}{rest}", first.to_uppercase())
}

/// The union of a class's dtypes: `RealDType` of `real`.
fn union(class: &str) -> String {
    format!("{}DType", capital(class))
}

/// The head of the table.
const TABLE: &str = "
/** What a wrong dtype is met with: no tensor is one, and the compiler's message shows why. */
export interface Refused<Why extends string> {
  readonly refused: Why
}

/** `unknown`, to which everything is assignable, for the dtypes of a class; a scalar is none of them. */
type Taken<Class extends DType, Why extends string> = { readonly [D in DType]: D extends Class ? unknown : Refused<`takes ${Why}`> } & {
  readonly scalar: Refused<'takes a tensor among its operands'>
}

/** The classes of dtypes that operations take, by name. */
export interface TakesTable {
  any: Taken<DType, 'any dtype'>
";

/// The look-up.
const TAKES: &str = "}

/**
 * What a tensor must be beside a tensor of `D`, where an operation takes a class of dtypes only. Looked up, so that a tensor whose dtype is
 * not known is accepted (`unknown | Refused` is `unknown`), and generic code compiles where its own bound is within the class.
 */
export type Takes<C extends keyof TakesTable, D extends DType | 'scalar'> = TakesTable[C][D]
";

pub fn render(out: &mut String) {
    let rows = rows();
    for (class, words, dtypes) in &rows {
        let names: Vec<String> = dtypes.iter().map(|d| format!("'{d}'")).collect();
        let (doc, name) = (capital(words), union(class));
        let _ = write!(out, "\n/** {doc}. */\nexport type {name} = {}\n", names.join(" | "));
    }
    out.push_str(TABLE);
    for (class, words, _) in &rows {
        let _ = writeln!(out, "  {class}: Taken<{}, '{words}'>", union(class));
    }
    out.push_str(TAKES);
}
