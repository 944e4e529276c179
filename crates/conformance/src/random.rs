//! The random rows: Philox against its published answers, element i a function of (key, i) alone, moments, permutations.

use crate::Check;
use crate::case::{Operand, Placement};
use crate::guards::{self, KernelCase};
use crate::machine::{self, Device, Machine, read};
use ferrotensor_core::DType;
use ferrotensor_core::kernel::{Kernel, Map};
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::scalar::Builder;
use ferrotensor_cpu::{CpuBackend, Tier};
use ferrotensor_engine::program::head;

/// The tests.
pub fn trials() -> Vec<(String, Check)> {
    let mut out: Vec<(String, Check)> = Vec::new();
    for tier in machine::tiers().0 {
        let mut add = |name: &str, f: fn(Tier) -> Result<(), String>| {
            out.push((format!("random/{name}/{}", tier.name()), Box::new(move || f(tier))));
        };
        add("philox known answers", known_answers);
        add("element i depends on key and i only", prefixes);
        add("moments", moments);
        add("integers of a range", integers);
        add("permutations", permutations);
        add("keys", keys);
    }
    out
}

/// Counter (4 words), key (2 words), block: Random123's kat_vectors, philox4x32-10.
const KNOWN: [[u32; 10]; 3] = [
    [0, 0, 0, 0, 0, 0, 0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8],
    [!0, !0, !0, !0, !0, !0, 0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd],
    [
        0x243f_6a88,
        0x85a3_08d3,
        0x1319_8a2e,
        0x0370_7344,
        0xa409_3822,
        0x299f_31d0,
        0xd16c_fe09,
        0x94fd_cceb,
        0x5001_e420,
        0x2412_6ea1,
    ],
];

fn known_answers(tier: Tier) -> Result<(), String> {
    let mut b = Builder::new();
    let words: [u32; 6] = std::array::from_fn(|_| b.input(DType::U32));
    let block = ferrotensor_ops::philox::block(&mut b, [words[0], words[1], words[2], words[3]], [words[4], words[5]]);
    let kernel = Kernel::Map(Map { program: b.finish(&block) });
    let column = |w: usize| Array::from_slice(&[3], &KNOWN.map(|row| row[w]));
    let arrays = (0..6).map(column).collect::<Result<Vec<_>, _>>().map_err(|e| e.message)?;
    let reference = reference::run(&kernel, &arrays, &[&[3][..]; 4], &[]).map_err(|e| e.message)?;
    let inputs = arrays.iter().map(|a| Operand::tensor(a.clone(), Placement::Contiguous, &[3]));
    let inputs = inputs.collect::<Result<Vec<_>, _>>().map_err(|e| e.message)?;
    let case = KernelCase { kernel, inputs, outputs: vec![vec![3]; 4], output: Placement::Contiguous, params: vec![] };
    let cpu = guards::run(&CpuBackend::new(tier)?, &case)?;
    for w in 0..4 {
        let wanted = column(6 + w).map_err(|e| e.message)?;
        if reference[w].bytes() != wanted.bytes() || cpu[w] != wanted.bytes() {
            return Err(format!(
                "word {w}: reference {:x?}, cpu {:x?}, published {:x?}",
                reference[w].bytes(),
                cpu[w],
                wanted.bytes()
            ));
        }
    }
    Ok(())
}

const KEY: [u32; 2] = [0x1234_5678, 0x9abc_def0];

/// The dense bytes of a random row: attribute words and run-time numbers as TypeScript sends them.
fn draw(m: &mut Machine, name: &str, key: [u32; 2], words: &[f64], numbers: &[f64]) -> Result<Vec<u8>, String> {
    let mut inner = || {
        let (id, key) = m.upload(&Array::from_slice(&[2], &key)?)?;
        let op = ferrotensor_ops::find(name).ok_or_else(|| ferrotensor_core::Error::internal("no such row"))?;
        let attr = m.session().intern_attrs(op.id(), words)?;
        let head = head(op.id(), 0, numbers.len());
        let params: Vec<u64> = numbers.iter().map(|n| n.to_bits()).collect();
        read(&m.run(&[0, id, head, attr, 0], &params, &[key], &[1])?[0])
    };
    inner().map_err(|e| format!("{name}: {e}"))
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f64).collect()
}

