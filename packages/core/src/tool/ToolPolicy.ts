/** Policies: functions of the user that see every tool call before it runs, and may deny it. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Cause from "effect/Cause"
import * as Result from "effect/Result"
import * as ErrorCause from "../data/ErrorCause.ts"
import * as Redaction from "../data/Redaction.ts"
import * as Returned from "../data/Returned.ts"
import type * as Message from "../data/Message.ts"
import { ToolDeniedError } from "../errors/ToolError.ts"
import * as Interception from "../model/Interception.ts"
import type { SideEffects } from "../recovery/Recovery.ts"

/** A call that is about to run, with valid arguments. */
export interface ProposedCall {
  readonly agent: string
  readonly tool: string
  /** The name that the model wrote, if it differs from the tool's name. */
  readonly calledAs?: string
  readonly callId: string
  /** The parameters that the `run` of the tool would get. */
  readonly params: unknown
  /** The current arguments: the model's, or those of the last repair. */
  readonly arguments: Message.ToolCall["arguments"]
  readonly sideEffects: SideEffects
  /** How deep the agent is nested; 0 for an agent without a parent run. */
  readonly depth: number
}

/**
 * What a policy says of a call. The model reads the reason of a denial.
 *
 * @hidden
 */
export type Permission = { readonly type: "allow" } | { readonly type: "deny"; readonly reason: string }

/** Lets the call run. */
export const allow: Permission = { type: "allow" }

/** Denies the call; the model reads the reason. */
export const deny = (reason: string): Permission => ({ type: "deny", reason })

/**
 * Sees a call and decides. A policy that fails denies the call.
 *
 * @hidden
 */
export type Policy<R = never> = (call: ProposedCall) => Permission | Effect.Effect<Permission, unknown, R>

/**
 * Asks one policy after another, until one denies. Each policy gets its own call.
 *
 * @internal
 */
export const denying =
  (policies: ReadonlyArray<Policy>) =>
  (call: Omit<ProposedCall, "params">, params: () => unknown): Effect.Effect<ToolDeniedError | undefined> => {
    const { callId, tool } = call
    const asked = Interception.step(
      () => ({ type: "policy", tool, callId }),
      () => ask(policies, () => ({ ...call, params: params() }))
    )
    return Effect.map(asked, (reason) =>
      reason === undefined ? reason : ToolDeniedError.make({ tool, callId, reason })
    )
  }

const ask = (policies: ReadonlyArray<Policy>, callOf: () => ProposedCall): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    for (const policy of policies) {
      const call = callOf()
      const decision = yield* failingClosed(() => policy(call), call.agent)
      if (decision.type === "deny") return decision.reason
    }
    return undefined
  })

/**
 * Runs a policy. If it throws or fails, the call is denied, because nothing has allowed it. Defects of its effect and interruptions pass.
 */
const failingClosed = (
  policy: () => Permission | Effect.Effect<Permission, unknown>,
  agent: string
): Effect.Effect<Permission> => {
  const answered = Result.try(policy)
  if (Result.isFailure(answered)) return Effect.succeed(undecided(answered.failure))
  const answer = Returned.valueOf(answered.success, aDecision, "A policy of agent", agent)
  return Effect.flatMap(Effect.exit(answer), (exit) => {
    if (Exit.isSuccess(exit)) return Effect.succeed(exit.value)
    if (Cause.hasInterrupts(exit.cause) || Cause.hasDies(exit.cause)) {
      // the cast is safe: a defect or an interruption passes on, and no typed failure
      return Effect.failCause(exit.cause as Cause.Cause<never>)
    }
    return Effect.succeed(undecided(Cause.squash(exit.cause)))
  })
}

const aDecision = Returned.decision(["allow", "deny"])

const undecided = (error: unknown): Permission =>
  deny(`the policy could not decide: ${Redaction.foreign(ErrorCause.sayingOf(error))}`)
