/** The last gate before a tool runs: whether somebody has to approve of the call, and whether somebody has. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import { digestOf, digestOfRequest } from "../data/Digest.ts"
import type { NeedsApproval, ToolDefinition } from "./ToolDefinition.ts"

/** For a call about which somebody was asked, of a tool that needs no approval any more. */
export const always: NeedsApproval = {
  when: () => Effect.succeed(true),
  reason: "it was asked for when the call was made",
  validFor: Duration.days(1)
}

/** Gives the decision about a call, at once or after a while; nothing when the run has to be suspended for it. */
export type Decide = (request: Approval.Request) => Effect.Effect<Approval.Decision | undefined>

/** A call that is about to run. */
export interface Subject {
  readonly tool: ToolDefinition
  readonly callId: string
  readonly key: string
  /** What somebody was asked about this call before the run was suspended: it needs an answer, whatever is said now. */
  readonly asked: Approval.Request | undefined
  /** The arguments as the model wrote them, and as the tool would get them. */
  readonly written: Schema.Json
  readonly json: Schema.Json
  readonly params: unknown
  readonly run: RunContext.RunContext
}

/**
 * `undefined` when nobody has to approve: a predicate that fails means that somebody has to. What was asked before, and is still the
 * same and not too old, is the request; anything else is a new one.
 */
export const request = (
  needs: NeedsApproval,
  { asked, callId, json, key, params, run, tool, written }: Subject
): Effect.Effect<Approval.Request | undefined> =>
  Effect.gen(function* () {
    const isNeeded = asked !== undefined || (yield* asking(needs, params))
    if (!isNeeded) return undefined
    const { agent, runId } = run
    const now = yield* Clock.currentTimeMillis
    const schema = yield* digestOf(tool.spec().parameters)
    const subject = { runId, agent, tool: tool.name, callId, key, arguments: json, reason: needs.reason, schema }
    if (asked !== undefined && now <= asked.expiresAt) {
      const digest = yield* digestOfRequest({ ...subject, expiresAt: asked.expiresAt }, written)
      if (digest === asked.digest) return asked
    }
    const fresh = { ...subject, expiresAt: now + Duration.toMillis(needs.validFor) }
    return new Approval.Request({ ...fresh, digest: yield* digestOfRequest(fresh, written) })
  })

const asking = (needs: NeedsApproval, params: unknown): Effect.Effect<boolean> => {
  const answer = Result.try(() => needs.when(params))
  return Result.isFailure(answer) ? Effect.succeed(true) : Effect.orElseSucceed(answer.success, () => true)
}

/** Asks, and asks again when the answer comes too late. */
export const decided = (
  asked: Approval.Request,
  needs: NeedsApproval,
  subject: Subject,
  decide: Decide
): Effect.Effect<Approval.Decision | undefined> =>
  Effect.gen(function* () {
    let current = asked
    while (true) {
      const { callId, tool } = current
      yield* RunContext.emit(subject.run, () => ({ type: "approval-requested", callId, tool, request: current }))
      const asked = current
      const decision = yield* Interception.step(
        () => ({ kind: "approval", request: asked }),
        () => decide(asked)
      )
      if (decision === undefined) return undefined
      if ((yield* Clock.currentTimeMillis) <= current.expiresAt) {
        yield* RunContext.emit(subject.run, () => ({ type: "approval-decided", callId, tool, decision }))
        return decision
      }
      const renewed = yield* request(needs, subject)
      if (renewed === undefined) return Approval.approve
      current = renewed
    }
  })
