/** One library in a process of its own: does a portion of runs whenever it is asked, and says what that took. */
import { timed } from "../../src/harness.ts"
import { promises } from "../../src/portion.ts"
import * as Work from "../../src/work.ts"
import type { Behaviour, Name, Order, Peer } from "./peer.ts"

const makers: Record<Name, () => Promise<(behaviour: Behaviour) => Peer>> = {
  ours: async () => (await import("../../src/beside.ts")).ours,
  ai: async () => (await import("./ai.ts")).ai,
  "effect/ai": async () => (await import("./effectAi.ts")).effectAi,
  "@openai/agents": async () => (await import("./openaiAgents.ts")).openaiAgents,
  "@langchain/langgraph": async () => (await import("./langgraph.ts")).langgraph,
  "@mastra/core": async () => (await import("./mastra.ts")).mastra,
  cockatiel: async () => (await import("./cockatiel.ts")).cockatiel
}

process.once("message", async ({ behaviour, name, runs }: Order) => {
  const peer = (await makers[name]())(behaviour)
  const { portion } = promises(name, runs, peer.run, Work.answer)
  process.on("message", async () => {
    globalThis.gc?.()
    process.send?.(await timed(portion))
  })
  process.send?.("ready")
})
