/** Everything that can observe one call: its caller, listeners, tracers, loggers. */
import { inspect } from "node:util"
import { assert } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import { Cause, Effect, Exit, Logger, Schema, Tracer } from "effect"
import { finished, listening } from "../../_support/network.ts"

/** Everything that the observers of one call see. */
export const seen = <A>(call: Effect.Effect<A, LlmError.LlmError>, run: typeof finished = finished) =>
  Effect.gen(function* () {
    const spans: Array<Tracer.NativeSpan> = []
    const logs: Array<unknown> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const logger = Logger.make(({ cause, message }) => logs.push([message, Cause.pretty(cause)]))
    const { effect, events } = listening(Effect.tapCause(call, (cause) => Effect.logError("the call failed", cause)))
    const exit = yield* run(
      effect.pipe(Effect.withTracer(tracer), Effect.withSpan("test"), Effect.provide(Logger.layer([logger])))
    )
    return { exit, events, logs, spans }
  })

/** The pieces of 8 characters of a secret: a truncated text may contain no more of it. */
export const piecesOf = (secret: string): ReadonlyArray<string> =>
  Array.from({ length: secret.length - 7 }, (_, at) => secret.slice(at, at + 8))

/** No text holds any piece of the secret. */
export const keeps = (texts: ReadonlyArray<string>, secret: string, what = ""): void => {
  const pieces = piecesOf(secret)
  assert.isNotEmpty(pieces)
  for (const text of texts) {
    for (const piece of pieces) assert.isFalse(text.includes(piece), `${what}: '${piece}' is in ${text}`)
  }
}

const codec = Schema.toCodecJson(LlmError.LlmError)

/** As text, in each of the ways in which things become text. */
export const texts = ({
  events,
  exit,
  logs,
  spans
}: Effect.Success<ReturnType<typeof seen>>): ReadonlyArray<string> => {
  const failures = Exit.isFailure(exit)
    ? exit.cause.reasons.flatMap((reason) => (reason._tag === "Fail" ? [reason.error] : []))
    : []
  return [
    ...failures.flatMap((error) => [
      JSON.stringify(Schema.encodeSync(codec)(error)),
      JSON.stringify(error),
      String(error),
      error.message,
      error.stack ?? "",
      inspect(error, { depth: Infinity, showHidden: true })
    ]),
    inspect(exit, { depth: Infinity }),
    Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "",
    JSON.stringify(events),
    inspect(events, { depth: Infinity }),
    inspect(logs, { depth: Infinity }),
    JSON.stringify(logs),
    ...spans.map((span) => inspect([span.name, span.attributes, span.events, span.status], { depth: Infinity })),
    ...spans.map((span) =>
      JSON.stringify([span.name, [...span.attributes], span.events, span.status.startTime.toString()])
    )
  ]
}