fn ints(bytes: &[u8]) -> Vec<i32> {
    bytes.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn prefixes(tier: Tier) -> Result<(), String> {
    machine::with(Device::Cpu(tier), true, |m| {
        let nan = f64::NAN;
        let float64 = DType::F64 as u8 as f64;
        for (name, dtype, numbers) in [
            ("random.uniform", nan, &[0.0, 1.0][..]),
            ("random.uniform", float64, &[-1.0, 2.0]),
            ("random.normal", nan, &[0.0, 1.0]),
            ("random.normal", float64, &[0.0, 1.0]),
            ("random.bits", nan, &[]),
            ("random.bits", DType::U64 as u8 as f64, &[]),
            ("random.randint", nan, &[3_294_967_296.0, -1.0, 2e9, 0.0]),
            ("random.randint", DType::I64 as u8 as f64, &[0.0, 0.0, 4_294_967_295.0, 2_097_151.0]),
        ] {
            let long = draw(m, name, KEY, &[1.0, 3001.0, dtype], numbers)?;
            for shape in [&[1.0, 1.0][..], &[1.0, 33.0], &[2.0, 7.0, 11.0], &[3.0, 2.0, 2.0, 2.0]] {
                let words: Vec<f64> = shape.iter().copied().chain([dtype]).collect();
                let short = draw(m, name, KEY, &words, numbers)?;
                if short[..] != long[..short.len()] {
                    return Err(format!("{name} of shape {shape:?} does not begin like 3001 draws"));
                }
            }
            let other = draw(m, name, [KEY[0], KEY[1] ^ 1], &[1.0, 3001.0, dtype], numbers)?;
            let same = long.chunks_exact(4).zip(other.chunks_exact(4)).filter(|(a, b)| a == b).count();
            if same > 30 {
                return Err(format!("{name}: {same} words are equal under another key"));
            }
        }
        Ok(())
    })
}

fn moments(tier: Tier) -> Result<(), String> {
    machine::with(Device::Cpu(tier), true, |m| {
        let n = 40_000usize;
        let words = [1.0, n as f64, f64::NAN];
        let check = |name: &str, got: f64, wanted: f64, sigma: f64| {
            // Five standard errors: a false alarm in 1.7 million keys, and the key is fixed.
            let error = 5.0 * sigma / (n as f64).sqrt();
            if (got - wanted).abs() < error {
                Ok(())
            } else {
                Err(format!("{name} is {got}, should be {wanted} within {error}"))
            }
        };
        let mean = |x: &[f64], f: fn(f64) -> f64| x.iter().map(|&v| f(v)).sum::<f64>() / x.len() as f64;
        let u = floats(&draw(m, "random.uniform", KEY, &words, &[0.0, 1.0])?);
        if u.iter().any(|v| !(0.0..1.0).contains(v)) {
            return Err("a uniform number is outside [0, 1)".into());
        }
        check("uniform mean", mean(&u, |v| v), 0.5, (1.0f64 / 12.0).sqrt())?;
        check("uniform mean square", mean(&u, |v| v * v), 1.0 / 3.0, (4.0f64 / 45.0).sqrt())?;
        let lag: f64 = u.windows(2).map(|w| (w[0] - 0.5) * (w[1] - 0.5)).sum::<f64>() / (n - 1) as f64;
        check("uniform correlation of neighbours", lag, 0.0, 1.0 / 12.0)?;
        let z = floats(&draw(m, "random.normal", KEY, &words, &[0.0, 1.0])?);
        check("normal mean", mean(&z, |v| v), 0.0, 1.0)?;
        check("normal variance", mean(&z, |v| v * v), 1.0, 2f64.sqrt())?;
        check("normal skewness", mean(&z, |v| v.powi(3)), 0.0, 15f64.sqrt())?;
        check("normal fourth moment", mean(&z, |v| v.powi(4)), 3.0, 96f64.sqrt())?;
        check("normal beyond 2", mean(&z, |v| (v.abs() > 2.0) as u8 as f64), 0.0455, 0.208)?;
        let lag: f64 = z.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / (n - 1) as f64;
        check("normal correlation of neighbours", lag, 0.0, 1.0)?;
        let scaled = floats(&draw(m, "random.normal", KEY, &words, &[3.0, 0.5])?);
        check("scaled normal mean", mean(&scaled, |v| v), 3.0, 0.5)
    })
}

/// `low + floor(U span / 2^128)` by 128-bit arithmetic, U being the four words of block i, which `bits` gives too.
fn integers(tier: Tier) -> Result<(), String> {
    machine::with(Device::Cpu(tier), true, |m| {
        let n = 3000usize;
        let words = ints(&draw(m, "random.bits", KEY, &[1.0, 4.0 * n as f64, f64::NAN], &[])?);
        let most = (1i128 << 53) - 1;
        let (least, greatest) = (i128::from(i64::MIN), i128::from(i64::MAX));
        let ranges =
            [(0, 1), (0, 10), (-7, 8), (-5, 4_294_967_291), (0, 4_294_967_297), (-most, most), (greatest - 1, greatest + 1)];
        let whole = [(least, greatest + 1), (least, least + 3), (0, 1 << 64), ((1 << 64) - 5, 1 << 64)];
        for (low, high) in ranges.into_iter().chain(whole) {
            let dtype = if high > greatest + 1 { DType::U64 } else { DType::I64 } as u8 as f64;
            let got = draw(m, "random.randint", KEY, &[1.0, n as f64, dtype], &words_of(low, high))?;
            let span = (high - low) as u128;
            for (i, (bytes, block)) in got.chunks_exact(8).zip(words.chunks_exact(4)).enumerate() {
                let word = |w: usize| block[w] as u32 as u128;
                let (above, below) = (word(3) << 32 | word(2), word(1) << 32 | word(0));
                let wanted = low + ((above * span + ((below * span) >> 64)) >> 64) as i128;
                let value = i64::from_le_bytes(std::array::from_fn(|b| bytes[b]));
                if value != wanted as i64 {
                    return Err(format!("element {i} of [{low}, {high}) is {value}, should be {wanted}"));
                }
            }
        }
        let dice = ints(&draw(m, "random.randint", KEY, &[1.0, 60_000.0, f64::NAN], &words_of(1, 7))?);
        for face in 1..=6 {
            // Five standard deviations of a binomial with n = 60000, p = 1/6.
            let count = dice.iter().filter(|&&v| v == face).count() as f64;
            if (count - 10_000.0).abs() > 5.0 * (60_000.0f64 * 5.0 / 36.0).sqrt() {
                return Err(format!("{count} of 60000 throws of a die show {face}"));
            }
        }
        Ok(())
    })
}

/// The parameters of a range: its first number and its length, each in two words, the lower one first.
fn words_of(low: i128, high: i128) -> [f64; 4] {
    let word = |n: i128| (n & 0xffff_ffff) as f64;
    [word(low), (low >> 32) as f64, word(high - low), ((high - low) >> 32) as f64]
}

fn permutations(tier: Tier) -> Result<(), String> {
    machine::with(Device::Cpu(tier), true, |m| {
        for n in [0, 1, 2, 33, 5000] {
            let p = ints(&draw(m, "random.permutation", KEY, &[n as f64], &[])?);
            let mut sorted = p.clone();
            sorted.sort_unstable();
            if sorted != (0..n).collect::<Vec<i32>>() {
                return Err(format!("permutation of {n} holds other numbers"));
            }
            // About one point of a random permutation stays where it is.
            let fixed = p.iter().enumerate().filter(|(i, v)| *i as i32 == **v).count();
            if n == 5000 && fixed > 12 {
                return Err(format!("{fixed} of {n} elements did not move"));
            }
        }
        Ok(())
    })
}

fn keys(tier: Tier) -> Result<(), String> {
    machine::with(Device::Cpu(tier), true, |m| {
        let mut seen = std::collections::BTreeSet::from([KEY.map(u32::to_le_bytes).concat()]);
        let split = draw(m, "random.split", KEY, &[100.0], &[])?;
        let folded = (0..100).map(|i| draw(m, "random.fold", KEY, &[], &[i as f64])).collect::<Result<Vec<_>, _>>()?;
        let draws = draw(m, "random.bits", KEY, &[1.0, 200.0, f64::NAN], &[])?;
        for key in split.chunks_exact(8).chain(folded.iter().map(Vec::as_slice)).chain(draws.chunks_exact(8)) {
            if !seen.insert(key.to_vec()) {
                return Err(format!("key {key:02x?} appears twice among splits, folds and draws of one key"));
            }
        }
        let again = draw(m, "random.split", KEY, &[3.0], &[])?;
        if again[..] != split[..24] { Err("a key's n-th split depends on how many are asked for".into()) } else { Ok(()) }
    })
}
