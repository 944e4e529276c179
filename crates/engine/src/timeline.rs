//! What a profile saw in the order of time: launches, programs, planning, waits and copies with their threads, and memory beside them.

use std::thread::{self, ThreadId};
use std::time::Duration;

/// Spans that a profile keeps, 17 MB of them: the first ones, as a loop repeats itself. The others are counted.
const MOST_SPANS: usize = 1 << 18;

/// What took the time of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum What {
    /// A launch of a kernel.
    Launch,
    /// Handing over a program, with its planning, and its launches where it runs at once; the amount is its operations.
    Program,
    /// The part of it that makes a schedule for a program met for the first time; the amount is its operations.
    Planning,
    /// A thread that waits for a value.
    Wait,
    /// A copy to the device; the amount is its bytes.
    Upload,
    /// A copy from the device; the amount is its bytes.
    Download,
    /// Nothing but a look at the device's memory, at one moment.
    Memory,
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// What it was.
    pub what: What,
    /// The thread, an index of [`Timeline::threads`].
    pub thread: u32,
    /// The number of the device: the tensors'.
    pub device: u16,
    /// Of a launch: the number of its kernel.
    pub kernel: u32,
    /// Since the profile was opened.
    pub start: Duration,
    /// Since the profile was opened.
    pub end: Duration,
    /// Bytes or operations.
    pub amount: u64,
    /// Bytes in tensors and running programs of the device, at its end.
    pub live: usize,
}

/// The spans of a profile, in the order of their ends.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// What is kept.
    pub spans: Vec<Span>,
    /// Names of threads; the first one opened the profile.
    pub threads: Vec<String>,
    /// Spans beyond those that are kept.
    pub left_out: u64,
    ids: Vec<ThreadId>,
}

impl Default for Timeline {
    /// An empty one of the calling thread.
    fn default() -> Timeline {
        let mut timeline = Timeline { spans: Vec::new(), threads: Vec::new(), left_out: 0, ids: Vec::new() };
        timeline.thread();
        timeline
    }
}

impl Timeline {
    /// The number of the calling thread.
    fn thread(&mut self) -> u32 {
        let current = thread::current();
        let at = self.ids.iter().position(|&id| id == current.id()).unwrap_or_else(|| {
            self.ids.push(current.id());
            self.threads.push(current.name().unwrap_or("thread").to_owned());
            self.ids.len() - 1
        });
        at as u32
    }

    /// Adds a span of the calling thread, whatever its `thread` says.
    pub fn push(&mut self, span: Span) {
        let thread = self.thread();
        if self.spans.len() < MOST_SPANS {
            self.spans.push(Span { thread, ..span });
        } else {
            self.left_out += 1;
        }
    }
}
