/** The last gate before a tool runs: whether the call needs approval, and the decision about it. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../data/Approval.ts"
import * as Interception from "../model/Interception.ts"
import * as Redaction from "../data/Redaction.ts"
import { canonical, digestOf, digestOfRequest } from "../data/Digest.ts"
import { ApprovalExpiredError } from "../errors/ToolError.ts"
import * as Deciding from "../recovery/Deciding.ts"
import * as Render from "../recovery/Render.ts"
import { asksOf } from "./asks.ts"
import { through } from "./passing.ts"
import type { ApprovalGate, CallAtGate, NeedsApproval, Passed } from "./ToolDefinition.ts"

/** The gate of a tool. A call that needs no approval passes, and so do arguments that the approver has edited. */
export const gate = (needs: NeedsApproval): ApprovalGate => ({
  ...needs,
  through,
  pass: (call) =>
    Effect.flatMap(request(needs, call), (request): Effect.Effect<Passed> => {
      if (request === Approval.expired) return Effect.succeed(passed(needs, call, request))
      // Mutant `false` for `request === undefined` survives: each of these gates has asked already whether it is needed
      return request === undefined || canonical(request.arguments) === call.edited
        ? Effect.succeed({ decision: Approval.approve })
        : Effect.map(
            call.waiting(Interception.untilDecided(call.site.run, decided(request, needs, call))),
            (decision) => (decision === undefined ? { request } : passed(needs, call, decision))
          )
    })
})

/**
 * The result of the gate for a decision. For an expired request it is a refusal or, with `onExpiry: "fail"`, an error. With `"ask-again"`,
 * requests are renewed and never expire here.
 */
const passed = (
  { onExpiry }: NeedsApproval,
  { site, tool }: CallAtGate,
  decision: Approval.Decision | Deciding.Expired
): Passed => {
  if (decision !== Approval.expired) return { decision }
  // the request has expired and no person has refused it, so the reason says that
  if (onExpiry !== "fail") return { decision: Approval.refuse(Render.undecided) }
  return { expired: ApprovalExpiredError.make({ tool: tool.name, callId: site.call.id }) }
}

/** The gate of a call that waits for a decision although its tool no longer needs approval. */
export const always: ApprovalGate = gate({
  when: () => Effect.succeed(true),
  reason: "it was asked for when the call was made",
  validFor: Duration.days(1),
  onExpiry: "ask-again"
})

/**
 * Makes the request for approval; `undefined` if the call needs none. If the predicate fails, the call needs approval. An earlier request
 * is used again while it is unchanged and not expired. If it has expired, `onExpiry` decides between a new request and `expired`.
 */
const request = (
  needs: NeedsApproval,
  { decoded, site, tool }: CallAtGate
): Effect.Effect<Approval.ApprovalRequest | Deciding.Expired | undefined> =>
  Effect.gen(function* () {
    const { call, from, key, run } = site
    const { ruleNames = [] } = needs
    // a request that suspended the run needs a decision, even if the tool no longer needs approval
    const asked = from?.type === "decision" && from.request.failed === undefined ? from.request : undefined
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
      ...(needs.change === undefined ? {} : { change: needs.change }),
      ...(ruleNames.length === 0 ? {} : { rules: ruleNames })
    }
    if (asked !== undefined) {
      const isLate = now > asked.expiresAt
      const digest = isLate
        ? undefined
        : yield* digestOfRequest({ ...subject, expiresAt: asked.expiresAt }, call.arguments)
      if (digest === asked.digest) return asked
      site.decisions?.note(asked.digest, isLate ? "late" : "other-digest")
      if (isLate) yield* Deciding.expires(asked, asksOf(run))
      if (isLate && needs.onExpiry !== "ask-again") return Approval.expired
    }
    const fresh = { ...subject, requestedAt: now, expiresAt: now + Duration.toMillis(needs.validFor) }
    return new Approval.ApprovalRequest({ ...fresh, digest: yield* digestOfRequest(fresh, call.arguments) })
  })

const needsApproval = (needs: NeedsApproval, params: () => unknown): Effect.Effect<boolean> => {
  const answer = Result.try(() => needs.when(params))
  return Result.isFailure(answer) ? Effect.succeed(true) : Effect.orElseSucceed(answer.success, () => true)
}

/**
 * Waits for the decision. If it comes too late, a new request is made. `undefined` means that the run has to be suspended for the decision.
 */
const decided = (
  asked: Approval.ApprovalRequest,
  needs: NeedsApproval,
  call: CallAtGate
): Effect.Effect<Approval.Decision | Deciding.Expired | undefined> =>
  Effect.gen(function* () {
    let current = asked
    while (true) {
      const decision = yield* Deciding.decided(current, needs.onExpiry, call.site, asksOf(call.site.run))
      if (decision !== "late" && decision !== "nothing-to-run") return decision
      const renewed = yield* request(needs, call)
      if (renewed === undefined) return Approval.approve
      if (renewed === Approval.expired) return renewed
      current = renewed
    }
  })
