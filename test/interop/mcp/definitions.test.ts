/** What a pin compares of a tool, the secrets of an address, and what is known of a lost connection or session. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { McpClientError } from "effect/ai"
import type { Tool } from "effect/ai/McpSchema"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import { isLost, type Way } from "../../../packages/interop/src/mcp/connection.ts"
import { secretsOf } from "../../../packages/interop/src/mcp/http.ts"
import { definitionOf, digestOf } from "../../../packages/interop/src/mcp/pins.ts"
import * as Session from "../../../packages/interop/src/mcp/session.ts"
import { tooLarge } from "../../../packages/interop/src/mcp/tool.ts"

const same = (text: string) => text
const inputSchema = { type: "object" }

// cast: tools come as JSON
const toolOf = (fields: object) => ({ name: "look", inputSchema, ...fields }) as unknown as Tool

describe("the definition of a tool", () => {
  const hints = { destructiveHint: true, idempotentHint: false, openWorldHint: true, readOnlyHint: false }

  it("has what a model or a person reads of it, and the hints of the protocol [P1379]", () => {
    const bare = { description: "", inputSchema, annotations: hints }
    assert.deepStrictEqual(definitionOf(toolOf({}), same), bare)
    assert.deepStrictEqual(definitionOf(toolOf({ title: "Look" }), same), { ...bare, description: "Look" })
    assert.deepStrictEqual(definitionOf(toolOf({ title: "Look", description: "" }), same), bare)
    const outputSchema = { type: "string" }
    const annotations = {
      title: "Looks",
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
      readOnlyHint: true
    }
    assert.deepStrictEqual(
      definitionOf(toolOf({ description: "s3cret", outputSchema, annotations, icons: [] }), (text) =>
        text.replaceAll("s3cret", "<redacted>")
      ),
      { description: "<redacted>", inputSchema, outputSchema, annotations }
    )
  })

  it.effect("has a digest of its server, its name and its content, the same in each release [P1379 P1547]", () =>
    Effect.gen(function* () {
      const definition = { description: "x", inputSchema }
      const digests = yield* Effect.all([
        digestOf("a", "look", definition),
        digestOf("b", "look", definition),
        digestOf("a", "see", definition),
        digestOf("a", "look", { ...definition, description: "y" })
      ])
      assert.strictEqual(new Set(digests).size, 4)
      assert.strictEqual(digests[0], "afe53dc82fe3856ec6df69c678f3dd245cb57854c89d86b777f27c44626dc07b")
      assert.strictEqual(yield* digestOf("a", "look", { inputSchema, description: "x" }), digests[0])
    })
  )

  it("beyond a bound is refused, with the schema, the tool and the server [P1391]", () => {
    const bounds = { depth: 3, nodes: 100, bytes: 1000 }
    const where = { server: "shop", redact: (text: string) => text.replaceAll("s3cret", "<redacted>") }
    const deep = { type: "object", properties: { a: { items: { items: {} } } } }
    const whatOf = (fields: object) => {
      const error = tooLarge(toolOf(fields), where, bounds)
      return error === undefined ? undefined : [error.what, error.bound, error.limit]
    }
    assert.isUndefined(whatOf({ outputSchema: inputSchema }))
    assert.deepStrictEqual(whatOf({ name: "s3cret", inputSchema: deep }), [
      "The input schema of tool '<redacted>' of MCP server 'shop'",
      "depth",
      3
    ])
    assert.deepStrictEqual(whatOf({ outputSchema: deep }), [
      "The output schema of tool 'look' of MCP server 'shop'",
      "depth",
      3
    ])
  })
})

it("the secrets of an address are its parameters, its credentials and what is no word, if it is redacted", () => {
  const secrets = (url: string) => secretsOf(Redacted.make(url))
  assert.deepStrictEqual(secretsOf("https://ann:pass@a.test/key1?k=v"), [])
  assert.deepStrictEqual(secretsOf(new URL("https://ann:pass@a.test/key1?k=v")), [])
  assert.deepStrictEqual(secrets("https://ann:p%40ss@a.test/v1/mcp/42/KEY9/%E4?k=a%20b&l=%25zz"), [
    "a b",
    "%zz",
    "ann",
    "p@ss",
    "v1",
    "KEY9",
    "%E4"
  ])
  assert.deepStrictEqual(secrets("https://a.test/mcp"), ["", ""])
  assert.deepStrictEqual(secrets("no address"), [])
})

it("a connection is lost once it is closed, and a process also once its output cannot be read", () => {
  const reasons = {
    closed: new McpClientError.ClosedError({}),
    transport: new McpClientError.TransportError({}),
    limit: new McpClientError.LimitError({ description: "x" }),
    unreadable: new McpClientError.ProtocolError({}),
    refused: new McpClientError.ProtocolError({ code: -32_602 }),
    late: new McpClientError.TimeoutError({ operation: "x" }),
    status: new McpClientError.HttpError({ status: 500 })
  }
  const lostIn = (kind: Way["kind"]) =>
    Object.entries(reasons).flatMap(([name, reason]) =>
      // cast: only the kind is read
      isLost({ kind } as Way, new McpClientError.McpClientError({ reason })) ? [name] : []
    )
  assert.deepStrictEqual(lostIn("http"), ["closed"])
  assert.deepStrictEqual(lostIn("stdio"), ["closed", "transport", "limit", "unreadable"])
})

describe("a session", () => {
  const responseOf = (status: number, session?: string) => {
    const headers = session === undefined ? {} : { "mcp-session-id": session }
    const request = HttpClientRequest.post("http://mcp.test", { headers })
    return HttpClientResponse.fromWeb(request, new Response(null, { status }))
  }

  it("is unknown by status 404 to a request in it, and forgotten if it has expired but not if it was closed [P1380]", () => {
    assert.deepStrictEqual(
      [responseOf(404, "s"), responseOf(404), responseOf(410, "s"), responseOf(200, "s")].map(Session.isUnknown),
      [true, false, false, false]
    )
    assert.deepStrictEqual(
      [
        new McpClientError.ClosedError({ sessionExpired: true }),
        new McpClientError.ClosedError({}),
        new McpClientError.ClosedError({ sessionExpired: false }),
        new McpClientError.TransportError({})
      ].map((reason) => Session.isForgotten(new McpClientError.McpClientError({ reason }))),
      [true, false, false, false]
    )
  })

  it.effect("counts the requests of a call that the server may have begun [P1380]", () =>
    Effect.gen(function* () {
      const begun = new Session.Begun()
      const counted = (
        responding: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
      ) => Effect.provideService(Effect.exit(Session.counted(responding)), Session.Current, begun)
      const counts: Array<number> = []
      const statusOf = (response: HttpClientResponse.HttpClientResponse) =>
        Effect.fail(
          new HttpClientError.HttpClientError({
            reason: new HttpClientError.StatusCodeError({ request: response.request, response })
          })
        )
      for (const responding of [
        Effect.succeed(responseOf(200, "s")),
        Effect.succeed(responseOf(404, "s")),
        Effect.succeed(responseOf(404)),
        statusOf(responseOf(404, "s")),
        statusOf(responseOf(500, "s"))
      ]) {
        yield* counted(responding)
        counts.push(begun.count)
      }
      assert.deepStrictEqual(counts, [1, 1, 2, 2, 3])
      // outside of a call nothing is counted
      const response = responseOf(200, "s")
      assert.strictEqual(yield* Session.counted(Effect.succeed(response)), response)
      assert.strictEqual(begun.count, 3)
    })
  )
})
