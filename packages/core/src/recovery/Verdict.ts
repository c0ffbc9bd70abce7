/** Verdicts: values that say what to do about one failure. Users reach them through the module `Recovery`. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import { aFunction, demand, oneOf, options as given } from "../data/Demand.ts"
import * as Backoff from "./Backoff.ts"
import * as Compacting from "./Compacting.ts"
import type { Compaction } from "./Compaction.ts"
import * as Following from "./following.ts"
import * as Fixing from "./fixing.ts"
import type * as Internal from "./Node.ts"
import type { Count, FailureContext } from "./Node.ts"
import type { DeserializationError, InvalidArgs, Severity, ToolExecutionError } from "../errors/ToolError.ts"
import { erase, type Given, isVerdict, nodeOf, verdict } from "./making.ts"
import type { Present } from "./misfit.ts"
import type { Acknowledged, AnyVerdict, Retry, Verdict } from "./verdictTypes.ts"

export type { AnyVerdict, Retry, Verdict } from "./verdictTypes.ts"

export type { FailureContext, SideEffects } from "./Node.ts"

/**
 * Retries the call after a wait. `retries` counts the extra attempts, `maxAttempts` all attempts. Without `initialBackoff`
 * there is no wait; by default each wait is twice the one before. A hint of the server (`retryAfter`) is a floor under every wait.
 * A schedule gets each error as its input. When the retries are used up, the rung gives up.
 *
 * @example
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { Data, Effect } from "effect"
 *
 * class Busy extends Data.TaggedError("Busy")<{}> {}
 *
 * let attempts = 0
 * const flaky = Effect.suspend(() => (++attempts < 3 ? Effect.fail(new Busy()) : Effect.succeed("done")))
 * const guarded = flaky.pipe(Recovery.onError({ Busy: Recovery.retry({ retries: 5, initialBackoff: "1 millis" }) }))
 *
 * Effect.runPromise(guarded) // => "done"
 * ```
 */
export function retry<E>(options: Backoff.Options & Acknowledged): Retry<E>
export function retry<E>(options: Backoff.Options): Retry<E, never, never, "repeats">
export function retry<E, Output, Err, R>(
  schedule: Schedule.Schedule<Output, E, Err, R>,
  options: Acknowledged
): Retry<E, Err, R>
export function retry<E, Output, Err, R>(schedule: Schedule.Schedule<Output, E, Err, R>): Retry<E, Err, R, "repeats">
export function retry(
  input: (Backoff.Options & Partial<Acknowledged>) | Schedule.Schedule<unknown, never, unknown, unknown>,
  options?: Acknowledged
): Retry<never, unknown, unknown, unknown> {
  const isSchedule = Schedule.isSchedule(input)
  if (!isSchedule && !Predicate.isObject(input)) {
    throw new TypeError(
      `Recovery.retry takes options or a schedule, not ${String(input)}: { retries: n } counts the extra runs, { maxAttempts: n } all runs`
    )
  }
  // the driver passes only errors of the row to the schedule, so its error type is safe to drop
  const schedule = isSchedule ? Backoff.hinted(input as Schedule.Schedule<unknown, unknown>) : Backoff.make(input)
  const acknowledged = (isSchedule ? options : input)?.acknowledge === "may run twice"
  return verdict({ kind: "retry", schedule, madeOf: input, acknowledged })
}

/** Returns the schedule of a retry verdict. `Effect.retry` with this schedule makes the same attempts at the same instants. */
export const toSchedule = <E, Err, R, Acts>(self: Retry<E, Err, R, Acts>): Schedule.Schedule<unknown, E, Err, R> => {
  const node = nodeOf(self)
  if (node.kind !== "retry") throw new TypeError("Recovery.toSchedule: not a retry verdict")
  // the type parameters of the verdict are those of its schedule
  return node.schedule as Schedule.Schedule<unknown, E, Err, R>
}

/** How often the fixer may run; once by default. `maxAttempts: m` equals `retries: m - 1`. */
type FixOptions<E> = Partial<Count> & {
  /** With `"result"`, the answer replaces the tool's result, and the tool does not run again. */
  readonly as?: "arguments" | "result"
  /** Builds the fixer's input, in place of the raw arguments or the report. */
  readonly input?: (failure: FixInput<E>) => string
}

/** The names of all options of fixers. */
type FixOption = "as" | "input" | "retries" | "maxAttempts" | "acknowledge"

