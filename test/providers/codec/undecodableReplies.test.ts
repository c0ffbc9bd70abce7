/** The error of an undecodable reply says why it is none. */
import { assert, it } from "@effect/vitest"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import type * as Provider from "@kintsugi/providers/Provider"
import { Result } from "effect"
import { answerOf } from "../../_support/codec.ts"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const codecs = {
  openAiChat: OpenAiChat.make(source),
  openAiResponses: OpenAiResponses.make(source),
  anthropicMessages: AnthropicMessages.make(source),
  geminiContent: GeminiContent.make(source),
  ollamaChat: OllamaChat.make(source)
}

const saidOf = (result: Result.Result<unknown, { readonly message: string }>): string | undefined =>
  Result.isFailure(result)
    ? /could not be read \(p, status 200\): (.*)\. Send it again/.exec(result.failure.message)?.[1]
    : undefined

/** Of a body, and of a stream that ends after these events. */
const whole = (codec: Provider.Codec, body: string) => saidOf(codec.decode(answerOf(body)))

const streamed = (codec: Provider.Codec, ...events: ReadonlyArray<string>) => {
  const decoder = codec.decoder(answerOf(""))
  for (const event of events) {
    const parts = decoder.push(event)
    if (Result.isFailure(parts)) return saidOf(parts)
  }
  return saidOf(decoder.end())
}

it.each(Object.entries(codecs))("%s reports text that is not JSON, and where", (_name, codec) => {
  for (const read of [whole, streamed]) {
    assert.strictEqual(read(codec, '{"a":1,}'), "it is not JSON at position 7")
    assert.strictEqual(read(codec, "<html>"), "it is not JSON")
  }
})

it("the error of a JSON body that is no reply has what it lacks [T8]", () => {
  for (const body of ["null", "5", '"x"', "{}", "[]"]) {
    assert.strictEqual(whole(codecs.openAiChat, body), "the body holds no message")
    assert.strictEqual(whole(codecs.anthropicMessages, body), "the body holds no message")
  }
  for (const body of ["null", "5", '"x"', "[5]"]) {
    assert.strictEqual(whole(codecs.geminiContent, body), "a chunk is not an object")
  }
  for (const body of ["{}", "[]", '{"candidates":[{}]}']) {
    assert.strictEqual(whole(codecs.geminiContent, body), "the answer holds no content")
  }
  for (const body of ["null", "5", "[]"]) assert.strictEqual(whole(codecs.ollamaChat, body), "a line is not an object")
  assert.strictEqual(
    whole(codecs.ollamaChat, '{"message":{"content":"a"},"done":false}'),
    "the body is not a finished reply"
  )
})

it("the error names an event that is not an object, and a stream that ends before a reply [T8]", () => {
  for (const event of ["null", "5", '"x"']) {
    assert.strictEqual(streamed(codecs.openAiChat, event), "an event is not an object")
    assert.strictEqual(streamed(codecs.openAiResponses, event), "an event is not an object")
    assert.strictEqual(streamed(codecs.anthropicMessages, event), "an event is not an object")
    assert.strictEqual(streamed(codecs.geminiContent, event), "a chunk is not an object")
    assert.strictEqual(streamed(codecs.ollamaChat, event), "a line is not an object")
  }
  assert.strictEqual(streamed(codecs.openAiChat), "the stream holds no reply")
  assert.strictEqual(streamed(codecs.openAiResponses), "the stream holds no reply")
  assert.strictEqual(streamed(codecs.anthropicMessages), "the stream holds no reply")
  assert.strictEqual(streamed(codecs.geminiContent), "the answer holds no content")
})

it("arguments of a call that never began are no reply of Anthropic [T8]", () => {
  const delta = { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{" } }
  assert.strictEqual(streamed(codecs.anthropicMessages, JSON.stringify(delta)), "arguments of a call that never began")
})

it("the error has the beginning of the body and the address of its server, where there are any [T8]", () => {
  const { openAiChat } = codecs
  const failed = (body: string, url?: string) => {
    const result = openAiChat.decode({ ...answerOf(body), ...(url === undefined ? {} : { url }) })
    return Result.isFailure(result) ? result.failure : assert.fail("it was read")
  }
  const long = `{"a":1${',"a":1'.repeat(5)},}`
  assert.deepInclude(failed(long), { detail: long })
  assert.include(failed(long).message, "The reply of model 'm' could not be read")
  assert.include(failed(long).message, "it is not JSON at position 37")
  assert.include(failed(long, "https://a.test/v1").message, "The reply of model 'm' from https://a.test/v1 could not")
  assert.notProperty(failed("", "https://a.test/v1"), "detail")
  // JSON that is no reply comes from the right server
  assert.include(failed("{}", "https://a.test/v1").message, "The reply of model 'm' could not be read")
})
