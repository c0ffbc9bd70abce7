/** The messages of model failures: what happened, where, in whose words, and what helps. */
import { assert, describe, it } from "@effect/vitest"
import { LlmError } from "@kintsugi/core"
import * as Factories from "@kintsugi/core/Factories"
import { Duration, Struct } from "effect"
import { reads } from "../_support/messages.ts"

const of = { model: "m" } as const
const host = "h"
const response = { provider: "acme", status: 529, requestId: "r1" }
const { seconds } = Duration

describe("the message of", () => {
  it("ModelNotFoundError [T9 T10]", () =>
    reads("Check its name, where it was asked, and which models this key may use", [
      [LlmError.ModelNotFoundError.make(of), "Model 'm' was not found"],
      [
        LlmError.ModelNotFoundError.make({ ...of, ...response, detail: "no such model." }),
        "Model 'm' was not found (acme, status 529, request r1): no such model"
      ],
      [LlmError.ModelNotFoundError.make({ ...of, what: "It is gone", status: 404 }), "It is gone (model m, status 404)"]
    ]))

  it("AuthenticationError [T9 T10]", () =>
    reads("Check the key, and what it is allowed to do", [
      [LlmError.AuthenticationError.make({ ...of, provider: "acme" }), "Authentication failed for model 'm' (acme)"]
    ]))

  it("ContentFilteredError [T9 T10]", () =>
    reads("Change the input, or ask another model", [
      [LlmError.ContentFilteredError.make(of), "Model 'm' filtered the content"],
      [LlmError.ContentFilteredError.make({ ...of, kind: "filter" }), "Model 'm' filtered the content"],
      [
        LlmError.ContentFilteredError.make({ ...of, kind: "refusal", requestId: "r1" }),
        "Model 'm' refused to answer (request r1)"
      ]
    ]))

  it("EmptyReplyError [T9 T10]", () =>
    reads("Send it again, or ask another model", [
      [
        LlmError.EmptyReplyError.make({ ...of, finishReason: "stop" }),
        "Model 'm' gave an empty reply (finish reason stop)"
      ]
    ]))

  it("InvalidRequestError [T9 T10]", () =>
    reads("Correct the request: sent again, it fails again", [
      [
        LlmError.InvalidRequestError.make({ ...of, cause: new Error("no such field") }),
        "Model 'm' refused the request: no such field"
      ]
    ]))

  it("ModelOverloadedError [T9 T10]", () =>
    reads("Wait and send it again, or ask another model", [
      [LlmError.ModelOverloadedError.make(of), "Model 'm' is overloaded"]
    ]))

  it("ContextTooLongError [T9 T10]", () =>
    reads("Shorten the conversation, or ask a larger model", [
      [LlmError.ContextTooLongError.make(of), "The conversation is too long for model 'm'"],
      [
        LlmError.ContextTooLongError.make({ ...of, limit: 5 }),
        "The conversation is too long for model 'm', at most 5 are admitted"
      ],
      [
        LlmError.ContextTooLongError.make({ ...of, actual: 9 }),
        "The conversation is too long for model 'm', 9 tokens were sent"
      ],
      [
        LlmError.ContextTooLongError.make({ ...of, limit: 5, actual: 9 }),
        "The conversation is too long for model 'm', 9 tokens were sent, at most 5 are admitted"
      ],
      [
        LlmError.ContextTooLongError.make({ ...of, limit: NaN, actual: Infinity }),
        "The conversation is too long for model 'm'"
      ]
    ]))

  it("ServerError [T9 T10]", () =>
    reads("Wait and send it again, or ask another provider", [
      [LlmError.ServerError.make(of), "The server of model 'm' failed"]
    ]))

  it("MalformedToolCallError [T9 T10]", () =>
    reads("Tell the model what is wrong and ask again", [
      [
        LlmError.MalformedToolCallError.make({ ...of, tool: "look" }),
        "Model 'm' wrote a malformed call of tool 'look'"
      ],
      [LlmError.MalformedToolCallError.make({ ...of, tool: "" }), "Model 'm' wrote a malformed call"]
    ]))

  it("CapabilityMismatchError [T9 T10]", () => {
    const lacking = {
      streaming: "streaming",
      vision: "images",
      files: "files",
      structuredOutput: "structured output",
      tools: "tool calls",
      toolChoice: "this choice of tools",
      thinking: "thinking",
      chat: "chat",
      other: "what the request asks for"
    } as const
    reads(
      "Ask a model that can, or do without",
      Struct.keys(lacking).map((capability) => [
        LlmError.CapabilityMismatchError.make({ ...of, provider: "acme", capability }),
        `Model 'm' of acme does not support ${lacking[capability]}`
      ])
    )
  })

  it("UnknownLlmError [T9 T10]", () =>
    reads("Send it again; if that does not help, read the cause", [
      [
        LlmError.UnknownLlmError.make({ ...of, words: "said so", detail: "not this" }),
        "Model 'm' failed in an unknown way: said so"
      ]
    ]))

  it("RateLimitError [T9 T10]", () =>
    reads("Wait as long as the server asks, then send it again", [
      [LlmError.RateLimitError.make({ service: "api" }), "'api' limits the rate of requests"],
      [
        LlmError.RateLimitError.make({ service: "api", model: "m", retryAfter: seconds(7) }),
        "'api' limits the rate of requests, it asks to wait 7s (model m)"
      ],
      [
        Factories.apiRateLimit("https://h/a#b\nc", "3 seconds"),
        "'https://h/a' limits the rate of requests, it asks to wait 3s"
      ]
    ]))

  it("QuotaExhaustedError [T9 T10]", () =>
    reads("Add credit at the provider, or ask another one", [
      [LlmError.QuotaExhaustedError.make(of), "The quota for model 'm' is used up"]
    ]))

  it("NetworkError [T9 T10]", () =>
    reads("Check address and network, then send it again", [
      [LlmError.NetworkError.make({ host }), "The connection to h failed"],
      [LlmError.NetworkError.make({ host, port: 80 }), "The connection to h:80 failed"],
      [Factories.connectionRefused("h", 80), "Connection to h:80 was refused"],
      [Factories.dnsResolutionFailed("h", undefined), "The name 'h' could not be resolved"],
      [Factories.connectionTimeout("h", 80, "3 seconds"), "Connecting to h:80 took longer than 3s"]
    ]))

  it("RequestTimeoutError [T9 T10]", () =>
    reads("Send it again, or allow more time", [
      [
        LlmError.RequestTimeoutError.make({ operation: "the search", timeout: seconds(3) }),
        "'the search' did not answer within 3s"
      ],
      [Factories.llmTimeout("3 seconds"), "'the model call' did not answer within 3s"],
      [Factories.httpTimeout("https://h/a?key=b#c", "3 seconds"), "'https://h/a' did not answer within 3s"]
    ]))

  it("ReplyTooLargeError [T9 T10]", () =>
    reads("Ask for less, or raise the option that it names", [
      [
        LlmError.ReplyTooLargeError.make({ ...of, option: "maxReplyBytes" }),
        "The reply of model 'm' is larger than maxReplyBytes admits"
      ],
      [
        LlmError.ReplyTooLargeError.make({ ...of, option: "maxReplyBytes", limit: 5 }),
        "The reply of model 'm' is larger than maxReplyBytes admits, 5 bytes"
      ]
    ]))

  it("an error that was given whole stays so, without advice [T9 T10]", () => {
    assert.strictEqual(LlmError.ServerError.make({ ...of, message: "It is gone" }).message, "It is gone")
  })

  it("an error that its provider has explained, which keeps these words without secrets [T9 T10]", () => {
    const { make } = LlmError.ServerError
    for (const message of [undefined, "It is gone"]) {
      const given = { ...of, ...(message === undefined ? {} : { message }) }
      assert.strictEqual(make({ ...given, detail: "no disk" }).detail, "no disk")
      assert.notInclude(make({ ...given, detail: "token=abcdefgh1234" }).detail, "abcdefgh1234")
      for (const detail of ["", undefined])
        assert.notProperty(make({ ...given, ...(detail === undefined ? {} : { detail }) }), "detail")
    }
    assert.notInclude(make({ ...of, detail: "token=abcdefgh1234" }).message, "abcdefgh1234")
  })
})
