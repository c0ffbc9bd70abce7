/**
 * Reads responses that the provider makes in the background (`background: true`). The answer to such a request only names the response.
 * Later requests ask for it, whole or as a stream from a numbered event on.
 *
 * developers.openai.com/api/docs/guides/background and npm's `openai` 7.57.0 (`ResponseStatus`, `starting_after`),
 * looked up on 2026-11-26. A response is kept for about 10 minutes.
 */
import type { LlmError } from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { Answer } from "../../transport/Answer.ts"
import * as Classify from "../../classify/Classify.ts"
import type { Source } from "../../transport/Source.ts"
import type { Job, Jobs } from "../Codec.ts"
import * as JobItem from "../JobItem.ts"
import * as Json from "../../transport/Json.ts"
import { usageOf } from "./usage.ts"

/**
 * The item that names the job of a response in the background; `undefined` for any other response. `event` is the first event of a stream.
 */
export const jobIn = (
  { provider }: Source,
  response: Schema.Json | undefined,
  event?: Schema.Json
): Message.ProviderItem | undefined => {
  const id = idIn(response)
  if (id === undefined || Json.field(response, "background") !== true || statusOf(response) !== "at work")
    return undefined
  const after = event === undefined ? undefined : (Json.count(Json.field(event, "sequence_number")) ?? 0)
  return JobItem.make(provider, { id, ...(after === undefined ? {} : { after }) })
}

/** An id, if it is safe as one segment of a URL path. */
const idIn = (json: Schema.Json | undefined): string | undefined => {
  const id = Json.text(Json.field(json, "id"))
  return id !== undefined && /^[\w-]+$/.test(id) ? id : undefined
}

/** The end of a reply that only names a job: it is paused. */
export const endOf = (
  response: Schema.Json | undefined
): Pick<Message.Reply, "usage"> & { readonly finish: "paused" } => ({
  finish: "paused",
  usage: usageOf(response) ?? Usage.empty
})

const statusOf = (response: Schema.Json | undefined): ReturnType<Jobs["status"]> => {
  const status = Json.text(Json.field(response, "status"))
  if (status === "queued" || status === "in_progress") return "at work"
  if (status === "cancelled") return "cancelled"
  return status === "completed" || status === "incomplete" || status === "failed" ? "over" : undefined
}

const bodyOf = ({ body }: Answer): Schema.Json | undefined => Result.getOrUndefined(Json.parse(body))

/**
 * Makes the reader of background jobs. The query of a job asks for optional fields as well: one `include[]` for each, as npm's `openai`
 * 7.57.0 writes arrays, looked up on 2026-11-26; this was not tried with OpenAI.
 */
export const make = (source: Source, asked: Pick<Jobs, "begins" | "include">, decoder: Jobs["decoder"]): Jobs => ({
  ...asked,
  of: ({ messages }: Model.Request): Job | undefined => {
    const last = messages.at(-1)
    if (last?.role !== "assistant" || last.paused !== true) return undefined
    for (const part of last.content) {
      if (!JobItem.is(part) || part.opaque.provider !== source.provider) continue
      const id = idIn(part.opaque.data)
      if (id !== undefined) return { id, after: Json.count(Json.field(part.opaque.data, "after")) }
    }
    return undefined
  },
  status: (answer) => statusOf(bodyOf(answer)),
  usage: (answer) => usageOf(bodyOf(answer)),
  over,
  decoder,
  gone: (answer) =>
    over(
      Classify.failure(
        source,
        answer,
        { codes: ["gone"], text: "the provider has this background response no longer" },
        codes
      )
    )
})

/** Marks a new error as the error of a job that has ended, so that the job is not asked for again. */
export const over = (error: LlmError): LlmError => Object.assign(error, { isJobOver: true } as const)

const codes = { gone: "InvalidRequestError" } as const
