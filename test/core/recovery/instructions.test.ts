/** What a model reads of a failure tells it one thing to do. */
import { assert, it as plain } from "@effect/vitest"
import { Agent, LlmError, Recovery, Tool, ToolError } from "@kintsugi/core"
import * as RecoveryAdvice from "@kintsugi/core/RecoveryAdvice"
import * as Render from "@kintsugi/core/Render"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import * as Instructions from "../../../packages/core/src/recovery/instructions.ts"
import { it } from "../../_support/run.ts"
import { agentWith, busy, done, overADay, read } from "../../_support/dialogue.ts"
import { contextOf } from "./_support/contexts.ts"
import { all, execution, timedOut } from "../_support/errorSamples.ts"

/** Each phrase of the file of instructions, as it stands in a text. */
const phrases: ReadonlyArray<RegExp> = Object.values(Instructions).map((phrase) =>
  typeof phrase === "string"
    ? new RegExp(phrase.replaceAll(".", "[.]"), "g")
    : phrase === Instructions.correct
      ? /correct [^;]+ and call the tool again/g
      : phrase === Instructions.fix
        ? /Answer with.*nothing else|End with one of your tools/g
        : /Answer again.*\./g
)

const instructionsIn = (text: string): ReadonlyArray<string> => phrases.flatMap((phrase) => text.match(phrase) ?? [])

const helps = RecoveryAdvice.tags.map((tag) => RecoveryAdvice.describe(tag).help)

const assertOne = (text: string, of: string): void => {
  assert.lengthOf(instructionsIn(text), 1, `${of}: ${text}`)
  for (const help of helps) assert.notInclude(text, help, of)
}

const sideEffects: ReadonlyArray<Recovery.SideEffects> = ["none", "idempotent", "unsafe", "undeclared"]

const contexts = sideEffects.flatMap((effects) =>
  [1, 3].flatMap((attempt) =>
    [{}, { isRepeated: true }, { isUncertain: true }, { isUncertain: true, isRepeated: true }].map((fate) =>
      contextOf(effects, { attempt, ...fate })
    )
  )
)

plain("the text of any failure has one instruction, and none of the help for operators [P1332]", () => {
  const thrown = [new Error("no"), "no", undefined, Object.assign(new Error("gone"), { code: "ECONNREFUSED" })]
  const wrapped = thrown.map((cause) => execution("unknown", cause))
  for (const error of [...all, ...thrown, ...wrapped])
    for (const context of contexts) assertOne(Render.labelled(error, context), String(error))
})

plain("what happened to the call besides decides what the model is asked for [P1332]", () => {
  const [{ ...plainly } = contexts[0]] = contexts
  const of = (error: unknown, fate: Partial<Recovery.FailureContext>) =>
    instructionsIn(Render.labelled(error, { ...plainly, ...fate } as Recovery.FailureContext))
  const busy = Object.assign(new Error("busy"), { isRetryable: true })
  assert.deepStrictEqual(of(busy, {}), [Instructions.repeat])
  assert.deepStrictEqual(of(busy, { sideEffects: "unsafe" }), [Instructions.check])
  assert.deepStrictEqual(of(busy, { isRepeated: true }), [Instructions.anotherWay])
  assert.deepStrictEqual(of(busy, { isRepeated: true, isUncertain: true }), [Instructions.lookUp])
  assert.deepStrictEqual(of(new Error("no"), {}), [Instructions.clarify])
  const misfit = ToolError.DeserializationError.make({
    tool: "fetch",
    callId: "c1",
    rawValue: {},
    targetType: "{ a: number }",
    issues: [{ path: ["a"], expected: "a number", message: "Missing key" } as never]
  })
  assert.deepStrictEqual(of(misfit, {}), ["correct a and call the tool again"])
  assert.deepStrictEqual(of(misfit, { tool: "other" }), [Instructions.clarify])
  // the outcome of the cut run is unknown; a repetition is not called safe for a tool with effects
  assert.deepStrictEqual(of(timedOut("undeclared"), { sideEffects: "undeclared" }), [Instructions.check])
})

plain("so has what a model reads of a call that it repeats at once [P1332 P1343]", () => {
  for (const earlier of [Instructions.check, Instructions.lookUp, Instructions.leave]) {
    assertOne(Render.unchecked("pay", earlier), earlier)
    const text = `No line; ${earlier}`
    assert.deepStrictEqual(
      (["told", "unknown", "result"] as const).map((kind) => Render.mayBeDone({ kind, text })),
      [true, true, false]
    )
  }
  assert.isFalse(Render.mayBeDone({ kind: "told", text: `No line; ${Instructions.repeat}` }))
})

const options = { description: "Looks.", parameters: Schema.Struct({ n: Schema.Int }), success: Schema.String } as const

const tables = {
  telling: { orElse: Recovery.tell() },
  escalated: { orElse: Recovery.escalate({ severity: "HIGH" }) },
  repeatedly: { orElse: Recovery.ladder(Recovery.retry({ retries: 1 }), Recovery.tell()) }
}

const failures = { own: busy(), network: execution("network"), overloaded: LlmError.ServerError.make({ model: "m" }) }

for (const [name, table] of Object.entries(tables))
  for (const [kind, error] of Object.entries(failures))
    it.run(`the text of each of four calls in a row has one thing to do too: ${name}, ${kind} [P1332]`, (run) =>
      Effect.gen(function* () {
        const look = Tool.make("look", { ...options, run: () => Effect.fail<unknown>(error) })
        const calls = [{ n: "x" }, { n: 1 }, { n: 1 }, { n: 1 }].map((params, index) =>
          ScriptedModel.calls(ScriptedModel.call("look", params, `c${index + 1}`))
        )
        const model = yield* ScriptedModel.make(...calls, done)
        const agent = agentWith(look).pipe(Agent.toolDefaults(table))
        yield* overADay(run(agent, "go").pipe(Effect.provide(model.layer)))
        const texts = read(model)
        assert.lengthOf(texts, 4)
        for (const text of texts) assertOne(text, name)
      })
    )
