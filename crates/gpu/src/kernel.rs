//! Where kernels and a backend meet: a kernel made ready records its own dispatches.

use crate::lower;
use crate::{Can, Compiler, Recorder};
use ferrotensor_core::backend::{Launch, Prepared};
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::{Error, Result};
use std::any::Any;
use std::sync::{Arc, PoisonError, RwLock};

/// A kernel made ready: it records its own dispatches.
pub trait Program: Send + Sync {
    /// Records the dispatches of a launch, in order.
    ///
    /// # Errors
    /// For this launch alone; the others of its batch run.
    fn record(&self, recorder: &mut dyn Recorder, launch: &Launch) -> Result<()>;
}

/// What `prepare` hands out. Its program is made by the first batch that has it, on the thread that submits: drivers take 1 to 100 ms
/// to compile, and whoever prepares may be somebody's event loop. It is of one opened device; when that was lost, it is made again on
/// the next one, as the kernel's users keep it for as long as they live.
pub struct Ready {
    kernel: Option<Kernel>,
    made: RwLock<Option<Made>>,
}

struct Made {
    generation: u64,
    program: Arc<dyn Program>,
}

impl Prepared for Ready {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Ready {
    /// A program that belongs to no device: its record function asks the recorder for its kernels.
    pub fn new(program: Box<dyn Program>) -> Ready {
        Ready { kernel: None, made: RwLock::new(Some(Made { generation: 0, program: program.into() })) }
    }

    /// A kernel that the device supports.
    ///
    /// # Errors
    /// `Code::Unsupported` with the reason [`lower::supports`] gives.
    pub fn of(kernel: Kernel, can: &Can) -> Result<Ready> {
        lower::supports(&kernel, can).map_err(Error::unsupported)?;
        Ok(Ready { kernel: Some(kernel), made: RwLock::default() })
    }

    /// The program for an opened device, the `generation`-th one of its process.
    ///
    /// # Errors
    /// `Code::Unsupported` as [`Ready::of`]; the driver's.
    pub fn on(&self, generation: u64, can: &Can, compiler: &dyn Compiler) -> Result<Arc<dyn Program>> {
        let known = {
            let made = self.made.read().unwrap_or_else(PoisonError::into_inner);
            let fits = |made: &&Made| self.kernel.is_none() || made.generation == generation;
            made.as_ref().filter(fits).map(|made| Arc::clone(&made.program))
        };
        let (None, Some(kernel)) = (&known, &self.kernel) else {
            return known.ok_or_else(|| Error::internal("a kernel without a program"));
        };
        let program: Arc<dyn Program> = lower::prepare(kernel, can, compiler)?.into();
        *self.made.write().unwrap_or_else(PoisonError::into_inner) =
            Some(Made { generation, program: Arc::clone(&program) });
        Ok(program)
    }

    /// The `Ready` behind a prepared kernel of any backend.
    ///
    /// # Errors
    /// `Code::Internal` for a kernel that is none of these.
    pub fn behind(prepared: &dyn Prepared) -> Result<&Ready> {
        prepared.as_any().downcast_ref().ok_or_else(|| Error::internal("a kernel of another backend"))
    }
}
