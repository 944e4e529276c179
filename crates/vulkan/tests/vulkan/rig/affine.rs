//! A small kernel: `y[i] = x[i] * scale + add`, on a grid of any size. Made once with
//! `glslangValidator -V --target-env vulkan1.2 -Os -g0` (glslang 12.0.0) from
//!
//! ```glsl
//! #version 450
//! #extension GL_EXT_scalar_block_layout : enable
//! layout(local_size_x = 64) in;
//! layout(std430, set = 0, binding = 0) uniform A { uint n; float scale; float add; };
//! layout(std430, set = 0, binding = 1) readonly buffer X { float x[]; };
//! layout(std430, set = 0, binding = 2) writeonly buffer Y { float y[]; };
//! void main() {
//!     for (uint i = gl_GlobalInvocationID.x; i < n; i += gl_NumWorkGroups.x * 64u) y[i] = x[i] * scale + add;
//! }
//! ```

use ferrotensor_core::Result;
use ferrotensor_gpu::{Compiled, Recorder};
use ferrotensor_vulkan::Pipelines;
use std::any::Any;

/// The pipelines of the device that records.
pub fn pipelines(recorder: &dyn Recorder) -> &Pipelines {
    (recorder.compiler() as &dyn Any).downcast_ref().expect("a Vulkan device")
}

/// The kernel there.
pub fn compiled(recorder: &dyn Recorder) -> Result<Compiled> {
    Ok(pipelines(recorder).get(WORDS, 2)?)
}

/// The module.
#[rustfmt::skip]
pub const WORDS: &[u32] = &[
    0x07230203, 0x00010500, 0x0008000b, 66, 0, 0x00020011, 1, 0x0006000b, 1, 0x4c534c47, 0x6474732e, 0x3035342e, 0,
    0x0003000e, 0, 1, 0x000a000f, 5, 4, 0x6e69616d, 0, 11, 25, 36, 41, 56, 0x00060010, 4, 17, 64, 1, 1, 0x00040047, 11,
    11, 28, 0x00050048, 23, 0, 35, 0, 0x00050048, 23, 1, 35, 4, 0x00050048, 23, 2, 35, 8, 0x00030047, 23, 2, 0x00040047,
    25, 34, 0, 0x00040047, 25, 33, 0, 0x00040047, 33, 6, 4, 0x00040048, 34, 0, 25, 0x00050048, 34, 0, 35, 0, 0x00030047,
    34, 2, 0x00040047, 36, 34, 0, 0x00040047, 36, 33, 2, 0x00040047, 38, 6, 4, 0x00040048, 39, 0, 24, 0x00050048, 39, 0,
    35, 0, 0x00030047, 39, 2, 0x00040047, 41, 34, 0, 0x00040047, 41, 33, 1, 0x00040047, 56, 11, 24, 0x00040047, 64, 11,
    25, 0x00020013, 2, 0x00030021, 3, 2, 0x00040015, 6, 32, 0, 0x00040017, 9, 6, 3, 0x00040020, 10, 1, 9, 0x0004003b, 10,
    11, 1, 0x0004002b, 6, 12, 0, 0x00040020, 13, 1, 6, 0x00030016, 22, 32, 0x0005001e, 23, 6, 22, 22, 0x00040020, 24, 2,
    23, 0x0004003b, 24, 25, 2, 0x00040015, 26, 32, 1, 0x0004002b, 26, 27, 0, 0x00040020, 28, 2, 6, 0x00020014, 31,
    0x0003001d, 33, 22, 0x0003001e, 34, 33, 0x00040020, 35, 12, 34, 0x0004003b, 35, 36, 12, 0x0003001d, 38, 22,
    0x0003001e, 39, 38, 0x00040020, 40, 12, 39, 0x0004003b, 40, 41, 12, 0x00040020, 43, 12, 22, 0x0004002b, 26, 46, 1,
    0x00040020, 47, 2, 22, 0x0004002b, 26, 51, 2, 0x0004003b, 10, 56, 1, 0x0004002b, 6, 59, 64, 0x0004002b, 6, 63, 1,
    0x0006002c, 9, 64, 59, 63, 63, 0x00050036, 2, 4, 0, 3, 0x000200f8, 5, 0x00050041, 13, 14, 11, 12, 0x0004003d, 6, 15,
    14, 0x000200f9, 16, 0x000200f8, 16, 0x000700f5, 6, 65, 15, 5, 62, 17, 0x00050041, 28, 29, 25, 27, 0x0004003d, 6, 30,
    29, 0x000500b0, 31, 32, 65, 30, 0x000400f6, 18, 17, 0, 0x000400fa, 32, 17, 18, 0x000200f8, 17, 0x00060041, 43, 44,
    41, 27, 65, 0x0004003d, 22, 45, 44, 0x00050041, 47, 48, 25, 46, 0x0004003d, 22, 49, 48, 0x00050041, 47, 52, 25, 51,
    0x0004003d, 22, 53, 52, 0x0008000c, 22, 54, 1, 50, 45, 49, 53, 0x00060041, 43, 55, 36, 27, 65, 0x0003003e, 55, 54,
    0x00050041, 13, 57, 56, 12, 0x0004003d, 6, 58, 57, 0x00050084, 6, 60, 58, 59, 0x00050080, 6, 62, 65, 60, 0x000200f9,
    16, 0x000200f8, 18, 0x000100fd, 0x00010038,
];
