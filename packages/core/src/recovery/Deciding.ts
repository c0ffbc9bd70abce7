/** Asks a person for one decision about a tool call, and waits for it until the request expires. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Approval from "../data/Approval.ts"
import { isDeep } from "../data/Foreign.ts"
import { approvalFields } from "../data/Grants.ts"
import * as Returned from "../data/Returned.ts"

/** The result of a wait if no decision came in time. */
export type Expired = "expired"

/** The tool call that needs a decision, reduced to the fields that this module reads. */
export interface Site {
  readonly run: { readonly agent: string }
  readonly decisions: Decisions | undefined
  readonly isSuspendable: boolean
}

/** The decisions that were made while the run was suspended, and a function that notes what became of each. */
interface Decisions {
  readonly about: (digest: string) => Approval.Decision | undefined
  readonly note: (digest: string, fate: Fate) => void
}

type Fate = "counted" | Extract<Approval.DecisionReceipt, { readonly _tag: "NotCounted" }>["reason"]

/** The means by which a layer asks: its events, its interceptor, and the messages that withdraw a request. */
export interface Asks {
  readonly emit: (event: () => AskEvent) => Effect.Effect<void>
  /** Runs an effect until a message of the user withdraws the request. The result is then `undefined`. */
  readonly untilWithdrawn: <A>(self: Effect.Effect<A>) => Effect.Effect<A | undefined>
  readonly step: <A>(describe: () => AskStep, self: () => Effect.Effect<A>) => Effect.Effect<A>
  /** Whether the run accepts no more decisions, because it answers at a limit. */
  readonly isWithdrawn: () => boolean
  /** Notes that a request is withdrawn. A later decision about it does not count, and its receipt says so. */
  readonly withdraw: (digest: string) => void
  /** Whether the tool may already have taken effect when a person approves its call. */
  readonly mayRunTwice?: () => boolean
}

type AskEvent = { readonly callId: string; readonly tool: string } & (
  | { readonly type: "approval-requested" | "approval-expired"; readonly request: Approval.ApprovalRequest }
  | { readonly type: "approval-decided"; readonly decision: Approval.Decision; readonly mayRunTwice?: true }
)

type AskStep = { readonly type: "approval"; readonly request: Approval.ApprovalRequest; readonly endsAt?: number }

/** Validates `onExpiry`: what happens to a call without a decision in time. Throws a `TypeError` for an unknown value. */
export const onExpiryOf = (whose: string, given: Approval.OnExpiry = "ask-again"): Approval.OnExpiry => {
  if (given === "ask-again" || given === "refuse" || given === "fail") return given
  throw new TypeError(`${whose}: onExpiry must be "ask-again", "refuse" or "fail", got ${String(given)}`)
}

/**
 * Asks a person once. The result is `undefined` if the run has to be suspended, `"late"` if the decision came after the expiry and a new
 * request follows, and `"nothing-to-run"` if a person approved a call that has no valid arguments.
 */
export const decided = (
  request: Approval.ApprovalRequest,
  onExpiry: Approval.OnExpiry,
  site: Site,
  asks: Asks
): Effect.Effect<Approval.Decision | Expired | "late" | "nothing-to-run" | undefined> =>
  Effect.gen(function* () {
    const isFinal = onExpiry !== "ask-again"
    const { callId, digest, expiresAt, failed, tool } = request
    if (asks.isWithdrawn() && site.decisions?.about(digest) === undefined) return undefined
    yield* asks.emit(() => ({ type: "approval-requested", callId, tool, request }))
    const decision = yield* asks
      .step(
        () => ({ type: "approval", request, ...(isFinal ? { endsAt: expiresAt } : {}) }),
        () => Effect.flatMap(decide(request, isFinal, site, asks), (given) => readable(given, tool))
      )
      .pipe(Effect.onError(() => Effect.sync(() => asks.withdraw(digest))))
    if (decision === undefined) return undefined
    if (decision === Approval.expired || (yield* Clock.currentTimeMillis) > expiresAt) {
      yield* expires(request, asks)
      return isFinal ? Approval.expired : "late"
    }
    if (failed?.needsArguments === true && decision.type === "approve" && decision.arguments === undefined) {
      site.decisions?.note(digest, "nothing-to-run")
      return "nothing-to-run"
    }
    site.decisions?.note(digest, "counted")
    yield* asks.emit(() => ({
      type: "approval-decided",
      callId,
      tool,
      decision,
      ...(decision.type === "approve" && asks.mayRunTwice?.() === true ? { mayRunTwice: true } : {})
    }))
    return decision
  })

