/**
 * Faults of an answer on its way. A fault is a function from the good answer to a bad or different one. Faults
 * compose, and a script puts them in front of a handler.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as LoopbackServer from "./LoopbackServer.ts"
import type { Split } from "./Split.ts"

/** Turns the good answer into a bad one, or answers without the handler. */
export interface Fault {
  (good: Effect.Effect<LoopbackServer.Answer>, request: LoopbackServer.Received): Effect.Effect<LoopbackServer.Answer>
}

/** Another answer; the handler does not run. */
export const respond =
  (answer: LoopbackServer.Answer): Fault =>
  () =>
    Effect.succeed(answer)

/** A status with a JSON body or a text; the handler does not run. */
export const status = (status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): Fault =>
  typeof body === "string"
    ? respond({ status, body, headers: { "content-type": "text/plain", ...headers } })
    : respond({ status, body: JSON.stringify(body), headers })

/** The good answer, after a delay by `Clock` or an effect of any kind. */
export const delayed = (wait: Duration.Input | Effect.Effect<unknown>): Fault =>
  changing(() => ({ before: Effect.isEffect(wait) ? wait : Effect.sleep(wait) }))

/** The good answer in pieces. */
export const split = (split: Split): Fault => changing(() => ({ split }))

/** The good answer, with an effect before each piece; pieces are numbered from 0. */
export const gated = (beforePiece: (index: number) => Effect.Effect<unknown>): Fault =>
  changing(() => ({ beforePiece }))

/** The connection breaks before anything is sent, but after the handler ran. */
export const lostBeforeHead: Fault = changing(() => ({ cut: { after: "nothing", how: "reset" } }))

/** The connection breaks after so many bytes of the body. */
export const lostAfter = (bytes: number): Fault => changing(() => ({ cut: { after: bytes, how: "reset" } }))

/** The body ends early, as if it were complete. */
export const endedAfter = (bytes: number): Fault => changing(() => ({ cut: { after: bytes, how: "end" } }))

/** Nothing is sent, ever; the connection stays. */
export const silent: Fault = changing(() => ({ cut: { after: "nothing", how: "silence" } }))

/** Nothing more is sent after so many bytes of the body; the connection stays. */
export const stalledAfter = (bytes: number): Fault => changing(() => ({ cut: { after: bytes, how: "silence" } }))

/** The good answer, changed. */
export function changing(change: (answer: LoopbackServer.Answer) => Partial<LoopbackServer.Answer>): Fault {
  return (good) => Effect.map(good, (answer) => ({ ...answer, ...change(answer) }))
}

/** Several faults of one answer, the first innermost. */
export const all =
  (...faults: ReadonlyArray<Fault>): Fault =>
  (good, request) => {
    let answer = good
    for (const fault of faults) answer = fault(answer, request)
    return answer
  }

/** The same fault, `count` times. */
export const times = (count: number, fault: Fault): ReadonlyArray<Fault> => Array.from({ length: count }, () => fault)

/** Faults by the number of the request; `undefined` lets it through. */
export type Script = ReadonlyArray<Fault | undefined> | ((request: LoopbackServer.Received) => Fault | undefined)

/** A handler behind faults: the n-th of a list applies to the n-th request of the server; requests after the last pass. */
export const inFront =
  (script: Script, handler: LoopbackServer.Handler): LoopbackServer.Handler =>
  (request) => {
    const fault = typeof script === "function" ? script(request) : script[request.number - 1]
    return fault === undefined ? handler(request) : fault(handler(request), request)
  }
