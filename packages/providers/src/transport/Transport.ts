/**
 * Posts JSON and opens streams. Every failure on the way (a status, a network fault, a limit of time or size) becomes one `LlmError`. The
 * transport resends a request a few times if it failed before the first text, thought or finished call of its reply. The two waits between
 * sends are those of the Agents.KT document. The statuses that are resent are those of the official SDKs: see `mayResend`.
 */
import type { Explanation } from "@kintsugi/core/Explanation"
import type * as LlmError from "@kintsugi/core/LlmError"
import type * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Redaction from "@kintsugi/core/Redaction"
import * as Recovery from "@kintsugi/core/Recovery"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { Answer } from "./Answer.ts"
import { waiting } from "./clients.ts"
import type { Decoder } from "./Decoder.ts"
import type { Failure } from "./Failure.ts"
import * as Fault from "./fault.ts"
import * as Hold from "./hold.ts"
import * as Send from "./send.ts"
import * as Span from "./span.ts"
import { Spent } from "./spent.ts"
import * as Settings from "./settings.ts"
import * as Size from "./Size.ts"
import * as Parts from "./stream.ts"

/** Effect's HTTP client. The transport sends its requests with it. */
export { HttpClient } from "effect/http/HttpClient"
export { layerFetch, layerUndici } from "./clients.ts"
export type { Options } from "./settings.ts"
/** @internal */
export { holding } from "./hold.ts"
/** @internal */
export type { Holding } from "./hold.ts"
/** @internal */
export { limited } from "./limited.ts"
/** @internal */
export { parts } from "./stream.ts"

/**
 * Sends requests to one model, whole and streamed.
 *
 * @internal
 */
export interface Transport {
  /** Posts a JSON text and reads the whole answer. */
  readonly post: (
    body: string,
    decode: (answer: Answer) => Result.Result<Message.Reply, LlmError.LlmError>
  ) => Effect.Effect<Message.Reply, LlmError.LlmError>
  /**
   * Posts a JSON text and reads the answer as server-sent events. A failure is resent only before the first text, thought or finished call;
   * afterwards the caller decides. The time that the reader takes between two parts does not count. `whole` reads an answer that is one
   * JSON text instead of a stream; without `whole`, that text is the only event of a stream.
   */
  readonly stream: (
    body: string,
    decoder: (answer: Answer) => Decoder<Model.Part>,
    whole?: (answer: Answer) => Result.Result<ReadonlyArray<Model.Part>, LlmError.LlmError>
  ) => Stream.Stream<Model.Part, LlmError.LlmError>
}

/** The `accept` header of a streamed request. A server answers with events or with lines of JSON, depending on its format. */
const accepted = "text/event-stream, application/x-ndjson"

/**
 * Makes the transport to an endpoint. Throws a `RangeError` for invalid options. Dies with a `RangeError` if `requestTimeout` is longer
 * than the HTTP client in the context allows.
 *
 * @internal
 */
export const make = (
  endpoint: Send.Endpoint,
  options?: Settings.Options
): Effect.Effect<Transport, never, HttpClient.HttpClient> => {
  for (const secret of endpoint.source.secrets) Redaction.know(secret)
  const settings = Settings.make(options)
  const target = Send.target(endpoint)
  if (Result.isSuccess(target)) {
    const client = Effect.flatMap(HttpClient.HttpClient, (client) => waiting(client, settings.timeout))
    return Effect.map(client, (client) => fromClient(client, target.success, settings))
  }
  const { failure } = target
  return Effect.succeed({ post: () => Effect.fail(failure), stream: () => Stream.fail(failure) })
}

/**
 * The worst case of one call: its requests and its time. The time ends at the head of a streamed reply, or at the end of a whole one. Pass
 * it to `Agent.explain` as `transport`. Throws a `RangeError` for invalid options.
 */
export const explain = (options?: Settings.Options): Explanation => {
  const { table, timeout } = Settings.make(options)
  const { rows, worst } = Recovery.explain(table)
  return { rows, worst: { ...worst, time: timeout } }
}

