/** `Agent.resilient`: the best policy that needs no knowledge of the tools. */
import { dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import { demand } from "../data/Demand.ts"
import * as Recovery from "../recovery/Recovery.ts"
import type * as Tool from "../tool/Tool.ts"
import { type Agent, fromDefinition } from "./definition.ts"
import { refuses } from "../tool/Repetition.ts"
import { definitionOf } from "./parts.ts"
import type { AnyPart } from "./partTypes.ts"
import { isAgent } from "./sealing.ts"
import type { Running } from "./skills.ts"
import type { Resilience } from "./types.ts"

/** How patient a resilient agent is. */
export interface ResilientOptions<R = never> extends Recovery.presets.ToolOptions, Recovery.presets.ModelOptions<R> {
  /** How often the model is called again for an answer that does not fit, unless `Agent.outputRetries` says so; 2 by default. */
  readonly outputRetries?: number
}

/**
 * Adds the best policy that needs no knowledge of the tools. It applies after all tables of the agent, at any place of the pipe: your rows
 * decide first. If your row for a failure of a tool gives up, the model reads that failure.
 *
 * - A tool that failed runs again if the failure may pass and the tool may run twice (`presets.resilientTools`). The model reads about
 *   every other failure, with what it can do. No failure of a tool ends the run. Defects do.
 * - A call that may have taken effect, and that the model repeats at once with the same arguments, is held: the model reads that it should
 *   check first. The next equal call runs. A tool with `sideEffects: "none"` or `"idempotent"` is never held.
 * - A failed model call is repeated, and a conversation that is too long is shortened (`presets.resilientModel`), in the place of the
 *   retries of the transport. A streamed reply that breaks off is discarded and requested again, unless `Agent.onLlmError` says
 *   `onPartial: "fail"`.
 * - The model is called up to twice more for an answer that does not fit.
 *
 * Coercion of arguments and the breaker of repeated failures work with and without it. A tool with unsafe side effects never runs again.
 *
 * @example
 * ```ts
 * import { Agent, Recovery, Tool } from "@kintsugi/core"
 * import { Effect, Schema } from "effect"
 *
 * const weather = Tool.make("weather", {
 *   description: "The weather in a city.",
 *   parameters: Schema.Struct({ city: Schema.String }),
 *   success: Schema.String,
 *   sideEffects: "none",
 *   run: ({ city }) => (city === "Oslo" ? Effect.succeed("rain") : Effect.fail(new Error("no such city")))
 * })
 * const guide = Agent.make("guide", { tools: [weather] }).pipe(Agent.resilient())
 * Agent.explain(guide).tools.get("weather")?.worst.attempts // => 4
 * ```
 */
export const resilient: {
  <R2 = never>(
    options?: ResilientOptions<R2>
  ): <I, O, E, R, T extends Tool.AnyTool, ByTool, Defaults, ModelTable extends Running, Choice, Name extends string>(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>
  ) => Agent<I, O, E, R | R2, T, ByTool, Recovery.Merge<Defaults, Resilience>, ModelTable, Choice, Name>
  <
    I,
    O,
    E,
    R,
    T extends Tool.AnyTool,
    ByTool,
    Defaults,
    ModelTable extends Running,
    Choice,
    Name extends string,
    R2 = never
  >(
    self: Agent<I, O, E, R, T, ByTool, Defaults, ModelTable, Choice, Name>,
    options?: ResilientOptions<R2>
  ): Agent<I, O, E, R | R2, T, ByTool, Recovery.Merge<Defaults, Resilience>, ModelTable, Choice, Name>
} = dual(
  ([self]) => isAgent(self),
  <A, R2>(self: AnyPart, options: ResilientOptions<R2> = {}): A => {
    demand("Agent.resilient", "given options", options, Predicate.isObject(options))
    const tools = Recovery.rowsOf(Recovery.presets.resilientTools(options), "a tool")
    const model = Recovery.rowsOf(Recovery.presets.resilientModel(options), "a model call")
    const outputRetries = counted(options.outputRetries ?? 2)
    return fromDefinition({ ...definitionOf(self), resilient: { tools, refuses, model, outputRetries } })
  }
)

const counted = (outputRetries: number): number => {
  if (Number.isSafeInteger(outputRetries) && outputRetries >= 0) return outputRetries
  throw new RangeError(`Agent.resilient: outputRetries must be a whole number of at least 0, got ${outputRetries}`)
}
