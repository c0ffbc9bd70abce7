/** Wraps what a tool does: in a layer, or in Effect combinators. */
import type * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import type * as Layer from "effect/Layer"
import type { OutcomeUnknownError } from "../errors/ToolError.ts"
import * as Around from "./around.ts"
import * as Providing from "./providing.ts"
import { type AnyTool, fromDefinition, isTool, type Tool } from "./shape.ts"
import type { Nearer } from "./failures.ts"
import { surrounded } from "./surrounding.ts"
import type { Behind } from "./table.ts"
import type { Acknowledged } from "../recovery/TableTypes.ts"

/**
 * Gives the functions of a tool a layer. The functions are the decoding of its parameters, `run`, `verify`, its compensation, and the
 * `when` of `requireApproval`. The layer is built for each execution of such a function, and released after the scope of the execution is
 * closed. The failure of a layer is a failure of `run`, for the rows of the tool. The handlers of the table run outside of the layer.
 *
 * @example
 * ```ts
 * import { Tool } from "@kintsugi/core"
 * import { Context, Effect, Layer, Schema } from "effect"
 *
 * class Db extends Context.Service<Db, { readonly rows: number }>()("Db") {}
 * const rows = Tool.make("rows", {
 *   description: "Counts the rows.",
 *   parameters: Schema.Struct({}),
 *   success: Schema.Number,
 *   run: () => Effect.map(Db, (db) => db.rows)
 * }).pipe(Tool.provide(Layer.succeed(Db, { rows: 3 })))
 * await Effect.runPromise(Tool.call(rows, {})) // => 3
 * ```
 */
export const provide: {
  <L, E2, R2>(
    layer: Layer.Layer<L, E2, R2>
  ): <Name extends string, Params, A, E, R, T, S>(
    self: Tool<Name, Params, A, E, R, T, S> & Nearer<T, Exclude<E2, E>>
  ) => Tool<Name, Params, A, E | E2, Exclude<R, L> | R2, Behind<T, E2>, S>
  <Name extends string, Params, A, E, R, T, S, L, E2, R2>(
    self: Tool<Name, Params, A, E, R, T, S> & Nearer<T, Exclude<E2, E>>,
    layer: Layer.Layer<L, E2, R2>
  ): Tool<Name, Params, A, E | E2, Exclude<R, L> | R2, Behind<T, E2>, S>
} = dual(2, <T>({ definition }: AnyTool, layer: Layer.Layer<unknown>): T =>
  // the failures and needs of the layer are in the tool's type
  fromDefinition(Providing.provided(definition, layer))
)

/**
 * Wraps the attempts of a tool, as `Effect.retry` or `Effect.timeout` do.
 *
 * The function `f` gets one attempt as an effect; the attempt is within the `timeout` of the tool. Each run of that effect is another
 * attempt: it has its own number and events, keeps the idempotency key, and the cap of a call counts it. The tables of the tool and of the
 * agent see the failures of `f`, at any place of `around` in a pipe. Gates, such as approval and policies, come before `f`.
 *
 * An `unsafe` tool runs once: a second attempt fails with `OutcomeUnknownError`. It runs again if `verify` has found that the first
 * attempt took no effect, or with the option `acknowledge: "may run twice"`.
 *
 * @example
 * ```ts
 * import { Tool } from "@kintsugi/core"
 * import { Data, Effect, Schedule, Schema } from "effect"
 *
 * class Busy extends Data.TaggedError("Busy") {}
 * let runs = 0
 * const count = Tool.make("count", {
 *   description: "Counts its runs.",
 *   parameters: Schema.Struct({}),
 *   success: Schema.Number,
 *   run: () => (++runs < 3 ? Effect.fail(new Busy()) : Effect.succeed(runs))
 * }).pipe(Tool.around((attempt) => attempt.pipe(Effect.retry(Schedule.recurs(5)), Effect.timeout("1 minute"))))
 * await Effect.runPromise(Tool.call(count, {})) // => 3
 * ```
 */
export const around: {
  <A, E, R, S, A2 extends A, E2, R2, const O extends Partial<Acknowledged> = {}>(
    f: (attempt: Effect.Effect<A, E | Refusal<S, O>, R>) => Effect.Effect<A2, E2, R2>,
    options?: O
  ): <Name extends string, Params, T>(
    self: Tool<Name, Params, A, E, R, T, S> & Nearer<T, Exclude<E2, E>>
  ) => Tool<Name, Params, A, E2, R | R2, Behind<T, Exclude<E2, E>>, S>
  <Name extends string, Params, A, E, R, T, S, A2 extends A, E2, R2, const O extends Partial<Acknowledged> = {}>(
    self: Tool<Name, Params, A, E, R, T, S> & Nearer<T, Exclude<E2, E>>,
    f: (attempt: Effect.Effect<A, E | Refusal<S, O>, R>) => Effect.Effect<A2, E2, R2>,
    options?: O
  ): Tool<Name, Params, A, E2, R | R2, Behind<T, Exclude<E2, E>>, S>
} = dual(
  ([self]) => isTool(self),
  <T>(self: AnyTool, f: Parameters<typeof Around.make>[0], options?: Partial<Acknowledged>): T => {
    const { around: before, name, sideEffects } = self.definition
    const needsConsent = sideEffects === "unsafe" && options?.acknowledge !== "may run twice"
    return fromDefinition({
      ...self.definition,
      around: Around.make(f, { tool: name, before, needsConsent }),
      surrounded
    })
  }
)

/** The error of an unsafe tool when a function of `Tool.around` runs it again without `acknowledge`. */
type Refusal<S, O> = "unsafe" extends S ? ("acknowledge" extends keyof O ? never : OutcomeUnknownError) : never
