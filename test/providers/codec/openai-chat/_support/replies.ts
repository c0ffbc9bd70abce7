/** Replies as chat completions, whole and event by event, and how they are read. */
import { assert } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import type * as Answer from "../../../../../packages/providers/src/transport/Answer.ts"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import type * as Provider from "@kintsugi/providers/Provider"
import { Duration, Result } from "effect"
import { take } from "../../../../_support/codec.ts"

export const source: Provider.Source = { provider: "openai", model: "gpt-x", secrets: [] }
export const codec = OpenAiChat.make(source)

export const answer = (body: string): Answer.Answer => ({
  status: 200,
  headers: {},
  body,
  at: 0,
  elapsed: Duration.zero
})

export const decode = (body: unknown) => codec.decode(answer(typeof body === "string" ? body : JSON.stringify(body)))

/** The reply that the events of a stream fold to. */
export const decodeStream = (
  events: ReadonlyArray<unknown>
): Result.Result<Message.Reply | undefined, LlmError.LlmError> => {
  const decoder = codec.decoder(answer(""))
  const collector = new Model.Collector()
  const data = events.map((event) => (typeof event === "string" ? event : JSON.stringify(event)))
  const steps = [...data.map((text) => () => decoder.push(text)), () => decoder.end()]
  for (const step of steps) {
    if (decoder.state() === "done") break
    const parts = step()
    if (Result.isFailure(parts)) return Result.fail(parts.failure)
    take(collector, parts.success)
  }
  return Result.succeed(collector.reply())
}

export const whole = (message: object, fields: object = { finish_reason: "stop" }, top: object = {}) =>
  decode({ model: "m-1", choices: [{ index: 0, message: { role: "assistant", ...message }, ...fields }], ...top })

export const chunk = (delta: object, finish: string | null = null) => ({
  model: "m-1",
  choices: [{ index: 0, delta, finish_reason: finish }]
})

export const ok = (result: Result.Result<Message.Reply | undefined, LlmError.LlmError>): Message.Reply => {
  assert(Result.isSuccess(result), Result.isFailure(result) ? result.failure.message : "")
  assert(result.success !== undefined)
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

export const wireCall = (id: string, name: string, args: unknown) => ({
  id,
  type: "function",
  function: { name, arguments: args }
})
