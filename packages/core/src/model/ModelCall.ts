/** One call of a model: each of the models that it is made of is called by itself. */
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

/** The single models that a model may call: itself, unless it is composed. */
export const leavesOf = (model: Service): ReadonlyArray<Service> =>
  compositionOf(model)?.members.flatMap(leavesOf) ?? [model]

/** The window that a model declares: that of the single model with this name, else the smallest one. */
export const windowOf = (model: Service, name?: string): number | undefined => {
  const windows = leavesOf(model).flatMap((leaf) =>
    isWindow(leaf.contextWindow) ? [{ name: leaf.name, window: leaf.contextWindow }] : []
  )
  const own = windows.find((leaf) => leaf.name === name)
  return own?.window ?? (windows.length === 0 ? undefined : Math.min(...windows.map(({ window }) => window)))
}

/** What counts the tokens of a request: the single model with this name, else the first one. */
export const counterOf = (model: Service, name: string | undefined): Service | undefined => {
  const leaves = leavesOf(model)
  const asked = leaves.find((leaf) => leaf.name === name) ?? leaves[0]
  return asked?.countTokens === undefined ? undefined : asked
}

/** The tokens of a request, as the provider counts them. */
export const count = (model: Service, request: Request): Effect.Effect<unknown, LlmError> =>
  model.countTokens === undefined
    ? Effect.undefined
    : Returned.effect(model.countTokens(request), "The countTokens of model", model.name)

const isWindow = (window: number | undefined): window is number =>
  window !== undefined && Number.isFinite(window) && window > 0

/** Asks a model; of a composed model, each member by itself. */
export const ask = <A, R>(model: Service, request: Request, asker: Asker<A, R>): Effect.Effect<A, LlmError, R> => {
  const composition = compositionOf(model)
  return composition === undefined ? asker.ask(model, request) : composition.strategy(request, asker)
}

/** The reply of a single model. */
export const generate = (model: Service, request: Request): Effect.Effect<Message.Reply, LlmError> =>
  Returned.effect(model.generate(request), "The generate of model", model.name)

/** The parts of a single model's reply. */
export const stream = (model: Service, request: Request): Stream.Stream<Part, LlmError> =>
  streamed(model.stream(request), "The stream of model", model.name)

/** A reply that says which model gave it. */
export const named = (model: Service, reply: Message.Reply): Message.Reply =>
  reply.model === undefined ? { ...reply, model: model.name } : reply

/** A filtered reply without calls is empty. */
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

/** A reply without text and calls. A paused reply is not empty, nor a reply with items of the provider. */
export const empty = (model: Service, { content, finish }: Message.Reply): LlmError | undefined =>
  finish === "paused" || content.some(says)
    ? undefined
    : EmptyReplyError.make({ model: model.name, finishReason: finish, provider: model.provider })

const says = (part: Message.Reply["content"][number]): boolean => {
  if (part.type === "text") return part.text !== ""
  // a remark about the prompt is no answer
  return part.type !== "reasoning" && !(part.type === "provider-item" && part.kind === truncatedPrompt)
}

/** The kind of the item with which a codec remarks that the server has cut the prompt. */
export const truncatedPrompt = "truncated_prompt"

/**
 * A call that the provider itself rejected, as the model wrote it: without a row for that it is settled like any other bad
 * call, by the rows of its tool.
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

/**
 * The same reply with countable amounts. A usage that is negative, infinite or no number is replaced by an estimate, and such a cost
 * is left out.
 */
export const sound = <A extends Counted>(counted: A, request: Request, content: Message.Reply["content"]): A => {
  const isPaid = counted.cost === undefined || Usage.isAmount(counted.cost)
  const isCounted = Usage.isSound(counted.usage)
  if (isPaid && isCounted) return counted
  const { cost, ...others } = counted
  const priced = isPaid && cost !== undefined ? { ...others, cost } : others
  // the same fields, of which the cost may be left out
  return (isCounted ? priced : { ...priced, usage: usageOf(request, content), isEstimated: true }) as A
}

const usageOf = ({ messages, output, tools }: Request, content: Message.Reply["content"]): Usage.Usage => {
  const asked = messages.reduce((sum, message) => sum + lengthOf(message), lengthOf(tools) + lengthOf(output))
  return Usage.make({ inputTokens: tokensOf(asked), outputTokens: tokensOf(lengthOf(content)) })
}

/** The tokens of values that a model will read as JSON, by their length. */
export const estimateOf = (values: ReadonlyArray<unknown>): number =>
  tokensOf(values.reduce((sum: number, value) => sum + lengthOf(value), 0))

/** About four characters are a token. */
const tokensOf = (length: number): number => Math.ceil(length / 4)

/** The estimate for a picture or a document, whose bytes are no text: about a thousand tokens. */
const attachment = "x".repeat(4000)

/** The length of a value as JSON. The output of a model may be any value. */
const lengthOf = (value: unknown): number => {
  const shown = isUser(value) ? value.content.map((part) => (part.type === "text" ? part.text : attachment)) : value
  return quietly(() => JSON.stringify(shown).length, 0)
}

const isUser = (value: unknown): value is Message.User => property(value, "role") === "user"
