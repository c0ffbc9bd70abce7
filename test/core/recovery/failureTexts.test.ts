/** What a model reads of a failure: what went wrong, and advice that fits what is at fault. */
import { assert, it as plain } from "@effect/vitest"
import { Agent, Recovery, Tool, ToolError } from "@kintsugi/core"
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as Render from "@kintsugi/core/Render"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Data, Effect, Schema } from "effect"
import { agentWith, batch, done, overADay, read, scripted } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { all } from "../_support/errorSamples.ts"
import { contextOf } from "./_support/contexts.ts"

const { call, calls, make, text } = ScriptedModel

const refused = (address: string) =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: "ECONNREFUSED" })

plain("an error without a message of its own has the message of its cause [P1332]", () => {
  const both = new AggregateError([refused("::1:80"), refused("10.0.0.1:80")])
  const words = "connect ECONNREFUSED ::1:80; connect ECONNREFUSED 10.0.0.1:80"
  const cyclic = new AggregateError([])
  cyclic.errors.push(cyclic)
  for (const [error, said] of [
    [new TypeError("fetch failed", { cause: refused("::1:80") }), "fetch failed: connect ECONNREFUSED ::1:80"],
    [new TypeError("fetch failed", { cause: both }), `fetch failed: ${words}`],
    [Effect.runSync(Effect.flip(Effect.try(() => JSON.parse("{")))), "Expected property name or '}' in JSON"],
    [both, words],
    [new AggregateError([new Error("a")], "all failed"), "all failed"],
    [new Error("outside", { cause: new Error("inside") }), "outside"],
    [new TypeError("fetch failed"), "fetch failed"],
    [new RangeError(""), "RangeError"],
    [undefined, "it does not say why"],
    [cyclic, "AggregateError"]
  ] as const)
    assert.include(Render.messageOf(error), said)
  assert.strictEqual(ErrorCause.messageOf(cyclic), "")
})

it.run(
  "the model reads that message too, and different failures of a promise do not count as repeated [P1332 P1338]",
  (run) =>
    Effect.gen(function* () {
      const wrong = ["no such city", "no such street", "no such house", "no such door"].map((message) =>
        Effect.tryPromise(() => Promise.reject<string>(new Error(message)))
      )
      const { tool } = scripted("look", ...wrong)
      const model = yield* make(...wrong.map(() => batch("look")), done)
      const budget = { repeatedFailures: { hint: 2, withhold: 3, end: 4 } }
      const agent = Agent.make("worker", { tools: [tool], budget }).pipe(Agent.toolDefaults(Recovery.presets.tellAll()))
      yield* run(agent, "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(
        read(model),
        ["city", "street", "house", "door"].map(
          (what) => `told: permanent: no such ${what}; consider asking the user for clarification`
        )
      )
    })
)

it.run("no preset tells a model what helps operators [P1332 P1339]", (run) =>
  Effect.gen(function* () {
    const helps = RecoveryAdvice.tags.map((tag) => RecoveryAdvice.describe(tag).help)
    const { tellAll, tellThenToolsOff, tellWithTries } = Recovery.presets
    for (const table of [tellAll(), tellThenToolsOff({ retryAttempts: 9 }), tellWithTries({ retries: 9 })] as const)
      for (const error of all) {
        const { tool } = scripted("fetch", Effect.fail<unknown>(error))
        const model = yield* make(batch("fetch"), done)
        yield* overADay(
          run(agentWith(tool).pipe(Agent.toolDefaults(table as {})), "go").pipe(Effect.provide(model.layer))
        )
        const [said = ""] = read(model)
        assert.isNotEmpty(said, String(error))
        for (const help of helps) assert.notInclude(said, help)
      }
  })
)

const does = { description: "Does it.", sideEffects: "none" } as const

/** What the model of a caller reads of an agent that is its tool. */
const ofSub = (tool: Tool.AnyTool, table: object, ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) =>
  Effect.gen(function* () {
    const model = yield* make(calls(call("sub", { input: "it" }, "c1")), ...steps, done)
    yield* Agent.make("worker", { tools: [tool] }).pipe(Agent.toolDefaults(table as {}), (agent) =>
      agent("go").pipe(Effect.provide(model.layer))
    ) as Effect.Effect<string>
    return read(model)
  })

