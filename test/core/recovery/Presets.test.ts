import { assert } from "@effect/vitest"
import { Agent, Message, Recovery, RunError, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect } from "effect"
import { nodeOf } from "../../../packages/core/src/recovery/making.ts"
import { it } from "../../_support/run.ts"
import {
  agentWith,
  asHard,
  batch,
  busy,
  callingOnce,
  done,
  gone,
  overADay,
  read,
  scripted,
  settlements
} from "../../_support/dialogue.ts"
import { contextOf } from "./_support/contexts.ts"

const { make } = ScriptedModel

class Silent extends Data.TaggedError("Silent")<{}> {}

/** A tool that goes on like this, for as long as it is called. */
const playing = (name: string, ...outcomes: ReadonlyArray<"ok" | "fail">) =>
  scripted(
    name,
    ...outcomes.map((outcome, index) =>
      outcome === "ok" ? Effect.succeed(`ok ${index}`) : Effect.fail(busy(`failure ${index}`))
    )
  )

it.run(
  "after one retry tools are switched off, for good, without a wait; the model answers in words [K1 K9 K10 K11 K22]",
  (run) =>
    Effect.gen(function* () {
      const { runs, tool } = playing("look", "fail", "fail")
      const model = yield* make(batch("look"), batch("look"), done)
      const agent = agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff()))
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
      assert.deepStrictEqual(
        model.requests.map(({ toolChoice }) => toolChoice),
        ["auto", "auto", "none"]
      )
      assert.deepStrictEqual(read(model), ["told: failure 0", "told: failure 1"])
      assert.deepStrictEqual(
        runs.map(({ at }) => at),
        [0, 0]
      )
    })
)

it.effect("retryAttempts is a whole number of at least 0, 1 by default [K1]", () =>
  Effect.sync(() => {
    for (const retryAttempts of [-1, 1.5, NaN, Infinity]) {
      const { tellThenToolsOff, tellWithTries } = Recovery.presets
      const rule = `must be a whole number of at least 0, got ${retryAttempts}`
      assert.throws(() => tellThenToolsOff({ retryAttempts }), RangeError, `Recovery.presets: retryAttempts ${rule}`)
      assert.throws(() => tellWithTries({ retries: retryAttempts }), RangeError, `Recovery.presets: retries ${rule}`)
    }
  })
)

it.run("the count starts at 0 in every run, and is neither per tool nor per call [K2]", (run) =>
  Effect.gen(function* () {
    const one = playing("one", "fail", "fail")
    const two = playing("two", "fail", "fail")
    const agent = agentWith(one.tool, two.tool).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff()))
    for (let batchIndex = 0; batchIndex < 2; batchIndex++) {
      const model = yield* make(batch("one"), batch("two"), done)
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        model.requests.map(({ toolChoice }) => toolChoice),
        ["auto", "auto", "none"]
      )
    }
  })
)

it.run("a batch counts once, mixed ones too; all its failures see the same number [K3 K5 K6 K8]", (run) =>
  Effect.gen(function* () {
    const seen: Array<readonly [string, number]> = []
    const failing = playing("fail", "fail", "fail", "fail", "fail")
    const fine = playing("fine", "ok", "ok")
    const message: Recovery.presets.ToolsOffOptions["message"] = (call, _error, attempt, byDefault) => {
      seen.push([call.id, attempt])
      return byDefault
    }
    const model = yield* make(batch("fail", "fine", "fail"), batch("fail", "fine", "fail"), done)
    const agent = agentWith(failing.tool, fine.tool).pipe(
      Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts: 1, message }))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(seen.toSorted(), [
      ["c1", 0],
      ["c1", 1],
      ["c3", 0],
      ["c3", 1]
    ])
    assert.strictEqual(model.requests[2]?.toolChoice, "none")
  })
)

it.run("a batch without failure resets the count: alternating never uses it up [K4]", (run) =>
  Effect.gen(function* () {
    const { tool } = playing("look", "fail", "ok", "fail", "ok", "fail", "ok")
    const model = yield* make(...Array.from({ length: 6 }, () => batch("look")), done)
    const agent = agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff()))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    for (const { toolChoice } of model.requests) assert.strictEqual(toolChoice, "auto")
  })
)

it.run("shouldRetry decides within the count and changes no text; a no uses the count up at once [K7 K17]", (run) =>
  Effect.gen(function* () {
    const asked: Array<readonly [string, number, boolean]> = []
    const { tool } = playing("look", "fail", "fail", "fail")
    const model = yield* make(batch("look"), batch("look"), done)
    const agent = agentWith(tool).pipe(
      Agent.toolDefaults(
        Recovery.presets.tellThenToolsOff({
          retryAttempts: 5,
          shouldRetry: ({ name }, _error, attempt, byDefault) => {
            asked.push([name, attempt, byDefault])
            return attempt < 1
          }
        })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(asked, [
      ["look", 0, true],
      ["look", 1, true]
    ])
    assert.strictEqual(model.requests[2]?.toolChoice, "none")
    assert.deepStrictEqual(read(model), ["told: failure 0", "told: failure 1"])
  })
)

it.run("one failure of a batch with a try left keeps tools on [K8]", (run) =>
  Effect.gen(function* () {
    const one = playing("one", "fail")
    const two = playing("two", "fail")
    const model = yield* callingOnce("one", "two")
    const agent = agentWith(one.tool, two.tool).pipe(
      Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ shouldRetry: ({ name }) => name === "two" }))
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(model.requests[1]?.toolChoice, "auto")
  })
)

