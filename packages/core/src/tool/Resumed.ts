/** What a resumed run knows of the calls that were open when it was suspended. */
import type * as Approval from "../data/Approval.ts"
import type { Open, Standing } from "../event/Snapshot.ts"
import { always } from "./approving.ts"
import type { ApprovalGate } from "./ToolDefinition.ts"

/** Keys are the idempotency keys of calls. */
export interface Resumed {
  /** The request for approval of a call, and the gate for a tool that no longer needs approval. */
  readonly asked: (key: string) => { readonly request: Approval.Request; readonly gate: ApprovalGate } | undefined
  /** The decision about the request with this digest. */
  readonly decided: (digest: string) => Approval.Decision | undefined
  /** The checkpoint of a call. */
  readonly stood: (key: string) => Standing | undefined
}

/** Reads a snapshot. `resume` brings it along, so a bundle without `resume` does not contain it. */
export type Recall = (open: Open, decisions: ReadonlyArray<Approval.Decided>) => Resumed

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
