import { assert } from "@effect/vitest"
import { Agent, Recovery, Skill, Tool, ToolError } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Schema } from "effect"
import { it } from "../../_support/run.ts"
import { agentWith, busy, done, eventLog, play, read, scripted } from "../../_support/dialogue.ts"

const { call, calls } = ScriptedModel

const person = Tool.make("greet", {
  description: "Greets a person.",
  parameters: Schema.Struct({
    name: Schema.String,
    age: Schema.Finite,
    address: Schema.Struct({ city: Schema.String, tags: Schema.Array(Schema.String) })
  }),
  success: Schema.String,
  sideEffects: "unsafe",
  run: () => Effect.die(new Error("must not run"))
})

it.run("absent, null, empty and blank arguments mean {} and are no error [A101]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("ping", ...Array.from({ length: 6 }, () => Effect.succeed("pong")))
    const log = eventLog()
    const raw = [null, "", " \n\t ", "null", "{}", {}]
    const model = yield* ScriptedModel.make(calls(...raw.map((args, i) => call("ping", args, `c${i}`))), done)
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      raw.map(() => ({}))
    )
    assert.deepStrictEqual([...log.of("tool-failed"), ...log.of("arguments-coerced")], [])
  })
)

it.run("an object is used as it is, text is parsed, and coerced before it counts as bad [A102]", (run) =>
  Effect.gen(function* () {
    const { runs, tool } = scripted("ping", Effect.succeed("1"), Effect.succeed("2"), Effect.succeed("3"))
    const log = eventLog()
    const model = yield* ScriptedModel.make(
      calls(call("ping", { n: 1 }, "c1"), call("ping", '{"n": 2}', "c2"), call("ping", '{"n": 3,}', "c3")),
      done
    )
    yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{ n: 1 }, { n: 2 }, { n: 3 }]
    )
    assert.deepStrictEqual(
      log.of("arguments-coerced").map(({ callId, change }) => [callId, change.step, change.before]),
      [["c3", "repair", '{"n": 3,}']]
    )
  })
)

for (const raw of ['{"n":1,}', "no json at all", '{"n":', "{n: 1}"]) {
  it.run(`text that is no JSON is InvalidArgs with the raw text unchanged: ${raw} [A103 A114]`, (run) =>
    Effect.gen(function* () {
      const { runs, tool } = play("ping", { coercion: [] }, [])
      const model = yield* ScriptedModel.make(calls(call("ping", raw, "c7")))
      const error = yield* Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      assert.instanceOf(error, ToolError.InvalidArgs)
      assert.deepInclude(error, { tool: "ping", callId: "c7", rawArgs: raw })
      assert.property(error, "parseError")
      assert.match(error.message, /'ping' are not valid JSON \(call c7\): ./)
      assert.deepStrictEqual(runs, [])
    })
  )
}

it.run("what coercion cannot mend is InvalidArgs with the model's own text, not a half-mended one [A103]", (run) =>
  Effect.gen(function* () {
    const raw = "```json\nnothing here\n```"
    const { runs, tool } = scripted("ping")
    const model = yield* ScriptedModel.make(calls(call("ping", raw, "c1")))
    const error = yield* Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
    assert.instanceOf(error, ToolError.InvalidArgs)
    assert.deepInclude(error, { rawArgs: raw })
    assert.deepStrictEqual(runs, [])
  })
)

for (const raw of ['"text"', "5", "true", "[]", '[{"n":1}]', '{"n":"one"}']) {
  it.run(`JSON that does not fit is DeserializationError: ${raw} [A104]`, (run) =>
    Effect.gen(function* () {
      const { runs, tool } = scripted("ping")
      const model = yield* ScriptedModel.make(calls(call("ping", raw, "c1")))
      const error = yield* Effect.flip(run(agentWith(tool), "go").pipe(Effect.provide(model.layer)))
      assert.instanceOf(error, ToolError.DeserializationError)
      assert.deepInclude(error, { tool: "ping", callId: "c1", targetType: "ping parameters" })
      assert.deepInclude(error, { rawValue: JSON.parse(raw) })
      assert.deepStrictEqual(runs, [])
    })
  )
}

it.run("every issue is reported, with its path, what was expected and what came [A105]", (run) =>
  Effect.gen(function* () {
    const model = yield* ScriptedModel.make(
      calls(call("greet", { name: 1, address: { city: "Rome", tags: ["a", 2, null] } }, "c1"))
    )
    const error = yield* Effect.flip(run(agentWith(person), "go").pipe(Effect.provide(model.layer)))
    if (!(error instanceof ToolError.DeserializationError)) return assert.fail(`not expected: ${error.message}`)
    assert.deepStrictEqual(
      error.issues.map(({ actual, path }) => [path, actual]),
      [
        [["name"], "number 1"],
        [["age"], "nothing"],
        [["address", "tags", 1], "number 2"],
        [["address", "tags", 2], "null"]
      ]
    )
    for (const { expected } of error.issues) assert.isNotEmpty(expected)
    assert.include(error.message, "address.tags[1]: Expected string")
    return undefined
  })
)

