//! The table of operations: every public operation is one entry of [`OPS`], and there is no second list anywhere.
//!
//! TypeScript methods and typings, documentation, the support matrix and the conformance cases come out of it. A row says
//! which dtypes and shapes an operation takes and gives, and lowers it to views and kernels of a [`graph::Graph`].

pub mod attrs;
pub mod def;
pub mod derived;
pub mod dtype_rule;
pub mod gradient;
pub mod graph;
pub mod infer;
pub mod lower;
pub mod rewrite;
pub mod selection;
pub mod shape;
pub mod write;

mod complex;
mod table;
mod vmap;

pub use def::{OpDef, OpId};
pub use derived::DERIVED;
pub use table::{OPS, PAGES, find, page, philox};

/// What a tensor is before it has a value: dtype, shape, device, storage encoding (0: dense).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TensorType {
    /// Element type.
    pub dtype: ferrotensor_core::DType,
    /// Axis sizes.
    pub dims: ferrotensor_core::Dims,
    /// Device number (position in the registry).
    pub device: u16,
    /// Storage encoding; 0 is dense.
    pub encoding: u16,
}
