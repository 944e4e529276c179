//! Tiles that suit a device and the sizes of a product, and what products cost.

use crate::emit::contract::{Plan, Tile};
use ferrotensor_core::DType;

/// How long a product takes beside one of float32.
pub fn weight(dtype: DType, software: bool) -> usize {
    let (on_cpu, on_gpu) = match dtype {
        DType::F32 | DType::I32 | DType::U32 | DType::Bool => (1, 1),
        // GPUs for games have a 32nd or a 64th of the units.
        DType::F64 => (2, 32),
        DType::C64 => (4, 4),
        DType::C128 => (8, 128),
        // Narrow ones are widened first, and int64 is made of pieces on GPUs.
        _ => (3, 3),
    };
    if software { on_cpu } else { on_gpu }
}

/// The sizes of a product: matrices of a batch, rows, columns, inner places.
pub type Sizes = [usize; 4];

/// Tiles that suit a device and the sizes.
pub fn tile(plan: &Plan, [batch, m, n, k]: Sizes, software: bool) -> Tile {
    let tiles = |rows: usize, columns: usize| batch.saturating_mul(m.div_ceil(rows)).saturating_mul(n.div_ceil(columns));
    let side = |count: usize, wide: bool| match count {
        1 => 1,
        // Twice as fast as 4 on Mesa's software device: its loads are single elements, 16 for 64 products instead of 8 for 16.
        8.. if wide => 8,
        _ => 4,
    };
    let wide = software && tiles(8, 8) >= 64;
    let (rows, columns) = (side(m, wide), side(n, wide));
    let alone = tiles(rows, columns);
    // A team shares blocks of inner places.
    let blocks = k.div_ceil(plan.block()).max(1).next_power_of_two();
    let registers =
        |team: usize| Tile::Registers { rows: rows as u32, columns: columns as u32, team: team.min(blocks) as u32 };
    if software {
        // Fewer threads than two cores have lanes are left alone with many inner places.
        return registers(if alone < 64 && k >= 1024 { 32 } else { 1 });
    }
    // 64 tiles keep half of a large device busy; 16 of them are better taken apart where the inner places are many.
    let few = tiles(64, 64) < 16 && k >= 1024;
    if m.min(n) <= 16 || few {
        return registers(match alone {
            0..64 if k >= 1024 => 256,
            0..65_536 if k >= 64 => 32,
            _ => 1,
        });
    }
    // Shared memory for both is at most 9 KiB, of the 16 that every device has.
    let short = plan.bytes() <= 4;
    if short && m.min(n) >= 128 && tiles(128, 128) >= 128 {
        return Tile::Shared { rows: 8, columns: 8, depth: 8 };
    }
    Tile::Shared { rows: 4, columns: 4, depth: 64 / plan.bytes().max(4) }
}
