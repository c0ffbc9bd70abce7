/** A person as a rung: what the request says of the failed call, and what each decision means. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import { digestOf, digestOfRequest } from "../data/Digest.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import { property } from "../data/Foreign.ts"
import * as Redaction from "../data/Redaction.ts"
import { KintsugiError } from "../errors/KintsugiError.ts"
import { ApprovalExpiredError } from "../errors/ToolError.ts"
import * as Backoff from "./Backoff.ts"
import * as Deciding from "./Deciding.ts"
import { verdict } from "./making.ts"
import type { Ask, AskedCall, Fixed, Verified } from "./Node.ts"
import * as Render from "./Render.ts"
import type { Verdict } from "./verdictTypes.ts"

/** What a person is asked, and how often. */
interface Options<X> {
  /** The reason that the request states; by default, that the call has failed. */
  readonly reason?: string
  /** How long a decision holds; one day by default. */
  readonly validFor?: Duration.Input
  /** How often a person may be asked about one call; once by default. */
  readonly times?: number
  /** What becomes of a call without a decision in time, as with `Tool.requireApproval`. */
  readonly onExpiry?: X
}

/** What a call may fail with whose request expires. */
type Expiring<X> = "fail" extends X ? ApprovalExpiredError : never

/**
 * Asks a person how a failed call goes on: a rung for tables of tools. The person sees the arguments, the failure, and whether the tool may
 * have taken effect, and approves (the tool runs again), approves with other arguments, gives the result, or refuses. The calls need an
 * `Approver`, as those of a tool with `Tool.requireApproval` do; with `start` the run is suspended instead.
 *
 * A tool with `unsafe` side effects needs no acknowledgement: the person consents. If such a tool has begun and has a `verify`, that is
 * asked first, and a person only if it finds no result. A failure after the decision goes to the next rung.
 *
 * @example
 * ```ts
 * import { Agent, Approval, Recovery, Tool } from "@kintsugi/core"
 * import { ScriptedApprover, ScriptedModel } from "@kintsugi/core/testing"
 * import { Data, Effect, Schema } from "effect"
 *
 * class Locked extends Data.TaggedError("Locked")<{}> {}
 *
 * const open = Tool.make("open", {
 *   description: "Opens the safe.",
 *   parameters: Schema.Struct({ code: Schema.String }),
 *   success: Schema.String,
 *   run: ({ code }) => (code === "1234" ? Effect.succeed("open") : Effect.fail(new Locked())),
 *   onError: { Locked: Recovery.ladder(Recovery.ask({ reason: "the code is wrong" }), Recovery.tell()) }
 * })
 *
 * const program = Effect.gen(function* () {
 *   const { call, calls, make, text } = ScriptedModel
 *   const model = yield* make(calls(call("open", { code: "0000" })), text("The safe is open."))
 *   const approver = yield* ScriptedApprover.make(Approval.approveWith({ code: "1234" }))
 *   const guard = Agent.make("guard", { tools: [open] })
 *   return yield* guard("Open the safe.").pipe(Effect.provide([model.layer, approver.layer]))
 * })
 * Effect.runPromise(Effect.scoped(program)) // => "The safe is open."
 * ```
 */
export const ask = <E, const X extends Approval.OnExpiry = "ask-again">(
  options: Options<X> = {}
): Verdict<E, never, Expiring<X>, never, "exhausted", "consults"> => {
  const { onExpiry = "ask-again", reason, times = 1, validFor = "1 day" } = options
  return verdict({
    kind: "ask",
    reason,
    onExpiry,
    validFor: timeOf(validFor),
    maxRuns: Backoff.attempts({ maxAttempts: times }),
    isReachable,
    run
  })
}

const timeOf = (validFor: Duration.Input): Duration.Duration => {
  const time = Option.getOrUndefined(Duration.fromInput(validFor))
  if (time !== undefined && Duration.isPositive(time) && Duration.isFinite(time)) return time
  throw new RangeError(`Recovery.ask: validFor must be a time above zero, got ${String(validFor)}`)
}

const isReachable: Ask["isReachable"] = ({ isApart, isSuspendable }) => {
  if (isApart) return Effect.succeed(false)
  return isSuspendable ? Effect.succeed(true) : Effect.map(Effect.serviceOption(Approval.Approver), Option.isSome)
}

