//! The kernels of a bitonic sorting network over rows of (key, index) pairs. Keys are unsigned, and a pair comes before another whose
//! key is larger, or equal with a larger index: no two are equal, so there is one order, whatever the network does.
//!
//! The network is the one whose stages begin with comparing pairs mirrored at the middle of a run (Batcher, "Sorting networks and their
//! applications", 1968, drawn so that every comparison puts the smaller first). A row need not have a power of two of pairs: what
//! stands beyond its end counts as larger than everything, so that no comparison would move it, and none is made.

use super::element::Operand;
use super::module::{Array, Module};
use super::scalar::Id;
use super::words::{both, less, word};
use crate::Can;
use crate::code::{Code, GROUP, Inst, Type, Word};
use ferrotensor_core::DType;

/// Pairs that a group sorts in its shared memory, with keys of 8 bytes 12 KiB: every device has 16 (`maxComputeSharedMemorySize`).
pub const BLOCK: u32 = 1 << LOG_BLOCK;
/// Its binary logarithm.
pub const LOG_BLOCK: u32 = 10;

/// A kernel of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Sorts segments of a power of two of pairs in shared memory, or goes through the last steps of a stage.
    Blocks,
    /// One step of a stage, whose comparisons reach beyond a block.
    Exchange,
}

/// Arguments of [`Stage::Blocks`], in order. A row is cut into segments; short rows share a group.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Groups of [`BLOCK`] places there is work for.
    pub tiles: u32,
    /// Binary logarithm of a segment's places.
    pub log: u32,
    /// Number of the first segment, counted over all rows, and of the one after the last.
    pub segments: [u32; 2],
    /// Segments of a row.
    pub each: u32,
    /// Pairs of a row that is read.
    pub length: u32,
    /// The stage to begin with: 1 to sort, `log` where that one's earlier steps are done.
    pub first: u32,
    /// Whether stages begin with their mirrored step.
    pub mirrored: bool,
    /// Pairs of a segment that are written, and of a row.
    pub kept: [u32; 2],
    /// The pairs that the windows read and written begin with.
    pub windows: [u32; 2],
    /// Whether the index of a pair is its place in its row, and none is read.
    pub numbered: bool,
}

impl Blocks {
    /// The arguments, the 0 after them included.
    pub fn words(&self) -> [u32; 14] {
        let ([begin, end], [kept, row], [from, to]) = (self.segments, self.kept, self.windows);
        let (mirrored, numbered) = (self.mirrored as u32, self.numbered as u32);
        let (length, first) = (self.length, self.first);
        [self.tiles, self.log, begin, end, self.each, length, first, mirrored, kept, row, from, to, numbered, 0]
    }
}

/// Arguments of [`Stage::Exchange`], in order.
#[derive(Clone, Copy, Debug)]
pub struct Exchange {
    /// Number of comparisons.
    pub count: u32,
    /// The first one's, counted over all rows.
    pub first: u32,
    /// Binary logarithm of the comparisons of a row.
    pub log_row: u32,
    /// Binary logarithm of half a run.
    pub log: u32,
    /// Whether pairs mirrored at the run's middle are compared, else those half a run apart.
    pub mirrored: bool,
    /// Pairs of a row.
    pub length: u32,
    /// The pairs that the windows of lower and of upper pairs begin with.
    pub windows: [u32; 2],
}

impl Exchange {
    /// The arguments, the 0 after them included.
    pub fn words(&self) -> [u32; 9] {
        let (mirrored, [low, high]) = (self.mirrored as u32, self.windows);
        [self.count, self.first, self.log_row, self.log, mirrored, self.length, low, high, 0]
    }
}

/// The kernel of a stage for keys of uint32 or uint64. Buffers: keys and indices read, then written, of blocks; of an exchange lower
/// keys and indices, then upper ones. Either two may show the same memory.
pub fn shader(key: DType, stage: Stage, can: &Can) -> Code {
    match stage {
        Stage::Blocks => blocks(key, can),
        Stage::Exchange => exchange(key, can),
    }
}

/// Keys and indices in buffers.
struct Pairs {
    keys: Operand,
    indices: Operand,
}

impl Pairs {
    /// Both as written: that a buffer is only read could be taken for a promise about its memory, which others show too.
    fn new(m: &mut Module, key: DType, can: &Can) -> Pairs {
        Pairs { keys: Operand::moved(m, key, true, can), indices: Operand::moved(m, DType::U32, true, can) }
    }

