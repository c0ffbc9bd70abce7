import { assert } from "@effect/vitest"
import {
  Agent,
  Explanation,
  LlmError,
  Message,
  type Model,
  Recovery,
  Router,
  RunError,
  Skill,
  Tool
} from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { eventLog, scripted } from "../../_support/dialogue.ts"

const { calls, call, make, text } = ScriptedModel

const Report = Schema.Struct({ city: Schema.String, degrees: Schema.Finite })

const reporter = Agent.make("reporter", { prompt: "Report.", output: Report })

const good = '{"city":"Wien","degrees":21}'
const report = { city: "Wien", degrees: 21 }
const bad = '{"city":"Wien","degrees":"warm"}'

/** What the model was told at the end of its last request. */
const lastSaid = (model: ScriptedModel.ScriptedModel): string => {
  const message = model.requests.at(-1)?.messages.at(-1)
  return message?.role === "user" ? Message.textOf(message) : ""
}

it.run("a final text that fits is the output, without an event about it [P301]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text(good))
    const log = eventLog()
    assert.deepStrictEqual(yield* run(reporter.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), report)
    assert.deepStrictEqual([...log.of("output-coerced"), ...log.of("output-rejected")], [])
  })
)

it.run("the request has the expected JSON in every turn, and nothing about texts [P301]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("21"))
    const model = yield* make(calls(call("look", {})), text(good))
    const skills = [Skill.make("work", { description: "Works.", tools: [tool] })] as const
    yield* run(Agent.make("reporter", { output: Report, skills }), "go").pipe(Effect.provide(model.layer))
    for (const { output } of model.requests) {
      assert.strictEqual(output?.name, "reporter")
      assert.deepInclude(output?.schema, { type: "object", required: ["city", "degrees"], additionalProperties: false })
    }
    for (const output of [undefined, Schema.String, Schema.Literals(["yes", "no"]), Schema.DateFromString]) {
      const plain = yield* make(text(output === Schema.DateFromString ? "2027-03-09T08:00:00Z" : "yes"))
      yield* run(Agent.make("plain", { output }), "go").pipe(Effect.provide(plain.layer))
      assert.notProperty(plain.requests[0], "output")
    }
  })
)

it.run("coercion mends a text before the model is called again, and each change is an event [P301]", (run) =>
  Effect.gen(function* () {
    const sent: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
      ["```json\n" + good + "\n```", ["strip-fences"]],
      [`Here it is: ${good} I hope it helps.`, ["first-block"]],
      ["{city: 'Wien', degrees: 21,}", ["repair"]],
      ['{"city":"Wien","degrees":"21"}', ["convert-number"]],
      [JSON.stringify(good), ["unwrap-json"]]
    ]
    for (const [said, steps] of sent) {
      const model = yield* make(text(said))
      const log = eventLog()
      assert.deepStrictEqual(yield* run(reporter.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), report)
      assert.deepStrictEqual(
        log.of("output-coerced").map(({ change }) => change.step),
        steps
      )
    }
  })
)

it.run("a list is found in its fence and in prose [P301]", (run) =>
  Effect.gen(function* () {
    const lister = Agent.make("lister", { output: Schema.Array(Schema.Struct({ n: Schema.Finite })) })
    for (const said of ['[{"n":1}]', '```\n[{"n":1}]\n```', 'The list {as wanted}: [{"n":1}].', "[{n: 1},]"]) {
      const model = yield* make(text(said))
      assert.deepStrictEqual(yield* run(lister, "go").pipe(Effect.provide(model.layer)), [{ n: 1 }])
    }
  })
)

it.run("where the schema takes a text the answer is taken as it is, else as JSON [P301]", (run) =>
  Effect.gen(function* () {
    const answer = <S extends Schema.Codec<unknown, unknown>>(output: S, said: string) =>
      Effect.gen(function* () {
        const model = yield* make(text(said))
        return yield* run(Agent.make("asked", { output }), "go").pipe(Effect.provide(model.layer))
      })
    assert.strictEqual(yield* answer(Schema.String, good), good)
    assert.strictEqual(yield* answer(Schema.String, '"quoted"'), '"quoted"')
    assert.strictEqual(yield* answer(Schema.Literals(["yes", "no"]), "yes"), "yes")
    assert.strictEqual(yield* answer(Schema.Literals(["yes", "no"]), '"no"'), "no")
    assert.strictEqual(yield* answer(Schema.Finite, "12"), 12)
    assert.deepStrictEqual(
      yield* answer(Schema.DateFromString, "2027-03-09T08:00:00Z"),
      new Date("2027-03-09T08:00:00Z")
    )
    // a union of both: JSON where it is some, any other text as it is
    const either = Schema.Union([Report, Schema.String])
    assert.deepStrictEqual(yield* answer(either, good), report)
    assert.strictEqual(yield* answer(either, "I do not know."), "I do not know.")
  })
)

