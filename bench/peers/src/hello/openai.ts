import OpenAI from "openai"
import { zodFunction } from "openai/helpers/zod"
import { z } from "zod"

const client = new OpenAI({ apiKey: "key" })

const add = zodFunction({
  name: "add",
  description: "Adds two numbers.",
  parameters: z.object({ a: z.number(), b: z.number() }),
  function: ({ a, b }) => String(a + b)
})

/** By the runner of the SDK, which calls the tool and asks again. */
export const main = async (input: string): Promise<string> => {
  const runner = client.chat.completions.runTools({
    model: "m",
    messages: [{ role: "user", content: input }],
    tools: [add]
  })
  return (await runner.finalContent()) ?? ""
}
