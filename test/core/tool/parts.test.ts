/** `Tool.parts`: images and files beside texts in the result of a tool. */
import { assert } from "@effect/vitest"
import { Agent, type AgentEvent, Compaction, LlmError, Message, Model, Recovery, Tool, Usage } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Exit, Layer, Schema } from "effect"
import * as fc from "fast-check"
import { it } from "../../_support/run.ts"
import { batch, done, eventLog, scripted } from "../../_support/dialogue.ts"
import { namedModel } from "../../_support/namedModels.ts"
import { deciding, outcomeOf, snapshotOf } from "../../_support/suspension.ts"

const { calls, call, make, text } = ScriptedModel

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const image = Message.image("image/png", { data: png })
const described = "[image, image/png, 70 bytes, not shown]"

const shooting = (
  options: Parameters<typeof Tool.parts>[2] = {},
  of: () => Message.UserContent = () => [Message.text("The shop"), image]
) =>
  Tool.make("shot", {
    description: "Takes a picture.",
    parameters: Schema.Struct({}),
    success: Schema.Struct({ png: Schema.String }),
    run: () => Effect.succeed({ png })
  }).pipe(Tool.parts(of, options))

/** Scripted models whose wires carry images in results, or do not. */
const wires = Effect.fnUntraced(function* (shows: boolean, ...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) {
  const scripted = yield* namedModel(shows ? "seeing" : "blind", ...steps)
  const service: Model.Service = shows
    ? { ...scripted.service, showsInResults: ({ type }) => type === "image" }
    : scripted.service
  return { layer: Layer.succeed(Model.Model, service), requests: scripted.requests }
})

const settlementsIn = (transcript: Message.Transcript) =>
  transcript.flatMap((message) =>
    message.role === "assistant"
      ? message.content.flatMap((part) => (part.type === "settled-call" ? part.settlement : []))
      : []
  )

const eventsText = (events: ReadonlyArray<AgentEvent.AgentEvent>) => JSON.stringify(events)

it.run("a model that carries images reads them, and no event has their bytes [P1376 P1538]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* wires(true, batch("shot"), done)
    const agent = Agent.make("clerk", { tools: [shooting()] }).pipe(log.listen)
    assert.strictEqual(yield* run(agent, "go").pipe(Effect.provide(model.layer)), "done")
    assert.deepStrictEqual(settlementsIn(model.requests[1]?.messages ?? []), [
      { kind: "result", text: `The shop\n${described}`, parts: [Message.text("The shop"), image] }
    ])
    assert.lengthOf(log.of("parts-described"), 0)
    assert.notInclude(eventsText(log.all), png)
    const withheld = [Message.text("The shop"), { type: "image", mediaType: "image/png", bytes: 70 } as const]
    assert.deepStrictEqual(log.of("tool-end")[0]?.use.settlement.parts, withheld)
    assert.deepStrictEqual(settlementsIn(log.of("turn-end").map(({ message }) => message))[0]?.parts, withheld)
  })
)

it.run("a model that carries none reads type and size, with one event for each call [P1538]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* wires(false, batch("shot"), batch("shot"), done)
    const agent = Agent.make("clerk", { tools: [shooting()] }).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const read = { kind: "result", text: `The shop\n${described}` }
    assert.deepStrictEqual(settlementsIn(model.requests[2]?.messages ?? []), [read, read])
    assert.deepStrictEqual(
      log.of("parts-described").map(({ callId, model, parts, tool, turn }) => ({ callId, model, parts, tool, turn })),
      [2, 3].map((turn) => ({
        callId: "c1",
        model: "blind",
        parts: [{ type: "image", mediaType: "image/png" } as const],
        tool: "shot",
        turn
      }))
    )
    assert.notInclude(JSON.stringify(model.requests), png)
  })
)

it.run("with `follow`, a message with the images comes after the results, in the request alone [P1538]", (run) =>
  Effect.gen(function* () {
    const model = yield* wires(false, batch("shot", "shot"), done)
    const agent = Agent.make("clerk", { tools: [shooting({ unsupported: "follow" })] })
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const { messages = [] } = model.requests[1] ?? {}
    assert.deepStrictEqual(
      settlementsIn(messages).map(({ text }) => text),
      Array.from({ length: 2 }, () => "The shop\n[image, image/png, 70 bytes, in the next message]")
    )
    assert.lengthOf(messages, 3)
    const from = Message.text("From the result of tool 'shot':")
    assert.deepStrictEqual(messages[2], Message.user([from, image, from, image]))
  })
)

