//! A fixed share of the tests, for runs that are too slow for all of them (under validation layers, on poor devices).

use crate::values::Rng;

/// Whether a test is among `share` of 100, by its name alone: tests that come or go leave the others where they are.
pub fn is_chosen(name: &str, share: usize) -> bool {
    Rng::named(name).below(100) < share
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrotensor_core::DType;

    #[test]
    fn a_share_is_of_that_size_the_same_every_time_and_part_of_a_larger_one() {
        let names = || ferrotensor_ops::OPS.iter().flat_map(|op| DType::all().map(|d| format!("{}/{d}/vulkan", op.path())));
        let all = names().count();
        let tenth: Vec<String> = names().filter(|name| is_chosen(name, 10)).collect();
        assert!((all / 12..all / 8).contains(&tenth.len()), "{} of {all}", tenth.len());
        assert!(tenth.iter().all(|name| is_chosen(name, 10) && is_chosen(name, 11)));
        assert_eq!(
            (names().filter(|name| is_chosen(name, 100)).count(), names().filter(|name| is_chosen(name, 0)).count()),
            (all, 0)
        );
    }
}
