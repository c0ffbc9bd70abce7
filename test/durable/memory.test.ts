/** What a process keeps of runs that wait. */
import { assert, it } from "@effect/vitest"
import { Agent, Message, Recovery, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Effect, Exit, Option, Schema, Scope, Stream } from "effect"
import { Memory } from "../../packages/durable/src/memory.ts"
import { clusterOfRows } from "./_support/cluster.ts"
import { passing } from "./_support/logs.ts"
import { processOf, start, storage, turn } from "./_support/logStorage.ts"
import { call, reading } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

it.effect("a process forgets a run when its engine closes the state of the run, and only then [P1543]", () =>
  Effect.gen(function* () {
    const memory = new Memory(true)
    const activation = yield* Scope.make()
    const first = yield* memory.of("run", activation)
    assert.strictEqual(yield* memory.of("run", activation), first)
    // the scope of another run
    const other = yield* Scope.make()
    yield* memory.of("other", other)
    yield* Scope.close(other, Exit.void)
    assert.strictEqual(yield* memory.of("run", activation), first)
    yield* Scope.close(activation, Exit.void)
    const second = yield* memory.of("run", yield* Scope.make())
    assert.notStrictEqual(second.log, first.log)
    assert.notStrictEqual(second.words, first.words)
  })
)

it.effect("a scope that closes late leaves the next state of its run alone [P1543]", () =>
  Effect.gen(function* () {
    const memory = new Memory({ maxCharacters: 1000 })
    const late = yield* Scope.make()
    const first = yield* memory.of("run", late)
    const instance = { executionId: "run", suspended: false, abandoned: true } as never
    yield* memory.behind(instance, Effect.void)
    const second = yield* memory.of("run", yield* Scope.make())
    assert.notStrictEqual(second, first)
    yield* Scope.close(late, Exit.void)
    assert.strictEqual(yield* memory.of("run", undefined), second)
  })
)

it.effect.each([
  { state: { suspended: false, abandoned: false }, isForgotten: true },
  { state: { suspended: true, abandoned: true }, isForgotten: true },
  { state: { suspended: true, abandoned: false }, isForgotten: false }
])("a run that has ended a replay with %j is forgotten, unless it waits [P1543]", ({ isForgotten, state }) =>
  Effect.gen(function* () {
    const memory = new Memory(true)
    const first = yield* memory.of("run", undefined)
    const instance = { executionId: "run", ...state } as never
    assert.strictEqual(yield* memory.behind(instance, Effect.succeed(1)), 1)
    assert.strictEqual((yield* memory.of("run", undefined)) !== first, isForgotten)
  })
)

it.effect.each([
  { events: false, kinds: undefined },
  { events: true, kinds: [2] },
  { events: {}, kinds: [2] },
  { events: { maxCharacters: 100 }, kinds: ["full"] }
] as const)("with the option events: $events, a run has a log of this length, or none [P1543]", ({ events, kinds }) =>
  Effect.gen(function* () {
    const rows = storage()
    const { log } = yield* new Memory(events).of("run", undefined)
    yield* log?.end(yield* processOf(rows), [turn, start]) ?? Effect.void
    const found = rows.batches().map(({ events, kind }) => kind ?? events.length)
    assert.deepStrictEqual(log === undefined ? undefined : found, kinds === undefined ? undefined : [...kinds])
  })
)

/** The types of the events of a run with one tool call that is tried twice. */
const expected = [
  "run-start",
  "turn-start",
  "model-start",
  "model-end",
  "tool-start",
  "tool-failed",
  "verdict",
  "tool-end",
  "turn-end",
  "turn-start",
  "model-start",
  "text-delta",
  "model-end",
  "turn-end",
  "run-completed"
]

it.effect("a run that waits for longer than its runner remembers it has each event once in its log [P1541 P1543]", () =>
  Effect.gen(function* () {
    const model = reading("outer", (turn) => (turn === 0 ? [call("pay")] : [Message.text("done")]))
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      failure: Busy,
      run: (_, { attempt }) => (attempt === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("paid"))
    }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1, initialBackoff: "3 minutes" }) }))
    const agent = Agent.make("worker", { model: model.layer, budget: { maxDuration: "1 day" }, tools: [pay] })
    const durable = Durable.workflow(agent, { name: "story", input: Schema.String, output: Schema.String })
    const { driver, join } = yield* clusterOfRows
    const { context } = yield* join(durable.layer)
    yield* passing(12)
    const id = yield* Effect.provideContext(Durable.start(durable, { id: "one", input: "go" }), context)
    yield* passing(4 * 240)
    const end = yield* Effect.provideContext(Durable.poll(durable, id), context)
    assert.strictEqual(Option.getOrUndefined(end)?._tag, "Complete")
    const events = yield* Effect.provideContext(Stream.runCollect(Durable.events(durable, id)), context)
    assert.deepStrictEqual(
      events.map(({ type }) => type),
      expected
    )
    assert.strictEqual(new Set(events.map(({ cursor }) => cursor)).size, events.length)
    // the runner has read the log anew, as another process would
    assert.lengthOf(JSON.stringify(driver.journal).match(/"kind":"takeover"/g) ?? [], 1)
  })
)
