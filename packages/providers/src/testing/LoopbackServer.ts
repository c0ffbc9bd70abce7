/**
 * A real HTTP server on the loopback interface, for tests. A handler answers each request, and controls the pieces of the answer, their
 * timing and whether the answer is complete. The server itself knows nothing of models.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import type * as Scope from "effect/Scope"
import * as Http from "node:http"
import type { Answer, Cut, Handler, Received } from "./handling.ts"
import * as Split from "./split.ts"

/** A running server, and its requests. */
export interface LoopbackServer {
  /** `http://127.0.0.1:` and the port that the system assigned. */
  readonly url: string
  /** Every request so far, in the order of arrival. */
  readonly requests: Effect.Effect<ReadonlyArray<Received>>
  /** The next request whose client disconnects before its answer is complete. */
  readonly nextAbort: Effect.Effect<Received>
}

/** Starts a server that stops with its scope. It drops its connections when the scope closes. */
export const make = (handler: Handler): Effect.Effect<LoopbackServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests = yield* Ref.make<ReadonlyArray<Received>>([])
    const aborts = yield* Queue.unbounded<Received>()
    const run = yield* FiberSet.makeRuntime<never, void>()
    const server = Http.createServer((request, response) => {
      run(serve(handler, requests, aborts, request, response))
    })
    yield* Effect.acquireRelease(listen(server), () => close(server))
    // the address of a server that listens on a port
    const { port } = server.address() as Exclude<ReturnType<Http.Server["address"]>, string | null>
    return {
      url: `http://127.0.0.1:${port}`,
      requests: Ref.get(requests),
      nextAbort: Queue.take(aborts)
    }
  })

/** A URL without a listening server. It is the URL of a server that has just stopped. */
export const refusedUrl: Effect.Effect<string> = Effect.scoped(
  Effect.map(
    make(() => Effect.succeed({ body: "" })),
    ({ url }) => url
  )
)

const listen = (server: Http.Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.once("error", (error) => resume(Effect.die(error)))
    server.listen(0, "127.0.0.1", () => resume(Effect.void))
  })

const close = (server: Http.Server): Effect.Effect<void> =>
  Effect.callback((resume) => {
    server.close(() => resume(Effect.void))
    server.closeAllConnections()
  })

const serve = (
  handler: Handler,
  requests: Ref.Ref<ReadonlyArray<Received>>,
  aborts: Queue.Queue<Received>,
  request: Http.IncomingMessage,
  response: Http.ServerResponse
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const text = yield* readAll(request)
    const at = yield* Clock.currentTimeMillis
    const received = yield* Ref.modify(requests, (before) => {
      const next = describe(request, text, before.length + 1, at)
      return [next, [...before, next]]
    })
    const answer = Effect.flatMap(
      Effect.catchCause(
        Effect.suspend(() => handler(received)),
        (cause) => Effect.succeed(broken(cause))
      ),
      (answer) => send(answer, response)
    )
    const gone = Effect.andThen(clientGone(response), Queue.offer(aborts, received))
    yield* Effect.raceFirst(answer, gone)
  })

const readAll = (request: Http.IncomingMessage): Effect.Effect<string> =>
  Effect.callback((resume) => {
    const chunks: Array<Uint8Array> = []
    request.on("data", (chunk: Uint8Array) => chunks.push(chunk))
    request.once("end", () => resume(Effect.sync(() => Buffer.concat(chunks).toString("utf8"))))
    // Mutants `""`, `undefined` survive: such a request is not shown, and its fiber ends with the server
    request.once("error", () => resume(Effect.interrupt))
  })

const describe = (request: Http.IncomingMessage, text: string, number: number, at: number): Received => {
  const { authorization, ...others } = request.headers
  const headers = Object.entries(others).map(([name, value]): [string, string] => [name, String(value)])
  return {
    number,
    method: request.method ?? "",
    path: request.url ?? "",
    headers: Object.fromEntries(headers),
    ...(authorization === undefined ? {} : { authorization: Redacted.make(authorization) }),
    text,
    body: parsed(text),
    at
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const broken = (cause: Cause.Cause<never>): Answer => ({
  status: 500,
  body: `the handler died: ${Cause.pretty(cause)}`
})

/** Waits until the client closes the connection before the answer is complete. If the answer is completed, it never ends. */
const clientGone = (response: Http.ServerResponse): Effect.Effect<void> =>
  Effect.callback((resume) => {
    response.once("close", () => (response.writableFinished ? undefined : resume(Effect.void)))
  })

const send = (answer: Answer, response: Http.ServerResponse): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (answer.before !== undefined) yield* answer.before
    const { cut } = answer
    if (cut?.after === "nothing") return yield* breakOff(cut.how, response)
    const bytes = typeof answer.body === "string" ? new TextEncoder().encode(answer.body) : answer.body
    const sentBytes = cut === undefined ? bytes : bytes.subarray(0, cut.after)
    writeHead(answer, bytes.length, response)
    let index = 0
    const pieces = Split.pieces(sentBytes, answer.split ?? "whole")
    for (const piece of pieces) {
      if (answer.beforePiece !== undefined) yield* answer.beforePiece(index)
      index++
      const isEnd = index === pieces.length && sentBytes.length === bytes.length
      if (isEnd && answer.beforeEnd !== undefined) yield* answer.beforeEnd
      yield* write(response, piece)
    }
    yield* breakOff(cut?.how ?? "end", response)
  })

const writeHead = (answer: Answer, length: number, response: Http.ServerResponse): void => {
  const headers = { "content-type": "application/json", ...answer.headers }
  // a stream, and a body that is to end early, get no `content-length`, with which a client would wait for the missing bytes
  const stated = answer.cut?.how === "end" || /event-stream|ndjson/.test(headers["content-type"])
  response.writeHead(answer.status ?? 200, stated ? headers : { "content-length": String(length), ...headers })
  response.flushHeaders()
}

const write = (response: Http.ServerResponse, piece: Uint8Array): Effect.Effect<void> =>
  Effect.callback((resume) => {
    // if the connection is closed, this effect never ends; `clientGone` then ends the answer
    response.write(piece, (error) => (error ? undefined : resume(Effect.void)))
  })

const breakOff = (how: Cut["how"], response: Http.ServerResponse): Effect.Effect<void> => {
  switch (how) {
    case "silence":
      return Effect.never
    case "reset":
      return Effect.sync(() => response.socket?.resetAndDestroy())
    case "end":
      return Effect.callback((resume) => {
        response.end(() => resume(Effect.void))
      })
  }
}
