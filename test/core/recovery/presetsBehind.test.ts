/** Presets behind the rows of tools: what these give up, the preset decides; and it is asked about names of no tool. */
import { assert } from "@effect/vitest"
import { Agent, Explanation, Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { agentWith, batch, busy, callingOnce, done, eventLog, fixer, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const failing = (times: number) => scripted("look", ...Array.from({ length: times }, () => Effect.fail(busy())))

const labelled = "told: tool 'look' failed 2 times, at last: busy; consider asking the user for clarification"

for (const [name, preset, text] of [
  ["tellThenToolsOff", () => Recovery.presets.tellThenToolsOff(), "told: busy"],
  ["tellAll", () => Recovery.presets.tellAll(), labelled.replace("told: ", "told: permanent: ")]
] as const) {
  it.run(`${name} tells the failures that a row of the tool gives up, and they leave the type [P1339]`, (run) =>
    Effect.gen(function* () {
      const { runs, tool } = failing(2)
      const log = eventLog()
      const model = yield* callingOnce("look")
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) }))).pipe(
        Agent.toolDefaults(preset()),
        log.listen
      )
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), [text])
      assert.lengthOf(runs, 2)
      assert.deepStrictEqual(
        log.of("verdict").map(({ gaveUp, verdict }) => [verdict, gaveUp]),
        [
          ["retry", false],
          ["retry", true],
          ["tell", false]
        ]
      )
    })
  )

  it.run(`a fixer that gives up hands the failure to ${name} too, from every level [P1339]`, (run) =>
    Effect.gen(function* () {
      const mender = fixer(Effect.fail("no"), Effect.fail("no"))
      const { tool } = failing(2)
      const rows = { Busy: Recovery.fix(mender.agent) }
      for (const agent of [
        agentWith(tool).pipe(Agent.toolDefaults(preset()), Agent.onToolError({ look: rows })),
        agentWith(tool).pipe(Agent.toolDefaults({ ...preset(), ...rows }))
      ]) {
        const model = yield* callingOnce("look")
        yield* run(agent, "go").pipe(Effect.provide(model.layer))
        assert.deepStrictEqual(read(model)[0]?.includes("busy"), true)
      }
    })
  )
}

it.run("a row that decides otherwise is not overruled: rethrow, raise and tell stay [P1339]", (run) =>
  Effect.gen(function* () {
    for (const [row, tag] of [
      [Recovery.rethrow, "Busy"],
      [Recovery.raise, "ToolExecutionError"]
    ] as const) {
      const { tool } = failing(1)
      const agent = agentWith(tool.pipe(Tool.onError({ Busy: row }))).pipe(
        Agent.toolDefaults(Recovery.presets.tellThenToolsOff())
      )
      const error = yield* Effect.flip(
        run(agent, "go").pipe(Effect.provide((yield* ScriptedModel.make(batch("look"))).layer))
      )
      assert.strictEqual(error._tag, tag)
    }
  })
)

it.run("retryAttempts holds for every number, with any breaker [P1339 K1]", (run) =>
  Effect.gen(function* () {
    for (const retryAttempts of [0, 1, 3, 5, 12]) {
      const { tool } = failing(retryAttempts + 1)
      const agent = Agent.make("worker", {
        tools: [tool],
        budget: { maxTurns: retryAttempts + 2, repeatedFailures: { hint: 2, withhold: 2, stop: 2 } }
      }).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts })))
      const model = yield* ScriptedModel.make(...Array.from({ length: retryAttempts + 1 }, () => batch("look")), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        read(model),
        Array.from({ length: retryAttempts + 1 }, () => "told: busy")
      )
      const off = model.requests.map(({ toolChoice }) => toolChoice === "none")
      assert.deepStrictEqual(off, [...Array.from({ length: retryAttempts + 1 }, () => false), true])
    }
  })
)

it.run("the breaker counts three failures more than the preset lets happen [P1339 P701]", (run) =>
  Effect.gen(function* () {
    const { tool } = failing(4)
    const fine = scripted("fine", ...Array.from({ length: 3 }, () => Effect.succeed("ok")))
    const agent = Agent.make("worker", {
      tools: [tool, fine.tool],
      budget: { maxTurns: 9, repeatedFailures: { hint: 1, withhold: 9, stop: 9 } }
    }).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts: 1 })))
    // a batch without a failure sets the count of the preset back, and not that of the breaker
    const batches = ["look", "fine", "look", "fine", "look", "fine", "look"].map((name) => batch(name))
    const model = yield* ScriptedModel.make(...batches, done)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const texts = read(model).filter((text) => text.startsWith("told: "))
    assert.deepStrictEqual(
      texts.map((text) => text.includes("several times in a row")),
      [false, false, false, true]
    )
  })
)

it.run("shouldRetry and message are called for unknown tools too [P1339]", (run) =>
  Effect.gen(function* () {
    const asked: Array<unknown> = []
    const { tool } = failing(1)
    const model = yield* ScriptedModel.make(batch("nope"), done)
    const agent = agentWith(tool).pipe(
      Agent.toolDefaults(
        Recovery.presets.tellThenToolsOff({
          shouldRetry: ({ name }, _error, attempt, byDefault) => (asked.push([name, attempt, byDefault]), false),
          message: () => Effect.fail("no words")
        })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(asked, [["nope", 0, true]])
    assert.deepStrictEqual(
      model.requests.map(({ toolChoice }) => toolChoice),
      ["auto", "none"]
    )
    assert.deepStrictEqual(read(model), ["told: The function 'nope' is not defined. Only use the provided functions."])
  })
)

it("explain counts the rungs of the row, and those of the row behind it [P1339 P1323]", () => {
  const { tool } = failing(1)
  const guarded = tool.pipe(Tool.onError({ Busy: Recovery.retry({ retries: 2 }) }))
  const behind = Recovery.backstop(Recovery.ladder(Recovery.retry({ retries: 3 }), Recovery.tell()))
  const explained = Agent.explain(agentWith(guarded).pipe(Agent.toolDefaults({ orElse: behind })))
  assert.strictEqual(explained.tools.get("look")?.worst.attempts, 6 + 3)
  assert.include(Explanation.formatRun(explained), "Busy")
})
