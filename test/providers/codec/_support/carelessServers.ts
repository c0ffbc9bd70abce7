/** Faults of careless servers, each as a table of bodies and their results. */
import { assert, it } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import { Effect, Layer, Redacted } from "effect"
import { collect, generate, models } from "../../_support/replay.ts"
import { body as streamOf, event, fakeNetwork, respond, respondWith } from "../../../_support/network.ts"

/** An answer of some provider, and what it is read as: the gist of a reply, or the tag of an error. */
interface Case {
  readonly of: string
  /** Of a whole request; of a streamed one otherwise. */
  readonly isWhole?: boolean
  readonly body: unknown
  readonly reads: unknown
}

export const chat = "openai/openai-chat"

export const modelOf = (of: string) => {
  const model = models[of]
  assert(model !== undefined, of)
  return model("https://p.test", Redacted.make("k"))
}

const ask = ({ body, isWhole, of }: Case, size?: number): Effect.Effect<Message.Reply, LlmError.LlmError> => {
  const whole = typeof body === "string" ? body : JSON.stringify(body)
  const pieces = () =>
    Array.from({ length: Math.ceil(whole.length / (size ?? 1)) }, (_, at) => pieceOf(whole, at, size))
  const answer = size === undefined ? respond(200, whole) : respondWith(200, () => streamOf(pieces()))
  const layer = Layer.provide(modelOf(of), fakeNetwork([answer]).layer)
  return Effect.provide(isWhole === true ? generate : collect, layer)
}

const pieceOf = (text: string, at: number, size = 1) => text.slice(at * size, (at + 1) * size)

/** The texts and calls of a reply, then how it ended, then how many tokens went in and out, if any. */
const gist = ({ content, finish, usage: { inputTokens, outputTokens } }: Message.Reply): ReadonlyArray<unknown> => [
  ...content.flatMap((part): ReadonlyArray<unknown> => {
    if (part.type === "text") return [part.text]
    return part.type === "tool-call" ? [[part.id, part.name, part.arguments]] : []
  }),
  finish,
  ...(inputTokens + outputTokens === 0 ? [] : [`${inputTokens}/${outputTokens}`])
]

/** The tag and the words of an error, then how many tokens went in and out, if any. */
const errorFields = (error: LlmError.LlmError): ReadonlyArray<unknown> => [
  error._tag,
  ...(error.detail === undefined ? [] : [error.detail]),
  ...(error.usage === undefined ? [] : [`${error.usage.inputTokens}/${error.usage.outputTokens}`])
]

/** A test for each answer of a table. */
export const reads = (title: string, cases: Readonly<Record<string, Case>>) => {
  for (const [name, each] of Object.entries(cases)) {
    it.effect(`${title}: ${name}`, () =>
      Effect.gen(function* () {
        const isLong = JSON.stringify(each.body).length > 10_000
        for (const size of [undefined, isLong ? 997 : 1]) {
          const read = yield* Effect.match(ask(each, size), { onFailure: errorFields, onSuccess: gist })
          assert.deepStrictEqual(read, each.reads)
        }
      })
    )
  }
}

export const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
  event({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }], ...more })

export const completion = (message: object, finish_reason = "stop", more: object = {}) => ({
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason }],
  ...more
})

export const fn = (args: unknown, name = "w") => ({ name, arguments: args })

export const compact = (body: unknown) => JSON.stringify(body)

export const pretty = (body: unknown) => JSON.stringify(body, null, 2)

export const gemini = "gemini/gemini"

export const anthropic = "anthropic/anthropic"

export const responses = "openai/openai-responses"

export const ollama = "ollama/ollama"

export const candidate = (text: string, finishReason?: string) => ({
  candidates: [{ content: { parts: [{ text }] }, ...(finishReason === undefined ? {} : { finishReason }) }]
})

export const long = "x".repeat(20_000)

export const boom = { error: { message: "boom", type: "server_error", code: 500 } }

export const said = chunk({ content: "he" })

export const usage = { prompt_tokens: 5, completion_tokens: 6 }
