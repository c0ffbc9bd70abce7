/**
 * A run as the stream of UI messages that front ends of the AI SDK read (`useChat`, versions 6 and 7 of the SDK): a pure function of
 * the run's events. The chunks are those of the SDK's page "Stream Protocols".
 */
import type { AgentEvent } from "@kintsugi/core"
import * as Stream from "effect/Stream"
import type { Chunk, Options } from "./chunk.ts"
import { Drawing } from "./drawing.ts"

export type { Block, Chunk, FinishReason, Metadata, Options } from "./chunk.ts"

/** The headers of a response that sends them. */
export const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-vercel-ai-ui-message-stream": "v1",
  "x-accel-buffering": "no"
} as const

/** The chunks of the run that the first event is about. What happens in its fixers and sub-agents is not shown. */
export const fromEvents = (events: Iterable<AgentEvent.AgentEvent>, options?: Options): ReadonlyArray<Chunk> => {
  const drawing = new Drawing(options)
  return [...events].flatMap((event) => drawing.chunksOf(event))
}

/** The chunks of `agent.stream(input)`, as it goes on. How it ends is a chunk; the stream itself never fails. */
export const fromStream = <E, R>(
  events: Stream.Stream<AgentEvent.AgentEvent, E, R>,
  options?: Options
): Stream.Stream<Chunk, never, R> =>
  events.pipe(
    Stream.mapAccum(
      () => new Drawing(options),
      (drawing, event) => [drawing, drawing.chunksOf(event)] as const
    ),
    // the last event has told of it
    Stream.catch(() => Stream.empty)
  )

/** The body of a response: one server-sent event for each chunk, and the mark of the end. */
export const toServerSentEvents = <E, R>(chunks: Stream.Stream<Chunk, E, R>): Stream.Stream<string, E, R> =>
  Stream.concat(
    Stream.map(chunks, (chunk) => `data: ${JSON.stringify(chunk)}\n\n`),
    Stream.succeed("data: [DONE]\n\n")
  )
