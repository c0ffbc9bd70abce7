/** Jobs in the background, the same for every format that has them: created once, polled, cancelled. */
import type * as Message from "@kintsugi/core/Message"
import * as Effect from "effect/Effect"
import type { Answer, Received } from "../handling.ts"
import type * as Wire from "./wire.ts"

interface StoredJob {
  readonly request: Wire.BrainRequest
  readonly reply: Wire.BrainReply
  readonly failure: Wire.Failure | undefined
  polls: number
  isOver: boolean
  isCancelled: boolean
}

/** The jobs of one handler. */
export const make = (words: Wire.JobWords, script: Wire.Jobs = {}) => {
  const next = nextIn(script.polls ?? ["in_progress"])
  const stored = new Map<string, StoredJob>()

  const endOf = ({ failure, isCancelled, reply, request }: StoredJob): Wire.Job => {
    const { usageWhenCancelled: usage } = script
    if (isCancelled) return { request, reply, status: "cancelled", ...(usage === undefined ? {} : { usage }) }
    return failure === undefined ? { request, reply, status: "ended" } : { request, reply, status: "failed", failure }
  }

  const polled = (job: StoredJob): Wire.Job => {
    const status = job.isOver ? undefined : next(++job.polls)
    job.isOver = status === undefined
    return status === undefined ? endOf(job) : { request: job.request, reply: job.reply, status }
  }

  const cancelled = (job: StoredJob): Wire.Job => {
    // A job that is over stays as it ended; a second cancellation gets the same answer as the first.
    if (!job.isOver) job.isCancelled = true
    job.isOver = true
    return endOf(job)
  }

  const answer = ({ after, asks, id }: Wire.AboutJob): Answer => {
    const job = stored.get(id)
    if (job === undefined) return words.unknown(id)
    switch (asks) {
      case "state":
        return words.state(polled(job))
      case "cancel":
        return words.state(cancelled(job))
      case "events":
        if (!job.request.isStreamed) return words.unstreamed(id)
        // they say how it ends
        job.isOver = true
        return words.events(endOf(job), after)
    }
  }

  return {
    /** The messages of a stored conversation. */
    earlier: (id: string): ReadonlyArray<Message.Foreign> | undefined => {
      const job = stored.get(id)
      if (job === undefined || words.isStored?.(job.request) !== true) return undefined
      const before = words.carried?.(job.request) ?? job.request.messages.filter(({ role }) => role !== "system")
      return [...before, { role: "assistant", content: job.reply.content }]
    },
    /** The answer to a request about a job; `undefined` for every other request. */
    about: (received: Received): Effect.Effect<Answer> | undefined => {
      const about = words.about(received)
      return about === undefined ? undefined : Effect.sync(() => answer(about))
    },
    /** The answer to a request that creates a job; `undefined` for every other request. */
    create: (request: Wire.BrainRequest, reply: Wire.BrainReply): Answer | undefined => {
      const isJob = words.isJob(request)
      const failure = isJob ? script.failure : undefined
      const job: StoredJob = { request, reply, failure, polls: 0, isOver: !isJob, isCancelled: false }
      if (isJob || words.isStored?.(request) === true) stored.set(words.idOf(request), job)
      if (!isJob) return undefined
      if (!request.isStreamed) return words.state({ request, reply, status: "queued" })
      // its last event says how it ends
      return { ...words.events(endOf(job), -1), beforeEnd: Effect.sync(() => void (job.isOver = true)) }
    }
  }
}

/** What a poll reports, by its number; refuses words that a job has not. */
const nextIn = (polls: NonNullable<Wire.Jobs["polls"]>): ((poll: number) => Wire.Poll | undefined) => {
  if (typeof polls === "function") return (poll) => checked(polls(poll), `polls(${poll})`)
  const words = polls.map((word, index) => checked(word, `polls[${index}]`))
  return (poll) => words[poll - 1]
}

const checked = (word: Wire.Poll | undefined, where: string): Wire.Poll | undefined => {
  // Scripts in JavaScript may say anything.
  if (word === undefined || ["queued", "in_progress"].includes(word)) return word
  throw new RangeError(`AnyWire.handler: jobs.${where} must be 'queued' or 'in_progress', got '${String(word)}'`)
}
