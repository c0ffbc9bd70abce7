/** A message that interrupts while a tool waits for its next attempt. */
import { assert, it } from "@effect/vitest"
import { Agent, type AgentEvent, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { busy, calm, done, settlements } from "../../_support/dialogue.ts"
import { only } from "../../_support/suspension.ts"
import { accounted, eventsOf, lines, started } from "./_support/saying.ts"

const { call, calls, make } = ScriptedModel

/** A tool that fails at first, after some time, and is repeated a second later. */
const failing = (sideEffects: "none" | "unsafe", takes = 0) => {
  let runs = 0
  const retry = Recovery.retry({ retries: 1, initialBackoff: "1 second", jitter: "none", acknowledge: "may run twice" })
  const tool = Tool.make("pay", {
    description: "Pays.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects,
    run: () =>
      Effect.andThen(
        Effect.sleep(takes),
        Effect.suspend(() => (++runs === 1 ? Effect.fail(busy()) : Effect.succeed("paid")))
      )
  }).pipe(Tool.onError({ Busy: retry }))
  return { tool, runs: () => runs }
}

const endsOf = (events: ReadonlyArray<AgentEvent.AgentEvent>) => only(events, "tool-end").map(({ use }) => use)

it.effect("the wait ends at once, and the call is settled by what is known of it [P1583]", () =>
  Effect.gen(function* () {
    for (const interrupt of [true, "tools"] as const)
      for (const sideEffects of ["none", "unsafe"] as const) {
        const { runs, tool } = failing(sideEffects)
        const model = yield* make(calls(call("pay", {})), done)
        const run = yield* started(Agent.make("worker", { tools: [tool] }).start("go"), model)
        yield* calm
        yield* run.say("stop", { interrupt })
        assert.deepInclude(yield* run.outcome, { output: "done" })
        assert.strictEqual(runs(), 1)
        const kind = sideEffects === "none" ? "interrupted" : "unknown"
        assert.deepStrictEqual(lines(yield* run.transcript).slice(1), [
          `model: pay: ${kind}`,
          "user: stop",
          "model: done"
        ])
        const [use, ...more] = endsOf(yield* eventsOf(run))
        assert.deepStrictEqual(more, [])
        assert.deepInclude(use, { attempts: 1, params: {} })
        assert.strictEqual(use?.settlement.kind, kind)
        yield* accounted(run)
      }
  })
)

it.effect("a message that comes while the tool runs ends the wait that follows, and no run [P1583]", () =>
  Effect.gen(function* () {
    const { runs, tool } = failing("none", 1_000)
    const model = yield* make(calls(call("pay", {})), done)
    const run = yield* started(Agent.make("worker", { tools: [tool] }).start("go"), model)
    yield* calm
    yield* run.say("stop", { interrupt: true })
    yield* calm
    assert.strictEqual(runs(), 0)
    yield* TestClock.adjust("1 second")
    assert.deepInclude(yield* run.outcome, { output: "done" })
    assert.strictEqual(runs(), 1)
    assert.match(settlements(yield* run.transcript)[0] ?? "", /^interrupted/)
  })
)

it.effect("of the end of the wait and a message at one instant the first counts [P1583]", () =>
  Effect.gen(function* () {
    const found = new Set<string>()
    for (const offset of [-1, 0, 1])
      for (const isEarly of [true, false]) {
        const { runs, tool } = failing("unsafe")
        const model = yield* make(calls(call("pay", {})), done)
        let saying: Effect.Effect<unknown, unknown> = Effect.void
        const later = Effect.andThen(
          Effect.sleep(1_000 + offset),
          Effect.suspend(() => saying)
        )
        const early = isEarly ? yield* Effect.forkChild(Effect.exit(later), { startImmediately: true }) : undefined
        const run = yield* started(Agent.make("worker", { tools: [tool] }).start("go"), model)
        saying = run.say("stop", { interrupt: true })
        yield* calm
        const late = early ?? (yield* Effect.forkChild(Effect.exit(later), { startImmediately: true }))
        yield* TestClock.adjust("2 seconds")
        yield* Fiber.join(late)
        assert.deepInclude(yield* run.outcome, { output: "done" })
        const [use, ...more] = endsOf(yield* eventsOf(run))
        assert.deepStrictEqual(more, [])
        assert.strictEqual(use?.settlement.kind, runs() === 2 ? "result" : "unknown")
        if (offset !== 0) assert.strictEqual(runs(), offset === 1 ? 2 : 1)
        found.add(`${offset} ${runs()}`)
        yield* accounted(run)
      }
    assert.isAtLeast(found.size, 2)
  })
)
