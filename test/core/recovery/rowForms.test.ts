/** A row of a table is a verdict, a schedule or a handler. */
import { assert } from "@effect/vitest"
import { Agent, Explanation, LlmError, Model, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Clock, Effect, Exit, Schedule, Schema } from "effect"
import {
  agentWith,
  asHard,
  batch,
  type Busy,
  busy,
  callingOnce,
  done,
  eventLog,
  failureOf,
  gone,
  instantsOf,
  overADay,
  read,
  scripted
} from "../../_support/dialogue.ts"
import { it, type Runner } from "../../_support/run.ts"
import type { RowOf } from "../../../packages/core/src/recovery/verdictTypes.ts"

type Row = RowOf<Busy, string, "exhausted" | "told" | "rethrow" | "raise", "repeats" | "repairs">
const { fails, make } = ScriptedModel
const overloaded = LlmError.ModelOverloadedError.make({ model: "m" })
const every = Schedule.max([Schedule.spaced("10 seconds"), Schedule.recurs(2)])
/** A tool that is busy so many times. */
const failing = (times: number) =>
  scripted("ping", ...Array.from({ length: times }, () => Effect.fail(busy())), Effect.succeed("pong"))

const pinging = {
  description: "Pings.",
  parameters: Schema.Struct({}),
  success: Schema.String,
  run: () => Effect.succeed("pong")
}

/** An effect that is busy so many times. */
const scriptedEffect = (times: number) => {
  const starts: Array<number> = []
  const effect = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    starts.push(now) <= times ? Effect.fail(busy()) : Effect.succeed("pong")
  )
  return { effect, starts }
}

/** When the tool ran behind a row, since its first run, and whether the agent came to its end. */
const ran = (run: Runner, times: number, row: Row, isTelling = false) =>
  Effect.gen(function* () {
    const { runs, tool } = failing(times)
    const agent = Agent.make("a", { tools: [tool.pipe(Tool.onError({ Busy: row }))] })
    const model = yield* make(...(isTelling ? [batch("ping"), done] : [batch("ping")]))
    // no row of these tests needs anything
    const running = run(agent, "go") as Effect.Effect<string, unknown, Model.Model>
    const exit = yield* overADay(running.pipe(Effect.provide(model.layer)))
    const [first = 0] = instantsOf(runs)
    return { instants: instantsOf(runs).map((at) => at - first), replies: read(model), isDone: Exit.isSuccess(exit) }
  })

it.run("a schedule is the same as a retry by it, at a tool, at a model call and at an effect [P1320]", (run) =>
  Effect.gen(function* () {
    const expected = { instants: [0, 10_000, 20_000], replies: ["result: pong"], isDone: true }
    assert.deepStrictEqual(yield* ran(run, 2, every, true), expected)
    assert.deepStrictEqual(yield* ran(run, 2, Recovery.retry(every), true), expected)
    const asked = yield* make(fails(overloaded), fails(overloaded), done)
    const caller = Agent.make("a", { onLlmError: { ModelOverloadedError: every } })
    assert.deepStrictEqual(yield* overADay(run(caller, "go").pipe(Effect.provide(asked.layer))), Exit.succeed("done"))
    assert.strictEqual(asked.requests.length, 3)
    let attempts = 0
    const plain = Effect.suspend(() => (++attempts < 3 ? Effect.fail(busy()) : Effect.succeed(attempts)))
    assert.deepStrictEqual(yield* overADay(plain.pipe(Recovery.onError({ Busy: every }))), Exit.succeed(3))
  })
)

