/**
 * Two agents share one guard: when the model fails for the first one, the second fails at once. A tenant has a number of calls
 * a day for all agents, and all retries together are bounded.
 */
import { Agent, RetryBudget } from "@kintsugi/core"
import type * as Model from "@kintsugi/core/Model"
import { Resilience } from "@kintsugi/providers"
import { Context, Effect, type Layer } from "effect"

/** The customer of the present call. */
export class Tenant extends Context.Reference<string>("examples/Tenant", { defaultValue: () => "none" }) {}

/** For a provider's `transport: { retry: { budget } }`, of all models alike. */
export const budget = RetryBudget.makeUnsafe({ ratio: 0.2, reserve: 10, window: "10 seconds" })

export const guarding = Resilience.make({
  breaker: { failures: 2, openFor: "30 seconds" },
  limits: [{ name: "calls per tenant and day", requests: 100, per: "1 day", by: () => Tenant, maxWait: 0 }],
  concurrency: 8
})

const writer = Agent.make("writer", { prompt: "Write one line about the input." })
const critic = Agent.make("critic", { prompt: "Say in one line what is wrong with the input." })

/** The outcome of a call: its text, or the layer that refused it. */
const outcome = <E extends Error, R>(answer: Effect.Effect<string, E, R>) =>
  Effect.matchEffect(answer, {
    onSuccess: (text) => Effect.succeed(text),
    onFailure: (error) => Effect.succeed(error.message)
  })

/** The layer of the model may be built anew for each run: its state is in the guard. */
export const program = (model: Layer.Layer<Model.Model>) =>
  Effect.gen(function* () {
    const guard = yield* guarding
    const asked = [writer, critic, writer].map((agent) => outcome(agent("a bridge").pipe(Effect.provide(guard(model)))))
    return yield* Effect.all(asked)
  }).pipe(Effect.scoped, Effect.provideService(Tenant, "ada"))