it.run("with `refuse`, the model call fails, and the next model may read it [P1538]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const blind = yield* wires(false, batch("shot"))
    const agent = Agent.make("clerk", { tools: [shooting({ unsupported: "refuse" })] }).pipe(log.listen)
    const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(blind.layer)))
    assert(error instanceof LlmError.CapabilityMismatchError)
    assert.deepInclude(error, { capability: "vision", model: "blind" })
    assert.match(error.message, /the result of tool 'shot' has such a part/)
    const first = yield* wires(false, batch("shot"))
    const second = yield* wires(true, done)
    const both = Model.fallback(first.layer, second.layer)
    yield* run(agent, "go").pipe(Effect.provide(both))
    assert.lengthOf(second.requests, 1)
    assert.deepStrictEqual(settlementsIn(second.requests[0]?.messages ?? [])[0]?.parts?.[1], image)
    assert.strictEqual(log.of("model-failed").length, 2)
  })
)

it.run("bytes beyond the limit are described, and a text has as many characters as the tool may give [P1538]", (run) =>
  Effect.gen(function* () {
    const small = Message.image("image/png", { data: "AAAA" })
    const link = Message.file("application/pdf", { url: "https://a.test/b.pdf" }, "b.pdf")
    const tool = Tool.make("shot", {
      description: "Takes a picture.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      maxResultChars: 9,
      run: () => Effect.succeed("")
    }).pipe(Tool.parts(() => [Message.text("123456"), image, Message.text("789abc"), small, link], { maxBytes: 69 }))
    const model = yield* wires(true, batch("shot"), done)
    yield* run(Agent.make("clerk", { tools: [tool] }), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(settlementsIn(model.requests[1]?.messages ?? [])[0]?.parts, [
      Message.text("123456"),
      Message.text("[image, image/png, 70 bytes, too large]"),
      Message.text("789"),
      small,
      Message.text("[file 'b.pdf', application/pdf, at https://a.test/b.pdf]")
    ])
    assert.throws(() => shooting({ maxBytes: 0 }), RangeError, "maxBytes must be a whole number of at least 1, got 0")
  })
)

it.run("the limit of bytes holds for all images and files of a result together [P1538]", (run) =>
  Effect.gen(function* () {
    const words = "[image, image/png, 70 bytes, too large]"
    for (const [maxBytes, parts] of [
      [139, [image, Message.text(words)]],
      [140, [image, image]]
    ] as const) {
      const model = yield* wires(true, batch("shot"), done)
      const tool = shooting({ maxBytes }, () => [image, image])
      yield* run(Agent.make("clerk", { tools: [tool] }), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(settlementsIn(model.requests[1]?.messages ?? [])[0]?.parts, parts)
    }
  })
)

it.run("a model call that is refused for a file says so, also beside an image that is carried [P1538]", (run) =>
  Effect.gen(function* () {
    const file = Message.file("application/pdf", { data: "AAAA" })
    for (const [shows, of, capability] of [
      [false, [file], "files"],
      [true, [image, file], "files"],
      [false, [image, file], "vision"]
    ] as const) {
      const model = yield* wires(shows, batch("shot"))
      const agent = Agent.make("clerk", { tools: [shooting({ unsupported: "refuse" }, () => [...of])] })
      const error = yield* Effect.flip(run(agent, "go").pipe(Effect.provide(model.layer)))
      assert(error instanceof LlmError.CapabilityMismatchError)
      assert.strictEqual(error.capability, capability)
    }
  })
)

it.run("what a row answers in the place of a result has its parts too, and a failure has none [P1538]", (run) =>
  Effect.gen(function* () {
    const failing = Tool.make("shot", {
      description: "Takes a picture.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.fail({ _tag: "Dark" } as const)
    })
    const of = (data: string) => [Message.image("image/png", { data })]
    const model = yield* wires(true, batch("shot"), batch("shot"), done)
    let nth = 0
    const answered = failing.pipe(
      Tool.parts(of),
      Tool.onError({
        Dark: Recovery.when(() => (nth++ === 0 ? Recovery.respondWith(() => Effect.succeed(png)) : Recovery.tell()))
      })
    )
    yield* run(Agent.make("clerk", { tools: [answered] }), "go").pipe(Effect.provide(model.layer))
    const [first, second] = settlementsIn(model.requests[2]?.messages ?? [])
    assert.deepStrictEqual(first?.parts, [image])
    assert.deepInclude(second, { kind: "told" })
    assert.isUndefined(second?.parts)
  })
)

it.effect("a snapshot keeps the bytes: a resumed run reads them, and its events have none [P1538]", () =>
  Effect.gen(function* () {
    const pay = Tool.make("pay", {
      description: "Pays.",
      parameters: Schema.Struct({}),
      success: Schema.String,
      run: () => Effect.succeed("paid")
    }).pipe(Tool.requireApproval({ validFor: "7 days" }))
    const log = eventLog()
    const agent = Agent.make("clerk", { tools: [shooting(), pay] }).pipe(log.listen)
    const model = yield* wires(true, batch("shot"), batch("shot", "pay"), done)
    const scripted: ScriptedModel.ScriptedModel = model as never
    const snapshot = yield* snapshotOf(yield* outcomeOf(agent, "go", scripted))
    const finished = snapshot.unfinished?.calls[0]
    assert.deepStrictEqual(finished?.type === "finished" ? finished.settlement.parts?.[1] : undefined, image)
    const outcome = yield* outcomeOf(Agent.resume(agent), deciding(snapshot), scripted)
    assert.deepInclude(outcome, { _tag: "Completed", output: "done" })
    assert.deepStrictEqual(
      settlementsIn(model.requests[2]?.messages ?? []).map(({ parts }) => parts?.[1]),
      [image, image, undefined]
    )
    const events = log.all.map((event) => (event.type === "run-suspended" ? { ...event, snapshot: {} } : event))
    assert.notInclude(JSON.stringify(events), png)
  })
)

it.run("a sub-agent reads the images of its own tools, and its parent its words [P1538]", (run) =>
  Effect.gen(function* () {
    const inner = yield* wires(true, batch("shot"), text("a shop"))
    const seer = Agent.make("seer", { model: inner.layer, tools: [shooting()] })
    const outer = yield* make(calls(call("seer", { input: "look" })), done)
    const agent = Agent.make("clerk", { tools: [Agent.asTool(seer, { description: "Looks." })] })
    yield* run(agent, "go").pipe(Effect.provide(outer.layer))
    assert.deepStrictEqual(settlementsIn(inner.requests[1]?.messages ?? [])[0]?.parts?.[1], image)
    assert.notInclude(JSON.stringify(outer.requests), png)
  })
)

it.effect("no base64 of a returned picture is in a text that a model reads, with any parts and any model [P1538]", () =>
  Effect.promise(() =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.string({ maxLength: 8 }).map((text) => Message.text(text)),
            fc
              .uint8Array({ minLength: 30, maxLength: 90 })
              .map((bytes) => Message.image("image/png", { data: Buffer.from(bytes).toString("base64") })),
            fc
              .uint8Array({ minLength: 30, maxLength: 90 })
              .map((bytes) => Message.file("application/pdf", { data: Buffer.from(bytes).toString("base64") }, "a.pdf"))
          ),
          { maxLength: 5 }
        ),
        fc.boolean(),
        fc.constantFrom("describe" as const, "follow" as const),
        fc.integer({ min: 1, max: 200 }),
        async (content, shows, unsupported, maxBytes) => {
          const tool = shooting({ unsupported, maxBytes }, () => content as never)
          const program = Effect.gen(function* () {
            const log = eventLog()
            const model = yield* wires(shows, batch("shot"), done)
            const agent = Agent.make("clerk", { tools: [tool] }).pipe(log.listen)
            yield* agent("go").pipe(Effect.provide(model.layer))
            const texts = JSON.stringify([model.requests, log.all], (_, value: unknown) =>
              typeof value === "object" && value !== null && "data" in value && "mediaType" in value
                ? { ...value, data: "" }
                : value
            )
            const attached = content.flatMap((part) => ("data" in part ? part.data : []))
            for (const data of attached) assert.notInclude(texts, data)
            for (const data of attached) assert.notInclude(JSON.stringify(log.all), data)
          })
          await Effect.runPromise(Effect.scoped(program))
        }
      ),
      { numRuns: 60 }
    )
  )
)

