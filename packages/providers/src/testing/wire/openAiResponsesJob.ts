/**
 * Background jobs of OpenAI's Responses API, written from developers.openai.com (guide on background mode; reference of
 * `responses.retrieve` and `responses.cancel`), looked up on 2026-11-26. `background: true` creates a job, `GET /responses/{id}` polls it,
 * and `POST /responses/{id}/cancel` stops it and is idempotent. A job that was created as a stream can be streamed again with
 * `starting_after`. Not confirmed are: the usage that a cancelled job reports, how its events end, and the error messages.
 */
import * as Predicate from "effect/Predicate"
import type { Answer } from "../handling.ts"
import type * as Wire from "./wire.ts"
import * as Tell from "./openAiResponsesTell.ts"
import * as Parts from "./parts.ts"

const addressed = (path: string): { readonly id: string; readonly isCancel: boolean } | undefined => {
  const [, id, cancel] = /\/responses\/([^/]+)(\/cancel)?$/.exec(path) ?? []
  return id === undefined ? undefined : { id, isCancel: cancel !== undefined }
}

/**
 * Whether a path belongs to the Responses API. Perplexity has the same format at `/agent` (docs.perplexity.ai, looked up on 2026-11-26).
 */
export const serves = (path: string): boolean => /\/(?:responses|agent)$/.test(path) || addressed(path) !== undefined

const stateOf = (job: Wire.Job): object => {
  const { failure, reply, request, status, usage } = job
  const response = { ...Tell.responseOf(request.received, request.model), status }
  if (status === "ended") return Tell.endOf(request, reply)
  if (status === "failed" && failure !== undefined) return Tell.failedOf(failure, request.received, request.model)
  return usage === undefined ? response : { ...response, usage: Tell.wireUsage(usage) }
}

const eventsOf = ({ failure, reply, request, status }: Wire.Job): ReadonlyArray<string> => {
  const queued = { ...Tell.responseOf(request.received, request.model), status: "queued" }
  const events = Tell.eventsOf(request, reply, [{ type: "response.queued", response: queued }])
  // the events up to `in_progress`: a job that fails or is cancelled has sent them
  const begun = events.slice(0, 3)
  if (status === "cancelled") return begun
  if (failure === undefined) return events
  return [...begun, Tell.breakOff(failure, request.received, begun.length)]
}

export const words: Wire.JobWords = {
  isJob: ({ received: { body } }) => Predicate.hasProperty(body, "background") && body.background === true,
  // responses are stored for 30 days by default (guide on conversation state, looked up on 2026-11-26)
  isStored: ({ received: { body } }) => !Predicate.hasProperty(body, "store") || body.store !== false,
  // a later request gets the earlier messages, but not the earlier instructions
  carried: ({ messages, received: { body } }) =>
    Predicate.hasProperty(body, "instructions") && body.instructions ? messages.slice(1) : messages,
  idOf: ({ received }) => Tell.responseOf(received, "").id,
  about: (received) => {
    const found = addressed(Parts.pathOf(received))
    if (found === undefined) return undefined
    const query = new URLSearchParams(received.path.split("?")[1])
    const isStream = query.get("stream") === "true"
    const after = Number(query.get("starting_after") ?? -1)
    return { id: found.id, asks: found.isCancel ? "cancel" : isStream ? "events" : "state", after }
  },
  state: (job) => Tell.whole(job.request, stateOf(job)),
  events: (job, after) => Tell.streamed(job.request, eventsOf(job).slice(after + 1)),
  unknown: (id) => refused(404, `Response with id '${id}' not found.`),
  unstreamed: (id) =>
    refused(400, `Response '${id}' was not created with 'stream' set to true, and cannot be streamed.`)
}

const refused = (status: number, message: string): Answer =>
  Parts.json({ error: { message, type: "invalid_request_error", param: null, code: null } }, { status }, 2)