it.run(
  "the effect of a handler answers in the place of what failed, or fails for good with its own failure [P1320]",
  (run) =>
    Effect.gen(function* () {
      const answered = failing(9).tool.pipe(Tool.onError({ Busy: ({ message }) => Effect.succeed(`not ${message}`) }))
      const model = yield* callingOnce("ping")
      yield* run(Agent.make("a", { tools: [answered] }), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), ["result: not busy"])
      const broken = failing(9).tool.pipe(Tool.onError({ Busy: () => Effect.fail(gone("for good")) }))
      const other = yield* make(batch("ping"))
      const exit = yield* Effect.exit(run(Agent.make("a", { tools: [broken] }), "go").pipe(Effect.provide(other.layer)))
      assert.deepInclude(yield* failureOf(exit), { _tag: "Gone", message: "for good" })
      const third = yield* make(fails(overloaded))
      const sorry = Agent.make("a", { onLlmError: () => Effect.succeed("sorry") })
      assert.strictEqual(yield* run(sorry, "go").pipe(Effect.provide(third.layer)), "sorry")
      assert.strictEqual(
        yield* Effect.fail(busy("x")).pipe(Recovery.onError({ Busy: ({ message }) => Effect.succeed(message) })),
        "x"
      )
    })
)

it.effect("a table of schedules and handlers around a model answers by them [P1320]", () =>
  Effect.gen(function* () {
    const script = yield* make(
      fails(overloaded),
      fails(LlmError.AuthenticationError.make({ model: "m", detail: "no" }))
    )
    const reply = ScriptedModel.reply({ content: [{ type: "text", text: "from the row" }] })
    const layer = Model.onError({
      ModelOverloadedError: Schedule.recurs(1),
      AuthenticationError: () => Effect.succeed(reply)
    })
    const agent = Agent.make("a", {})
    const said = agent("go").pipe(Effect.provide(layer(script.layer)))
    assert.strictEqual(yield* said, "from the row")
    assert.strictEqual(script.requests.length, 2)
  })
)

it.run("a handler that always decides the same is the same as that verdict [P1323 L607]", (run) =>
  Effect.gen(function* () {
    const verdicts: ReadonlyArray<() => Row> = [
      () => Recovery.retry({ retries: 2, initialBackoff: "1 second" }),
      () => Recovery.retry({ maxAttempts: 4, initialBackoff: 1_000_000n }),
      () => Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.retry({ retries: 1, initialBackoff: "1 minute" })),
      () => Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.retry(every), Recovery.tell())
    ]
    for (const [index, verdict] of verdicts.entries()) {
      const isTelling = index === 3
      const plain = yield* ran(run, 9, verdict(), isTelling)
      assert.isAbove(plain.instants.length, 2)
      assert.deepStrictEqual(yield* ran(run, 9, verdict as Row, isTelling), plain)
    }
  })
)

it.run("the options of a retry count all failures for which the handler was called [P1323]", (run) =>
  Effect.gen(function* () {
    // two retries after a second wait, then four without: the third failure is the third for both
    const row = (_: Busy, { attempt }: Recovery.FailureContext) =>
      attempt <= 2
        ? Recovery.retry({ retries: 2, initialBackoff: "1 second" })
        : Recovery.ladder(Recovery.retry({ retries: 4, initialBackoff: "10 seconds" }), Recovery.tell())
    const { instants } = yield* ran(run, 20, row, true)
    assert.deepStrictEqual(instants, [0, 1000, 3000, 13_000, 33_000, 73_000, 153_000])
    const growing = (_: Busy, { attempt }: Recovery.FailureContext) =>
      Recovery.retry({ retries: attempt === 4 ? 3 : 9, initialBackoff: attempt === 3 ? "1 minute" : "1 second" })
    // the wait of the third failure is that of a third retry; the fourth failure is one too many for three
    const other = yield* ran(run, 20, growing)
    assert.deepStrictEqual([other.instants, other.isDone], [[0, 1000, 3000, 243_000], false])
  })
)

it.run("two fixers that a handler chooses between count each for itself [P1323]", (run) =>
  Effect.gen(function* () {
    const fixers = [
      Agent.deterministic("first", () => Effect.succeed('{"n":1}')),
      Agent.deterministic("second", () => Effect.succeed('{"n":2}'))
    ] as const
    const { runs, tool } = failing(2)
    const row = (_: Busy, { attempt }: Recovery.FailureContext) =>
      Recovery.fix(fixers[attempt === 1 ? 0 : 1], { retries: 1 })
    const agent = Agent.make("a", { tools: [tool.pipe(Tool.onError({ Busy: row }))] })
    const model = yield* callingOnce("ping")
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["result: pong"])
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{}, { n: 1 }, { n: 2 }]
    )
  })
)

