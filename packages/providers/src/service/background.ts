/**
 * Waits for replies that a provider makes in the background, called jobs: polls a job until it is over, or reads its events. A failed poll
 * is resent on its own. If a resumed run finds its job cancelled, because the earlier process cancelled it, the request begins a new job.
 */
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Codec, Job, Jobs } from "../codec/Codec.ts"
import * as JobItem from "../codec/JobItem.ts"
import type * as Provenance from "../codec/Provenance.ts"
import type { Answer } from "../transport/Answer.ts"
import * as Transport from "../transport/Transport.ts"

/**
 * The parts of a model from which `make` makes its background functions.
 *
 * @internal
 */
export interface Background {
  readonly codec: Codec
  readonly jobs: Jobs
  /** The functions that mark the thoughts of a reply with the model that made them. */
  readonly marking: (request: Model.Request) => Pick<Provenance.Traced, "marked" | "marking">
  /** Makes a transport to a path below the URL of jobs, with this method, query and policy of resends. */
  readonly to: (
    path: string,
    method: "GET" | "POST",
    query: ReadonlyArray<readonly [string, string]>,
    retry: NonNullable<Transport.Options["retry"]>
  ) => Effect.Effect<Transport.Transport>
  /** Makes the request anew. */
  readonly anew: Pick<Model.Service, "generate" | "stream">
}

/** The wait between two polls, as in OpenAI's guide. */
const pause = Duration.seconds(2)

/**
 * A failed poll is resent up to 5 times, after waits of 2 to 32 seconds. These resends are not model calls, so no budget of retries counts
 * them.
 */
const polling = { retries: 5, initialBackoff: pause } as const

/** How long a cancellation may take, and how long an interrupted request waits for an answer that may name a new job. */
const grace = Duration.seconds(5)

type Polled = { readonly status: "at work" | "lost" } | { readonly status: "over"; readonly reply: Read }

type Read = Result.Result<Message.Reply, LlmError.LlmError>

type Replying = Pick<Model.Service, "background" | "generate" | "stream">

/**
 * Makes the functions of a model that begins, reads and cancels jobs. If a request is interrupted before its answer names the job, the late
 * answer is awaited in the current scope, and its job is cancelled.
 *
 * @internal
 */
export const make = (background: Background): Effect.Effect<Replying, never, Scope.Scope> =>
  Effect.map(Transport.holding(grace), (held) => replying(background, held))

