//! How much memory this process may use.

/// Half of what the machine (0: unknown, 8 GiB are assumed) or the control group this process lives in offers.
pub fn default_budget(machine: usize) -> usize {
    let machine = if machine == 0 { 8 << 30 } else { machine };
    cgroup_limit().map_or(machine, |limit| limit.min(machine)) / 2
}

/// The memory limit of control groups, version 2 or 1; none if unlimited.
fn cgroup_limit() -> Option<usize> {
    ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .find_map(|path| std::fs::read_to_string(path).ok()?.trim().parse().ok())
}
