/** Images and files of results: their names and bytes, and what models without them read. */
import { assert } from "@effect/vitest"
import { Agent, Message, Model, Tool } from "@kintsugi/core"
import type { ScriptedModel } from "@kintsugi/core/testing"
import { Effect, Layer, Schema } from "effect"
import { batch, done, eventLog } from "../../_support/dialogue.ts"
import { namedModel } from "../../_support/namedModels.ts"
import { it } from "../../_support/run.ts"

const taking = (parts: ReadonlyArray<object>, options: Parameters<typeof Tool.parts>[2] = {}) =>
  Tool.make("take", {
    description: "Takes pictures.",
    parameters: Schema.Struct({}),
    success: Schema.String,
    run: () => Effect.succeed("taken")
    // as a program without types may give them
  }).pipe(Tool.parts(() => parts as unknown as Message.UserContent, options))

const image = { type: "image", mediaType: "image/png" } as const
const file = { type: "file", mediaType: "text/csv" } as const

it.effect("each part keeps its type and its name, with its bytes or without them [P1538]", () =>
  Effect.sync(() => {
    const url = "data:text/csv;base64,QUJD"
    const partsOf = (maxBytes: number, ...parts: ReadonlyArray<object>) =>
      taking(parts, { maxBytes }).definition.parts?.of("taken", undefined)
    assert.deepStrictEqual<unknown>(
      partsOf(
        6,
        Message.text("see"),
        { ...file, url, name: "a.csv" },
        { ...image, url: "data:image/png;base64,QUI=" },
        { ...image, data: "QUI=" },
        { ...file, data: "QQ==", name: "b.csv" },
        { ...file, data: "QQ==" },
        { ...image, url: "https://x.org/a" }
      ),
      {
        parts: [
          Message.text("see"),
          { ...file, data: "QUJD", name: "a.csv" },
          { ...image, data: "QUI=" },
          { ...image, bytes: 2 },
          { ...file, data: "QQ==", name: "b.csv" },
          { ...file, bytes: 1 },
          { ...image, url: "https://x.org/a" }
        ]
      }
    )
    assert.deepStrictEqual<unknown>(partsOf(1, { ...file, url, name: "a.csv" }, { ...file, data: "QUJD" }), {
      parts: [
        { ...file, name: "a.csv", bytes: 3 },
        { ...file, bytes: 3 }
      ]
    })
    assert.isUndefined(partsOf(1, Message.text("see")))
  })
)

/** A model whose wire carries images in results. */
const seeing = Effect.fnUntraced(function* (...steps: ReadonlyArray<ScriptedModel.ScriptedStep>) {
  const { requests, service } = yield* namedModel("seeing", ...steps)
  const shown: Model.Service = { ...service, showsInResults: ({ type }) => type === "image" }
  return { layer: Layer.succeed(Model.Model, shown), requests }
})

it.run("what a model does not carry is described behind a prompt, too, and the event names that alone [P1538]", (run) =>
  Effect.gen(function* () {
    const log = eventLog()
    const model = yield* seeing(batch("take"), done)
    const parts = [Message.text("see"), { ...image, data: "QUI=" }, { ...file, data: "QUJD", name: "a.csv" }]
    const agent = Agent.make("clerk", { prompt: "Be brief.", tools: [taking(parts)] }).pipe(log.listen)
    yield* run(agent, "go").pipe(Effect.provide(model.layer))
    const [system, user, reply, ...others] = model.requests[1]?.messages ?? []
    assert.deepStrictEqual([system, user, others], [Message.system("Be brief."), Message.user("go"), []])
    assert(reply?.role === "assistant" && reply.content[0]?.type === "settled-call")
    assert.deepStrictEqual(reply.content[0].settlement, {
      kind: "result",
      text: "see\n[image, image/png, 2 bytes, not shown]\n[file 'a.csv', text/csv, 3 bytes, not shown]",
      parts: [
        Message.text("see"),
        { ...image, data: "QUI=" },
        Message.text("[file 'a.csv', text/csv, 3 bytes, not shown]")
      ]
    })
    assert.deepStrictEqual(
      log.of("parts-described").map(({ parts }) => parts),
      [[file]]
    )
  })
)

it.run("with `follow`, no message follows where there is nothing to show [P1538]", (run) =>
  Effect.gen(function* () {
    const model = yield* seeing(batch("take"), done)
    const tool = taking([{ ...file, data: "QUJD" }], { unsupported: "follow", maxBytes: 2 })
    yield* run(Agent.make("clerk", { tools: [tool] }), "go").pipe(Effect.provide(model.layer))
    assert.deepStrictEqual(
      model.requests[1]?.messages.map(({ role }) => role),
      ["user", "assistant"]
    )
  })
)
