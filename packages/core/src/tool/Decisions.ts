/** What was decided while a run was suspended. */
import type * as Approval from "../data/Approval.ts"
import { always } from "./approving.ts"
import type { Decisions } from "./ToolDefinition.ts"

export const decisionsOf = (decisions: ReadonlyArray<Approval.Decided>): Decisions => {
  // a request that was changed, or is too old, comes with another digest
  const decided = new Map<string, Approval.Decision>()
  for (const { decision, digest } of decisions) {
    // of several about one request a refusal counts, else the first
    if (!decided.has(digest) || decision.type !== "approve") decided.set(digest, decision)
  }
  return { about: (digest) => decided.get(digest), gate: always }
}
