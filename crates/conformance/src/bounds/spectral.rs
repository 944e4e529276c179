//! Bounds of eigenvalues, singular values and what goes with them, by perturbation theory: a backward stable method gives the
//! exact results of a matrix that is off by a few units of its norm.

use super::routine::{inverses, matrix_norm, product, row_norm};
use super::{absolute, magnitudes};
use crate::compare::{epsilon, largest};
use crate::executor::Known;
use ferrotensor_core::kernel::{Kernel, Routine, SvdOutputs};
use ferrotensor_core::reference::{self, Array, Scalar};
use ferrotensor_core::{Code, DType, Result};

type Errors = Result<Vec<Option<Vec<f64>>>>;

/// How far the matrix may be that results are exact for.
fn backward(dtype: DType, m: usize, n: usize, norm: f64) -> f64 {
    product(dtype) * 8.0 * m.max(n).max(1) as f64 * epsilon(dtype) * norm
}

fn shape(a: &Array) -> (usize, usize) {
    let dims = a.dims();
    (dims[dims.len() - 2], dims[dims.len() - 1])
}

/// The error of a vector that is off by this angle. What makes its largest entry real may pick another one of equal size: then
/// nothing is promised.
fn turned(angle: f64, vector: &[f64]) -> f64 {
    let largest = vector.iter().fold(0.0f64, |a, &b| a.max(b));
    let rivals = vector.iter().filter(|v| **v > largest - 2.0 * angle).count();
    // Its phase is that of an entry, which is off by the angle beside its size.
    if angle < 0.1 && rivals < 2 { angle * (1.0 + 1.0 / largest) } else { f64::INFINITY }
}

/// The j-th column of the i-th matrix.
fn column(sizes: &[f64], (m, n): (usize, usize), i: usize, j: usize) -> Vec<f64> {
    (0..m).map(|row| sizes[(i * m + row) * n + j]).collect()
}

/// The distance of a value to the nearest other, of a matrix of this norm. A value beyond the dtype's largest number is infinite: it is no farther
/// from the others than the norm is large, and two of them may be equal.
fn gap(values: &[f64], j: usize, norm: f64) -> f64 {
    let distance = |v: f64| if v.is_infinite() && v == values[j] { 0.0 } else { (v - values[j]).abs() };
    let most = if values[j].is_infinite() { norm } else { f64::INFINITY };
    values.iter().enumerate().filter(|(k, _)| *k != j).fold(most, |gap, (_, &v)| gap.min(distance(v)))
}

fn reals(a: &Array) -> Vec<f64> {
    a.scalars().map(|x| x.real().hi).collect()
}

/// Weyl's bound for values, Davis and Kahan's for vectors.
pub fn eigh_errors(dtype: DType, input: &Known, outputs: &[Array]) -> Errors {
    let (n, _) = shape(&input.array);
    let (sizes, values) = (magnitudes(input), reals(&outputs[0]));
    let count = sizes.len() / (n * n).max(1);
    // The triangle that is read, twice.
    let norm = |i: usize| 2.0 * row_norm(&sizes[i * n * n..(i + 1) * n * n]);
    let of_value = |at: usize| backward(dtype, n, n, norm(at / n));
    let mut errors = vec![Some((0..count * n).map(of_value).collect::<Vec<f64>>())];
    if let Some(vectors) = outputs.get(1) {
        let sizes = magnitudes(&Known::exact(vectors.clone()));
        let of_vector = |at: usize| {
            let (i, j) = (at / (n * n), at % n);
            let gap = gap(&values[i * n..(i + 1) * n], j, norm(i));
            turned(2.0 * backward(dtype, n, n, norm(i)) / gap, &column(&sizes, (n, n), i, j))
        };
        errors.push(Some((0..count * n * n).map(of_vector).collect()));
    }
    Ok(errors)
}

