// A reader of the XML that drawings are made of: elements, attributes, text and character references (W3C, XML 1.0, 5th edition). What is not
// well-formed is refused.

/** An element. */
export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: Element[]
  text: string
}

function decoded(text: string): string {
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(text)) throw new SyntaxError(`a character that XML does not have in ${JSON.stringify(text)}`)
  return text.replace(/&([^;]{0,10};?)/g, (whole, name: string) => {
    const code = /^#(\d+);$/.exec(name)?.[1]
    if (code === undefined) throw new SyntaxError(`no reference: ${whole}`)
    return String.fromCodePoint(Number(code))
  })
}

/** The root of a document. */
export function parsed(xml: string): Element {
  const root: Element = { name: '', attributes: {}, children: [], text: '' }
  const open = [root]
  // Lazily to the next tag; what stands between is text.
  const tag = /([^<]*)(?:<(\/?)([a-z]+)((?:\s+[A-Za-z:_-]+="[^"<]*")*)\s*(\/?)>|$)/gy
  for (let at = 0; at < xml.length; at = tag.lastIndex) {
    tag.lastIndex = at
    const found = tag.exec(xml)
    if (found === null) throw new SyntaxError(`no XML: ${xml.slice(at, at + 80)}`)
    const [, text = '', closes, name, attributes = '', empty] = found
    const inner = open.at(-1) as Element
    inner.text += decoded(text)
    if (name === undefined) break
    if (closes === '/') {
      if (inner.name !== name || open.length === 1) throw new SyntaxError(`</${name}> closes <${inner.name}>`)
      open.pop()
      continue
    }
    const pairs = [...attributes.matchAll(/([A-Za-z:_-]+)="([^"]*)"/g)].map(([, key, value]) => [key as string, decoded(value as string)] as const)
    if (new Set(pairs.map(([key]) => key)).size !== pairs.length) throw new SyntaxError(`an attribute twice: ${attributes}`)
    const element: Element = { name, attributes: Object.fromEntries(pairs), children: [], text: '' }
    inner.children.push(element)
    if (empty !== '/') open.push(element)
  }
  if (open.length > 1) throw new SyntaxError(`<${(open.at(-1) as Element).name}> is not closed`)
  if (root.children.length !== 1 || root.text.trim() !== '') throw new SyntaxError('not one root')
  return root.children[0] as Element
}

/** An element and all in it. */
export function* within(element: Element): Generator<Element> {
  yield element
  for (const child of element.children) yield* within(child)
}
