/** A server that answers with any bytes: with heads that no HTTP server would write. */
import { Effect, Ref, type Scope } from "effect"
import * as Net from "node:net"

/** Writes an answer to a socket, which the client has sent a whole request to. */
export type Raw = (socket: Net.Socket, path: string, number: number) => void

interface RawServer {
  readonly url: string
  readonly requests: Effect.Effect<ReadonlyArray<string>>
}

export const make = (answer: Raw): Effect.Effect<RawServer, never, Scope.Scope> =>
  Effect.gen(function* () {
    const requests = yield* Ref.make<ReadonlyArray<string>>([])
    const sockets = new Set<Net.Socket>()
    const server = Net.createServer((socket) => {
      sockets.add(socket)
      let text = ""
      socket.on("error", () => undefined)
      socket.on("close", () => sockets.delete(socket))
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1")
        const end = text.indexOf("\r\n\r\n")
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0)
        if (end === -1 || text.length < end + 4 + length) return
        const path = text.split(" ", 2)[1] ?? ""
        text = ""
        const all = [...Effect.runSync(Ref.get(requests)), path]
        Effect.runSync(Ref.set(requests, all))
        answer(socket, path, all.length)
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          for (const socket of sockets) socket.destroy()
        })
    )
    const address = server.address()
    const port = address !== null && typeof address === "object" ? address.port : 0
    return { url: `http://127.0.0.1:${port}`, requests: Ref.get(requests) }
  })
