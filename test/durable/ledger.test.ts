import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { asWorkflow, inMemory } from "./_support/playing.ts"
import { spending } from "./_support/spending.ts"

describe.each(Object.entries(spending))("%s", (_, scenario) => {
  it.effect.each([false, true])(
    "what agents spend within a step is in the ledger, replayed or not: %s [P1133]",
    (isReplayed) =>
      Effect.gen(function* () {
        const { events: _, instants: __, ...plain } = yield* inMemory(scenario)
        const { engine, events: ___, instants: ____, ...durable } = yield* asWorkflow(scenario, isReplayed)
        assert.deepStrictEqual(durable, plain)
        assert.isTrue(JSON.stringify(plain.ledger).match(/"agent":"(?!worker)/) !== null)
        assert.strictEqual(new Set(engine.done).size, engine.done.length)
      })
  )
})
