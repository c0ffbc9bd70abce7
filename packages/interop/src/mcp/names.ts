/** Names under which models know the tools of MCP servers. */
import * as Tool from "@kintsugi/core/Tool"

/** When tool names include the server's name: if two servers have a tool of that name, always, or never. */
export type Prefix = "when-needed" | "always" | "never"

export interface Named<A> {
  readonly server: string
  /** The server's own name of the tool. */
  readonly name: string
  readonly tool: A
}

/** Assigns the final names, in order. Names that still collide are numbered. */
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