it.run("a schedule that is built anew each time begins anew, up to the cap of the call [P1323]", (run) =>
  Effect.gen(function* () {
    const { instants } = yield* ran(run, 30, () => Recovery.retry(Schedule.recurs(1)), true)
    assert.strictEqual(instants.length, 31)
    const once = Recovery.retry(Schedule.recurs(1))
    const result = yield* ran(run, 30, () => once)
    assert.strictEqual(result.instants.length, 2)
  })
)

it.effect("explain counts a handler up to the cap, unless it declares atMost [P1323]", () =>
  Effect.gen(function* () {
    const often = (error: Busy) => (error.message === "busy" ? Recovery.retry({ retries: 9 }) : Recovery.rethrow)
    const { worst } = Recovery.explain({ Busy: often })
    assert.deepStrictEqual([worst.attempts, worst.isUnbounded], [10_000, true])
    const declared = Recovery.when(often, { atMost: 2 })
    const explained = Recovery.explain({ Busy: declared })
    assert.deepStrictEqual([explained.worst.attempts, explained.worst.isUnbounded], [3, undefined])
    assert.match(Explanation.format(explained), /1 when +2 +chosen at each failure, as often as it says/)
    const { effect, starts } = scriptedEffect(9)
    assert.strictEqual((yield* Effect.flip(effect.pipe(Recovery.onError({ Busy: declared }))))._tag, "Busy")
    assert.strictEqual(starts.length, 3)
    const inLadder = Recovery.ladder(declared, Recovery.respondWith("enough"))
    assert.strictEqual(yield* scriptedEffect(9).effect.pipe(Recovery.onError({ Busy: inLadder })), "enough")
    assert.match(
      Explanation.format(Recovery.explain({ Busy: Schedule.forever })),
      /10000 attempts \(.*unbounded around/
    )
    for (const atMost of [-1, 0.5, Number.NaN]) assert.throws(() => Recovery.when(often, { atMost }), /retries must be/)
  })
)

it.run("the trail has the verdict that a handler chose [P1323]", (run) =>
  Effect.gen(function* () {
    const { tool } = failing(9)
    const row = (_: Busy, { attempt }: Recovery.FailureContext) =>
      attempt === 1 ? Recovery.retry({ retries: 1 }) : attempt === 2 ? Recovery.retry({ retries: 9 }) : Recovery.raise
    const agent = Agent.make("a", { tools: [tool.pipe(Tool.onError({ Busy: row }))] })
    const model = yield* make(batch("ping"))
    const error = asHard(yield* failureOf(yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))))
    assert.deepStrictEqual(
      error.trail?.map(({ verdict }) => verdict),
      ["retry", "retry", "raise"]
    )
  })
)

it("a value that is no retry policy is refused with a sentence that names retries and maxAttempts [P1320]", () => {
  for (const given of [3, { maxRetries: 3 }, "3", undefined, null, {}]) {
    assert.throws(() => Recovery.retry(given as never), /retries.*maxAttempts/)
  }
})

it("a row in the place of a table is refused, and what has no rows, at every door [P1320]", () => {
  const { tool } = scripted("ping", Effect.succeed("pong"))
  const doors: ReadonlyArray<(table: never) => unknown> = [
    (table) => tool.pipe(Tool.onError(table)),
    (onError) => Tool.make("ping", { ...pinging, onError }),
    (table) => Agent.make("a", { tools: [tool] }).pipe(Agent.toolDefaults(table)),
    (toolDefaults) => Agent.make("a", { tools: [tool], toolDefaults }),
    (ping) => Agent.make("a", { tools: [tool] }).pipe(Agent.onToolError({ ping })),
    (table) => scriptedEffect(1).effect.pipe(Recovery.onError(table))
  ]
  for (const given of doors) {
    for (const none of [() => Effect.succeed("x"), Schedule.recurs(1), Recovery.rethrow, "retry", 3, null]) {
      assert.throws(() => given(none as never), TypeError, "A table has a row for each tag: { orElse: row } is one")
    }
  }
})

