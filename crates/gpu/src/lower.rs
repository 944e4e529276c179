//! From kernels to code and dispatches.

use crate::Can;
use crate::code::Code;
use crate::launch::contract::{self, ContractProgram};
use crate::launch::gather::{self, GatherProgram};
use crate::launch::map::{self, MapProgram};
use crate::launch::reduce::{self, ReduceProgram};
use crate::launch::rows::{self, RowsProgram};
use crate::launch::scan::{self, ScanProgram};
use crate::launch::scatter::{self, ScatterProgram};
use crate::launch::sort::{self, SortProgram};
use crate::{Compiler, Program};
use ferrotensor_core::kernel::{Kernel, WindowCombine};
use ferrotensor_core::{Error, Result};

const SEVERAL: &str = "no reduction of several operands or to several values yet";

/// Whether [`prepare`] would succeed, or why not: asks the emitter, and compiles nothing.
///
/// # Errors
/// The reason, in words.
pub fn supports(kernel: &Kernel, can: &Can) -> Result<(), String> {
    emitted(kernel, can).map(drop)
}

/// The code of a kernel over the fewest loops; where it has several, of the one that writes its outputs.
///
/// # Errors
/// As [`supports`].
pub fn emitted(kernel: &Kernel, can: &Can) -> Result<Code, String> {
    match kernel {
        Kernel::Map(map) => map::emitted(map, can).map(|(_, code)| code),
        Kernel::Reduce(kernel) if !kernel.is_plain() => Err(SEVERAL.into()),
        Kernel::Reduce(kernel) => reduce::emitted(kernel, can).map(|(_, code)| code),
        Kernel::Contract(_) => contract::emitted(kernel, can).map(|(_, code)| code),
        Kernel::Window(k) if k.combine == WindowCombine::Dot => contract::emitted(kernel, can).map(|(_, code)| code),
        Kernel::Scan(kernel) => scan::emitted(kernel, can).map(|(_, code)| code),
        Kernel::Scatter(kernel) => scatter::emitted(kernel, can).map(|(_, [_, code])| code),
        Kernel::Gather(kernel) => gather::emitted(kernel, can),
        Kernel::Sort(kernel) => sort::emitted(kernel, can).map(|(_, code)| code),
        Kernel::Rows(kernel) => rows::emitted(kernel, can).map(|(_, code)| code),
        other => Err(absent(other)),
    }
}

/// Makes a kernel ready.
///
/// # Errors
/// `Code::Unsupported` with the reason [`supports`] gives; the driver's.
pub fn prepare(kernel: &Kernel, can: &Can, compiler: &dyn Compiler) -> Result<Box<dyn Program>> {
    match kernel {
        Kernel::Map(map) => Ok(Box::new(MapProgram::new(map, can, compiler)?)),
        Kernel::Reduce(kernel) if !kernel.is_plain() => Err(Error::unsupported(SEVERAL)),
        Kernel::Reduce(kernel) => Ok(Box::new(ReduceProgram::new(kernel, can, compiler)?)),
        Kernel::Contract(_) => Ok(Box::new(ContractProgram::new(kernel, can, compiler)?)),
        Kernel::Window(k) if k.combine == WindowCombine::Dot => Ok(Box::new(ContractProgram::new(kernel, can, compiler)?)),
        Kernel::Scan(kernel) => Ok(Box::new(ScanProgram::new(kernel, can, compiler)?)),
        Kernel::Scatter(kernel) => Ok(Box::new(ScatterProgram::new(kernel, can, compiler)?)),
        Kernel::Gather(kernel) => Ok(Box::new(GatherProgram::new(kernel, can, compiler)?)),
        Kernel::Sort(kernel) => Ok(Box::new(SortProgram::new(kernel, can, compiler)?)),
        Kernel::Rows(kernel) => Ok(Box::new(RowsProgram::new(kernel, can, compiler)?)),
        other => Err(Error::unsupported(absent(other))),
    }
}

fn absent(kernel: &Kernel) -> String {
    format!("no {} kernel yet", kernel.kind())
}
