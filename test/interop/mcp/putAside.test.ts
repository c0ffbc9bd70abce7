/** Long results of MCP tools are put aside as those of any other tool. */
import { assert, it } from "@effect/vitest"
import { Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect } from "effect"
import { agentWith, batch, done, read } from "../../_support/dialogue.ts"
import { inputSchema, text, url, withTools } from "./_support/fakeServer.ts"

it.effect("a long result of an MCP tool is put aside, unless it is cut [P1375 P1535]", () =>
  Effect.gen(function* () {
    const connect = (options: object) => Mcp.connect("shop", Mcp.http({ url }), options)
    const server = yield* connect({ putAside: Tool.putAside({ above: 10 }) })
    const model = yield* ScriptedModel.make(batch("list"), done)
    yield* agentWith(...(yield* server.tools))("go").pipe(Effect.provide(model.layer))
    assert.match(read(model)[0] ?? "", /^result: 0123456789\n\n\[Characters 0 to 10 of 20\. The result is put aside/)
    assert.deepStrictEqual(
      model.requests[0]?.tools.map(({ name }) => name),
      ["list", "read_result"]
    )
    const both = yield* connect({ putAside: Tool.putAside({ above: 10 }), maxResultChars: 5 })
    const exit = yield* Effect.exit(both.tools)
    assert.match(String(exit), /cut by maxResultChars, or put aside by putAside, and not both/)
  }).pipe(
    Effect.scoped,
    Effect.provide(withTools([{ name: "list", inputSchema }], () => ({ content: text("0123456789".repeat(2)) })).layer)
  )
)
