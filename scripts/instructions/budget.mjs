// What a count of instructions is held to, and what is said when it is over.

/** Parts by which a count may pass its budget: hash seeds and another patch of the compiler move counts by less. */
export const SLACK = 0.03

export const RENEW = 'node scripts/instructions.mjs --renew'

/**
 * Compares counts per program with the budget; returns a line for each that is over, or that only one side has.
 * @param {Record<string, number>} counts
 * @param {{ rustc: string, counts: Record<string, number> }} budget
 * @param {string} rustc the compiler that built what was counted
 */
export function judge(counts, budget, rustc) {
  const names = [...new Set([...Object.keys(counts), ...Object.keys(budget.counts)])]
  const problems = names.flatMap((name) => {
    const [count, allowed] = [counts[name], budget.counts[name]]
    if (count === undefined) return [`${name}: has a budget and was not counted`]
    if (allowed === undefined) return [`${name}: was counted and has no budget`]
    if (count <= allowed * (1 + SLACK)) return []
    return [`${name}: ${count} instructions for each program, ${((count / allowed - 1) * 100).toFixed(1)} % over the budget of ${allowed}`]
  })
  if (problems.length > 0) {
    if (rustc !== budget.rustc) problems.push(`the budget is of ${budget.rustc}, this was built by ${rustc}`)
    problems.push(`if that is worth it, \`${RENEW}\` writes the counts into benches/instructions.json, to be committed with the reason`)
  }
  return problems
}

/** Counts far below their budget, which would hide the next growth. */
export function idle(counts, budget) {
  return Object.keys(counts).filter((name) => counts[name] < budget.counts[name] * (1 - 3 * SLACK))
}
