//! stub
use crate::Check;
/// stub
pub fn trials() -> Vec<(String, Check)> { vec![] }
