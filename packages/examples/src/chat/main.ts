/** `npm run chat`: a chat with the agent of the backend, over the model that the environment names. */
import * as NodeTerminal from "@effect/platform-node/NodeTerminal"
import { Agent } from "@kintsugi/core"
import { Effect, Layer, Terminal } from "effect"
import { chat } from "../19-terminal-chat.ts"
import { layerModel } from "../backend/config.ts"
import { desk } from "../backend/desk.ts"
import { layerMemory } from "../backend/shop.ts"
import { start } from "../backend/starting.ts"

const orders = [{ id: "A-17", item: "a lamp", cents: 4900 }]

/** Keys only stop an answer: the input ends at the prompt. */
const layerTerminal = Layer.effect(
  Terminal.Terminal,
  NodeTerminal.make(() => false)
)

const live = Layer.mergeAll(layerModel, layerMemory(orders), layerTerminal)

const help = `npm run chat

A chat with the agent of the backend. Ctrl-C stops an answer; without an answer, or at the end of the input, the chat is over.
The model is named by OPENAI_API_KEY (or ANTHROPIC_, GEMINI_, OPENROUTER_) and MODEL; without a key a stand-in answers.
`

start(help, Effect.provide(chat(Agent.resume(desk)), live))