it.run("a value that is no verdict is refused as a rung, and in the among of a handler, by its index [P1320]", () =>
  Effect.sync(() => {
    const once = Recovery.retry({ retries: 1 })
    for (const [rung, is] of [
      [Schedule.recurs(1), /Number 2 of Recovery.ladder is a schedule, not a verdict: Recovery.retry makes one/],
      [() => Effect.succeed("x"), /Number 2 of Recovery.ladder is a value of type function/],
      [{ retries: 3 }, /is a value of type object/],
      [3, /is a value of type number/],
      [null, /is null/]
    ] as const) {
      // what JavaScript may write
      assert.throws(() => Recovery.ladder(once, rung as never), is)
      const among = [once, rung as never]
      assert.throws(() => Recovery.when(() => once, { among }), /Number 2 of the among of Recovery.when is/)
    }
  })
)

it.run("a handler that has used up atMost gives up in the trail and in the events [P1323]", (run) =>
  Effect.gen(function* () {
    const { tool, runs } = scripted("look", ...Array.from({ length: 3 }, () => Effect.fail(busy())))
    const often = Recovery.when((_error: Busy) => Recovery.retry({ retries: 5, initialBackoff: 0, jitter: "none" }), {
      atMost: 2
    })
    const log = eventLog()
    const model = yield* ScriptedModel.make(batch("look"), done)
    const table = Tool.onError({ Busy: Recovery.ladder(often, Recovery.tell()) })
    yield* run(agentWith(tool.pipe(table)).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.lengthOf(runs, 3)
    assert.deepStrictEqual(
      log.of("verdict").map(({ gaveUp, verdict }) => [verdict, gaveUp ?? false]),
      [
        ["retry", false],
        ["retry", false],
        ["retry", true],
        ["tell", false]
      ]
    )
  })
)

it.effect("explain bounds handlers that bound themselves by `atMost`, nested and beside `among` [P1323]", () =>
  Effect.gen(function* () {
    const nine = Recovery.retry({ retries: 9, initialBackoff: 0, jitter: "none" })
    const fifty = () => Recovery.retry({ retries: 50, initialBackoff: 0, jitter: "none" })
    const five = Recovery.when(fifty, { atMost: 5 })
    const one = Recovery.when(fifty, { atMost: 1 })
    for (const [policy, attempts] of [
      [Recovery.when(() => nine, { among: [nine], atMost: 2 }), 3],
      [Recovery.when(() => five, { among: [five, one] }), 6],
      [Recovery.when((_: unknown, { attempt }) => (attempt % 2 === 0 ? one : five), { among: [five, one] }), 6],
      [Recovery.when(() => Recovery.when(() => nine, { among: [nine], atMost: 3 }), {}), 4]
    ] as const) {
      const { effect, starts } = scriptedEffect(99)
      yield* Effect.exit(effect.pipe(Recovery.onError({ Busy: policy as never })))
      const { worst } = Recovery.explain({ Busy: policy as never })
      assert.isAtMost(starts.length, worst.attempts)
      assert.isAtMost(starts.length, attempts)
    }
    const { worst } = Recovery.explain({ Busy: Recovery.when(() => nine, { among: [nine], atMost: 2 }) })
    assert.strictEqual(worst.attempts, 3)
  })
)

it.effect(
  "after a restart several schedules of a handler begin anew: none takes up another's count [P1323 P1104]",
  () =>
    Effect.gen(function* () {
      const positions: Array<Recovery.Position> = []
      const anew = () => Recovery.retry(Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(1)]))
      const whole = scriptedEffect(7)
      const onWait = (position: Recovery.Position) => Effect.sync(() => void positions.push(position))
      const exit = yield* overADay(whole.effect.pipe(Recovery.onErrorFrom({ Busy: anew }, { onWait })))
      assert.isTrue(Exit.isSuccess(exit))
      assert.lengthOf(positions, 7)
      // of one alone it is taken to be the same again
      for (const [index, from] of [...positions.entries()].slice(1)) {
        const rest = scriptedEffect(6 - index)
        const resumed = rest.effect.pipe(Recovery.onErrorFrom({ Busy: anew }, { onWait: () => Effect.void, from }))
        assert.isTrue(Exit.isSuccess(yield* overADay(resumed)), `from ${index}`)
      }
    })
)
