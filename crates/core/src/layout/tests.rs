//! Layouts: every view against index arithmetic on random shapes, and what constructors refuse.

use super::*;
use proptest::prelude::*;

/// A layout reached by random view operations from a dense one, with the length of its buffer.
fn layouts() -> impl Strategy<Value = (Layout, usize)> {
    (prop::collection::vec(0usize..5, 0..5), prop::collection::vec((0usize..4, 0usize..5, 0usize..5), 0..6)).prop_map(
        |(dims, steps)| {
            let mut layout = Layout::dense(&dims).unwrap();
            let len = layout.len();
            for (what, a, b) in steps {
                let rank = layout.rank();
                if rank == 0 {
                    break;
                }
                let axis = a % rank;
                let dim = layout.dims()[axis];
                layout = match what {
                    0 => layout.flip(axis),
                    1 if dim > 0 => layout.slice(axis, b % dim, 1, dim - b % dim),
                    2 if dim > 0 => layout.slice(axis, dim - 1, -2, dim.div_ceil(2)),
                    3 => {
                        let mut axes: Vec<usize> = (0..rank).collect();
                        axes.swap(axis, b % rank);
                        layout.permute(&axes)
                    }
                    _ => layout.expand(axis),
                };
            }
            (layout, len)
        },
    )
}

fn walk(loops: &Loops, operand: usize, offset: usize) -> Vec<usize> {
    let as_layout = Layout { dims: loops.dims.clone(), strides: loops.strides[operand].clone(), offset };
    positions(&as_layout).collect()
}

proptest! {
    #[test]
    fn views_stay_inside_their_buffer((layout, len) in layouts()) {
        prop_assert!(positions(&layout).all(|p| p < len));
        prop_assert!(Layout::new(layout.dims(), layout.strides(), layout.offset(), len).is_ok());
    }

    #[test]
    fn coalescing_visits_the_same_elements_in_the_same_order((layout, _) in layouts()) {
        prop_assert_eq!(walk(&coalesce(&[&layout]), 0, layout.offset()), positions(&layout).collect::<Vec<_>>());
    }

    #[test]
    fn coalescing_two_operands_keeps_both((layout, _) in layouts()) {
        let dense = Layout::dense(layout.dims()).unwrap();
        let loops = coalesce(&[&layout, &dense]);
        prop_assert_eq!(walk(&loops, 0, layout.offset()), positions(&layout).collect::<Vec<_>>());
        prop_assert_eq!(walk(&loops, 1, 0), positions(&dense).collect::<Vec<_>>());
    }

    #[test]
    fn a_reshaped_view_has_the_same_elements((layout, _) in layouts(), split in 1usize..4) {
        let n = layout.len();
        let dims: Vec<usize> = if n.is_multiple_of(split) && n > 0 { vec![split, n / split, 1] } else { vec![n] };
        if let Some(view) = layout.reshape(&dims) {
            prop_assert_eq!(positions(&view).collect::<Vec<_>>(), positions(&layout).collect::<Vec<_>>());
        } else {
            prop_assert!(!layout.is_row_major());
        }
    }
}

#[test]
fn a_transposed_matrix_does_not_reshape_but_a_merged_run_does() {
    let t = Layout::dense(&[2, 3]).unwrap().permute(&[1, 0]);
    assert!(t.reshape(&[6]).is_none());
    let kept = Layout::dense(&[4, 2, 3]).unwrap().permute(&[1, 2, 0]);
    assert!(kept.reshape(&[6, 4]).is_some());
    assert!(kept.reshape(&[2, 3, 2, 2]).is_some());
}

#[test]
fn layouts_outside_their_buffer_are_refused() {
    assert!(Layout::new(&[3], &[1], 0, 2).is_err());
    assert!(Layout::new(&[3], &[-1], 1, 3).is_err());
    assert!(Layout::new(&[3], &[isize::MAX], 0, 3).is_err());
    assert!(Layout::new(&[0], &[isize::MAX], 7, 0).is_ok());
}

#[test]
fn counts_are_checked() {
    assert_eq!(count(&[MAX_ELEMENTS, 0]), Ok(0));
    // Its size would be no number of JavaScript's.
    assert!(count(&[MAX_ELEMENTS + 1, 0]).is_err());
    assert!(count(&[1 << 30, 1 << 30]).is_err());
    assert!(count(&[1; 33]).is_err());
    assert_eq!(count(&[]), Ok(1));
}

#[test]
fn broadcasting_follows_the_standard() {
    assert_eq!(broadcast_shapes(&[3, 1], &[2]).unwrap().as_slice(), &[3, 2]);
    assert_eq!(broadcast_shapes(&[0], &[1]).unwrap().as_slice(), &[0]);
    assert!(broadcast_shapes(&[3], &[2]).is_err());
}

#[test]
fn unfolding_shows_every_window() {
    let image = Layout::dense(&[2, 7]).unwrap();
    let windows = image.unfold(1, 3, 2, 2, 2);
    assert_eq!(windows.dims(), [2, 3, 2]);
    assert_eq!(positions(&windows).collect::<Vec<_>>(), [0, 2, 2, 4, 4, 6, 7, 9, 9, 11, 11, 13]);
    let both = image.unfold(0, 1, 1, 2, 1).unfold(1, 2, 4, 3, 1);
    assert_eq!(both.dims(), [1, 2, 2, 3]);
    assert_eq!(positions(&both).collect::<Vec<_>>(), [0, 1, 2, 7, 8, 9, 4, 5, 6, 11, 12, 13]);
    assert_eq!(positions(&image.flip(1).unfold(1, 1, 9, 3, 3)).collect::<Vec<_>>(), [6, 3, 0, 13, 10, 7]);
}