/// The same for the matrix with x above its adjoint, whose eigenvalues are the singular values of both signs (Stewart and Sun).
pub fn svd_errors(dtype: DType, of: SvdOutputs, input: &Known, outputs: &[Array]) -> Errors {
    let (m, n) = shape(&input.array);
    let (k, sizes) = (m.min(n), magnitudes(input));
    let norm = |i: usize| row_norm(&sizes[i * m * n..(i + 1) * m * n]);
    let off = |i: usize| backward(dtype, m, n, norm(i));
    let of_values = |s: &Array| (0..s.len()).map(|at| off(at / k)).collect::<Vec<f64>>();
    if of == SvdOutputs::Values {
        // Weyl's bound again, for what the matrix itself is off by.
        let carried = absolute(input);
        let of_input = |i: usize| row_norm(&carried[i * m * n..(i + 1) * m * n]);
        let errors = of_values(&outputs[0]).into_iter().enumerate();
        return Ok(vec![Some(errors.map(|(at, e)| e + of_input(at / k)).collect())]);
    }
    let (values, vh) = (reals(&outputs[1]), magnitudes(&Known::exact(outputs[2].clone())));
    let (columns, rows) = (shape(&outputs[0]).1, shape(&outputs[2]).0);
    // The j-th of the vectors that have a value: others stand for any basis of what is left.
    let of_pair = |i: usize, j: usize| {
        if j >= k {
            return f64::INFINITY;
        }
        let s = &values[i * k..(i + 1) * k];
        let gap = gap(s, j, norm(i)).min(s[j]);
        let from = (i * rows + j) * n;
        turned(2.0 * off(i) / gap, &vh[from..from + n])
    };
    let u = (0..outputs[0].len()).map(|at| of_pair(at / (m * columns), at % columns)).collect();
    let vh = (0..outputs[2].len()).map(|at| of_pair(at / (rows * n), at / n % rows)).collect();
    Ok(vec![Some(u), Some(of_values(&outputs[1])), Some(vh)])
}

/// Bauer and Fike's bound, of each value by its own condition: the size of its rows in the inverse of the vectors' matrix.
pub fn eig_errors(dtype: DType, input: &Known, outputs: &[Array]) -> Errors {
    let (n, _) = shape(&input.array);
    let sizes = magnitudes(input);
    let vectors = match outputs.get(1) {
        Some(vectors) => vectors.clone(),
        None => {
            let (kernel, dims) = (Kernel::Routine(Routine::Eig { dtype, vectors: true }), input.array.dims());
            let values = &dims[..dims.len() - 1];
            reference::run(&kernel, std::slice::from_ref(&input.array), &[values, dims], &[])?.remove(1)
        }
    };
    let inverse = match inverses(&vectors, n) {
        Ok(inverse) => inverse,
        // Without a basis of eigenvectors nothing is promised.
        Err(e) if e.code == Code::LinAlg => vec![f64::INFINITY; vectors.len()],
        Err(e) => return Err(e),
    };
    let values: Vec<Scalar> = outputs[0].scalars().collect();
    let condition = |i: usize, j: usize| row_norm(&inverse[(i * n + j) * n..(i * n + j + 1) * n]);
    let off = |at: usize| {
        let i = at / n;
        2.0 * backward(dtype, n, n, row_norm(&sizes[i * n * n..(i + 1) * n * n])) * condition(i, at % n)
    };
    let own: Vec<f64> = (0..values.len()).map(off).collect();
    let distance = |x: Scalar, y: Scalar| (x + -y).magnitude().hi;
    let nearest = |at: usize| {
        let others = at / n * n..at / n * n + n;
        others.filter(|&o| o != at).fold(f64::INFINITY, |gap, o| gap.min(distance(values[at], values[o])))
    };
    // Another order of two values that are close in the part they are sorted by, and are no conjugates.
    let ordered = |at: usize| {
        let others = at / n * n..at / n * n + n;
        let swapped = |o: usize| {
            let (x, y) = (values[at], values[o]);
            let close = (x.real().hi - y.real().hi).abs() <= own[at] + own[o];
            let conjugates = !dtype.is_complex() && (x.imaginary().hi + y.imaginary().hi).abs() <= own[at] + own[o];
            o != at && close && !(conjugates && x.imaginary().hi.abs() > own[at])
        };
        !others.into_iter().any(swapped)
    };
    let of_value = |at: usize| if ordered(at) { own[at] } else { f64::INFINITY };
    let mut errors = vec![Some((0..values.len()).map(of_value).collect::<Vec<f64>>())];
    if outputs.len() > 1 {
        let parts = magnitudes(&Known::exact(vectors));
        let conditions: Vec<f64> = (0..values.len()).map(|at| condition(at / n, at % n)).collect();
        let of_vector = |at: usize| {
            let (i, j) = (at / (n * n), at % n);
            let all = conditions[i * n..(i + 1) * n].iter().sum::<f64>();
            let angle = own[i * n + j] * all / nearest(i * n + j);
            if ordered(i * n + j) { turned(angle, &column(&parts, (n, n), i, j)) } else { f64::INFINITY }
        };
        errors.push(Some((0..outputs[1].len()).map(of_vector).collect()));
    }
    Ok(errors)
}