it.run("after a text that does not fit the model is called with path, expectation and what came [P301]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text(bad), text(good))
    const log = eventLog()
    assert.deepStrictEqual(yield* run(reporter.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), report)
    assert.deepStrictEqual(
      model.requests[1]?.messages.map(({ role }) => role),
      ["system", "user", "assistant", "user"]
    )
    assert.strictEqual(
      lastSaid(model),
      'Your answer does not fit what is wanted:\n- degrees: Expected number, got string "warm"\nAnswer again, with JSON that fits and nothing else.'
    )
    const [rejected] = log.of("output-rejected")
    assert.strictEqual(rejected?.text, bad)
    assert.deepStrictEqual(rejected?.message, model.requests[1]?.messages.at(-1))
    assert.deepStrictEqual(
      log.of("turn-start").map(({ turn }) => turn),
      [1, 2]
    )
  })
)

it.run("what the model reads of a misfit text is capped, and holds no credential [P301]", (run) =>
  Effect.gen(function* () {
    const key = `sk-${"a1B2c3D4".repeat(5)}`
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`field ${n} ${key} ${"x".repeat(999)}`, n]))
    const model = yield* make(text(JSON.stringify(many)), text(good))
    yield* run(reporter, "go").pipe(Effect.provide(model.layer))
    assert.isAtMost(lastSaid(model).length, 4000)
    assert.include(lastSaid(model), "more")
    assert.notInclude(lastSaid(model), key)
  })
)

it.run("once by default; then the run fails with text, issues, transcript and usage [P301]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text("no"), text(bad))
    const log = eventLog()
    const error = yield* Effect.flip(run(reporter.pipe(log.listen), "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.InvalidOutputError)
    assert.strictEqual(error.text, bad)
    assert.deepStrictEqual(
      error.issues.map(({ path }) => path),
      [["degrees"]]
    )
    assert.deepStrictEqual(
      error.transcript.map(({ role }) => role),
      ["system", "user", "assistant", "user", "assistant"]
    )
    assert.strictEqual(error.usage.inputTokens, 20)
    assert.deepStrictEqual(
      log.of("output-rejected").map(({ message }) => message === undefined),
      [false, true]
    )
  })
)

it.run("the model is called as often as outputRetries sets, and once with 0 [P301]", (run) =>
  Effect.gen(function* () {
    for (const retries of [0, 3]) {
      const agent = reporter.pipe(Agent.outputRetries(retries))
      const failing = yield* make(...Array.from({ length: retries + 1 }, () => text(bad)))
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(failing.layer)))
      assert.instanceOf(error, RunError.InvalidOutputError)
      const last = yield* make(...Array.from({ length: retries }, () => text(bad)), text(good))
      assert.deepStrictEqual(yield* run(agent, "go").pipe(Effect.provide(last.layer)), report)
    }
    for (const wrong of [-1, 0.5, Number.NaN, Infinity]) {
      assert.throws(() => reporter.pipe(Agent.outputRetries(wrong)), "outputRetries")
    }
  })
)

it.run("outputRetries has its own count: calls and model retries in between do not touch it [P301]", (run) =>
  Effect.gen(function* () {
    const { tool } = scripted("look", Effect.succeed("21"))
    const skills = [Skill.make("work", { description: "Works.", tools: [tool] })] as const
    const agent = Agent.make("reporter", { output: Report, skills }).pipe(
      Agent.onLlmError({ ServerError: Recovery.retry({ retries: 1 }) })
    )
    const down = ScriptedModel.fails(LlmError.ServerError.make({ model: "scripted" }))
    const model = yield* make(down, text(bad), calls(call("look", {})), down, text(bad))
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert.instanceOf(error, RunError.InvalidOutputError)
  })
)

