/** How requests to Bedrock are signed, and by what packages. */
import { SignatureV4 } from "@smithy/signature-v4"
import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Bedrock from "@kintsugi/providers/Bedrock"
import { LoopbackServer } from "@kintsugi/providers/testing"
import { Cause, ConfigProvider, Effect, Exit, Layer, Redacted, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Aws from "../../../packages/providers/src/service/aws.ts"
import { failsWith, fakeNetwork, finished, generate, respond, streamParts } from "../../_support/network.ts"
import { credentials, layer, recorded } from "../_support/bedrock.ts"
import { generate as ask } from "../_support/replay.ts"

type Signable = Parameters<InstanceType<Aws.Packages["SignatureV4"]>["sign"]>[0]

const source = { provider: "bedrock", model: "m", secrets: [] }

describe("the signature of Bedrock", () => {
  // the Signature Version 4 test suite of docs.aws.amazon.com, by public copies of it, looked up on 2026-11-26
  const vectors = [
    [
      "post-vanilla",
      "https://example.amazonaws.com/",
      {},
      "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"
    ],
    [
      "post-header-key-sort",
      "https://example.amazonaws.com/",
      { "my-header1": "value1" },
      "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c"
    ]
  ] as const

  for (const [name, url, headers, signature] of vectors) {
    it.effect(`is that of AWS's published vector ${name} [P1414]`, () =>
      Effect.gen(function* () {
        const packages = yield* Aws.load()
        // the vectors sign neither a digest of the body nor its type
        class Bare {
          readonly #signer: SignatureV4
          constructor(options: ConstructorParameters<typeof SignatureV4>[0]) {
            this.#signer = new SignatureV4({ ...options, applyChecksum: false })
          }
          sign(request: Signable, options: { readonly signingDate: string }) {
            const { "content-type": _c, ...others } = request.headers
            return this.#signer.sign({ ...request, headers: { ...others, ...headers } }, options)
          }
        }
        yield* TestClock.setTime(Date.UTC(2015, 7, 30, 12, 36, 0))
        const scope = { region: "us-east-1", service: "service" }
        const sign = Aws.signing({ ...packages, SignatureV4: Bare }, source, scope, credentials)
        const signed = yield* sign({ url: new URL(url), body: "" })
        const authorization = signed["authorization"]
        assert(Redacted.isRedacted(authorization))
        const names = ["host", ...Object.keys(headers), "x-amz-date"].join(";")
        assert.strictEqual(
          Redacted.value(authorization),
          `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`
        )
        assert.strictEqual(signed["x-amz-date"], "20150830T123600Z")
      })
    )
  }

  for (const [way, call] of [
    ["whole", Effect.asVoid(generate)],
    ["streamed", Effect.asVoid(streamParts)]
  ] as const) {
    it.effect(`is made anew for each send, each resend included, with the time of the send (${way}) [P1414]`, () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.UTC(2026, 10, 26, 12, 0, 0))
        let asked = 0
        const temporary = Effect.sync(() => ({
          ...credentials,
          accessKeyId: `AKID${++asked}`,
          sessionToken: Redacted.make(`token-${asked}-QwZ7rT2mXp9Lk4vB`)
        }))
        const network = fakeNetwork(respond(503, { message: "busy" }))
        const transport = { retry: { retries: 2, initialBackoff: "10 seconds" } } as const
        const sending = call.pipe(
          Effect.provide(layer({ credentials: temporary, transport })),
          Effect.provide(network.layer)
        )
        failsWith(yield* finished(sending), LlmError.ModelOverloadedError)
        const sent = network.sent.map(({ headers }) => headers)
        assert.strictEqual(asked, 3)
        assert.deepStrictEqual(
          sent.map((headers) => headers["x-amz-security-token"]),
          [1, 2, 3].map((count) => `token-${count}-QwZ7rT2mXp9Lk4vB`)
        )
        for (const [index, headers] of sent.entries()) {
          assert.match(
            headers["authorization"] ?? "",
            new RegExp(
              `^AWS4-HMAC-SHA256 Credential=AKID${index + 1}/20261126/us-east-1/bedrock/aws4_request, ` +
                "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$"
            )
          )
        }
        assert.strictEqual(new Set(sent.map((headers) => headers["authorization"])).size, 3)
        assert.strictEqual(new Set(sent.map((headers) => headers["x-amz-date"])).size, 3)
        const name = way === "whole" ? "converse" : "converse-stream"
        assert.strictEqual(
          network.sent[0]?.url,
          `https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-sonnet-4-6-v1%3A0/${name}`
        )
      })
    )

    it.effect(`that cannot be made is an AuthenticationError, and nothing is sent (${way}) [P1414]`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork([])
        const expired = layer({ credentials: Effect.fail(new Error("the session is over")) })
        const error = failsWith(
          yield* finished(call.pipe(Effect.provide(expired), Effect.provide(network.layer))),
          LlmError.AuthenticationError
        )
        assert.include(error.message, "was not sent: there are no credentials to sign it")
        assert.include(String(error.cause), "the session is over")
        assert.strictEqual(network.sent.length, 0)
      })
    )

    it.effect(`with a character that HTTP does not admit is one too, and nothing is sent (${way}) [P1414]`, () =>
      Effect.gen(function* () {
        const network = fakeNetwork([])
        for (const [name, broken] of [
          ["authorization", { accessKeyId: "AK\nID" }],
          ["x-amz-security-token", { sessionToken: Redacted.make("token-\r\nQwZ7rT2mXp9Lk4vB") }]
        ] as const) {
          const asked = call.pipe(Effect.provide(layer({ credentials: { ...credentials, ...broken } })))
          const error = failsWith(yield* finished(Effect.provide(asked, network.layer)), LlmError.AuthenticationError)
          assert.include(error.message, `The header '${name}' holds a character that HTTP does not admit`)
        }
        assert.strictEqual(network.sent.length, 0)
      })
    )
  }

  it.effect("needs packages, and a missing one is a sentence with the line that installs them [P1414]", () =>
    Effect.gen(function* () {
      const line = "npm install @smithy/signature-v4 @smithy/eventstream-codec @aws-crypto/sha256-js"
      const cases = [
        ["Cannot find package '@smithy/eventstream-codec' imported from /app", `which is not installed: ${line}`],
        ["Cannot find module '@aws-crypto/sha256-js'", `@aws-crypto/sha256-js, which is not installed: ${line}`],
        ["Cannot find package 'tslib' imported from /node_modules/@smithy", "could not load the packages"],
        ["it is broken", "could not load the packages"]
      ] as const
      for (const [said, expected] of cases) {
        const exit = yield* Effect.exit(Aws.load(() => Promise.reject(new Error(said))))
        assert(Exit.isFailure(exit))
        assert.include(String(Cause.squash(exit.cause)), expected)
      }
    })
  )

  it("refuses a region that is no name [P1414]", () => {
    assert.throws(() => layer({ region: "evil.test/" }), RangeError)
  })
})

