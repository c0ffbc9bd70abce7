/** One request: what is sent, and what each answer comes to. */
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Effect, Layer, Redacted, Result } from "effect"
import { HttpClient } from "effect/http"
import * as Send from "../../../packages/providers/src/transport/send.ts"
import { fakeNetwork, generate, ok, openAi, type Reaction, respond, streamParts } from "../../_support/network.ts"

const limits = { maxBodyBytes: 100, maxEventBytes: 100, maxReplyBytes: 100 }

const endpoint: Send.Endpoint = {
  source: { provider: "p", model: "m", secrets: [] },
  url: "https://a.test/v1/b?key=1",
  headers: {},
  classify: ({ body, status }) => new LlmError.UnknownLlmError({ model: "m", message: `${status} ${body}` })
}

/** What an exchange with an endpoint like this one comes to, and what was sent. */
const exchanged = Effect.fnUntraced(function* (
  reaction: Reaction,
  more: Partial<Send.Endpoint> = {},
  around = (client: HttpClient.HttpClient) => client
) {
  const network = fakeNetwork([reaction])
  const target = Result.getOrThrow(Send.target({ ...endpoint, ...more }))
  const result = yield* Effect.flatMap(HttpClient.HttpClient, (client) =>
    Effect.result(Effect.flatMap(Send.exchange(around(client), target, "{}", limits), ({ text }) => text))
  ).pipe(Effect.provide(network.layer))
  const said = Result.match(result, {
    onSuccess: (text) => text,
    onFailure: ({ error, resend }) => [error._tag, error.message, resend]
  })
  return { said, sent: network.sent }
})

describe("a request", () => {
  it.effect("has a body unless its method is GET, and header values without blanks around them", () =>
    Effect.gen(function* () {
      const headers = { "X-Team": " search ", authorization: Redacted.make("\tBearer k1\n") }
      for (const [method, body] of [
        [undefined, "{}"],
        ["POST", "{}"],
        ["GET", ""]
      ] as const) {
        const { said, sent } = yield* exchanged(
          respond(200, "ok"),
          method === undefined ? { headers } : { headers, method }
        )
        assert.strictEqual(said, "ok")
        const [one] = sent
        assert(one !== undefined)
        assert.deepStrictEqual(
          [one.method, one.url, one.body, one.headers["x-team"], one.headers["authorization"]],
          [method ?? "POST", endpoint.url, body, "search", "Bearer k1"]
        )
        assert.strictEqual(one.headers["content-type"], method === "GET" ? undefined : "application/json")
      }
    })
  )

  it.effect("asks for JSON, or for a stream of events or of lines", () =>
    Effect.gen(function* () {
      const network = fakeNetwork([ok, ok])
      yield* Effect.provide(Effect.andThen(generate, streamParts), Layer.provide(openAi(), network.layer))
      assert.deepStrictEqual(
        network.sent.map(({ headers }) => headers["accept"]),
        ["application/json", "text/event-stream, application/x-ndjson"]
      )
    })
  )

  it("that has a header which HTTP does not admit is an error without a cause [T8]", () => {
    for (const [header, tag] of [
      ["ä\u0100", "InvalidRequestError"],
      [Redacted.make("ä\u0100"), "AuthenticationError"]
    ] as const) {
      const target = Send.target({ ...endpoint, headers: { "X-Team": header } })
      assert(Result.isFailure(target))
      const { _tag, message } = target.failure
      assert.strictEqual(_tag, tag)
      assert.include(message, "The request to model 'm' was not sent: The header 'X-Team' holds a character")
      assert.isFalse("cause" in target.failure)
    }
  })
})

it("a base URL with a user name or a password is refused, without either in the error", () => {
  for (const login of ["ada:word", "ada", ":word"]) {
    const target = Send.target({ ...endpoint, url: `https://${login}@a.test/v1` })
    assert(Result.isFailure(target))
    assert.include(target.failure.message, "the base URL holds a user name or a password")
    assert.notMatch(target.failure.message, /ada|word\b@/)
  }
})

describe("an answer", () => {
  const redirect = (status: number, to: string) => [
    "InvalidRequestError",
    `The server of model 'm' redirects https://a.test/v1/b to ${to} (status ${status}); redirects are not followed`,
    false
  ]

  it.effect("with a location is a redirect only if its status is 3xx", () =>
    Effect.gen(function* () {
      for (const status of [300, 302, 399]) {
        for (const [location, to] of [
          ["https://b.test/x?key=1", "https://b.test"],
          ["/v2", "https://a.test"],
          ["https://", "nowhere"]
        ] as const) {
          const { said } = yield* exchanged(respond(status, "page", { location }))
          assert.deepStrictEqual(said, redirect(status, to))
        }
        const { said } = yield* exchanged(respond(status, "page"))
        assert.deepStrictEqual(said, ["UnknownLlmError", `${status} page`, false])
      }
      for (const status of [400, 404, 500]) {
        const { said } = yield* exchanged(respond(status, "page", { location: "https://b.test" }))
        assert.deepStrictEqual(said, ["UnknownLlmError", `${status} page`, status === 500])
      }
      assert.strictEqual((yield* exchanged(respond(201, "made", { location: "https://b.test" }))).said, "made")
    })
  )

  it.effect("is read as well behind a client that fails for its status", () =>
    Effect.gen(function* () {
      const { said } = yield* exchanged(respond(404, "page"), {}, HttpClient.filterStatusOk)
      assert.deepStrictEqual(said, ["UnknownLlmError", "404 page", false])
    })
  )

  it.effect("with an error page that is too large is classified by its status alone [P1401]", () =>
    Effect.gen(function* () {
      for (const [length, page] of [
        [100, "x".repeat(100)],
        [101, ""]
      ] as const) {
        const { said } = yield* exchanged(respond(404, "x".repeat(length)))
        assert.deepStrictEqual(said, ["UnknownLlmError", `404 ${page}`, false])
      }
    })
  )
})
