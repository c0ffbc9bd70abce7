/** Implements `Recovery.ask`: what a request says about the failed call, and what each decision does. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import { demand, options as given } from "../data/Demand.ts"
import { canonical, digestOf, digestOfRequest } from "../data/Digest.ts"
import * as ErrorCause from "../data/ErrorCause.ts"
import { property } from "../data/Foreign.ts"
import * as Redaction from "../data/Redaction.ts"
import { tags } from "../errors/RecoveryAdvice.ts"
import { ApprovalExpiredError } from "../errors/ToolError.ts"
import * as Deciding from "./Deciding.ts"
import { consulting } from "./following.ts"
import { verdict } from "./making.ts"
import type { Ask, Asked, AskedCall, Fixed, FixRun } from "./Node.ts"
import * as Render from "./Render.ts"
import type { Verdict } from "./verdictTypes.ts"

/** The options of `Recovery.ask`. */
interface Options<X> {
  /** The reason in the request; by default, that the call has failed. */
  readonly reason?: string
  /** How long a request waits for its decision; one day by default. */
  readonly validFor?: Duration.Input
  /** How often a person may be asked about one call; once by default. */
  readonly times?: number
  /** What happens to a call without a decision in time, as in `Tool.requireApproval`. */
  readonly onExpiry?: X
}

/** The error of a call whose request expires, with `onExpiry: "fail"`. */
type Expiring<X> = "fail" extends X ? ApprovalExpiredError : never

/**
 * Asks a person how to continue a failed call. It is a rung for tables of tools. The person sees the arguments, the failure, and whether
 * the tool may have taken effect, and approves (the tool runs again), approves with other arguments, gives the result, or refuses. The
 * calls need an `Approver`, as those of a tool with `Tool.requireApproval` do; with `start` the run is suspended instead.
 *
 * A tool with `unsafe` side effects needs no acknowledgement: the person consents. If such a tool has begun and has a `verify`, then
 * `verify` runs first, and a person is asked only if it finds no result. A failure after the decision goes to the next rung.
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
  given("Recovery.ask", options, ["reason", "validFor", "times", "onExpiry"])
  const { reason, times = 1, validFor = "1 day" } = options
  if (!Number.isInteger(times) || times < 1)
    throw new RangeError(`Recovery.ask: times must be a whole number of at least 1, got ${times}`)
  demand("Recovery.ask: reason", "a text", reason, reason === undefined || Predicate.isString(reason))
  return verdict({
    kind: "ask",
    reason,
    onExpiry: Deciding.onExpiryOf("Recovery.ask", options.onExpiry),
    validFor: timeOf(validFor),
    maxRuns: times,
    isReachable,
    run,
    follow: consulting
  })
}

const timeOf = (validFor: Duration.Input): Duration.Duration => {
  const time = Option.getOrUndefined(Duration.fromInput(validFor))
  if (time !== undefined && Duration.isPositive(time) && Duration.isFinite(time)) return time
  throw new RangeError(`Recovery.ask: validFor must be a time above zero, got ${String(validFor)}`)
}

const isReachable: Ask["isReachable"] = ({ isSuspendable, run }) => {
  if (run.isApart === true) return Effect.succeed(false)
  return isSuspendable ? Effect.succeed(true) : Effect.map(Effect.serviceOption(Approval.Approver), Option.isSome)
}

const run: Ask["run"] = (self, seen, fixRun, asked) =>
  Effect.gen(function* () {
    const call = new Failed(self, seen, fixRun, asked)
    const { from, site } = call
    const verified = from === undefined ? yield* lookedUp(call) : undefined
    if (Predicate.isObject(verified) && "found" in verified)
      return { type: "answered", value: verified.found, by: "verify" }
    let request = from === undefined ? undefined : yield* earlier(call, from)
    while (request !== Approval.expired) {
      const current: Approval.ApprovalRequest = request ?? (yield* requestOf(call, verified))
      const asks = { ...asked, mayRunTwice: () => call.hasBegun && !isCleared(asked.call) }
      const decision = yield* asked.untilDecided(Deciding.decided(current, self.onExpiry, site, asks))
      if (decision === undefined || (decision === "nothing-to-run" && site.isSuspendable)) {
        asked.suspend(current, encoded(call))
        return over(call)
      }
      if (decision === "nothing-to-run") return { type: "not-counted" }
      if (decision !== "late" && decision !== Approval.expired) return yield* answer(call, decision)
      request = decision === "late" ? undefined : decision
    }
    return expire(call)
  })

/** A failed call, with its state when the failure reached this rung. */
class Failed {
  readonly self: Ask
  readonly seen: unknown
  readonly fixRun: FixRun
  readonly asked: Asked
  readonly tool: AskedCall["entry"]["tool"]
  readonly site: AskedCall["site"]
  readonly state: AskedCall["state"]
  readonly hasBegun: boolean
  readonly wasCleared: boolean
  /** The request with which the run was suspended; `undefined` if it was not. */
  readonly from: Approval.ApprovalRequest | undefined
  /** The fields of the request that identify the call. */
  readonly about: Pick<Approval.ApprovalRequest, "runId" | "agent" | "tool" | "callId" | "key" | "arguments">

