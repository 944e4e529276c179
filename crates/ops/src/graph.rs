//! What programs are lowered to: values defined by views and kernels. Types are known here; layouts and buffers are not.

use crate::def::OpId;
use ferrotensor_core::kernel::{Kernel, WindowAxis};
use ferrotensor_core::{DType, Dims};
use smallvec::SmallVec;

/// A value of the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Val(pub u32);

/// An integer of a view: known now, or a parameter of the program (as float64).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Number {
    Const(i64),
    Param(u16),
}

/// One item of an index view, consuming one axis unless it is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IndexItem {
    NewAxis,
    Pick(Number),
    Slice { start: Number, step: Number, len: usize },
}

/// Another way to see the same elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// Axis i of the result is axis `axes[i]`.
    Permute(SmallVec<[usize; 6]>),
    /// Another shape of the same size; a copy where the layout does not allow it.
    Reshape(Dims),
    /// Broadcast to a shape.
    Broadcast(Dims),
    /// Axes walked backwards.
    Flip(SmallVec<[usize; 6]>),
    /// Basic indexing.
    Index(SmallVec<[IndexItem; 6]>),
    /// Sliding windows along an axis, which counts them; a new last axis has a window's places.
    #[allow(missing_docs)]
    Unfold { axis: usize, windows: usize, window: WindowAxis },
}

/// A launch parameter of a kernel, converted from a program parameter when the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Param {
    /// Which program parameter.
    pub index: u16,
    /// It holds an int64 instead of a float64.
    pub bigint: bool,
    /// What the kernel wants.
    pub dtype: DType,
}

/// A region of an assembled value: the whole, or a view of it.
pub type Region = Option<View>;

/// What defines values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Def {
    /// The n-th input of the program.
    Input(u32),
    /// A view.
    View {
        /// Of this value.
        of: Val,
        /// How.
        view: View,
    },
    /// A kernel; its outputs are consecutive values, dense and row-major.
    Kernel {
        /// What is computed.
        kernel: Kernel,
        /// Input operands.
        inputs: SmallVec<[Val; 3]>,
        /// Launch parameters.
        params: SmallVec<[Param; 2]>,
    },
    /// A dense value written region by region, in order: first a copy of all of `base`, then the parts. Without a base
    /// the parts cover everything.
    Assemble {
        /// What lies underneath.
        base: Option<Val>,
        /// Copies into regions; each part has its region's shape.
        parts: Vec<(Val, Region)>,
    },
}

impl Def {
    /// What defines the value, in one word.
    pub fn kind(&self) -> &'static str {
        match self {
            Def::Input(_) => "input",
            Def::View { .. } => "view",
            Def::Kernel { kernel, .. } => kernel.kind(),
            Def::Assemble { .. } => "assemble",
        }
    }

    /// Every operand, to be replaced.
    pub fn operands_mut(&mut self, f: impl FnMut(&mut Val)) {
        match self {
            Def::Input(_) => {}
            Def::View { of, .. } => std::iter::once(of).for_each(f),
            Def::Kernel { inputs, .. } => inputs.iter_mut().for_each(f),
            Def::Assemble { base, parts } => base.iter_mut().chain(parts.iter_mut().map(|p| &mut p.0)).for_each(f),
        }
    }
}

/// A definition and the row it was lowered from.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The definition.
    pub def: Def,
    /// The operation users know (0: input).
    pub op: OpId,
    /// Its first output.
    pub first: Val,
    /// How many outputs it has.
    pub outputs: u32,
}

/// Type and origin of a value.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueInfo {
    /// Element type.
    pub dtype: DType,
    /// Shape.
    pub dims: Dims,
    /// Index of the defining node.
    pub node: u32,
}

/// A lowered program.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// In topological order.
    pub nodes: Vec<Node>,
    /// All values.
    pub values: Vec<ValueInfo>,
}

impl Graph {
    /// Adds a node with outputs of these types; returns the first.
    pub fn push(&mut self, op: OpId, def: Def, outputs: impl IntoIterator<Item = (DType, Dims)>) -> Val {
        let (first, node) = (Val(self.values.len() as u32), self.nodes.len() as u32);
        self.values.extend(outputs.into_iter().map(|(dtype, dims)| ValueInfo { dtype, dims, node }));
        self.nodes.push(Node { def, op, first, outputs: self.values.len() as u32 - first.0 });
        first
    }

    /// Element type of a value.
    pub fn dtype(&self, v: Val) -> DType {
        self.values[v.0 as usize].dtype
    }

    /// Shape of a value.
    pub fn dims(&self, v: Val) -> &Dims {
        &self.values[v.0 as usize].dims
    }
}