it.run("a compaction that cuts the longest result cuts the texts of its parts as well [P1538 P1570]", (run) =>
  Effect.gen(function* () {
    const long = "all of the page ".repeat(200)
    const shot = shooting({}, () => [Message.text(long), image, Message.text(long)])
    const spent = ScriptedModel.reply({
      content: [call("look", {})],
      usage: Usage.make({ inputTokens: 900, outputTokens: 50 })
    })
    const look = scripted("look", Effect.succeed("seen"))
    const model = yield* wires(true, batch("shot"), ScriptedModel.replies(spent), done)
    const agent = Agent.make("clerk", { tools: [shot, look.tool] }).pipe(
      Agent.compactAt({ window: 1000, with: Compaction.shrinkLargestResult({ maxLength: 20 }) })
    )
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const [cut] = settlementsIn(model.requests[2]?.messages ?? [])
    assert.deepStrictEqual(cut, {
      kind: "result",
      text: "all of the page...",
      parts: [Message.text("all of the page..."), image, Message.text("al")]
    })
  })
)

it.run("a function of parts that gives something else is a defect that names the tool [P1538]", (run) =>
  Effect.gen(function* () {
    for (const [given, what] of [
      [undefined, "undefined"],
      [null, "null"],
      ["a text", "a string"],
      [Effect.succeed([]), "an object"],
      [["a text"], 0],
      [[image, { type: "image", mediaType: "image/png" }], 1],
      [[{ type: "image", mediaType: "image/png", data: new Uint8Array(1) }], 0],
      [[{ type: "sound", mediaType: "image/png", data: png }], 0],
      [[null], 0]
    ] as const) {
      const model = yield* wires(true, batch("shot"))
      const agent = Agent.make("clerk", { tools: [shooting({}, () => given as never)] })
      const exit = yield* Effect.exit(run(agent, "go").pipe(Effect.provide(model.layer)))
      const [reason] = Exit.isFailure(exit) ? exit.cause.reasons : []
      assert(reason?._tag === "Die" && reason.defect instanceof TypeError)
      const expected =
        typeof what === "string"
          ? `${what}, not a list of texts, images and files`
          : `a list whose item ${what} is no text, image or file`
      assert.strictEqual(reason.defect.message, `The function of Tool.parts for tool 'shot' returned ${expected}`)
    }
  })
)