/** Emits `approval-expired`: no decision about this request came in time. */
export const expires = (request: Approval.ApprovalRequest, { emit }: Pick<Asks, "emit">): Effect.Effect<void> =>
  emit(() => ({ type: "approval-expired", callId: request.callId, tool: request.tool, request }))

/**
 * Checks a decision that may come from untyped code. It becomes a refusal if it cannot be read, or if its arguments or result are nested
 * too deeply. An approval with an unreadable scope counts for its call only.
 */
const readable = <A>(given: A | Approval.Decision, tool: string): Effect.Effect<A | Approval.Decision> => {
  if (!isDecision(given)) return Effect.succeed(given)
  // JSON and type casts may hold any value
  const decision: Unread = given
  const { reason, type, value } = decision
  if (isDeep(decision.arguments)) return refusing("the edited arguments are nested too deeply")
  if (isDeep(value)) return refusing("the result is nested too deeply")
  if (type === "result") return value === undefined ? refusing("there is no result") : Effect.succeed(given)
  if (type !== "approve") {
    if (Predicate.isString(reason)) return refusing(reason)
    return refusing(type === "refuse" ? "no reason was given" : "the decision cannot be read")
  }
  const scope = Object.fromEntries(
    ["for", "deep", "until", "who"].flatMap((key) => (decision[key] === undefined ? [] : [[key, decision[key]]]))
  )
  if (Object.keys(scope).length === 0) return Effect.succeed(given)
  const read = Option.getOrUndefined(scopeOf(scope))
  const approved = decision.arguments === undefined ? Approval.approve : Approval.approveWith(decision.arguments)
  if (read !== undefined) return Effect.succeed({ ...approved, ...read })
  const alone = `The scope of an approval of tool '${tool}' cannot be read: the approval holds for its call alone`
  return Effect.as(Effect.logWarning(alone), approved)
}

const isDecision = (given: unknown): given is Approval.Decision => Predicate.hasProperty(given, "type")

interface Unread {
  readonly [key: string]: unknown
  readonly arguments?: Schema.Json
}

const refusing = (reason: string): Effect.Effect<Approval.Decision> => Effect.succeed(Approval.refuse(reason))

const scopeOf = Schema.decodeUnknownOption(Schema.Struct(approvalFields))

/** Checks only that a decision from JSON has a `type`: any type except `approve` and `result` counts as a refusal. */
const aDecision: Returned.Kind = { name: "a decision", is: (value) => Predicate.hasProperty(value, "type") }

/**
 * Returns the decision that was made while the run was suspended. Without one, the run is suspended again, or asks the `Approver` and
 * waits.
 */
const decide = (
  request: Approval.ApprovalRequest,
  isFinal: boolean,
  { decisions, isSuspendable, run }: Site,
  { untilWithdrawn }: Pick<Asks, "untilWithdrawn">
): Effect.Effect<Approval.Decision | Expired | undefined> => {
  const decision = decisions?.about(request.digest)
  if (decision !== undefined || isSuspendable) return Effect.succeed(decision)
  const asked = Effect.flatMap(
    Effect.serviceOption(Approval.Approver),
    Option.match({
      // the types of an agent require an `Approver`; only a cast removes it
      onNone: () =>
        Effect.die(new TypeError(`Agent '${run.agent}' has a tool that needs an Approver, and there is none`)),
      onSome: (approver) => {
        const whose = "The decide of the Approver"
        const deciding = Returned.valueOf(Returned.effect(approver.decide(request), whose), aDecision, whose)
        return isFinal ? inTime(deciding, request.expiresAt) : deciding
      }
    })
  )
  const decided = untilWithdrawn(asked)
  // if the request expired in the meantime, the result is an expiry and not a withdrawal
  return isFinal
    ? Effect.flatMap(decided, (decision) => (decision === undefined ? expiredBy(request) : Effect.succeed(decision)))
    : decided
}

const expiredBy = ({ expiresAt }: Approval.ApprovalRequest): Effect.Effect<Expired | undefined> =>
  Effect.map(Clock.currentTimeMillis, (now) => (now > expiresAt ? Approval.expired : undefined))

/** Waits for a decision until the expiry, inclusive: the wait ends one millisecond after `expiresAt`. */
const inTime = <A>(deciding: Effect.Effect<A>, expiresAt: number): Effect.Effect<A | Expired> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.timeoutOrElse(deciding, {
      duration: Duration.millis(Math.max(0, expiresAt + 1 - now)),
      orElse: () => Effect.succeed(Approval.expired)
    })
  )
