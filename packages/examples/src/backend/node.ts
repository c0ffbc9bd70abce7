/** The server of Node: the one module that knows on what the backend runs. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer } from "effect"
import { createServer } from "node:http"
import { listening } from "./config.ts"

/** Listens where the options say. */
export const layer = (options: NodeHttpServer.Options) => NodeHttpServer.layer(createServer, options)

/** Listens where the environment says. */
export const layerConfig = Layer.unwrap(Effect.map(listening, layer))
