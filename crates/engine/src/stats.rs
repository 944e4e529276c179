//! Counters of what a session ran: nothing happens unseen.

/// Kernels that ran elsewhere than on the tensors' device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fallback {
    /// The device that lacked the kernel.
    pub device: String,
    /// The operation.
    pub op: String,
    /// Dtype of the first operand.
    pub dtype: String,
    /// Why, in words.
    pub reason: String,
    /// How often.
    pub count: u64,
    /// Bytes moved because of it.
    pub bytes: u64,
}

/// Kernels that a device lacks and that ran as others, on the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewriting {
    /// The device that lacked the kernel.
    pub device: String,
    /// The operation.
    pub op: String,
    /// The kind of the kernel.
    pub kernel: String,
    /// Dtype of the first operand.
    pub dtype: String,
    /// How often.
    pub count: u64,
}

/// Counters since the start or the last reset.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Programs run.
    pub programs: u64,
    /// Operations in them.
    pub ops: u64,
    /// Kernels started.
    pub launches: u64,
    /// Kernels that became part of another.
    pub fusions: u64,
    /// Programs scheduled for the first time.
    pub schedules: u64,
    /// Programs run on the calling thread.
    pub inline: u64,
    /// Bytes copied from JavaScript.
    pub uploaded: u64,
    /// Kernels that ran as others.
    pub rewritten: Vec<Rewriting>,
    /// Kernels that ran elsewhere.
    pub fallbacks: Vec<Fallback>,
}

impl Stats {
    /// Counts one rewriting.
    pub fn rewrite(&mut self, device: &str, op: &str, kernel: &str, dtype: &str) {
        let same = |r: &&mut Rewriting| r.device == device && r.op == op && r.kernel == kernel && r.dtype == dtype;
        match self.rewritten.iter_mut().find(same) {
            Some(entry) => entry.count += 1,
            None => self.rewritten.push(Rewriting {
                device: device.into(),
                op: op.into(),
                kernel: kernel.into(),
                dtype: dtype.into(),
                count: 1,
            }),
        }
    }

    /// Counts one fallback.
    pub fn fall_back(&mut self, device: &str, op: &str, dtype: &str, reason: &str, bytes: u64) {
        let same = |f: &&mut Fallback| f.device == device && f.op == op && f.dtype == dtype && f.reason == reason;
        if let Some(entry) = self.fallbacks.iter_mut().find(same) {
            entry.count += 1;
            entry.bytes += bytes;
            return;
        }
        self.fallbacks.push(Fallback {
            device: device.into(),
            op: op.into(),
            dtype: dtype.into(),
            reason: reason.into(),
            count: 1,
            bytes,
        });
    }
}
