/** Tools that end later: `start` begins the work, and a settlement ends it. */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import type { ToolTimeoutError } from "../errors/ToolError.ts"
import type * as Recovery from "../recovery/Recovery.ts"
import { define, limitOf, type Covers, type Limits, type NoVerify, type Options, type Stored } from "./define.ts"
import * as Deferring from "./deferring.ts"
import type { OwnFailures } from "./failures.ts"
import * as Names from "./names.ts"
import { fromDefinition, type Tool } from "./shape.ts"
import type { Later } from "./rows.ts"
import type { ToolContext } from "./ToolDefinition.ts"
import type { CallLimit, ServicesOfVerify, Storable, TimeoutOf, WithoutScope } from "./ToolTypes.ts"

/** Stands for the services of `cancel` if the tool has no `cancel`. */
interface NoCancel {
  readonly NoCancel: never
}

/** What `start` knows of its call besides its parameters. */
interface StartContext extends ToolContext {
  /**
   * The token that settles this attempt of the call, see `Tool.settle`. Give it to the service that does the work, and keep it from
   * clients.
   */
  readonly token: string
}

/** Stands for the services of `poll` if the tool has no `poll`. */
interface NoPoll {
  readonly NoPoll: never
}

/** How a deferred call is polled for its result, besides the settlement that may come. */
interface Poll<H, A, E, R> {
  /** The waits before the polls. The first wait begins when `start` has returned. A run that is resumed from a snapshot polls at once. */
  readonly every: Schedule.Schedule<unknown, unknown>
  /**
   * Returns the result, or `None` if there is none yet. A failure counts as `None` while the schedule goes on; after the last poll it is
   * the failure of the call. If the schedule ends with `None`, the call waits for its settlement.
   */
  readonly check: (handle: H) => Effect.Effect<Option.Option<A>, E, R>
}

/** What a deferred tool is made of. */
interface DeferredOptions<Params, A, E, R, S extends Recovery.SideEffects, H, RD, C, VR, CR, PE, PR, W>
  extends Omit<Options<Params, A, never, never, S, RD>, "run">, Omit<Limits<undefined, C, A, VR>, "timeout"> {
  /**
   * Begins the work, and returns a handle by which the work can be found, as JSON. `start` passes all gates and tables, like the `run` of
   * any tool.
   */
  readonly start: (params: Params, context: StartContext) => Effect.Effect<H, E, R>
  /**
   * What the run does once `start` has returned:
   *
   * - `suspend`: the run waits for the settlement: in memory, or in a snapshot if `start` of the agent has begun the run.
   * - `continue`: the run goes on. The call is settled at once as `deferred`, and a message brings the result to the model later, at a safe
   *   point. If the work fails, the rows of the tool decide then: the message says what they tell, and `retry` begins the work anew.
   */
  readonly wait: W
  /**
   * What a run that has its answer does about such a call that has no result yet:
   *
   * - `wait`, the default: the run waits for the result, and the model reads it.
   * - `detach`: the run ends with its answer, and leaves the work as it is. The call is in `open` of the outcome and of `run-completed`,
   *   and its settlement counts no more.
   *
   * Only with `wait: "continue"`. A run that ends otherwise cancels the work.
   */
  readonly atEnd?: [W] extends ["continue"] ? "wait" | "detach" : never
  /** How long the call waits after `start` has returned. */
  readonly deadline: Duration.Input
  readonly poll?: Poll<NoInfer<H>, NoInfer<A>, PE, PR>
  /**
   * Stops the work when the call no longer waits for it. It succeeds when the work is stopped and takes no effect; otherwise it fails. It
   * has 5 seconds.
   */
  readonly cancel?: (handle: NoInfer<H>) => Effect.Effect<unknown, unknown, CR>
}

/** Forbids `callTimeout` for a tool with `wait: "continue"`: its calls are settled at once, and `deadline` limits the work. */
type WithinDeadline<W> = [W] extends ["continue"] ? { readonly callTimeout?: never } : unknown

/**
 * The errors of a deferred tool at its deadline. With `cancel`, an unsafe tool may fail with `ToolTimeoutError` too: `cancel` has confirmed
 * then that the work took no effect.
 */
type ExpiryOf<S, VR, CR> = TimeoutOf<S, Duration.Input, VR> | ([NoCancel] extends [CR] ? never : ToolTimeoutError)

/** The options that `define` takes unchanged. Their types are in the type of the tool. */
type Given = Omit<Options<unknown, unknown, unknown, unknown, Recovery.SideEffects>, "run"> &
  Limits<undefined, undefined, unknown, unknown> &
  Stored<unknown>

/** The services of an optional function; `never` if the function is absent. */
type NeedOf<R, Absent> = [Absent] extends [R] ? never : WithoutScope<R>

type FailureOf<F> = F extends Schema.Codec<infer Failures, unknown> ? Failures : never

