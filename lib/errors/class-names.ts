// Names of classes, which are part of errors and of what layers say: bundlers that minify give classes other names.

/** Functions of these names too may be there, as aliases. */
const isClass = (value: unknown): value is object => typeof value === 'function' && /^class\b/.test(Function.prototype.toString.call(value))

/** Gives each class the name that it is exported by first: what comes later are aliases. */
export function nameClasses(exported: Readonly<Record<string, unknown>>): void {
  const named = new Set<unknown>()
  for (const [name, value] of Object.entries(exported)) {
    if (!/^[A-Z]/.test(name) || !isClass(value) || named.has(value)) continue
    named.add(value)
    if ((value as { name: string }).name !== name) Object.defineProperty(value, 'name', { value: name, configurable: true })
  }
}
