/** Readers that come back to a run: `EventSource`, and the front ends of the AI SDK. They stop nothing when they leave. */
import * as EventStream from "@kintsugi/interop/EventStream"
import * as UiMessageStream from "@kintsugi/interop/UiMessageStream"
import { Effect, Exit, Layer, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Running } from "./running.ts"

const events = "/runs/:runId/events"
const chat = "/chat/:id/stream"

/** The addresses of these streams, and the methods of each. */
export const routes: ReadonlyArray<readonly [HttpRouter.PathInput, ReadonlyArray<string>]> = [
  [events, ["GET"]],
  [chat, ["GET"]]
]

const respond = ({ body, headers, status }: Effect.Success<ReturnType<typeof EventStream.answer>>) =>
  HttpServerResponse.stream(Stream.encodeText(body), { status, headers })

const eventsOf = Effect.gen(function* () {
  const { runId = "" } = yield* HttpRouter.params
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const { after } = yield* HttpServerRequest.ParsedSearchParams
  const run = (yield* Running).find(runId)
  const asked = { runId, lastEventId: headers["last-event-id"], after: Array.isArray(after) ? after.at(-1) : after }
  return respond(yield* EventStream.answer(run, asked))
})

/** The whole message of the run at work, from its beginning: the front end writes it anew. Without one, the SDK wants 204. */
const chatOf = Effect.gen(function* () {
  const { id = "" } = yield* HttpRouter.params
  const run = (yield* Running).findChat(id)
  if (run === undefined || (yield* isOver(run.outcome))) return HttpServerResponse.empty({ status: 204 })
  const lines = UiMessageStream.toServerSentEvents(UiMessageStream.fromStream(run.events))
  return HttpServerResponse.stream(Stream.encodeText(lines), { headers: UiMessageStream.headers })
})

const isOver = <A, E>(outcome: Effect.Effect<A, E>) =>
  Effect.raceFirst(Effect.map(Effect.exit(outcome), Exit.isExit), Effect.as(Effect.yieldNow, false))

export const layer = Layer.mergeAll(HttpRouter.add("GET", events, eventsOf), HttpRouter.add("GET", chat, chatOf))
