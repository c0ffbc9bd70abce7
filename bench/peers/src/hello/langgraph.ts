import type { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { tool } from "@langchain/core/tools"
import { createReactAgent } from "@langchain/langgraph/prebuilt"
import { z } from "zod"

const add = tool(async ({ a, b }: { a: number; b: number }) => String(a + b), {
  name: "add",
  description: "Adds two numbers.",
  schema: z.strictObject({ a: z.number(), b: z.number() })
})

/** Without the package of any provider, which is what comes on top. */
export const main = async (input: string, llm: BaseChatModel): Promise<unknown> => {
  const { messages } = await createReactAgent({ llm, tools: [add] }).invoke({
    messages: [{ role: "user", content: input }]
  })
  return messages.at(-1)?.content
}
