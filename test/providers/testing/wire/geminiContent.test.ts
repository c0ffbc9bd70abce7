/** Gemini's content API, from the server's side: what it reads of a request, and what it writes. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { AnyWire } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import { signatureOf } from "../../../../packages/providers/src/testing/wire/parts.ts"
import type * as Wire from "../../../../packages/providers/src/testing/wire/wire.ts"
import { received, served, textOf } from "./_support/served.ts"

const at = (model: string, method = "generateContent") => `/v1beta/models/${model}:${method}`

const sent = (body: object, path = at("m")) => received(path, body, { "x-goog-api-key": "k" })

const hello = { role: "user", parts: [{ text: "hello" }] }
const schema = { type: "object" }

describe("a request", () => {
  it.effect("may have labels, and instructions without a text", () =>
    Effect.gen(function* () {
      const body = { systemInstruction: { parts: [{}] }, contents: [hello], labels: { team: "a" } }
      const { asked } = yield* served(sent(body))
      assert.deepStrictEqual(asked?.messages[0], Message.system(""))
    })
  )

  it.effect("is read with its texts, files, thoughts, calls, responses and tools", () =>
    Effect.gen(function* () {
      const thoughtSignature = signatureOf("f")
      const response = (response: object, id?: string) => ({
        functionResponse: { name: "f", response, ...(id === undefined ? {} : { id }) }
      })
      const body = {
        systemInstruction: { parts: [{ text: "Be brief." }, { text: "In French." }] },
        contents: [
          {
            role: "user",
            parts: [
              { text: "see" },
              { inlineData: { mimeType: "image/png", data: "AQID" } },
              { inlineData: { mimeType: "application/pdf", data: "AQID" } },
              { fileData: { mimeType: "audio/mpeg", fileUri: "https://a.test/a" } },
              { fileData: { fileUri: "https://a.test/b" } },
              {}
            ]
          },
          {
            role: "model",
            parts: [
              { text: "hm", thought: true },
              { text: "I look" },
              { executableCode: {} },
              { codeExecutionResult: {} },
              { thoughtSignature: "s" },
              { functionCall: { name: "f", args: { n: 1 } }, thoughtSignature },
              { functionCall: { id: "x1", name: "g" } }
            ]
          },
          { parts: [response({ output: "x" }), response({ error: { a: 1 } }, "x1"), { text: "and?" }] },
          {
            role: "model",
            parts: [{ functionCall: { name: "f" }, thoughtSignature }, { functionCall: { name: "f" } }]
          },
          { role: "user", parts: [response({ a: 1 }), response({ error: "no" })] }
        ],
        tools: [
          {
            functionDeclarations: [
              { name: "f", description: "F.", parametersJsonSchema: schema },
              { name: "g", parameters: { type: "OBJECT" } },
              { name: "h" }
            ]
          },
          { googleSearch: {} }
        ],
        toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["f"] } }
      }
      const { asked } = yield* served(sent(body, `${at("m", "streamGenerateContent")}?alt=sse`))
      const item = (kind: string) => ({ type: "provider-item", kind, opaque: { provider: "gemini", data: null } })
      const call = (id: string, name: string, args: object | null = null) => ({
        type: "tool-call",
        id,
        name,
        arguments: args
      })
      const result = (callId: string, text: string, isError = false) => ({ role: "tool", callId, text, isError })
      assert.deepStrictEqual<unknown>(asked, {
        format: "gemini-content",
        model: "m",
        messages: [
          Message.system("Be brief.\nIn French."),
          Message.user([
            Message.text("see"),
            Message.image("image/png", { data: "AQID" }),
            Message.file("application/pdf", { data: "AQID" }),
            Message.file("audio/mpeg", { url: "https://a.test/a" }),
            Message.file("application/octet-stream", { url: "https://a.test/b" })
          ]),
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "hm" },
              Message.text("I look"),
              item("executableCode"),
              item("codeExecutionResult"),
              call("call_1", "f", { n: 1 }),
              call("x1", "g")
            ]
          },
          result("call_1", "x"),
          result("x1", '{"a":1}', true),
          Message.user([Message.text("and?")]),
          { role: "assistant", content: [call("call_2", "f"), call("call_3", "f")] },
          result("call_2", '{"a":1}'),
          result("call_3", "no", true)
        ],
        tools: [
          { name: "f", description: "F.", parameters: schema },
          { name: "g", description: "", parameters: { type: "OBJECT" } },
          { name: "h", description: "", parameters: {} }
        ],
        toolChoice: { tool: "f" },
        isStreamed: true
      })
    })
  )

  it.effect("may have one message alone, and any choice among its tools", () =>
    Effect.gen(function* () {
      const { asked } = yield* served(sent({ contents: [hello] }))
      assert.deepStrictEqual<unknown>(asked, {
        format: "gemini-content",
        model: "m",
        messages: [Message.user("hello")],
        tools: [],
        toolChoice: "auto",
        isStreamed: false
      })
      for (const [functionCallingConfig, expected] of [
        [{ mode: "NONE" }, "none"],
        [{ mode: "AUTO", allowedFunctionNames: ["f"] }, "auto"],
        [{ mode: "ANY" }, "required"],
        [{ mode: "ANY", allowedFunctionNames: ["f", "g"] }, "required"]
      ] as const) {
        const { asked } = yield* served(sent({ contents: [hello], toolConfig: { functionCallingConfig } }))
        assert.strictEqual(asked?.toolChoice, expected)
      }
    })
  )

  it.effect("is refused with a field of another form, and may waive the signature of a call", () =>
    Effect.gen(function* () {
      const parts = [
        { fileData: { mimeType: "image/png" } },
        { inlineData: { mimeType: "image/png" } },
        { functionCall: {} },
        { functionResponse: { name: "f" } }
      ]
      for (const body of [
        ...parts.map((part) => ({ contents: [{ parts: [part] }] })),
        { contents: [hello], toolConfig: { functionCallingConfig: { mode: 5 } } },
        { contents: [hello], toolConfig: { functionCallingConfig: { allowedFunctionNames: "f" } } },
        { contents: [hello], tools: [{ functionDeclarations: [{}] }] }
      ]) {
        const { answer, asked } = yield* served(sent(body))
        assert.deepStrictEqual([answer.status, asked], [400, undefined])
      }
      for (const thoughtSignature of ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"]) {
        const call = { functionCall: { name: "f" }, thoughtSignature }
        const response = { functionResponse: { name: "f", response: {} } }
        const contents = [hello, { role: "model", parts: [call] }, { parts: [response] }]
        assert.isDefined((yield* served(sent({ contents }))).asked)
      }
    })
  )

  it.effect("for the number of tokens is counted as it is, or as the request in it", () =>
    Effect.gen(function* () {
      const tokens = { tokens: ({ messages }: Wire.BrainRequest) => messages.length }
      const counted = (body: object) =>
        Effect.map(served(sent(body, at("m", "countTokens")), undefined, tokens), ({ answer }) =>
          JSON.parse(textOf(answer))
        )
      assert.deepStrictEqual(yield* counted({ contents: [hello, hello] }), { totalTokens: 2 })
      const generateContentRequest = { model: "models/m", contents: [hello, hello, hello] }
      assert.deepStrictEqual(yield* counted({ generateContentRequest }), { totalTokens: 3 })
    })
  )
})

const usage = Usage.make({ inputTokens: 30, outputTokens: 9, cachedInputTokens: 5, reasoningTokens: 2 })
const reply: Wire.BrainReply = {
  content: [
    { type: "reasoning", text: "Let me see" },
    Message.text("so"),
    { type: "tool-call", id: "c1", name: "f", arguments: { a: 1 } },
    { type: "tool-call", id: "c2", name: "g", arguments: null }
  ],
  usage
}
const usageMetadata = {
  promptTokenCount: 30,
  candidatesTokenCount: 7,
  totalTokenCount: 39,
  cachedContentTokenCount: 5,
  thoughtsTokenCount: 2
}
const calls = [
  { functionCall: { id: "c1", name: "f", args: { a: 1 } }, thoughtSignature: signatureOf("f") },
  { functionCall: { id: "c2", name: "g", args: {} } }
]

describe("a reply", () => {
  it.effect("is one candidate, with ids and a signature for newer models", () =>
    Effect.gen(function* () {
      const of = (model: string, answered: Wire.BrainReply) =>
        Effect.map(served(sent({ contents: [hello] }, at(model)), answered), ({ answer }) => JSON.parse(textOf(answer)))
      const parts = [{ text: "Let me see", thought: true }, { text: "so" }, ...calls]
      const tail = { modelVersion: "m", responseId: "response_7" }
      assert.deepStrictEqual(yield* of("m", reply), {
        candidates: [{ content: { parts, role: "model" }, finishReason: "STOP", index: 0 }],
        usageMetadata,
        ...tail
      })
      const older = yield* of("gemini-2.5-pro", reply)
      assert.deepStrictEqual(older.candidates[0].content.parts.slice(2), [
        { functionCall: { name: "f", args: { a: 1 } } },
        { functionCall: { name: "g", args: {} } }
      ])
      const bare = yield* of("m", { content: [Message.text("so")] })
      assert.deepStrictEqual(bare.usageMetadata, { promptTokenCount: 0, candidatesTokenCount: 0, totalTokenCount: 0 })
    })
  )

  it.effect("is a stream of chunks, the last one with its end", () =>
    Effect.gen(function* () {
      const path = `${at("m", "streamGenerateContent")}?alt=sse`
      const { answer } = yield* served(sent({ contents: [hello] }, path), reply)
      const pieces = [{ text: "Let me", thought: true }, { text: " see", thought: true }, { text: "so" }, ...calls]
      const chunks = pieces.map((piece, index) => ({
        candidates: [
          { content: { parts: [piece], role: "model" }, ...(index === 4 ? { finishReason: "STOP" } : {}), index: 0 }
        ],
        usageMetadata: index === 4 ? usageMetadata : { promptTokenCount: 30, totalTokenCount: 30 },
        modelVersion: "m",
        responseId: "response_7"
      }))
      assert.strictEqual(textOf(answer), chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(""))
    })
  )

  it.effect("has its end in the words of Gemini, and a filter takes its content away", () =>
    Effect.gen(function* () {
      const reasons = {
        stop: "STOP",
        "tool-calls": "STOP",
        paused: "STOP",
        length: "MAX_TOKENS",
        filtered: "SAFETY",
        other: "OTHER"
      }
      for (const [finish, finishReason] of Object.entries(reasons)) {
        // the keys of an object are known as texts alone
        const ending = { ...reply, finish: finish as keyof typeof reasons }
        const { answer } = yield* served(sent({ contents: [hello] }), ending)
        const [candidate] = JSON.parse(textOf(answer)).candidates
        assert.strictEqual(candidate.finishReason, finishReason)
        if (finish === "filtered") assert.deepStrictEqual(candidate.content, {})
        else assert.lengthOf(candidate.content.parts, 4)
      }
    })
  )
})

describe("a failure", () => {
  const type = (name: string) => ({ "@type": `type.googleapis.com/google.rpc.${name}` })
  const exceeded = "You exceeded your current quota, please check your plan and billing details."
  const quota = (quotaId: string) => ({ ...type("QuotaFailure"), violations: [{ quotaId }] })
  const failures: ReadonlyArray<readonly [Wire.Failure, number, string, string, ReadonlyArray<object>?]> = [
    [{ type: "invalid-request", message: "no" }, 400, "INVALID_ARGUMENT", "no"],
    [
      { type: "unauthorized", isKeyGiven: true },
      400,
      "INVALID_ARGUMENT",
      "API key not valid. Please pass a valid API key.",
      [
        {
          ...type("ErrorInfo"),
          reason: "API_KEY_INVALID",
          domain: "googleapis.com",
          metadata: { service: "generativelanguage.googleapis.com" }
        }
      ]
    ],
    [
      { type: "unauthorized", isKeyGiven: false },
      403,
      "PERMISSION_DENIED",
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."
    ],
    [
      { type: "unknown-model", model: "x" },
      404,
      "NOT_FOUND",
      "models/x is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods."
    ],
    [
      { type: "rate-limited", retryAfter: "2500 millis" },
      429,
      "RESOURCE_EXHAUSTED",
      `${exceeded} Please retry in 2.5s.`,
      [quota("GenerateRequestsPerMinutePerProjectPerModel"), { ...type("RetryInfo"), retryDelay: "2s" }]
    ],
    [
      { type: "quota-exhausted" },
      429,
      "RESOURCE_EXHAUSTED",
      exceeded,
      [quota("GenerateRequestsPerDayPerProjectPerModel")]
    ],
    [{ type: "overloaded" }, 503, "UNAVAILABLE", "The model is overloaded. Please try again later."],
    [{ type: "server-error" }, 500, "INTERNAL", "An internal error has occurred. Please retry."]
  ]

  it.effect("has its status, its words and its details, and is the last chunk of a stream", () =>
    Effect.gen(function* () {
      const asked = sent({ contents: [hello] })
      const stream = { headers: { "content-type": "text/event-stream" }, body: "data: a\r\n\r\ndata: b\r\n\r\n" }
      for (const [failure, code, status, message, details] of failures) {
        const answer = yield* AnyWire.failing(failure)(Effect.die(new Error("no brain is asked")), asked)
        const error = { code, message, status, ...(details === undefined ? {} : { details }) }
        assert.strictEqual(answer.status, code)
        assert.deepStrictEqual(JSON.parse(textOf(answer)), { error })
        const broken = yield* AnyWire.breakingOff(failure, 1)(Effect.succeed(stream), asked)
        assert.strictEqual(textOf(broken), `data: a\r\n\r\ndata: ${JSON.stringify({ error })}\r\n\r\n`)
        const whole = yield* AnyWire.breakingOff(failure, 1)(Effect.succeed({ body: "{}" }), asked)
        assert.deepStrictEqual(JSON.parse(textOf(whole)), { error })
      }
    })
  )

  it.effect("is none for a path of no format", () =>
    Effect.gen(function* () {
      const good = { status: 201, body: "good" }
      const elsewhere = sent({ contents: [hello] }, "/v1/embeddings")
      for (const fault of [AnyWire.failing({ type: "overloaded" }), AnyWire.breakingOff({ type: "overloaded" }, 0)]) {
        assert.deepStrictEqual(yield* fault(Effect.succeed(good), elsewhere), good)
      }
      assert.deepStrictEqual((yield* served(elsewhere)).answer, {
        status: 404,
        headers: { "content-type": "text/plain" },
        body: "404 page not found"
      })
    })
  )
})
