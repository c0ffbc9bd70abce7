import { generateText, stepCountIs, tool } from "ai"
import { z } from "zod"

const tools = {
  add: tool({
    description: "Adds two numbers.",
    inputSchema: z.strictObject({ a: z.number(), b: z.number() }),
    execute: async ({ a, b }) => a + b
  })
}

/** By the gateway that the package brings along. */
export const main = async (input: string): Promise<string> =>
  (await generateText({ model: "openai/m", prompt: input, tools, stopWhen: stepCountIs(8) })).text
