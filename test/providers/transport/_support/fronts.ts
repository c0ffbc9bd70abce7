/** What may stand between a client and a server: a proxy, a front that asks for a certificate, and one that counts connections. */
import * as Net from "node:net"
import * as Tls from "node:tls"
import { Effect, type Scope } from "effect"
import { readFileSync } from "node:fs"

/** Listens on a port of the loopback interface; the server and its sockets are closed with the scope. */
const listening = (
  make: (keep: (socket: Net.Socket) => void) => Net.Server
): Effect.Effect<number, never, Scope.Scope> =>
  Effect.gen(function* () {
    const sockets = new Set<Net.Socket>()
    const server = make((socket) => {
      sockets.add(socket)
      socket.on("error", () => undefined)
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
      () =>
        Effect.sync(() => {
          server.close()
          for (const socket of sockets) socket.destroy()
        })
    )
    const address = server.address()
    return address !== null && typeof address === "object" ? address.port : 0
  })

const portOf = (url: string): number => Number(new URL(url).port)

/** A proxy for tunnels that counts them. */
export const tunnelling = Effect.gen(function* () {
  let count = 0
  const port = yield* listening((keep) =>
    Net.createServer((socket) => {
      keep(socket)
      socket.once("data", (head) => {
        const [, host = "", port = ""] = /^CONNECT ([^:]+):(\d+) /.exec(head.toString()) ?? []
        count++
        const target = Net.connect(Number(port), host, () => {
          socket.write("HTTP/1.1 200 Connection established\r\n\r\n")
          socket.pipe(target).pipe(socket)
        })
        keep(target)
      })
    })
  )
  return { url: `http://127.0.0.1:${port}`, count: () => count }
})

/** Stands before a server, and counts the connections to it. */
export const counting = (url: string) =>
  Effect.gen(function* () {
    let count = 0
    const port = yield* listening((keep) =>
      Net.createServer((socket) => {
        keep(socket)
        count++
        const target = Net.connect(portOf(url), "127.0.0.1", () => void socket.pipe(target).pipe(socket))
        keep(target)
      })
    )
    return { url: `http://127.0.0.1:${port}`, count: () => count }
  })

const certificate = (name: string) => readFileSync(new URL(`../../../fixtures/certificates/${name}`, import.meta.url))

/** The certificate of the client, and the authority that signed those of the server and of the client. */
export const pem = {
  cert: certificate("client.pem"),
  key: certificate("client.key"),
  ca: certificate("authority.pem")
}

/** Stands before a server, lets in the clients that the authority has signed, and notes their names. */
export const guarded = (url: string) =>
  Effect.gen(function* () {
    const names: Array<string> = []
    const options = { key: certificate("server.key"), cert: certificate("server.pem"), ca: pem.ca, requestCert: true }
    const port = yield* listening((keep) =>
      Tls.createServer(options, (socket) => {
        keep(socket)
        names.push(String(socket.getPeerCertificate().subject.CN))
        const target = Net.connect(portOf(url), "127.0.0.1", () => void socket.pipe(target).pipe(socket))
        keep(target)
      }).on("tlsClientError", () => undefined)
    )
    return { url: `https://127.0.0.1:${port}`, names }
  })
