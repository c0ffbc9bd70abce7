/** The names of MCP tools for models. */
import * as Tool from "@kintsugi/core/Tool"

/** When a tool's name gets its server's name as a prefix. `when-needed`: if two servers have a tool of that name. */
export type Prefix = "when-needed" | "always" | "never"

export interface Named<A> {
  readonly server: string
  /** The name that the server has for the tool. */
  readonly name: string
  readonly tool: A
}

/** Assigns names to tools, in order. Names that still collide get numbers. */
export const resolve = <A>(all: ReadonlyArray<Named<A>>, prefix: Prefix): ReadonlyArray<Named<A>> => {
  const counts = new Map<string, number>()
  const plain = all.map(({ name }) => Tool.namesFor([name]).join())
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1)
  const needs = (name: string) => prefix === "always" || (prefix === "when-needed" && (counts.get(name) ?? 0) > 1)
  // with a prefix, the tool `search` of the server `github` is `github_search`
  // Mutant `"Stryker was here!"` survives: each tool has a plain name
  const wanted = all.map(({ name, server }, index) => (needs(plain[index] ?? "") ? `${server}_${name}` : name))
  const names = Tool.namesFor(wanted)
  // Mutant `"Stryker was here!"` survives: each wanted name gives a name
  return all.map(({ server, tool }, index) => ({ server, name: names[index] ?? "", tool }))
}
