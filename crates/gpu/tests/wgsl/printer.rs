//! Prints the code of a kernel as WGSL, by the names that WGSL has for it. What it cannot say is an error: WGSL has no integers of 8, 16
//! and 64 bits, and no float64. Nor does it promise anything about rounding, contraction and NaN, which text does not show.

use ferrotensor_gpu::code::{Code, GROUP, Inst, Place, Statement, Type, Word};
use std::fmt::Write;

/// The high half of a product, which WGSL has no function for, from products of halves.
const HIGH_PRODUCT: &str = "fn high_product(x: u32, y: u32) -> u32 {
    let low = (x & 0xffffu) * (y & 0xffffu);
    let first = (x >> 16u) * (y & 0xffffu) + (low >> 16u);
    let second = (x & 0xffffu) * (y >> 16u) + (first & 0xffffu);
    return (x >> 16u) * (y >> 16u) + (first >> 16u) + (second >> 16u);
}
";

/// The text of a kernel.
///
/// # Errors
/// What WGSL lacks.
pub fn text(code: &Code) -> Result<String, String> {
    let mut printer = Printer { code, body: String::new(), values: Vec::with_capacity(code.types.len()), loops: Vec::new() };
    let mut head = String::new();
    let blocks = (code.arguments + 1).div_ceil(4);
    let _ = writeln!(head, "@group(0) @binding(0) var<uniform> arguments: array<vec4<u32>, {blocks}>;");
    for (n, bound) in code.buffers.iter().enumerate() {
        let raised = printer.is_raised(n as u32);
        let element = if raised { "atomic<u32>" } else { name(bound.of)? };
        let access = if raised || bound.written { "read_write" } else { "read" };
        let _ = writeln!(head, "@group(0) @binding({}) var<storage, {access}> b{n}: array<{element}>;", n + 1);
    }
    for (n, room) in code.arrays.iter().enumerate() {
        let space = if room.shared { "workgroup" } else { "private" };
        let _ = writeln!(head, "var<{space}> a{n}: array<{}, {}>;", name(room.of)?, room.length);
    }
    for statement in &code.statements {
        printer.statement(statement)?;
    }
    let places = "@builtin(global_invocation_id) thread: vec3<u32>, @builtin(local_invocation_id) local: vec3<u32>, \
                  @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>";
    Ok(format!("{head}{HIGH_PRODUCT}@compute @workgroup_size({GROUP})\nfn main({places}) {{\n{}}}\n", printer.body))
}

/// A type's name.
fn name(of: Type) -> Result<&'static str, String> {
    match of {
        Type::Bool => Ok("bool"),
        Type::U32 => Ok("u32"),
        Type::F32 => Ok("f32"),
        Type::U8 => Err("no 8-bit integers".into()),
        Type::U16 => Err("no 16-bit integers".into()),
        Type::U64 => Err("no 64-bit integers".into()),
        Type::F64 => Err("no float64".into()),
    }
}

struct Printer<'a> {
    code: &'a Code,
    body: String,
    /// What stands for each value by now.
    values: Vec<String>,
    /// The variables of the loops that are open.
    loops: Vec<Vec<String>>,
}