    fn load(&self, m: &mut Module, at: Word) -> [Word; 2] {
        [self.keys.load(m, at).first(), self.indices.load(m, at).first()]
    }

    fn store(&self, m: &mut Module, at: Word, [key, index]: [Word; 2]) {
        self.keys.store(m, at, Id::One(key));
        self.indices.store(m, at, Id::One(index));
    }
}

fn holds(m: &mut Module, flag: Word) -> Word {
    let zero = m.word(0);
    m.op(Inst::INotEqual, Type::Bool, &[flag, zero])
}

/// Whether a pair comes after another.
fn after(m: &mut Module, x: [Word; 2], y: [Word; 2]) -> Word {
    let (more, same) = (less(m, y[0], x[0]), m.op(Inst::IEqual, Type::Bool, &[x[0], y[0]]));
    let later = less(m, y[1], x[1]);
    let tie = both(m, same, later);
    m.op(Inst::LogicalOr, Type::Bool, &[more, tie])
}

/// The places that comparison `t` of a step is about: runs of `2 << log` places, in which place r of the lower half meets the one half
/// a run above it, or the r-th from the end.
fn places(m: &mut Module, t: Word, log: Word, mirrored: Word) -> [Word; 2] {
    let one = m.word(1);
    let half = word(m, Inst::ShiftLeftLogical, one, log);
    let last = word(m, Inst::ISub, half, one);
    let (run, r) = (word(m, Inst::ShiftRightLogical, t, log), word(m, Inst::BitwiseAnd, t, last));
    let run = word(m, Inst::ShiftLeftLogical, run, log);
    let begin = word(m, Inst::ShiftLeftLogical, run, one);
    let low = word(m, Inst::IAdd, begin, r);
    // From place r to the r-th from the end of twice `half` places.
    let left = word(m, Inst::ISub, last, r);
    let left = word(m, Inst::ShiftLeftLogical, left, one);
    let across = word(m, Inst::IAdd, left, one);
    let apart = m.op(Inst::Select, Type::U32, &[mirrored, across, half]);
    [low, word(m, Inst::IAdd, low, apart)]
}

