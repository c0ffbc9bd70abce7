/**
 * Faults of an answer on its way. A fault is a function from the good answer to a bad or different one. Faults
 * compose, and `inFront` puts a script of them in front of a handler.
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Answer, Cut, Handler, Received } from "./handling.ts"
import * as Split from "./split.ts"

/**
 * Turns a good answer into a bad or different one. It may also answer without the handler. A fault of your own is such a function: `(good)
 * => Effect.map(good, (answer) => ({ ...answer, status: 418 }))`.
 */
export interface Fault {
  (good: Effect.Effect<Answer>, request: Received): Effect.Effect<Answer>
}

/** A status with a JSON body or a text. The handler does not run. */
export const status =
  (status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): Fault =>
  () =>
    Effect.succeed(
      typeof body === "string"
        ? { status, body, headers: { "content-type": "text/plain", ...headers } }
        : { status, body: JSON.stringify(body), headers }
    )

/** Delays the good answer. The delay is by `Clock`, or an effect of any kind. */
export const delayed = (wait: Duration.Input | Effect.Effect<unknown>): Fault =>
  changing({ before: Effect.isEffect(wait) ? wait : Effect.sleep(wait) })

/**
 * Sends the good answer in pieces. They are `whole`, or end after every `event` (a blank line, LF or CRLF), after every `line`, after every
 * `byte`, in the middle of every character of more than one byte, between CR and LF, or after every this many bytes.
 */
export const split = (split: Split.Split): Fault => changing({ split })

/** Runs an effect before each piece of the good answer. Pieces are numbered from 0. */
export const gated = (beforePiece: (index: number) => Effect.Effect<unknown>): Fault => changing({ beforePiece })

/** A gate that holds an answer after some of its parts, made by `gate`. */
interface Gate {
  readonly fault: Fault
  /** Ends when an answer waits at the gate, which means that the parts before the gate were sent. */
  readonly reached: Effect.Effect<void>
  /** Opens the gate: the rest of the held answer is sent, and later answers are not held. */
  readonly release: Effect.Effect<void>
}

/**
 * Makes a gate that holds an answer until you release it. It holds the answer after this many parts. Parts are the events of a stream, or
 * its lines; a whole body is one part. An answer without so many parts becomes status 500, with a text that says so.
 */
export const gate = (parts: number): Effect.Effect<Gate> =>
  Effect.suspend(() => {
    const after = counted("gate", "parts", parts)
    const reached = Deferred.makeUnsafe<void>()
    const released = Deferred.makeUnsafe<void>()
    const held = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
    return Effect.succeed({
      fault: (good) =>
        Effect.map(good, (answer) => {
          lengthOf("gate", answer, after + 1)
          return {
            ...answer,
            split: partsIn(answer),
            beforePiece: (index) => (index === after ? held : Effect.void)
          }
        }),
      reached: Deferred.await(reached),
      release: Effect.asVoid(Deferred.succeed(released, undefined))
    })
  })

/**
 * Breaks the good answer off. It ends after this many bytes of the body or parts of the stream, or with `nothing` before the head; the
 * handler has run by then. Parts are counted as `gate` counts them. `reset` breaks the connection, `end` ends the body as if it were
 * complete, and `silence` keeps the connection and sends nothing more. A number that counts nothing is a `RangeError`.
 */
export const cut = (after: Cut["after"] | { readonly parts: number }, how: Cut["how"]): Fault => {
  if (typeof after === "object") {
    const parts = counted("cut", "parts", after.parts)
    return (good) => Effect.map(good, (answer) => ({ ...answer, cut: { after: lengthOf("cut", answer, parts), how } }))
  }
  return changing({ cut: { after: after === "nothing" ? after : counted("cut", "bytes", after), how } })
}

const counted = (fault: string, of: string, count: number): number => {
  if (Number.isInteger(count) && count >= 0) return count
  throw new RangeError(`Fault.${fault}: the number of ${of} must be a whole number of at least 0, got ${count}`)
}

const partsIn = ({ headers }: Answer): Split.Split => Split.parts(headers?.["content-type"] ?? "")

/** The number of bytes in the first `count` parts of an answer. Throws if the answer has fewer parts. */
const lengthOf = (fault: string, answer: Answer, count: number): number => {
  const found = Split.pieces(Buffer.from(answer.body), partsIn(answer))
  if (found.length >= count) return found.slice(0, count).reduce((sum, { length }) => sum + length, 0)
  throw new RangeError(`Fault.${fault}: the answer has no part ${count}, only ${found.length}`)
}

const changing =
  (changes: Partial<Answer>): Fault =>
  (good) =>
    Effect.map(good, (answer) => ({ ...answer, ...changes }))

/** Combines faults of one answer. The first fault changes the good answer, the second one the result of the first, and so on. */
export const all =
  (...faults: ReadonlyArray<Fault>): Fault =>
  (good, request) => {
    let answer = good
    for (const fault of faults) answer = fault(answer, request)
    return answer
  }

/** A fault for each request, by its number or by a function. `undefined` answers the request without a fault. */
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