/** The names of fixer options in other libraries, each with the name to write instead. */
interface FixElsewhere {
  readonly instructions: "a fixer that is an agent has a prompt"
  readonly system: "a fixer that is an agent has a prompt"
  readonly prompt: "a fixer that is an agent has a prompt"
  readonly maxSteps: "a fixer that is an agent has budget: { maxTurns }"
  readonly maxRuns: "its name here is retries"
  readonly maxRetries: "its name here is retries"
  readonly attempts: "its name here is maxAttempts"
  readonly toInput: "its name here is input"
}

/** The failure that a fixer has to repair: that of the row, or that of the fixer's previous answer. */
interface FixInput<out E> {
  readonly error: E | InvalidArgs | DeserializationError
  readonly context: FailureContext
}

/** A fixer: any function from text to an effect of text, such as an agent. */
type Fixer<E, R> = (input: string) => Effect.Effect<string, E, R>

/**
 * Repairs the arguments of the call with a fixer. A fixer is an agent, or any function from text to an effect of text. The answer passes
 * every gate again, and the tool runs again. A fixer runs once by default. A failed run of the fixer counts, and stays in the trail. An
 * `EscalationError` of the fixer is told to the model, and its `ToolExecutionError` ends the run.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Effect, Schema } from "effect"
 *
 * const digits = Agent.deterministic("digits", (raw: string) => Effect.succeed(raw.replace('"three"', "3")))
 *
 * const doubled: Array<number> = []
 * const double = Tool.make("double", {
 *   description: "Doubles a number.",
 *   parameters: Schema.Struct({ n: Schema.Finite }),
 *   success: Schema.Finite,
 *   run: ({ n }) => Effect.sync(() => doubled[doubled.push(2 * n) - 1]!),
 *   onError: { InvalidArgs: Recovery.fix(digits) }
 * })
 *
 * const program = Effect.gen(function* () {
 *   const { call, calls, make, text } = ScriptedModel
 *   const model = yield* make(calls(call("double", { n: "three" })), text("It is six."))
 *   yield* Effect.provide(Agent.make("clerk", { tools: [double] })("Double three."), model.layer)
 *   return doubled
 * })
 * Effect.runPromise(Effect.scoped(program)) // => [6]
 * ```
 */
export function fix<E, FixerError, R>(
  fixer: Fixer<FixerError, R>,
  options: FixOptions<E> & Acknowledged
): Verdict<E, never, Extract<FixerError, ToolExecutionError>, R, "exhausted", "repairs">
export function fix<E, FixerError, R>(
  fixer: Fixer<FixerError, R>,
  options: FixOptions<E> & { readonly as: "result" }
): Verdict<E, never, Extract<FixerError, ToolExecutionError>, R, "exhausted", "repairs">
export function fix<E, FixerError, R, Given = {}>(
  fixer: Fixer<FixerError, R>,
  options?: { readonly [K in keyof Given]?: Present<Given, FixOption, FixElsewhere>[K] } & FixOptions<E>
): Verdict<E, never, Extract<FixerError, ToolExecutionError>, R, "exhausted", "repeats" | "repairs">
export function fix(
  fixer: Fixer<unknown, unknown>,
  options: FixOptions<never> & Partial<Acknowledged> = {}
): Verdict<never, never, unknown, unknown, "exhausted", "repeats" | "repairs"> {
  demand("Recovery.fix: the fixer", "an agent or another function", fixer, Predicate.isFunction(fixer))
  given("Recovery.fix", options, ["as", "input", "retries", "maxAttempts", "acknowledge"])
  oneOf("Recovery.fix: as", options.as, ["arguments", "result"])
  aFunction("Recovery.fix: input", options.input)
  return verdict({
    kind: "fix",
    // the services of the fixer are in the type of the verdict
    fixer: fixer as Fixer<unknown, never>,
    maxRuns: options.retries === undefined && options.maxAttempts === undefined ? 1 : Backoff.attempts(options) - 1,
    as: options.as ?? "arguments",
    // the driver passes only errors of the row to this function
    input: options.input as Internal.Fix["input"],
    acknowledged: options.acknowledge === "may run twice",
    run: Fixing.run,
    follow: Following.fixing
  })
}

