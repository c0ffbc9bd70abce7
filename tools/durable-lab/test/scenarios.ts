/** The shared scenarios on SQL: each ends as it does in memory. `npm run test:durable` starts them, and tells the folder of a database. */
import { assert, it } from "@effect/vitest"
import { Durable } from "@kintsugi/durable"
import { Effect, Fiber, Layer, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { describe } from "vitest"
import { calm } from "../../../test/_support/dialogue.ts"
import { choices } from "../../../test/durable/_support/choices.ts"
import { inMemory, type Passing, playing, served } from "../../../test/durable/_support/playing.ts"
import { scenarios } from "../../../test/durable/_support/scenarios.ts"

const folder = process.env["KINTSUGI_DURABLE_FOLDER"] ?? ""

/** How many statements of the database are running, and how many have begun. */
const statements = { running: 0, begun: 0 }

class StatementSpan extends Tracer.NativeSpan {
  constructor(options: ConstructorParameters<typeof Tracer.NativeSpan>[0]) {
    super(options)
    statements.running++
    statements.begun++
  }
  override end(...end: Parameters<Tracer.NativeSpan["end"]>): void {
    statements.running--
    super.end(...end)
  }
}

/** A statement is named after its database, a transaction is not. */
const isStatement = (name: string): boolean => name === "postgres" || name.startsWith("sql.")

const counting = Tracer.make({
  span: (options) => (isStatement(options.name) ? new StatementSpan(options) : new Tracer.NativeSpan(options))
})

// the answers of the database come with the event loop
// oxlint-disable-next-line no-restricted-globals -- and yielding to fibers would not wait for that
const tick = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** The database is real, and so is the time that it takes: the clock stands still until it has nothing to do. */
const answered = Effect.gen(function* () {
  for (let quiet = 0, turns = 0; quiet < 100 && turns < 5000; quiet++, turns++) {
    const before = statements.begun
    yield* tick
    yield* calm
    if (statements.running > 0 || statements.begun !== before) quiet = 0
  }
})

const overDays: Passing = (effect) =>
  Effect.gen(function* () {
    const before = statements.begun
    const fiber = yield* Effect.forkChild(effect)
    // connecting is no statement
    while (statements.begun === before && fiber.pollUnsafe() === undefined) yield* tick
    for (let i = 0; i < 600 && fiber.pollUnsafe() === undefined; i++) {
      yield* answered
      yield* TestClock.adjust(i < 400 ? "500 millis" : "20 minutes")
    }
    return yield* Fiber.await(fiber)
  })

const year = Date.UTC(2026, 0, 1)
const month = 30 * 86_400_000

/** The ids of the cluster are made of the time since 2025: no two scenarios are at work at the same one. */
let nth = 0
const later = Effect.suspend(() => TestClock.setTime(year + ++nth * month))

describe.each(Object.entries({ ...scenarios, ...choices }))("%s", (name, scenario) => {
  it.effect("P1113 on PostgreSQL it is the same as in memory: answer or error, requests, tools, ledger", () =>
    Effect.gen(function* () {
      yield* later
      const { events: _, instants: __, ...plain } = yield* inMemory(scenario)
      const play = playing(
        scenario,
        (cast) => {
          const { durable, layer } = served(cast, name)
          return Effect.provide(
            durable.workflow.execute({ id: "one", input: "go" }),
            Layer.provideMerge(layer, Layer.orDie(Durable.layerPglite({ folder })))
          )
        },
        overDays
      )
      const { events: ___, instants: ____, ...durable } = yield* Effect.provideService(play, Tracer.Tracer, counting)
      assert.deepStrictEqual(durable, plain)
    })
  )
})
