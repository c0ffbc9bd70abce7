/** The events of the server sides, against those that the real services were recorded to send. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import { AnyWire } from "@kintsugi/providers/testing"
import { Duration, Effect } from "effect"
import type { Answer, Received } from "../../../../packages/providers/src/testing/handling.ts"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { type Api, fixtures, formats } from "../../../_support/wireFixtures.ts"

const apis: Readonly<Record<Wire.ClientFormat, Api>> = {
  "anthropic-messages": "anthropic",
  "gemini-content": "gemini",
  "ollama-chat": "ollama",
  "openai-chat": "openai-chat",
  "openai-responses": "openai-responses"
}

const messages = [{ role: "user", content: "hello" }]

/** A minimal request of each format, whole and streamed. */
const requests: Readonly<
  Record<Wire.ClientFormat, (isStreamed: boolean) => { readonly path: string; readonly body: object }>
> = {
  "anthropic-messages": (stream) => ({ path: "/v1/messages", body: { model: "m", max_tokens: 9, messages, stream } }),
  "gemini-content": (isStreamed) => ({
    path: `/v1beta/models/m:${isStreamed ? "streamGenerateContent?alt=sse" : "generateContent"}`,
    body: { contents: [{ role: "user", parts: [{ text: "hello" }] }] }
  }),
  "ollama-chat": (stream) => ({ path: "/api/chat", body: { model: "m", messages, stream } }),
  "openai-chat": (stream) => ({
    path: "/v1/chat/completions",
    body: { model: "m", messages, stream, stream_options: { include_usage: true } }
  }),
  "openai-responses": (stream) => ({ path: "/v1/responses", body: { model: "m", input: messages, stream } })
}

const receiving = ({ body, path }: { readonly path: string; readonly body: object }): Received => ({
  number: 1,
  method: "POST",
  path,
  headers: { "x-api-key": "any", "x-goog-api-key": "any", "anthropic-version": "2023-06-01" },
  text: JSON.stringify(body),
  body,
  at: 0
})

const answerTo = (format: Wire.ClientFormat, reply: Wire.BrainReply, isStreamed: boolean): Answer => {
  const received = receiving(requests[format](isStreamed))
  const wire = AnyWire.of(received)
  assert(wire !== undefined)
  assert.strictEqual(wire.format, format)
  const request: Wire.BrainRequest = {
    format,
    // recorded were models of that time, whose calls had no ids
    model: format === "gemini-content" ? "gemini-2.5-flash" : "m",
    messages: [],
    tools: [],
    toolChoice: "auto",
    isStreamed,
    received
  }
  return wire.render(request, reply)
}

const said: Wire.BrainReply = { content: [Message.text("grüße 🙂, five words and more")] }

const called: Wire.BrainReply = {
  content: [{ type: "tool-call", id: "call_1", name: "search", arguments: { q: "折り鶴" } }]
}

/** The events of a stream by what they are, repetitions told once. */
const kindsOf = (body: string): ReadonlyArray<string> => {
  const kinds: Array<string> = []
  for (const line of body.split(/\r?\n/)) {
    const [, kind] = /^event: (.*)$/.exec(line) ?? []
    if (kind !== undefined && kind !== kinds.at(-1)) kinds.push(kind)
  }
  return kinds
}

const recorded = (id: string): string => {
  const fixture = fixtures.find((fixture) => fixture.id === id)
  assert(fixture !== undefined, id)
  return fixture.body
}

/** Every path of fields in some JSON, lists seen through; what a tool defines is its own. */
const pathsIn = (json: unknown, at = ""): ReadonlyArray<string> => {
  if (Array.isArray(json)) return json.flatMap((each) => pathsIn(each, at))
  if (json === null || typeof json !== "object") return [at]
  if (/(?:input|args|arguments|parameters|metadata)$/.test(at)) return [at]
  return [at, ...Object.entries(json).flatMap(([key, value]) => pathsIn(value, `${at}.${key}`))]
}

const bodyOf = ({ body }: Answer): string => (typeof body === "string" ? body : "")

