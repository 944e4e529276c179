//! Coordinates of elements.

use ferrotensor_cpu::internals::map::coordinates;

#[test]
fn coordinates_are_those_of_row_major_order() {
    let dims = [3, 5, 7];
    for (axis, inner) in [(0, 35), (1, 7), (2, 1)] {
        for (at, len) in [(0, 105), (1, 50), (33, 40), (104, 1), (6, 2)] {
            let mut out = vec![-1i32; len];
            coordinates(&dims, axis, at, &mut out);
            let expected: Vec<i32> = (at..at + len).map(|i| (i / inner % dims[axis]) as i32).collect();
            assert_eq!(out, expected, "axis {axis}, {len} from {at} on");
        }
    }
}
