/** What stands between runners and their database, and can be cut. */
import { connect, createServer, type Socket } from "node:net"
import type { Transform } from "node:stream"

export interface Proxy {
  readonly port: number
  /** Ends all connections, and refuses new ones until it is mended. */
  readonly cut: () => void
  readonly mend: () => void
  readonly stop: () => void
}

/** Bytes go through a stream of `through` in each direction. If it fails, what it has passed on arrives, and the connection is cut. */
export const startProxy = (target: number, through?: () => Transform): Promise<Proxy> =>
  new Promise((resolve, reject) => {
    const sockets = new Set<Socket>()
    let isCut = false
    const server = createServer((near) => {
      if (isCut) return void near.resetAndDestroy()
      const far = connect(target, "127.0.0.1")
      for (const [one, other] of [
        [near, far],
        [far, near]
      ] as const) {
        sockets.add(one)
        if (through === undefined) one.pipe(other)
        else {
          const passing = through()
          one.pipe(passing).pipe(other)
          passing.on("error", () => other.destroySoon())
          one.on("close", () => passing.destroy())
        }
        one.on("error", () => other.destroy())
        one.on("close", () => {
          sockets.delete(one)
          other.destroy()
        })
      }
    })
    const destroy = () => sockets.forEach((socket) => socket.destroy())
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      resolve({
        port: typeof address === "object" && address !== null ? address.port : 0,
        cut: () => {
          isCut = true
          destroy()
        },
        mend: () => void (isCut = false),
        stop: () => {
          destroy()
          server.close()
        }
      })
    })
  })
