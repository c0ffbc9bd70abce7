/** The server of the backend before its routes are there. */
import * as Node from "@kintsugi/examples/backend/node"
import { once } from "node:events"
import { afterEach, expect, it } from "vitest"

const server = Node.make()
afterEach(() => void server.close())

it("a request that comes before the routes gets 503, and one that comes after them their answer", async () => {
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  if (typeof address !== "object" || address === null) throw new TypeError("an address with a port")
  const ask = async () => {
    const { headers, status } = await fetch(`http://127.0.0.1:${address.port}/health`, {
      headers: { connection: "close" }
    })
    return [status, headers.get("retry-after")]
  }
  expect(await ask()).toEqual([503, "1"])
  server.on("request", (_, response) => response.end("ok"))
  expect(await ask()).toEqual([200, null])
})
