/** The types of a loopback server's requests and answers. */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Split } from "./split.ts"

/** A request that the server received. */
export interface Received {
  /** The number of the request on this server; the first request is 1. */
  readonly number: number
  readonly method: string
  /** The path of the request, with the query. */
  readonly path: string
  /** The headers with names in lower case, without `authorization`. */
  readonly headers: Readonly<Record<string, string>>
  readonly authorization?: Redacted.Redacted
  readonly text: string
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly body: unknown
  /** The time of arrival in milliseconds since the epoch, by Effect's `Clock`. */
  readonly at: number
}

/** An answer that a handler makes. */
export interface Answer {
  /** The HTTP status; 200 by default. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** An effect that runs before any part of the answer is sent. */
  readonly before?: Effect.Effect<unknown>
  /** Where the body is cut into pieces; `whole` by default. */
  readonly split?: Split
  /** An effect that runs before each piece of the body, after the head was sent. Pieces are numbered from 0. */
  readonly beforePiece?: (index: number) => Effect.Effect<unknown>
  /**
   * An effect that runs before the last piece of the body; it does not run if the answer breaks off.
   *
   * @internal
   */
  readonly beforeEnd?: Effect.Effect<unknown>
  /** Where and how the answer breaks off; absent for a complete answer. */
  readonly cut?: Cut
}

/**
 * How an answer breaks off: after this many bytes of the body, or with `nothing` before the head. `reset` breaks the connection; `end` ends
 * the body as if it were complete; `silence` keeps the connection open and sends nothing more.
 */
export interface Cut {
  readonly after: number | "nothing"
  readonly how: "reset" | "end" | "silence"
}

/** Answers one request. A defect becomes an answer with status 500. */
export interface Handler {
  (request: Received): Effect.Effect<Answer>
}
