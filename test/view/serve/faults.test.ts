/** The faults of a run: which there are, that each happens once, and how each breaks the run. */
import { assert, describe, it } from "@effect/vitest"
import * as core from "@kintsugi/core"
import { type Message, Model, Tool, Usage } from "@kintsugi/core"
import { Duration, Effect, Schema, Stream } from "effect"
import { failureOf, Faults, faultsFor } from "../../../packages/view/src/serve/faults.ts"
import { Locked, lookUp, StaleIndex } from "./_support/desk.ts"

const failing = [{ tool: lookUp.definition, tags: ["StaleIndex", "Locked"] }]

const request: Model.Request = { messages: [], tools: [], toolChoice: "auto" }

const reply = (args: Message.ToolCall["arguments"]): Message.Reply => ({
  content: [
    { type: "text", text: "I look." },
    { type: "tool-call", id: "c1", name: "lookUp", arguments: args },
    { type: "tool-call", id: "c2", name: "lookUp", arguments: args }
  ],
  finish: "tool-calls",
  usage: Usage.empty
})

const base = (whole: Message.Reply): Model.Service => ({
  name: "m",
  provider: "p",
  generate: () => Effect.succeed(whole),
  stream: () => Stream.fromIterable(Model.partsOf(whole))
})

const around = (names: ReadonlyArray<string>, whole = reply("{}")) =>
  new Faults(names, failing, core).around(base(whole))

describe("the faults of a run", () => {
  it("are those of models, one for each tag of a tool, and all of them [P1282]", () => {
    assert.deepStrictEqual(faultsFor(failing), [
      { name: "server-error", title: "The model answers 503 once", isPreset: true },
      { name: "connection", title: "The connection is lost once", isPreset: false },
      { name: "rate-limit", title: "429 once, which asks for 2 seconds", isPreset: false },
      { name: "broken-json", title: "Broken JSON in the arguments of a call", isPreset: true },
      { name: "cut", title: "A streamed reply is cut in the middle", isPreset: false },
      { name: "tool lookUp StaleIndex", title: "lookUp fails once with StaleIndex", isPreset: false },
      { name: "tool lookUp Locked", title: "lookUp fails once with Locked", isPreset: false },
      { name: "all", title: "All of them, once each", isPreset: false }
    ])
  })

  it.effect("fail one send each, in their order, and then no more [P1282]", () =>
    Effect.gen(function* () {
      const model = around(["all"])
      const failures = [
        yield* Effect.flip(model.generate(request)),
        yield* Effect.flip(Stream.runDrain(model.stream(request))),
        yield* Effect.flip(model.generate(request))
      ]
      assert.deepStrictEqual(
        failures.map(({ _tag, message }) => [_tag, message]),
        [
          core.LlmError.ServerError.make({ model: "m", status: 503 }),
          core.LlmError.NetworkError.make({ host: "the model's server", model: "m" }),
          core.LlmError.RateLimitError.make({ service: "m", model: "m", retryAfter: Duration.seconds(2) })
        ].map(({ _tag, message }) => [_tag, message])
      )
      assert.strictEqual((yield* model.generate(request)).content.length, 3)
      const same = around(["none", "tool other Busy"])
      assert.deepStrictEqual((yield* same.generate(request)).content, reply("{}").content)
      assert.deepStrictEqual([same.name, same.provider], ["m", "p"])
    })
  )

  it.effect("break the arguments of the first call alone [P1282]", () =>
    Effect.gen(function* () {
      const broken = (args: Message.ToolCall["arguments"]) =>
        Effect.map(around(["broken-json"], reply(args)).generate(request), ({ content }) =>
          content.map((part) => (part.type === "tool-call" ? part.arguments : part.type))
        )
      assert.deepStrictEqual(yield* broken(' {"id": 1} '), ["text", '```json\n{"id": 1,}\n```', ' {"id": 1} '])
      assert.deepStrictEqual(yield* broken("{}"), ["text", "```json\n{,}\n```", "{}"])
      const streamed = yield* Stream.runCollect(around(["broken-json"], reply('{"id":1}')).stream(request))
      assert.deepStrictEqual(
        [...streamed].flatMap((part) => (part.type === "tool-call" ? [part.arguments] : [])),
        ['```json\n{"id":1,}\n```', '{"id":1}']
      )
    })
  )

  it.effect("cut a stream before its call or its end, once, and no whole reply [P1282]", () =>
    Effect.gen(function* () {
      const model = around(["cut"])
      assert.lengthOf((yield* model.generate(request)).content, 3)
      const parts: Array<string> = []
      const error = yield* Effect.flip(
        Stream.runForEach(model.stream(request), ({ type }) => Effect.sync(() => void parts.push(type)))
      )
      assert.deepStrictEqual([error._tag, parts.includes("tool-call"), parts.length > 0], ["NetworkError", false, true])
      assert.include(error.message, "The stream was cut")
      const whole = yield* Stream.runCollect(model.stream(request))
      assert.isTrue([...whole].some(({ type }) => type === "finish"))
    })
  )
})

describe("a failure of a tool", () => {
  it("is made of the schema of its failures, one of a union too [P1282]", () => {
    const stale = failureOf(lookUp.definition, "StaleIndex")
    assert.instanceOf(stale, StaleIndex)
    assert.instanceOf(failureOf(lookUp.definition, "Locked"), Locked)
    const locking = Tool.make("lock", {
      description: "Locks.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      failure: Locked,
      run: () => Effect.succeed("locked")
    })
    assert.instanceOf(failureOf(locking.definition, "Locked"), Locked)
  })

  it("is an error with the tag alone where no schema has it [P1282]", () => {
    const plain = Tool.make("plain", {
      description: "Plain.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed("plain")
    })
    for (const { definition } of [lookUp, plain]) {
      const failure = failureOf(definition, "Busy")
      assert.instanceOf(failure, Error)
      assert.deepInclude(Object(failure), {
        _tag: "Busy",
        name: "Busy",
        message: `Busy, injected into ${definition.name}`
      })
    }
  })
})