impl Printer<'_> {
    fn is_raised(&self, n: u32) -> bool {
        self.code.statements.iter().any(|s| matches!(s, Statement::Raise { buffer, .. } if *buffer == n))
    }

    fn line(&mut self, text: &str) {
        self.body.push_str(text);
        self.body.push('\n');
    }

    fn value(&self, of: Word) -> &str {
        &self.values[of as usize]
    }

    /// The next value, computed here.
    fn made(&mut self, expression: &str) -> Result<(), String> {
        let number = self.values.len();
        let of = name(self.code.types[number])?;
        self.line(&format!("let v{number}: {of} = {expression};"));
        self.values.push(format!("v{number}"));
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), String> {
        let of = self.code.types.get(self.values.len()).copied().unwrap_or(Type::U32);
        match *statement {
            Statement::Const(bits) | Statement::Literal(bits) => self.values.push(self.constant(of, bits)?),
            Statement::Op(inst, ref args) => {
                let expression = self.expression(inst, of, args)?;
                self.made(&expression)?;
            }
            Statement::Argument(n) => self.values.push(argument(n)),
            Statement::Place(place) => self.values.push(place_name(place).into()),
            Statement::Buffer(_) | Statement::Array(_) => {}
            Statement::Load { buffer, index } => self.made(&format!("b{buffer}[{}]", self.value(index)))?,
            Statement::Get { array, index } => self.made(&format!("a{array}[{}]", self.value(index)))?,
            Statement::Store { buffer, index, value } => {
                self.line(&format!("b{buffer}[{}] = {};", self.value(index), self.value(value)));
            }
            Statement::Set { array, index, value } => {
                self.line(&format!("a{array}[{}] = {};", self.value(index), self.value(value)));
            }
            Statement::Raise { buffer, index, value } => {
                self.line(&format!("atomicMax(&b{buffer}[{}], {});", self.value(index), self.value(value)));
            }
            Statement::Barrier => self.line("workgroupBarrier();"),
            Statement::Loop(ref start) => {
                let first = self.values.len();
                let variables: Vec<String> = (first..first + start.len()).map(|n| format!("v{n}")).collect();
                for ((variable, &start), &of) in variables.iter().zip(start).zip(&self.code.types[first..]) {
                    self.line(&format!("var {variable}: {} = {};", name(of)?, self.value(start)));
                }
                self.line("loop {");
                self.values.extend(variables.iter().cloned());
                self.loops.push(variables);
            }
            Statement::While(more) => self.line(&format!("if !{} {{ break; }}", self.value(more))),
            Statement::Next(ref values) => {
                let variables = self.loops.pop().ok_or("a loop ends that has not begun")?;
                // All are read before one is written: two may change places.
                for (variable, &value) in variables.iter().zip(values) {
                    self.line(&format!("let next_{variable} = {};", self.value(value)));
                }
                for variable in variables {
                    self.line(&format!("{variable} = next_{variable};"));
                }
                self.line("}");
            }
            Statement::When(condition) => self.line(&format!("if {} {{", self.value(condition))),
            Statement::End => self.line("}"),
        }
        Ok(())
    }

    fn constant(&self, of: Type, bits: u64) -> Result<String, String> {
        name(of)?;
        let word = bits as u32;
        let normal = f32::from_bits(word).is_normal();
        Ok(match of {
            Type::Bool => (bits & 0xff != 0).to_string(),
            Type::F32 if normal => {
                let (sign, exponent) = (if word >> 31 != 0 { "-" } else { "" }, (word >> 23 & 0xff) as i32 - 127);
                format!("{sign}0x1.{:06x}p{exponent}f", (word & 0x7f_ffff) << 1)
            }
            // No literal may be infinite or NaN, and others could be flushed: from an argument that is 0.
            Type::F32 => format!("bitcast<f32>({} | {word}u)", argument(self.code.arguments)),
            _ => format!("{word}u"),
        })
    }

    fn expression(&self, inst: Inst, of: Type, args: &[Word]) -> Result<String, String> {
        let x = |n: usize| self.value(args[n]);
        let signed = |n: usize| format!("bitcast<i32>({})", x(n));
        let call = |name: &str| {
            let all: Vec<&str> = args.iter().map(|&a| self.value(a)).collect();
            format!("{name}({})", all.join(", "))
        };
        let infix = |sign: &str| format!("({} {sign} {})", x(0), x(1));
        let signed_infix = |sign: &str| format!("({} {sign} {})", signed(0), signed(1));
        let from = self.code.types[args[0] as usize];
        Ok(match inst {
            Inst::FNegate => format!("-({})", x(0)),
            Inst::FAdd | Inst::IAdd => infix("+"),
            Inst::FSub | Inst::ISub => infix("-"),
            Inst::FMul | Inst::IMul => infix("*"),
            Inst::FDiv | Inst::UDiv => infix("/"),
            Inst::FAbs => call("abs"),
            Inst::Sqrt => call("sqrt"),
            Inst::Fma => call("fma"),
            Inst::Floor => call("floor"),
            Inst::Ceil => call("ceil"),
            Inst::RoundEven => call("round"),
            Inst::Trunc => call("trunc"),
            Inst::SNegate => format!("(0u - {})", x(0)),
            Inst::SAbs => format!("bitcast<u32>(abs({}))", signed(0)),
            Inst::UMulHigh => call("high_product"),
            Inst::SDiv => format!("bitcast<u32>{}", signed_infix("/")),
            Inst::UMod => infix("%"),
            Inst::Not => format!("~({})", x(0)),
            Inst::BitwiseAnd => infix("&"),
            Inst::BitwiseOr => infix("|"),
            Inst::BitwiseXor => infix("^"),
            Inst::ShiftLeftLogical => infix("<<"),
            Inst::ShiftRightLogical => infix(">>"),
            Inst::ShiftRightArithmetic => format!("bitcast<u32>({} >> {})", signed(0), x(1)),
            Inst::LogicalNot => format!("!({})", x(0)),
            Inst::LogicalAnd => infix("&&"),
            Inst::LogicalOr => infix("||"),
            Inst::LogicalNotEqual | Inst::FUnordNotEqual | Inst::INotEqual => infix("!="),
            Inst::FOrdEqual | Inst::IEqual => infix("=="),
            Inst::FOrdLessThan | Inst::ULessThan => infix("<"),
            Inst::FOrdLessThanEqual | Inst::ULessThanEqual => infix("<="),
            Inst::FOrdGreaterThanEqual | Inst::UGreaterThanEqual => infix(">="),
            Inst::SLessThan => signed_infix("<"),
            Inst::SLessThanEqual => signed_infix("<="),
            Inst::Select => format!("select({}, {}, {})", x(2), x(1), x(0)),
            Inst::ConvertSToF => format!("f32({})", signed(0)),
            Inst::ConvertUToF => call("f32"),
            Inst::ConvertFToS => format!("bitcast<u32>(i32({}))", x(0)),
            Inst::ConvertFToU => call("u32"),
            Inst::Bitcast => format!("bitcast<{}>({})", name(of)?, x(0)),
            // Between widths of which WGSL has one.
            Inst::SConvert | Inst::UConvert | Inst::FConvert if from == of => x(0).into(),
            Inst::SConvert | Inst::UConvert | Inst::FConvert | Inst::Join => {
                name(from)?;
                name(of)?;
                return Err(format!("no {inst:?} to {of:?}"));
            }
        })
    }
}

/// The n-th word of the arguments, which a uniform block has in vectors of four.
fn argument(n: u32) -> String {
    format!("arguments[{}u][{}u]", n / 4, n % 4)
}

fn place_name(place: Place) -> &'static str {
    match place {
        Place::Thread => "thread.x",
        Place::Local => "local.x",
        Place::Group => "group.x",
        Place::Groups => "groups.x",
    }
}
