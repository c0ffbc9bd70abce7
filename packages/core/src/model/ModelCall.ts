/** Calls single models, and each member of a composed model by itself. Also checks and measures replies. */
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { property, quietly } from "../data/Foreign.ts"
import * as Message from "../data/Message.ts"
import * as Returned from "../data/Returned.ts"
import * as Usage from "../data/Usage.ts"
import {
  ContentFilteredError,
  EmptyReplyError,
  type LlmError,
  MalformedToolCallError,
  NetworkError
} from "../errors/LlmError.ts"
import type { Part, Request, Service } from "./service.ts"
import { type Asker, compositionOf, type Counted, withPartial, streamed } from "./parts.ts"

export type { Asker, Counted } from "./parts.ts"
export { onlyPartial, withPartial } from "./parts.ts"

/** The single models that a model may call. For a model that is not composed, the model itself. */
export const leavesOf = (model: Service): ReadonlyArray<Service> =>
  compositionOf(model)?.members.flatMap(leavesOf) ?? [model]

/** The context window of the single model with this name, otherwise the smallest window that a member declares. */
export const windowOf = (model: Service, name?: string): number | undefined => {
  const windows = leavesOf(model).flatMap((leaf) =>
    isWindow(leaf.contextWindow) ? [{ name: leaf.name, window: leaf.contextWindow }] : []
  )
  const own = windows.find((leaf) => leaf.name === name)
  return own?.window ?? (windows.length === 0 ? undefined : Math.min(...windows.map(({ window }) => window)))
}

/**
 * The model that counts the tokens of a request: the single model with this name, otherwise the first one. `undefined` if it cannot count.
 */
export const counterOf = (model: Service, name: string | undefined): Service | undefined => {
  const leaves = leavesOf(model)
  const asked = leaves.find((leaf) => leaf.name === name) ?? leaves[0]
  return asked?.countTokens === undefined ? undefined : asked
}

/** The number of tokens of a request by the provider's count; `undefined` if the model cannot count. */
export const count = (model: Service, request: Request): Effect.Effect<unknown, LlmError> =>
  model.countTokens === undefined
    ? Effect.undefined
    : Returned.effect(model.countTokens(request), "The countTokens of model", model.name)

const isWindow = (window: number | undefined): window is number =>
  window !== undefined && Number.isFinite(window) && window > 0

/** Calls a model. For a composed model, its strategy calls the members. */
export const ask = <A, R>(model: Service, request: Request, asker: Asker<A, R>): Effect.Effect<A, LlmError, R> => {
  const composition = compositionOf(model)
  return composition === undefined ? asker.ask(model, request) : composition.strategy(request, asker)
}

/** Calls a single model for a whole reply. */
export const generate = (model: Service, request: Request): Effect.Effect<Message.Reply, LlmError> =>
  Returned.effect(model.generate(request), "The generate of model", model.name)

/** Calls a single model for a streamed reply. */
export const stream = (model: Service, request: Request): Stream.Stream<Part, LlmError> =>
  streamed(model.stream(request), "The stream of model", model.name)

/** Adds the name of the model to a reply, unless it has one. */
export const named = (model: Service, reply: Message.Reply): Message.Reply =>
  reply.model === undefined ? { ...reply, model: model.name } : reply

/** The error for a filtered reply without tool calls; `undefined` for any other reply. */
export const refused = (model: Service, reply: Message.Reply): LlmError | undefined =>
  reply.finish === "filtered" && Message.callsOf(reply).length === 0
    ? withPartial(
        ContentFilteredError.make({
          model: model.name,
          detail: "the reply was cut off by a content filter",
          provider: model.provider
        }),
        Message.textOf(reply)
      )
    : undefined

/**
 * The error for a reply without text and tool calls; `undefined` for any other reply. A paused reply is not empty, nor is a reply with
 * items of the provider.
 */
export const empty = (model: Service, { content, finish }: Message.Reply): LlmError | undefined =>
  finish === "paused" || content.some(says)
    ? undefined
    : EmptyReplyError.make({ model: model.name, finishReason: finish, provider: model.provider })

const says = (part: Message.Reply["content"][number]): boolean => {
  if (part.type === "text") return part.text !== ""
  // an item that says the prompt was truncated is no answer
  // Mutant `true` for `part.type === "provider-item"` survives: no other part has a kind
  return part.type !== "reasoning" && !(part.type === "provider-item" && part.kind === truncatedPrompt)
}

/** The kind of the provider item that says the server has truncated the prompt. */
export const truncatedPrompt = "truncated_prompt"

/**
 * The call in a `MalformedToolCallError`, for which the provider rejected the model's arguments. Without a row for that error, the rows of
 * the called tool decide about it.
 */
export const rejected = (error: unknown, { tools }: Request, turn: number): Message.ToolCall | undefined => {
  if (!(error instanceof MalformedToolCallError) || error.rawArgs === undefined) return undefined
  const { rawArgs, tool: name } = error
  if (!tools.some((tool) => tool.name === name)) return undefined
  return { type: "tool-call", id: `rejected-${turn}`, name, arguments: rawArgs }
}

export const cutOff = (model: Service): NetworkError =>
  NetworkError.make({
    host: model.provider,
    what: `The stream of model '${model.name}' ended before its end`,
    provider: model.provider,
    model: model.name
  })

/** Corrects invalid amounts of a reply. An estimate replaces a usage that is negative, infinite or no number; such a cost is left out. */
export const sound = <A extends Counted>(counted: A, request: Request, content: Message.Reply["content"]): A => {
  const isPaid = counted.cost === undefined || Usage.isAmount(counted.cost)
  const isCounted = Usage.isSound(counted.usage)
  if (isPaid && isCounted) return counted
  const { cost, ...others } = counted
  const priced = isPaid && cost !== undefined ? { ...others, cost } : others
  // the result has the same fields, except perhaps the cost
  return (isCounted ? priced : { ...priced, usage: usageOf(request, content), isEstimated: true }) as A
}

const usageOf = ({ messages, output, tools }: Request, content: Message.Reply["content"]): Usage.Usage => {
  const asked = messages.reduce((sum, message) => sum + lengthOf(message), lengthOf(tools) + lengthOf(output))
  return Usage.make({ inputTokens: tokensOf(asked), outputTokens: tokensOf(lengthOf(content)) })
}

/** Estimates the tokens of values that a model will read as JSON, by their length. */
export const estimateOf = (values: ReadonlyArray<unknown>): number =>
  tokensOf(values.reduce((sum: number, value) => sum + lengthOf(value), 0))

/** Estimates one token for four characters. */
const tokensOf = (length: number): number => Math.ceil(length / 4)

/** A text as long as the estimate for a picture or document: about a thousand tokens, independent of its size. */
const attachment = "x".repeat(4000)

/** The length of a value as JSON; 0 if JSON cannot represent it, as the output of a model may be any value. */
const lengthOf = (value: unknown): number => {
  const shown = isUser(value) ? value.content.map((part) => (part.type === "text" ? part.text : attachment)) : value
  return quietly(() => JSON.stringify(shown).length, 0)
}

const isUser = (value: unknown): value is Message.User => property(value, "role") === "user"
