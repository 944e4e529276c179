//! Instruction sets by name.

use ferrotensor_cpu::Tier;

#[test]
fn a_tier_is_found_by_name_and_an_unknown_one_is_a_sentence() {
    assert_eq!(Tier::named("baseline"), Ok(Tier::Baseline));
    let message = Tier::named("avx9").unwrap_err();
    assert!(message.contains("avx9") && message.contains("baseline"), "{message}");
}