it.run(
  "an undeclared key of an unsafe tool is named by the error, at any depth; the schema that the model reads is closed [A106 P1367]",
  (run) =>
    Effect.gen(function* () {
      const model = yield* ScriptedModel.make(
        calls(
          call("greet", { name: "Ada", age: 1, colour: "red", address: { city: "Rome", tags: [], street: "x" } }, "c1")
        )
      )
      const error = yield* Effect.flip(run(agentWith(person), "go").pipe(Effect.provide(model.layer)))
      if (!(error instanceof ToolError.DeserializationError)) return assert.fail(`not expected: ${error.message}`)
      assert.sameDeepMembers(
        error.issues.map(({ path }) => path),
        [["colour"], ["address", "street"]]
      )
      assert.match(error.message, /colour: /)
      assert.match(error.message, /address\.street: /)
      const parameters = model.requests[0]?.tools[0]?.parameters
      assert.deepInclude(parameters, { additionalProperties: false })
      assert.nestedPropertyVal(parameters, "properties.address.additionalProperties", false)
      return undefined
    })
)

it.run("a value that the tool's own schema refuses is a defect that names tool and path [A112]", (run) =>
  Effect.gen(function* () {
    const weigh = Tool.make("weigh", {
      description: "Weighs.",
      parameters: Schema.Struct({}),
      success: Schema.Struct({ weight: Schema.Finite.check(Schema.isGreaterThan(0)) }),
      run: () => Effect.succeed({ weight: -1 })
    }).pipe(Tool.onError({ orElse: Recovery.tell() }))
    const log = eventLog()
    const model = yield* ScriptedModel.make(calls(call("weigh", {}, "c1")))
    const defect = yield* run(agentWith(weigh).pipe(log.listen), "go").pipe(
      Effect.provide(model.layer),
      Effect.catchDefect((defect) => Effect.succeed(defect))
    )
    assert.instanceOf(defect, TypeError)
    assert.match(String(defect), /'weigh'.*weight: /)
    assert.deepStrictEqual(log.of("verdict"), [])
  })
)

it.run("an answer of a table passes the same schema [A112]", (run) =>
  Effect.gen(function* () {
    const short = Tool.make("short", {
      description: "Short.",
      parameters: Schema.Struct({}),
      success: Schema.String.check(Schema.isMaxLength(2)),
      run: () => Effect.fail(busy())
    }).pipe(Tool.onError({ Busy: Recovery.respondWith("too long") }))
    const model = yield* ScriptedModel.make(calls(call("short", {}, "c1")))
    const defect = yield* run(agentWith(short), "go").pipe(
      Effect.provide(model.layer),
      Effect.catchDefect((defect) => Effect.succeed(defect))
    )
    assert.match(String(defect), /'short' returned a value/)
  })
)

it.run("a success is JSON through the tool's schema; a string goes as it is [C4]", (run) =>
  Effect.gen(function* () {
    const shaped = <const Name extends string, A>(name: Name, success: Schema.Codec<A, unknown>, value: A) =>
      Tool.make(name, { description: "d", parameters: Schema.Struct({}), success, run: () => Effect.succeed(value) })
    const skill = Skill.make("all", {
      description: "d",
      tools: [
        shaped("text", Schema.String, 'a "quoted" text'),
        shaped("empty", Schema.String, ""),
        shaped("number", Schema.Finite, 3),
        shaped("date", Schema.Struct({ on: Schema.Date }), { on: new Date(0) }),
        shaped("nothing", Schema.Void, undefined),
        shaped("list", Schema.Array(Schema.String), [])
      ]
    })
    const model = yield* ScriptedModel.make(
      calls(...["text", "empty", "number", "date", "nothing", "list"].map((name) => call(name, {}))),
      done
    )
    yield* run(Agent.make("shapes", { skills: [skill] }), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(read(model), [
      'result: a "quoted" text',
      "result: ",
      "result: 3",
      'result: {"on":"1970-01-01T00:00:00.000Z"}',
      "result: null",
      "result: []"
    ])
  })
)

it.effect("Tool.call decodes and runs once, without any table: the rest is for Effect [A103 A104 A107]", () =>
  Effect.gen(function* () {
    const failures = [busy("1"), busy("2")] as const
    const { runs, tool } = scripted("ping", Effect.fail(failures[0]), Effect.fail(failures[1]), Effect.succeed("pong"))
    const guarded = tool.pipe(Tool.onError({ orElse: Recovery.respondWith("never") }))
    assert.strictEqual(yield* Effect.flip(Tool.call(guarded, '{"n":1}')), failures[0])
    assert.strictEqual(yield* Effect.retry(Tool.call(guarded, '{"n":1}'), { times: 1 }), "pong")
    assert.deepStrictEqual(
      runs.map(({ context }) => context.attempt),
      [1, 1, 2]
    )
    const [first, ...retried] = runs.map(({ context }) => context.idempotencyKey)
    assert.strictEqual(new Set(retried).size, 1)
    assert.notInclude(retried, first)
    assert.deepStrictEqual(
      runs.map(({ params }) => params),
      [{ n: 1 }, { n: 1 }, { n: 1 }]
    )
    assert.instanceOf(yield* Effect.flip(Tool.call(guarded, "no json")), ToolError.InvalidArgs)
    assert.instanceOf(yield* Effect.flip(Tool.call(guarded, { n: "one" })), ToolError.DeserializationError)
    assert.strictEqual(runs.length, 3)
  })
)