describe("the events of a stream", () => {
  it.each([
    ["anthropic-messages", said, "anthropic-stream-thinking-1"],
    ["anthropic-messages", called, "anthropic-stream-tool-1"],
    ["openai-responses", said, "openai-resp-stream-text-1"],
    ["openai-responses", called, "openai-resp-stream-tool-1"]
  ] as const)("of %s come in the recorded order", (format, reply, id) => {
    const expected = kindsOf(recorded(id))
    const kinds = kindsOf(bodyOf(answerTo(format, reply, true)))
    let next = 0
    for (const kind of expected) if (kind === kinds[next]) next++
    assert.strictEqual(kinds[next], undefined, "not where it was recorded")
    assert.strictEqual(kinds.at(0), expected.at(0))
    assert.strictEqual(kinds.at(-1), expected.at(-1))
  })

  it("end as those of the service do", () => {
    const streams = (format: Wire.ClientFormat) => bodyOf(answerTo(format, said, true))
    assert.match(streams("openai-chat"), /"choices":\[\],"usage":.*\n\ndata: \[DONE\]\n\n$/)
    assert.match(streams("gemini-content"), /"finishReason":"STOP".*\r\n\r\n$/)
    assert.match(streams("ollama-chat"), /"done":true.*\n$/)
    for (const format of ["anthropic-messages", "openai-responses", "gemini-content", "ollama-chat"] as const) {
      assert.notInclude(streams(format), "[DONE]")
    }
    assert.notMatch(streams("gemini-content"), /[^\r]\n/)
    assert.notInclude(streams("ollama-chat"), "data:")
  })
})

describe.each(Object.entries(apis) as ReadonlyArray<[Wire.ClientFormat, Api]>)("the fields of %s", (format, api) => {
  /** Of all recordings of the format, whole and streamed, as far as they are JSON. */
  const documented = new Set(
    fixtures
      .filter((fixture) => fixture.api === api)
      .flatMap(({ body }) => documentsIn(body))
      .flatMap((json) => pathsIn(json))
  )

  it.each([
    ["whole", false],
    ["streamed", true]
  ] as const)("are those of recordings, %s", (_, isStreamed) => {
    for (const reply of [said, called]) {
      const documents = documentsIn(bodyOf(answerTo(format, reply, isStreamed)))
      assert.isAbove(documents.length, 0)
      const novel = new Set(documents.flatMap((json) => pathsIn(json)).filter((path) => !documented.has(path)))
      assert.deepStrictEqual([...novel], [])
    }
  })
})

/** The JSON in a body: of each event, of each line, or all of it. */
const documentsIn = (body: string): ReadonlyArray<unknown> => {
  try {
    return [JSON.parse(body)]
  } catch {
    return body.split(/\r?\n/).flatMap((line) => {
      const text = line.replace(/^data: ?/, "")
      return text.startsWith("{") ? [JSON.parse(text)] : []
    })
  }
}

describe("failures", () => {
  const failures: ReadonlyArray<readonly [Wire.Failure, string, boolean]> = [
    [{ type: "rate-limited", retryAfter: "2 seconds" }, "RateLimitError", true],
    [{ type: "quota-exhausted" }, "QuotaExhaustedError", false],
    [{ type: "overloaded" }, "ModelOverloadedError", true],
    [{ type: "server-error" }, "ServerError", true],
    [{ type: "unauthorized", isKeyGiven: true }, "AuthenticationError", false],
    [{ type: "unauthorized", isKeyGiven: false }, "AuthenticationError", false],
    [{ type: "unknown-model", model: "m" }, "ModelNotFoundError", false],
    [{ type: "invalid-request", message: "no" }, "InvalidRequestError", false]
  ]
  it.effect.each(AnyWire.wires)("of $format are read as what they mean [T8]", (wire) =>
    Effect.sync(() => {
      for (const [failure, tag, isRetryable] of failures) {
        const { body, headers = {}, status = 200 } = wire.refuse(failure)
        assert(typeof body === "string")
        const source = { provider: "any", model: "m", secrets: [] }
        const error = formats[apis[wire.format]].classify(source, {
          status,
          headers,
          body,
          at: 0,
          elapsed: Duration.zero
        })
        assert.strictEqual(error._tag, tag)
        assert.strictEqual(error.isRetryable, isRetryable)
      }
    })
  )
})