it.effect("the model reads why an agent gave up, and that it should repeat the call [P1332 P1352 A407]", () =>
  Effect.gen(function* () {
    const sub = Agent.asTool(Agent.make("sub", { tools: [Tool.escalate] }), does)
    const given = calls(call("escalate", { reason: "take Oslo", severity: "LOW" }))
    assert.deepStrictEqual(yield* ofSub(sub, Recovery.presets.tellAll(), given), [
      "told: Agent 'sub' gave up (severity LOW): take Oslo; correct the arguments and call the tool again"
    ])
    assert.deepStrictEqual(yield* ofSub(sub, { orElse: Recovery.escalate() }, given), [
      "told: ERROR: Tool 'sub' failed: take Oslo (severity: LOW). Please retry with corrected arguments."
    ])
  })
)

it.effect("the text of a misfit answer or result does not blame the arguments [P1332 A112]", () =>
  Effect.gen(function* () {
    const agent = Agent.make("sub", { output: Schema.Literals(["yes", "no"]) }).pipe(Agent.outputRetries(0))
    const sub = Agent.asTool(agent, does)
    for (const row of ["orElse", "ExecutionError"]) {
      const [said = ""] = yield* ofSub(sub, { [row]: Recovery.tell() }, text("perhaps"))
      assert.match(said, /^told: permanent: The answer of agent 'sub' .*; consider asking the user for clarification$/)
    }
    const misfit = ToolError.resultErrorOf({ tool: "fetch", kind: "local", message: "it gave a number" })
    assert.deepInclude(misfit, { category: "validation", isRetryable: false, recovery: "none" })
    assert.strictEqual(
      Render.labelled(misfit, contextOf("unsafe")),
      "permanent: it gave a number; consider asking the user for clarification"
    )
  })
)

class Own extends Data.TaggedError("Own")<{ readonly message: string; readonly category: string }> {}

it.run(
  "the category that a failure names, and what it could not decode, are the same in every row [P1332 P1333]",
  (run) =>
    Effect.gen(function* () {
      const undecoded = Schema.decodeUnknownEffect(Schema.Struct({ till: Schema.Finite }))({}).pipe(Effect.as("open"))
      for (const [failing, said] of [
        [Effect.fail(new Own({ message: "down", category: "server" })), /^told: transient: down; it may/],
        [Effect.fail(new Own({ message: "not so", category: "parameter" })), /^told: not so; correct the arguments/],
        [undecoded, /^told: permanent: Missing key[^;]*; consider asking/]
      ] as const)
        for (const table of [{ orElse: Recovery.tell() }, { ExecutionError: Recovery.tell() }]) {
          const { tool } = scripted("fetch", failing as Effect.Effect<string>)
          const model = yield* make(batch("fetch"), done)
          const agent = agentWith(tool).pipe(Agent.toolDefaults(table as {}))
          yield* run(agent, "go").pipe(Effect.provide(model.layer))
          assert.match(read(model)[0] ?? "", said)
        }
    })
)

plain("the fields to correct are named as in the text before [P1332]", () => {
  const misfit = ToolError.DeserializationError.make({
    tool: "fetch",
    callId: "c1",
    rawValue: {},
    targetType: "",
    issues: [{ path: ["rooms", 0, "beds"], expected: "Expected number", actual: "nothing" }]
  })
  assert.match(Render.labelled(misfit, contextOf("none")), /: rooms\[0\]\.beds: .*; correct rooms\[0\]\.beds and call/)
})

plain("a full stop at the end of a message does not stand before a clause [P1332]", () => {
  for (const message of ["It is closed.", "It is closed... ", "It is closed"])
    assert.strictEqual(
      Render.labelled(new Error(message), contextOf("none")),
      "permanent: It is closed; consider asking the user for clarification"
    )
  assert.match(Render.labelled(new Error("..."), contextOf("none")), /^permanent: [.]{3};/)
})
