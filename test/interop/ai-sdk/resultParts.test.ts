/** Images and files that tools of the Vercel AI SDK give to a model. */
import { assert } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as AiSdk from "@kintsugi/interop/AiSdk"
import { Effect, Schema } from "effect"
import { agentWith, done, eventLog, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"

const { call, calls, make } = ScriptedModel

/** As `jsonSchema(…)` of the SDK makes it. */
const inputSchema = {
  _type: undefined,
  jsonSchema: { type: "object" as const, properties: { city: { type: "string" as const } }, required: ["city"] }
}

it.run(
  "the images and files of its toModelOutput are parts of the result, under each name that the SDK has for them [P1538]",
  (run) =>
    Effect.gen(function* () {
      const tool = AiSdk.tool("shot", {
        inputSchema,
        execute: () => "raw",
        toModelOutput: async () => ({
          type: "content",
          value: [
            { type: "text", text: "Here" },
            { type: "media", mediaType: "image/png", data: "AAAA" },
            { type: "image-data", mediaType: "image/jpeg", data: "BBBB" },
            { type: "image-url", url: "https://a.test/a.png" },
            { type: "file-data", mediaType: "application/pdf", data: "CCCC", filename: "c.pdf" },
            { type: "custom" }
          ]
        })
      })
      const model = yield* make(calls(call("shot", { city: "Oslo" }, "c1")), done)
      yield* run(agentWith(tool), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), [
        [
          "result: Here",
          "[image, image/png, 3 bytes, not shown]",
          "[image, image/jpeg, 3 bytes, not shown]",
          "[image, image/png, at https://a.test/a.png]",
          "[file 'c.pdf', application/pdf, 3 bytes, not shown]",
          "[custom, not shown]"
        ].join("\n")
      ])
      // a durable run stores them
      const { success } = tool.definition
      const value = yield* Tool.call(tool, { city: "Oslo" })
      const stored = yield* Schema.encodeEffect(success)(value)
      assert.deepInclude(yield* Schema.decodeUnknownEffect(success)(stored), { parts: value.parts })
    })
)

it.run("no base64 of a picture is in a text that a model reads, as a `data:` URL neither [P1538]", (run) =>
  Effect.gen(function* () {
    const png = "MARKERmarkerMARKERmarker"
    const url = `data:image/png;base64,${png}`
    for (const part of [
      { type: "media", mediaType: "image/png", data: png },
      { type: "image-data", mediaType: "image/png", data: url },
      { type: "image-url", url },
      { type: "file-url", mediaType: "image/png", url }
    ]) {
      const log = eventLog()
      const tool = AiSdk.tool("shot", {
        inputSchema,
        execute: () => ({ png }),
        toModelOutput: () => ({ type: "content", value: [part] })
      })
      const model = yield* make(calls(call("shot", { city: "Oslo" }, "c1")), done)
      yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      assert.deepStrictEqual(read(model), ["result: [image, image/png, 18 bytes, not shown]"])
      assert.notInclude(JSON.stringify([model.requests, log.all]), png)
    }
  })
)
