//! How windows lie over the last axes of data.

use crate::attrs::Attrs;
use ferrotensor_core::kernel::WindowAxis;
use ferrotensor_core::planted;
use ferrotensor_core::{Dims, Error, Result, layout};

/// How windows lie over the spatial axes, and how many there are along each.
pub struct Windows {
    /// How they lie along each.
    pub axes: Vec<WindowAxis>,
    /// How many along each.
    pub counts: Dims,
}

/// One number for each of `n` axes, from a list of one or of `n`.
pub fn per_axis(name: &str, list: &[i64], n: usize) -> Result<Vec<usize>> {
    let at = |i: usize| list.get(if list.len() == 1 { 0 } else { i }).and_then(|&v| usize::try_from(v).ok());
    let all = (0..n).map(at).collect::<Option<Vec<_>>>().filter(|_| list.len() == 1 || list.len() == n);
    all.ok_or_else(|| Error::shape(format!("{name} {list:?} does not fit {n} axes")))
}

/// How many spatial axes `[batch, channels, spatial...]` has.
///
/// # Errors
/// `Code::Shape` for none or more than three.
pub fn spatial(x: &[usize]) -> Result<usize> {
    match x.len() {
        3..=5 => Ok(x.len() - 2),
        _ => Err(Error::shape(format!("takes [batch, channels, spatial...] with 1 to 3 spatial axes, got {x:?}"))),
    }
}

/// The padding before and after each of `n` axes; `None` where it follows from the size of the result.
///
/// # Errors
/// As [`per_axis`].
pub fn sides(attrs: &Attrs, n: usize) -> Result<Option<[Vec<usize>; 2]>> {
    let (low, high) = attrs.pairs("padding");
    if low.is_empty() {
        return Ok(None);
    }
    Ok(Some([per_axis("padding", low, n)?, per_axis("padding", high, n)?]))
}

impl Windows {
    /// Windows of these sizes over data `dims`, whose spatial axes are the last `sizes.len()`. `stride` is what a stride
    /// left out means.
    ///
    /// # Errors
    /// `Code::Shape` for windows larger than the padded data, and for what is beyond the limits of a tensor.
    pub fn new(attrs: &Attrs, dims: &[usize], sizes: &[usize], stride: &[usize]) -> Result<Windows> {
        let n = sizes.len();
        let (lead, spatial) = dims.split_at(dims.len() - n);
        let left_out = if planted::is("a-stride-left-out-is-one") { vec![1; n] } else { stride.to_vec() };
        let strides = attrs.ints("stride").map_or(Ok(left_out), |list| per_axis("stride", list, n))?;
        let dilations = per_axis("dilation", attrs.ints("dilation").unwrap_or(&[1]), n)?;
        let sides = sides(attrs, n)?;
        let mut out = Windows { axes: Vec::new(), counts: Dims::new() };
        let (mut padded, mut shown): (Dims, Dims) = (lead.into(), lead.into());
        for i in 0..n {
            let (size, stride, dilation, extent) = (sizes[i], strides[i], dilations[i], spatial[i]);
            let overflow = || Error::shape(format!("windows over {dims:?} reach beyond 2^53 positions"));
            let given = sides.as_ref().map(|[low, high]| (low[i], high[i]));
            if [size, stride, dilation]
                .iter()
                .chain(given.iter().flat_map(|(l, h)| [l, h]))
                .any(|&v| v > layout::MAX_ELEMENTS)
            {
                return Err(overflow());
            }
            let span = (size - 1).checked_mul(dilation).filter(|&s| s < layout::MAX_ELEMENTS).ok_or_else(overflow)? + 1;
            let (low, high) = given.unwrap_or_else(|| {
                let missing = (extent.div_ceil(stride).saturating_sub(1) * stride + span).saturating_sub(extent);
                (missing / 2, missing - missing / 2)
            });
            let length = low + extent + high;
            let count = match length.checked_sub(span) {
                _ if given.is_none() => extent.div_ceil(stride),
                Some(rest) if rest > 0 && planted::is("the-last-window-is-missing") => rest / stride,
                Some(rest) => rest / stride + 1,
                None if size == 1 => 0,
                None => {
                    return Err(Error::shape(format!(
                        "a window of {size} places (dilation {dilation}, {span} positions) is larger than axis {} of {dims:?} \
                         with padding [{low}, {high}]",
                        lead.len() + i
                    )));
                }
            };
            out.axes.push(WindowAxis { size, stride, dilation, low });
            out.counts.push(count);
            padded.push(length.max(out.axes[i].reach(count)));
            shown.push(count);
            if out.moves(i, extent) {
                shown.push(size);
            }
        }
        if shown.len() > layout::MAX_RANK {
            let (rank, most) = (shown.len(), layout::MAX_RANK);
            return Err(Error::shape(format!("windows over {dims:?} have {rank} axes with their places, more than {most}")));
        }
        // What a device without windows stores or views must be countable too.
        layout::count(&padded)?;
        layout::count(&shown)?;
        Ok(out)
    }

