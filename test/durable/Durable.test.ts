import { assert, it } from "@effect/vitest"
import type { AgentEvent } from "@kintsugi/core"
import { Effect } from "effect"
import { describe } from "vitest"
import { asWorkflow, inMemory } from "./_support/playing.ts"
import { choices } from "./_support/choices.ts"
import { scenarios } from "./_support/scenarios.ts"

/** How often there was an event of each type. A streamed reply is recorded as a whole, and its text comes in one part. */
const counts = (events: ReadonlyArray<AgentEvent.AgentEvent>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(Object.groupBy(events.filter(isNoPart), ({ type }) => type)).map(([type, all]) => [type, all.length])
  )

const isNoPart = ({ type }: AgentEvent.AgentEvent): boolean => type !== "text-delta" && type !== "reasoning-delta"

describe.each(Object.entries({ ...scenarios, ...choices }))("%s", (_, scenario) => {
  it.effect(
    "as a workflow it is the same as in memory: answer or error, requests, tools, ledger, events [P1113 P1537 P1538 P1573 P1590]",
    () =>
      Effect.gen(function* () {
        const { events, instants: _, ...plain } = yield* inMemory(scenario)
        const { engine, events: heard, instants: __, ...durable } = yield* asWorkflow(scenario, false)
        assert.deepStrictEqual(durable, plain)
        assert.deepStrictEqual(counts(heard), counts(events))
        assert.strictEqual(new Set(engine.done).size, engine.done.length)
      })
  )

  it.effect(
    "replayed from the top after each step it is the same, and no step runs and no listener is called twice [P1114]",
    () =>
      Effect.gen(function* () {
        const { events, instants: _, ...plain } = yield* inMemory(scenario)
        const { engine, events: heard, instants: __, ...durable } = yield* asWorkflow(scenario, true)
        assert.deepStrictEqual(durable, plain)
        assert.strictEqual(new Set(engine.done).size, engine.done.length)
        assert.isAbove(engine.bodies(), 2)
        const all = counts(events)
        for (const [type, times] of Object.entries(counts(heard))) assert.isAtMost(times, all[type] ?? 0, type)
      })
  )
})
