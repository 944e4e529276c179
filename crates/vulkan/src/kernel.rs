//! Where the two halves of the backend meet: a kernel made ready records its own dispatches.

use crate::device::Opened;
use crate::lower;
use crate::stream::Recorder;
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
    fn record(&self, recorder: &mut Recorder, launch: &Launch) -> Result<()>;
}

/// What `prepare` hands out. Its program is of one opened device; when that was lost, the kernel is made ready again on the
/// next one, as its users keep it for as long as they live.
pub struct Ready {
    kernel: Option<Kernel>,
    made: RwLock<Made>,
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
    /// A program that belongs to no device: its record function asks the recorder for its pipelines.
    pub fn new(program: Box<dyn Program>) -> Ready {
        Ready { kernel: None, made: RwLock::new(Made { generation: 0, program: program.into() }) }
    }

    pub(crate) fn of(kernel: Kernel, on: &Opened) -> Result<Ready> {
        let program = lower::prepare(&kernel, &on.can, &on.pipelines)?.into();
        Ok(Ready { kernel: Some(kernel), made: RwLock::new(Made { generation: on.generation, program }) })
    }

    /// The program for an opened device.
    pub(crate) fn on(&self, opened: &Opened) -> Result<Arc<dyn Program>> {
        let Some(kernel) = &self.kernel else {
            return Ok(Arc::clone(&self.made.read().unwrap_or_else(PoisonError::into_inner).program));
        };
        {
            let made = self.made.read().unwrap_or_else(PoisonError::into_inner);
            if made.generation == opened.generation {
                return Ok(Arc::clone(&made.program));
            }
        }
        let program: Arc<dyn Program> = lower::prepare(kernel, &opened.can, &opened.pipelines)?.into();
        *self.made.write().unwrap_or_else(PoisonError::into_inner) =
            Made { generation: opened.generation, program: Arc::clone(&program) };
        Ok(program)
    }

    /// The `Ready` behind a prepared kernel of any backend.
    pub(crate) fn behind(prepared: &dyn Prepared) -> Result<&Ready> {
        prepared.as_any().downcast_ref().ok_or_else(|| Error::internal("a kernel of another backend"))
    }
}
