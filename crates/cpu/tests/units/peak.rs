//! Measured peaks of a machine.

use ferrotensor_cpu::Tier;
use ferrotensor_cpu::internals::peak::peak;

#[test]
fn a_peak_is_measured_once_for_each_number_of_threads() {
    let tier = Tier::detect().unwrap();
    let first = peak(tier).unwrap();
    assert!(first.copy > 1e8 && first.float32 > 1e8 && first.float64 > 1e8, "{first:?}");
    assert_eq!(peak(tier), Some(first));
}
