//! Faults on purpose, by which `scripts/planted.mjs` sees that each suite catches what it is for. Built with the feature `planted`,
//! the environment variable `FERROTENSOR_PLANTED` names the one fault of the process; built without it, which all is that anybody
//! gets, no fault can be there.

/// Every fault and what it does. `scripts/planted/` says of each why it is there and which suite catches it.
pub const FAULTS: &[(&str, &str)] = &[
    ("function-two-units-off", "Arc tangents are two units in the last place too large."),
    ("emulated-fma-rounds-twice", "The emulated fused multiply-add of float32 rounds in float64 first."),
    ("flip-keeps-its-direction", "A flipped view is walked forwards."),
    (
        "axes-merge-by-the-first-operand",
        "Axes are merged where the first operand of a kernel allows it, whatever the others are.",
    ),
    ("halves-promote-to-one-of-them", "float16 with bfloat16 gives one of the two."),
    ("fusion-forgets-a-rounding", "A value that is rounded to a narrower dtype and widened again is taken for itself."),
    ("baseline-functions-round-twice", "On the oldest instruction set functions multiply and add with two roundings."),
    ("avx512-functions-leave-out-the-tail", "On AVX-512 functions leave out the elements that fill no register."),
    ("avx2-products-leave-out-a-place", "Products by AVX2 leave out the last inner place."),
    ("arm-products-leave-out-a-place", "Products by NEON leave out the last inner place."),
    (
        "partial-sums-in-the-order-of-threads",
        "With several threads the partial sums of a long reduction are added from the last to the first.",
    ),
    ("reduction-leaves-out-a-last-row", "The last elements of a reduction that make no whole row of lanes are left out."),
    (
        "running-sum-forgets-what-stands-before",
        "Threads that share a long running sum begin their part with what stands before the first.",
    ),
    ("division-by-zero-is-the-dividend", "An integer divided by zero is itself, not 0."),
    ("strided-operands-are-read-as-dense", "Operands whose elements lie apart are read as if they lay side by side."),
    ("a-store-beyond-the-last-element", "A stretch of results is written one element too far."),
    ("the-first-of-equal-targets-wins", "Of several updates of one element the first is kept, not the last."),
    ("an-index-out-of-range-is-taken-as-the-last", "An index beyond its axis reads the last element and says nothing."),
    ("number-of-threads-is-ignored", "FERROTENSOR_THREADS is read and ignored."),
    ("refused-memory-panics", "Working memory that is refused panics instead of being an error."),
    ("a-library-gets-rows-and-columns-exchanged", "A vendor's library is given a transposed factor as it lies."),
    ("an-inverse-transform-goes-forwards", "An inverse Fourier transform is the forward one."),
    ("sums-stay-narrow", "A sum of narrow integers stays in their dtype."),
    ("the-last-window-is-missing", "Windows over an axis are one fewer where the last ends with the data."),
    ("a-stride-left-out-is-one", "Windows whose stride is left out are one apart, not as far as they are long."),
    (
        "a-definition-changes",
        "softsign divides by 2 + |x|, in its definition, which the reference and every backend follow.",
    ),
    ("a-slope-has-the-wrong-sign", "The derivative of cos is sin."),
    ("second-derivatives-are-zero", "The gradient of a gradient is 0."),
    ("a-second-tangent-is-lost", "Forward mode leaves out the tangents of all operands but the first."),
    ("mapped-coordinates-count-positions", "Coordinates in a mapped call are those of an axis before theirs."),
    ("random-words-are-drawn-twice", "Neighbouring random elements share a word of their block."),
    ("a-kink-has-another-slope", "The gradient of relu at 0 is 1."),
    ("nothing-is-fused", "Fusion leaves every kernel as it is."),
    ("duplicates-whatever-their-shape", "Values of equal definitions are one, whatever their shapes."),
    ("temporaries-overlap", "A temporary is written over one that the same step still reads."),
    ("returned-memory-counts-as-live", "Memory that came back to the pool goes on counting as in use."),
    ("the-budget-admits-everything", "Programs are admitted beyond the memory budget."),
    ("a-failed-program-leaves-values", "What a program that failed was to compute looks like a value."),
    ("schedules-ignore-layouts", "A schedule made for dense operands is used for others."),
    ("an-ended-environment-goes-on", "What an environment that ended has queued is computed all the same."),
    ("schedules-are-made-anew", "No program finds the schedule of the one before."),
    ("launches-grow-step-by-step", "The lists of a program's launches grow as they are filled."),
    ("results-alone-count-as-carried", "Of a fallback's bytes those of its operands are not counted."),
    (
        "a-fallback-overwrites-its-surroundings",
        "A fallback that writes a region gives back the elements between without having fetched them.",
    ),
    ("a-closed-scope-keeps-its-handles", "Handles of a scope that was closed stay."),
    ("a-stale-handle-is-another-tensor", "A handle that was freed stands for the tensor that has its slot now."),
    ("dead-wrappers-keep-their-tensors", "What JavaScript's collector found dead keeps its memory."),
    ("a-panic-leaves-native-code", "A panic goes on into the process that called."),
    ("a-promise-is-never-settled", "The outcome of asynchronous work is dropped on its way to JavaScript."),
    ("columns-are-read-as-rows", "An npy file in Fortran's order is read as if it were in C's."),
    ("checksums-are-not-looked-at", "The checksums of an npz file's members are not compared."),
    ("a-short-file-is-read", "A safetensors file with fewer or more bytes than its header describes is taken."),
    ("saving-empties-the-old-file-first", "Saving empties the old file before it writes the new one."),
    ("a-barrier-is-missing", "Dispatches that depend on each other have no barrier between them."),
    (
        "lanes-of-a-subgroup-run-together",
        "A sum over lanes does without barriers where 8 of them are left, as if these ran in one step.",
    ),
    ("the-last-group-writes-beyond", "Threads of the last group of a map write elements that do not exist."),
    ("a-missing-capability-is-used", "float64 is taken for there on a device that has none."),
    ("staging-memory-is-used-too-early", "What a copy still reads is overwritten by the next one."),
];

#[cfg(feature = "planted")]
mod chosen {
    use super::FAULTS;
    use std::sync::OnceLock;

    static CHOSEN: OnceLock<Option<&'static str>> = OnceLock::new();

    /// The fault that the environment names.
    fn named() -> Option<&'static str> {
        let wanted = std::env::var("FERROTENSOR_PLANTED").ok().filter(|name| !name.is_empty())?;
        let found = FAULTS.iter().find(|(name, _)| *name == wanted);
        Some(found.unwrap_or_else(|| panic!("FERROTENSOR_PLANTED={wanted}: no such fault")).0)
    }

    /// Whether this fault is the one.
    #[inline(never)]
    pub fn is(name: &str) -> bool {
        CHOSEN.get_or_init(named).is_some_and(|chosen| chosen == name)
    }
}

#[cfg(feature = "planted")]
pub use chosen::is;

/// Whether this fault is the one.
#[cfg(not(feature = "planted"))]
#[inline(always)]
pub const fn is(_name: &str) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::FAULTS;

    #[test]
    fn names_differ_and_each_fault_says_what_it_does() {
        for (n, (name, sentence)) in FAULTS.iter().enumerate() {
            assert!(FAULTS[..n].iter().all(|(other, _)| other != name), "{name} twice");
            assert!(sentence.ends_with('.'), "{name}");
        }
    }
}
