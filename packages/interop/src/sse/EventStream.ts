/** The events of a started run as server-sent events. Readers may come back: `EventSource`, or any client of HTTP. */
import { type Agent, AgentEvent } from "@kintsugi/core"
import * as Cursor from "@kintsugi/core/Cursor"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** The part of a reader's HTTP request that matters here. An empty text counts as an absent one. */
type Asked = {
  /**
   * The id with which the server has found the run. If it is given, a cursor of another run is refused. Leave it out for a durable run,
   * whose cursors have another id.
   */
  readonly runId?: string
  /**
   * The header `Last-Event-ID`, which `EventSource` sends after a lost connection. It wins over `after`, because the URL with `after` stays
   * the same in every request of a reader.
   */
  readonly lastEventId?: string | null | undefined
  /** The query parameter `?after=`: the cursor after which the reader begins. */
  readonly after?: string | null | undefined
}

/** An HTTP response, for the server to send. */
type Answer<E, R> = {
  readonly status: 200 | 204 | 400 | 404
  readonly headers: Readonly<Record<string, string>>
  readonly body: Stream.Stream<string, E, R>
}

/** A run that this process has started. */
type Started = Pick<Agent.Run<unknown, unknown>, "events" | "outcome">

/** A run whose events are read elsewhere, such as a durable run. */
type Elsewhere<E, R> = {
  readonly events: (options: {
    readonly after?: string
    readonly onGap: "state"
  }) => Stream.Stream<AgentEvent.AgentEvent, E, R>
  /** Whether the run has ended. It answers at once, and does not wait for the end. */
  readonly isOver: Effect.Effect<boolean, E, R>
}

/**
 * The response to a reader of a run. `run` is `undefined` if the server knows no run of this id. Of a durable run it has `events`, from
 * `Durable.events`, and `isOver`, from `Durable.poll`.
 *
 * - Each event has its cursor as `id:`, and a comment comes every 15 seconds. A reader that leaves stops nothing.
 * - A reader with a cursor gets what is behind it. If that is gone, it gets one `events-lost` event with the transcript so far, and the rest.
 * - A reader that has the last event of the run gets 204: `EventSource` does not come again then.
 * - `run-suspended` comes without its snapshot, which has what no client may read. The server keeps it.
 * - The cursor of another run, and a text that is no cursor, is answered with 400, an unknown run with 404. `EventSource` does not come again then.
 */
export function answer<E = never, R = never>(
  run: Elsewhere<E, R> | undefined,
  asked: Asked
): Effect.Effect<Answer<E, R>, E, R>
export function answer(run: Started | undefined, asked: Asked): Effect.Effect<Answer<never, never>>
export function answer<E, R>(
  run: Elsewhere<E, R> | Started | undefined,
  asked: Asked
): Effect.Effect<Answer<E, R>, E, R> {
  return Effect.gen(function* () {
    if (!Predicate.isObject(asked)) {
      return yield* Effect.die(new TypeError(`EventStream.answer must be given what the request says, got ${asked}`))
    }
    if (run === undefined) return problem(404, "No such run")
    const after = asked.lastEventId || asked.after || undefined
    const cursor = after === undefined ? undefined : Cursor.read(after)
    if (after !== undefined && cursor === undefined) return problem(400, "This is no cursor")
    if (cursor !== undefined && asked.runId !== undefined && cursor.runId !== asked.runId) {
      return problem(400, "This is a cursor of another run")
    }
    const options = { ...(after === undefined ? {} : { after }), onGap: "state" } as const
    const events: Stream.Stream<AgentEvent.AgentEvent, E, R> = run.events(options)
    const isOver = "isOver" in run ? run.isOver : isEnded(run)
    if ((yield* isOver) && Option.isNone(yield* Stream.runHead(events))) return nothing
    return { status: 200, headers, body: Stream.merge(Stream.map(events, written), comments, { haltStrategy: "left" }) }
  })
}

/** Whether the run has ended. It answers at once, and does not wait for the end. */
const isEnded = ({ outcome }: Started): Effect.Effect<boolean> =>
  Effect.raceFirst(Effect.as(Effect.exit(outcome), true), Effect.as(Effect.yieldNow, false))

const encode = Schema.encodeSync(AgentEvent.AgentEvent)

/** Writes an event as a server-sent event. Its cursor is the `id:`, and so is left out of the data. */
const written = ({ cursor, ...event }: AgentEvent.AgentEvent): string =>
  `${cursor === undefined ? "" : `id: ${cursor}\n`}data: ${JSON.stringify(forClients(Object(encode(event))))}\n\n`

/** Removes the snapshot from an event: it has the tokens of deferred calls, withheld texts and bytes, and must stay on the server. */
const forClients = (event: object): object =>
  Object.fromEntries(Object.entries(event).filter(([key]) => key !== "snapshot"))

/** Comments without data, every 15 seconds, because proxies end a connection that is silent. */
const comments = Stream.as(Stream.fromSchedule(Schedule.spaced("15 seconds")), ": at work\n\n")

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no"
}

const nothing: Answer<never, never> = { status: 204, headers: { "cache-control": "no-store" }, body: Stream.empty }

const problem = (status: 400 | 404, title: string): Answer<never, never> => ({
  status,
  headers: { "content-type": "application/problem+json", "cache-control": "no-store" },
  body: Stream.succeed(JSON.stringify({ type: "about:blank", status, title }))
})
