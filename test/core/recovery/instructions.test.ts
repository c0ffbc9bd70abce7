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

plain("what a text says besides its failure is the same for each thing that it asks for [P1343]", () => {
  for (const [error, label] of [
    [busy("busy: try later."), "permanent: "],
    [Object.assign(busy("busy"), { isRetryable: true }), "transient: "],
    [ToolError.InvalidArgs.make({ tool: "fetch", callId: "c1", rawArgs: "{", parseError: "no JSON" }), ""]
  ] as const) {
    const said = Render.plainly(error)
    for (const effects of ["none", "unsafe"] as const) {
      for (const fate of [{}, { isUncertain: true }, { isRepeated: true }, { isUncertain: true, isRepeated: true }]) {
        const text = Render.labelled(error, contextOf(effects, fate))
        for (const one of [text, Render.withCutOff(text), Render.repeated(text)]) {
          assert.notStrictEqual(Render.saidBesides(one, "another message"), label)
          assert.strictEqual(Render.saidBesides(one, said), label, one)
        }
      }
    }
  }
})

plain("at most ten fields are named, each once; else the arguments are [P202]", () => {
  const correcting = (issues: unknown) => {
    const error = Object.assign(busy("wrong"), { isRetryable: false, recovery: "repair", issues })
    return Render.labelled(error, contextOf("none")).replace("wrong; ", "")
  }
  const issue = (...path: ReadonlyArray<string | number>) => ({ path })
  const many = Array.from({ length: 12 }, (_, index) => issue(`f${index}`))
  assert.strictEqual(correcting([issue("a"), issue("b", 0), issue("a")]), "correct a, b[0] and call the tool again")
  assert.strictEqual(correcting(many), "correct f0, f1, f2, f3, f4, f5, f6, f7, f8, f9 and call the tool again")
  const long = many.map(({ path: [name] }) => issue(`${name}${"x".repeat(100)}`))
  for (const issues of [undefined, "none", [], [issue()], [{ path: "a" }], long])
    assert.strictEqual(correcting(issues), "correct the arguments and call the tool again")
})

plain("a failure outside of a tool does not say how often the tool failed [P202]", () => {
  const { tool: _tool, ...outside } = contextOf("none", { attempt: 3 })
  assert.strictEqual(Render.labelled(busy(), outside), "permanent: busy; consider asking the user for clarification")
  assert.include(
    Render.labelled(busy(), contextOf("none", { attempt: 3 })),
    "tool 'fetch' failed 3 times, at last: busy"
  )
})

plain("a text has no stack lines with any numbers, and keeps lines that are none [P202]", () => {
  const stack = [
    "    at look (/app/tools.ts:12:34)",
    "    at /app/run.ts:1:2",
    "\tat async native (native)",
    " at x (<anonymous>)"
  ]
  const words = ["it broke", "  at noon", "at home (/a.ts:1:2)"]
  const error = busy([words[0], ...stack, ...words.slice(1)].join("\n"))
  assert.strictEqual(
    Render.labelled(error, contextOf("none")),
    `permanent: ${words.join("\n")}; consider asking the user for clarification`
  )
})

plain("a call whose outcome is unknown may have taken effect, and words stand where tools are off [P601]", () => {
  for (const error of all.filter(({ _tag }) => _tag === "OutcomeUnknownError"))
    assert.match(
      Render.labelled(error, contextOf("unsafe", { callId: "c1" })),
      /^transient: .*; it may have taken effect, check before repeating$/
    )
  assert.strictEqual(Render.toolsOff, "No tool can be called any more. Answer in words.")
  assert.strictEqual(
    Render.denied("pay", Render.undecided),
    "The call of tool 'pay' was denied and not run: no decision about it came in time"
  )
})

plain("what a text says beside a failure and its instructions is left, with any of them", () => {
  const { anotherWay, check, clarify, lookUp, repeat } = Instructions
  const [row, run] = [
    "he same failure has come several times in a row",
    "n earlier run of this call was cut off after its start and may have taken effect"
  ]
  const changing = [
    ...[repeat, check, clarify].map((words) => `; ${words}`),
    `; t${row}: ${anotherWay}`,
    `\nT${row}: ${anotherWay}.`,
    `; a${run}: ${lookUp}`,
    `\nA${run}: ${lookUp}.`,
    "; correct a, b and call the tool again"
  ]
  for (const words of changing) {
    assert.strictEqual(Render.saidBesides(`It failed${words}`, "It failed."), "", words)
    assert.strictEqual(Render.saidBesides(`It failed${words}; so there`, "It failed."), "; so there", words)
  }
  assert.strictEqual(Render.saidBesides("It failed; then it worked", "It failed"), "; then it worked")
})

plain("a model is asked for another answer in the form that is wanted, shorter after a cut [P202]", () => {
  const { answer } = Instructions
  assert.strictEqual(answer("json", false), "Answer again, with JSON that fits and nothing else.")
  assert.strictEqual(answer("text", false), "Answer again, with what fits only.")
  assert.strictEqual(answer("json", true), "Answer again and be shorter, with JSON that fits and nothing else.")
  assert.strictEqual(answer("text", true), "Answer again and be shorter, with what fits only.")
  const misfit = { path: ["a"], expected: "Expected a number", actual: "a string" }
  const lines = (...first: ReadonlyArray<string>) => [...first, "Your answer does not fit what is wanted:"].join("\n")
  const cut = "Your answer reached the limit of its length and was cut off before its end."
  assert.isTrue(Render.invalidOutput([misfit], "json").startsWith(lines()))
  assert.isTrue(Render.invalidOutput([misfit], "json", true).startsWith(lines(cut)))
})
