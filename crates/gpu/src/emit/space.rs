//! The iteration space of a launch: how a thread's number becomes positions in every operand. Sizes and strides are arguments;
//! only the number of loops is in the code.

use super::module::Module;
use crate::code::{Inst, Type, Word};
use smallvec::SmallVec;

/// Numbers of loops there is code for: what coalescing leaves of nearly every launch, of most others, and of the rest in parts.
pub const RANKS: [usize; 3] = [1, 3, 8];

/// Numbers of a launch: those of most need no memory of the heap.
pub type Numbers = SmallVec<[u32; 64]>;

/// Which of [`RANKS`] has room for so many loops; the last where none has.
pub fn variant(loops: usize) -> usize {
    RANKS.iter().position(|&r| r >= loops).unwrap_or(RANKS.len() - 1)
}

/// Where the numbers of a launch stand among the arguments.
///
/// The number of elements; for each loop but the first its size and the two numbers it is divided by with; for each operand the
/// position of its first element and its step along each loop; two words for each parameter.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// The first of its words.
    pub start: u32,
    /// Loops, at least one.
    pub rank: usize,
    /// Operands, positions along axes counted as such.
    pub operands: usize,
    /// Parameters.
    pub params: usize,
}

impl Arguments {
    fn operand(&self, n: usize) -> u32 {
        self.start + (1 + 3 * (self.rank - 1) + n * (self.rank + 1)) as u32
    }

    /// The size of a loop and the two numbers it is divided by with.
    fn divisor(&self, m: &mut Module, n: usize) -> [Word; 3] {
        let at = self.start + 1 + 3 * (n as u32 - 1);
        [0, 1, 2].map(|k| m.argument(at + k))
    }

    /// The first word of a parameter.
    pub fn param(&self, n: usize) -> u32 {
        self.operand(self.operands) + 2 * n as u32
    }

    /// The word after its last one; a block of arguments ends at a whole vector of four.
    pub fn end(&self) -> u32 {
        self.param(self.params)
    }

    /// The arguments of a launch over `dims` (at most as many as there are loops, each below 2^31), with for each operand the
    /// position of its first element and its strides. Positions wrap at 2^32.
    pub fn write(&self, dims: &[usize], operands: &[(usize, &[isize])], params: &[u64]) -> Numbers {
        let absent = self.rank - dims.len();
        let size = |n: usize| if n < absent { 1 } else { dims[n - absent] as u32 };
        let mut words = Numbers::with_capacity((self.end() - self.start) as usize);
        words.push((0..self.rank).map(size).product());
        for n in 1..self.rank {
            // A space without elements is not walked.
            let (factor, shift) = reciprocal(size(n).max(1));
            words.extend([size(n), factor, shift]);
        }
        for (first, strides) in operands {
            words.push(*first as u32);
            words.extend((0..self.rank).map(|n| if n < absent { 0 } else { strides[n - absent] as u32 }));
        }
        words.extend(params.iter().flat_map(|&p| [p as u32, (p >> 32) as u32]));
        words
    }
}

/// A factor and a shift so that `n / d = (mulhi(n, factor) + n) >> shift` for every n below 2^31 (Granlund and Montgomery,
/// "Division by invariant integers using multiplication", 1994, figure 4.1).
fn reciprocal(d: u32) -> (u32, u32) {
    let shift = d.next_power_of_two().trailing_zeros();
    let factor = (((1u64 << 32) * ((1u64 << shift) - d as u64)) / d as u64 + 1) as u32;
    (factor, shift)
}

/// Quotient and remainder.
fn divided(m: &mut Module, n: Word, [size, factor, shift]: [Word; 3]) -> (Word, Word) {
    let high = m.op(Inst::UMulHigh, Type::U32, &[n, factor]);
    let sum = m.op(Inst::IAdd, Type::U32, &[high, n]);
    let quotient = m.op(Inst::ShiftRightLogical, Type::U32, &[sum, shift]);
    let whole = m.op(Inst::IMul, Type::U32, &[quotient, size]);
    (quotient, m.op(Inst::ISub, Type::U32, &[n, whole]))
}

