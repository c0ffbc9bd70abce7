import { assert } from "@effect/vitest"
import { Agent, Compaction, LlmError, Message, Recovery, Router, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Effect, Exit, Layer } from "effect"
import { it } from "../../_support/run.ts"
import { overAMinute, stage, treeOf } from "../../_support/composition.ts"
import {
  agentWith,
  batch,
  busy,
  calm,
  done,
  eventLog,
  gone,
  interruptedAt,
  play,
  scripted
} from "../../_support/dialogue.ts"

const { make } = ScriptedModel

const description = "d"

const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
const denied = LlmError.AuthenticationError.make({ model: "m", detail: "no" })

it.run("all start, the first success wins, the others are interrupted and awaited before it counts [A1106]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const { actor, lines, note } = stage()
    const tidy = Agent.deterministic("tidy", (_input: string) =>
      Effect.onInterrupt(Effect.never, () => Effect.andThen(Effect.sleep(7), note("tidied")))
    )
    const race = Agent.firstOf(
      tidy,
      actor("late", 30, Effect.succeed),
      actor("soon", 10, () => Effect.succeed(1))
    )
    const exit = yield* overAMinute(Effect.tap(run(race.pipe(log.listen), "go"), () => note("over")))
    assert.deepStrictEqual(exit, Exit.succeed(1))
    assert.deepStrictEqual(lines, [
      "late: start at 0",
      "soon: start at 0",
      "soon: success at 10",
      "late: failure at 10",
      "tidied at 17",
      "over at 17"
    ])
    assert.deepStrictEqual(treeOf(log.all), [
      "firstOf run-completed",
      "  tidy run-interrupted",
      "  late run-interrupted",
      "  soon run-completed"
    ])
  })
)

it.run(
  "one failure does not end the race; if all fail, it fails with the last, and the event has the others [A1106]",
  (run) =>
    Effect.gen(function* () {
      const log = eventLog()
      const { actor } = stage()
      const [first, last] = [busy("first"), gone("last")]
      const one = Agent.firstOf(
        actor("a", 1, () => Effect.fail(denied)),
        actor("b", 9, Effect.succeed)
      )
      assert.deepStrictEqual(yield* overAMinute(run(one, "go")), Exit.succeed("go"))
      const inner = Agent.firstOf(
        actor("c", 20, () => Effect.fail(last)),
        actor("d", 10, () => Effect.fail(first))
      )
      const all = Agent.firstOf(
        inner,
        actor("e", 5, () => Effect.fail(denied))
      ).pipe(log.listen)
      const exit = yield* overAMinute(run(all, "go"))
      assert(Exit.isFailure(exit))
      assert.strictEqual(Cause.squash(exit.cause), last)
      const end = log.end()
      assert(end?.type === "run-failed")
      assert.deepStrictEqual(end.reasons, [denied, first, last])
      assert.strictEqual(end.error, last)
    })
)

it.run("interruption interrupts all of them, and is awaited [A1106 A111]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const race = Agent.firstOf(actor("a", 50, Effect.succeed), actor("b", 60, Effect.succeed))
    assert(Exit.hasInterrupts(yield* interruptedAt(10, run(race, "go"))))
    assert.deepStrictEqual(lines.slice(2).toSorted(), ["a: failure at 10", "b: failure at 10"])
  })
)

it.run("a defect ends the race at once [A1106 A110]", (run) =>
  Effect.gen(function* () {
    const { actor, lines } = stage()
    const race = Agent.firstOf(
      actor("a", 5, () => Effect.die("bug")),
      actor("b", 60, Effect.succeed)
    )
    assert(Exit.hasDies(yield* overAMinute(run(race, "go"))))
    assert.strictEqual(lines.at(-1), "b: failure at 5")
  })
)

it.run("what the losers have spent is in the ledger, once, when the run ends [A1109 P703]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const slow = yield* make(
      batch("wait"),
      ScriptedModel.answers(() => Effect.never)
    )
    const quick = yield* make(batch("nap"), done)
    const { tool: wait } = scripted("wait", Effect.succeed("waited"))
    const { tool: nap } = scripted("nap", Effect.as(Effect.sleep(50), "slept"))
    const race = Agent.firstOf(
      agentWith(wait).pipe(Agent.withModel(slow.layer)),
      agentWith(nap).pipe(Agent.withModel(quick.layer))
    ).pipe(log.listen)
    assert.deepStrictEqual(yield* overAMinute(run(race, "go")), Exit.succeed("done"))
    const end = log.end()
    assert(end?.type === "run-completed")
    // two replies of the winner, one of the loser, and its request that was cut off, whose count is unknown
    assert.deepStrictEqual(
      end.ledger.map(({ outcome, turn }) => `${turn} ${outcome}`),
      ["1 used", "1 used", "2 used", "2 interrupted"]
    )
    assert.strictEqual(slow.requests.length, 2)
    assert.strictEqual(end.usage.inputTokens, 30)
  })
)

