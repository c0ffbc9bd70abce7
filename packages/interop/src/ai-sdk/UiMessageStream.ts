/**
 * A run as a UI message stream for the AI SDK's `useChat`. It is for versions 6 and 7 of the SDK, and a pure function of the run's events.
 * The SDK's page "Stream Protocols" defines the chunks.
 */
import type { AgentEvent } from "@kintsugi/core"
import * as Stream from "effect/Stream"
import type { Chunk, Options } from "./chunk.ts"
import { Drawing } from "./drawing.ts"

export type { Chunk } from "./chunk.ts"

/** The headers of a response with this stream. */
export const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no"
} as const

/** The chunks of the run of the first event. Its fixers and sub-agents are not shown. */
export const fromEvents = (events: Iterable<AgentEvent.AgentEvent>, options?: Options): ReadonlyArray<Chunk> => {
  const drawing = new Drawing(options)
  return [...events].flatMap((event) => drawing.chunksOf(event))
}

/** The chunks of `agent.stream(input)`, as it runs. The end of the run is a chunk; the stream itself never fails. */
export const fromStream = <E, R>(
  events: Stream.Stream<AgentEvent.AgentEvent, E, R>,
  options?: Options
): Stream.Stream<Chunk, never, R> =>
  events.pipe(
    Stream.mapAccum(
      () => new Drawing(options),
      (drawing, event) => [drawing, drawing.chunksOf(event)] as const
    ),
    // The last event has reported the failure already.
    Stream.catch(() => Stream.empty)
  )

/** The body of a response as server-sent events. It has one event for each chunk, and the end mark. */
export const toServerSentEvents = <E, R>(chunks: Stream.Stream<Chunk, E, R>): Stream.Stream<string, E, R> =>
  Stream.concat(
    Stream.map(chunks, (chunk) => `data: ${JSON.stringify(chunk)}\n\n`),
    Stream.succeed("data: [DONE]\n\n")
  )
