//! From kernels to code and dispatches.

use crate::can::Can;
use crate::emit::code::Code;
use crate::kernel::Program;
use crate::launch::contract::{self, ContractProgram};
use crate::launch::gather::{self, GatherProgram};
use crate::launch::map::{self, MapProgram};
use crate::launch::reduce::{self, ReduceProgram};
use crate::launch::rows::{self, RowsProgram};
use crate::launch::scan::{self, ScanProgram};
use crate::launch::scatter::{self, ScatterProgram};
use crate::launch::sort::{self, SortProgram};
use crate::pipelines::Pipelines;
use ferrotensor_core::kernel::{Kernel, WindowCombine};
use ferrotensor_core::{Error, Result};

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
pub fn prepare(kernel: &Kernel, can: &Can, pipelines: &Pipelines) -> Result<Box<dyn Program>> {
    match kernel {
        Kernel::Map(map) => Ok(Box::new(MapProgram::new(map, can, pipelines)?)),
        Kernel::Reduce(kernel) => Ok(Box::new(ReduceProgram::new(kernel, can, pipelines)?)),
        Kernel::Contract(_) => Ok(Box::new(ContractProgram::new(kernel, can, pipelines)?)),
        Kernel::Window(k) if k.combine == WindowCombine::Dot => Ok(Box::new(ContractProgram::new(kernel, can, pipelines)?)),
        Kernel::Scan(kernel) => Ok(Box::new(ScanProgram::new(kernel, can, pipelines)?)),
        Kernel::Scatter(kernel) => Ok(Box::new(ScatterProgram::new(kernel, can, pipelines)?)),
        Kernel::Gather(kernel) => Ok(Box::new(GatherProgram::new(kernel, can, pipelines)?)),
        Kernel::Sort(kernel) => Ok(Box::new(SortProgram::new(kernel, can, pipelines)?)),
        Kernel::Rows(kernel) => Ok(Box::new(RowsProgram::new(kernel, can, pipelines)?)),
        other => Err(Error::unsupported(absent(other))),
    }
}

fn absent(kernel: &Kernel) -> String {
    format!("no {} kernel yet", kernel.kind())
}
