/** The same with nothing but zod. */
import { z } from "zod"

const Params = z.strictObject({ a: z.number(), b: z.number() })

const Reply = z.object({
  choices: z.array(
    z.object({
      message: z.object({
        content: z.string().nullable(),
        tool_calls: z
          .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
          .optional()
      })
    })
  )
})

const parameters = z.toJSONSchema(Params)
const tools = [{ type: "function", function: { name: "add", description: "Adds two numbers.", parameters } }]

const ask = async (baseUrl: string, messages: ReadonlyArray<object>) => {
  const response = await fetch(`${baseUrl}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer key" },
    body: JSON.stringify({ model: "m", messages, tools })
  })
  return Reply.parse(await response.json())
}

export const main = async (input: string, baseUrl = "https://api.openai.com/v1"): Promise<string> => {
  const messages: Array<object> = [{ role: "user", content: input }]
  for (let turn = 0; turn < 8; turn++) {
    const reply = await ask(baseUrl, messages)
    const message = reply.choices[0]?.message
    if (message?.tool_calls === undefined) return message?.content ?? ""
    messages.push({ role: "assistant", ...message })
    for (const call of message.tool_calls) {
      const { a, b } = Params.parse(JSON.parse(call.function.arguments))
      messages.push({ role: "tool", tool_call_id: call.id, content: JSON.stringify(a + b) })
    }
  }
  throw new Error("too many turns")
}
