/** Decodes the body of `POST /responses`. The decoder of streams uses the same functions for its items. */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import * as Json from "../../transport/Json.ts"
import { type Facts, factsOf } from "../replyFacts.ts"
import * as Calls from "../openAiCalls.ts"
import * as Jobs from "./jobs.ts"
import * as ResponsesError from "./error.ts"
import { costOf, usageOf } from "./usage.ts"
import { isCall, isCut, isProviderCall, type ProviderCalls, waitingIn } from "./waiting.ts"

type Content = Message.Reply["content"][number]

/** Decodes the reply of a 2xx answer; total. */
export const decode = (
  source: Source,
  answer: Answer,
  calls?: ProviderCalls
): Result.Result<Message.Reply, LlmError> => {
  const body = Json.parse(answer.body)
  if (Result.isFailure(body)) return Result.fail(Classify.undecodable(source, answer, body.failure))
  const response = body.success
  const error = ResponsesError.inside(source, answer, response)
  if (error !== undefined) return Result.fail(error)
  const job = Jobs.jobIn(source, response)
  if (job !== undefined) return Result.succeed({ content: [job], ...Jobs.endOf(response) })
  const output = Json.field(response, "output")
  const status = Json.text(Json.field(response, "status")) ?? "completed"
  if (!Array.isArray(output) || (status !== "completed" && status !== "incomplete")) {
    const why = Array.isArray(output) ? `its response is '${status}'` : "the body holds no output"
    return Result.fail(Classify.undecodable(source, answer, new Error(why)))
  }
  const items = Json.items(output)
  const kind = waitingIn(source, items, calls)
  if (kind !== undefined) return Result.fail(Classify.unanswerable(source, answer, kind, usageOf(response)))
  const ids = new Calls.Ids()
  const first = items.findIndex((item) => Json.field(item, "type") === "reasoning")
  return Result.succeed({
    // Mutant `first <= index` survives: the item at `first` is reasoning, and only messages ask whether they come after
    // reasoning
    content: items.flatMap((item, index) => contentOf(source, item, index, first !== -1 && first < index, ids, calls)),
    ...endOf(answer, response, items, calls)
  })
}

/** The finish reason, usage, cost and facts of a response. A complete response states no reason, so its status is `rawFinish`. */
export const endOf = (
  answer: Answer,
  response: Schema.Json,
  items: ReadonlyArray<Schema.Json>,
  providerCalls: ProviderCalls
): Pick<Message.Reply, "finish" | "usage" | "cost"> & Facts => {
  const calls = items.filter((item) => isCall(item, providerCalls))
  const isCutOff = isCut(response) || isCut(items.at(-1)) || calls.some(isCut)
  return {
    finish: isCutOff ? "length" : calls.length > 0 ? "tool-calls" : "stop",
    usage: usageOf(response) ?? Usage.empty,
    ...costOf(response),
    ...factsOf(answer, {
      model: Json.field(response, "model"),
      responseId: Json.field(response, "id"),
      rawFinish: Json.field(Json.field(response, "incomplete_details"), "reason") ?? Json.field(response, "status"),
      serviceTier: Json.field(response, "service_tier")
    })
  }
}

/**
 * The parts of a reply that an item becomes. `afterReasoning` says whether reasoning comes before the item, `ids` makes the call ids of
 * this reply unique.
 */