it.run("each repeated answer is a turn of the budget [P301]", (run) =>
  Effect.gen(function* () {
    const agent = Agent.make("reporter", { output: Report, budget: { maxTurns: 2 } }).pipe(Agent.outputRetries(5))
    const model = yield* make(text(bad), text("no"))
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
    assert(error instanceof RunError.BudgetExceededError)
    assert.deepStrictEqual([error.reason, error.partial], ["maxTurns", "no"])
    assert.strictEqual(error.transcript.at(-1)?.role, "user")
  })
)

it.run("a blank reply does not fit, unless the schema takes it [P302]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(text(" "), text(good))
    assert.deepStrictEqual(yield* run(reporter, "go").pipe(Effect.provide(model.layer)), report)
    assert.include(lastSaid(model), "Expected JSON, got an empty answer")
    const worded = Agent.make("worded", { output: Schema.String.check(Schema.isTrimmed()) })
    const twice = yield* make(text(" "), text("words"))
    assert.strictEqual(yield* run(worded, "go").pipe(Effect.provide(twice.layer)), "words")
    for (const agent of [Agent.make("any", { output: Schema.String }), Agent.make("none", {})]) {
      const silent = yield* make(text(" "))
      assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(silent.layer)), " ")
    }
  })
)

it.run("an answer of the table for model calls is the output, and is not decoded once more [A711]", (run) =>
  Effect.gen(function* () {
    const agent = reporter.pipe(Agent.onLlmError({ orElse: Recovery.respondWith({ city: "?", degrees: 0 }) }))
    const model = yield* make(text(bad), ScriptedModel.fails(LlmError.ServerError.make({ model: "scripted" })))
    assert.deepStrictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), { city: "?", degrees: 0 })
  })
)

it.run("functions among the skills give their values as they are [P301]", (run) =>
  Effect.gen(function* () {
    const skills = [
      Skill.make("asking", { description: "Asks." }),
      Skill.deterministic("counting", { description: "Counts.", run: (input) => Effect.succeed(input.length) })
    ] as const
    const agent = Agent.make("mixed", { output: Report, skills }).pipe(
      Agent.route(Router.byRule((input) => (input === "go" ? "asking" : "counting")))
    )
    const model = yield* make(text(good))
    assert.deepStrictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), report)
    assert.strictEqual(yield* run(agent, "four").pipe(Effect.provide(model.layer)), 4)
  })
)

it.effect("explain has how often the model may be called for an answer that does not fit [P1102]", () =>
  Effect.sync(() => {
    const explained = Agent.explain(reporter.pipe(Agent.outputRetries(2)))
    assert.strictEqual(explained.outputRetries, 2)
    assert.strictEqual(explained.worst.modelCalls, explained.worst.turns)
    assert.include(Explanation.formatRun(explained), "8 turns, 2 times asked again for the output among them")
    const short = Agent.make("short", { output: Report, budget: { maxTurns: 1 } })
    assert.strictEqual(Agent.explain(short).outputRetries, 0)
    assert.notProperty(Agent.explain(Agent.make("plain", {})), "outputRetries")
  })
)

/** A reply that has reached the limit of its length. */
const cut = (value: string) =>
  ScriptedModel.replies(ScriptedModel.reply({ content: [Message.text(value)], finish: "length" }))

it.run("after a text that was cut off the model reads so, also if a part of it would fit [P301]", (run) =>
  Effect.gen(function* () {
    const lines: ReadonlyArray<readonly [string, string]> = [
      [`[${good},{"city":`, "- Expected a whole answer, got a text that was cut off"],
      ['{"city":"Wien"', '- Expected JSON, got text that begins with "{\\"city\\":\\"Wien\\""'],
      ["Let me think", '- Expected JSON, got text that begins with "Let me think"']
    ]
    for (const [said, line] of lines) {
      const model = yield* make(cut(said), text(good))
      const log = eventLog()
      assert.deepStrictEqual(yield* run(reporter.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), report)
      const [first, second, third] = lastSaid(model).split("\n")
      assert.strictEqual(first, "Your answer reached the limit of its length and was cut off before its end.")
      assert.strictEqual(second, "Your answer does not fit what is wanted:")
      assert.strictEqual(third, line)
      assert.match(lastSaid(model), /\nAnswer again and be shorter, with .*\.$/)
      assert.deepInclude(log.of("output-rejected")[0], { text: said, isCut: true })
      assert.deepInclude(log.end(), { type: "run-completed", finish: "stop" })
    }
  })
)