it.run("copy k starts after k times hedgeAfter, unless there is an answer; at most n [A1108]", (run) =>
  Effect.gen(function* () {
    for (const [takes, n, starts] of [
      [35, 9, [0, 10, 20, 30]],
      [35, 2, [0, 10]],
      [5, 9, [0]]
    ] as const) {
      const seen: Array<number> = []
      const copy = Agent.deterministic("copy", (input: string) =>
        Effect.clockWith((clock) => {
          seen.push(clock.currentTimeMillisUnsafe())
          return Effect.as(Effect.sleep(takes), input)
        })
      )
      const from = yield* Effect.clockWith((clock) => Effect.succeed(clock.currentTimeMillisUnsafe()))
      const hedged = copy.pipe(Agent.speculative(n, { hedgeAfter: "10 millis" }))
      assert.deepStrictEqual(yield* overAMinute(run(hedged, "go")), Exit.succeed("go"))
      assert.deepStrictEqual(
        seen.map((at) => at - from),
        [...starts]
      )
    }
  })
)

it.run("a copy that fails leaves it to the others; a failure that all would have ends it at once [A1108]", (run) =>
  Effect.gen(function* () {
    for (const [error, ends] of [
      [busy(), "copy: success at 15"],
      [denied, "copy: failure at 12"]
    ] as const) {
      const { actor, lines } = stage()
      let copies = 0
      const waits = [12, 5, 1000]
      const copy = actor("copy", 0, (input) => {
        const me = copies++
        const acting = me === 0 ? Effect.fail(error) : Effect.succeed(input)
        return Effect.delay(acting, waits[me] ?? 0)
      })
      const exit = yield* overAMinute(run(Agent.speculative(copy, 3, { hedgeAfter: 10 }), "go"))
      assert.strictEqual(Exit.isSuccess(exit), error !== denied)
      assert.isTrue(lines.some((line) => line.replace(/\d+$/, "") === ends.replace(/\d+$/, "")))
      if (error === denied) assert.strictEqual(copies, 2)
    }
  })
)

it.run("a copy without any budget left does no harm to the copies at work [A1108]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(
      ScriptedModel.answers(() =>
        Effect.delay(Effect.succeed(ScriptedModel.reply({ content: [Message.text("an answer")] })), 100)
      )
    )
    const agent = Agent.make("asking", {}).pipe(Agent.withModel(model.layer))
    const hedged = Agent.speculative(agent, 3, { hedgeAfter: 10 }).pipe(Agent.withBudget({ maxTurns: 1 }))
    assert.deepStrictEqual(yield* overAMinute(run(hedged, "go")), Exit.succeed("an answer"))
    const failing = yield* make(ScriptedModel.answers(() => Effect.delay(Effect.fail(overloaded), 100)))
    const lost = Agent.make("asking", {}).pipe(Agent.withModel(failing.layer))
    const exit = yield* overAMinute(
      Effect.flip(run(Agent.speculative(lost, 3, { hedgeAfter: 10 }).pipe(Agent.withBudget({ maxTurns: 1 })), "go"))
    )
    assert(Exit.isSuccess(exit))
    assert.strictEqual(exit.value._tag, "ModelOverloadedError")
  })
)

it.run("no copy starts when the time of the run is over; then the limit is the failure [A1108 P704]", (run) =>
  Effect.gen(function* () {
    let copies = 0
    const copy = Agent.deterministic("copy", (_input: string) => Effect.suspend(() => (copies++, Effect.fail(busy()))))
    const hedged = Agent.speculative(copy, 3, { hedgeAfter: "1 second" }).pipe(
      Agent.withBudget({ maxDuration: "1500 millis" })
    )
    const log = eventLog()
    const exit = yield* overAMinute(Effect.flip(run(hedged.pipe(log.listen), "go")))
    assert(Exit.isSuccess(exit))
    assert.deepInclude(exit.value, { _tag: "BudgetExceededError", reason: "maxDuration", limit: 1500 })
    assert.strictEqual(copies, 2)
    assert.strictEqual((log.end()?.at ?? 0) - (log.all[0]?.at ?? 0), 1000)
  })
)

