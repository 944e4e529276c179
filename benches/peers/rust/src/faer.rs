//! faer: products and dense linear algebra, on all cores.

use crate::protocol::{Function, Library, Operands, Timed, Values, elements, wide};
use faer::prelude::*;
use faer::{Mat, Side};
use serde_json::json;

pub const LIBRARY: Library = Library {
    version: "0.24.4",
    facts: || json!({ "threads": faer::get_global_parallelism().degree().to_string() }),
    function,
};

impl<T: Copy + Into<f64>> Values for Mat<T> {
    fn parts(&self) -> Vec<Vec<f64>> {
        vec![(0..self.nrows()).flat_map(|i| (0..self.ncols()).map(move |j| self[(i, j)].into())).collect()]
    }
}

impl Values for Vec<Mat<f64>> {
    fn parts(&self) -> Vec<Vec<f64>> {
        self.iter().flat_map(Values::parts).collect()
    }
}

fn matrix<T: candle_core::WithDType>(operands: &Operands, name: &str) -> Result<Mat<T>, String> {
    let (data, dims) = elements::<T>(operands, name)?;
    let columns = dims.get(1).copied().unwrap_or(1);
    Ok(Mat::from_fn(dims[0], columns, |i, j| data[i * columns + j]))
}

fn function(call: &str, operands: &Operands, _chain: usize) -> Result<Timed, String> {
    let one = |name: &str, f: fn(&Mat<f64>) -> Vec<Mat<f64>>| -> Result<Function, String> {
        let x = matrix::<f64>(operands, name)?;
        Ok(Box::new(move || Box::new(f(&x))))
    };
    Ok(Timed::Call(match call {
        "matmul" if wide(operands) => {
            let (a, b) = (matrix::<f64>(operands, "a")?, matrix::<f64>(operands, "b")?);
            Box::new(move || Box::new(&a * &b))
        }
        "matmul" => {
            let (a, b) = (matrix::<f32>(operands, "a")?, matrix::<f32>(operands, "b")?);
            Box::new(move || Box::new(&a * &b))
        }
        "solve" => {
            let (a, b) = (matrix::<f64>(operands, "a")?, matrix::<f64>(operands, "b")?);
            Box::new(move || Box::new(a.partial_piv_lu().solve(&b)))
        }
        "cholesky" => one("a", |a| vec![a.llt(Side::Lower).expect("positive definite").L().to_owned()])?,
        "qr" => one("a", |a| {
            let qr = a.qr();
            vec![qr.compute_thin_Q(), qr.thin_R().to_owned()]
        })?,
        "svd" => one("a", |a| {
            let svd = a.svd().expect("converges");
            vec![svd.U().to_owned(), svd.S().column_vector().as_mat().to_owned(), svd.V().transpose().to_owned()]
        })?,
        "eigh" => one("a", |a| {
            let eigen = a.self_adjoint_eigen(Side::Lower).expect("converges");
            vec![eigen.S().column_vector().as_mat().to_owned(), eigen.U().to_owned()]
        })?,
        _ => return Err(format!("no call '{call}'")),
    }))
}