/// The numbers of a space read once, for what meets many of its elements in a loop.
pub struct Known {
    divisors: Vec<[Word; 3]>,
    /// For each operand the position of its first element and its steps.
    operands: Vec<(Word, Vec<Word>)>,
}

impl Known {
    /// Those of a launch.
    pub fn new(m: &mut Module, arguments: Arguments) -> Known {
        let divisors = (1..arguments.rank).map(|n| arguments.divisor(m, n)).collect();
        let operands = (0..arguments.operands)
            .map(|n| {
                let at = arguments.operand(n);
                let steps = (0..arguments.rank as u32).map(|k| m.argument(at + 1 + k)).collect();
                (m.argument(at), steps)
            })
            .collect();
        Known { divisors, operands }
    }

    /// The coordinates of element `i`.
    pub fn coordinates(&self, m: &mut Module, i: Word) -> Vec<Word> {
        let (mut all, mut left) = (Vec::with_capacity(self.divisors.len() + 1), i);
        for &divisor in self.divisors.iter().rev() {
            let (quotient, rest) = divided(m, left, divisor);
            all.push(rest);
            left = quotient;
        }
        all.push(left);
        all.reverse();
        all
    }

    /// How far from an operand's first element these coordinates lead.
    pub fn reach(&self, m: &mut Module, operand: usize, coordinates: &[Word]) -> Word {
        let (_, steps) = &self.operands[operand];
        let far = steps.iter().zip(coordinates).map(|(&step, &n)| m.op(Inst::IMul, Type::U32, &[n, step]));
        let far: Vec<Word> = far.collect();
        // A space has a loop.
        far.into_iter().reduce(|x, y| m.op(Inst::IAdd, Type::U32, &[x, y])).unwrap_or_default()
    }

    /// The position in an operand.
    pub fn position(&self, m: &mut Module, operand: usize, coordinates: &[Word]) -> Word {
        let far = self.reach(m, operand, coordinates);
        m.op(Inst::IAdd, Type::U32, &[self.operands[operand].0, far])
    }
}

/// The positions of one element.
pub struct Space {
    arguments: Arguments,
    coordinates: Vec<Word>,
}

impl Space {
    /// The coordinates of element `i`.
    pub fn new(m: &mut Module, arguments: Arguments, i: Word) -> Space {
        let mut coordinates = vec![i; arguments.rank];
        let mut left = i;
        for n in (1..arguments.rank).rev() {
            let divisor = arguments.divisor(m, n);
            (left, coordinates[n]) = divided(m, left, divisor);
        }
        coordinates[0] = left;
        Space { arguments, coordinates }
    }

    /// The position in an operand.
    pub fn position(&self, m: &mut Module, operand: usize) -> Word {
        let at = self.arguments.operand(operand);
        let mut sum = m.argument(at);
        for (n, &coordinate) in self.coordinates.iter().enumerate() {
            let step = m.argument(at + 1 + n as u32);
            let reach = m.op(Inst::IMul, Type::U32, &[coordinate, step]);
            sum = m.op(Inst::IAdd, Type::U32, &[sum, reach]);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_by_reciprocals_is_exact_below_two_to_the_31() {
        let sizes = (1..300).chain([1 << 10, 65_535, 65_536, 65_537, 1 << 30, (1 << 31) - 1]);
        for d in sizes {
            let (factor, shift) = reciprocal(d);
            let divide = |n: u32| ((((n as u64 * factor as u64) >> 32) + n as u64) as u32) >> shift;
            for n in (0..1000).chain((1..40).map(|k| k * 55_000_001)).chain([(1 << 31) - 1, d, d - 1, 2 * d - 1]) {
                let n = n.min((1 << 31) - 1);
                assert_eq!(divide(n), n / d, "{n} / {d}");
            }
        }
    }
}
