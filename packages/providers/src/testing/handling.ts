/** What a handler of a loopback server receives, and what it answers. */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Split } from "./split.ts"

/** A request that the server received. */
export interface Received {
  /** 1 for the first request of this server. */
  readonly number: number
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Without `authorization`, names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly authorization?: Redacted.Redacted
  readonly text: string
  /** The body as JSON; `undefined` if it is not JSON. */
  readonly body: unknown
  /** Milliseconds since the epoch, by Effect's `Clock`. */
  readonly at: number
}

/** The answer of a handler. */
export interface Answer {
  /** 200 by default. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** An effect that runs before anything is sent. */
  readonly before?: Effect.Effect<unknown>
  /** `whole` by default. */
  readonly split?: Split
  /** An effect that runs before each piece, from number 0. The head is already sent. */
  readonly beforePiece?: (index: number) => Effect.Effect<unknown>
  /**
   * Runs before the last piece of an answer that does not break off.
   *
   * @internal
   */
  readonly beforeEnd?: Effect.Effect<unknown>
  /** Where the answer breaks off. */
  readonly cut?: Cut
}

/**
 * `after` this many bytes of the body, or instead of the head. `reset` breaks the connection; `end` ends the body as
 * if it were complete; `silence` keeps the connection and sends nothing more.
 */
export interface Cut {
  readonly after: number | "nothing"
  readonly how: "reset" | "end" | "silence"
}

/** Answers one request. A defect becomes an answer with status 500. */
export interface Handler {
  (request: Received): Effect.Effect<Answer>
}
