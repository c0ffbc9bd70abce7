/** Names under which models know the tools of MCP servers. */
import * as Tool from "@kintsugi/core/Tool"

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
  const plain = all.map(({ name }) => Tool.namesFor([name]).join())
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1)
  const needs = (name: string) => prefix === "always" || (prefix === "when-needed" && (counts.get(name) ?? 0) > 1)
  // `github_search` for `search` of the server `github`
  const wanted = all.map(({ name, server }, index) => (needs(plain[index] ?? "") ? `${server}_${name}` : name))
  const names = Tool.namesFor(wanted)
  return all.map(({ server, tool }, index) => ({ server, name: names[index] ?? "", tool }))
}
