//! Runs a tile program: points its registers at operands or at a thread's scratch memory, tile after tile.

use super::compile::{Bits, Step, TileProgram};
use super::coordinates;
use super::tile::Tile;
use super::view::{Access, Domain, View, bind, splat};
use crate::cache;
use crate::scratch::Scratch;
use ferrotensor_core::DType;
use ferrotensor_core::error::{Error, Result};
use ferrotensor_core::layout::Layout;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};

/// A tile program with the operands of one launch.
pub struct Bound<'a> {
    program: &'a TileProgram,
    /// What is walked over.
    pub domain: Domain,
    /// Inputs, then outputs. A missing one is set or read by the caller, through [`Frame::set`] and [`Frame::result`].
    views: SmallVec<[Option<View>; 4]>,
    params: &'a [u64],
    /// Sizes of the axes that `Index` counts along, those of the output.
    dims: &'a [usize],
    /// Whether results go past the caches.
    past: bool,
    /// Whether lines that no cache holds are asked for before they are needed.
    ahead: bool,
}

/// Memory and layout of an operand; `None` where the caller provides the tiles.
pub type Memory<'a> = Option<(&'a Layout, *mut u8)>;

// SAFETY: the pointers lead to operands, which the kernels' split of the work into disjoint ranges keeps apart.
unsafe impl Sync for Bound<'_> {}

impl<'a> Bound<'a> {
    /// Binds operands of one shape (inputs, then outputs) to a program.
    ///
    /// # Safety
    /// Each pointer is the start of a buffer that holds every element of its layout; outputs overlap nothing.
    ///
    /// # Errors
    /// `Code::Internal` where the operands are not those of the program.
    pub unsafe fn new(program: &'a TileProgram, memory: &[Memory<'a>], params: &'a [u64]) -> Result<Bound<'a>> {
        let last = memory.iter().flatten().last();
        // SAFETY: by the contract above.
        unsafe { Bound::over(program, memory, params, last.map_or(&[], |(layout, _)| layout.dims())) }
    }

    /// The same where no operand need be in memory, for elements of this shape.
    ///
    /// # Safety
    /// As [`Bound::new`].
    ///
    /// # Errors
    /// As [`Bound::new`].
    pub unsafe fn over(
        program: &'a TileProgram,
        memory: &[Memory<'a>],
        params: &'a [u64],
        dims: &'a [usize],
    ) -> Result<Bound<'a>> {
        let sizes = program.inputs.iter().map(|i| i.0).chain(program.outputs.iter().map(|o| o.1));
        let mut given: SmallVec<[(&Layout, *mut u8, usize); 4]> = SmallVec::new();
        for (memory, size) in memory.iter().zip(sizes) {
            given.extend(memory.map(|(layout, start)| (layout, start, size)));
        }
        if memory.len() != program.inputs.len() + program.outputs.len()
            || given.iter().any(|(layout, ..)| layout.dims() != dims)
            || !fits(program, params, dims)
        {
            return Err(Error::internal("launch: operands or parameters do not fit the program"));
        }
        // SAFETY: by the contract above.
        let (domain, views) = unsafe { bind(&given) };
        let mut views = views.into_iter();
        let views = memory.iter().map(|m| if m.is_some() { views.next() } else { None }).collect();
        Ok(Bound { program, domain, views, params, dims, past: false, ahead: false })
    }

