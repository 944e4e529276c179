//! The vocabulary every other crate speaks: dtypes, layouts, promotion, the scalar IR and its functions, kernels, the
//! backend trait, and the reference interpreter that defines what each kernel means.
//!
//! Nothing here knows an operation's name, a JavaScript value, or a device driver.

pub mod attention;
pub mod backend;
pub mod blocks;
pub mod dtype;
pub mod element;
pub mod error;
pub mod fault;
pub mod kernel;
pub mod layout;
pub mod math;
pub mod planted;
pub mod promotion;
pub mod reference;
pub mod registry;
pub mod rows;
pub mod scalar;

pub use dtype::{DType, FloatFormat, Kind};
pub use element::{Bool, Element};
pub use error::{Code, Error, Result};
pub use layout::{Dims, Layout, Strides};
