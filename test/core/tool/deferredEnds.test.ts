/** How the wait of a deferred call ends without its settlement: at a deadline, and with its run. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { it } from "../../_support/run.ts"
import {
  batch,
  busy,
  calm,
  callingOnce,
  eventLog,
  lastTranscript,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"
import { agentWith, deferring } from "./_support/deferring.ts"

const { make } = ScriptedModel

const counted: Tool.Receipt = { _tag: "Counted" }
const not = (reason: Extract<Tool.Receipt, { readonly _tag: "NotCounted" }>["reason"]): Tool.Receipt => ({
  _tag: "NotCounted",
  reason
})

it.run("at the deadline the work is cancelled, and the call fails with ToolTimeoutError [P1525]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring()
    const model = yield* callingOnce("order")
    const agent = agentWith(tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell(({ message }) => message) })))
    const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust(3_599_999)
    assert.deepStrictEqual(cancelled, [])
    yield* TestClock.adjust(1)
    assert.deepStrictEqual(cancelled, [1])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), not("late"))
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.match(read(model)[0] ?? "", /^told: .*Tool 'order' did not end within 1h/)
  })
)

it.run("of a settlement and the deadline at one instant, the first that comes counts [P1521 P1525]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring()
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(
      Effect.exit(
        run(agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() }))), "go").pipe(Effect.provide(model.layer))
      )
    )
    yield* calm
    // a timer of the same instant that was set after that of the deadline, and settles before the call has noticed
    const settlement = yield* Effect.forkChild(
      Effect.andThen(Effect.sleep(3_600_000), Tool.settle(tokenOf(), Exit.succeed({ at: 1 })))
    )
    yield* calm
    yield* TestClock.adjust(3_600_000)
    const answer = yield* Fiber.join(settlement)
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    const isCounted = answer._tag === "Counted"
    assert.match(read(model)[0] ?? "", isCounted ? /^result: / : /^told: /)
    assert.deepStrictEqual(cancelled, isCounted ? [] : [1])
  })
)

it.run(
  "a settlement that was set for the instant before the deadline of the same instant counts [P1521 P1525]",
  (run) =>
    Effect.gen(function* () {
      const { cancelled, tool } = deferring({
        start: ({ token }) =>
          Effect.as(
            Effect.forkDetach(
              Effect.andThen(Effect.sleep(3_600_000), Effect.ignore(Tool.settle(token, Exit.succeed({ at: 1 })))),
              { startImmediately: true }
            ),
            { job: 1 }
          )
      })
      const model = yield* callingOnce("order")
      const fiber = yield* Effect.forkChild(Effect.exit(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))))
      yield* calm
      yield* TestClock.adjust(3_600_000)
      assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
      assert.deepStrictEqual(read(model), ['result: {"at":1}'])
      assert.deepStrictEqual(cancelled, [])
    })
)

it.run("cancel has five seconds, and its failure is no failure of the call [P1525]", (run) =>
  Effect.gen(function* () {
    for (const cancel of [() => Effect.never, () => Effect.fail("no"), () => Effect.die("broken")]) {
      const { cancelled, tool } = deferring({ cancel })
      const model = yield* callingOnce("order")
      const agent = agentWith(tool.pipe(Tool.onError({ ToolTimeoutError: Recovery.tell() })))
      const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
      yield* calm
      yield* TestClock.adjust("1 hour")
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
      assert.match(read(model)[0] ?? "", /^told: /)
      assert.deepStrictEqual(cancelled, [1])
    }
  })
)

it.run("an unsafe call whose cancel did not confirm is of unknown outcome, else it took no effect [P1525]", (run) =>
  Effect.gen(function* () {
    for (const [cancel, expected] of [
      [() => Effect.fail("no"), /^unknown: /],
      [() => Effect.interrupt, /^unknown: /],
      [() => Effect.void, /^told: .*took no effect/]
    ] as const) {
      const { tool } = deferring({ sideEffects: "unsafe", cancel })
      const model = yield* callingOnce("order")
      const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() })))
      const fiber = yield* Effect.forkChild(Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer))))
      yield* calm
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
      assert.match(read(model)[0] ?? "", expected)
    }
  })
)

it.run("verify is asked where the outcome is unknown at the deadline [P1525]", (run) =>
  Effect.gen(function* () {
    const tool = Tool.deferred("order", {
      description: "Orders.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      sideEffects: "unsafe",
      start: () => Effect.succeed(1),
      wait: "suspend",
      deadline: "1 hour",
      verify: () => Effect.succeedSome("found")
    })
    const model = yield* callingOnce("order")
    const fiber = yield* Effect.forkChild(Effect.exit(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("1 hour")
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("done"))
    assert.deepStrictEqual(read(model), ["result: found"])
  })
)

it.run("the end of the run's time cancels the work too [P1525]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring()
    const model = yield* make(batch("order"))
    const agent = Agent.make("worker", {
      budget: { maxDuration: "10 minutes" },
      skills: [Skill.make("work", { description: "Works.", tools: [tool] })]
    })
    const fiber = yield* Effect.forkChild(Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("10 minutes")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "BudgetExceededError")
    assert.deepStrictEqual(cancelled, [1])
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), not("run-over"))
  })
)

it.run("the end of the time of the call cancels the work, and says what became of it [P1525]", (run) =>
  Effect.gen(function* () {
    for (const [cancel, expected] of [
      [() => Effect.fail("no"), "OutcomeUnknownError"],
      [() => Effect.void, "ToolTimeoutError"]
    ] as const) {
      const cancelled: Array<number> = []
      const tool = Tool.deferred("order", {
        description: "Orders.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        sideEffects: "unsafe",
        start: () => Effect.succeed(1),
        wait: "suspend",
        deadline: "1 hour",
        callTimeout: "1 minute",
        cancel: (job) => Effect.suspend(() => (cancelled.push(job), cancel()))
      })
      const model = yield* make(batch("order"))
      const fiber = yield* Effect.forkChild(Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer))))
      yield* calm
      yield* TestClock.adjust("1 minute")
      const error = yield* Fiber.join(fiber)
      assert(error._tag === "ToolExecutionError")
      assert.strictEqual((error.cause as { readonly _tag: string })._tag, expected)
      assert.deepStrictEqual(cancelled, [1])
    }
  })
)

it.run("an interruption of the run cancels the work, and no settlement counts any more [P1526]", (run) =>
  Effect.gen(function* () {
    for (const [sideEffects, cancel, kind] of [
      ["undeclared", () => Effect.void, "interrupted"],
      ["unsafe", () => Effect.void, "interrupted"],
      ["unsafe", () => Effect.fail("no"), "unknown"]
    ] as const) {
      const { cancelled, tokenOf, tool } = deferring({ sideEffects, cancel })
      const log = eventLog()
      const model = yield* make(batch("order"))
      const agent = agentWith(tool.pipe(Tool.onError({ orElse: Recovery.tell() }))).pipe(log.listen)
      const fiber = yield* Effect.forkChild(run(agent, "go").pipe(Effect.provide(model.layer)))
      yield* calm
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(cancelled, [1])
      assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), not("run-over"))
      assert.deepStrictEqual(
        settlements(lastTranscript(log.of("run-interrupted")[0])).map((text) => text.split(":")[0]),
        [kind]
      )
    }
  })
)

it.run("of a settlement and an interruption, a settled call is not cancelled [P1521 P1526]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tokenOf, tool } = deferring()
    const model = yield* make(batch("order"))
    const fiber = yield* Effect.forkChild(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    yield* calm
    assert.deepStrictEqual(yield* Tool.settle(tokenOf(), Exit.succeed({ at: 1 })), counted)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(cancelled, [])
  })
)

it.run("a lost race cancels the work [P1526]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tool } = deferring()
    const model = yield* make(batch("order"))
    const fast = Agent.deterministic("fast", () => Effect.as(Effect.sleep("1 minute"), "fast"))
    const race = Agent.firstOf(agentWith(tool), fast)
    const fiber = yield* Effect.forkChild(Effect.exit(run(race, "go").pipe(Effect.provide(model.layer))))
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.deepStrictEqual(yield* Fiber.join(fiber), Exit.succeed("fast"))
    assert.deepStrictEqual(cancelled, [1])
  })
)

it.run("a hard failure of a sibling ends the wait [P1526]", (run) =>
  Effect.gen(function* () {
    const { cancelled, tool } = deferring()
    const bad = scripted("bad", Effect.andThen(Effect.sleep("1 minute"), Effect.fail(busy())))
    const model = yield* make(batch("order", "bad"))
    const fiber = yield* Effect.forkChild(
      Effect.flip(run(agentWith(tool, bad.tool), "go").pipe(Effect.provide(model.layer)))
    )
    yield* calm
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "Busy")
    assert.deepStrictEqual(cancelled, [1])
  })
)