/**
 * Tells the failure to the model, and the run goes on. The model reads the text as the failed result of its call. `render` makes the text.
 * Without `render`, or if it fails or returns nothing, the text says what failed and whether repeating the call can help. With `then:
 * "tools-off"` on every failure of one reply, the run goes on without tools: the model has to answer in words.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Data, Effect, Schema } from "effect"
 *
 * class NoSuchItem extends Data.TaggedError("NoSuchItem")<{ readonly item: string }> {}
 *
 * const stock = Tool.make("stock", {
 *   description: "How many of an item are left.",
 *   parameters: Schema.Struct({ item: Schema.String }),
 *   success: Schema.Finite,
 *   run: ({ item }) => Effect.fail(new NoSuchItem({ item }))
 * }).pipe(Tool.onError({ NoSuchItem: Recovery.tell(({ item }) => `There is no item '${item}'.`) }))
 *
 * const program = Effect.gen(function* () {
 *   const { call, calls, make, text } = ScriptedModel
 *   const model = yield* make(calls(call("stock", { item: "fork" })), text("We have no forks."))
 *   return yield* Effect.provide(Agent.make("clerk", { tools: [stock] })("How many forks?"), model.layer)
 * })
 * Effect.runPromise(Effect.scoped(program)) // => "We have no forks."
 * ```
 */
export const tell = <E, R = never>(
  render?: (error: E, context: FailureContext) => string | Effect.Effect<string, unknown, R>,
  options?: { readonly then?: Internal.Afterwards }
): Verdict<E, never, never, Given<R>, "told"> => {
  aFunction("Recovery.tell: the text", render)
  oneOf("Recovery.tell: then", options?.then, ["continue", "tools-off"])
  return telling(render, options)
}

/**
 * Makes a `tell` verdict, with a default text for when `render` fails or returns nothing.
 *
 * @internal
 */
export const telling = <E, R = never>(
  render: ((error: E, context: FailureContext) => string | Effect.Effect<string, unknown, R>) | undefined,
  options?: { readonly then?: Internal.Afterwards; readonly byDefault?: (error: E) => string }
): Verdict<E, never, never, Given<R>, "told"> =>
  verdict({
    kind: "tell",
    // the services of `render` are in the type of the verdict
    render: render === undefined ? undefined : (erase(render) as Internal.Renderer),
    byDefault: options?.byDefault && erase(options.byDefault),
    afterwards: options?.then
  })

/**
 * Sets the number of failed calls in a row that a verdict expects. The breaker of the run counts only beyond it.
 *
 * @internal
 */
export const patient = <V extends AnyVerdict>(self: V, patience: number): V => verdict({ ...nodeOf(self), patience })

/**
 * Lets a verdict decide after a nearer row gave up. The verdict, or `behind`, follows as the last rung of that row. Use it for the `orElse`
 * of a table that applies after all others, as the presets do.
 *
 * @example
 * ```ts
 * import { Agent, Recovery } from "@kintsugi/core"
 *
 * // the model also reads a failure that the retries of a tool gave up
 * const clerk = Agent.make("clerk", {}).pipe(Agent.toolDefaults({ orElse: Recovery.backstop(Recovery.tell()) }))
 * clerk.name // => "clerk"
 * ```
 */
export const backstop = <E, A, Err, R, End, Acts>(
  self: Verdict<E, A, Err, R, End, Acts>,
  behind: Verdict<E, A, Err, R, End, Acts> = self
): Verdict<E, A, Err, R, End | "backstop", Acts> => {
  for (const one of [self, behind]) demand("Recovery.backstop", "given a verdict", one, isVerdict(one))
  return verdict({ ...nodeOf(self), behind: nodeOf(behind) })
}

/**
 * Tells the model to correct its arguments. The text has the reason and a severity; the run goes on. By default, `severity` is that of an
 * `EscalationError`, and `HIGH` for every other failure. As the last rung of a ladder it is what the model reads when no repair has helped.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { Effect, Schema } from "effect"
 *
 * const lower = Agent.deterministic("lower", (raw: string) => Effect.succeed(raw.toLowerCase()))
 * const paint = Tool.make("paint", {
 *   description: "Paints the wall.",
 *   parameters: Schema.Struct({ color: Schema.Literals(["red", "green"]) }),
 *   success: Schema.String,
 *   run: ({ color }) => Effect.succeed(`${color} wall`)
 * }).pipe(Tool.onError({ InvalidArgs: Recovery.ladder(Recovery.fix(lower), Recovery.escalate({ severity: "LOW" })) }))
 *
 * // nothing of bad arguments is left: they are repaired, or the model reads about them
 * const painter = Agent.make("painter", { tools: [paint] })
 * const painted = painter("Paint it green.")
 * //    ^? Effect<string, BudgetExceededError | LlmError, Model>
 * ```
 */
