//! How much memory this process may use.

/// Half of what the machine, or the control group this process lives in, offers.
pub fn default_budget() -> usize {
    let machine = total_memory().unwrap_or(8 << 30);
    cgroup_limit().map_or(machine, |limit| limit.min(machine)) / 2
}

#[cfg(target_os = "linux")]
fn total_memory() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|l| l.starts_with("MemTotal:"))?;
    let kib: usize = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(not(target_os = "linux"))]
fn total_memory() -> Option<usize> {
    None
}

/// The memory limit of control groups, version 2 or 1; none if unlimited.
fn cgroup_limit() -> Option<usize> {
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok())
}