describe("Bedrock.model", () => {
  const environment = (values: Readonly<Record<string, string>>) =>
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(values))

  const key = { AWS_ACCESS_KEY_ID: "AKID", AWS_SECRET_ACCESS_KEY: "secret-0123456789" }

  it.live("needs nothing but the environment [P1414]", () =>
    Effect.gen(function* () {
      const server = yield* LoopbackServer.make(() => Effect.succeed({ body: recorded.text("tool.json") }))
      const call = Effect.provide(ask, Bedrock.model("amazon.nova-pro-v1:0", { maxTokens: 9 }))
      const more = { AWS_SESSION_TOKEN: "t-QwZ7rT2mXp9Lk4vB", AWS_ENDPOINT_URL_BEDROCK_RUNTIME: server.url }
      yield* environment({ ...key, ...more, AWS_DEFAULT_REGION: "eu-west-1" })(call)
      const [sent] = yield* server.requests
      assert(sent?.authorization !== undefined)
      assert.strictEqual(sent.path, "/model/amazon.nova-pro-v1%3A0/converse")
      assert.strictEqual(sent.headers["x-amz-security-token"], "t-QwZ7rT2mXp9Lk4vB")
      assert.match(Redacted.value(sent.authorization), /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-west-1\/bedrock\//)
      assert.deepInclude(sent.body, { inferenceConfig: { maxTokens: 9 } })
    })
  )

  it.effect("fails with a ConfigError without a region or a key [P1414]", () =>
    Effect.gen(function* () {
      for (const [values, name] of [
        [key, "AWS_REGION"],
        [{}, "AWS_ACCESS_KEY_ID"],
        [{ AWS_REGION: "us-east-1", AWS_ACCESS_KEY_ID: "AKID" }, "AWS_SECRET_ACCESS_KEY"]
      ] as const) {
        const built = Effect.result(Effect.scoped(Layer.build(Bedrock.model("m"))))
        const result = yield* environment(values)(built)
        assert(Result.isFailure(result))
        assert.include(String(result.failure), name)
      }
    })
  )
})
