// How far to go along a direction: the line search of Nocedal and Wright ("Numerical optimization", 2006, algorithms 3.5 and 3.6) for the strong
// Wolfe conditions, with cubic interpolation, step by step as PyTorch's, whose trajectories it has.

/** A place along the direction: how far, the loss there, its slope along the direction, and the gradient. */
export interface Place<G> {
  readonly t: number
  readonly loss: number
  readonly slope: number
  readonly gradient: G
}

/** How much the loss must fall, and the slope flatten. */
const [FALL, FLATTEN] = [1e-4, 0.9]

/** Where the cubic through two places, with their slopes, is least, between two bounds. */
function leastOfCubic(a: Place<unknown>, b: Place<unknown>, [low, high]: readonly [number, number]): number {
  const d1 = a.slope + b.slope - (3 * (a.loss - b.loss)) / (a.t - b.t)
  const square = d1 * d1 - a.slope * b.slope
  if (!(square >= 0)) return (low + high) / 2
  const d2 = Math.sqrt(square)
  const least = a.t <= b.t ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2)) : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
  return Math.min(Math.max(least, low), high)
}

/**
 * A place where the loss is lower and the slope flatter, from a first length `t`; `size` is the direction's largest element, and steps of less
 * than `tolerance` end the search, as do `most` places after the first one. Also how many places were looked at.
 */
export function strongWolfe<G>(start: Place<G>, t: number, size: number, tolerance: number, most: number, at: (t: number) => Place<G>): [place: Place<G>, evaluations: number] {
  const tooHigh = (place: Place<G>): boolean => place.loss > start.loss + FALL * place.t * start.slope
  const flat = (place: Place<G>): boolean => Math.abs(place.slope) <= -FLATTEN * start.slope
  let [before, now] = [start, at(t)]
  let evaluations = 1
  let rounds = 0
  let bracket: [Place<G>, Place<G>] | undefined
  for (; rounds < most; rounds++) {
    if (tooHigh(now) || (rounds > 1 && now.loss >= before.loss)) {
      bracket = [before, now]
      break
    }
    if (flat(now)) return [now, evaluations]
    if (now.slope >= 0) {
      bracket = [before, now]
      break
    }
    const next = leastOfCubic(before, now, [now.t + 0.01 * (now.t - before.t), now.t * 10])
    ;[before, now] = [now, at(next)]
    evaluations++
  }
  bracket ??= [start, now]
  let low: 0 | 1 = bracket[0].loss <= bracket[1].loss ? 0 : 1
  let stuck = false
  for (; rounds < most; rounds++) {
    const [a, b] = bracket
    if (Math.abs(b.t - a.t) * size < tolerance) break
    const [near, far] = [Math.min(a.t, b.t), Math.max(a.t, b.t)]
    let next = leastOfCubic(a, b, [near, far])
    // Next to an end twice in a row, or at it: a tenth of the way inside.
    const margin = 0.1 * (far - near)
    if (Math.min(far - next, next - near) < margin) {
      if (stuck || next >= far || next <= near) {
        next = Math.abs(next - far) < Math.abs(next - near) ? far - margin : near + margin
        stuck = false
      } else stuck = true
    } else stuck = false
    const found = at(next)
    evaluations++
    if (tooHigh(found) || found.loss >= bracket[low].loss) {
      bracket[1 - low] = found
      low = bracket[0].loss <= bracket[1].loss ? 0 : 1
    } else {
      const done = flat(found)
      if (!done && found.slope * ((bracket[1 - low] as Place<G>).t - bracket[low].t) >= 0) bracket[1 - low] = bracket[low]
      bracket[low] = found
      if (done) break
    }
  }
  return [bracket[low], evaluations]
}
