//! candle on the CPU.

use crate::protocol::{Function, Library, Operands, Timed, Values, operand};
use candle_core::{D, DType, Device, Result, Tensor};
use candle_nn::ops;
use serde_json::json;

pub const LIBRARY: Library = Library {
    version: "0.11.1",
    facts: || json!({ "gemm": "0.19.0 with x86-v4", "threads": candle_core::utils::get_num_threads().to_string() }),
    function,
};

impl Values for Tensor {
    fn parts(&self) -> Vec<Vec<f64>> {
        let flat = self.flatten_all().and_then(|x| x.to_dtype(DType::F64)).and_then(|x| x.to_vec1());
        vec![flat.expect("dense elements")]
    }
}

fn function(call: &str, operands: &Operands, chain: usize) -> std::result::Result<Timed, String> {
    let get = |name: &str| operand(operands, name).cloned();
    type One = fn(&Tensor) -> Result<Tensor>;
    type Two = fn(&Tensor, &Tensor) -> Result<Tensor>;
    let one = |name: &str, f: One| -> std::result::Result<Function, String> {
        let x = get(name)?;
        Ok(Box::new(move || Box::new(f(&x).expect(CHECKED))))
    };
    let two = |first: &str, second: &str, f: Two| -> std::result::Result<Function, String> {
        let (x, y) = (get(first)?, get(second)?);
        Ok(Box::new(move || {
            let mut result = f(&x, &y).expect(CHECKED);
            for _ in 1..chain {
                result = f(&result, &y).expect(CHECKED);
            }
            Box::new(result)
        }))
    };
    let three =
        |names: [&str; 3], f: fn(&Tensor, &Tensor, &Tensor) -> Result<Tensor>| -> std::result::Result<Function, String> {
            let [x, y, z] = [get(names[0])?, get(names[1])?, get(names[2])?];
            Ok(Box::new(move || Box::new(f(&x, &y, &z).expect(CHECKED))))
        };
    Ok(Timed::Call(match call {
        "matmul" => two("a", "b", |a, b| a.matmul(b))?,
        "matvec" => two("m", "v", |m, v| m.matmul(&v.unsqueeze(1)?))?,
        "add" => two("x", "y", |x, y| x + y)?,
        "badd" => two("m", "v", |m, v| m.broadcast_add(v))?,
        "exp" => one("x", Tensor::exp)?,
        "log" => one("x", Tensor::log)?,
        "tanh" => one("x", Tensor::tanh)?,
        "sigmoid" => one("x", ops::sigmoid)?,
        "sin" => one("x", Tensor::sin)?,
        "gelu" => one("x", Tensor::gelu_erf)?,
        "pow" => two("x", "y", Tensor::pow)?,
        "sum 0" => one("m", |m| m.sum(0))?,
        "sum 1" => one("m", |m| m.sum(1))?,
        "max 0" => one("m", |m| m.max(0))?,
        "max 1" => one("m", |m| m.max(1))?,
        "argmax 0" => one("m", |m| m.argmax(0))?,
        "argmax 1" => one("m", |m| m.argmax(1))?,
        "mean 0" => one("m", |m| m.mean(0))?,
        "mean 1" => one("m", |m| m.mean(1))?,
        "sum" => one("x", Tensor::sum_all)?,
        "softmax" => one("m", ops::softmax_last_dim)?,
        "layernorm" => three(["m", "w", "b"], |m, w, b| ops::layer_norm(m, w, b, 1e-5))?,
        "chain" => three(["a", "b", "c"], |a, b, c| ((a * b)? + c)?.relu()?.exp())?,
        "transpose" => one("m", |m| m.t()?.contiguous())?,
        "where" => three(["k", "x", "y"], |k, x, y| k.where_cond(x, y))?,
        "cast" => one("x", |x| x.to_dtype(DType::F64))?,
        "gather" => two("m", "j", |m, j| m.index_select(j, 0))?,
        "conv" => two("x", "w", |x, w| x.conv2d(w, 1, 1, 1, 1))?,
        "argsort" => one("x", |x| x.arg_sort_last_dim(true))?,
        "randn 1e7" => Box::new(|| Box::new(Tensor::randn(0f32, 1f32, 10_000_000, &Device::Cpu).expect(CHECKED))),
        "cumsum" => one("x", |x| x.cumsum(D::Minus1))?,
        _ => return Err(format!("no call '{call}'")),
    }))
}

/// A call that fails does so when it is made, before it is timed.
const CHECKED: &str = "a call that worked before";
