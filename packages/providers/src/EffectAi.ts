/**
 * `effect/ai` and this library, both ways: its models are models here, its toolkits tools with recovery, its failures ours; and the
 * other way round. All of `effect/ai` is unstable in Effect, and enters here only.
 */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as AiError from "effect/ai/AiError"
import * as FromError from "./internal/effectAiFromError.ts"
import * as ToError from "./internal/effectAiToError.ts"

export type { Failed } from "./internal/effectAiFromError.ts"
export type { At } from "./internal/effectAiToError.ts"

/**
 * The failure of a model as one of ours, with the original as its cause; total. It may be sent again exactly if that one may, after
 * the wait that that one asks for. What has no reason of its own there (an overload, a conversation that is too long, a model
 * that is not there) is read off the words and the status of the provider. One that `toAiError` made is the error that it was
 * made of, also behind a wire.
 */
export const fromAiError: (error: AiError.AiError, failed: FromError.Failed) => LlmError.LlmError =
  FromError.fromAiError

/**
 * One of our failures as an `AiError`, whose reason has the original as its cause; total. It may be sent again exactly if ours may,
 * after the wait that ours asks for. One that `fromAiError` made is the error that it was made of.
 */
export const toAiError: (error: LlmError.LlmError, at: ToError.At) => AiError.AiError = ToError.toAiError
