/** Which tools need approval, and for which calls. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import { aFunction, demand, options as given } from "../data/Demand.ts"
import * as Returned from "../data/Returned.ts"
import * as Deciding from "../recovery/Deciding.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import { limitOf } from "./define.ts"
import { granting } from "./granting.ts"
import { type AnyTool, fromDefinition, isTool, type Tool } from "./shape.ts"
import type { Nearer } from "./failures.ts"
import type { OnExpiry } from "../data/Approval.ts"
import type { NeedsApproval } from "./ToolTypes.ts"
import type { ApprovalExpiredError } from "../errors/ToolError.ts"

/** Which calls need approval, and for how long a decision holds. */
export interface ApprovalOptions<in Params, R, X extends OnExpiry = OnExpiry> {
  /** Whether a call needs approval, by its parameters; by default every call does. If this predicate fails, the call needs approval. */
  readonly when?: (params: Params) => boolean | Effect.Effect<boolean, unknown, R>
  /** The reason that the request for approval states. */
  readonly reason?: string
  /** How long a decision holds; one day by default. */
  readonly validFor?: Duration.Input
  /**
   * Predicates by which a person may approve more than one call: `Approval.approveFor({ rule: "small" })` admits all calls for which the rule
   * `small` holds. A rule that fails admits nothing.
   */
  readonly rules?: { readonly [name: string]: (params: Params) => boolean | Effect.Effect<boolean, unknown, R> }
  /**
   * What happens to a call without a decision in time. `"ask-again"`, the default: a person is asked again. `"refuse"`: the call settles as
   * denied, with a text that says so. `"fail"`: the call fails with `ApprovalExpiredError`. A suspended run does this when it is resumed.
   */
  readonly onExpiry?: X
}

/** The error of a call whose request for approval expires; `never` unless `onExpiry` is `"fail"`. */
type Expiring<X> = "fail" extends X ? ApprovalExpiredError : never

/**
 * Requires a person's approval for the calls of this tool. The request comes after every other gate and before the call runs, and once more
 * after a repair of its arguments. An agent with such a tool needs an `Approver` in `R`. A run that `agent.start` has started is suspended
 * instead.
 */
export const requireApproval: {
  <Params, R2 = never, const X extends OnExpiry = "ask-again">(
    options?: ApprovalOptions<Params, R2, X>
  ): <Name extends string, A, E, R, T, S>(
    self: Tool<Name, Params, A, E, R, T, S> & Nearer<T, Exclude<Expiring<X>, E>>
  ) => Tool<Name, Params, A, E | Expiring<X>, R | R2, Recovery.Merge<T, NeedsApproval>, S>
  <Name extends string, Params, A, E, R, T, S, R2 = never, const X extends OnExpiry = "ask-again">(
    self: Tool<Name, Params, A, E, R, T, S> & Nearer<T, Exclude<Expiring<X>, E>>,
    options?: ApprovalOptions<Params, R2, X>
  ): Tool<Name, Params, A, E | Expiring<X>, R | R2, Recovery.Merge<T, NeedsApproval>, S>
} = dual(
  ([self]) => isTool(self),
  <T>(self: AnyTool, options: ApprovalOptions<unknown, unknown> = {}): T => {
    const whose = `Tool.requireApproval of tool '${self.name}'`
    given(whose, options, ["when", "reason", "validFor", "rules", "onExpiry"])
    const { onExpiry, rules: named = {}, validFor = "1 day", when } = options
    const { reason = `Tool '${self.name}' runs only with approval` } = options
    aFunction(`${whose}: when`, when)
    demand(`${whose}: reason`, "a text", reason, Predicate.isString(reason))
    demand(`${whose}: rules`, "functions by their names", named, Predicate.isObject(named))
    for (const [name, rule] of Object.entries(named)) aFunction(`${whose}: rule '${name}'`, rule)
    const { approval: before } = self.definition
    if (onExpiry !== undefined) Deciding.onExpiryOf(whose, onExpiry)
    const holds = limitOf(self.name, "validFor", validFor) ?? Duration.days(1)
    // the cast is safe: the parameters come from the tool's schema, and the services of a predicate are in the tool's type
    const answerOf = (answer: unknown, option: string): Effect.Effect<boolean, unknown> => {
      const whose = `The ${option} of Tool.requireApproval for tool`
      return Returned.valueOf(answer as boolean | Effect.Effect<boolean, unknown>, Returned.aBoolean, whose, self.name)
    }
    const asks = (params: () => unknown) => answerOf(when === undefined ? true : when(params()), "when")
    const rules = Object.fromEntries(
      Object.entries(named).map(([name, rule]) => [
        name,
        (params: () => unknown) => answerOf(rule(params()), `rule '${name}'`)
      ])
    )
    return fromDefinition({
      ...self.definition,
      approval: granting(
        before === undefined
          ? { reason, validFor: holds, onExpiry: onExpiry ?? "ask-again", when: asks }
          : {
              onExpiry: onExpiry ?? before.onExpiry,
              reason: `${before.reason}; ${reason}`,
              validFor: Duration.min(holds, before.validFor),
              // the call needs approval if one of the predicates says so
              when: (params) =>
                Effect.flatMap(before.when(params), (isNeeded) => (isNeeded ? Effect.succeed(true) : asks(params)))
            },
        { ...before?.rules, ...rules }
      )
    })
  }
)
