/**
 * Detects whether the server has cut a prompt that is longer than its context.
 *
 * The server does not report a cut. It reports in `prompt_eval_count` how many tokens of the prompt are left; the first versions of 0.30
 * count only those of them that were not cached (github.com/ollama/ollama, pull request 16428). A cut prompt fills the whole context, or
 * with servers since 2026 half of it and 2 tokens (issues 17427 and 17889, and measurements in public repositories), or less if the server
 * drops whole messages. All of this was looked up on 2026-11-26, and is not recorded here. So the count is compared with the context size,
 * and with the size of the prompt. A prompt that must have been cut is an error; a prompt that may have been cut adds a remark to the
 * reply.
 *
 * A prompt of exactly `num_ctx` tokens is not cut: `runner/llamarunner/runner.go` of Ollama cuts only longer prompts, and issue 17427 says
 * so. But a longer prompt is cut to exactly `num_ctx` tokens, so both have the same count. Neither leaves room for a reply, so both are an
 * error.
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

/** The parts of a request that decide whether its prompt was cut. */
export interface Asked {
  /** The context size that the request states, in tokens. */
  readonly numCtx: number | undefined
  /** The context size of the model by the capabilities of the layer, in tokens. */
  readonly contextWindow: number | undefined
  /** Whether the request allows the server to cut the prompt. */
  readonly truncate: boolean
  readonly request: Model.Request | undefined
}

/**
 * Checks whether the server cut the prompt. If it did so without permission, the result is an error. If the server may cut the prompt, or
 * only seems to have cut it, the result is an item that says so. Otherwise there is no item.
 */
export const contextCut = (
  { model, provider }: Source,
  { contextWindow, numCtx, request, truncate }: Asked,
  usage: Usage.Usage
): Result.Result<ReadonlyArray<Message.ProviderItem>, LlmError> => {
  const { inputTokens } = usage
  // a count that is invalid or zero says nothing about the prompt
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
  // without a size in the request, the server uses its own, by default a power of two
  const own = 2 ** Math.round(Math.log2(inputTokens) + 1)
  const sizes = [size ?? 0, numCtx === undefined && own >= leastOwn ? own : 0]
  const seems = prompt.bytes / usualBytes + prompt.images * tokensOfImage
  const least = (numCtx ?? leastOwn) / 2
  const isSuspect =
    (sizes.includes((inputTokens - 2) * 2) && seems > inputTokens) ||
    // a cut leaves at least half of the context; a smaller count means that cached tokens were not counted
    (inputTokens >= least && prompt.chars > inputTokens * mostChars)
  return isSuspect ? remark({ prompt_bytes: prompt.bytes, suspected: true }) : Result.succeed([])
}

/** How many tokens the count may differ from half of the context, if the prompt is much too long for the context. */
const nearHalf = 8

/** The most bytes that a token has, on average over a text, in most languages. A prompt that was cut in half has twice the usual number. */
const mostBytes = 8

/** The average bytes of a token of common English. */
const usualBytes = 4.5

/** The most characters that a token has, on average over a text, in any language. */
const mostChars = 7

/** The smallest default context size that a version of the server has had, in tokens. */
const leastOwn = 2048

/** The tokens that the server counts for an image when it chooses messages (`imageNumTokens` of its `server/prompt.go`). */
const tokensOfImage = 768

/** The size of the texts of a prompt, and the number of its images. A run of one repeated character counts as one character. */
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
  // counts a run of spaces or dashes as one character, because it is one token
  const text = texts.join("").replace(/(.)\1+/gsu, "$1")
  return { bytes: new TextEncoder().encode(text).length, chars: text.length, images: 0 }
}

/** The text of a value. A value that is nested too deeply for JSON was not sent, so its text is empty. */
const textOf = (value: Schema.Json): string =>
  Predicate.isString(value)
    ? value
    : Result.getOrElse(
        Result.try(() => JSON.stringify(value)),
        () => ""
      )
