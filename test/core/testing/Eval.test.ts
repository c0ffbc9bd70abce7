/** Policies compared on scenarios of a user's own. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, type Budget, LlmError, Recovery, Tool } from "@kintsugi/core"
import { Eval, ScriptedModel } from "@kintsugi/core/testing"
import { Cause, Clock, Context, Effect, Exit, Random, Schedule, Schema } from "effect"
import { formatShare, share } from "../../../packages/core/src/testing/Eval.ts"
import { busy } from "../../_support/dialogue.ts"
import type { Policy, Run, Scenario } from "./_support/comparisons.ts"

const { answering, call, calls, text } = ScriptedModel

interface World {
  failures: number
  readonly runs: Array<number>
}

const model = answering(({ messages }) => (messages.length === 1 ? calls(call("look", {})) : text("found")))

const look = (world: World) =>
  Tool.make("look", {
    description: "Looks.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    sideEffects: "none",
    run: () =>
      Effect.flatMap(Clock.currentTimeMillis, (at) => {
        world.runs.push(at)
        return world.failures-- > 0 ? Effect.fail(busy()) : Effect.succeed("found")
      })
  })

const agent = (world: World, budget: Budget.Limits = {}) => Agent.make("clerk", { tools: [look(world)], model, budget })

const scenario = (name: string, failures: number): Scenario<World> => ({
  name,
  input: "Look it up",
  world: () => ({ failures, runs: [] }),
  check: ({ output, world }) => output === "found" && world.failures < 0
})

type Clerk = ReturnType<typeof agent>

const none: Policy<Clerk> = { name: "none", guard: (clerk) => clerk }

const telling: Policy<Clerk> = {
  name: "telling",
  guard: (clerk) => clerk.pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))
}

const retrying: Policy<Clerk> = {
  name: "retrying",
  guard: (clerk) =>
    clerk.pipe(Agent.toolDefaults({ orElse: Recovery.retry({ retries: 2, initialBackoff: "1 minute" }) }))
}

const comparison = {
  agent,
  scenarios: [scenario("fine", 0), scenario("busy", 2)],
  policies: [none, telling, retrying],
  runs: 3
}

describe("compare", () => {
  it.effect("plays each scenario under each policy, and counts what came of it", () =>
    Effect.gen(function* () {
      const report = yield* Eval.compare(comparison)
      assert.deepStrictEqual(
        report.policies.map(({ failures, passed, policy, silent }) => [
          policy,
          passed.count,
          passed.of,
          silent,
          failures
        ]),
        [
          ["none", 3, 6, 0, { Busy: 3 }],
          ["telling", 3, 6, 3, {}],
          ["retrying", 6, 6, 0, {}]
        ]
      )
      assert.deepStrictEqual(
        report.scenarios.map(({ passed, scenario }) => [scenario, passed.map(({ count }) => count)]),
        [
          ["fine", [3, 3, 3]],
          ["busy", [0, 0, 3]]
        ]
      )
      assert.deepStrictEqual([report.seed, report.runs], [1, 3])
    })
  )

  it.effect("lets waits take no time, and counts them with the calls and tokens", () =>
    Effect.gen(function* () {
      const before = yield* Clock.currentTimeMillis
      const { policies } = yield* Eval.compare({
        ...comparison,
        scenarios: [scenario("busy", 2)],
        policies: [retrying]
      })
      const [row] = policies
      assert.strictEqual(yield* Clock.currentTimeMillis, before)
      assert(row !== undefined)
      assert.deepStrictEqual([row.waitMillis, row.modelCalls], [180_000, 2])
      assert.isAbove(row.tokens, 0)
    })
  )

  it.effect("makes the world anew for each run, and gives each policy the same luck", () =>
    Effect.gen(function* () {
      const drawn: Array<readonly [string, number, number]> = []
      const seen: Array<Run> = []
      const drawing = (name: string): Policy<Clerk> => ({
        name,
        guard: () => () =>
          Effect.map(Random.next, (draw) => {
            drawn.push([name, drawn.length, draw])
            return "found"
          })
      })
      const worlds = new Set<World>()
      const one: Scenario<World> = {
        ...scenario("fine", 0),
        world: (run) => {
          seen.push(run)
          return { failures: 0, runs: [] }
        },
        check: ({ world }) => worlds.add(world).size > 0
      }
      yield* Eval.compare({ ...comparison, scenarios: [one], policies: [drawing("a"), drawing("b")], runs: 2, seed: 7 })
      const [first, second, third, fourth] = drawn.map(([, , draw]) => draw)
      assert.deepStrictEqual([first, third], [second, fourth])
      assert.notStrictEqual(first, third)
      assert.strictEqual(worlds.size, 4)
      assert.deepStrictEqual(
        seen.map(({ run, scenario, seed }) => [seed, scenario, run]),
        [
          [7, "fine", 0],
          [7, "fine", 0],
          [7, "fine", 1],
          [7, "fine", 1]
        ]
      )
      const repeated = drawn.length
      yield* Eval.compare({ ...comparison, scenarios: [one], policies: [drawing("a")], runs: 1, seed: 8 })
      assert.notStrictEqual(drawn[repeated]?.[2], first)
    })
  )

  it.effect(
    "shows a check what failed and what happened, and takes a policy that throws or dies for a failed run",
    () =>
      Effect.gen(function* () {
        const seen: Array<unknown> = []
        const watched: Scenario<World> = {
          ...scenario("busy", 1),
          check: ({ error, events, output }) => {
            seen.push([
              (error as { readonly _tag?: string } | undefined)?._tag,
              output,
              events.map(({ type }) => type).at(-1)
            ])
            return false
          }
        }
        const throwing: Policy<Clerk> = {
          name: "throwing",
          guard: () => () => {
            throw new TypeError("broken")
          }
        }
        const dying: Policy<Clerk> = {
          name: "dying",
          guard: () => () => Effect.die(new TypeError("broken"))
        }
        const policies = [none, telling, throwing, dying]
        const report = yield* Eval.compare({ ...comparison, scenarios: [watched], policies, runs: 1 })
        assert.deepStrictEqual(seen, [
          ["Busy", undefined, "run-failed"],
          [undefined, "found", "run-completed"],
          [undefined, undefined, undefined],
          [undefined, undefined, undefined]
        ])
        assert.deepStrictEqual(
          report.policies.map(({ failures }) => failures),
          [{ Busy: 1 }, {}, { Defect: 1 }, { Defect: 1 }]
        )
      })
  )

  class Notes extends Context.Service<Notes, { readonly notes: Array<string> }>()("test/Notes") {}

  it.effect("needs what its policies need, and may wait in real time", () =>
    Effect.gen(function* () {
      const notes: Array<string> = []
      const noting: Policy<Clerk, Notes> = {
        name: "noting",
        guard: (clerk) => (input) =>
          Effect.tap(clerk(input), (said) => Effect.map(Notes, ({ notes }) => notes.push(said)))
      }
      const compared = Eval.compare({
        ...comparison,
        scenarios: [scenario("fine", 0)],
        policies: [noting],
        runs: 1,
        clock: "real"
      })
      const report = yield* Effect.provideService(compared, Notes, { notes })
      assert.deepStrictEqual([notes, Eval.passed(report, "noting").count], [["found"], 1])
    })
  )

  it.effect("counts the failures of models, and what their calls have used", () =>
    Effect.gen(function* () {
      const failing = answering(() => ScriptedModel.fails(LlmError.ServerError.make({ model: "m" })))
      const report = yield* Eval.compare({
        ...comparison,
        agent: (world: World) => Agent.make("clerk", { tools: [look(world)], model: failing }),
        policies: [none]
      })
      assert.deepStrictEqual(report.policies[0]?.failures, { ServerError: 6 })
    })
  )

  it.effect("gives up a run that never ends, and goes on with the others", () =>
    Effect.gen(function* () {
      const forEver = Effect.repeat(Effect.sleep("1 second"), Schedule.spaced("1 minute"))
      const report = yield* Eval.compare({
        ...comparison,
        policies: [
          { name: "hangs", guard: () => () => Effect.never },
          { name: "loops", guard: () => () => Effect.andThen(forEver, Effect.never) },
          none
        ]
      })
      assert.deepStrictEqual(
        report.policies.map(({ failures }) => failures),
        [{ Hung: 6 }, { Hung: 6 }, { Busy: 3 }]
      )
      const short = yield* Eval.compare({ ...comparison, policies: [retrying], limit: "20 seconds" })
      assert.deepStrictEqual(short.policies[0]?.failures, { Hung: 3 })
    })
  )

  it.effect("tells defects and interruptions from failures, by any name", () =>
    Effect.gen(function* () {
      class Odd extends Error {
        readonly _tag: string
        constructor(tag: string) {
          super("odd")
          this._tag = tag
        }
      }
      const failing = (name: string, effect: Effect.Effect<never, unknown>) => ({ name, guard: () => () => effect })
      const throwing = {
        name: "throws",
        guard: () => () => {
          throw new Error("thrown by the agent")
        }
      }
      const report = yield* Eval.compare({
        ...comparison,
        runs: 1,
        policies: [
          throwing,
          failing("dies", Effect.die("defect")),
          failing("stops", Effect.interrupt),
          failing("constructor", Effect.fail(new Odd("constructor"))),
          failing("proto", Effect.fail(new Odd("__proto__"))),
          failing("plain", Effect.fail(new TypeError("plain")))
        ]
      })
      assert.deepStrictEqual(
        report.policies.map(({ failures }) => Object.entries(failures)),
        [["Defect"], ["Defect"], ["Interrupted"], ["constructor"], ["__proto__"], ["TypeError"]].map(([name = ""]) => [
          [name, 2]
        ])
      )
    })
  )

  it.effect("ends with what its own functions throw: that is no failure of a run", () =>
    Effect.gen(function* () {
      const mistake = () => {
        throw new Error("a mistake")
      }
      const [first] = comparison.scenarios
      assert.isDefined(first)
      for (const wrong of [
        { ...comparison, agent: mistake },
        { ...comparison, policies: [{ name: "wrong", guard: mistake }] },
        { ...comparison, scenarios: [{ ...first, world: mistake }] },
        { ...comparison, scenarios: [{ ...first, check: mistake }] }
      ]) {
        const exit = yield* Effect.exit(Eval.compare(wrong))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      }
    })
  )

  it("refuses what cannot be compared", () => {
    assert.throws(() => Eval.compare({ ...comparison, seed: NaN }), RangeError, "seed must be")
    for (const runs of [0, 0.5, NaN])
      assert.throws(() => Eval.compare({ ...comparison, runs }), RangeError, "runs must be")
    assert.throws(() => Eval.compare({ ...comparison, policies: [none, none] }), TypeError, "none, none")
    assert.throws(() => Eval.compare({ ...comparison, scenarios: [] }), TypeError, "the scenarios need names")
  })
})

describe("a report", () => {
  it.effect("is JSON, and the same for the same seed", () =>
    Effect.gen(function* () {
      const report = yield* Eval.compare(comparison)
      assert.deepStrictEqual(yield* Eval.compare(comparison), report)
      const json: unknown = JSON.parse(JSON.stringify(report))
      assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(Eval.EvalReport)(json), report)
    })
  )

  it.effect("gives the share that passed, by policy and by scenario, and names unknown policies and scenarios", () =>
    Effect.gen(function* () {
      const report = yield* Eval.compare(comparison)
      assert.deepStrictEqual(Eval.passed(report, "none"), share(3, 6))
      assert.deepStrictEqual(Eval.passed(report, "telling", "busy"), share(0, 3))
      assert.throws(() => Eval.passed(report, "nope"), TypeError, "no policy 'nope', only none, telling, retrying")
      assert.throws(() => Eval.passed(report, "none", "nope"), TypeError, "no scenario 'nope', only fine, busy")
    })
  )

  it.effect("is a table for each, as text", () =>
    Effect.gen(function* () {
      const report = yield* Eval.compare({ ...comparison, policies: [none, retrying] })
      const lines = Eval.format(report).split("\n")
      assert.strictEqual(lines[0], "3 runs of each scenario under each policy, seed 1")
      assert.match(lines[2] ?? "", /^policy +passed \(95 %\) +silent +failed with +calls +tokens +waited$/)
      assert.match(lines[3] ?? "", /^none +50 % \(19–81\) +0 +Busy 3 +\d\.\d +\d+ +0\.0 s$/)
      assert.match(lines[4] ?? "", /^retrying +100 % \(61–100\) +0 +– +2\.0 +\d+ +90\.0 s$/)
      assert.match(lines[6] ?? "", /^passed, in per cent +none +retrying$/)
      assert.deepStrictEqual(
        lines.slice(7).map((line) => line.split(/ {2,}/)),
        [
          ["fine", "100", "100"],
          ["busy", "0", "100"]
        ]
      )
    })
  )
})

describe("a share", () => {
  it("is of counts, and never more than all", () => {
    for (const [count, of] of [
      [5, 3],
      [-1, 3],
      [0.5, 3],
      [NaN, 3],
      [0, Infinity]
    ] as const)
      assert.throws(() => share(count, of), RangeError)
  })

  it("has the interval of the textbooks", () => {
    // Newcombe, Statistics in Medicine 17 (1998), table I, method 3
    for (const [count, of, low, high] of [
      [81, 263, 0.2553, 0.3662],
      [15, 148, 0.0624, 0.1605],
      [0, 20, 0, 0.1611],
      [1, 29, 0.0061, 0.1718]
    ] as const) {
      const found = share(count, of)
      assert.deepStrictEqual(
        [found.low, found.high].map((bound) => Number(bound.toFixed(4))),
        [low, high]
      )
    }
  })

  it("has the interval of Wilson, which is no point where all or nothing passed", () => {
    assert.deepStrictEqual(share(0, 0), { count: 0, of: 0, rate: 0, low: 0, high: 1 })
    assert.strictEqual(formatShare(share(0, 0)), "–")
    assert.strictEqual(formatShare(share(1, 29)), "3 % (1–17)")
    assert.strictEqual(formatShare(share(10, 10)), "100 % (72–100)")
    for (let of = 1; of <= 30; of++) {
      for (let count = 0; count <= of; count++) {
        const { high, low, rate } = share(count, of)
        assert.isTrue(0 <= low && low <= rate && rate <= high && high <= 1, `${count} of ${of}`)
        assert.approximately(low, 1 - share(of - count, of).high, 1e-12)
      }
    }
  })
})