it.effect("the number of copies and the wait are checked where they are given [A1108]", () =>
  Effect.sync(() => {
    const echo = Agent.deterministic("echo", (input: string) => Effect.succeed(input))
    const says = (what: string) => `Agent.speculative: ${what}`
    for (const n of [0, 1.5, Infinity]) {
      const wrong = says(`n must be a whole number of at least 1, got ${n}`)
      assert.throws(() => Agent.speculative(echo, n, { hedgeAfter: 1 }), RangeError, wrong)
    }
    // the second one as programs without types give it
    for (const hedgeAfter of [Infinity, "soon" as never]) {
      const wrong = says(`hedgeAfter must be a finite duration of at least 0, got ${hedgeAfter}`)
      assert.throws(() => Agent.speculative(echo, 2, { hedgeAfter }), RangeError, wrong)
    }
    Agent.speculative(echo, 1, { hedgeAfter: 0 })
  })
)

it.effect("what types do not know is refused when the race is made [A1111]", () =>
  Effect.gen(function* () {
    const paying = agentWith(play("pay", { sideEffects: "unsafe" }, [Effect.succeed("paid")]).tool)
    const hidden = Agent.asTool(Agent.map(paying, String), { name: "ask", description })
    const safe = Agent.asTool(Agent.map(paying, String), { name: "ask", description, sideEffects: "idempotent" })
    const echo = Agent.deterministic("echo", (input: string) => Effect.succeed(input))
    const acknowledge = { acknowledge: "may run twice" } as const
    // @ts-expect-error it does not compile either
    assert.throws(() => Agent.firstOf(echo, paying), TypeError)
    // @ts-expect-error nor does a tool that is such an agent
    assert.throws(() => Agent.firstOf(agentWith(hidden)), TypeError)
    // @ts-expect-error nor copies
    assert.throws(() => Agent.speculative(paying, 2, { hedgeAfter: 1 }), TypeError)
    const unseen = Agent.provide(Agent.map(paying, String), Layer.empty)
    // @ts-expect-error nor what is made of it
    assert.throws(() => Agent.firstOf(unseen, echo), TypeError)
    const look = play("look", {}, [Effect.succeed("seen")]).tool
    const rows = { orElse: Recovery.ladder(Recovery.fix(paying), Recovery.tell()) } as const
    const summing = { ContextTooLongError: Recovery.compact(Compaction.summarise(paying)) }
    const fixingOnce = Recovery.when(() => Recovery.fix(paying), { among: [Recovery.fix(paying)] })
    for (const row of [
      agentWith(look.pipe(Tool.onError(rows))),
      agentWith(look.pipe(Tool.onError({ InvalidArgs: fixingOnce }))),
      agentWith(look).pipe(Agent.onToolError({ look: rows })),
      agentWith(look).pipe(Agent.toolDefaults({ InvalidArgs: Recovery.fix(Agent.map(paying, String)) })),
      agentWith(look).pipe(Agent.onLlmError(summing)),
      Agent.make("routed", {
        skills: [Skill.make("a", { description: "A" }), Skill.make("b", { description: "B" })]
      }).pipe(Agent.route(Router.byModel().pipe(Router.onLlmError(summing))))
    ]) {
      // types do not know what those may do who are asked in a table
      assert.throws(() => Agent.speculative(row, 2, { hedgeAfter: 1 }), /acknowledge/)
      Agent.speculative(row, 2, { hedgeAfter: 1, ...acknowledge })
    }
    Agent.speculative(agentWith(look).pipe(Agent.toolDefaults({ InvalidArgs: Recovery.fix(echo) })), 2, {
      hedgeAfter: 1
    })
    const both = agentWith(play("look", {}, [Effect.succeed("seen")]).tool, hidden)
    // @ts-expect-error nor one such tool among others
    assert.throws(() => Agent.firstOf(echo, both), TypeError)
    const inTurn = Agent.fallback(echo, Agent.map(paying, String))
    // @ts-expect-error nor one such agent among others
    assert.throws(() => Agent.firstOf(echo, inTurn), TypeError)
    Agent.firstOf(agentWith(safe), echo)
    Agent.firstOf(echo, paying, acknowledge)
    Agent.speculative(agentWith(hidden), 2, { hedgeAfter: 1, ...acknowledge })
    yield* calm
  })
)
