/** What a run that goes on where it was suspended knows of the calls that were open there. */
import type * as Approval from "../data/Approval.ts"
import type { Open, Standing } from "../event/Snapshot.ts"
import { always } from "./approving.ts"
import type { ApprovalGate } from "./ToolDefinition.ts"

/** Calls are known by their idempotency keys. */
export interface Resumed {
  /** What somebody was asked about a call, and the gate to pass where its tool needs no approval any more. */
  readonly asked: (key: string) => { readonly request: Approval.Request; readonly gate: ApprovalGate } | undefined
  /** What was decided meanwhile about the request with this digest. */
  readonly decided: (digest: string) => Approval.Decision | undefined
  /** How far a call had come. */
  readonly stood: (key: string) => Standing | undefined
}

/** Reads it off the snapshot. Going on brings this along: an agent that never does goes without. */
export type Recall = (open: Open, decisions: ReadonlyArray<Approval.Decided>) => Resumed

export const recall: Recall = ({ requests, standings }, decisions) => {
  const asked = new Map(requests.map((request) => [request.key, { request, gate: always }]))
  const stood = new Map(standings?.map((standing) => [standing.key, standing]))
  // a request that was changed, or is too old, comes with another digest
  const decided = new Map(decisions.map(({ decision, digest }) => [digest, decision]))
  return {
    asked: (key) => asked.get(key),
    decided: (digest) => decided.get(digest),
    stood: (key) => stood.get(key)
  }
}
