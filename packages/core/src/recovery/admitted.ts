/** The verdicts that each layer allows. A table with another verdict is refused with an error that names it. */
import type { Node, Rows } from "./Node.ts"

/** The layer that a table is for, as error texts name it. */
export type Of = keyof typeof admitted

const anywhere = ["retry", "respondWith", "rethrow"] as const

const admitted = {
  "a tool": [...anywhere, "fix", "ask", "tell", "escalate", "raise"],
  "a model call": [...anywhere, "compact"],
  "a send": anywhere,
  "a plain effect": anywhere
} as const satisfies Record<string, ReadonlyArray<Node["kind"]>>

/**
 * Returns the rows unchanged. Throws a `TypeError` if a row has a verdict that its layer does not allow. It cannot check verdicts that a
 * handler chooses without declaring them.
 */
export const checked = (rows: Rows, of: Of): Rows => {
  for (const [key, node] of rows) {
    const kind = foreignIn(node, admitted[of])
    if (kind === undefined) continue
    const allowed = admitted[of].join(", ")
    throw new TypeError(`Row '${key}': the verdict '${kind}' is not allowed in a table for ${of}; allowed: ${allowed}`)
  }
  return rows
}

const foreignIn = (node: Node, admitted: ReadonlyArray<Node["kind"]>): Node["kind"] | undefined => {
  if (node.kind === "ladder" || node.kind === "when") {
    const inside = node.kind === "ladder" ? node.rungs : (node.among ?? [])
    return inside.map((one) => foreignIn(one, admitted)).find((kind) => kind !== undefined)
  }
  return admitted.includes(node.kind) ? undefined : node.kind
}
