//! How the windows of a convolution or pooling lie over the last axes of data.

use crate::attrs::Attrs;
use ferrotensor_core::kernel::WindowAxis;
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

impl Windows {
    /// Windows of these sizes over data `dims`, whose spatial axes are the last `sizes.len()`. `stride` is what a stride
    /// left out means.
    ///
    /// # Errors
    /// `Code::Shape` for windows larger than the padded data, and for what is beyond the limits of a tensor.
    pub fn new(attrs: &Attrs, dims: &[usize], sizes: &[usize], stride: &[usize]) -> Result<Windows> {
        let n = sizes.len();
        let (lead, spatial) = dims.split_at(dims.len() - n);
        let strides = attrs.ints("stride").map_or(Ok(stride.to_vec()), |list| per_axis("stride", list, n))?;
        let dilations = per_axis("dilation", attrs.ints("dilation").unwrap_or(&[1]), n)?;
        let (low, high) = attrs.pairs("padding");
        let same = low.is_empty();
        let zero: &[i64] = &[0];
        let low = per_axis("padding", if same { zero } else { low }, n)?;
        let high = per_axis("padding", if same { zero } else { high }, n)?;
        let mut out = Windows { axes: Vec::new(), counts: Dims::new() };
        let (mut padded, mut shown): (Dims, Dims) = (lead.into(), lead.into());
        for i in 0..n {
            let (size, stride, dilation, extent) = (sizes[i], strides[i], dilations[i], spatial[i]);
            let overflow = || Error::shape(format!("windows over {dims:?} reach beyond 2^53 positions"));
            if [size, stride, dilation, low[i], high[i]].iter().any(|&v| v > layout::MAX_ELEMENTS) {
                return Err(overflow());
            }
            let span = (size - 1).checked_mul(dilation).filter(|&s| s < layout::MAX_ELEMENTS).ok_or_else(overflow)? + 1;
            let (low, high) = if same {
                let missing = (extent.div_ceil(stride).saturating_sub(1) * stride + span).saturating_sub(extent);
                (missing / 2, missing - missing / 2)
            } else {
                (low[i], high[i])
            };
            let length = low + extent + high;
            let count = match length.checked_sub(span) {
                _ if same => extent.div_ceil(stride),
                Some(rest) => rest / stride + 1,
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
            // Where every window is one element, there is nothing to see but the data.
            if out.axes[i].size > 1 || count != extent {
                shown.push(size);
            }
        }
        // What a device without windows stores or views must be countable too.
        layout::count(&padded)?;
        layout::count(&shown)?;
        Ok(out)
    }

    /// Whether every window has data in it: none lies in the padding alone.
    ///
    /// # Errors
    /// `Code::Shape` where one may.
    pub fn expect_data(&self, attrs: &Attrs) -> Result<()> {
        let (low, high) = attrs.pairs("padding");
        for (i, axis) in self.axes.iter().enumerate() {
            let side = |list: &[i64]| list.get(if list.len() == 1 { 0 } else { i }).copied().unwrap_or(0);
            if side(low).max(side(high)) >= axis.span() as i64 {
                let (size, padding) = (axis.size, [side(low), side(high)]);
                return Err(Error::shape(format!("padding {padding:?} would leave windows of {size} places without data")));
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