    /// The same for results that nobody reads before the launch is over: they go past the caches where its operands would not
    /// stay there anyway, and computing an element is less work than writing it. Otherwise stores are better spread over the time
    /// of the computation, as the caches do (exp of 10^7: 3.7 ms past them, 3.1 through them).
    pub fn passing(self) -> Bound<'a> {
        let moved = self.views.iter().flatten().filter(|v| matches!(v.access, Access::Dense | Access::Row));
        let moved = moved.map(|v| v.bytes(&self.domain)).fold(0, usize::saturating_add);
        self.passing_among(moved)
    }

    /// The same, where all that a launch moves is so many bytes.
    pub fn passing_among(mut self, moved: usize) -> Bound<'a> {
        let results = self.program.outputs.iter().map(|o| o.1).sum::<usize>();
        let is_far = moved > cache::past();
        self.past = is_far && results >= 4 && self.program.nanos <= 0.05 * results as f64;
        let dense = self.views.iter().flatten().filter(|v| v.access == Access::Dense);
        let is_long = self.program.nanos > 0.1 * dense.map(|v| v.size).sum::<usize>() as f64;
        self.ahead = is_far && !self.past && is_long && self.program.steps.len() > 1;
        self
    }

    /// Where element `at` of an input in memory lies.
    pub fn element(&self, input: usize, at: usize) -> Option<*const u8> {
        self.views[input].as_ref().map(|view| view.pointer(&self.domain, at).cast_const())
    }

    /// Bytes of a frame's registers.
    pub fn frame_bytes(&self) -> usize {
        self.program.registers * self.program.slot
    }

    /// Estimated cost of one element.
    pub fn nanos(&self) -> f64 {
        let memory = self.views.iter().flatten().map(|v| match v.access {
            Access::Scalar => 0.0,
            Access::Strided => 1.0,
            _ => 0.1,
        });
        self.program.nanos + memory.sum::<f64>()
    }
}

/// The elements that a register is filled with: the first of them, the place of that one in its cycle, and how many.
#[derive(Clone, Copy)]
struct Filled {
    first: *mut u8,
    phase: usize,
    len: usize,
}

impl Filled {
    /// Whether the register has others, or fewer; it is then taken to be filled with these.
    fn lacks(&mut self, first: *mut u8, phase: usize, len: usize) -> bool {
        let lacks = self.first != first || self.phase != phase || self.len < len;
        if lacks {
            *self = Filled { first, phase, len };
        }
        lacks
    }
}

/// A thread's registers for a bound program.
pub struct Frame<'a> {
    bound: &'a Bound<'a>,
    registers: SmallVec<[*mut u8; 16]>,
    /// For each row scalar and cycle: what its register is filled with.
    filled: SmallVec<[Filled; 4]>,
    _scratch: Option<Scratch>,
}

