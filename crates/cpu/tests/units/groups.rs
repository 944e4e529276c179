//! Values that several elements share.

use ferrotensor_core::DType;
use ferrotensor_core::scalar::Builder;
use ferrotensor_core::scalar::Op;
use ferrotensor_cpu::Tier;
use ferrotensor_cpu::internals::map::{Groups, OWN, Shared, groups, shared};

#[test]
fn a_value_is_shared_as_far_as_all_it_is_made_of() {
    let mut b = Builder::new();
    let key = b.input(DType::I64);
    let i = b.index(0, DType::I64);
    let (one, two) = (b.lit(DType::I64, 1.0), b.lit(DType::I64, 2.0));
    let (half, quarter) = (b.binary(Op::Shr, i, one), b.binary(Op::Shr, i, two));
    let twice = b.binary(Op::Mul, key, key);
    let block = b.binary(Op::Xor, quarter, twice);
    let pair = b.binary(Op::Add, block, half);
    let each = b.binary(Op::Add, pair, i);
    let program = b.finish(&[each]);
    let of = |scalars| {
        let shared = shared(&program, scalars);
        [twice, block, pair, each].map(|v| shared[v as usize])
    };
    assert_eq!(of(1), [Shared::ByAll, Shared::By(2), Shared::By(1), OWN]);
    assert_eq!(of(0), [OWN; 4], "an input that differs from element to element");
    let groups = groups(&program, &shared(&program, 1));
    assert_eq!([key, twice, block, pair, each].map(|v| groups[v as usize]), [2, 2, 2, 1, 0]);
    assert!(Groups::find(&program, Tier::Baseline).is_some());
}
