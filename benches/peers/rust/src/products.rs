//! The crates that multiply: gemm, and ndarray, which multiplies by matrixmultiply. Results are new at each call, as everywhere.

use crate::protocol::{Library, Operands, Timed, Values, elements, wide};
use gemm::Parallelism;
use ndarray::{Array, Array1, Array2, Axis, Dimension};
use serde_json::json;

pub const GEMM: Library = Library {
    version: "0.19.0",
    facts: || json!({ "features": "rayon, x86-v4", "threads": rayon_threads() }),
    function: gemm_function,
};
pub const NDARRAY: Library = Library {
    version: "0.17.2",
    facts: || json!({ "matrixmultiply": "0.3.11 with threading" }),
    function: ndarray_function,
};

fn rayon_threads() -> String {
    std::thread::available_parallelism().map_or(1, usize::from).to_string()
}

/// A product of matrices, the last axes of the operands; the rest is a batch.
fn product<T: candle_core::WithDType>(operands: &Operands, names: [&str; 2], zero: T, one: T) -> Result<Timed, String>
where
    Vec<T>: Values,
{
    let ((a, left), (b, right)) = (elements::<T>(operands, names[0])?, elements::<T>(operands, names[1])?);
    let (m, k) = (left[left.len() - 2], left[left.len() - 1]);
    let n = if right.len() == 1 { 1 } else { right[right.len() - 1] };
    let batch = a.len() / (m * k);
    Ok(Timed::Call(Box::new(move || {
        let mut c: Vec<T> = Vec::with_capacity(batch * m * n);
        for i in 0..batch {
            // SAFETY: each matrix of a batch is within its vector, of c within its capacity, and is written whole, none of it read.
            unsafe {
                let (a, b) = (a.as_ptr().add(i * m * k), b.as_ptr().add(i * k * n));
                let c = c.as_mut_ptr().add(i * m * n);
                let (n, k) = (n as isize, k as isize);
                gemm::gemm(
                    m,
                    n as usize,
                    k as usize,
                    c,
                    1,
                    n,
                    false,
                    a,
                    1,
                    k,
                    b,
                    1,
                    n,
                    zero,
                    one,
                    false,
                    false,
                    false,
                    Parallelism::Rayon(0),
                );
            }
        }
        // SAFETY: all of it was written above.
        unsafe { c.set_len(batch * m * n) };
        Box::new(c)
    })))
}

fn gemm_function(call: &str, operands: &Operands, _chain: usize) -> Result<Timed, String> {
    let names = match call {
        "matmul" => ["a", "b"],
        "matvec" => ["m", "v"],
        _ => return Err(format!("no call '{call}'")),
    };
    if wide(operands) { product(operands, names, 0f64, 1f64) } else { product(operands, names, 0f32, 1f32) }
}

impl<T: Copy + Into<f64>, D: Dimension> Values for Array<T, D> {
    fn parts(&self) -> Vec<Vec<f64>> {
        vec![self.iter().map(|&x| x.into()).collect()]
    }
}

fn vector<T: candle_core::WithDType>(operands: &Operands, name: &str) -> Result<Array1<T>, String> {
    Ok(elements(operands, name)?.0.into())
}

fn matrix<T: candle_core::WithDType>(operands: &Operands, name: &str) -> Result<Array2<T>, String> {
    let (data, dims) = elements(operands, name)?;
    Array2::from_shape_vec((dims[0], dims[1]), data).map_err(|error| error.to_string())
}

fn ndarray_function(call: &str, operands: &Operands, chain: usize) -> Result<Timed, String> {
    let get = |name| vector::<f32>(operands, name);
    let rows = |name| matrix::<f32>(operands, name);
    Ok(Timed::Call(match call {
        "matmul" if wide(operands) => {
            let (a, b) = (matrix::<f64>(operands, "a")?, matrix::<f64>(operands, "b")?);
            Box::new(move || Box::new(a.dot(&b)))
        }
        "matmul" => {
            let (a, b) = (rows("a")?, rows("b")?);
            Box::new(move || Box::new(a.dot(&b)))
        }
        "matvec" => {
            let (m, v) = (rows("m")?, get("v")?);
            Box::new(move || Box::new(m.dot(&v)))
        }
        "add" => {
            let (x, y) = (get("x")?, get("y")?);
            Box::new(move || {
                let mut result = &x + &y;
                for _ in 1..chain {
                    result = &result + &y;
                }
                Box::new(result)
            })
        }
        "badd" => {
            let (m, v) = (rows("m")?, get("v")?);
            Box::new(move || Box::new(&m + &v))
        }
        "sum 0" | "sum 1" => {
            let (m, axis) = (rows("m")?, Axis(usize::from(call.ends_with('1'))));
            Box::new(move || Box::new(m.sum_axis(axis)))
        }
        "sum" => {
            let x = get("x")?;
            Box::new(move || Box::new(vec![x.sum()]))
        }
        _ => return Err(format!("no call '{call}'")),
    }))
}
