/** Background jobs on the server's side, for every format that has them. A job is created, polled, and may be cancelled. */
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

/** Makes the store of one handler's background jobs, with the functions that answer requests about them. */
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
    // a job that is over does not change, so a second cancellation gets the same answer as the first
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
        // the events run to the end of the job, so the job is over
        job.isOver = true
        return words.events(endOf(job), after)
    }
  }

  return {
    /** The messages of a stored conversation, by the id of its last reply; `undefined` if it is not stored. */
    earlier: (id: string): ReadonlyArray<Message.Foreign> | undefined => {
      const job = stored.get(id)
      if (job === undefined || !words.isStored(job.request)) return undefined
      const before = words.carried?.(job.request) ?? job.request.messages.filter(({ role }) => role !== "system")
      return [...before, { role: "assistant", content: job.reply.content }]
    },
    /** Answers a request about a job; `undefined` for a request that is about none. */
    about: (received: Received): Effect.Effect<Answer> | undefined => {
      const about = words.about(received)
      return about === undefined ? undefined : Effect.sync(() => answer(about))
    },
    /** Answers a request that creates a job; `undefined` for a request that creates none. */
    create: (request: Wire.BrainRequest, reply: Wire.BrainReply): Answer | undefined => {
      const isJob = words.isJob(request)
      const failure = isJob ? script.failure : undefined
      const job: StoredJob = { request, reply, failure, polls: 0, isOver: !isJob, isCancelled: false }
      if (isJob || words.isStored(request)) stored.set(words.idOf(request), job)
      if (!isJob) return undefined
      if (!request.isStreamed) return words.state({ request, reply, status: "queued" })
      // the last event of the stream reports the end of the job, so the job is over when that event is sent
      return { ...words.events(endOf(job), -1), beforeEnd: Effect.sync(() => void (job.isOver = true)) }
    }
  }
}

/** Makes a function from the number of a poll to the state that the poll reports. Throws for a state that jobs do not have. */
const nextIn = (polls: NonNullable<Wire.Jobs["polls"]>): ((poll: number) => Wire.Poll | undefined) => {
  if (typeof polls === "function") return (poll) => checked(polls(poll), `polls(${poll})`)
  const words = polls.map((word, index) => checked(word, `polls[${index}]`))
  return (poll) => words[poll - 1]
}

const checked = (word: Wire.Poll | undefined, where: string): Wire.Poll | undefined => {
  // a script in plain JavaScript may contain any value
  if (word === undefined || ["queued", "in_progress"].includes(word)) return word
  throw new RangeError(`AnyWire.handler: jobs.${where} must be 'queued' or 'in_progress', got '${String(word)}'`)
}