const replying = ({ anew, codec, jobs, marking, to }: Background, held: Transport.Holding): Replying => {
  const decoding = (request: Model.Request): ((answer: Answer) => Read) => {
    const { marked } = marking(request)
    return (answer) => Result.map(codec.decode(answer, request), marked)
  }

  const included = (request: Model.Request) =>
    jobs.include(request).map((field) => ["include[]", String(field)] as const)

  const poll = ({ id }: Job, request: Model.Request): Effect.Effect<Polled, LlmError.LlmError> =>
    Effect.suspend(() => {
      const read = decoding(request)
      let polled: Polled = { status: "at work" }
      const decode = (answer: Answer): Read => {
        const status = jobs.status(answer)
        if (status === undefined) return read(answer)
        if (status === "at work") polled = { status }
        // the earlier process of a resumed run cancelled this job; a job that is cancelled while this process polls is a failure, and no
        // new one begins
        else if (status === "cancelled" && request.background?.isFound === true) polled = { status: "lost" }
        else polled = { status: "over", reply: Result.mapError(read(answer), jobs.over) }
        return nothing
      }
      // Mutant `"Stryker was here!"` survives: a `GET` has no body
      const asked = Effect.flatMap(to(id, "GET", included(request), polling), ({ post }) => post("", decode))
      return Effect.map(resent(asked), () => polled)
    })

  const cancel = ({ id }: Job): Effect.Effect<Usage.Usage | undefined> => {
    let usage: Usage.Usage | undefined
    return Effect.flatMap(to(`${id}/cancel`, "POST", [], polling), ({ post }) =>
      post("{}", (answer) => {
        usage = jobs.usage(answer)
        return nothing
      })
    ).pipe(
      resent,
      Effect.timeout(grace),
      Effect.ignore,
      Effect.map(() => usage)
    )
  }

  /** Reports the names of new jobs to the run. If the run was interrupted and the answer comes late, cancels these jobs instead. */
  const named = (request: Model.Request, parts: Parameters<typeof namesIn>[0], isLate: boolean) =>
    Effect.forEach(namesIn(parts), (item) => {
      if (!isLate) return Effect.sync(() => request.background?.begun(item))
      // Mutant `["Stryker was here"]` survives: the reply has no call that a result would be for
      const message = Message.settle({ content: [item], finish: "paused", usage: Usage.empty }, [])
      const job = jobs.of({ ...request, messages: [message] })
      return job === undefined ? Effect.void : cancel(job)
    })

  /** Sends a request that may begin a job. The run gets the job's name before the reply is processed further. */
  const begin = (request: Model.Request): Effect.Effect<Message.Reply, LlmError.LlmError> => {
    const reply = anew.generate(request)
    return jobs.begins(request)
      ? held((isLate) => Effect.tap(reply, ({ content }) => named(request, content, isLate())))
      : reply
  }

  const beginStream = (request: Model.Request): Stream.Stream<Model.Part, LlmError.LlmError> => {
    const parts = anew.stream(request)
    if (!jobs.begins(request)) return parts
    const pulling = Effect.gen(function* () {
      // a scope of its own: the scope of the stream may close before the late answer arrives
      const scope = yield* Scope.make()
      let outlives = () => false
      yield* Effect.addFinalizer((exit) => (outlives() ? Effect.void : Scope.close(scope, exit)))
      const pull = yield* Scope.provide(Stream.toPull(parts), scope)
      const first = held((isLate) => {
        outlives = isLate
        return pull.pipe(
          Effect.tap((parts) => named(request, parts, isLate())),
          Effect.onExit((exit) => (isLate() ? Scope.close(scope, exit) : Effect.void))
        )
      })
      let isBegun = false
      const next = Effect.suspend(() => {
        if (isBegun) return pull
        isBegun = true
        return first
      })
      return Stream.fromPull(Effect.succeed(next))
    })
    return Stream.unwrap(pulling)
  }

  const untilOver = (job: Job, request: Model.Request): Effect.Effect<Message.Reply, LlmError.LlmError> =>
    Effect.flatMap(poll(job, request), (polled) => {
      switch (polled.status) {
        case "over":
          return Effect.fromResult(polled.reply)
        case "lost":
          return begin(request)
        case "at work":
          return Effect.flatMap(Effect.sleep(pause), () => untilOver(job, request))
      }
    })

  const read = (job: Job, request: Model.Request): Stream.Stream<Model.Part, LlmError.LlmError> => {
    const { after } = job
    const polled = Effect.map(poll(job, request), (polled) => {
      if (polled.status === "lost") return beginStream(request)
      if (polled.status === "over") return whole(Effect.fromResult(polled.reply))
      if (after === undefined) return whole(Effect.andThen(Effect.sleep(pause), untilOver(job, request)))
      return untilSpoken(eventsOf(job, after, request), () => read(job, request))
    })
    return Stream.unwrap(polled)
  }

  const eventsOf = (job: Job, after: number, request: Model.Request): Stream.Stream<Model.Part, LlmError.LlmError> => {
    const read = decoding(request)
    const traced = marking(request)
    const from = [["stream", "true"], ["starting_after", String(after)], ...included(request)] as const
    const events = Effect.map(to(job.id, "GET", from, polling), ({ stream }) =>
      stream(
        // Mutant `"Stryker was here!"` survives: a `GET` has no body
        "",
        (answer) => traced.marking(jobs.decoder(answer, request)),
        (answer) => Result.map(read(answer), Model.partsOf)
      )
    )
    return Stream.provideService(Stream.unwrap(events), Model.Resending, "on")
  }

  return {
    background: {
      cancel: (asked) => {
        const job = jobs.of(asked)
        return job === undefined ? Effect.undefined : cancel(job)
      }
    },
    generate: (asked) => {
      const job = jobs.of(asked)
      return job === undefined ? begin(asked) : untilOver(job, withoutLast(asked))
    },
    stream: (asked) => {
      const job = jobs.of(asked)
      if (job === undefined) return beginStream(asked)
      return read(job, withoutLast(asked))
    }
  }
}

/**
 * Lets the transport resend a poll. Polls are not attempts, so the table that replaces the transport's resends in a run does not apply to
 * them.
 */
const resent = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.provideService(self, Model.Resending, "on")

/**
 * Reads the events of a job. A queued job sends nothing, so a timeout before the first event is no failure: `anew` polls the job instead.
 * Usage counts do not end this waiting, because they may come first.
 */
const untilSpoken = (
  parts: Stream.Stream<Model.Part, LlmError.LlmError>,
  anew: () => Stream.Stream<Model.Part, LlmError.LlmError>
): Stream.Stream<Model.Part, LlmError.LlmError> =>
  Stream.suspend(() => {
    let hasSpoken = false
    const heard = Stream.map(parts, (part) => {
      hasSpoken ||= part.type !== "usage"
      return part
    })
    return Stream.catchTag(heard, "RequestTimeoutError", (error) => (hasSpoken ? Stream.fail(error) : anew()))
  })

/** The request without its last message, which names the job. */
const withoutLast = (request: Model.Request): Model.Request => ({ ...request, messages: request.messages.slice(0, -1) })

const whole = (reply: Effect.Effect<Message.Reply, LlmError.LlmError>): Stream.Stream<Model.Part, LlmError.LlmError> =>
  Stream.unwrap(Effect.map(reply, (reply) => Stream.fromIterable(Model.partsOf(reply))))

/** The parts that name jobs. */
const namesIn = (parts: ReadonlyArray<Model.Part | Message.Reply["content"][number]>) => parts.filter(JobItem.is)

/** A placeholder result for answers that have no reply. */
const nothing: Read = Result.succeed({ content: [], finish: "other", usage: Usage.empty })