it.run("calls after that are denied, for one more turn; then the run ends [K12]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = playing("look", "fail")
    const model = yield* make(batch("look"), batch("look", "nope"), batch("look"))
    const agent = agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts: 0 })))
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.strictEqual(error.reason, "toolsOff")
    assert.deepStrictEqual(
      settlements(error.transcript).map((line) => line.split(":")[0]),
      ["told", "denied", "denied", "denied"]
    )
    assert.strictEqual(runs.length, 1)
  })
)

it.run(
  "an unknown name has a text of its own, flagged, under its own call; every other failure its own words [K13 K14 K15]",
  (run) =>
    Effect.gen(function* () {
      const { tool } = playing("look", "fail")
      const errors: Array<unknown> = []
      const model = yield* callingOnce("nope", "look")
      const agent = agentWith(tool).pipe(
        Agent.toolDefaults(
          Recovery.presets.tellThenToolsOff({
            message: (_call, error, _attempt, byDefault) => {
              errors.push(error)
              return byDefault
            },
            shouldRetry: ({ name }) => name === "nope"
          })
        )
      )
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), [
        "told: The function 'nope' is not defined. Only use the provided functions.",
        "told: failure 0"
      ])
      const calls = (model.requests[1]?.messages ?? []).flatMap((message) =>
        message.role === "assistant" ? message.content.filter((part) => part.type === "settled-call") : []
      )
      assert.deepStrictEqual(
        calls.map(({ call, settlement }) => [call.id, call.name, Message.isError(settlement)]),
        [
          ["c1", "nope", true],
          ["c2", "look", true]
        ]
      )
      assert.sameMembers(
        errors.map((error) => (error as { readonly _tag: string })._tag),
        ["UnknownToolError", "Busy"]
      )
      assert.strictEqual(model.requests[1]?.toolChoice, "auto")
    })
)

it.run("the text of a failure without a message is its tag [K16]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.fail(new Silent()))
    const model = yield* callingOnce("look")
    const agent = agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff()))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), ["told: Silent"])
  })
)

it.run(
  "message may be an effect, and changes no decision; one that fails falls back; none clears the flag [K17 K18 K20]",
  (run) =>
    Effect.gen(function* () {
      for (const [message, text] of [
        [() => Effect.succeed("look elsewhere"), "told: look elsewhere"],
        [() => Effect.fail(gone()), "told: failure 0"],
        [() => "", "told: failure 0"],
        [() => " ", "told: failure 0"]
      ] as const) {
        const { tool } = playing("look", "fail")
        const fine = playing("fine", "ok")
        const model = yield* callingOnce("look", "fine")
        const agent = agentWith(tool, fine.tool).pipe(
          Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ message }))
        )
        yield* run(agent, "go").pipe(Effect.provide(model.layer))
        assert.deepStrictEqual(read(model), [text, "result: ok 0"])
        assert.strictEqual(model.requests[1]?.toolChoice, "auto")
      }
    })
)

it.run("a failure gives the model another turn [K21]", (run) =>
  Effect.gen(function* () {
    const { tool } = playing("look", "fail")
    const model = yield* callingOnce("look")
    const agent = agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff({ retryAttempts: 0 })))
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.strictEqual(model.requests.length, 2)
  })
)

it.run("interruption and defects are no failures here [K23 K24]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.die(new Error("boom")))
    const model = yield* make(batch("look"))
    const agent = agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellThenToolsOff()))
    const exit = yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(exit._tag === "Failure" && exit.cause.reasons.some((reason) => reason._tag === "Die"))
  })
)

it.run("the sarcastic relay runs with `message` alone [K28 C12]", (run) =>
  Effect.gen(function* () {
    const time = scripted("get_time", Effect.fail(busy("The time API is currently offline (error 0xDEADBEEF).")))
    const model = yield* callingOnce("get_time")
    const agent = agentWith(time.tool).pipe(
      Agent.toolDefaults(
        Recovery.presets.tellThenToolsOff({
          message: (_call, _error, _attempt, byDefault) =>
            `The call encountered an error. Relay this error message to the user in a sarcastic manner: ${byDefault}`
        })
      )
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), [
      "told: The call encountered an error. Relay this error message to the user in a sarcastic manner: The time API is currently offline (error 0xDEADBEEF)."
    ])
  })
)