  constructor(self: Ask, seen: unknown, fixRun: FixRun, asked: Asked) {
    const { entry, site, state } = asked.call
    this.self = self
    this.seen = seen
    this.fixRun = fixRun
    this.asked = asked
    this.tool = entry.tool
    this.site = site
    this.state = state
    this.hasBegun = state.runs > 0
    this.wasCleared = isCleared(asked.call)
    this.from = fixRun.wasAsked && site.from?.type === "decision" ? site.from.request : undefined
    const { agent, runId } = site.run
    this.about = {
      runId,
      agent,
      tool: this.tool.name,
      callId: site.call.id,
      key: site.key,
      arguments: argumentsOf(state)
    }
  }
}

const argumentsOf = ({ args, decoded }: AskedCall["state"]): Schema.Json => decoded?.json ?? args

/** Whether `verify` found that the tool took no effect. */
const isCleared = ({ state }: AskedCall): boolean => state.runs > 0 && !state.mayHaveActed

/** The outcome for a call that was denied, or whose run is suspended. */
const over = ({ fixRun: { error } }: Failed): Fixed => ({ type: "left", why: "rethrown", error })

/** Runs the `verify` of an unsafe tool that has begun; `undefined` for any other call. */
const lookedUp = ({ asked, hasBegun, tool, wasCleared }: Failed): Effect.Effect<Verified | undefined> => {
  const { sideEffects, verify } = tool
  if (!hasBegun || wasCleared || sideEffects !== "unsafe" || verify === undefined) return Effect.undefined
  return Effect.match(asked.lookUp(verify), {
    onFailure: (error): Verified => ({ unknown: String(property(error, "why") ?? error) }),
    onSuccess: (found): Verified => {
      if (found !== undefined) return { found: found.value }
      asked.change({ mayHaveActed: false, isUncertain: false })
      return "no-effect"
    }
  })
}

/** The outcome of `verify`: a result, no effect, or the reason why the outcome is unknown. */
type Verified = { readonly found: unknown } | Said

type Said = NonNullable<NonNullable<Approval.ApprovalRequest["failed"]>["verified"]>

/** The request with which the run was suspended, if the call still matches it and it has not expired. */
const earlier = ({ about, asked, self, site, tool }: Failed, from: Approval.ApprovalRequest) =>
  Effect.gen(function* () {
    const isLate = (yield* Clock.currentTimeMillis) > from.expiresAt
    const subject = { ...from, ...about, schema: yield* digestOf(tool.spec().parameters) }
    if (!isLate && (yield* digestOfRequest(subject, site.call.arguments)) === from.digest) return from
    site.decisions?.note(from.digest, isLate ? "late" : "other-digest")
    if (isLate) yield* Deciding.expires(from, asked)
    return isLate && self.onExpiry !== "ask-again" ? Approval.expired : undefined
  })

