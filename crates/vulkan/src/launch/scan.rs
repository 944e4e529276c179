//! Launches of scans: a thread for each row, stretch after stretch of long rows.

use super::map::computes;
use super::pieces::{Walked, pieces};
use super::variants::Variants;
use super::window::window;
use crate::caps::Can;
use crate::emit::scan::{self, step};
use crate::emit::{Shader, space::RANKS};
use crate::kernel::Program;
use crate::pipelines::Pipelines;
use crate::stream::Recorder;
use ferrotensor_core::backend::Launch;
use ferrotensor_core::kernel::Scan;
use ferrotensor_core::layout::Layout;
use ferrotensor_core::{Error, Result, scalar};
use smallvec::SmallVec;

/// Elements that a dispatch goes along a row: at some 100 ns each, a GPU's way to its memory, 7 ms. Mesa's software device leaves a
/// loop after 65,535 rounds.
const LONGEST: usize = 65_535;
/// Elements of a dispatch over all rows, as of a map.
const MOST: usize = 1 << 25;

/// A scan, and its pipelines for each number of loops over rows.
pub struct ScanProgram {
    kernel: Scan,
    step: scalar::Program,
    can: Can,
    pipelines: Variants<{ RANKS.len() }>,
}

/// How a value takes the next, and the kernel over one loop.
///
/// # Errors
/// What the device lacks, in words.
pub fn emitted(kernel: &Scan, can: &Can) -> Result<(scalar::Program, Shader), String> {
    let step = step(kernel, can.fma32);
    computes(&step, can)?;
    let shader = scan::shader(kernel, &step, RANKS[0], can)?;
    Ok((step, shader))
}

impl ScanProgram {
    /// # Errors
    /// `Code::Unsupported` as [`emitted`]; the driver's.
    pub fn new(kernel: &Scan, can: &Can, pipelines: &Pipelines) -> Result<ScanProgram> {
        let (step, shader) = emitted(kernel, can).map_err(Error::unsupported)?;
        let made = ScanProgram { kernel: kernel.clone(), step, can: can.clone(), pipelines: Variants::default() };
        made.pipelines.get(0, pipelines, || Ok(shader))?;
        Ok(made)
    }
}

/// The rows of a layout, each from one place on, that place first.
fn rows(layout: &Layout, from: usize) -> Result<Layout> {
    let last = layout.rank() - 1;
    let start = layout.offset() as isize + from as isize * layout.strides()[last];
    let start = usize::try_from(start).map_err(|_| Error::internal("a row that begins below its buffer"))?;
    Layout::new(&layout.dims()[..last], &layout.strides()[..last], start, usize::MAX >> 1)
}

impl Program for ScanProgram {
    fn record(&self, recorder: &mut Recorder, launch: &Launch) -> Result<()> {
        let ([input], [output]) = (&launch.inputs[..], &launch.outputs[..]) else {
            return Err(Error::internal("scan: one input and one output"));
        };
        let (dims, size) = (output.layout.dims(), self.kernel.dtype.bytes());
        let Some((&length, kept)) = dims.split_last().filter(|_| input.layout.dims() == dims) else {
            return Err(Error::internal("scan: input and output differ in shape, or have no axis"));
        };
        if output.layout.is_empty() {
            return Ok(());
        }
        let steps = [&input.layout, &output.layout].map(|l| l.strides()[kept.len()]);
        let (alignment, reach) = (self.can.alignment, (self.can.max_range - self.can.alignment) as usize);
        // Of the output the place before a stretch is met too.
        let widest = steps[0].unsigned_abs().max(steps[1].unsigned_abs()).max(1);
        let fitting = (reach / size / widest).saturating_sub(1);
        if fitting == 0 && length > 1 {
            return Err(Error::unsupported(format!("elements farther apart than the {reach} bytes a descriptor shows")));
        }
        let stretch = fitting.clamp(1, LONGEST).min(length);
        for from in (0..length).step_by(stretch) {
            let now = stretch.min(length - from);
            let margin = |step: isize, before: bool| {
                let (ahead, behind) = ((now - 1) * step.unsigned_abs(), if before { step.unsigned_abs() } else { 0 });
                if step < 0 { (ahead, behind) } else { (behind, ahead) }
            };
            let (source, target) = (rows(&input.layout, from)?, rows(&output.layout, from)?);
            let walked = [
                Walked::Memory(&source, size, margin(steps[0], false)),
                Walked::Memory(&target, size, margin(steps[1], from > 0)),
            ];
            for piece in pieces(kept, &walked, reach, (MOST / now).max(1))? {
                let nth = RANKS.iter().position(|&r| r >= piece.dims.len()).unwrap_or(RANKS.len() - 1);
                let (read, start) = window(input, size, &piece, 0, alignment, false)?;
                let (write, to) = window(output, size, &piece, 1, alignment, true)?;
                let strided: SmallVec<[_; 2]> =
                    [start, to].into_iter().zip(piece.strides.iter().map(|s| s.as_slice())).collect();
                let mut words = vec![now as u32, (from > 0) as u32, steps[0] as u32, steps[1] as u32];
                words.extend(scan::arguments(RANKS[nth]).write(&piece.dims, &strided, &[]));
                words.push(0);
                let make = || scan::shader(&self.kernel, &self.step, RANKS[nth], &self.can);
                let pipeline = self.pipelines.get(nth, recorder.pipelines(), make)?;
                let count: usize = piece.dims.iter().product();
                // A row costs its time however few there are.
                recorder.charge((count * now).max(now << 8) as u64);
                recorder.dispatch(&pipeline, &words, &[read, write], self.can.groups(count))?;
            }
        }
        Ok(())
    }
}
