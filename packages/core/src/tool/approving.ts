/** The last gate before a tool runs: whether the call needs approval, and the decision about it. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Approval from "../data/Approval.ts"
import * as Interception from "../model/Interception.ts"
import * as RunContext from "../event/RunContext.ts"
import { isDeep } from "../data/Foreign.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Returned from "../data/Returned.ts"
import { canonical, digestOf, digestOfRequest } from "../data/Digest.ts"
import type { ApprovalGate, CallAtGate, NeedsApproval, Passed } from "./ToolDefinition.ts"

/** The gate of a tool. A call that needs no approval passes, and so do arguments that the approver has edited. */
export const gate = (needs: NeedsApproval): ApprovalGate => ({
  ...needs,
  pass: (call) =>
    Effect.flatMap(request(needs, call), (request): Effect.Effect<Passed> =>
      request === undefined || canonical(request.arguments) === call.edited
        ? Effect.succeed({ decision: Approval.approve })
        : Effect.map(
            call.waiting(Interception.untilDecided(call.site.run, decided(request, needs, call))),
            (decision) => (decision === undefined ? { request } : { decision })
          )
    )
})

/** For a call with a request for approval, of a tool that no longer needs approval. */
export const always: ApprovalGate = gate({
  when: () => Effect.succeed(true),
  reason: "it was asked for when the call was made",
  validFor: Duration.days(1)
})

/**
 * `undefined` if the call needs no approval; a predicate that fails means that it does. An earlier request is reused while it is the
 * same and not expired; otherwise this makes a new one.
 */
const request = (
  needs: NeedsApproval,
  { decoded, site, tool }: CallAtGate
): Effect.Effect<Approval.ApprovalRequest | undefined> =>
  Effect.gen(function* () {
    const { call, from, key, run } = site
    // a request that suspended the run needs a decision, even if the tool no longer needs approval
    const asked = from?.type === "decision" ? from.request : undefined
    const isNeeded = asked !== undefined || (yield* needsApproval(needs, () => decoded.params()))
    if (!isNeeded) return undefined
    const { agent, runId } = run
    const now = yield* Clock.currentTimeMillis
    const { parameters } = tool.spec()
    const schema = yield* digestOf(tool.pin === undefined ? parameters : { parameters, pin: tool.pin.digest })
    const subject = {
      runId,
      agent,
      tool: tool.name,
      callId: call.id,
      key,
      arguments: decoded.json,
      reason: Redaction.own(needs.reason),
      schema,
      ...(needs.change === undefined ? {} : { change: needs.change })
    }
    if (asked !== undefined && now <= asked.expiresAt) {
      const digest = yield* digestOfRequest({ ...subject, expiresAt: asked.expiresAt }, call.arguments)
      if (digest === asked.digest) return asked
    }
    const fresh = { ...subject, expiresAt: now + Duration.toMillis(needs.validFor) }
    return new Approval.ApprovalRequest({ ...fresh, digest: yield* digestOfRequest(fresh, call.arguments) })
  })

const needsApproval = (needs: NeedsApproval, params: () => unknown): Effect.Effect<boolean> => {
  const answer = Result.try(() => needs.when(params))
  return Result.isFailure(answer) ? Effect.succeed(true) : Effect.orElseSucceed(answer.success, () => true)
}

/** Asks, and asks again when the answer comes too late. Nothing where the run has to be suspended for it. */
const decided = (
  asked: Approval.ApprovalRequest,
  needs: NeedsApproval,
  call: CallAtGate
): Effect.Effect<Approval.Decision | undefined> =>
  Effect.gen(function* () {
    let current = asked
    while (true) {
      const { callId, tool } = current
      yield* RunContext.emit(call.site.run, () => ({ type: "approval-requested", callId, tool, request: current }))
      const asked = current
      const decision = yield* Interception.step(
        () => ({ kind: "approval", request: asked }),
        () => Effect.map(decide(asked, call), shallow)
      )
      if (decision === undefined) return undefined
      if ((yield* Clock.currentTimeMillis) <= current.expiresAt) {
        yield* RunContext.emit(call.site.run, () => ({ type: "approval-decided", callId, tool, decision }))
        return decision
      }
      const renewed = yield* request(needs, call)
      if (renewed === undefined) return Approval.approve
      current = renewed
    }
  })

/** Edited arguments that are too deep cannot be stored: such an edit refuses the call. */
const shallow = (decision: Approval.Decision | undefined): Approval.Decision | undefined =>
  decision?.type === "approve" && isDeep(decision.arguments)
    ? Approval.refuse("the edited arguments are nested too deeply")
    : decision

/** Of a decision out of JSON, only its type has to be there: what does not approve, refuses. */
const aDecision: Returned.Kind = { name: "a decision", is: (value) => Predicate.hasProperty(value, "type") }

/** Takes a decision made while the run was suspended. Else the run is suspended again, or asks the `Approver` and waits. */
const decide = (
  request: Approval.ApprovalRequest,
  { site: { decisions, isSuspendable, run } }: CallAtGate
): Effect.Effect<Approval.Decision | undefined> => {
  const decision = decisions?.about(request.digest)
  if (decision !== undefined || isSuspendable) return Effect.succeed(decision)
  return Effect.flatMap(
    Effect.serviceOption(Approval.Approver),
    Option.match({
      // without a type that was cast away, this cannot be
      onNone: () =>
        Effect.die(new TypeError(`Agent '${run.agent}' has a tool that needs an Approver, and there is none`)),
      onSome: (approver) => {
        const whose = "The decide of the Approver"
        return Returned.valueOf(Returned.effect(approver.decide(request), whose), aDecision, whose)
      }
    })
  )
}
