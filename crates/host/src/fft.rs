//! Discrete Fourier transforms of any length (`rustfft`: mixed radix, Rader, Bluestein), unnormalised in both directions.

use crate::{elements, matrix, misfit, scratch, write};
use bytemuck::Pod;
use ferrotensor_core::Result;
use ferrotensor_core::planted;
use num_complex::Complex;
use rayon::iter::{IndexedParallelIterator, ParallelIterator};
use rayon::slice::{ParallelSlice, ParallelSliceMut};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Plans kept before all are dropped: a program transforms a few lengths over and over.
const MAX_PLANS: usize = 64;

/// The plans of one precision.
pub struct Plans<T: FftNum> {
    planner: FftPlanner<T>,
    /// By length and whether inverse.
    made: HashMap<(usize, bool), Arc<dyn Fft<T>>>,
}

/// float32 or float64.
pub trait Real: FftNum + Pod {
    /// This precision's plans.
    fn plans() -> &'static Mutex<Plans<Self>>;
}

macro_rules! real {
    ($($t:ty),*) => { $(
        impl Real for $t {
            fn plans() -> &'static Mutex<Plans<$t>> {
                static PLANS: LazyLock<Mutex<Plans<$t>>> = LazyLock::new(|| Mutex::new(Plans::new()));
                &PLANS
            }
        }
    )* };
}
real!(f32, f64);

impl<T: FftNum> Plans<T> {
    fn new() -> Self {
        Plans { planner: FftPlanner::new(), made: HashMap::new() }
    }

    fn get(&mut self, length: usize, inverse: bool) -> Arc<dyn Fft<T>> {
        if self.made.len() >= MAX_PLANS && !self.made.contains_key(&(length, inverse)) {
            // The planner keeps parts of every plan it made, so it goes too.
            *self = Plans::new();
        }
        let Plans { planner, made } = self;
        let direction = if inverse && !planted::is("an-inverse-transform-goes-forwards") {
            FftDirection::Inverse
        } else {
            FftDirection::Forward
        };
        made.entry((length, inverse)).or_insert_with(|| planner.plan_fft(length, direction)).clone()
    }
}

/// Elements from which the transforms of a batch are shared by threads. On two cores 64 of 1024 took 0.08 ms on one thread and 0.27 on both,
/// 1024 of them 1.5 on either, 4096 of them 9.9 and 4.2.
const SHARED_FROM: usize = 1 << 20;

/// `x [batch..., n]` -> `y [batch..., n]`, the transforms of a batch on several threads.
pub fn run<T: Real>(x: (&[u8], &[usize]), y: &mut (&mut [u8], &[usize]), inverse: bool) -> Result<()> {
    let (Some(&length), true) = (x.1.last(), x.1 == y.1) else { return Err(misfit("fft", &[x.1, y.1])) };
    if x.0.is_empty() {
        return Ok(());
    }
    let plan = T::plans().lock().unwrap_or_else(PoisonError::into_inner).get(length, inverse);
    let x = elements::<Complex<T>>(x.0)?;
    write::<Complex<T>>(y.0, |y| {
        let batch = y.len() / length;
        let shared = if batch > 1 && y.len() >= SHARED_FROM { matrix::pool() } else { None };
        let Some(pool) = shared else { return transform(&*plan, &x, y) };
        // A few parts for each thread: one may be slower than the other.
        let part = batch.div_ceil(4 * pool.current_num_threads()) * length;
        let parts = x.par_chunks(part).zip(y.par_chunks_mut(part));
        pool.install(|| parts.try_for_each(|(x, y)| transform(&*plan, x, y)))
    })
}

/// The transforms of the rows of `x`.
fn transform<T: Real>(plan: &dyn Fft<T>, x: &[Complex<T>], y: &mut [Complex<T>]) -> Result<()> {
    let mut memory = scratch::<Complex<T>>(plan.get_immutable_scratch_len())?;
    plan.process_immutable_with_scratch(x, y, &mut memory);
    Ok(())
}
