/** Pictures in results of MCP tools: no model reads their base64 as text, wherever the server has put it. */
import { assert } from "@effect/vitest"
import { Recovery, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect } from "effect"
import { agentWith, batch, done, eventLog, read } from "../../_support/dialogue.ts"
import { it } from "../../_support/run.ts"
import { inputSchema, named, text, url, withTools } from "./_support/fakeServer.ts"

const { answers: answering, call, make, reply } = ScriptedModel

const png = "MARKERmarkerMARKERmarker"
const image = { type: "image", data: png, mimeType: "image/png" }
const dataUrl = `data:image/png;base64,${png}`

const answers: Record<string, object> = {
  twice: { content: [image], structuredContent: { title: "Shop", shots: [png, dataUrl] } },
  linked: { content: [{ type: "resource_link", uri: dataUrl, name: "shot", mimeType: "image/png" }] },
  wrapped: { content: [{ ...image, data: dataUrl }] },
  blob: { content: [{ type: "resource", resource: { uri: "file:///c", blob: png, mimeType: "image/png" } }] },
  failed: { content: [...text("it is dark"), image], isError: true },
  long: { content: [...text("0123456789".repeat(20)), image] }
}

const expected: Record<string, string> = {
  twice: '[image, image/png, 18 bytes, not shown]\n{"title":"Shop","shots":["[not shown]","[not shown]"]}',
  linked: "[file 'shot', image/png, 18 bytes, not shown]",
  blob: "[file 'file:///c', image/png, 18 bytes, not shown]"
}

it.run("no base64 of a picture of an MCP tool is in a text that a model reads, nor in an event [P1538]", (run) =>
  Effect.gen(function* () {
    const tools = Object.keys(answers).map((name) => ({ name, inputSchema }))
    const { layer } = withTools(tools, ({ params }) => answers[String(params["name"])])
    const server = yield* Mcp.connect("shop", Mcp.http({ url }), { putAside: Tool.putAside({ above: 150 }) }).pipe(
      Effect.provide(layer)
    )
    for (const name of Object.keys(answers)) {
      const log = eventLog()
      const reading = answering(({ messages }) => {
        const handle = /handle: \\"([^"\\]+)/.exec(JSON.stringify(messages))?.[1] ?? ""
        return Effect.succeed(reply({ content: [call("read_result", { handle, from: 150 }, "r")] }))
      })
      const model = yield* make(batch(name), ...(name === "long" ? [reading] : []), done)
      const tool = named(yield* server.tools, name).pipe(Tool.onError({ orElse: Recovery.tell() }))
      yield* run(agentWith(tool).pipe(log.listen), "go").pipe(Effect.provide(model.layer))
      assert.notInclude(JSON.stringify([model.requests, log.all]), png, name)
      const [first = "", page = ""] = read(model)
      if (name in expected) assert.strictEqual(first, `result: ${expected[name]}`)
      if (name === "failed") assert.include(first, "it is dark")
      if (name === "long") assert.include(page, "[image, image/png, 18 bytes, not shown]")
    }
  }).pipe(Effect.scoped)
)
