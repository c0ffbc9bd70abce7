import { Agent, type Model, type ModelRequest, Runner, setTracingDisabled, tool, Usage } from "@openai/agents"
import { z } from "zod"
import { addition, args, type Behaviour, description, isResult, nextId, type Peer, prompt, input } from "./peer.ts"

setTracingDisabled(true)

/** What the last item says of the tool. */
const isDone = ({ input }: ModelRequest): boolean => {
  if (typeof input === "string") return false
  const last = input.at(-1)
  if (last?.type !== "function_call_result") return false
  const { output } = last
  return isResult(typeof output === "string" ? output : "text" in output ? String(output.text) : JSON.stringify(output))
}

/** `@openai/agents`: a tool that fails is told to the model, which calls again. */
export const openaiAgents = (behaviour: Behaviour): Peer => {
  const add = addition(behaviour)
  const usage = new Usage({ inputTokens: 10, outputTokens: 5, totalTokens: 15 })
  const model: Model = {
    getResponse: async (request) =>
      isDone(request)
        ? {
            usage,
            output: [
              { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "3" }] }
            ]
          }
        : {
            usage,
            output: [{ type: "function_call", callId: nextId(), name: "add", arguments: args, status: "completed" }]
          },
    getStreamedResponse: () => {
      throw new Error("not streamed here")
    }
  }
  const agent = new Agent({
    name: "adder",
    instructions: prompt,
    model,
    tools: [
      tool({
        name: "add",
        description,
        parameters: z.object({ a: z.number(), b: z.number() }),
        execute: async (params) => String(add(params))
      })
    ]
  })
  const runner = new Runner({ tracingDisabled: true })
  return { name: "@openai/agents", run: async () => (await runner.run(agent, input)).finalOutput }
}
