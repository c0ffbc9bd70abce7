/** What was decided while a run was suspended. */
import type * as Exit from "effect/Exit"
import type * as Approval from "../data/Approval.ts"
import { always } from "./approving.ts"
import type { Decisions } from "./ToolDefinition.ts"

interface Decided {
  readonly decisions?: ReadonlyArray<Approval.Decided> | undefined
  readonly settlements?:
    | ReadonlyArray<{ readonly token: string; readonly exit: Exit.Exit<unknown, unknown> }>
    | undefined
}

export const decisionsOf = ({ decisions = [], settlements = [] }: Decided): Decisions => {
  // a request that was changed, or is too old, comes with another digest
  const decided = new Map<string, Approval.Decision>()
  for (const { decision, digest } of decisions) {
    // of several about one request a refusal counts, else the first
    if (!decided.has(digest) || decision.type !== "approve") decided.set(digest, decision)
  }
  return {
    about: (digest) => decided.get(digest),
    gate: always,
    // the first one counts
    settlement: (token) => settlements.find((settlement) => settlement.token === token)?.exit
  }
}
