import { assert } from "@effect/vitest"
import { Agent, Recovery, RunError, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, batch, busy, done, read, scripted, settlements } from "../../_support/dialogue.ts"

const { make } = ScriptedModel

const skillOf = <const Tools extends ReadonlyArray<Tool.AnyTool>>(...tools: Tools) =>
  [Skill.make("work", { description: "Works.", tools })] as const

/** A tool that always fails in the same way, but for what differs from call to call. */
const stubborn = (messages: ReadonlyArray<string>) =>
  scripted("fetch", ...messages.map((message) => Effect.fail(busy(message)))).tool.pipe(
    Tool.onError({ Busy: Recovery.tell((error) => error.message) })
  )

const hint = "The same failure has come several times in a row: repeating the call will not help, try another way."

it.run("what was decided about names of no tool comes along when their repetition ends the run [P701]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(batch("nope"), batch("nope"))
    const agent = Agent.make("worker", { budget: { repeatedFailures: { stop: 2 } } }).pipe(
      Agent.toolDefaults({ UnknownToolError: Recovery.tell() })
    )
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepStrictEqual(
      error.trail?.map(({ tag, verdict }) => `${tag} ${verdict}`),
      ["UnknownToolError tell"]
    )
  })
)

it.run("the trail of repeated failures has the equal failures alone, not those of calls beside them [P701]", (run) =>
  Effect.gen(function* () {
    const tell = Recovery.tell(({ message }: ReturnType<typeof busy>) => message)
    const same = scripted("fetch", Effect.fail(busy("no host")), Effect.fail(busy("no host"))).tool
    const other = scripted("other", Effect.fail(busy("no line")), Effect.fail(busy("too dark"))).tool
    const model = yield* make(batch("other", "fetch"), batch("fetch", "other"))
    const agent = Agent.make("worker", {
      budget: { repeatedFailures: { stop: 2 } },
      skills: skillOf(same.pipe(Tool.onError({ Busy: tell })), other.pipe(Tool.onError({ Busy: tell })))
    })
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepStrictEqual(
      error.trail?.map(({ message }) => message),
      ["no host"]
    )
  })
)

it.run(
  "the third equal failure in a row has a hint, the fourth withholds the tool, the fifth ends the run [P701]",
  (run) =>
    Effect.gen(function* () {
      const messages = [
        "no host 'a1' (try 1)",
        "no host 'b2' (try 2)",
        "No host 'c'  (try 3)",
        "no host '' (try 4)",
        "no host 'e' (try 5)"
      ]
      const model = yield* make(...Array.from({ length: 6 }, () => batch("fetch")))
      const agent = Agent.make("worker", { skills: skillOf(stubborn(messages)) })
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert(error instanceof RunError.BudgetExceededError)
      assert.deepInclude(error, { reason: "repeatedFailure", limit: 5, spent: 5 })
      assert.deepStrictEqual(settlements(error.transcript), [
        `told: ${messages[0]}`,
        `told: ${messages[1]}`,
        `told: ${messages[2]}\n${hint}`,
        `told: ${messages[3]}\n${hint}`,
        "denied: Tool 'fetch' failed too often in the same way and is not available in this turn. Try another way.",
        `told: ${messages[4]}\n${hint}`
      ])
      assert.deepStrictEqual(
        error.trail?.map(({ message, tag, verdict }) => [tag, verdict, message]),
        [["Busy", "tell", messages[4] ?? ""]]
      )
      assert.deepStrictEqual(
        model.requests.map(({ tools }) => tools.length),
        [1, 1, 1, 1, 0, 1]
      )
    })
)

it.run(
  "distinct failures, and those of other tools, are no repetition; several in one batch count once [P701]",
  (run) =>
    Effect.gen(function* () {
      const words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
      const distinct = yield* make(...words.map(() => batch("fetch")), done)
      yield* run(agentWith(stubborn(words)), "go").pipe(Effect.provide(distinct.layer))
      for (const line of read(distinct)) assert.notInclude(line, hint)

      const model = yield* make(batch("fetch", "fetch", "fetch"), batch("fetch", "fetch", "fetch"), done)
      yield* run(agentWith(stubborn(Array.from({ length: 6 }, () => "down"))), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        read(model),
        Array.from({ length: 6 }, () => "told: down")
      )
    })
)

it.run("any success of the tool clears its failures [P702]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted(
      "fetch",
      Effect.fail(busy("down")),
      Effect.fail(busy("down")),
      Effect.succeed("up"),
      Effect.fail(busy("down")),
      Effect.fail(busy("down"))
    )
    const telling = tool.pipe(Tool.onError({ Busy: Recovery.tell((error) => error.message) }))
    const model = yield* make(...Array.from({ length: 5 }, () => batch("fetch")), done)
    yield* run(agentWith(telling), "go").pipe(Effect.provide(model.layer))
    for (const line of read(model)) assert.notInclude(line, hint)
  })
)

it.run("thresholds are configurable, and may be switched off [P701]", (run) =>
  Effect.gen(function* () {
    const messages = Array.from({ length: 7 }, () => "down")
    const quick = yield* make(batch("fetch"), batch("fetch"))
    const strict = { hint: 2, withhold: 9, stop: 2 }
    const agent = Agent.make("worker", { budget: { repeatedFailures: strict }, skills: skillOf(stubborn(messages)) })
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(quick.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepInclude(error, { reason: "repeatedFailure", limit: 2, spent: 2 })

    const never = { hint: Infinity, withhold: Infinity, stop: Infinity }
    const patient = Agent.make("worker", { budget: { repeatedFailures: never }, skills: skillOf(stubborn(messages)) })
    const model = yield* make(...messages.map(() => batch("fetch")), done)
    yield* run(patient, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      read(model),
      messages.map(() => "told: down")
    )
  })
)