export const contentOf = (
  { provider }: Source,
  item: Schema.Json,
  index: number,
  afterReasoning: boolean,
  ids: Calls.Ids,
  calls: ProviderCalls
): ReadonlyArray<Content> => {
  const kind = Json.text(Json.field(item, "type"))
  switch (kind) {
    case undefined:
      return []
    case "message": {
      const text = textOf(item)
      const remarks = remarksOf(item, afterReasoning)
      return [
        ...(text === "" ? [] : [{ type: "text" as const, text }]),
        ...(remarks === undefined
          ? []
          : [{ type: "provider-item" as const, kind, opaque: { provider, data: remarks } }])
      ]
    }
    case "reasoning": {
      const texts = thoughtsOf(item)
      return [
        ...texts.slice(0, -1).map((text) => ({ type: "reasoning" as const, text, opaque: closed(provider) })),
        { type: "reasoning", text: texts.at(-1) ?? "", opaque: { provider, data: reasoningOf(item) } }
      ]
    }
    case "function_call": {
      const [id, callId] = [Json.text(Json.field(item, "id")), Json.text(Json.field(item, "call_id"))]
      const name = Json.text(Json.field(item, "name"))
      const call = Calls.callOf(ids, index, { id: callId ?? id, name, arguments: argumentsOf(item) })
      const signed = Json.text(Json.field(item, "thought_signature"))
      if (signed !== undefined) return [{ ...call, opaque: { provider, data: { thought_signature: signed } } }]
      return [id === undefined ? call : { ...call, opaque: { provider, data: id } }]
    }
    default: {
      const opaque = { provider, data: item }
      if (!isProviderCall(item, calls)) return [{ type: "provider-item", kind, opaque }]
      const id = Json.text(Json.field(item, "call_id")) ?? Json.text(Json.field(item, "id"))
      return [{ ...Calls.callOf(ids, index, { id, name: kind, arguments: fieldsOf(item) }), opaque }]
    }
  }
}

/** The arguments of a call of the provider's kinds: all fields of its item, except its type, ids and status. */
const fieldsOf = (item: Schema.Json): Schema.Json =>
  Object.fromEntries(Object.entries(Json.fields(item)).filter(([key]) => !besides.has(key)))

const besides: ReadonlySet<string> = new Set(["type", "id", "call_id", "status"])

const argumentsOf = (call: Schema.Json): Schema.Json | undefined => Json.field(call, "arguments")

/** The data of all parts of a reasoning summary but the last. Only the last part carries the item. */
export const closed = (provider: string): Message.Opaque => ({ provider, data: null })

const textOf = (item: Schema.Json): string =>
  Json.items(Json.field(item, "content"))
    .filter((part) => Json.field(part, "type") === "output_text")
    .map((part) => Json.text(Json.field(part, "text")) ?? "")
    .join("")

/**
 * The data of a message beside its text: id, status, phase, sources and log probabilities. `undefined` if the message has only an id, and
 * no reasoning comes before it.
 */
const remarksOf = (item: Schema.Json, afterReasoning: boolean): Schema.Json | undefined => {
  const [annotations = [], logprobs = []] = ["annotations", "logprobs"].map((name) =>
    Json.items(Json.field(item, "content")).flatMap((part) => Json.items(Json.field(part, name)))
  )
  const phase = Json.text(Json.field(item, "phase"))
  if (annotations.length === 0 && logprobs.length === 0 && phase === undefined && !afterReasoning) return undefined
  return {
    ...picked(item, ["id", "status"]),
    ...(phase === undefined ? {} : { phase }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(logprobs.length === 0 ? {} : { logprobs })
  }
}

/** The texts of a reasoning item. Open-weight models return the plain reasoning, other models a summary. */
const thoughtsOf = (item: Schema.Json): ReadonlyArray<string> =>
  ["content", "summary"]
    .flatMap((key) => Json.items(Json.field(item, key)))
    .flatMap((part) => Json.text(Json.field(part, "text")) ?? [])

/** The fields of a reasoning item that must be sent back. */
const reasoningOf = (item: Schema.Json): Schema.JsonObject => {
  const content = Json.items(Json.field(item, "content"))
  return {
    type: "reasoning",
    ...picked(item, ["id"]),
    summary: Json.items(Json.field(item, "summary")),
    ...picked(item, ["encrypted_content"]),
    ...(content.length === 0 ? {} : { content })
  }
}

const picked = (item: Schema.Json, keys: ReadonlyArray<string>): Schema.JsonObject =>
  Object.fromEntries(
    keys.flatMap((key) => {
      const value = Json.field(item, key)
      return Predicate.isString(value) ? [[key, value]] : []
    })
  )
