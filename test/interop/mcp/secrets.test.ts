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
    assert.deepStrictEqual(result, {
      content: [{ type: "file", mediaType: "text/<redacted>", data: "YQ==", name: "file:///a" }],
      structured: { key: "<redacted>" }
    })
  })
)

for (const [what, options, said, read] of [
  [
    "a key in a Redacted URL",
    { url: Redacted.make(`${url}?apiKey=Abcdefghijk-0815`) },
    "the key 'Abcdefghijk-0815' is over",
    "the key '<redacted>' is over"
  ],
  [
    "a password that was sent with its name in base64",
    { url, headers: { authorization: Redacted.make(`Basic ${btoa("ann:Abcdefghijk-0815")}`) } },
    "not with 'Abcdefghijk-0815', ann",
    "not with '<redacted>', ann"
  ]
] as const) {
  it.effect(`${what} is a secret by itself, which is sent and repeated nowhere [P202 P1107]`, () =>
    Effect.gen(function* () {
      const { layer } = withTools([{ name: "look", inputSchema }], () => refusing(-32_000, said))
      const sent = new Set<string>()
      const seen = Layer.effect(
        HttpClient.HttpClient,
        Effect.map(HttpClient.HttpClient, (client) =>
          HttpClient.tapRequest(client, (request) => Effect.sync(() => void sent.add(request.url)))
        )
      )
      const server = yield* Effect.provide(Mcp.connect("shop", Mcp.http(options)), Layer.provide(seen, layer))
      const error = yield* Effect.flip(call(server, "look"))
      assert.deepStrictEqual([...sent], [Redacted.isRedacted(options.url) ? Redacted.value(options.url) : options.url])
      assert.strictEqual(error.message, `tool 'look' of MCP server 'shop': ${read} (code -32000)`)
    })
  )
}
