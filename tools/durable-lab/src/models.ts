/** The models of a cluster's runs: one server outside of all runners, which counts who was asked about what. */
import { createServer } from "node:http"

export interface Models {
  readonly url: string
  /** How often each turn was asked for, by order. */
  readonly asked: ReadonlyMap<string, ReadonlyMap<string, number>>
  readonly stop: () => void
}

/** `hear` is called at each request, with their number. */
export const startModels = (hear: (count: number) => void = () => {}): Promise<Models> =>
  new Promise((resolve, reject) => {
    const asked = new Map<string, Map<string, number>>()
    let count = 0
    const server = createServer((request, response) => {
      const [, order = "", ...turn] = (request.url ?? "").split("/")
      const turns = asked.get(order) ?? new Map<string, number>()
      asked.set(order, turns.set(turn.join("/"), (turns.get(turn.join("/")) ?? 0) + 1))
      hear(++count)
      response.end("said")
    })
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const stop = () => {
        server.close()
        server.closeAllConnections()
      }
      resolve({ url: `http://127.0.0.1:${port}`, asked, stop })
    })
  })