export const escalate = <E>(
  options: { readonly severity?: Severity } = {}
): Verdict<E, never, never, never, "told"> => {
  given("Recovery.escalate", options, ["severity"])
  oneOf("Recovery.escalate: severity", options.severity, ["LOW", "MEDIUM", "HIGH", "CRITICAL"])
  return verdict({ kind: "escalate", severity: options.severity })
}

/**
 * Shortens the conversation and calls the model again. It is a row for `ContextTooLongError`, only in tables for model calls. It shortens
 * at most twice in a turn, over all rungs of its table. If the compaction fails, or its result is no shorter, the rung gives up without a
 * model call.
 */
export const compact = <E, R = never>(
  compaction: Compaction<R>
): Verdict<E, never, never, R, "exhausted", "compacts"> =>
  verdict({
    kind: "compact",
    // the services of the compaction are in the type of the verdict
    compaction: compaction as Compaction,
    run: Compacting.run,
    follow: Following.compacting
  })

/** The constraint of an answer: any value. It names arrays, so that an array literal is inferred as a mutable array. */
type Answerable = Array<unknown> | {} | null | undefined

/**
 * Answers in the place of the call. The answer is a value, or a function from the failure to an effect of a value. A value has its literal
 * type, as with `as const`. The errors and services of the effect are in the type of the result.
 *
 * @example
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { Data, Effect } from "effect"
 *
 * class Down extends Data.TaggedError("Down")<{}> {}
 * const rates: Effect.Effect<number, Down> = Effect.fail(new Down())
 *
 * const guarded = Recovery.onError(rates, { Down: Recovery.respondWith("unknown") })
 * //    ^? Effect<number | "unknown">
 * ```
 */
export function respondWith<E, A, E2 = never, R = never>(
  answer: (error: E) => Effect.Effect<A, E2, R>
): Verdict<E, Given<A>, Given<E2>, Given<R>>
export function respondWith<E, const A extends Answerable>(
  answer: A & (A extends (...args: never) => unknown ? never : unknown)
): Verdict<E, Given<A>>
export function respondWith(answer: unknown): Verdict<never, unknown, unknown, unknown> {
  return verdict({
    kind: "respondWith",
    // a function is the form with an effect; its services are in the type of the verdict
    answer: Predicate.isFunction(answer)
      ? (answer as (error: unknown) => Effect.Effect<unknown, unknown>)
      : () => Effect.succeed(answer)
  })
}

/**
 * Ends the run at once, with a `ToolExecutionError`. It carries the failure as its cause, and the trail of what was tried.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { ScriptedModel } from "@kintsugi/core/testing"
 * import { Data, Effect, Schema } from "effect"
 *
 * class Locked extends Data.TaggedError("Locked")<{}> {}
 *
 * const open = Tool.make("open", {
 *   description: "Opens the safe.",
 *   parameters: Schema.Struct({}),
 *   success: Schema.String,
 *   run: () => Effect.fail(new Locked()),
 *   onError: { Locked: Recovery.raise }
 * })
 *
 * const program = Effect.gen(function* () {
 *   const { call, calls, make } = ScriptedModel
 *   const model = yield* make(calls(call("open", {})))
 *   return yield* Effect.provide(Agent.make("guard", { tools: [open] })("Open the safe."), model.layer)
 * }).pipe(Effect.catchTag("ToolExecutionError", ({ tool }) => Effect.succeed(`${tool} ended the run`)))
 * Effect.runPromise(Effect.scoped(program)) // => "open ended the run"
 * ```
 */
export const raise: Verdict<unknown, never, never, never, "raise"> = verdict({ kind: "raise" })

/**
 * Lets the failure leave unchanged: no other row decides about it.
 *
 * @example
 * ```ts
 * import { Recovery } from "@kintsugi/core"
 * import { Data, Effect } from "effect"
 *
 * class Down extends Data.TaggedError("Down")<{}> {}
 * class Gone extends Data.TaggedError("Gone")<{}> {}
 * const page: Effect.Effect<string, Down | Gone> = Effect.fail(new Down())
 *
 * const guarded = Recovery.onError(page, { Gone: Recovery.rethrow, orElse: Recovery.respondWith("try later") })
 * //    ^? Effect<string, Gone>
 * ```
 */
export const rethrow: Verdict<unknown, never, never, never, "rethrow"> = verdict({ kind: "rethrow" })
