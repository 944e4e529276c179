//! Squares that are turned in vector registers.

use ferrotensor_cpu::Tier;
use ferrotensor_cpu::internals::cache::LINE;
use ferrotensor_cpu::internals::map::squares::{lines, quarters};

fn turned<T: Copy + PartialEq + std::fmt::Debug + From<u16>>(way: unsafe fn((*mut T, isize), (*mut T, isize), bool)) {
    let edge = LINE / size_of::<T>();
    let (from_step, to_step) = (edge + 3, 2 * edge);
    let mut from: Vec<T> = (0..edge * from_step).map(|i| T::from(i as u16)).collect();
    for past in [false, true] {
        let mut memory = vec![T::from(u16::MAX); edge * to_step + edge];
        let start = memory.as_ptr().align_offset(LINE);
        let to = &mut memory[start..][..edge * to_step];
        // SAFETY: both have room for the square, whose lines are aligned in the target.
        unsafe { way((from.as_mut_ptr(), from_step as isize), (to.as_mut_ptr(), to_step as isize), past) };
        for (at, &x) in to.iter().enumerate() {
            let (j, i) = (at / to_step, at % to_step);
            let expected = if i < edge { from[i * from_step + j] } else { T::from(u16::MAX) };
            assert_eq!(x, expected, "column {j}, row {i}, past {past}");
        }
    }
}

#[test]
fn every_element_of_a_square_changes_sides() {
    turned::<u32>(quarters);
    turned::<u64>(quarters);
    if Tier::Avx512.is_present() {
        turned::<u32>(lines);
        turned::<u64>(lines);
    }
}
