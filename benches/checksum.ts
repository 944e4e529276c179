// One number for results of any kind, by which contenders are held to the same answers.

/**
 * Elements are weighed by place and by sign, so that it sees exchanges and lost signs, and has nothing that cancels: relative differences
 * of two such numbers mean something. `positive` is 1 where signs are free, as those of singular vectors are. peers/peer.py and
 * peers/rust/src/protocol.rs do the same.
 */
export function checksum(parts: readonly ArrayLike<number | bigint | boolean>[], positive = 3): number {
  let total = 0
  for (const data of parts) {
    for (let i = 0; i < data.length; i++) {
      const value = Number(data[i])
      total += (value < 0 ? -value : positive * value) * ((i % 97) + 1)
    }
  }
  return total
}
