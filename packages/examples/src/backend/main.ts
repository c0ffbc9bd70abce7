/** `npm run backend`: the server of this folder, until a signal stops it. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Cause, Exit, Layer, Runtime } from "effect"
import * as Config from "./config.ts"
import * as Node from "./node.ts"
import * as Server from "./server.ts"
import * as Shop from "./shop.ts"

const orders = [
  { id: "A-17", item: "a lamp", cents: 4900 },
  { id: "B-4", item: "an oak table", cents: 78_000 }
]

const live = Server.layer.pipe(
  Layer.provide(Node.layerConfig),
  Layer.provide([Config.layerModel, Shop.layerMemory(orders), Config.layerSuspended, Config.layerAccess])
)

/** A server that a signal has stopped has not failed. */
const teardown: Runtime.Teardown = (exit, onExit) =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? onExit(0) : Runtime.defaultTeardown(exit, onExit)

NodeRuntime.runMain(Layer.launch(live), { teardown })
