/** Claude on Vertex: the model in the path, recorded answers of its wire, and the name of the host. */
import { assert, describe, it } from "@effect/vitest"
import { Anthropic, Transport } from "@kintsugi/providers"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, Exit, Layer, Redacted } from "effect"
import { fakeNetwork, failureOf, key, respond } from "../../_support/network.ts"
import { fixtures } from "../../_support/wireFixtures.ts"
import { checkReply, collect, generate } from "../_support/replay.ts"

const apiKey = Effect.succeed(Redacted.make(key))
const model = "claude-opus-5-5@default"
const base = "/v1/projects/p/locations/l/publishers/anthropic"

const withCalls = fixtures.filter(
  ({ api, expected, status }) => api === "anthropic" && status === 200 && (expected.toolCalls ?? []).length > 0
)

describe("Claude on Vertex", () => {
  for (const fixture of withCalls) {
    it.live(`asks by its path, and reads ${fixture.id} [P1414]`, () =>
      Effect.gen(function* () {
        const server = yield* LoopbackServer.make(() =>
          Effect.succeed({ headers: fixture.headers, body: fixture.body, split: "event" })
        )
        const layer = Anthropic.layer({ model, apiKey, vertex: true, baseUrl: `${server.url}${base}`, maxTokens: 10 })
        const reply = yield* (fixture.streaming ? collect : generate).pipe(
          Effect.provide(Layer.provide(layer, Transport.layerFetch))
        )
        checkReply(reply, fixture)
        const [sent] = yield* server.requests
        assert(sent?.authorization !== undefined)
        assert.strictEqual(Redacted.value(sent.authorization), `Bearer ${key}`)
        const action = fixture.streaming ? "streamRawPredict" : "rawPredict"
        assert.strictEqual(sent.path, `${base}/models/claude-opus-5-5%40default:${action}`)
        assert.notProperty(sent.headers, "anthropic-version")
        assert.notProperty(sent.headers, "x-api-key")
        assert.notProperty(sent.body, "model")
        assert.deepInclude(sent.body, { anthropic_version: "vertex-2023-10-16", max_tokens: 10 })
      })
    )
  }

  it.effect("takes another version, which stands in the body [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(respond(404, {}))
      const options = {
        model,
        apiKey,
        vertex: true,
        baseUrl: `https://vertex.test${base}`,
        version: "vertex-2026-01-01"
      }
      yield* Effect.exit(generate.pipe(Effect.provide(Anthropic.layer(options)), Effect.provide(network.layer)))
      assert.strictEqual(JSON.parse(network.sent[0]?.body ?? "").anthropic_version, "vertex-2026-01-01")
    })
  )

  it("was tried whole and streamed", () => {
    assert.sameMembers([...new Set(withCalls.map(({ streaming }) => streaming))], [true, false])
  })

  it.effect("is named in errors, and sends no name that is not a segment of a path [P1414]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork(respond(404, { error: { code: 404, message: "no such model", status: "NOT_FOUND" } }))
      const error = (model: string) =>
        Anthropic.layer({ model, apiKey, vertex: true, baseUrl: `https://vertex.test${base}` }).pipe(
          (layer) => Effect.exit(generate.pipe(Effect.provide(layer), Effect.provide(network.layer))),
          Effect.map((exit) => (assert.isTrue(Exit.isFailure(exit)), failureOf(exit)))
        )
      const missing = yield* error(model)
      assert.strictEqual(missing._tag, "ModelNotFoundError")
      assert.strictEqual(missing.provider, "vertex")
      const refused = yield* error("..")
      assert.strictEqual(refused._tag, "InvalidRequestError")
      assert.lengthOf(network.sent, 1)
    })
  )
})