it.run("a number that was cut off may lack digits [P301]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(cut("12"), text("1234"))
    const counter = Agent.make("counter", { output: Schema.Finite })
    assert.strictEqual(yield* run(counter, "go").pipe(Effect.provide(model.layer)), 1234)
  })
)

it.run("what was whole before the cut is the output [P301]", (run) =>
  Effect.gen(function* () {
    const model = yield* make(cut("```json\n" + good + "\n```\nAs you can s"))
    const log = eventLog()
    assert.deepStrictEqual(yield* run(reporter.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), report)
    assert.deepInclude(log.end(), { type: "run-completed", finish: "length" })
  })
)

it.run("the error has that the last answer was cut off, and keeps it through JSON [P301]", (run) =>
  Effect.gen(function* () {
    const codec = Schema.toCodecJson(RunError.InvalidOutputError)
    for (const [last, isCut] of [
      [cut('{"city":'), true],
      [text(bad), undefined]
    ] as const) {
      const model = yield* make(cut('{"city":'), last)
      const error = yield* Effect.flip(run(reporter, "go").pipe(Effect.provide(model.layer)))
      assert(error instanceof RunError.InvalidOutputError)
      assert.strictEqual(error.isCut, isCut)
      assert.strictEqual(error.message.includes("was cut off by the limit of its length"), isCut === true)
      const back = Schema.decodeUnknownSync(codec)(JSON.parse(JSON.stringify(Schema.encodeSync(codec)(error))))
      assert.strictEqual(back.isCut, isCut)
    }
  })
)

it.run("run-completed has the finish reason of the reply that is the output [A1203]", (run) =>
  Effect.gen(function* () {
    const plain = Agent.make("plain", {})
    for (const [step, finish] of [
      [text("well"), "stop"],
      [cut("well"), "length"],
      [ScriptedModel.replies(ScriptedModel.reply({ content: [Message.text("well")], finish: "other" })), "other"]
    ] as const) {
      const model = yield* make(step)
      const log = eventLog()
      assert.strictEqual(yield* run(plain.pipe(log.listen), "go").pipe(Effect.provide(model.layer)), "well")
      assert.deepInclude(log.end(), { type: "run-completed", output: "well", finish })
    }
  })
)

it.run("run-completed has no `finish` if its output is no reply [A1203]", (run) =>
  Effect.gen(function* () {
    const failing = ScriptedModel.fails(LlmError.ServerError.make({ model: "scripted" }))
    const completing = Skill.make("s", { description: "d", tools: [Tool.complete] })
    const echoing = Skill.deterministic("e", { description: "d", run: (input) => Effect.succeed(input) })
    const answering = Agent.onLlmError({ orElse: Recovery.respondWith("enough") })
    for (const [agent, steps] of [
      [reporter.pipe(Agent.onLlmError({ orElse: Recovery.respondWith(report) })), [cut("{"), failing]],
      [Agent.make("a", {}).pipe(answering), [failing]],
      [Agent.make("a", { skills: [completing] }), [calls(call("complete", { summary: "Done" }))]],
      [Agent.make("a", { skills: [echoing] }), []],
      [Agent.deterministic("a", (input: string) => Effect.succeed(input)), []]
    ] as const) {
      const model = yield* make(...steps)
      const log = eventLog()
      // the cases differ in what they give alone
      const any = agent as unknown as Agent.Agent<string, unknown, unknown, Model.Model>
      yield* run(any.pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      assert.strictEqual(log.end()?.type, "run-completed")
      assert.notProperty(log.end(), "finish")
    }
  })
)

it.effect("the outcome of a handle has the finish reason too [A1203]", () =>
  Effect.gen(function* () {
    for (const [step, finish] of [
      [text("well"), "stop"],
      [cut("well"), "length"]
    ] as const) {
      const model = yield* make(step)
      const handle = yield* Agent.make("plain", {}).start("go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(yield* handle.outcome, { _tag: "Completed", output: "well", finish })
    }
    const model = yield* make()
    const plain = Agent.deterministic("a", (input: string) => Effect.succeed(input))
    const handle = yield* plain.start("go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(yield* handle.outcome, { _tag: "Completed", output: "go" })
  })
)
