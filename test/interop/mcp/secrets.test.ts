/** Secrets are sent to an MCP server, and appear in no failure and in no result. */
import { assert, it } from "@effect/vitest"
import { ToolError } from "@kintsugi/core"
import * as RawSchema from "@kintsugi/core/RawSchema"
import * as Mcp from "@kintsugi/interop/Mcp"
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpClient } from "effect/http"
import { call, inputSchema, refusing, text, url, withTools } from "./_support/fakeServer.ts"

it.effect("a secret is sent, and no failure and no result repeats it [P202 P1107]", () =>
  Effect.gen(function* () {
    const secret = "tok-1234-abcd-5678"
    const { asked, layer } = withTools([{ name: "look", inputSchema }], ({ headers }) =>
      asked.some(({ method }) => method === "tools/call" && asked.length > 5)
        ? { isError: true, content: text(`not with ${headers.get("authorization")}`) }
        : {
            content: [
              ...text(`you are ${headers.get("authorization")}`),
              { type: "resource_link", uri: `https://files.test/a?token=${secret}`, name: `for ${secret}` },
              { type: "resource", resource: { uri: `file:///${secret}`, mimeType: "text/plain", blob: "YQ==" } }
            ],
            structuredContent: { key: secret, [secret]: true }
          }
    )
    const way = Mcp.http({ url, headers: { authorization: Redacted.make(`Bearer ${secret}`) } })
    const server = yield* Effect.provide(Mcp.connect("shop", way), layer)
    const result = yield* call(server, "look")
    const error = yield* Effect.flip(call(server, "look"))
    assert.isTrue(asked.every(({ headers }) => headers.get("authorization") === `Bearer ${secret}`))
    const encoded = Schema.encodeUnknownSync(Schema.toCodecJson(ToolError.ToolError))(error)
    for (const said of [JSON.stringify(result), error.message, String(error), JSON.stringify(encoded)])
      assert.notInclude(said, secret)
    assert.include(JSON.stringify(result), "<redacted>")
  })
)

it.effect("no text of a server holds a secret, and a redacted result still fits its schema [P202 P1107]", () =>
  Effect.gen(function* () {
    const secret = "tok-1234-abcd-5678"
    const said = (text: string) => ({ type: "object", properties: { n: { type: "number", description: text } } })
    const outputSchema = { type: "object", properties: { key: { type: "string", minLength: 18 } } }
    const tools = [
      { name: "look", description: `as ${secret}`, inputSchema: said(`for ${secret}`) },
      { name: "keep", title: `of ${secret}`, inputSchema, outputSchema }
    ]
    const { layer } = withTools(tools, () => ({
      content: [{ type: "resource", resource: { uri: "file:///a", mimeType: `text/${secret}`, blob: "YQ==" } }],
      structuredContent: { key: secret }
    }))
    const headers = { authorization: Redacted.make(`Bearer ${secret}`) }
    const server = yield* Effect.provide(Mcp.connect("shop", Mcp.http({ url, headers })), layer)
    const specs = (yield* server.tools).map(({ definition: { description, name, parameters } }) => ({
      name,
      description,
      parameters: RawSchema.of(parameters)
    }))
    assert.deepStrictEqual(specs, [
      { name: "look", description: "as <redacted>", parameters: said("for <redacted>") },
      { name: "keep", description: "of <redacted>", parameters: inputSchema }
    ])
    const result = yield* call(server, "keep")
    assert.deepStrictEqual(result.structured, { key: "<redacted>" })
    assert.notInclude(JSON.stringify(result), secret)
  })
)

it.effect("a key in a Redacted URL is sent, and repeated nowhere [P1107]", () =>
  Effect.gen(function* () {
    const { layer } = withTools([{ name: "look", inputSchema }], () =>
      refusing(-32_000, "the key 'Abcdefghijk-0815' is over")
    )
    const sent: Array<string> = []
    const seen = Layer.provideMerge(
      Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (client) =>
          HttpClient.mapRequest(client, (request) => {
            sent.push(request.url)
            return request
          })
        )
      ),
      layer
    )
    const way = Mcp.http({ url: Redacted.make(`${url}?apiKey=Abcdefghijk-0815`) })
    const server = yield* Effect.provide(Mcp.connect("shop", way), seen)
    const error = yield* Effect.flip(call(server, "look"))
    assert.strictEqual(new Set(sent).size, 1)
    assert.strictEqual(sent[0], `${url}?apiKey=Abcdefghijk-0815`)
    assert.include(error.message, "the key '<redacted>' is over")
  })
)

it.effect("a password is a secret by itself, also where it was sent with its name in base64 [P202 P1107]", () =>
  Effect.gen(function* () {
    const { layer } = withTools([{ name: "look", inputSchema }], () =>
      refusing(-32_000, "not with 'Abcdefghijk-0815', ann")
    )
    const headers = { authorization: Redacted.make(`Basic ${btoa("ann:Abcdefghijk-0815")}`) }
    const server = yield* Effect.provide(Mcp.connect("shop", Mcp.http({ url, headers })), layer)
    const error = yield* Effect.flip(call(server, "look"))
    assert.include(error.message, "not with '<redacted>', ann")
  })
)
