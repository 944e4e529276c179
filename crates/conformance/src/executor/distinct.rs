//! A map means the same for equal elements wherever they stand: the reference computes one of each, with its bound. Operands repeat
//! after [`crate::values::PERIOD`] elements, so that a tile of a thousand costs as much as its first ones.

use super::Known;
use crate::bounds::Bound;
use crate::hash::Folded;
use ferrotensor_core::Result;
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::reference::Array;
use ferrotensor_core::scalar::Op;
use std::collections::HashMap;
use std::hash::BuildHasherDefault;

/// Fewer elements are not worth the search.
const FEW: usize = 64;

/// The distinct combinations of operands' elements.
pub struct Distinct {
    /// Of each operand, in the order in which they first occur.
    pub operands: Vec<Known>,
    /// Which of them each element is.
    places: Vec<usize>,
}

impl Distinct {
    /// Of a map's operands; nothing where it is another kernel, reads where an element stands, or most elements differ.
    pub fn of(kernel: &Kernel, operands: &[&Known]) -> Result<Option<Distinct>> {
        let Kernel::Map(map) = kernel else { return Ok(None) };
        let count = operands.first().map_or(0, |known| known.array.len());
        let by_place = map.program.instrs.iter().any(|instr| matches!(instr.op, Op::Index(_)));
        if by_place || count < FEW || operands.iter().any(|known| known.array.len() != count) {
            return Ok(None);
        }
        let (keys, width) = keys(operands, count);
        let mut known: HashMap<&[u8], usize, BuildHasherDefault<Folded>> = HashMap::default();
        let (mut first, mut places) = (Vec::new(), Vec::with_capacity(count));
        for (i, key) in keys.chunks_exact(width).enumerate() {
            let next = first.len();
            let place = *known.entry(key).or_insert(next);
            if place == next {
                first.push(i);
            }
            places.push(place);
        }
        if first.len() > count / 2 {
            return Ok(None);
        }
        let picked = |known: &&Known| {
            Ok(Known { array: picked(&known.array, &first, &[first.len()])?, bound: known.bound.picked(&first) })
        };
        Ok(Some(Distinct { operands: operands.iter().map(picked).collect::<Result<_>>()?, places }))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.operands[0].array.len()
    }

    /// Results of the distinct elements as results of all.
    pub fn spread(&self, results: Vec<Known>, dims: &[&[usize]]) -> Result<Vec<Known>> {
        let spread = |(known, dims): (Known, &&[usize])| {
            Ok(Known { array: picked(&known.array, &self.places, dims)?, bound: known.bound.picked(&self.places) })
        };
        results.into_iter().zip(dims).map(spread).collect()
    }
}

/// For each element the bytes of all operands and of their bounds, and how many they are.
fn keys(operands: &[&Known], count: usize) -> (Vec<u8>, usize) {
    let bounded = |known: &Known| known.bound != Bound::Exact;
    let width = |known: &Known| known.array.dtype().bytes() + if bounded(known) { size_of::<f64>() } else { 0 };
    let total: usize = operands.iter().map(|known| width(known)).sum();
    let mut keys = Vec::with_capacity(count * total);
    for i in 0..count {
        for known in operands {
            let size = known.array.dtype().bytes();
            keys.extend_from_slice(&known.array.bytes()[i * size..][..size]);
            if let Bound::Absolute(errors) = &known.bound {
                keys.extend_from_slice(&errors[i].to_bits().to_le_bytes());
            }
        }
    }
    (keys, total)
}

fn picked(array: &Array, places: &[usize], dims: &[usize]) -> Result<Array> {
    let size = array.dtype().bytes();
    let bytes = places.iter().flat_map(|&p| &array.bytes()[p * size..][..size]).copied().collect();
    Array::new(array.dtype(), dims, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds;
    use crate::values::{self, Fill, PERIOD, Rng};
    use ferrotensor_core::DType;
    use ferrotensor_core::kernel::Map;
    use ferrotensor_core::reference;
    use ferrotensor_core::scalar::{Builder, MathFn};
    use ferrotensor_ops::def::Domain;

    fn operand(dims: &[usize]) -> Known {
        let mut rng = Rng::named("distinct");
        Known::exact(values::repeated(DType::F32, dims, Fill::Ordinary(Domain::Any), &mut rng).unwrap())
    }

    fn sine(by_place: bool) -> Kernel {
        let mut b = Builder::new();
        let x = b.input(DType::F32);
        let mut y = b.call(MathFn::Sin, &[x]);
        if by_place {
            let place = b.index(0, DType::F32);
            y = b.binary(Op::Add, y, place);
        }
        Kernel::Map(Map { program: b.finish(&[y]) })
    }

    #[test]
    fn repeated_elements_have_the_results_and_bounds_they_have_alone() {
        let dims = [2, PERIOD + 60];
        let x = operand(&dims);
        let distinct = Distinct::of(&sine(false), &[&x]).unwrap().unwrap();
        assert!(distinct.len() <= PERIOD);
        let results = |operands: &[&Known], dims: &[usize]| {
            let arrays: Vec<Array> = operands.iter().map(|k| k.array.clone()).collect();
            let outputs = reference::run(&sine(false), &arrays, &[dims], &[]).unwrap();
            bounds::after(&sine(false), operands, &[], outputs).unwrap()
        };
        let few = results(&[&distinct.operands[0]], &[distinct.len()]);
        let (spread, all) = (distinct.spread(few, &[&dims]).unwrap(), results(&[&x], &dims));
        assert_eq!((&spread[0].array, &spread[0].bound), (&all[0].array, &all[0].bound));
    }

    #[test]
    fn elements_that_count_by_their_place_or_differ_are_computed_each() {
        let x = operand(&[3 * PERIOD]);
        assert!(Distinct::of(&sine(true), &[&x]).unwrap().is_none());
        let apart: Vec<f32> = (0..600).map(|i| i as f32).collect();
        let apart = Known::exact(Array::from_slice(&[600], &apart).unwrap());
        assert!(Distinct::of(&sine(false), &[&apart]).unwrap().is_none());
        // The same elements, of which one counts for less.
        let mut errors = vec![0.0; x.array.len()];
        errors[PERIOD] = 1.0;
        let inexact = Known { bound: Bound::Absolute(errors), ..x.clone() };
        let alone = Distinct::of(&sine(false), &[&x]).unwrap().unwrap().len();
        assert_eq!(Distinct::of(&sine(false), &[&inexact]).unwrap().unwrap().len(), alone + 1);
    }
}
