/** Provides all functions of a tool with a layer. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Returned from "../data/Returned.ts"
import { Cost } from "../recovery/Cost.ts"
import type { ToolDefinition } from "./ToolDefinition.ts"

export const provided = (self: ToolDefinition, layer: Layer.Layer<unknown>): ToolDefinition => {
  const { approval, around: stands, compensate, decode, deferral, name, nested, run, verify } = self
  const around = <A, E>(effect: Effect.Effect<A, E>) => Effect.provide(effect, layer)
  // both are in the scope of the execution: what a function of the tool acquires is released before the layer
  const within = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.contextWith((context: Context.Context<never>) =>
      Effect.flatMap(Layer.buildWithScope(layer, Context.getUnsafe(context, Scope.Scope)), (built) =>
        Effect.provideContext(effect, built)
      )
    )
  const running: ToolDefinition["run"] = (params, context) =>
    within(Returned.effect(run(params, context), "The run of tool", name))
  // the cost of an agent is a property of its function, so the wrapper gets the property too
  if (Predicate.hasProperty(run, Cost)) Object.defineProperty(running, Cost, { value: run[Cost] })
  return {
    ...self,
    decode: (value) => {
      const read = decode(value)
      return Result.isResult(read) ? read : around(read)
    },
    run: running,
    ...(stands && { around: (attempt, refusal) => around(stands(attempt, refusal)) }),
    ...(nested && { nested: { ...nested, run: (params, nesting) => within(nested.run(params, nesting)) } }),
    ...(deferral && { deferral: deferral.provided(within) }),
    verify: verify && ((key) => within(verify(key))),
    // the services that `compensate` needs are in the type of the tool
    compensate: compensate && ((call) => within(compensate(call) as Effect.Effect<void, unknown>)),
    approval: approval?.provided?.(around) ?? approval
  }
}
