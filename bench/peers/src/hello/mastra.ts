import { Agent } from "@mastra/core/agent"
import { createTool } from "@mastra/core/tools"
import { z } from "zod"

const add = createTool({
  id: "add",
  description: "Adds two numbers.",
  inputSchema: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => a + b
})

const agent = new Agent({ id: "adder", name: "adder", instructions: "Add.", model: "openai/m", tools: { add } })

export const main = async (input: string): Promise<string> => (await agent.generate(input)).text
