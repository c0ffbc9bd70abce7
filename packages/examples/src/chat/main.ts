/** `npm run chat`: a chat with the agent of the backend, over the model that the environment names. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Agent } from "@kintsugi/core"
import { Effect, Layer, Terminal } from "effect"
import { chat } from "../19-terminal-chat.ts"
import { layerModel } from "../backend/config.ts"
import { desk } from "../backend/desk.ts"
import { layerMemory } from "../backend/shop.ts"

const orders = [{ id: "A-17", item: "a lamp", cents: 4900 }]

/** Keys only stop an answer: the input ends at the prompt. */
const layerTerminal = Layer.effect(
  Terminal.Terminal,
  NodeTerminal.make(() => false)
)

const live = Layer.mergeAll(layerModel, layerMemory(orders), layerTerminal)

NodeRuntime.runMain(Effect.provide(chat(Agent.resume(desk)), live))