it.effect("options of a wrong kind are refused when the tool is made [P1538 P1535]", () =>
  Effect.sync(() => {
    const made =
      (options: unknown, of: unknown = () => []) =>
      () =>
        shooting(options as never, of as never)
    assert.throws(
      made({ unsupported: "ignore" }),
      TypeError,
      /^Tool 'shot': unsupported must be one of describe, follow, refuse, got "ignore"$/
    )
    assert.throws(made({}, "png"), TypeError, /^Tool 'shot': Tool.parts takes a function from its result to parts$/)
    for (const maxBytes of ["1", NaN, -1, 0.5, null])
      assert.throws(made({ maxBytes }), RangeError, /^Tool 'shot': maxBytes must be/)
    for (const above of ["1", NaN, -1, 0.5, null, undefined]) {
      const message = /^Tool.putAside: above must be a whole number of at least 1, got /
      assert.throws(() => Tool.putAside({ above } as never), RangeError, message)
      const options = {
        description: "d",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.succeed("")
      }
      const putAside = { above } as never
      assert.throws(
        () => Tool.make("log", { ...options, putAside }),
        TypeError,
        /^Tool 'log': putAside must be made by Tool.putAside$/
      )
      assert.throws(
        () => Agent.make("clerk", { putAside }),
        TypeError,
        /^Agent 'clerk': putAside must be made by Tool.putAside$/
      )
    }
  })
)

it.run("a `data:` URL stands for its bytes, wherever it is given, and no text and no event has it [P1538]", (run) =>
  Effect.gen(function* () {
    const url = `data:image/png;base64,${png}`
    for (const one of [
      Message.image("image/png", { data: url }),
      Message.image("image/png", { url }),
      { type: "image", mediaType: "image/png", data: url } as const,
      { type: "image", mediaType: "image/png", url: url.toUpperCase().slice(0, 22) + png } as const
    ]) {
      const log = eventLog()
      const model = yield* wires(true, batch("shot"), done)
      const agent = Agent.make("clerk", { input: Message.UserContent, tools: [shooting({}, () => [one as never])] })
      yield* run(agent.pipe(log.listen), [one]).pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(settlementsIn(model.requests[1]?.messages ?? []), [
        { kind: "result", text: described, parts: [image] }
      ])
      assert.notInclude(eventsText(log.all), png)
    }
    const file = Message.file("application/pdf", { url: "data:application/pdf;base64,AAAA" }, "a.pdf")
    assert.deepStrictEqual(file, { type: "file", mediaType: "application/pdf", data: "AAAA", name: "a.pdf" })
    const link = { type: "image", mediaType: "image/svg+xml", url: "data:image/svg+xml,%3Csvg/%3E" } as const
    assert.deepStrictEqual(Message.image("image/svg+xml", link), link)
  })
)
