/** What a suspended run waits for, by its snapshot. */
import type * as Approval from "../data/Approval.ts"
import * as Message from "../data/Message.ts"
import * as Token from "../data/Token.ts"
import type { Snapshot } from "./Checkpoint.ts"
import type { Waiting } from "./waiting.ts"

type Deferred = Extract<Waiting, { readonly type: "deferred" }>
type Request = Extract<Waiting, { readonly request: unknown }>

/** A deferred call in a snapshot. */
type Tokened = Deferred & {
  /** `Agent.resume` takes the settlement of this token. The token alone settles the call: keep it from clients. */
  readonly token: string
}

/**
 * Everything that a suspended run and its sub-agents wait for. Deferred calls whose run has gone on come first, then the others in the
 * order of the calls. The list is empty if the run waits for a larger budget alone. A deferred call also has its `token`, which the schema
 * `Waiting` leaves out.
 */
export const waitingOf = (snapshot: Snapshot): ReadonlyArray<Exclude<Waiting, Deferred> | Tokened> => {
  const { agent, inbox = [], late = [], runId, unfinished } = snapshot
  const unread = late.flatMap(
    ({ callId, ended, expiresAt, handle, result, token, tool }): ReturnType<typeof waitingOf> =>
      result === undefined && ended === undefined
        ? [{ type: "deferred", runId, agent, callId, tool, handle, expiresAt, token }]
        : []
  )
  const made = unfinished === undefined ? [] : Message.callsOf(unfinished.reply)
  // Mutant `["Stryker was here"]` survives: what has no type does not wait
  const calls = (unfinished?.calls ?? []).flatMap((call, index): ReturnType<typeof waitingOf> => {
    switch (call.type) {
      case "agent":
        return waitingOf(call.snapshot)
      case "decision":
        return [waitingFor(call.request)]
      case "deferred": {
        const { ended, expiresAt, handle, token } = call
        if (ended !== undefined) return []
        // Mutants `made[index].id`, `"Stryker was here!"` survive: a snapshot has as many calls as its reply, each with a token of its own
        const [callId, tool] = [made[index]?.id ?? "", Token.partsOf(token)?.tool ?? ""]
        return [{ type: "deferred", runId, agent, callId, tool, handle, expiresAt, token }]
      }
      default:
        return []
    }
  })
  return [
    ...unread,
    ...calls,
    ...inbox.map(({ id, message }) => ({ type: "message" as const, runId, agent, id, message }))
  ]
}

/** Converts a request for approval to an entry of `Snapshot.waitingOf`. */
export const waitingFor = (request: Approval.ApprovalRequest): Request => {
  const { agent, callId, expiresAt, failed, runId, tool } = request
  return { type: failed === undefined ? "approval" : "ask", runId, agent, callId, tool, request, expiresAt }
}
