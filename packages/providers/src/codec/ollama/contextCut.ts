/**
 * Whether the server has cut a prompt that is longer than its context.
 *
 * It does not say so. It counts what is left as `prompt_eval_count`; the first servers 0.30 count of that only what they had not cached
 * (github.com/ollama/ollama, pull request 16428). What is left is all of the context; or since servers of 2026 half of it and 2 tokens (issues 17427 and 17889, and measurements in public
 * repositories); or less, where whole messages are dropped. All looked up on 2026-11-26; not recorded here. So the count is compared with
 * the context, and with the size of the prompt: a prompt that must have been cut is an error, one that may have been is a remark.
 *
 * A prompt of exactly `num_ctx` is not cut: `runner/llamarunner/runner.go` of Ollama cuts what is longer, and issue 17427 says so. But it leaves
 * exactly `num_ctx` of what it cuts there, so the count is the same, and no room for a reply is left either: both are the error.
 */
import { ContextTooLongError, type LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Source } from "../../transport/Source.ts"
import { remembering } from "../Remembering.ts"

/** What was asked for. */
export interface Asked {
  /** The requested context size. */
  readonly numCtx: number | undefined
  /** The context size by the capabilities of the layer. */
  readonly contextWindow: number | undefined
  /** Whether the server may cut the prompt. */
  readonly truncate: boolean
  readonly request: Model.Request | undefined
}

/** What a reply to a cut prompt is: the error; or an item beside the reply, where the server may cut it or has perhaps done so. */
export const contextCut = (
  { model, provider }: Source,
  { contextWindow, numCtx, request, truncate }: Asked,
  usage: Usage.Usage
): Result.Result<ReadonlyArray<Message.ProviderItem>, LlmError> => {
  const { inputTokens } = usage
  // what is no count says nothing of the prompt
  if (!Usage.isSound(usage) || inputTokens === 0) return Result.succeed([])
  const size = numCtx ?? contextWindow
  const prompt = request === undefined ? nothing : sizeOf(request)
  const isFull = numCtx === undefined ? inputTokens === size : inputTokens >= numCtx
  const remark = (more: Schema.JsonObject): Result.Result<ReadonlyArray<Message.ProviderItem>> => {
    const data = { prompt_eval_count: inputTokens, ...(size === undefined ? {} : { num_ctx: size }), ...more }
    return Result.succeed([{ type: "provider-item", kind: "truncated_prompt", opaque: { provider, data } }])
  }
  const hasHalf = size !== undefined && Math.abs(inputTokens - size / 2) <= nearHalf
  if (size !== undefined && (isFull || (hasHalf && prompt.bytes > inputTokens * mostBytes))) {
    if (truncate) return remark({})
    const detail =
      `the server cut the prompt: it read ${inputTokens} tokens of it, and ` +
      `${numCtx === undefined ? "the context window" : "num_ctx"} is ${size}`
    return Result.fail(ContextTooLongError.make({ model, provider, status: 200, limit: size, detail, usage }))
  }
  // without a size in the request the server has its own, by default a power of two
  const own = 2 ** Math.round(Math.log2(inputTokens) + 1)
  const sizes = [size ?? 0, numCtx === undefined && own >= leastOwn ? own : 0]
  const seems = prompt.bytes / usualBytes + prompt.images * tokensOfImage
  const least = (numCtx ?? leastOwn) / 2
  const isSuspect =
    (sizes.includes((inputTokens - 2) * 2) && seems > inputTokens) ||
    // fewer are left by no cut, but by a cache whose tokens do not count
    (inputTokens >= least && prompt.chars > inputTokens * mostChars)
  return isSuspect ? remark({ prompt_bytes: prompt.bytes, suspected: true }) : Result.succeed([])
}

/** How far from the half of the context the count of a prompt may be that does not fit by far. */
const nearHalf = 8

/** Bytes of a token, on average at most, of texts in most languages. A prompt that was cut to its half has twice the usual number. */
const mostBytes = 8

/** Bytes of a token, on average, of common English. */
const usualBytes = 4.5

/** Characters of a token, on average at most, of texts in any language. */
const mostChars = 7

/** The smallest context that a server has had by default. */
const leastOwn = 2048

/** The tokens that the server itself takes for an image when it chooses messages (`imageNumTokens` of its `server/prompt.go`). */
const tokensOfImage = 768

/** The size of the texts of a prompt, each row of the same character counted once, and how many images it has. */
interface Size {
  readonly bytes: number
  readonly chars: number
  readonly images: number
}

const nothing: Size = { bytes: 0, chars: 0, images: 0 }

const sizeOf = ({ messages, toolChoice, tools }: Model.Request): Size =>
  [...messages.map(ofMessage), ...(toolChoice === "none" ? [] : tools.map(ofSpec))].reduce(
    (sum, { bytes, chars, images }) => ({
      bytes: sum.bytes + bytes,
      chars: sum.chars + chars,
      images: sum.images + images
    }),
    nothing
  )

const ofMessage = remembering((message: Message.Message): Size => {
  if (message.role === "system") return ofTexts([message.text])
  const texts: Array<string> = []
  let images = 0
  for (const part of message.content) {
    if (part.type === "text") texts.push(part.text)
    if (part.type === "image") images++
    if (part.type === "settled-call") texts.push(textOf(part.call.arguments), part.settlement.text)
  }
  return { ...ofTexts(texts), images }
})

const ofSpec = remembering(({ description, name, parameters }: Message.ToolSpec): Size =>
  ofTexts([name, description, textOf(parameters)])
)

const ofTexts = (texts: ReadonlyArray<string>): Size => {
  // a row of spaces or of dashes is one token
  const text = texts.join("").replace(/(.)\1+/gsu, "$1")
  return { bytes: new TextEncoder().encode(text).length, chars: text.length, images: 0 }
}

/** A value that is nested too deeply to be written down was not sent. */
const textOf = (value: Schema.Json): string =>
  Predicate.isString(value)
    ? value
    : Result.getOrElse(
        Result.try(() => JSON.stringify(value)),
        () => ""
      )