impl<'a> Frame<'a> {
    /// Registers for pieces of at most `longest` elements, constants filled in.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(bound: &'a Bound<'a>, longest: usize) -> Result<Frame<'a>> {
        let scratch = Scratch::take(bound.frame_bytes())?;
        // SAFETY: the memory has that many bytes, and lives as long as the frame.
        let frame = unsafe { Frame::within(bound, longest, scratch.as_ptr()) };
        Ok(Frame { _scratch: Some(scratch), ..frame })
    }

    /// The same in memory of the caller's.
    ///
    /// # Safety
    /// `memory` has [`Bound::frame_bytes`], aligned to 64, which nobody else uses while the frame lives.
    pub unsafe fn within(bound: &'a Bound<'a>, longest: usize, memory: *mut u8) -> Frame<'a> {
        let program = bound.program;
        let longest = longest.min(program.tile);
        let registers: SmallVec<[*mut u8; 16]> =
            (0..program.registers).map(|i| memory.wrapping_add(i * program.slot)).collect();
        // SAFETY: each register has room for a tile.
        unsafe { fill_constants(program, bound.params, &registers, longest) };
        for (i, &(size, used)) in program.inputs.iter().enumerate() {
            let scalar = bound.views[i].as_ref().filter(|v| used && v.access == Access::Scalar && bound.domain.total > 0);
            if let Some(view) = scalar {
                // SAFETY: the domain is not empty, so the element exists.
                unsafe { splat(view.pointer(&bound.domain, 0), size, longest, registers[i]) };
            }
        }
        // SAFETY: these read constants and what has one element only, into registers of their own.
        unsafe { run_steps(&program.once, &registers, longest) };
        Frame {
            bound,
            registers,
            filled: SmallVec::from_elem(Filled { first: std::ptr::null_mut(), phase: 0, len: 0 }, program.inputs.len()),
            _scratch: None,
        }
    }

    /// Elements of a tile.
    pub fn tile(&self) -> usize {
        self.bound.program.tile
    }

    /// Points an input without memory at the elements for the next [`Frame::run`].
    pub fn set(&mut self, input: usize, tile: *mut u8) {
        self.registers[input] = tile;
    }

    /// Points an output without memory at where the elements of the next [`Frame::run`] go.
    pub fn place(&mut self, output: usize, tile: *mut u8) {
        self.registers[self.bound.program.outputs[output].0 as usize] = tile;
    }

    /// The memory of an input without memory: room for a tile of it, until another is [`Frame::set`].
    pub fn input(&self, input: usize) -> *mut u8 {
        self.registers[input]
    }

    /// The memory of a result, valid for the last piece run.
    pub fn result(&self, output: usize) -> *mut u8 {
        self.registers[self.bound.program.outputs[output].0 as usize]
    }

    /// Runs elements `at..at + len`, piece by piece.
    ///
    /// # Safety
    /// The elements exist, and nobody else writes these elements of the outputs or anything of the inputs meanwhile.
    pub unsafe fn run_range(&mut self, at: usize, len: usize, abandoned: &AtomicBool) {
        let (end, whole) = (at + len, self.bound.domain.whole_cycles(self.tile()));
        let mut at = at;
        while at < end && !abandoned.load(Ordering::Relaxed) {
            let piece = self.bound.domain.piece(at, whole.min(end - at));
            // SAFETY: by the contract above.
            unsafe { self.run(at, piece) };
            at += piece;
        }
        if self.bound.past {
            cache::fence();
        }
    }

    /// Runs one piece: at most a tile, and not across the domain's piece boundaries.
    ///
    /// # Safety
    /// As [`Frame::run_range`].
    pub unsafe fn run(&mut self, at: usize, len: usize) {
        let bound = self.bound;
        let program = bound.program;
        for (i, &(size, used)) in program.inputs.iter().enumerate() {
            let (true, Some(view)) = (used, &bound.views[i]) else { continue };
            match view.access {
                Access::Scalar => {}
                Access::Dense | Access::Row => self.registers[i] = view.pointer(&bound.domain, at),
                Access::RowScalar => {
                    let element = view.pointer(&bound.domain, at);
                    if self.filled[i].lacks(element, 0, len) {
                        // SAFETY: the element exists and the register has room for a tile.
                        unsafe { splat(element, size, len, self.registers[i]) };
                    }
                }
                Access::Cycle(cycle) => {
                    if self.filled[i].lacks(view.pointer(&bound.domain, at), at % cycle, len) {
                        // SAFETY: the elements exist and the register has room for a tile.
                        unsafe { view.collect_cycle(&bound.domain, cycle, at, len, self.registers[i]) };
                    }
                }
                // SAFETY: the elements exist and the register has room for a tile.
                Access::Strided => unsafe { view.collect(&bound.domain, at, len, self.registers[i]) },
            }
        }
        let outputs = &bound.views[program.inputs.len()..];
        for (&(register, _), view) in program.outputs.iter().zip(outputs) {
            if let Some(view) = view.as_ref().filter(|v| v.access != Access::Strided && !bound.past) {
                self.registers[register as usize] = view.pointer(&bound.domain, at);
            }
        }
        if bound.past {
            // SAFETY: by the contract above.
            return unsafe { self.run_past(at, len) };
        }
        if bound.ahead {
            self.ask(at, len);
        }
        // SAFETY: the registers hold or point at `len` elements.
        unsafe { execute(program, &self.registers, bound.dims, at, len) };
        for (&(register, _), view) in program.outputs.iter().zip(outputs) {
            if let Some(view) = view.as_ref().filter(|v| v.access == Access::Strided) {
                // SAFETY: by the contract above.
                unsafe { view.spread(&bound.domain, at, len, self.registers[register as usize]) };
            }
        }
    }

    /// Asks for the lines of this piece's dense results and of the next one's dense operands: the last of several instructions begins to write when the
    /// others are done, and waits for all lines of a tile at once (gelu of 10^7 elements on one thread: 14.9 ms, 10.9 where they were asked for).
    /// What takes less time for each byte is slower so, since the processor sees such streams by itself (exp(relu(a b + c)): 12.2 and 14.8 ms).
    fn ask(&self, at: usize, len: usize) {
        let bound = self.bound;
        let (inputs, outputs) = bound.views.split_at(bound.program.inputs.len());
        let lines = |views: &[Option<View>], at: usize| {
            for view in views.iter().flatten().filter(|v| v.access == Access::Dense) {
                let start = view.pointer(&bound.domain, at);
                (0..len * view.size).step_by(cache::LINE).for_each(|line| cache::prefetch(start.wrapping_add(line)));
            }
        };
        lines(outputs, at);
        if at + 2 * len <= bound.domain.total {
            lines(inputs, at + len);
        }
    }

    /// The instructions of a piece whose operands are in their registers, into registers of their own; from there results go
    /// past the caches.
    ///
    /// # Safety
    /// As [`Frame::run_range`].
    unsafe fn run_past(&self, at: usize, len: usize) {
        let (bound, program) = (self.bound, self.bound.program);
        if !program.is_copy {
            // SAFETY: the registers hold or point at `len` elements.
            unsafe { execute(program, &self.registers, bound.dims, at, len) };
        }
        let outputs = &bound.views[program.inputs.len()..];
        for (&(register, size), view) in program.outputs.iter().zip(outputs) {
            let Some(view) = view else { continue };
            let from = self.registers[if program.is_copy { 0 } else { register as usize }];
            // SAFETY: by the contract above.
            unsafe {
                match view.access {
                    Access::Strided => view.spread(&bound.domain, at, len, from),
                    _ => cache::store_past(from, view.pointer(&bound.domain, at), len * size),
                }
            }
        }
    }
}

