/** Its run is put away as JSON where a person has to decide, and goes on in another process. */
import * as Agent from "@kintsugi/core/Agent"
import * as Snapshot from "@kintsugi/core/Snapshot"
import * as Tool from "@kintsugi/core/Tool"
import * as OpenAi from "@kintsugi/providers/OpenAi"
import * as Transport from "@kintsugi/providers/Transport"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

const add = Tool.make("add", {
  description: "Adds two numbers.",
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Finite,
  run: ({ a, b }) => Effect.succeed(a + b)
}).pipe(Tool.requireApproval())

const agent = Agent.make("adder", { tools: [add] })

const layer = Layer.provide(OpenAi.layer({ model: "m", apiKey: Redacted.make("key") }), Transport.layerFetch)

const ending = <E, R>(starting: Effect.Effect<Agent.Run<string, E>, never, R>) =>
  Effect.gen(function* () {
    const outcome = yield* (yield* starting).outcome
    return outcome._tag === "Completed" ? outcome.output : Snapshot.toJson(outcome.snapshot)
  }).pipe(Effect.scoped)

export const main = (input: string): Promise<unknown> =>
  Effect.runPromise(Effect.provide(ending(agent.start(input)), layer))

export const goOn = (document: unknown): Promise<unknown> =>
  Effect.gen(function* () {
    const from = yield* Snapshot.fromJson(document)
    const decisions = Snapshot.requestsOf(from).map(({ digest }) => ({
      digest,
      decision: { type: "approve" } as const
    }))
    return yield* ending(Agent.resume(agent).start({ from, decisions }))
  }).pipe(Effect.provide(layer), Effect.runPromise)