const run: Ask["run"] = (self, call) =>
  Effect.gen(function* () {
    const verified = call.verify === undefined ? undefined : yield* call.verify
    if (Predicate.isObject(verified) && "found" in verified)
      return { type: "answered", value: verified.found, by: "verify" }
    let asked = yield* earlier(self, call)
    while (asked !== Approval.expired) {
      const request: Approval.ApprovalRequest = asked ?? (yield* requestOf(self, call, verified))
      const decision = yield* call.waiting(Deciding.decided(request, self.onExpiry, call, call))
      if (decision === undefined || (decision === "nothing-to-run" && call.isSuspendable)) {
        return call.suspend(request, encoded(call))
      }
      if (decision === "nothing-to-run") return { type: "not-counted" }
      if (decision !== "late" && decision !== Approval.expired) return yield* answer(call, decision)
      asked = decision === "late" ? undefined : decision
    }
    return expire(self, call)
  })

/** The request with which the run was suspended, if it is still the same; it may have expired meanwhile. */
const earlier = (self: Ask, { about, decisions, from, parameters, written }: AskedCall) =>
  Effect.gen(function* () {
    if (from === undefined) return undefined
    const isLate = (yield* Clock.currentTimeMillis) > from.expiresAt
    const subject = { ...from, ...about, schema: yield* digestOf(parameters) }
    if (!isLate && (yield* digestOfRequest(subject, written)) === from.digest) return from
    decisions?.note(from.digest, isLate ? "late" : "other-digest")
    return isLate && self.onExpiry !== "ask-again" ? Approval.expired : undefined
  })

const requestOf = (
  { reason, validFor }: Ask,
  call: AskedCall,
  verified: Exclude<Verified, { found: unknown }> | undefined
) =>
  Effect.gen(function* () {
    const { about, failed, parameters, wasCleared, written } = call
    const said = verified ?? (wasCleared ? "no-effect" : undefined)
    const fresh = {
      ...about,
      failed: {
        ...failed,
        tag: ErrorCause.tagOf(call.error),
        full: inFull(call.error),
        mayHaveTakenEffect: failed.mayHaveTakenEffect && said !== "no-effect",
        ...(said === undefined ? {} : { verified: said })
      },
      reason: Redaction.own(reason ?? `The call of tool '${about.tool}' has failed`),
      schema: yield* digestOf(parameters),
      expiresAt: (yield* Clock.currentTimeMillis) + Duration.toMillis(validFor)
    }
    return new Approval.ApprovalRequest({ ...fresh, digest: yield* digestOfRequest(fresh, written) })
  })

const answer = (call: AskedCall, decision: Approval.Decision): Effect.Effect<Fixed> => {
  switch (decision.type) {
    case "approve":
      return call.approve(decision.arguments)
    case "result":
      return Effect.succeed(call.answer(decision.value))
    default:
      // everything else refuses, also a value of another type: JSON that was not decoded
      return Effect.succeed(
        deny(call, `a person has refused to run it once more: ${String(decision.reason)}`, String(decision.reason))
      )
  }
}

const expire = ({ onExpiry }: Ask, call: AskedCall): Fixed => {
  const { callId, tool } = call.about
  if (onExpiry === "fail") return { type: "fatal", error: ApprovalExpiredError.make({ tool, callId }) }
  return deny(call, "no decision about running it once more came in time", Render.undecided)
}

/** A call that has run is told as failed; the model reads both. */
const deny = (call: AskedCall, then: string, reason: string): Fixed =>
  call.deny(
    reason,
    `The call of tool '${call.about.tool}' failed: ${ErrorCause.trimmed(call.failed.forModel)}. ${Redaction.own(sentenceOf(then))}`
  )

const sentenceOf = (clause: string): string => clause.charAt(0).toUpperCase() + clause.slice(1)

/** The failure as data: with it the call goes on in another process with an error of the same class. */
const encoded = ({ error, failure }: AskedCall): Schema.Json | undefined => {
  const codec = Schema.toCodecJson(failure === undefined ? KintsugiError : Schema.Union([failure, KintsugiError]))
  return Option.getOrUndefined(Schema.encodeUnknownOption(codec)(error)) as Schema.Json | undefined
}

/** A failure and what lies beneath it, in one text. */
const inFull = (error: unknown): string => {
  const lines: Array<string> = []
  let at = error
  for (let depth = 0; at !== undefined && at !== null && depth < deepest; depth++) {
    const { message, name } = ErrorCause.summarise(at)
    lines.push(`${depth === 0 ? "" : "caused by "}${message === "" || message === name ? name : `${name}: ${message}`}`)
    at = property(at, "cause")
  }
  return Redaction.foreign(lines.join("\n"), longest)
}

const deepest = 5
const longest = 8000
