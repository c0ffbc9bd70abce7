import { Agent, run, tool } from "@openai/agents"
import { z } from "zod"

const add = tool({
  name: "add",
  description: "Adds two numbers.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b)
})

const agent = new Agent({ name: "adder", model: "m", tools: [add] })

export const main = async (input: string): Promise<string> => (await run(agent, input)).finalOutput ?? ""
