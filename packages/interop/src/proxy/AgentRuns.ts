/** Runs in memory. `AgentProxyServer` serves them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { Agent, type KintsugiError } from "@kintsugi/core"
import type { AgentProxy, RunsOf } from "./AgentProxy.ts"
import { type RunLimits, runsInMemory, type Served } from "./memory.ts"
import type { SuspendedRuns } from "./suspended.ts"

export { layerSuspendedMemory, SuspendedRuns } from "./suspended.ts"

/** The part of an agent that its runs need. */
interface Startable<in I, out O, out E, out R> {
  readonly start: (input: I) => Effect.Effect<Agent.Run<O, E>, never, R>
}

/**
 * Runs in this process. A run that waits for a decision is stored in `SuspendedRuns`, and goes on from there; a run at work ends with the
 * process. The failures of the agent are errors of this library, or fit the `error` schema of the contract.
 */
export const layerMemory = <const Name extends string, I, O, E, R>(
  self: AgentProxy<Name, I, O, E>,
  agent: Startable<I, O, E | KintsugiError.KintsugiError, R> & Agent.AnyPart,
  limits: RunLimits = {}
): Layer.Layer<RunsOf<Name>, never, SuspendedRuns | Exclude<R, Scope.Scope>> =>
  Layer.effect(
    self.runs,
    Effect.gen(function* () {
      const context = yield* Effect.context<never>()
      const encode = Schema.encodeEffect(Schema.toCodecJson(self.input))
      const starting = (make: (input: never) => Effect.Effect<unknown, unknown, unknown>) =>
        // cast: the context of the layer has what the agent needs, and wins over that of the request, which ends before the run
        ((input: unknown) =>
          Effect.flatMap(Effect.scope, (scope) =>
            Effect.updateContext(make(input as never), (own: Context.Context<unknown>) =>
              Context.add(Context.merge(own, context), Scope.Scope, scope)
            )
          )) as never
      const served: Served = {
        name: self.name,
        encode: (input) => Effect.orDie(encode(input as I)),
        start: starting(agent.start),
        resume: starting(
          Agent.resume(agent as never as Agent.Agent<never, unknown, unknown, unknown, never, {}, {}, object>)
            .start as never
        )
      }
      return (yield* runsInMemory(served, limits)) as never
    })
  )
