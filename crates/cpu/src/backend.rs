//! The CPU as a [`Backend`]: batches run on the thread that submits them, with the pool's help.

use crate::blas;
use crate::launch::{Context, CpuKernel, own};
use crate::map::MapKernel;
use crate::memory::{self, Account, CpuBuffer, expect_writes};
use crate::parallel;
use crate::tier::Tier;
use ferrotensor_core::backend::{
    Backend, Batch, Buffer, Caps, DeviceBuffer, DeviceClass, HostWork, MemInfo, Outcome, Peak, Prepared, Stretch, Ticket,
};
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::kernel::Kernel;
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// The host's processor.
pub struct CpuBackend {
    caps: Caps,
    tier: Tier,
    account: Arc<Account>,
    total: usize,
}

/// The CPU device, for the registry.
///
/// # Errors
/// A sentence when `FERROTENSOR_ISA`, `FERROTENSOR_THREADS` or `FERROTENSOR_BLAS` asks for what there is not.
pub fn probe() -> Result<Vec<Arc<dyn Backend>>, String> {
    let tier = Tier::detect()?;
    parallel::initial().as_ref().map_err(Clone::clone)?;
    let vendor = if blas::asked().is_some() { Some(blas::library()?) } else { None };
    let mut device = CpuBackend::new(tier)?;
    if let Some(library) = vendor {
        device.caps.description += &format!(", products by {library}");
    }
    Ok(vec![Arc::new(device)])
}

impl CpuBackend {
    /// The CPU restricted to a tier. Several may exist side by side; they share the threads.
    ///
    /// # Errors
    /// A sentence when this machine lacks the tier.
    pub fn new(tier: Tier) -> Result<CpuBackend, String> {
        if !tier.is_present() {
            return Err(format!("this machine does not have {}", tier.name()));
        }
        let description = format!("{} ({})", std::env::consts::ARCH, tier.name());
        let caps = Caps {
            name: "cpu".into(),
            description,
            max_buffer: isize::MAX as usize,
            class: DeviceClass::Cpu,
            negative_strides: true,
        };
        Ok(CpuBackend { caps, tier, account: Arc::default(), total: memory::machine_total() })
    }

    fn compile(&self, kernel: &Kernel) -> Result<CpuKernel, String> {
        let tier = self.tier;
        let run: Box<dyn crate::launch::Run> = match kernel {
            Kernel::Map(k) => Box::new(MapKernel::new(k, tier)?),
            Kernel::Reduce(k) => Box::new(crate::reduce::prepare(k, tier)?),
            Kernel::Scan(k) => crate::scan::prepare(k, tier)?,
            Kernel::Gather(k) => Box::new(crate::gather::GatherKernel::new(k, tier)?),
            Kernel::Scatter(k) => Box::new(crate::scatter::ScatterKernel::new(k, tier)?),
            Kernel::Contract(k) => crate::contract::prepare(k, tier)?,
            Kernel::Sort(k) => crate::sort::prepare(k, tier)?,
            Kernel::Rows(k) => Box::new(crate::rows::prepare(k, tier)?),
            Kernel::Attention(k) => crate::contract::attention::prepare(k, tier)?,
            Kernel::Window(k) => crate::window::prepare(k, tier)?,
            Kernel::Routine(_) => return Err("dense routines are the host's".into()),
        };
        Ok(CpuKernel {
            run,
            inputs: kernel.inputs().iter().map(|d| d.bytes()).collect(),
            outputs: kernel.outputs().iter().map(|d| d.bytes()).collect(),
            params: kernel.params().len(),
            tier,
        })
    }

    fn run(&self, launch: &ferrotensor_core::backend::Launch, context: &Context) -> Result<()> {
        match launch.kernel.as_any().downcast_ref::<CpuKernel>() {
            Some(kernel) if kernel.tier == self.tier => kernel.launch(launch, context),
            _ => Err(Error::internal("a kernel of another backend reached the CPU")),
        }
    }
}

impl Backend for CpuBackend {
    fn caps(&self) -> &Caps {
        &self.caps
    }

    fn alloc(&self, bytes: usize) -> Result<Buffer> {
        Ok(Arc::new(CpuBuffer::new(bytes, &self.account)?))
    }

