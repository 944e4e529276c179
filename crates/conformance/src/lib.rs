//! Checks that every row of the operation table means on every backend what the reference says it means.
//!
//! Reading order: `recipe.rs` (the circumstances a row is tried in) with `recipe/operands.rs`, `attributes.rs`, `shapes.rs`, `values.rs`, `covering.rs` and `rounds.rs`;
//! `executor.rs` with `view.rs` and `bounds.rs` (what is right, and how exactly); `machine.rs` (the variants) and
//! `breadth.rs` (which of them a quick run tries); `compare.rs`;
//! `rows.rs` (op x dtype x layout x tier) and `ledger.rs` (what must be native, and the measured errors). Beside the rows:
//! `programs.rs` (random programs), `guards.rs` (kernels alone, between guard bands), `refusals.rs` (errors and garbage),
//! `golden.rs` (NumPy's answers), `random.rs` (the generator), `gradients.rs` (derivatives against differences), `vmap.rs` (calls at each
//! position of an axis). The checkers checked: `saboteur.rs` (broken backends), `gradients/results.rs` and
//! `gradients/rules.rs` (derivatives and rules of them that are wrong),
//! `mutants.rs` with `mutations.rs` (every row broken, before its answers and its cases, by `cargo xtask mutate`, whose results every run
//! holds against the rows).

pub mod attributes;
pub mod bounds;
pub mod breadth;
pub mod case;
pub mod compare;
pub mod covering;
pub mod executor;
pub mod forced;
pub mod golden;
pub mod gradients;
pub mod guards;
mod hash;
pub mod ledger;
pub mod machine;
pub mod mutants;
pub mod mutations;
pub mod programs;
pub mod random;
pub mod recipe;
pub mod refusals;
mod rounds;
pub mod rows;
pub mod saboteur;
pub mod shapes;
pub mod share;
pub mod values;
pub mod view;
pub mod vmap;

/// One named test: `Err` says what is wrong.
pub type Check = Box<dyn FnOnce() -> Result<(), String> + Send>;
