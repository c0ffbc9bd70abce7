/** What counts as the same failure again, and who has a say in switching tools off. */
import { assert } from "@effect/vitest"
import { Agent, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, busy, done, gone, scripted } from "../../_support/dialogue.ts"
import { normalForm, signatureOf } from "../../../packages/core/src/budget/FailureHistory.ts"

const { call, calls, make } = ScriptedModel

/** How many equal failures ended the run. */
const endedAfter = (exit: unknown): number => {
  assert(exit instanceof RunError.BudgetExceededError)
  assert.strictEqual(exit.reason, "repeatedFailure")
  return exit.spent
}

const counting = Tool.make("count", {
  description: "Counts.",
  parameters: Schema.Struct({ n: Schema.Finite, list: Schema.Array(Schema.Finite) }),
  success: Schema.String,
  coercion: [],
  run: () => Effect.succeed("1")
}).pipe(Tool.onError({ InvalidArgs: Recovery.tell() }))

it.run("calls that are malformed in different ways are one repeated failure [P701 L908]", (run) =>
  Effect.gen(function* () {
    const malformed = ["{", '{"n":1,}', "please count", '{"n": one}', '["n" 1]']
    const model = yield* make(...malformed.map((raw) => calls(call("count", raw, "c1"))))
    const skills = [Skill.make("work", { description: "Works.", tools: [counting] })] as const
    const budget = { repeatedFailures: { withhold: Infinity } }
    const agent = Agent.make("worker", { budget, skills })
    assert.strictEqual(endedAfter(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))), 5)
  })
)

it.run("arguments that miss the same expectation are one failure, with any actual value [P701 L908]", (run) =>
  Effect.gen(function* () {
    const skills = [Skill.make("work", { description: "Works.", tools: [counting] })] as const
    const budget = { repeatedFailures: { withhold: Infinity } }
    const same = [
      '{"n":"one","list":[]}',
      '{"n":true,"list":[]}',
      '{"n":{},"list":[]}',
      '{"n":[],"list":[]}',
      '{"n":"two","list":[]}'
    ]
    const model = yield* make(...same.map((raw) => calls(call("count", raw, "c1"))))
    const agent = Agent.make("worker", { budget, skills })
    assert.strictEqual(endedAfter(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))), 5)

    const other = [
      '{"n":"one","list":[]}',
      '{"n":1,"list":5}',
      '{"n":"one","list":[]}',
      '{"n":1,"list":5}',
      '{"n":"one","list":[]}'
    ]
    const alternating = yield* make(...other.map((raw) => calls(call("count", raw, "c1"))), done)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(alternating.layer)), "done")
  })
)

it.run("the table with the most tries in a row says how many equal failures are accepted [P701]", (run) =>
  Effect.gen(function* () {
    const tries = (retryAttempts: number) => {
      const { orElse } = Recovery.presets.tellThenToolsOff({ retryAttempts })
      return Tool.onError({ orElse })
    }
    const steps = Array.from({ length: 6 }, () => Effect.fail(busy()))
    const fetch = scripted("fetch", ...steps)
    const look = scripted("look")
    const model = yield* make(...steps.map(() => batch("fetch")), done)
    const agent = agentWith(look.tool.pipe(tries(1)), fetch.tool.pipe(tries(6)))
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.lengthOf(fetch.runs, 6)
  })
)

it.run("failures that differ only in the ids of requests are one [P701 L908]", (run) =>
  Effect.gen(function* () {
    const ids = ["req_ab3fe", "req_zzzzz", "req_77410", "req_b9c8d7", "req_x1y2z3"]
    const { tool } = scripted("fetch", ...ids.map((id) => Effect.fail(busy(`The server said no, see ${id}.`))))
    const skills = [
      Skill.make("work", { description: "Works.", tools: [tool.pipe(Tool.onError({ Busy: Recovery.tell() }))] })
    ] as const
    const model = yield* make(...ids.map(() => batch("fetch")))
    const agent = Agent.make("worker", { budget: { repeatedFailures: { withhold: Infinity } }, skills })
    assert.strictEqual(endedAfter(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))), 5)
  })
)

it("a signature forgets ids, numbers and quotations, and keeps words [P701]", () => {
  for (const [one, other] of [
    ["see req_ab3fe", "see req_zzzzz"],
    ["trace 4bf92f3577b34da6", "trace 00f067aa0ba902b7"],
    ["no host 'a'", "no host 'b'"],
    ["row 1 of 20", "row 17 of 3"]
  ] as const) {
    assert.strictEqual(signatureOf("Busy", one), signatureOf("Busy", other))
  }
  for (const [one, other] of [
    ["disk is full", "disk is gone"],
    ["not_found", "not_allowed"],
    ["read_only", "read_write"]
  ] as const) {
    assert.notStrictEqual(signatureOf("Busy", one), signatureOf("Busy", other))
  }
  assert.notStrictEqual(signatureOf("Busy", "down"), signatureOf("Gone", "down"))
})

it("the normal form of a message has no values that change [P701]", () => {
  for (const [text, form] of [
    ["No \"file a\" in 'b c' or `d e` here", "no … in … or … here"],
    ["Failed (call c-17 of look) at path=/tmp/x, size=12; done", "failed at path=…, size=…; done"],
    ["Row 1 of 20, see req_abcdef and 4bf92f", "row # of #, see # and #"],
    [" many \n blanks ", "many blanks"],
    ["not_found", "not_found"]
  ] as const)
    assert.strictEqual(normalForm(text), form)
  assert.strictEqual(normalForm(`${"a".repeat(500)} and more`), "a".repeat(500))
})

/** An agent under `tellThenToolsOff` without another try, one of whose tools has a row of its own. */
const batched = (then?: "continue" | "tools-off") => {
  const own = scripted("own", Effect.fail(gone()))
  const other = scripted("other", Effect.fail(busy()))
  const row = Recovery.tell(undefined, then === undefined ? {} : { then })
  return agentWith(own.tool.pipe(Tool.onError({ Gone: row })), other.tool).pipe(
    Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts: 0 }))
  )
}

it.run("a row that tells decides about switching tools off only with `then` [K8 K9]", (run) =>
  Effect.gen(function* () {
    for (const [then, choice] of [
      [undefined, "none"],
      ["continue", "auto"],
      ["tools-off", "none"]
    ] as const) {
      const model = yield* make(batch("own", "other"), done)
      yield* run(batched(then), "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(model.requests[1]?.toolChoice, choice, String(then))
    }
  })
)

it.run("a batch of failures whose rows have no `then` keeps tools on [K8]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("own"), done)
    yield* run(batched(), "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(model.requests[1]?.toolChoice, "auto")
  })
)
