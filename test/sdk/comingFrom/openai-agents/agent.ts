import { Agent, run, tool } from "@openai/agents"
import { z } from "zod"

export const tracked: Array<number> = []

const track = tool({
  name: "track",
  description: "Where a parcel is.",
  parameters: z.object({ parcel: z.int() }),
  execute: async ({ parcel }) => {
    tracked.push(parcel)
    return `Parcel ${parcel} is in Graz.`
  }
})

const desk = new Agent({
  name: "desk",
  model: "gpt-5.6-sol",
  instructions: "Tell people where their parcels are.",
  tools: [track]
})

export const answer = async () => (await run(desk, "Where is parcel 7?")).finalOutput