/// Fills the registers of constants and parameters.
///
/// # Safety
/// Each register has room for `len` elements, and the parameters are those of the program.
pub(super) unsafe fn fill_constants(program: &TileProgram, params: &[u64], registers: &[*mut u8], len: usize) {
    for constant in &program.constants {
        let bits = match constant.bits {
            Bits::Literal(bits) => bits,
            Bits::Param(n) => params[n],
        };
        // Any byte but 0 reads as true, and is written as 1.
        let bits = if constant.dtype == DType::Bool { (bits as u8 != 0) as u64 } else { bits };
        // Low bytes first. Aligned for every element.
        let element = [bits.to_le(), 0];
        let len = len.div_ceil(1 << constant.group);
        // SAFETY: by the contract above.
        unsafe { splat(element.as_ptr().cast(), constant.dtype.bytes(), len, registers[constant.register as usize]) };
    }
}

/// Runs the instructions over elements `at..at + len`, coordinates counting along `dims`.
///
/// # Safety
/// The registers of operands and constants hold or point at `len` elements of their dtypes, the others have room for them.
pub(super) unsafe fn execute(program: &TileProgram, registers: &[*mut u8], dims: &[usize], at: usize, len: usize) {
    for c in &program.coordinates {
        let register = registers[c.register as usize];
        let (at, len) = (at >> c.group, len.div_ceil(1 << c.group));
        // SAFETY: the register has room for a tile of either type.
        unsafe {
            if c.wide {
                coordinates::fill(dims, c.axis, at, std::slice::from_raw_parts_mut(register.cast::<i64>(), len));
            } else {
                coordinates::fill(dims, c.axis, at, std::slice::from_raw_parts_mut(register.cast::<i32>(), len));
            }
        }
    }
    // SAFETY: by the contract above.
    unsafe { run_steps(&program.steps, registers, len) };
}

/// Runs instructions over `len` elements.
///
/// # Safety
/// As [`execute`].
unsafe fn run_steps(steps: &[Step], registers: &[*mut u8], len: usize) {
    for step in steps {
        let args = step.args.map(|a| registers[a as usize].cast_const());
        let len = len.div_ceil(1 << step.group);
        // SAFETY: the compiler chose the function for these registers' dtypes and kept the target apart from them; each
        // holds or points at `len` elements.
        unsafe { (step.run)(Tile { out: registers[step.out as usize], args, len }) };
    }
}

/// Whether a launch has the parameters and axes that the program names.
pub(super) fn fits(program: &TileProgram, params: &[u64], dims: &[usize]) -> bool {
    program.constants.iter().all(|c| !matches!(c.bits, Bits::Param(n) if n >= params.len()))
        && program.coordinates.iter().all(|c| c.axis < dims.len())
}
