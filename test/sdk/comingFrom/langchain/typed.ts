import { ChatOpenAI } from "@langchain/openai"
import { createAgent, providerStrategy } from "langchain"
import { z } from "zod"

const Parcel = z.object({ parcel: z.int(), town: z.string() })

const reader = createAgent({
  model: new ChatOpenAI({ model: "gpt-5.6-sol" }),
  systemPrompt: "Read what it says of a parcel.",
  responseFormat: providerStrategy(Parcel)
})

export const answer = async () => {
  const content = "Parcel 7 has come to Graz."
  const { structuredResponse } = await reader.invoke({ messages: [{ role: "user", content }] })
  return structuredResponse
}
