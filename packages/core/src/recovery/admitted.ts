/** Which verdicts a layer has: what it does not have is refused by name. */
import type { Node, Rows } from "./Node.ts"

/** What a table is for. */
export type Of = keyof typeof admitted

const anywhere = ["retry", "respondWith", "rethrow"] as const

const admitted = {
  "a tool": [...anywhere, "fix", "ask", "tell", "escalate", "raise"],
  "a model call": [...anywhere, "compact"],
  "a send": anywhere,
  "a plain effect": anywhere
} as const satisfies Record<string, ReadonlyArray<Node["kind"]>>

/** The same rows; throws a `TypeError` where one has a verdict that its layer does not have. What a handler chooses is seen when it has. */
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
