/** Runs whose storage does not answer for a while. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, Message, Recovery, Tool } from "@kintsugi/core"
import { Durable } from "@kintsugi/durable"
import { Cause, type Clock, Duration, Effect, Exit, Fiber, Layer, Logger, Schema } from "effect"
import { PersistenceError } from "effect/cluster/ClusterError"
import { TestClock } from "effect/testing"
import { WorkflowEngine } from "effect/workflow/WorkflowEngine"
import { patient } from "../../packages/durable/src/patience.ts"
import { calm } from "../_support/dialogue.ts"
import { call, reading } from "./_support/readingModel.ts"
import { Busy } from "./_support/scenarios.ts"

type Engine = WorkflowEngine["Service"]
type Method = "activityExecute" | "deferredResult" | "deferredDone" | "scheduleClock"
const methods: ReadonlyArray<Method> = ["activityExecute", "deferredResult", "deferredDone", "scheduleClock"]

/** How a call of the engine goes wrong: nothing was stored, or it was and the answer is lost. */
type When = "before" | "after"

/** The engine in memory; its storage fails as `failure` says, asked at each call. */
const failingEngine = (
  failure: (
    method: Method,
    options: { readonly deferredName?: string; readonly exit?: unknown; readonly name?: string }
  ) => { readonly when: When; readonly defect: unknown } | undefined
) =>
  Layer.effect(
    WorkflowEngine,
    Effect.map(WorkflowEngine, (engine): Engine => {
      const failing = (method: Method) =>
        // each of these methods gives an effect
        ((...given: ReadonlyArray<never>) =>
          Effect.suspend(() => {
            // the deferred, and the options of `deferredDone`
            const found = failure(method, Object.assign({}, given[0], given[1]))
            const self = (engine[method] as (...given: ReadonlyArray<never>) => Effect.Effect<unknown>)(...given)
            if (found === undefined) return self
            const dies = Effect.die(found.defect)
            return found.when === "before" ? dies : Effect.andThen(self, dies)
          })) as never
      return { ...engine, ...Object.fromEntries(methods.map((method) => [method, failing(method)])) }
    })
  ).pipe(Layer.provide(Durable.layerMemory))

const unreachable = new PersistenceError({ cause: new Error("Connection closed") })

/** A tool that fails once, and is tried again two minutes later. */
const story = (isLogged: boolean) => {
  const model = reading("outer", (turn) => (turn === 0 ? [call("pay")] : [Message.text("done")]))
  const runs: Array<string> = []
  const ends: Array<AgentEvent.AgentEvent["type"]> = []
  const pay = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    failure: Busy,
    sideEffects: "idempotent",
    run: (_, { attempt }): Effect.Effect<string, Busy> => {
      runs.push(`pay ${attempt}`)
      return attempt === 1 ? Effect.fail(new Busy({ message: "busy" })) : Effect.succeed("paid")
    }
  }).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1, initialBackoff: "2 minutes" }) }))
  const agent = Agent.make("worker", { model: model.layer, budget: { maxDuration: "2 days" }, tools: [pay] }).pipe(
    Agent.onEvent(({ type }) => Effect.sync(() => void (/^run-(?!start)/.test(type) && ends.push(type))))
  )
  const durable = Durable.workflow(agent, {
    name: "story",
    input: Schema.String,
    output: Schema.String,
    events: isLogged
  })
  return { durable, runs, ends, asked: model.asked }
}

/** The exit of a run, and the lines of the log. */
const played = (engine: Layer.Layer<WorkflowEngine>, isLogged = false) =>
  Effect.gen(function* () {
    const { durable, ...seen } = story(isLogged)
    const lines: Array<unknown> = []
    const logger = Logger.make<unknown, void>(
      ({ message }) => void lines.push(Array.isArray(message) ? message[0] : message)
    )
    const fiber = yield* Effect.forkChild(
      durable.workflow
        .execute({ id: "one", input: "go" })
        .pipe(Effect.provide(Layer.provideMerge(durable.layer, engine)), Effect.provide(Logger.layer([logger])))
    )
    for (let step = 0; step < 700 && fiber.pollUnsafe() === undefined; step++) {
      for (let turn = 0; turn < 12; turn++) yield* calm
      yield* TestClock.adjust(250)
    }
    return { exit: yield* Fiber.await(fiber), lines, ...seen }
  })

const notice = "Durable: the storage of the engine does not answer. The run waits for it"

it.effect.each(methods.flatMap((method) => (["before", "after"] as const).map((when) => ({ method, when }))))(
  "a run waits for its storage, which fails twice $when each $method, and does nothing twice [P1113]",
  ({ method, when }) =>
    Effect.gen(function* () {
      const failures = new Map<number, number>()
      let calls = 0
      let left = 0
      const engine = failingEngine((called) => {
        if (called !== method) return undefined
        if (left === 0) {
          calls += 1
          left = 3
        }
        left -= 1
        if (left === 0) return undefined
        failures.set(calls, (failures.get(calls) ?? 0) + 1)
        return { when, defect: unreachable }
      })
      const { asked, ends, exit, lines, runs } = yield* played(engine)
      assert(Exit.isSuccess(exit), String(exit))
      assert.strictEqual(exit.value, "done")
      assert.deepStrictEqual([runs, ends, asked()], [["pay 1", "pay 2"], ["run-completed"], 2])
      assert.isAbove(failures.size, 0)
      // a warning at the first failure of each call
      assert.lengthOf(
        lines.filter((line) => line === notice),
        failures.size
      )
    })
)