fn blocks(key: DType, can: &Can) -> Code {
    let mut m = Module::new(13);
    let (source, target) = (Pairs::new(&mut m, key, can), Pairs::new(&mut m, key, can));
    let of = source.keys.held();
    let shared = [m.array(of, BLOCK, true), m.array(Type::U32, BLOCK, true)];
    let [tiles, log, begin, end, each, length] = [0, 1, 2, 3, 4, 5].map(|n| m.argument(n));
    let [first, mirrored, kept, row_kept, from, to, numbered] = [6, 7, 8, 9, 10, 11, 12].map(|n| m.argument(n));
    let (mirrored, numbered) = (holds(&mut m, mirrored), holds(&mut m, numbered));
    let [local, group, groups] = m.thread();
    let (one, block) = (m.word(1), m.word(BLOCK));
    let size = word(&mut m, Inst::ShiftLeftLogical, one, log);
    let together = word(&mut m, Inst::ShiftRightLogical, block, log);
    let inside = word(&mut m, Inst::ISub, size, one);
    // Of a place of a tile: whether there is a pair, row, segment of the row, place in the segment and in the row.
    let locate = |m: &mut Module, tile: Word, place: Word| {
        let (first, nth) = (word(m, Inst::IMul, tile, together), word(m, Inst::ShiftRightLogical, place, log));
        let segment = word(m, Inst::IAdd, first, nth);
        let segment = word(m, Inst::IAdd, segment, begin);
        let row = word(m, Inst::UDiv, segment, each);
        let whole = word(m, Inst::IMul, row, each);
        let part = word(m, Inst::ISub, segment, whole);
        let off = word(m, Inst::BitwiseAnd, place, inside);
        let start = word(m, Inst::ShiftLeftLogical, part, log);
        let at = word(m, Inst::IAdd, start, off);
        let (known, within) = (less(m, segment, end), less(m, at, length));
        (both(m, known, within), row, part, off, at)
    };
    let nth = |m: &mut Module, n: u32| {
        let many = m.word(n * GROUP);
        word(m, Inst::IAdd, local, many)
    };
    let more = |m: &mut Module, v: &[Word]| less(m, v[0], tiles);
    m.repeat(&[(Type::U32, group)], more, |m, v| {
        let tile = v[0];
        for n in 0..BLOCK / GROUP {
            let place = nth(m, n);
            let (exists, row, _, _, at) = locate(m, tile, place);
            // Larger than every pair there is: indices are below 2^31.
            let most = [m.constant(of, u64::MAX), m.word(u32::MAX)];
            set(m, shared, place, most);
            m.when(exists, |m| {
                let before = word(m, Inst::IMul, row, length);
                let position = word(m, Inst::IAdd, before, at);
                let position = word(m, Inst::ISub, position, from);
                let pair = source.load(m, position);
                let index = m.op(Inst::Select, Type::U32, &[numbered, at, pair[1]]);
                set(m, shared, place, [pair[0], index]);
            });
        }
        m.barrier();
        let more = |m: &mut Module, s: &[Word]| m.op(Inst::ULessThanEqual, Type::Bool, &[s[0], log]);
        m.repeat(&[(Type::U32, first)], more, |m, s| {
            let more = |m: &mut Module, l: &[Word]| holds(m, l[0]);
            m.repeat(&[(Type::U32, s[0])], more, |m, l| {
                let step = word(m, Inst::ISub, l[0], one);
                let begins = m.op(Inst::IEqual, Type::Bool, &[l[0], s[0]]);
                let across = both(m, begins, mirrored);
                for n in 0..BLOCK / 2 / GROUP {
                    let t = nth(m, n);
                    let [low, high] = places(m, t, step, across);
                    let (x, y) = (get(m, shared, low), get(m, shared, high));
                    let swaps = after(m, x, y);
                    m.when(swaps, |m| {
                        set(m, shared, low, y);
                        set(m, shared, high, x);
                    });
                }
                m.barrier();
                vec![step]
            });
            vec![word(m, Inst::IAdd, s[0], one)]
        });
        for n in 0..BLOCK / GROUP {
            let place = nth(m, n);
            let (exists, row, part, off, _) = locate(m, tile, place);
            let wanted = less(m, off, kept);
            let writes = both(m, exists, wanted);
            m.when(writes, |m| {
                let (before, above) = (word(m, Inst::IMul, row, row_kept), word(m, Inst::IMul, part, kept));
                let position = word(m, Inst::IAdd, before, above);
                let position = word(m, Inst::IAdd, position, off);
                let position = word(m, Inst::ISub, position, to);
                let pair = get(m, shared, place);
                target.store(m, position, pair);
            });
        }
        m.barrier();
        vec![word(m, Inst::IAdd, tile, groups)]
    });
    m.finish()
}

fn get(m: &mut Module, shared: [Array; 2], at: Word) -> [Word; 2] {
    shared.map(|array| m.get(array, at))
}

fn set(m: &mut Module, shared: [Array; 2], at: Word, pair: [Word; 2]) {
    shared.into_iter().zip(pair).for_each(|(array, value)| m.set(array, at, value));
}

fn exchange(key: DType, can: &Can) -> Code {
    let mut m = Module::new(8);
    let (lower, upper) = (Pairs::new(&mut m, key, can), Pairs::new(&mut m, key, can));
    let [count, first, log_row, log, mirrored, length, low_from, high_from] =
        [0, 1, 2, 3, 4, 5, 6, 7].map(|n| m.argument(n));
    let mirrored = holds(&mut m, mirrored);
    m.for_each(count, |m, i| {
        let nth = word(m, Inst::IAdd, i, first);
        let row = word(m, Inst::ShiftRightLogical, nth, log_row);
        let before = word(m, Inst::ShiftLeftLogical, row, log_row);
        let t = word(m, Inst::ISub, nth, before);
        let [low, high] = places(m, t, log, mirrored);
        let exists = less(m, high, length);
        m.when(exists, |m| {
            let begin = word(m, Inst::IMul, row, length);
            let [low, high] = [(low, low_from), (high, high_from)].map(|(place, from)| {
                let position = word(m, Inst::IAdd, begin, place);
                word(m, Inst::ISub, position, from)
            });
            let (x, y) = (lower.load(m, low), upper.load(m, high));
            let swaps = after(m, x, y);
            m.when(swaps, |m| {
                lower.store(m, low, y);
                upper.store(m, high, x);
            });
        });
    });
    m.finish()
}
