/** The server of Node: the only module that depends on the runtime. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import { listening } from "./config.ts"

/**
 * Connections that clients keep open would hold up a server that is to stop: once it is, each answer ends its own. The server listens before
 * its routes are there, which takes seconds with a database: until then a request gets 503, and does not wait for an answer that never comes.
 */
export const make = () => {
  const server = createServer()
  return server.on("request", (_, response) => {
    response.once("close", () => {
      if (!server.listening) server.closeIdleConnections()
    })
    if (server.listenerCount("request") === 1) response.writeHead(503, { "retry-after": "1" }).end()
  })
}

/** Listens where the options say. */
export const layer = (options: NodeHttpServer.Options) => NodeHttpServer.layer(make, options)

/** Listens where the environment says. */
export const layerConfig = Layer.unwrap(Effect.map(listening, layer))
