/**
 * Asks for replies that a provider makes in the background: polls until they are over, or reads their events. A job
 * that was cancelled, or whose failure was reported, cannot go on: then the next call begins another one.
 */
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Codec, Job, Jobs } from "../codec/Codec.ts"
import type * as Provenance from "../codec/Provenance.ts"
import type { Answer } from "../transport/Answer.ts"
import type * as Transport from "../transport/Transport.ts"

/**
 * What asking needs of the model.
 *
 * @internal
 */
export interface Background {
  readonly codec: Codec
  readonly jobs: Jobs
  /** What marks the thoughts of a reply to a request with their origin. */
  readonly marking: (request: Model.Request) => Pick<Provenance.Traced, "marked">
  /** The transport to a job, or to the end of one. */
  readonly to: (
    path: string,
    method: "GET" | "POST",
    query: Readonly<Record<string, string>>
  ) => Effect.Effect<Transport.Transport>
  /** Makes the request anew. */
  readonly anew: {
    readonly generate: (request: Model.Request) => Effect.Effect<Message.Reply, LlmError.LlmError>
    readonly stream: (request: Model.Request) => Stream.Stream<Model.Part, LlmError.LlmError>
  }
}

/** How long to wait between two polls, as the guide of OpenAI does. */
const pause = Duration.seconds(2)

/** How long a cancellation may take. */
const grace = Duration.seconds(5)

/** Of how many jobs it is known that their failure was reported. */
const most = 1000

type Polled = { readonly status: "at work" | "cancelled" } | { readonly status: "over"; readonly reply: Read }

type Read = Result.Result<Message.Reply, LlmError.LlmError>

/**
 * The model whose requests may name a job.
 *
 * @internal
 */
export const make = ({ anew, codec, jobs, marking, to }: Background): Background["anew"] => {
  const failed = new Set<string>()

  const decoding = (request: Model.Request): ((answer: Answer) => Read) => {
    const { marked } = marking(request)
    return (answer) =>
      Result.map(codec.decode(answer, request), (reply) => ({ ...reply, content: reply.content.map(marked) }))
  }

  const poll = ({ id }: Job, request: Model.Request): Effect.Effect<Polled, LlmError.LlmError> =>
    Effect.suspend(() => {
      const read = decoding(request)
      let polled: Polled = { status: "at work" }
      const decode = (answer: Answer): Read => {
        const status = jobs.status(answer)
        if (status === undefined) return read(answer)
        polled = status === "over" ? { status, reply: read(answer) } : { status }
        return nothing
      }
      return Effect.flatMap(to(id, "GET", {}), ({ post }) => Effect.map(post("", decode), () => polled))
    })

  const cancel = ({ id }: Job, { background }: Model.Request): Effect.Effect<void> => {
    if (background?.isLeft() === true) return Effect.void
    return Effect.flatMap(to(`${id}/cancel`, "POST", {}), ({ post }) =>
      post("{}", (answer) => {
        const usage = jobs.usage(answer)
        if (usage !== undefined) background?.spent(usage)
        return nothing
      })
    ).pipe(Effect.timeout(grace), Effect.ignore)
  }

  /** The reply of a job that is over. The same failure is reported once. */
  const ended = ({ id }: Job, reply: Read): Effect.Effect<Message.Reply, LlmError.LlmError> => {
    if (Result.isSuccess(reply)) return Effect.succeed(reply.success)
    const [oldest] = failed
    if (failed.size >= most && oldest !== undefined) failed.delete(oldest)
    failed.add(id)
    return Effect.fail(reply.failure)
  }

  const untilOver = (job: Job, request: Model.Request): Effect.Effect<Message.Reply, LlmError.LlmError> =>
    Effect.flatMap(poll(job, request), (polled) => {
      switch (polled.status) {
        case "over":
          return ended(job, polled.reply)
        case "cancelled":
          return anew.generate(request)
        case "at work":
          return Effect.flatMap(Effect.sleep(pause), () => untilOver(job, request))
      }
    })

  const eventsOf = (job: Job, after: number, request: Model.Request): Stream.Stream<Model.Part, LlmError.LlmError> => {
    const read = decoding(request)
    const { marked } = marking(request)
    const events = to(job.id, "GET", { stream: "true", starting_after: String(after) })
    return Stream.unwrap(
      Effect.map(events, ({ stream }) =>
        Stream.map(
          stream(
            "",
            (answer) => jobs.decoder(answer, request),
            (answer) => Result.map(read(answer), Model.partsOf)
          ),
          marked
        )
      )
    )
  }

  return {
    generate: (asked) => {
      const job = jobs.of(asked)
      if (job === undefined) return anew.generate(asked)
      const request = withoutLast(asked)
      if (failed.delete(job.id)) return anew.generate(request)
      return Effect.onInterrupt(untilOver(job, request), () => cancel(job, asked))
    },
    stream: (asked) => {
      const job = jobs.of(asked)
      if (job === undefined) return anew.stream(asked)
      const request = withoutLast(asked)
      if (failed.delete(job.id)) return anew.stream(request)
      const { after } = job
      const read = Effect.map(poll(job, request), (polled) => {
        if (polled.status === "cancelled") return anew.stream(request)
        if (polled.status === "over") return whole(ended(job, polled.reply))
        if (after === undefined) return whole(Effect.andThen(Effect.sleep(pause), untilOver(job, request)))
        return eventsOf(job, after, request)
      })
      return Stream.onExit(Stream.unwrap(read), (exit) => (Exit.hasInterrupts(exit) ? cancel(job, asked) : Effect.void))
    }
  }
}

/** Without the message that names the job: no later request has it. */
const withoutLast = (request: Model.Request): Model.Request => ({ ...request, messages: request.messages.slice(0, -1) })

const whole = (reply: Effect.Effect<Message.Reply, LlmError.LlmError>): Stream.Stream<Model.Part, LlmError.LlmError> =>
  Stream.unwrap(Effect.map(reply, (reply) => Stream.fromIterable(Model.partsOf(reply))))

/** Of a request whose answer says no more than that it came. */
const nothing: Read = Result.succeed({ content: [], finish: "other", usage: Usage.empty })
