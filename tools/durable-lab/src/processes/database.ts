/** A database in memory, in a process of its own: it outlives those that are killed. It prints its port once it listens. */
import { PGlite } from "@electric-sql/pglite"
import { PGLiteSocketServer } from "@electric-sql/pglite-socket"

const database = await PGlite.create()
const server = new PGLiteSocketServer({ db: database, host: "127.0.0.1", port: 0 })
server.addEventListener("listening", (event) => {
  // what the server tells
  const { port } = (event as CustomEvent<{ readonly port: number }>).detail
  process.stdout.write(`${port}\n`)
})
await server.start()
