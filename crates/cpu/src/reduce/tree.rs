//! The reduction tree of [`ferrotensor_core::kernel::tree`], for any number of outputs side by side.
//!
//! With a width of w outputs, element `i` of all of them lies at `i * w..`, so a lane is w elements wide and everything
//! else is the same code: an inner reduction has width 1, one over outer axes a block of kept elements.
//!
//! Lanes without an element are left out instead of holding the identity, which changes no value of a real dtype (the
//! identities are exact) and keeps `inf + 0i` from meeting `1 + 0i` in a complex product.

use super::Accumulate;
use super::lanes::{Columns, GROUP, LONGEST, Lanes, TreeFns};
use crate::scratch::Scratch;
use ferrotensor_core::error::Result;
use ferrotensor_core::kernel::tree::LANES;

/// A tree being built. Partials lie one above the other; the topmost is the group that is being filled.
pub struct Tree {
    fns: TreeFns,
    width: usize,
    memory: Scratch,
    /// Finished partials on the stack.
    depth: usize,
    /// Groups finished.
    groups: usize,
    /// Elements in the group being filled.
    position: usize,
    /// Elements filled in the topmost partial.
    filled: usize,
}

impl Tree {
    /// An empty tree for at most `extent` elements of each of at most `width` outputs.
    ///
    /// # Errors
    /// `Code::OutOfMemory`.
    pub fn new(fns: TreeFns, width: usize, extent: usize) -> Result<Tree> {
        // One partial for each bit of the number of groups, and the group being filled.
        let levels = usize::BITS as usize - (extent / GROUP).leading_zeros() as usize + 2;
        let memory = Scratch::take(levels * LANES * width * fns.size)?;
        Ok(Tree { fns, width, memory, depth: 0, groups: 0, position: 0, filled: 0 })
    }

    /// Elements of all lanes.
    fn lanes(&self) -> usize {
        LANES * self.width
    }

    /// Bytes of a partial.
    pub fn partial_bytes(&self) -> usize {
        self.lanes() * self.fns.size
    }

    fn partial(&self, level: usize) -> *mut u8 {
        self.memory.as_ptr().wrapping_add(level * self.partial_bytes())
    }

    /// Merges the two topmost partials; the newer may lack lanes.
    fn merge(&mut self) {
        self.depth -= 1;
        let (acc, src) = (self.partial(self.depth - 1), self.partial(self.depth));
        // SAFETY: both partials are inside the memory, apart, and have at least `filled` elements.
        unsafe { (self.fns.combine)(Lanes { acc, src, len: self.filled, width: self.width }) };
        self.filled = self.lanes();
    }

    /// The topmost partial is done: so many groups, a power of two.
    fn push(&mut self, groups: usize, filled: usize) {
        self.filled = filled;
        self.depth += 1;
        for _ in 0..(self.groups / groups).trailing_ones() {
            self.merge();
        }
        self.groups += groups;
    }

    /// The group being filled is done.
    fn close_group(&mut self) {
        self.push(1, self.position.min(self.lanes()));
        self.position = 0;
    }

    /// Takes the next rows, as many as make a group (fewer only at the end), one element for each output, `step` bytes from one row
    /// to the next.
    ///
    /// # Safety
    /// `src` has them, aligned, and no group has been begun.
    pub unsafe fn feed_rows(&mut self, src: *const u8, step: isize, rows: usize) {
        let acc = self.partial(self.depth);
        // SAFETY: by the contract above; a partial has room for the lanes.
        unsafe { (self.fns.columns)(Columns { acc, src, step, rows, width: self.width }) };
        self.position = rows * self.width;
        self.close_group();
    }

    /// The one partial of a power of two of whole groups.
    pub fn sole_partial(&self) -> *const u8 {
        self.partial(0)
    }

    /// Adds what [`Tree::sole_partial`] was for chunk `chunk` (from 0, in order) of a longer extent. Afterwards elements may
    /// follow that make no whole chunk.
    ///
    /// # Safety
    /// `partial` has [`Tree::partial_bytes`] bytes.
    pub unsafe fn push_chunk(&mut self, chunk: usize, partial: *const u8) {
        // SAFETY: by the contract above; the stack has a level for each bit of the number of groups.
        unsafe { std::ptr::copy_nonoverlapping(partial, self.partial(self.depth), self.partial_bytes()) };
        self.filled = self.lanes();
        self.depth += 1;
        for _ in 0..chunk.trailing_ones() {
            self.merge();
        }
    }

    /// Forgets everything, for other outputs side by side (not more than the tree was made for).
    pub fn restart(&mut self, width: usize) {
        (self.width, self.depth, self.groups, self.position, self.filled) = (width, 0, 0, 0, 0);
    }
}

impl Accumulate for Tree {
    unsafe fn feed(&mut self, src: *const u8, len: usize) {
        let (lanes, group) = (self.lanes(), GROUP * self.width);
        let mut done = 0;
        while done < len {
            let (acc, src) = (self.partial(self.depth), src.wrapping_add(done * self.fns.size));
            let (at, left) = (self.position % lanes, len - done);
            // `src` has `left` elements, and the topmost partial has room for `lanes` of them from `acc` on.
            let taken = if self.position == 0 && self.width == 1 {
                // Groups that make one partial here.
                let whole = (left / group).min(LONGEST / GROUP);
                let groups = if whole == 0 { 0 } else { 1 << whole.ilog2().min(self.groups.trailing_zeros()) };
                let taken = if groups == 0 { left } else { groups * group };
                // SAFETY: `taken` is at most `left`, and lanes stay within the partial.
                unsafe { (self.fns.rows)(Lanes { acc, src, len: taken, width: 1 }) };
                if groups > 0 {
                    self.push(groups, lanes);
                    done += taken;
                    continue;
                }
                taken
            } else if self.position < lanes {
                let taken = left.min(lanes - at);
                // SAFETY: `taken` is at most `left`, and stays within the partial.
                unsafe { std::ptr::copy_nonoverlapping(src, acc.add(at * self.fns.size), taken * self.fns.size) };
                taken
            } else {
                let taken = left.min(lanes - at);
                let acc = acc.wrapping_add(at * self.fns.size);
                // SAFETY: `taken` is at most `left`, and stays within the partial.
                unsafe { (self.fns.combine)(Lanes { acc, src, len: taken, width: self.width }) };
                taken
            };
            (self.position, done) = (self.position + taken, done + taken);
            if self.position == group {
                self.close_group();
            }
        }
    }

    unsafe fn finish(&mut self, out: *mut u8) {
        if self.position > 0 {
            self.close_group();
        }
        while self.depth > 1 {
            self.merge();
        }
        let acc = self.partial(0);
        // SAFETY: the bottom partial has `filled` elements, of which the first `width` are the results.
        unsafe {
            (self.fns.lanes)(Lanes { acc, src: acc, len: self.filled, width: self.width });
            std::ptr::copy_nonoverlapping(acc, out, self.width * self.fns.size);
        }
        self.restart(self.width);
    }
}
