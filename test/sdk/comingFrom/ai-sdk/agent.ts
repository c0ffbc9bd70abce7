import { openai } from "@ai-sdk/openai"
import { tool, ToolLoopAgent } from "ai"
import { z } from "zod"

export const tracked: Array<number> = []

const track = tool({
  description: "Where a parcel is.",
  inputSchema: z.object({ parcel: z.int() }),
  execute: async ({ parcel }) => {
    tracked.push(parcel)
    return `Parcel ${parcel} is in Graz.`
  }
})

const desk = new ToolLoopAgent({
  model: openai("gpt-5.6-sol"),
  instructions: "Tell people where their parcels are.",
  tools: { track }
})

export const answer = async () => (await desk.generate({ prompt: "Where is parcel 7?" })).text
