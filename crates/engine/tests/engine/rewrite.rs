//! Windows: rewritten where a device lacks them, run as they are where it has them, with the same values and honest counters.

use crate::support::{self, Program, read, upload};
use ferrotensor_core::Result;
use ferrotensor_core::backend::{Backend, Batch, Buffer, Caps, DeviceClass, Launch, MemInfo, Outcome, Prepared, Ticket};
use ferrotensor_core::kernel::Kernel;
use ferrotensor_core::reference::{self, Array};
use ferrotensor_core::registry::Entry;
use ferrotensor_engine::{Config, Mode, Session, Strict};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// The CPU with other windows than its own: the reference's, or none.
struct Windower {
    caps: Caps,
    cpu: Arc<dyn Backend>,
    has_windows: bool,
}

struct Prepare(Kernel);

impl Prepared for Prepare {
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Windower {
    fn window(&self, kernel: &Kernel, launch: &Launch) -> Result<()> {
        let dtype = kernel.outputs()[0];
        let host = |buffer: &Buffer| {
            let mut bytes = vec![0; buffer.bytes()];
            self.cpu.download(buffer, 0, &mut bytes).map(|()| bytes)
        };
        let inputs = launch.inputs.iter().map(|o| Array::gather(&host(&o.buffer)?, &o.layout, dtype));
        let out = &launch.outputs[0];
        let result = reference::run(kernel, &inputs.collect::<Result<Vec<_>>>()?, &[out.layout.dims()], &[])?;
        let mut bytes = host(&out.buffer)?;
        let at = out.layout.offset() * dtype.bytes();
        bytes[at..at + result[0].bytes().len()].copy_from_slice(result[0].bytes());
        self.cpu.upload(&bytes, &out.buffer, 0)
    }
}

impl Backend for Windower {
    fn caps(&self) -> &Caps {
        &self.caps
    }
    fn alloc(&self, bytes: usize) -> Result<Buffer> {
        self.cpu.alloc(bytes)
    }
    fn upload(&self, from: &[u8], to: &Buffer, offset: usize) -> Result<()> {
        self.cpu.upload(from, to, offset)
    }
    fn download(&self, from: &Buffer, offset: usize, to: &mut [u8]) -> Result<()> {
        self.cpu.download(from, offset, to)
    }
    fn supports(&self, kernel: &Kernel) -> Result<(), String> {
        match kernel {
            Kernel::Window(_) if self.has_windows => Ok(()),
            Kernel::Window(_) => Err("no windows".into()),
            _ => self.cpu.supports(kernel),
        }
    }
    fn prepare(&self, kernel: &Kernel) -> Result<Arc<dyn Prepared>> {
        if let Kernel::Window(_) = kernel { Ok(Arc::new(Prepare(kernel.clone()))) } else { self.cpu.prepare(kernel) }
    }
    fn submit(&self, batch: Batch) -> Ticket {
        let mut outcome = Outcome::default();
        for (i, launch) in batch.launches.iter().cloned().enumerate() {
            let error = match launch.kernel.as_any().downcast_ref::<Prepare>() {
                Some(Prepare(kernel)) => self.window(kernel, &launch).err(),
                None => match self.cpu.submit(Batch::new(vec![launch])) {
                    Ticket::Done(done) => done.lost.or(done.failed.into_iter().next().map(|f| f.1)),
                    Ticket::Pending(_) => unreachable!("the CPU runs inside submit"),
                },
            };
            outcome.failed.extend(error.map(|e| (i, e)));
        }
        Ticket::Done(outcome)
    }
    fn poll(&self, _: u64) -> Option<Outcome> {
        None
    }
    fn wait(&self, _: u64, _: Instant) -> Option<Outcome> {
        None
    }
    fn mem(&self) -> MemInfo {
        self.cpu.mem()
    }
    fn trim(&self) {}
}

fn windower(has_windows: bool) -> Result<Vec<Arc<dyn Backend>>, String> {
    let cpu = ferrotensor_cpu::probe()?.remove(0);
    // Under this name, so that tensors go there.
    let caps = Caps {
        name: "cpu".into(),
        description: "with other windows".into(),
        max_buffer: usize::MAX,
        class: DeviceClass::Cpu,
        negative_strides: true,
    };
    Ok(vec![Arc::new(Windower { caps, cpu, has_windows })])
}

/// `relu(conv(x, w)) -> maxPool -> avgPool`, whole numbers, with everything a window may have.
fn network(s: &mut Session) -> Vec<Vec<f32>> {
    let numbers = |n: usize, m: usize| (0..n).map(|i| ((i * m) % 11) as f32 - 4.0).collect::<Vec<f32>>();
    let (x, w) =
        (upload(s, &numbers(2 * 4 * 7 * 6, 5), &[2, 4, 7, 6]), upload(s, &numbers(6 * 2 * 2 * 3, 7), &[6, 2, 2, 3]));
    let mut p = Program::default();
    let (x, w) = (p.input(s, &x), p.input(s, &w));
    // stride [1, 2], padding [[1, 0], [2, 1]], dilation [2, 1], two groups, nothing between elements, zeros around
    let words = [2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 2.0, 0.0, 1.0, 2.0, 2.0, 1.0, 2.0, -1.0, 0.0];
    let y = p.op(s, "nn.conv", &[x, w], &words);
    let y = p.op(s, "relu", &[y], &[]);
    // window 2, stride left out, padding 1, dilation left out
    let largest = p.op(s, "nn.maxPool", &[y], &[1.0, 2.0, -1.0, 1.0, 1.0, 1.0, 1.0, -1.0]);
    // window 3, stride 1, 'same'
    let mean = p.op(s, "nn.avgPool", &[largest], &[1.0, 3.0, 1.0, 1.0, -1.0, -1.0]);
    p.run(s, &[y, largest, mean], Mode::Sync).unwrap().iter().map(|t| read(t)).collect()
}

#[test]
fn what_is_rewritten_has_the_values_of_the_kernel_and_is_counted_each_time() {
    let session =
        |has_windows| support::session(vec![Entry { name: "cpu", devices: windower(has_windows), complete: true }]);
    let mut native = session(true);
    let wanted = network(&mut native);
    assert_eq!(wanted.iter().map(Vec::len).collect::<Vec<_>>(), [2 * 6 * 6 * 4, 2 * 6 * 4 * 3, 2 * 6 * 4 * 3]);
    assert!(native.stats().rewritten.is_empty() && native.stats().fallbacks.is_empty());
    for fusion in [true, false] {
        let mut s = session(false);
        // A rewriting stays on the device: the strictest setting has nothing against it.
        s.set_config(Config { fusion, strict: Strict::Throw });
        for runs in 1..3 {
            assert_eq!(network(&mut s), wanted, "fusion {fusion}");
            let stats = s.stats();
            assert!(stats.fallbacks.is_empty());
            let counted: Vec<_> = stats.rewritten.iter().map(|r| (r.op.as_str(), r.kernel.as_str(), r.count)).collect();
            assert_eq!(
                counted,
                [("nn.conv", "window", runs), ("nn.maxPool", "window", runs), ("nn.avgPool", "window", runs)]
            );
            assert!(stats.rewritten.iter().all(|r| r.device == "cpu" && r.dtype == "float32"));
        }
        s.reset_stats();
        assert!(s.stats().rewritten.is_empty());
    }
    let mut cpu = support::cpu();
    assert_eq!(network(&mut cpu), wanted, "the CPU's own windows");
    assert!(cpu.stats().rewritten.is_empty());
}

#[test]
fn single_places_need_no_copy_of_the_data() {
    let mut s = support::cpu();
    let x = upload(&mut s, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1, 2, 3]);
    let w = upload(&mut s, &[1.0, 10.0, 2.0, 20.0], &[2, 2, 1]);
    let mut p = Program::default();
    let (x, w) = (p.input(&mut s, &x), p.input(&mut s, &w));
    let y = p.op(&mut s, "nn.conv", &[x, w], &[-1.0, 1.0, 0.0, 1.0, 0.0, -1.0, 1.0, -1.0, 0.0]);
    assert_eq!(read(&p.run(&mut s, &[y], Mode::Sync).unwrap()[0]), [41.0, 52.0, 63.0, 82.0, 104.0, 126.0]);
    assert_eq!(s.stats().launches, 1);
}

#[test]
fn small_and_large_windows_have_the_bits_of_the_reduction_tree() {
    for (height, width) in [(1, 1), (3, 1), (3, 3), (3, 4), (2, 7), (7, 9), (23, 25)] {
        let mut s = support::cpu();
        let values: Vec<f32> =
            (0..2 * 3 * height * width).map(|i| ((i * 7919 % 1000) as f32 / 999.0).powi(5) - 0.3).collect();
        let x = upload(&mut s, &values, &[2, 3, height, width]);
        let mut p = Program::default();
        let x = p.input(&mut s, &x);
        let words = [2.0, height as f64, width as f64, -1.0, 1.0, 0.0, 1.0, 0.0, -1.0];
        let pooled = p.op(&mut s, "nn.avgPool", &[x], &words);
        let mean = p.op(&mut s, "mean", &[x], &[2.0, 2.0, 3.0, 0.0]);
        let out = p.run(&mut s, &[pooled, mean], Mode::Sync).unwrap();
        assert_eq!(read(&out[0]), read(&out[1]), "{height} x {width}");
    }
}