    fn upload(&self, from: &[u8], to: &Buffer, offset: usize) -> Result<()> {
        let buffer = own(to)?;
        if offset.checked_add(from.len()).is_none_or(|end| end > buffer.bytes()) || !buffer.is_own() {
            return Err(Error::internal("upload: bytes outside the buffer"));
        }
        buffer.invalidate();
        // SAFETY: checked above; batches ran when they were submitted, so none uses the buffer now.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), buffer.as_ptr().add(offset), from.len()) };
        Ok(())
    }

    fn download(&self, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<()> {
        let buffer = own(from)?;
        if offset.checked_add(to.len()).is_none_or(|end| end > buffer.bytes()) {
            return Err(Error::internal("download: bytes outside the buffer"));
        }
        expect_writes(to);
        // SAFETY: checked above; batches ran when they were submitted, so none writes it now.
        unsafe { std::ptr::copy_nonoverlapping(buffer.as_ptr().add(offset), to.as_mut_ptr(), to.len()) };
        Ok(())
    }

    fn in_place(&self, inputs: &[Stretch], outputs: &[Stretch], work: &mut HostWork) -> Option<Result<()>> {
        let place = |(buffer, range): &Stretch| {
            let buffer = own(buffer).ok().filter(|b| range.start <= range.end && range.end <= b.bytes())?;
            Some((buffer.as_ptr().wrapping_add(range.start), range.len()))
        };
        let inputs: SmallVec<[_; 4]> = inputs.iter().map(place).collect::<Option<_>>()?;
        let to: SmallVec<[_; 4]> = outputs.iter().map(place).collect::<Option<_>>()?;
        if outputs.iter().any(|(buffer, _)| own(buffer).is_ok_and(|b| !b.is_own())) {
            return None;
        }
        let all = || inputs.iter().chain(&to);
        let meets = |a: &(*mut u8, usize), b: &(*mut u8, usize)| a.0 < b.0.wrapping_add(b.1) && b.0 < a.0.wrapping_add(a.1);
        if to.iter().any(|o| all().filter(|&other| !std::ptr::eq(o, other)).any(|other| meets(o, other))) {
            return None;
        }
        outputs.iter().for_each(|(buffer, _)| buffer.invalidate());
        // SAFETY: checked above: the bytes lie in their buffers, and those of outputs in nothing else that is used here; batches ran when they
        // were submitted, and by the contract of this function nobody else reads or writes them.
        let (inputs, mut outputs): (SmallVec<[_; 4]>, SmallVec<[_; 4]>) = unsafe {
            (
                inputs.into_iter().map(|(start, len)| std::slice::from_raw_parts(start.cast_const(), len)).collect(),
                to.into_iter().map(|(start, len)| std::slice::from_raw_parts_mut(start, len)).collect(),
            )
        };
        Some(work(&inputs, &mut outputs))
    }

    fn supports(&self, kernel: &Kernel) -> Result<(), String> {
        self.compile(kernel).map(drop)
    }

    fn prepare(&self, kernel: &Kernel) -> Result<Arc<dyn Prepared>> {
        Ok(Arc::new(self.compile(kernel).map_err(Error::unsupported)?))
    }

    fn submit(&self, batch: Batch) -> Ticket {
        let mut outcome = Outcome::default();
        let context = Context { abandoned: &batch.abandoned, account: &self.account, spare: batch.spare };
        for (position, launch) in batch.launches.iter().enumerate() {
            if batch.is_abandoned() {
                break;
            }
            // A panic must not cross into JavaScript's thread; it leaves only the launch's own outputs undefined.
            let done = catch_unwind(AssertUnwindSafe(|| self.run(launch, &context)));
            match done.unwrap_or_else(|_| Err(Error::internal("a CPU kernel panicked"))) {
                Ok(()) => {}
                Err(error) => outcome.failed.push((position, error)),
            }
        }
        if batch.is_abandoned() {
            outcome.lost = Some(Error::abandoned());
        }
        Ticket::Done(outcome)
    }

    fn poll(&self, _ticket: u64) -> Option<Outcome> {
        // `submit` hands out no pending tickets.
        None
    }

    fn wait(&self, _ticket: u64, _deadline: Instant) -> Option<Outcome> {
        None
    }

    fn mem(&self) -> MemInfo {
        MemInfo { used: self.account.used(), total: self.total }
    }

    fn peak(&self) -> Option<Peak> {
        crate::peak::peak(self.tier)
    }

    fn kept(&self) -> usize {
        self.account.kept.bytes()
    }

    fn trim(&self) {
        // Freed buffers go back to the operating system at once; the cache of those is the engine's.
        self.account.kept.clear();
    }
}