it.run("a tool has a number of tries in a row; then the run ends; the text has the tries that are left [P204]", (run) =>
  Effect.gen(function* () {
    const { tool } = playing("look", "fail", "fail", "fail")
    const model = yield* make(batch("look"), batch("look"), batch("look"))
    const agent = agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellWithTries({ retries: 2 })))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepStrictEqual(settlements(error.transcript ?? []).slice(0, 2), [
      "told: permanent: failure 0; consider asking the user for clarification\n2 tries are left.",
      "told: permanent: failure 1; consider asking the user for clarification\n1 try is left."
    ])
    assert.strictEqual(error.message, "failure 2")
  })
)

it.run(
  "a success resets, other tools have counts of their own, several failures in a batch count once [P204 L907]",
  (run) =>
    Effect.gen(function* () {
      const one = playing("one", "fail", "ok", "fail", "fail", "fail")
      const two = playing("two", "fail")
      const model = yield* make(batch("one", "two"), batch("one"), batch("one", "one"), batch("one"))
      const agent = agentWith(one.tool, two.tool).pipe(Agent.toolDefaults(Recovery.presets.tellWithTries()))
      const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
      assert.deepStrictEqual(
        settlements(error.transcript ?? []).map((line) => line.split(":")[0]),
        ["told", "told", "result", "told", "told", "told"]
      )
      assert.strictEqual(error.message, "failure 4")
    })
)

it.run("all names that are no tool share one count [P204]", (run) =>
  Effect.gen(function* () {
    const { tool } = playing("look")
    const model = yield* make(batch("nope"), batch("nada"))
    const agent = agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellWithTries()))
    const error = asHard(yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer))))
    assert.deepInclude(error, { tool: "nada", callId: "c1" })
    assert.instanceOf(error.cause, ToolError.UnknownToolError)
    assert.strictEqual(
      settlements(error.transcript ?? [])[0],
      "told: unknown tool: nope; available tools: look\n1 try is left."
    )
  })
)

it.run("raiseAll lets every failure leave; tellAll tells every failure with its label [A513]", (run) =>
  Effect.gen(function* () {
    const error = busy("query failed")
    const loud = yield* make(batch("look"))
    const { tool } = scripted("look", Effect.fail(error), Effect.fail(error))
    const exit = yield* Effect.flip(
      run(agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.raiseAll())), "go").pipe(Effect.provide(loud.layer))
    )
    assert.strictEqual(exit, error)
    const soft = yield* callingOnce("look")
    yield* run(agentWith(tool).pipe(Agent.toolDefaults(Recovery.presets.tellAll())), "go").pipe(
      Effect.provide(soft.layer)
    )
    assert.deepStrictEqual(read(soft), ["told: permanent: query failed; consider asking the user for clarification"])
  })
)

it.run("an escalation of a fixer knows the failure that it was at work on, and the attempts [A406]", (run) =>
  Effect.gen(function* () {
    const seen: Array<unknown> = []
    const broken = scripted("look", Effect.fail(busy("first")), Effect.fail(busy("second")))
    const giving = yield* make(ScriptedModel.calls(ScriptedModel.call("escalate", { reason: "hopeless" }, "e1")))
    const agent = Agent.make("fixer", {
      model: giving.layer,
      skills: [Skill.make("give", { description: "Gives up.", tools: [Tool.escalate] })]
    }).pipe(
      Agent.onEvent((event) => {
        if (event.type === "run-failed") seen.push(event.error)
        return Effect.void
      })
    )
    const model = yield* callingOnce("look")
    const guarded = broken.tool.pipe(
      Tool.onError({ Busy: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.fix(agent)) })
    )
    yield* run(agentWith(guarded), "go").pipe(Effect.provide(model.layer))
    const [error] = seen
    assert(error instanceof ToolError.EscalationError)
    assert.deepInclude(error, { source: "fixer", reason: "hopeless", severity: "HIGH", attempts: 2 })
    assert.deepInclude(error.originalError as object, { _tag: "Busy" })
  })
)

it.effect("the presets go by the names of the libraries that behave so, too [A513]", () =>
  Effect.sync(() => {
    const { agentsKt, cwk, kani, raiseAll, tellAll, tellModel, tellThenToolsOff, tellWithTries } = Recovery.presets
    assert.deepStrictEqual([agentsKt, cwk, kani, tellModel], [raiseAll, tellAll, tellThenToolsOff, tellWithTries])
  })
)

it.effect("a failure outside of a call has neither the name nor the id of one [K3]", () =>
  Effect.sync(() => {
    const seen: Array<unknown> = []
    const shouldRetry = (call: unknown) => seen.push(call) > 0
    const node = nodeOf(Recovery.presets.tellThenToolsOff({ shouldRetry }).orElse)
    assert(node.kind === "when")
    const { callId: _id, tool: _tool, ...outside } = contextOf("none")
    node.choose(new Error("no"), outside)
    node.choose(new Error("no"), contextOf("none", { arguments: "{}" }))
    assert.deepStrictEqual(seen, [
      { name: "", id: "", arguments: undefined },
      { name: "fetch", id: "c1", arguments: "{}" }
    ])
  })
)