    /// Whether windows along an axis of this extent are more than the elements as they stand there.
    pub fn moves(&self, i: usize, extent: usize) -> bool {
        let WindowAxis { size, stride, low, .. } = self.axes[i];
        size > 1 || stride > 1 || low > 0 || self.counts[i] != extent
    }

    /// Refuses windows of which one lies in the padding alone; the spatial axes are the last ones of `dims`.
    ///
    /// # Errors
    /// `Code::Shape` for such windows.
    pub fn expect_data(&self, dims: &[usize]) -> Result<()> {
        let lead = dims.len() - self.axes.len();
        for ((i, axis), &count) in self.axes.iter().enumerate().zip(&self.counts) {
            let extent = dims[lead + i];
            let outside = axis.low >= axis.span() || (count.max(1) - 1) * axis.stride >= axis.low + extent;
            if count > 0 && (extent == 0 || outside) {
                return Err(Error::shape(format!(
                    "padding would leave windows along axis {} of {dims:?} without data",
                    lead + i
                )));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attrs::Value;
    use ferrotensor_core::error::Code;

    /// The attributes of a convolution: stride, padding, dilations, groups, how it is padded.
    fn conv() -> Result<Attrs> {
        let op = crate::find("nn.conv").ok_or_else(|| Error::internal("no convolution"))?;
        Ok(Attrs::defaults(op).unwrap_or_default())
    }

    /// Windows of `size` along one axis of `extent`, and the padding before the first.
    fn one(extent: usize, size: usize, padding: Value, stride: i64, dilation: i64) -> Result<(usize, usize)> {
        let attrs = conv()?;
        let attrs = attrs.with("padding", padding).with("stride", Value::Ints(vec![stride]));
        let windows = Windows::new(&attrs.with("dilation", Value::Ints(vec![dilation])), &[2, 3, extent], &[size], &[1])?;
        Ok((windows.counts[0], windows.axes[0].low))
    }

    #[test]
    fn windows_are_counted_as_documented() {
        let sides = |low, high| Value::Pairs(vec![low], vec![high]);
        assert_eq!(one(7, 3, sides(0, 0), 2, 1), Ok((3, 0)));
        assert_eq!(one(7, 3, sides(1, 0), 2, 2), Ok((2, 1)));
        assert_eq!(one(0, 2, sides(1, 1), 1, 1), Ok((1, 1)));
        for (extent, size, stride, dilation) in [(7, 3, 2, 1), (7, 4, 1, 3), (5, 1, 3, 1), (1, 5, 4, 2), (0, 3, 2, 1)] {
            let (count, low) = one(extent, size, Value::None, stride as i64, dilation as i64).unwrap();
            assert_eq!(count, extent.div_ceil(stride));
            assert!(extent == 0 || low <= (size - 1) * dilation / 2);
        }
        let huge = 1 << 53;
        for (size, padding, dilation) in [(5, 0, 1), (2, 0, 7), (3, 0, huge - 1), (2, huge, 1), (1 << 40, 0, 1 << 40)] {
            assert_eq!(one(4, size, sides(padding, 0), 1, dilation).unwrap_err().code, Code::Shape);
        }
    }
}
