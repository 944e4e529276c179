//! What a launch needs of a backend: memory, compiled kernels, and dispatches of them.

use crate::code::Code;
use crate::report::Tell;
use ferrotensor_core::Result;
use ferrotensor_core::backend::Buffer;
use std::any::Any;
use std::sync::Arc;

/// A kernel that a backend compiled, and that it alone knows.
pub type Compiled = Arc<dyn Any + Send + Sync>;

/// A part of a buffer that a dispatch uses.
#[derive(Clone, Copy)]
pub struct Binding<'a> {
    /// Of the device that records.
    pub buffer: &'a Buffer,
    /// First byte, a multiple of [`Can::alignment`](crate::Can::alignment).
    pub offset: u64,
    /// Bytes, at most [`Can::max_range`](crate::Can::max_range).
    pub bytes: u64,
    /// Whether the dispatch writes it.
    pub write: bool,
}

/// Makes kernels for an opened device, each once.
pub trait Compiler: Any + Send + Sync {
    /// The kernel of this code.
    ///
    /// # Errors
    /// `Code::Internal` for code that is not valid here, the driver's otherwise.
    fn compile(&self, code: &Code) -> Result<Compiled>;
}

/// Records the dispatches of launches. Those of a batch see what earlier ones wrote.
pub trait Recorder {
    /// What makes the device's kernels.
    fn compiler(&self) -> &dyn Compiler;

    /// Memory for the current launch alone, kept until the device is done with it.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    fn scratch(&mut self, bytes: u64) -> Result<Buffer>;

    /// The next dispatch takes as long as touching that many more bytes: for kernels that compute more than they move.
    fn charge(&mut self, bytes: u64);

    /// Records `groups` groups of a kernel with the words of its arguments, the 0 after them included, and its buffers in order. With
    /// `tell` its last buffer is a report of [`WORDS`](crate::report::WORDS) words, which fails the launch when it says something.
    ///
    /// # Errors
    /// `Code::Device` for a lost device and for what is of another one, `Code::Internal` for bindings outside their buffers or the
    /// device's limits; the driver's, for want of memory.
    fn dispatch(
        &mut self,
        kernel: &Compiled,
        arguments: &[u32],
        bindings: &[Binding],
        tell: Option<&Tell>,
        groups: u32,
    ) -> Result<()>;
}
