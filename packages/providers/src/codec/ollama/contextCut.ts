/**
 * Whether the server has cut a prompt that is longer than its context.
 *
 * It does not say so. It counts what is left as `prompt_eval_count`: all of `num_ctx`, or since servers of 2026 about
 * half of it (`num_ctx / 2 + 2`: github.com/ollama/ollama issues 17427 and 17889, and measurements in public
 * repositories, looked up on 2026-11-26; not recorded here). So a count near the half is compared with the bytes of the
 * prompt. Without `num_ctx` in the request nothing can be compared.
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
  /** Whether the server may cut the prompt. */
  readonly truncate: boolean
  readonly request: Model.Request | undefined
}

/** What a reply to a cut prompt is: the error, or where the server may cut it an item beside the reply. */
export const contextCut = (
  { model, provider }: Source,
  { numCtx, request, truncate }: Asked,
  usage: Usage.Usage
): Result.Result<ReadonlyArray<Message.ProviderItem>, LlmError> => {
  const { inputTokens } = usage
  // what is no count says nothing of the prompt
  if (numCtx === undefined || !Usage.isSound(usage) || !isCut(numCtx, inputTokens, request)) return Result.succeed([])
  if (truncate) {
    const data = { prompt_eval_count: inputTokens, num_ctx: numCtx }
    return Result.succeed([{ type: "provider-item", kind: "truncated_prompt", opaque: { provider, data } }])
  }
  const detail = `the server cut the prompt: it read ${inputTokens} tokens of it, and num_ctx is ${numCtx}`
  return Result.fail(ContextTooLongError.make({ model, provider, status: 200, limit: numCtx, detail, usage }))
}

const isCut = (numCtx: number, inputTokens: number, request: Model.Request | undefined): boolean =>
  inputTokens >= numCtx ||
  (request !== undefined && Math.abs(inputTokens - numCtx / 2) <= nearHalf && bytesIn(request) > numCtx * leastBytes)

/** How far from the half of the context a count may be. */
const nearHalf = 8

/** Bytes of a token, on average at least, of texts in any language. Twice as many, as for a false alarm, occur nowhere. */
const leastBytes = 3

/** The bytes of the texts of a prompt, without pictures. */
const bytesIn = ({ messages, tools }: Model.Request): number =>
  messages.reduce((sum, message) => sum + bytesOf(message), 0) + tools.reduce((sum, tool) => sum + bytesOfSpec(tool), 0)

const bytesOf = remembering((message: Message.Message): number => {
  if (message.role === "system") return utf8(message.text)
  let sum = 0
  for (const part of message.content) {
    if (part.type === "text") sum += utf8(part.text)
    if (part.type === "settled-call") sum += utf8(textOf(part.call.arguments)) + utf8(part.settlement.text)
  }
  return sum
})

const bytesOfSpec = remembering(
  ({ description, name, parameters }: Message.ToolSpec): number =>
    utf8(name) + utf8(description) + utf8(textOf(parameters))
)

/** A value that is nested too deeply to be written down was not sent. */
const textOf = (value: Schema.Json): string =>
  Predicate.isString(value)
    ? value
    : Result.getOrElse(
        Result.try(() => JSON.stringify(value)),
        () => ""
      )

const utf8 = (text: string): number => new TextEncoder().encode(text).length