/// The derivative of the exponential in direction e is the integral of exp((1 - t) a) e exp(t a) (Higham, Functions of Matrices,
/// (10.15)), here by the larger of its ends and of seven places between.
pub fn expm_errors(dtype: DType, input: &Known, output: &Array) -> Result<Vec<f64>> {
    let (n, _) = shape(&input.array);
    let (wide, dims) = (if dtype.is_complex() { DType::C128 } else { DType::F64 }, input.array.dims());
    let power = |t: f64| -> Result<Vec<f64>> {
        let scaled = input.array.scalars().map(|x| x * Scalar::float(t).fit(wide));
        let a = Array::from_scalars(wide, dims, scaled)?;
        let out = reference::run(&Kernel::Routine(Routine::Expm(wide)), &[a], &[dims], &[])?;
        Ok(magnitudes(&Known::exact(out[0].clone())))
    };
    let powers = (0..9).map(|t| power(t as f64 / 8.0)).collect::<Result<Vec<_>>>()?;
    let sizes = magnitudes(input);
    let of_matrix = |i: usize| {
        let at = i * n * n..(i + 1) * n * n;
        let norm = |t: usize| matrix_norm(&powers[t][at.clone()], n);
        let most = (0..9).map(|t| norm(t) * norm(8 - t)).fold(0.0, f64::max);
        let error = 2.0 * backward(dtype, n, n, matrix_norm(&sizes[at.clone()], n) + 1.0) * most;
        // The squares on the way may overflow before the result does.
        if error < largest(dtype) / 1024.0 { error } else { f64::INFINITY }
    };
    Ok((0..output.len()).map(|at| of_matrix(at / (n * n))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::{Bound, after};

    #[test]
    fn of_a_matrix_without_a_basis_of_eigenvectors_nothing_is_promised() {
        let n = 17;
        let element = |at: usize| if at / n == at % n + 1 { 1000f32 } else { 0.0 };
        let a = Array::from_slice(&[n, n], &(0..n * n).map(element).collect::<Vec<f32>>()).unwrap();
        let kernel = Kernel::Routine(Routine::Eig { dtype: DType::F32, vectors: true });
        let out = reference::run(&kernel, std::slice::from_ref(&a), &[&[n], &[n, n]], &[]).unwrap();
        for known in after(&kernel, &[&Known::exact(a)], &[], out).unwrap() {
            let Bound::Absolute(errors) = known.bound else { panic!("eigenvalues are not exact") };
            assert!(errors.iter().all(|&e| e > 1.0), "{errors:?}");
        }
    }
    #[test]
    fn vectors_of_an_infinite_value_may_be_off() {
        // Its norm is 4.2e38, and float32 ends at 3.4e38.
        let a = Array::from_slice(&[1, 2], &[3e38f32, 3e38]).unwrap();
        let kernel = Kernel::Routine(Routine::Svd { dtype: DType::F32, outputs: SvdOutputs::Thin });
        let out = reference::run(&kernel, std::slice::from_ref(&a), &[&[1, 1], &[1], &[1, 2]], &[]).unwrap();
        let known = after(&kernel, &[&Known::exact(a)], &[], out).unwrap();
        let Bound::Absolute(errors) = &known[2].bound else { panic!("vectors are not exact") };
        assert!(errors.iter().all(|&e| e > 0.0), "{errors:?}");
    }
}
