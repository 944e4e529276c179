//! The reference's tensor: a dense row-major array of bytes with its dtype and shape.

use super::value::Scalar;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::layout::{self, Layout};

/// Dense, row-major, in host memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    dtype: DType,
    dims: Vec<usize>,
    bytes: Vec<u8>,
}

impl Array {
    /// An array from its bytes.
    ///
    /// # Errors
    /// `Code::Shape` when the length is not that of the shape.
    pub fn new(dtype: DType, dims: &[usize], bytes: Vec<u8>) -> Result<Array> {
        let needed = layout::count(dims)?.checked_mul(dtype.bytes());
        if needed != Some(bytes.len()) {
            return Err(Error::shape(format!("{} bytes do not make a {dtype} array of shape {dims:?}", bytes.len())));
        }
        Ok(Array { dtype, dims: dims.to_vec(), bytes })
    }

    /// An array from typed elements in row-major order.
    ///
    /// # Errors
    /// `Code::Shape` when their number is not that of the shape.
    pub fn from_slice<T: Element>(dims: &[usize], elements: &[T]) -> Result<Array> {
        Array::new(T::DTYPE, dims, bytemuck::cast_slice(elements).to_vec())
    }

    /// The elements that `layout` shows in a buffer of `dtype`, made dense.
    ///
    /// # Errors
    /// `Code::Internal` when the layout reaches outside the buffer.
    pub fn gather(buffer: &[u8], layout: &Layout, dtype: DType) -> Result<Array> {
        let size = dtype.bytes();
        let mut bytes = Vec::with_capacity(layout.len() * size);
        for at in layout::positions(layout) {
            let element = at.checked_mul(size).and_then(|from| buffer.get(from..from + size));
            bytes.extend_from_slice(element.ok_or_else(|| Error::internal("a layout reaches outside its buffer"))?);
        }
        Array::new(dtype, layout.dims(), bytes)
    }

    /// An array of values, each fitted to the dtype.
    pub fn from_scalars(dtype: DType, dims: &[usize], values: impl IntoIterator<Item = Scalar>) -> Result<Array> {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|v| bytes.extend_from_slice(&v.encode(dtype)[..dtype.bytes()]));
        Array::new(dtype, dims, bytes)
    }

    /// The elements, in row-major order.
    ///
    /// # Errors
    /// `Code::DType` when `T` is not the array's element type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if T::DTYPE != self.dtype {
            return Err(Error::dtype(format!("the array is {}, asked for {}", self.dtype, T::DTYPE)));
        }
        Ok(bytemuck::pod_collect_to_vec(&self.bytes))
    }

    /// Element dtype.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Shape.
    pub fn dims(&self) -> &[usize] {
        &self.dims
    }

    /// The raw elements.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.dtype.bytes()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Element at a row-major position below `len`.
    pub fn get(&self, position: usize) -> Scalar {
        Scalar::decode(self.dtype, &self.bytes[position * self.dtype.bytes()..])
    }

    /// Every element as a value, in row-major order.
    pub fn scalars(&self) -> impl Iterator<Item = Scalar> + '_ {
        self.bytes.chunks_exact(self.dtype.bytes()).map(|bytes| Scalar::decode(self.dtype, bytes))
    }
}

/// Coordinates of a row-major position.
pub(super) fn coordinates(dims: &[usize], mut position: usize) -> Vec<usize> {
    let mut at = vec![0; dims.len()];
    for (coordinate, &dim) in at.iter_mut().zip(dims).rev() {
        *coordinate = position % dim;
        position /= dim;
    }
    at
}
