import { Agent } from "@mastra/core/agent"
import { createTool } from "@mastra/core/tools"
import { z } from "zod"

export const tracked: Array<number> = []

const track = createTool({
  id: "track",
  description: "Where a parcel is.",
  inputSchema: z.object({ parcel: z.int() }),
  execute: async ({ parcel }) => {
    tracked.push(parcel)
    return `Parcel ${parcel} is in Graz.`
  }
})

const desk = new Agent({
  id: "desk",
  name: "desk",
  model: "openai/gpt-5.6-sol",
  instructions: "Tell people where their parcels are.",
  tools: { track }
})

export const answer = async () => (await desk.generate("Where is parcel 7?")).text