const requestOf = (call: Failed, verified: Said | undefined) =>
  Effect.gen(function* () {
    const { about, fixRun, hasBegun, seen, self, site, state, tool, wasCleared } = call
    const { context, error, unfit } = fixRun
    const { sideEffects } = tool
    const said = verified ?? (wasCleared ? "no-effect" : undefined)
    const now = yield* Clock.currentTimeMillis
    const fresh = {
      ...about,
      failed: {
        forModel: Render.labelled(seen, context),
        attempts: context.attempt,
        runs: state.runs,
        sideEffects,
        ...(state.decoded === undefined ? { needsArguments: true as const } : {}),
        ...(unfit === undefined ? {} : { unfit: Render.messageOf(unfit) }),
        tag: ErrorCause.tagOf(error),
        full: inFull(error),
        mayHaveTakenEffect: hasBegun && sideEffects !== "none" && said !== "no-effect",
        ...(said === undefined ? {} : { verified: said })
      },
      reason: Redaction.own(self.reason ?? `The call of tool '${about.tool}' has failed`),
      schema: yield* digestOf(tool.spec().parameters),
      requestedAt: now,
      // requests of one instant about one failure have different digests, so that no decision counts for two of them
      expiresAt: now + Duration.toMillis(self.validFor) + fixRun.run - 1
    }
    return new Approval.ApprovalRequest({ ...fresh, digest: yield* digestOfRequest(fresh, site.call.arguments) })
  })

const answer = (call: Failed, decision: Approval.Decision): Effect.Effect<Fixed> => {
  const { asked } = call
  switch (decision.type) {
    case "approve":
      return decision.arguments === undefined ? Effect.sync(() => approve(asked)) : edit(asked, decision.arguments)
    case "result":
      return Effect.succeed(fitting(asked.answer({ value: decision.value })))
    default:
      // any other decision is a refusal, also an unknown type from JSON that was not decoded
      return Effect.succeed(
        deny(call, `a person has refused to run it once more: ${String(decision.reason)}`, String(decision.reason))
      )
  }
}

/** Repeats the call with the same arguments. The decision counts as their approval as well. */
const approve = ({ call: { state }, change }: Asked): Fixed => {
  if (state.type === "Raw" || state.type === "Decoded") change({ edited: canonical(argumentsOf(state)) })
  return { type: "repaired" }
}

/** Repeats the call with other arguments. They pass every gate except the approval. */
const edit = ({ accept }: Asked, args: Schema.Json): Effect.Effect<Fixed> =>
  Effect.map(accept(args), (error) => (error === undefined ? { type: "repaired" } : unfitting(error)))

/** Replaces the outcome of an answer that does not fit: the person is asked again about the failure of the call. */
const fitting = (fixed: Fixed): Fixed => (fixed.type === "failed" ? unfitting(fixed.error) : fixed)

const unfitting = (unfit: unknown): Fixed => ({ type: "not-counted", unfit })

const expire = (call: Failed): Fixed => {
  const { callId, tool } = call.about
  return call.self.onExpiry === "fail"
    ? { type: "left", why: "failed", error: ApprovalExpiredError.make({ tool, callId }) }
    : deny(call, "no decision about running it once more came in time", Render.undecided)
}

/** Ends the call as denied. If the tool has run, the model reads the failure and the denial in one text. */
const deny = (call: Failed, then: string, reason: string): Fixed => {
  const { about, asked, fixRun, hasBegun, seen } = call
  const failure = ErrorCause.trimmed(Render.labelled(seen, fixRun.context))
  const text = `The call of tool '${about.tool}' failed: ${failure}. ${Redaction.own(sentenceOf(then))}`
  asked.deny(reason, hasBegun ? text : undefined)
  return over(call)
}

const sentenceOf = (clause: string): string => clause.charAt(0).toUpperCase() + clause.slice(1)

/**
 * Encodes the failure as JSON, so that another process can continue with an error of the same class. An error of this library is encoded by
 * its own class, which is a schema.
 */
const encoded = ({ fixRun: { error }, tool: { failure } }: Failed): Schema.Json | undefined => {
  const own = ownClassOf(error)
  const schemas = [failure, own].filter(Predicate.isNotUndefined)
  const encode = Schema.encodeUnknownOption(Schema.toCodecJson(Schema.Union(schemas)))
  return Option.getOrUndefined(encode(error)) as Schema.Json | undefined
}

const ownTags: ReadonlySet<string> = new Set(tags)

const ownClassOf = (error: unknown): Schema.Codec<unknown, unknown> | undefined => {
  const made = property(error, "constructor")
  // the error classes of this library need no services
  return Schema.isSchema(made) && ownTags.has(ErrorCause.tagOf(error))
    ? (made as Schema.Codec<unknown, unknown>)
    : undefined
}

/** The messages of a failure and of its causes, one per line. */
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