it.effect("it waits a quarter of a second, then twice as long each time, and ten seconds at most [P1113]", () =>
  Effect.gen(function* () {
    const sleeps: Array<number> = []
    // nothing but its sleep is used
    const clock = {
      sleep: (delay: Duration.Duration) => Effect.sync(() => void sleeps.push(Duration.toMillis(delay)))
    } as unknown as Clock.Clock
    const lines: Array<unknown> = []
    const logger = Logger.make<unknown, void>(
      ({ message }) => void lines.push(Array.isArray(message) ? message[0] : message)
    )
    const answer = (dies: number) => {
      let left = dies
      const scheduleClock = Effect.suspend(() => (left-- > 0 ? Effect.die(unreachable) : Effect.void))
      const engine = patient({ scheduleClock: () => scheduleClock } as unknown as Engine, clock)
      return engine.scheduleClock(undefined as never, undefined as never).pipe(Effect.provide(Logger.layer([logger])))
    }
    yield* answer(0)
    assert.deepStrictEqual([sleeps, lines], [[], []])
    yield* answer(1)
    // it says so before its first wait
    assert.deepStrictEqual([sleeps.splice(0), lines], [[250], [notice]])
    yield* answer(8)
    assert.deepStrictEqual(sleeps, [250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000])
    assert.deepStrictEqual(lines, [notice, notice])
  })
)

it.effect("a death of the storage is waited for, also beside another death [P1113]", () =>
  Effect.gen(function* () {
    // nothing but its sleep is used
    const clock = { sleep: () => Effect.void } as unknown as Clock.Clock
    let cause: Cause.Cause<never> | undefined = Cause.combine(Cause.die(new Error("a bug")), Cause.die(unreachable))
    const scheduleClock = Effect.suspend(() => {
      const died = cause
      cause = undefined
      return died === undefined ? Effect.void : Effect.failCause(died)
    })
    // nothing else of the engine is used
    const engine = patient({ scheduleClock: () => scheduleClock } as unknown as Engine, clock)
    const scheduling = engine.scheduleClock(undefined as never, undefined as never)
    assert.isTrue(Exit.isSuccess(yield* Effect.exit(Effect.provide(scheduling, Logger.layer([])))))
  })
)

it.effect(
  "any other death of the engine ends the run, and so does an interruption beside that of the storage [P1113]",
  () =>
    Effect.gen(function* () {
      // nothing but its sleep is used
      const clock = { sleep: () => Effect.die("it waits") } as unknown as Clock.Clock
      const both = Cause.combine(Cause.die(unreachable), Cause.interrupt(1))
      const engine = patient({ scheduleClock: () => Effect.failCause(both) } as unknown as Engine, clock)
      const cut = yield* Effect.exit(engine.scheduleClock(undefined as never, undefined as never))
      assert(Exit.isFailure(cut))
      assert.strictEqual(cut.cause, both)
      for (const defect of [new Error("a bug"), { _tag: "MalformedMessage" }, undefined]) {
        let isOver = false
        const engine = failingEngine((method) => {
          if (method !== "activityExecute" || isOver) return undefined
          isOver = true
          return { when: "before", defect }
        })
        const { exit, lines } = yield* played(engine)
        assert(Exit.isFailure(exit))
        assert.strictEqual(Cause.squash(exit.cause), defect)
        assert.deepStrictEqual(
          lines.filter((line) => line === notice),
          []
        )
      }
    })
)

it.effect("the log of a run does not wait: its batches stay in memory, and the run goes on [P1113 P1543]", () =>
  Effect.gen(function* () {
    let left = 2
    const engine = failingEngine((method, { deferredName = "" }) => {
      if (method !== "deferredDone" || !deferredName.startsWith("events/") || left === 0) return undefined
      left -= 1
      return { when: "before", defect: unreachable }
    })
    const { exit, lines, runs } = yield* played(engine, true)
    assert(Exit.isSuccess(exit))
    assert.deepStrictEqual([exit.value, runs, left], ["done", ["pay 1", "pay 2"], 0])
    assert.notInclude(lines, notice)
    assert.lengthOf(
      lines.filter((line) => /^The events of run '.*' cannot be stored just now$/.test(String(line))),
      1
    )
  })
)

it.effect("a replay whose log cannot begin waits for the storage, so the log has all events [P1113 P1543]", () =>
  Effect.gen(function* () {
    let written = ""
    let left = 3
    let wasWritten = false
    const engine = failingEngine((method, { deferredName = "", exit, name = "" }) => {
      if (method === "deferredDone" && deferredName.startsWith("events/")) {
        wasWritten = true
        written += JSON.stringify(exit)
      }
      if (method !== "deferredResult" || !name.startsWith("events/")) return undefined
      // a batch is read after it is written, and when a replay begins
      const isBegin = !wasWritten
      wasWritten = false
      if (!isBegin || left === 0) return undefined
      left -= 1
      return { when: "before", defect: unreachable }
    })
    const { exit, lines, runs } = yield* played(engine, true)
    assert(Exit.isSuccess(exit))
    assert.deepStrictEqual([exit.value, runs, left], ["done", ["pay 1", "pay 2"], 0])
    assert.deepStrictEqual(
      lines.filter((line) => /log|stored/.test(String(line))),
      []
    )
    assert.include(lines, notice)
    assert.include(written, '"run-completed"')
  })
)
