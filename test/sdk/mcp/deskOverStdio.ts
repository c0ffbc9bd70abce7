/** Our server as a program. */
import * as NodeStdio from "@effect/platform-node-shared/NodeStdio"
import * as McpServer from "@kintsugi/interop/McpServer"
import { Effect, Layer } from "effect"
import { served } from "./desk.ts"

Effect.runFork(Layer.launch(Layer.provide(McpServer.stdio(served), NodeStdio.layer)))
