/** What ends a comparison, and what it counts of runs that are odd. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Tool } from "@kintsugi/core"
import { Eval, ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Fiber, Random, Schema } from "effect"
import { share } from "../../../packages/core/src/testing/Eval.ts"
import { busy } from "../../_support/dialogue.ts"
import type * as Comparisons from "./_support/comparisons.ts"
import { deciding, paying, snapshotOf } from "../../_support/suspension.ts"

interface World {
  failures: number
  readonly notes: Array<string>
}

const { answering, call, calls, text } = ScriptedModel
const model = answering(({ messages }) => (messages.length === 1 ? calls(call("look", {})) : text("found")))

const agent = (world: World) =>
  Agent.make("clerk", {
    model,
    tools: [
      Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => (world.failures-- > 0 ? Effect.fail(busy()) : Effect.succeed("found"))
      })
    ]
  })

type Policy = Comparisons.Policy<ReturnType<typeof agent>>

const scenario: Comparisons.Scenario<World> = {
  name: "busy",
  input: "Look it up",
  world: () => ({ failures: 1, notes: [] }),
  check: ({ output }) => output === "found"
}

const comparing = (policy: Policy, changes: Partial<Parameters<typeof comparison>[1]> = {}) =>
  comparison(policy, { scenario, runs: 2, ...changes })

const comparison = (
  policy: Policy,
  options: { readonly scenario: Comparisons.Scenario<World>; readonly runs: number }
) => Eval.compare({ agent, scenarios: [options.scenario], policies: [policy], runs: options.runs })

describe("a comparison", () => {
  it.effect("gives up a run that cannot be interrupted, and lets finalisers of others end", () =>
    Effect.gen(function* () {
      const stuck = yield* comparing({ name: "stuck", guard: () => () => Effect.uninterruptible(Effect.never) })
      assert.deepStrictEqual(stuck.policies[0]?.failures, { Hung: 2 })
      const seen: Array<unknown> = []
      const notes: Array<string> = []
      const cleaning: Policy = {
        name: "cleaning",
        guard: () => () =>
          Effect.onInterrupt(Effect.never, () =>
            Effect.andThen(
              Effect.sleep("1 hour"),
              Effect.sync(() => void notes.push("cleaned"))
            )
          )
      }
      const check = () => seen.push([...notes]) > 9
      const report = yield* comparing(cleaning, { scenario: { ...scenario, check } })
      assert.deepStrictEqual(report.policies[0]?.failures, { Hung: 2 })
      assert.deepStrictEqual(seen, [["cleaned"], ["cleaned", "cleaned"]])
    })
  )

  it.effect("counts the calls of all runs of a policy that repeats its agent", () =>
    Effect.gen(function* () {
      const repeated: Policy = { name: "again", guard: (clerk) => (input) => Effect.retry(clerk(input), { times: 1 }) }
      const [row] = (yield* comparing(repeated)).policies
      // one call before the failure, two after it
      assert.deepStrictEqual([row?.passed.count, row?.modelCalls], [2, 3])
    })
  )

  it.effect("counts what its agent's own agents spend once, and a run that is suspended and goes on as one", () =>
    Effect.gen(function* () {
      const inner = Agent.make("inner", { model: answering(() => text("4")) })
      const calling = answering(({ messages }) =>
        messages.length === 1 ? calls(call("inner", { input: "2 + 2" })) : text("4")
      )
      const outer = Agent.make("outer", { model: calling, tools: [Agent.asTool(inner, { description: "Adds." })] })
      const nested: Policy = { name: "nested", guard: () => (input) => outer(input) }
      const [row] = (yield* comparing(nested)).policies
      // two calls of the outer one, one of the inner one
      assert.deepStrictEqual([row?.failures, row?.modelCalls], [{}, 3])
      const { tool } = paying()
      const paid = answering(({ messages }) =>
        messages.length === 1 ? calls(call("pay", { cents: 1 })) : text("found")
      )
      const payer = Agent.make("payer", { model: paid, tools: [tool] })
      const resuming: Policy = {
        name: "resuming",
        guard: () => (input) =>
          Effect.gen(function* () {
            const begun = yield* payer.start(input)
            const from = yield* snapshotOf(yield* begun.outcome)
            const resumed = yield* Agent.resume(payer).start(deciding(from))
            const outcome = yield* resumed.outcome
            return outcome._tag === "Completed" ? outcome.output : "suspended"
          }).pipe(Effect.scoped)
      }
      const [repeated] = (yield* comparing(resuming)).policies
      assert.deepStrictEqual([repeated?.failures, repeated?.passed.count, repeated?.modelCalls], [{}, 2, 2])
    })
  )

  it.effect("gives each scenario luck of its own", () =>
    Effect.gen(function* () {
      const drawn: Array<number> = []
      const drawing: Policy = {
        name: "draws",
        guard: () => () => Effect.map(Random.next, (draw) => `${drawn.push(draw)}`)
      }
      const scenarios = [scenario, { ...scenario, name: "other" }]
      yield* Eval.compare({ agent, scenarios, policies: [drawing], runs: 2 })
      assert.strictEqual(new Set(drawn).size, 4)
    })
  )

  it.live("ends when it is interrupted, with the run that is at work, however many are still to come", () =>
    Effect.gen(function* () {
      let ended = 0
      const waiting: Policy = {
        name: "waiting",
        guard: () => () => Effect.onInterrupt(Effect.forever(Effect.yieldNow), () => Effect.sync(() => void ended++))
      }
      const runs = Number.MAX_SAFE_INTEGER
      const fiber = yield* Effect.forkChild(comparing(waiting, { runs }), { startImmediately: true })
      yield* Effect.yieldNow
      yield* Fiber.interrupt(fiber)
      const exit = yield* Fiber.await(fiber)
      assert.isTrue(Exit.hasInterrupts(exit))
      assert.strictEqual(ended, 1)
    })
  )

  it("refuses limits that are none", () => {
    for (const limit of [0, -1, NaN, Infinity, "soon" as "1 day"]) {
      const wrong = () => Eval.compare({ agent, scenarios: [scenario], policies: [], limit })
      assert.throws(wrong, RangeError, `a finite duration above 0, got ${limit}`)
    }
  })

  it("refuses two policies or scenarios of one name, and names that it does not have", () => {
    const policy: Policy = { name: "plain", guard: (clerk) => clerk }
    const comparing = (scenarios: ReadonlyArray<typeof scenario>, policies: ReadonlyArray<Policy>) => () =>
      Eval.compare({ agent, scenarios, policies })
    assert.throws(comparing([scenario], [policy, policy]), /policies.*plain/)
    assert.throws(comparing([scenario, scenario], [policy]), /scenarios.*busy/)
  })
})

it("a share of runs that there are not is refused", () => {
  for (const [count, of] of [
    [3, 2],
    [-1, 2],
    [0.5, 2],
    [1, NaN]
  ] as const)
    assert.throws(() => share(count, of), RangeError, `Eval.share: there are no ${count} of ${of}`)
})

it.effect("a report is text: a line for each policy, a blank line, and a line for each scenario", () =>
  Effect.gen(function* () {
    const report = yield* comparing({ name: "plain", guard: () => () => Effect.succeed("found") })
    const lines = Eval.format(report).split("\n")
    assert.deepStrictEqual(lines, [
      "2 runs of each scenario under each policy, seed 1",
      "",
      "policy   passed (95 %)  silent  failed with  calls  tokens  waited",
      "plain   100 % (34–100)       0            –    0.0       0   0.0 s",
      "",
      "passed, in per cent  plain",
      "busy                   100"
    ])
    assert.strictEqual(Eval.passed(report, "plain").rate, 1)
    assert.strictEqual(Eval.passed(report, "plain", "busy").rate, 1)
    assert.throws(() => Eval.passed(report, "plain", "other"), "Eval.passed: there is no scenario 'other', only busy")
    assert.throws(() => Eval.passed(report, "other"), "Eval.passed: there is no policy 'other', only plain")
  })
)
