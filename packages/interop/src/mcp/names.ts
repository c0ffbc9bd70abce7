/** Names under which models know the tools of MCP servers. */

/** All that every provider admits in the name of a tool; MCP admits more. */
const odd = /[^a-zA-Z0-9_-]/g

const longest = 64

/** For `_` and a number at the end of a name. */
const room = 7

/** The built-in tools. */
const taken: ReadonlySet<string> = new Set(["escalate", "throwException", "complete"])

/** A name that providers admit, never one of the built-in tools. */
const admitted = (name: string): string => {
  const cut = name.replaceAll(odd, "_").slice(0, longest)
  return cut === "" || taken.has(cut) ? `${cut}_` : cut
}

/** `github_search` for `search` of the server `github`. */
const prefixed = (server: string, name: string): string => admitted(`${server}_${name}`)

/** When a tool is called by the name of its server too: where two servers have one of that name, always, or never. */
export type Prefix = "when-needed" | "always" | "never"

export interface Named<A> {
  readonly server: string
  /** By the server's own name of it. */
  readonly name: string
  readonly tool: A
}

/** Each with the name under which it is known; those that still collide are numbered. In the order in which they came. */
export const resolve = <A>(all: ReadonlyArray<Named<A>>, prefix: Prefix): ReadonlyArray<Named<A>> => {
  const counts = new Map<string, number>()
  for (const { name } of all) counts.set(admitted(name), (counts.get(admitted(name)) ?? 0) + 1)
  const used = new Set<string>()
  const numbers = new Map<string, number>()
  /** With the next number that is free: none is tried twice. */
  const numbered = (wanted: string): string => {
    const stem = wanted.slice(0, longest - room)
    let number = numbers.get(stem) ?? 2
    while (used.has(`${stem}_${number}`)) number++
    numbers.set(stem, number + 1)
    return `${stem}_${number}`
  }
  return all.map(({ name: own, server, tool }) => {
    const plain = admitted(own)
    const needs = prefix === "always" || (prefix === "when-needed" && (counts.get(plain) ?? 0) > 1)
    const wanted = needs ? prefixed(server, own) : plain
    const name = used.has(wanted) ? numbered(wanted) : wanted
    used.add(name)
    return { server, name, tool }
  })
}
