/** A server of Node on the loopback interface, for one effect that answers requests. */
import * as ErrorCause from "@kintsugi/core/ErrorCause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { Asked } from "./guard.ts"

/** A request. */
export interface Request extends Asked {
  /** Reads the body. The result is `undefined` if the body is longer than this server reads. */
  readonly body: Effect.Effect<string | undefined>
}

/** An answer: its whole body, or a stream of its pieces. */
export interface Response {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Stream.Stream<string>
}

/** The longest body of a request, in bytes. */
export const maxBody = 1024 * 1024

/** Where a server listens. */
export interface Listening {
  readonly port: number
}

/** Answers requests until the scope closes. Port 0 takes a free one. Fails with the reason if the port cannot be had. */
export const listen = (
  port: number,
  answer: (request: Request) => Effect.Effect<Response>
): Effect.Effect<Listening, Error, Scope.Scope> =>
  Effect.gen(function* () {
    const context = yield* Effect.context<Scope.Scope>()
    const run = Effect.runForkWith(context)
    const server = createServer((message, response) => {
      const fiber = run(answered(message, response, answer))
      response.once("close", () => run(Fiber.interrupt(fiber)))
    })
    yield* Effect.acquireRelease(opened(server, port), () => closed(server))
    const address = server.address()
    return { port: typeof address === "object" && address !== null ? address.port : port }
  })

const opened = (server: Server, port: number) =>
  Effect.callback<void, Error>((resume) => {
    server.once("error", (error) => resume(Effect.fail(error)))
    server.listen(port, "127.0.0.1", () => resume(Effect.void))
  })

const closed = (server: Server) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    // streams of events have no end of their own
    server.closeAllConnections()
  })

const answered = (
  message: IncomingMessage,
  response: ServerResponse,
  answer: (request: Request) => Effect.Effect<Response>
): Effect.Effect<void> => {
  const [path = "/", ...rest] = (message.url ?? "/").split("?")
  const headers = Object.fromEntries(
    Object.entries(message.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
  )
  const request: Request = {
    // Mutant `""` survives: Node gives each request to a server its method
    method: message.method ?? "GET",
    path,
    query: new URLSearchParams(rest.join("?")),
    headers,
    body: bodyOf(message)
  }
  return Effect.flatMap(Effect.exit(answer(request)), (exit) =>
    Exit.isSuccess(exit)
      ? written(response, exit.value)
      : Effect.andThen(
          Effect.logError("a request has met a bug", ErrorCause.logged(exit.cause)),
          written(response, { status: 500, headers: {}, body: `A bug of kintsugi: ${ErrorCause.logged(exit.cause)}\n` })
        )
  )
}

const written = (response: ServerResponse, { body, headers, status }: Response): Effect.Effect<void> => {
  const plain = {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff"
  }
  response.writeHead(status, { ...plain, "referrer-policy": "same-origin", ...headers })
  if (typeof body === "string") return Effect.sync(() => void response.end(body))
  response.flushHeaders()
  const pieces = Stream.runForEach(body, (piece) => sent(response, piece))
  return Effect.ensuring(
    pieces,
    Effect.sync(() => void response.end())
  )
}

/** Writes a piece, and waits while the reader is slower. */
const sent = (response: ServerResponse, piece: string): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (response.write(piece)) return resume(Effect.void)
    const drained = () => resume(Effect.void)
    response.once("drain", drained)
    // Mutant `undefined` survives: after an interruption nothing waits for the drain
    return Effect.sync(() => void response.off("drain", drained))
  })

const bodyOf = (message: IncomingMessage): Effect.Effect<string | undefined> =>
  Effect.callback((resume) => {
    const pieces: Array<Buffer> = []
    let size = 0
    message.on("data", (piece: Buffer) => {
      size += piece.length
      if (size <= maxBody) return void pieces.push(piece)
      // the rest is read and dropped, so that the client gets the answer
      pieces.length = 0
      resume(Effect.undefined)
    })
    message.once("end", () => resume(Effect.succeed(Buffer.concat(pieces).toString("utf8"))))
    // Mutant `""` survives: a request fails only when its response closes too, which interrupts the answer
    message.once("error", () => resume(Effect.undefined))
  })
