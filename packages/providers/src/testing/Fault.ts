/**
 * Faults of an answer on its way. A fault is a function from the good answer to a bad or different one. Faults
 * compose, and `inFront` puts a script of them in front of a handler.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Answer, Cut, Handler, Received } from "./handling.ts"
import type { Split } from "./split.ts"

/**
 * Turns the good answer into a bad one, or answers without the handler. A fault of your own is such a function:
 * `(good) => Effect.map(good, (answer) => ({ ...answer, status: 418 }))`.
 */
export interface Fault {
  (good: Effect.Effect<Answer>, request: Received): Effect.Effect<Answer>
}

/** A status with a JSON body or a text; the handler does not run. */
export const status =
  (status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): Fault =>
  () =>
    Effect.succeed(
      typeof body === "string"
        ? { status, body, headers: { "content-type": "text/plain", ...headers } }
        : { status, body: JSON.stringify(body), headers }
    )

/** The good answer, after a delay by `Clock` or an effect of any kind. */
export const delayed = (wait: Duration.Input | Effect.Effect<unknown>): Fault =>
  changing({ before: Effect.isEffect(wait) ? wait : Effect.sleep(wait) })

/**
 * The good answer in pieces: `whole`; after every `event` (a blank line, LF or CRLF); after every `line`; after every
 * `byte`; in the middle of every character of more than one byte; between CR and LF; or after every this many bytes.
 */
export const split = (split: Split): Fault => changing({ split })

/** The good answer, with an effect before each piece; pieces are numbered from 0. */
export const gated = (beforePiece: (index: number) => Effect.Effect<unknown>): Fault => changing({ beforePiece })

/**
 * The good answer breaks off after this many bytes of the body, or with `nothing` before the head; the handler has run by
 * then. `reset` breaks the connection, `end` ends the body as if it were complete, and `silence` keeps the connection and
 * sends nothing more.
 */
export const cut = (after: Cut["after"], how: Cut["how"]): Fault => changing({ cut: { after, how } })

const changing =
  (changes: Partial<Answer>): Fault =>
  (good) =>
    Effect.map(good, (answer) => ({ ...answer, ...changes }))

/** Several faults of one answer, the first innermost. */
export const all =
  (...faults: ReadonlyArray<Fault>): Fault =>
  (good, request) => {
    let answer = good
    for (const fault of faults) answer = fault(answer, request)
    return answer
  }

/** Faults by the number of the request; `undefined` lets it through. */
type Script = ReadonlyArray<Fault | undefined> | ((request: Received) => Fault | undefined)

/**
 * A handler behind faults. The n-th fault of a list applies to the n-th request of the server; `undefined` and the end of
 * the list let requests pass. A function chooses the fault of each request.
 */
export const inFront =
  (script: Script, handler: Handler): Handler =>
  (request) => {
    const fault = typeof script === "function" ? script(request) : script[request.number - 1]
    return fault === undefined ? handler(request) : fault(handler(request), request)
  }