const isPoll = (poll: unknown): boolean =>
  Predicate.hasProperty(poll, "every") &&
  Schedule.isSchedule(poll.every) &&
  Predicate.hasProperty(poll, "check") &&
  Predicate.isFunction(poll.check)

/**
 * Makes a tool that ends later: a job, a person, a webhook. `start` begins the work and returns a handle. Then the call waits for its
 * settlement: `Tool.settle` with the token of `start`, or `Agent.resume` with `settlements`. The first settlement counts. A failure goes to the rows of
 * the tool: `retry` and `fix` begin anew, with the same key and another token. At the deadline `cancel` is called, and the call fails with
 * `ToolTimeoutError`; an `unsafe` one with `OutcomeUnknownError`, unless `cancel` or `verify` says otherwise.
 *
 * @example
 * ```ts
 * import { Tool } from "@kintsugi/core"
 * import { Effect, Exit, Schema } from "effect"
 *
 * const render = Tool.deferred("render", {
 *   description: "Renders a film.",
 *   parameters: Schema.Struct({ film: Schema.String }),
 *   success: Schema.Struct({ url: Schema.String }),
 *   // a real one gives the token to the service, whose webhook settles the call
 *   start: ({ film }, { token }) =>
 *     Effect.as(Tool.settle(token, Exit.succeed({ url: `https://films.example/${film}` })), { job: film }),
 *   wait: "suspend",
 *   deadline: "2 hours"
 * })
 * Effect.runPromise(Tool.call(render, { film: "dawn" })) // => { url: "https://films.example/dawn" }
 * ```
 */
export const deferred = <
  const Name extends string,
  Params,
  A,
  E = Later,
  H extends Schema.Json = Schema.Json,
  R = never,
  const S extends Recovery.SideEffects = "undeclared",
  C extends Duration.Input | undefined = undefined,
  VR = NoVerify,
  CR = NoCancel,
  PE = never,
  PR = NoPoll,
  F extends Schema.Codec<unknown, unknown> | undefined = undefined,
  RD = never,
  const W extends "suspend" | "continue" = "suspend"
>(
  name: Name,
  options: DeferredOptions<Params, A, E, R, S, H, RD, C, VR, CR, PE, PR, W> &
    ({ readonly maxResultChars?: never } | { readonly putAside?: never }) &
    WithinDeadline<W> &
    Stored<F> &
    Covers<E | PE, F> &
    OwnFailures<E | PE, "start">
): Tool<
  Name,
  Params,
  A,
  E | PE | FailureOf<F> | ExpiryOf<S, VR, CR>,
  WithoutScope<R> | RD | ServicesOfVerify<VR> | NeedOf<CR, NoCancel> | NeedOf<PR, NoPoll>,
  CallLimit<C> & Storable<E | PE | FailureOf<F>, F>,
  NoInfer<S>
> => {
  Names.check(name)
  const { atEnd, cancel, deadline, poll, start, wait, ...others } = options
  if (wait !== "suspend" && wait !== "continue")
    throw new TypeError(`Tool '${name}': wait must be "suspend" or "continue"`)
  if (wait === "continue" && others.callTimeout !== undefined)
    throw new TypeError(`Tool '${name}': with wait "continue", deadline takes the place of callTimeout`)
  if (atEnd !== undefined && (wait !== "continue" || (atEnd !== "wait" && atEnd !== "detach")))
    throw new TypeError(`Tool '${name}': atEnd must be "wait" or "detach", with wait "continue"`)
  if (!Predicate.isFunction(start)) throw new TypeError(`Tool '${name}': start must be a function`)
  if (cancel !== undefined && !Predicate.isFunction(cancel))
    throw new TypeError(`Tool '${name}': cancel must be a function`)
  if (poll !== undefined && !isPoll(poll))
    throw new TypeError(`Tool '${name}': poll must have every, a Schedule, and check, a function`)
  // `start` takes the place of `run`, and gets its token when it is called
  const definition = define(name, { ...(others as unknown as Given), run: start as never })
  const foreign = ["run", "execute", "timeout"].find((option) => Reflect.get(others, option) !== undefined)
  if (foreign !== undefined)
    throw new TypeError(`Tool '${name}': ${foreign} is no option of a deferred tool, which has start and deadline`)
  const limit = limitOf(name, "deadline", deadline)
  if (limit === undefined) throw new RangeError(`Tool '${name}': deadline must be a finite duration above 0`)
  // the services that these functions need are in the type of the tool
  const waits = {
    deadline: limit,
    cancel,
    poll,
    atEnd: wait === "continue" ? (atEnd ?? "wait") : undefined
  } as unknown as Parameters<typeof Deferring.make>[1]
  return fromDefinition({ ...definition, deferral: Deferring.make(definition, waits) })
}
