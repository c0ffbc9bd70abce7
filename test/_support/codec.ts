/** What a codec makes of bodies and events, without any network. */
import { assert } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import type * as Answer from "../../packages/providers/src/transport/Answer.ts"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration, Result, type Schema } from "effect"
import * as fc from "fast-check"

export type Read = Result.Result<Message.Reply | undefined, LlmError.LlmError>

export const answerOf = (body: string): Answer.Answer => ({
  status: 200,
  headers: {},
  body,
  at: 0,
  elapsed: Duration.zero
})

/** What a decoder gave is parts, and no piece of a text is empty. */
export const take = (collector: Model.Collector, parts: ReadonlyArray<Model.Part>): void => {
  for (const part of parts) {
    assert.isString(part.type, `${JSON.stringify(part)} is no part`)
    if (part.type === "text-delta") assert.notStrictEqual(part.text, "")
    collector.push(part)
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

export const whole = (codec: Provider.Codec, body: unknown) => codec.decode(answerOf(textOf(body)))

/** The reply that the events of a stream fold to; `undefined` where the stream was cut off before its end. */
export const streamed = (codec: Provider.Codec, events: ReadonlyArray<unknown>): Read => {
  const decoder = codec.decoder(answerOf(""))
  const collector = new Model.Collector()
  for (const event of events) {
    if (decoder.state() === "done") break
    const parts = decoder.push(textOf(event))
    if (Result.isFailure(parts)) return Result.fail(parts.failure)
    take(collector, parts.success)
  }
  if (decoder.state() === "open") return Result.succeed(undefined)
  const last = decoder.state() === "done" ? Result.succeed([]) : decoder.end()
  if (Result.isFailure(last)) return Result.fail(last.failure)
  take(collector, last.success)
  return Result.succeed(collector.reply())
}

export const ok = (result: Read): Message.Reply => {
  assert(Result.isSuccess(result), Result.isFailure(result) ? result.failure.message : "")
  assert(result.success !== undefined, "the stream was cut off")
  return result.success
}

export const failed = <E extends LlmError.LlmError>(
  result: Result.Result<unknown, LlmError.LlmError>,
  type: new (...args: Array<never>) => E
): E => {
  assert(Result.isFailure(result))
  assert(result.failure instanceof type, `${result.failure._tag}: ${result.failure.message}`)
  return result.failure
}

/** A reply of the right shape, one typed error, or a stream that was cut off. */
export const isTotal = (result: Read, isReply: (value: unknown) => boolean): void => {
  if (Result.isFailure(result)) assert.isTrue(LlmError.isLlmError(result.failure))
  else if (result.success !== undefined) assert.isTrue(isReply(result.success))
}

/** JSON that is almost what a format sends: its names where they do not belong, with values of any type. */
export const nearMiss = (names: ReadonlyArray<string>, words: ReadonlyArray<Schema.Json>): fc.Arbitrary<Schema.Json> =>
  fc.letrec<{ json: Schema.Json }>((tie) => ({
    json: fc.oneof(
      { maxDepth: 6, depthIdentifier: "json" },
      fc.constantFrom<Schema.Json>(null, "", 0, -1, 4.5, 1e300, true, false, ...words),
      fc.string(),
      fc.dictionary(fc.constantFrom(...names, "__proto__", "constructor"), tie("json"), { maxKeys: 5 }),
      fc.array(tie("json"), { maxLength: 3 })
    )
  })).json

export const anyText = (json: fc.Arbitrary<Schema.Json>): fc.Arbitrary<string> =>
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 300 }),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => new TextDecoder().decode(bytes)),
    json.map((value) => JSON.stringify(value)),
    json.map((value) => JSON.stringify(value).slice(0, -3)),
    fc.constantFrom("", " ", "<html>", "null", "[]", "{}", "[{}]", "[[]]", '{"error":null}', "[DONE]")
  )
