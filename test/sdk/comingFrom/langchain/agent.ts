import { ChatOpenAI } from "@langchain/openai"
import { createAgent, tool } from "langchain"
import { z } from "zod"

export const tracked: Array<number> = []

const track = tool(
  async ({ parcel }) => {
    tracked.push(parcel)
    return `Parcel ${parcel} is in Graz.`
  },
  { name: "track", description: "Where a parcel is.", schema: z.object({ parcel: z.int() }) }
)

const desk = createAgent({
  model: new ChatOpenAI({ model: "gpt-5.6-sol" }),
  systemPrompt: "Tell people where their parcels are.",
  tools: [track]
})

export const answer = async () => {
  const { messages } = await desk.invoke({ messages: [{ role: "user", content: "Where is parcel 7?" }] })
  return messages.at(-1)?.text
}
