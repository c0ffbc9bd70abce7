/** Reads what was open in a snapshot. */
import type * as Approval from "../data/Approval.ts"
import { always } from "./approving.ts"
import type { Recall } from "./ToolDefinition.ts"

export const recall: Recall = ({ requests, standings }, decisions) => {
  const asked = new Map(requests.map((request) => [request.key, { request, gate: always }]))
  const stood = new Map(standings?.map((standing) => [standing.key, standing]))
  // a request that was changed, or is too old, comes with another digest
  const decided = new Map<string, Approval.Decision>()
  for (const { decision, digest } of decisions) {
    // of several about one request a refusal counts, else the first
    if (!decided.has(digest) || decision.type !== "approve") decided.set(digest, decision)
  }
  return {
    asked: (key) => asked.get(key),
    decided: (digest) => decided.get(digest),
    stood: (key) => stood.get(key)
  }
}