const fromClient = (
  client: HttpClient.HttpClient,
  target: Send.Target,
  { deposit, limits, resending, silence, timeout }: Settings.Settings
): Transport => {
  const { endpoint, request, url } = target
  const asked = { source: endpoint.source, url, method: request.method }
  const limit = Duration.toMillis(timeout)
  const forWhole = Send.accepting(target, "application/json")
  const forStream = Send.accepting(target, accepted)
  const spanned = Span.spanning(url, request.method)

  /**
   * Fails when the time limit is over. The limit is the first contender of the race, so an answer that arrives in the same instant is too
   * late.
   */
  const within = <A, E, E2, R>(
    self: Effect.Effect<A, E, R>,
    millis: number,
    failure: (error: LlmError.LlmError) => E2
  ): Effect.Effect<A, E | E2, R> => {
    if (millis === Infinity) return self
    const over = Effect.suspend(() => Effect.fail(failure(Fault.timedOut(asked, timeout))))
    return Effect.raceFirst(Effect.delay(over, Duration.millis(Math.max(0, millis))), self)
  }

  /** The failure of a silent server. The request is not resent, because the server may still work on it. */
  const silent = (limit: Duration.Duration, kind: Fault.Silence): Failure => ({
    error: Fault.silent(asked, limit, kind),
    resend: false
  })

  /**
   * Runs a call with all its attempts and the waits between them. `attempt` takes the deadline of the call, and `given` turns a reply that
   * a row answers with into a result.
   */
  const sending = <A, R>(
    attempt: (deadline: number) => Effect.Effect<A, Failure, R>,
    spent: Spent,
    given: (reply: Message.Reply) => A
  ): Effect.Effect<A, LlmError.LlmError, R> =>
    Effect.withFiber((fiber) => {
      const deadline = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe() + limit
      const once = Hold.sending(attempt(deadline))
      if (resending === undefined || fiber.getRef(Model.Resending) === "off")
        return Effect.mapError(once, ({ error }) => error)
      // The deadline is one millisecond less: a wait that lasts until the deadline itself would leave no time for the send.
      const each = Effect.mapError(once, (failure) => spent.failed(failure))
      const sent = resending({ attempt: each, given, deadline: deadline - 1 })
      return deposit === undefined ? sent : Effect.andThen(deposit, sent)
    })

  const post: Transport["post"] = (body, decode) => {
    const attempt = Effect.flatMap(Send.exchange(client, forWhole, body, limits), (exchange) =>
      Effect.flatMap(exchange.text, (text) => {
        const decoded = decode({ ...exchange.answer, body: text })
        if (Result.isFailure(decoded)) return Effect.fail(exchange.failed(decoded.failure))
        return Size.ofReply(decoded.success) > limits.maxReplyBytes
          ? Effect.fail(exchange.oversized("maxReplyBytes"))
          : Effect.succeed(decoded.success)
      })
    )
    const sent = spanned(attempt)
    const replied = Effect.suspend(() => {
      const spent = new Spent()
      const replied = sending(
        () => sent,
        spent,
        (reply) => reply
      )
      return Effect.map(replied, (reply) => spent.counted(reply))
    })
    return within(replied, limit, (error) => error)
  }

  const stream: Transport["stream"] = (body, decoder, whole) => {
    /**
     * Sends a request and reads its stream up to the first parts that a reader must not get twice. A failure before them can be resent.
     * Only the head of the answer has a deadline.
     */
    const attempt = (deadline: number, counted: (part: Model.Part) => void) =>
      Effect.gen(function* () {
        const sent = Send.exchange(client, forStream, body, limits)
        const left = deadline - (yield* Clock.currentTimeMillis)
        const exchange = yield* within(sent, left, (error): Failure => ({ error, resend: false }))
        const { answer } = exchange
        const readWhole = whole === undefined ? undefined : (body: string) => whole({ ...answer, body })
        let isShown = false
        const hasShown = () => isShown
        const reading = { hasShown, limits, silence, silent, sizeOf: Size.ofPart, whole: readWhole }
        const parts = yield* Parts.parts(exchange, decoder(answer), reading)
        const first = yield* Parts.first(parts, counted)
        isShown = true
        return { first, parts }
      })
    return Stream.unwrap(
      Effect.map(Effect.scope, (scope) => {
        const spent = new Spent()
        // Mutant `["Stryker was here"]` survives: the opening replaces the whole value
        let read: ReturnType<typeof Parts.given> = { first: [], parts: Cause.done() }
        // usage parts go to the reader at once, while all other parts are held back until the reply can no longer be resent
        const opening = Stream.callback<Model.Part, LlmError.LlmError>((queue) => {
          const counted = (part: Model.Part) => void Queue.offerUnsafe(queue, spent.part(part))
          const inScope = (deadline: number) => Parts.inChild(spanned(attempt(deadline, counted)), scope)
          const opened = Effect.map(sending(inScope, spent, Parts.given), (opened) => void (read = opened))
          return Effect.andThen(opened, Queue.end(queue))
        })
        const rest = Stream.suspend(() =>
          spent.rest(
            Stream.concat(Stream.fromArray(read.first), Stream.fromPull(Effect.succeed(Parts.bare(read.parts))))
          )
        )
        return Stream.concat(opening, rest)
      })
    )
  }

  return { post, stream }
}
