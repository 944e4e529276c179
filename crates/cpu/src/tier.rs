//! Instruction-set tiers: which exist, which this machine has, and how one source becomes one function for each of them.
//!
//! A kernel is written once, as a [`Source`] whose `run` is `#[inline(always)]`; [`compiled`] hands out the copy that was
//! compiled with a tier's target features. A new tier is one more line of `tiers!`.

use std::sync::OnceLock;

/// A kernel's single source.
pub trait Source {
    /// What it is called with.
    type Args;

    /// The kernel. Must be `#[inline(always)]`, so that it takes on the target features of its caller, among which is a
    /// fused multiply-add if `FMA`.
    ///
    /// # Safety
    /// As the implementation states; pointers in `Args` must be valid for what it does.
    unsafe fn run<const FMA: bool>(args: Self::Args);

    /// The kernel of the AVX-512 tier, where it is more than the same source compiled once more. `#[inline(always)]` as well.
    ///
    /// # Safety
    /// As [`Source::run`], and the caller has that tier's target features.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn run_avx512(args: Self::Args) {
        // SAFETY: as the caller promises.
        unsafe { Self::run::<true>(args) }
    }
}

macro_rules! tiers {
    ($($(#[$cfg:meta])* $tier:ident $module:ident $name:literal [$($features:literal)?] $run:ident$(::<$fma:tt>)? if $present:expr;)*) => {
        /// An instruction set the kernels are compiled for, from the oldest to the newest.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Tier {
            $(#[doc = concat!("`", $name, "`")] $(#[$cfg])* $tier,)*
        }

        impl Tier {
            /// Every tier compiled into this binary, oldest first.
            pub const ALL: &'static [Tier] = &[$($(#[$cfg])* Tier::$tier,)*];

            /// The name, as in `FERROTENSOR_ISA`.
            pub fn name(self) -> &'static str {
                match self { $($(#[$cfg])* Tier::$tier => $name,)* }
            }

            /// Whether this machine can run it.
            pub fn is_present(self) -> bool {
                match self { $($(#[$cfg])* Tier::$tier => $present,)* }
            }
        }

        $(
            $(#[$cfg])*
            mod $module {
                /// # Safety
                /// As `S::run`, on a machine that has the tier.
                $(#[target_feature(enable = $features)])?
                pub unsafe fn run<S: super::Source>(args: S::Args) {
                    // SAFETY: the caller keeps the contract of `S::run`.
                    unsafe { S::$run$(::<$fma>)?(args) }
                }
            }
        )*

        /// The copy of a kernel for a tier. Calling it needs a machine that has the tier.
        pub fn compiled<S: Source>(tier: Tier) -> unsafe fn(S::Args) {
            match tier { $($(#[$cfg])* Tier::$tier => $module::run::<S>,)* }
        }
    };
}

tiers! {
    Baseline baseline "baseline" [] run::<{ cfg!(any(target_feature = "fma", target_arch = "aarch64")) }> if true;
    #[cfg(target_arch = "x86_64")]
    Avx2 avx2 "avx2" ["avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"] run::<true>
        if has!("avx2" "fma" "f16c" "bmi1" "bmi2" "lzcnt" "popcnt");
    // The five parts every AVX-512 machine since Skylake-X has (x86-64-v4).
    #[cfg(target_arch = "x86_64")]
    Avx512 avx512 "avx512"
        ["avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"] run_avx512
        if Tier::Avx2.is_present() && has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl");
}

/// Whether the machine has each of the named features.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
}
#[cfg(target_arch = "x86_64")]
use has;

impl Tier {
    /// The newest tier of this machine, or the one `FERROTENSOR_ISA` demands.
    ///
    /// # Errors
    /// A sentence for a name nobody knows or a tier this machine lacks.
    pub fn detect() -> Result<Tier, String> {
        match std::env::var("FERROTENSOR_ISA") {
            Ok(name) if !name.is_empty() => Tier::named(&name),
            _ => Ok(Tier::newest()),
        }
    }

    /// The newest tier of this machine.
    pub fn newest() -> Tier {
        static NEWEST: OnceLock<Tier> = OnceLock::new();
        *NEWEST.get_or_init(|| Tier::ALL.iter().copied().rfind(|t| t.is_present()).unwrap_or(Tier::Baseline))
    }

    /// The tier with this name, if this machine has it.
    ///
    /// # Errors
    /// As [`Tier::detect`].
    pub fn named(name: &str) -> Result<Tier, String> {
        let known = || Tier::ALL.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ");
        match Tier::ALL.iter().find(|t| t.name() == name) {
            Some(tier) if tier.is_present() => Ok(*tier),
            Some(_) => Err(format!("FERROTENSOR_ISA={name}: this machine does not have that instruction set")),
            None => Err(format!("FERROTENSOR_ISA={name}: unknown; this build has {}", known())),
        }
    }
}
