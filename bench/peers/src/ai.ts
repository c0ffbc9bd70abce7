import { generateText, stepCountIs, tool } from "ai"
import { MockLanguageModelV4 } from "ai/test"
import { z } from "zod"
import { addition, args, type Behaviour, description, isResult, nextId, type Peer, prompt, input } from "./peer.ts"

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 }
}

/** Vercel `ai`: a tool that fails is told to the model, which calls again. */
export const ai = (behaviour: Behaviour): Peer => {
  const add = addition(behaviour)
  const model = new MockLanguageModelV4({
    doGenerate: async ({ prompt: messages }) => {
      const last = messages.at(-1)
      const [part] = last?.role === "tool" ? last.content : []
      const isDone =
        part?.type === "tool-result" && "value" in part.output && isResult(JSON.stringify(part.output.value))
      return isDone
        ? {
            content: [{ type: "text", text: "3" }],
            finishReason: { unified: "stop", raw: "stop" },
            usage,
            warnings: []
          }
        : {
            content: [{ type: "tool-call", toolCallId: nextId(), toolName: "add", input: args }],
            finishReason: { unified: "tool-calls", raw: "tool_calls" },
            usage,
            warnings: []
          }
    }
  })
  const tools = {
    add: tool({
      description,
      inputSchema: z.strictObject({ a: z.number(), b: z.number() }),
      execute: async (params) => add(params)
    })
  }
  return {
    name: "ai",
    run: async () => {
      // the mock keeps every call
      model.doGenerateCalls.length = 0
      return (await generateText({ model, system: prompt, prompt: input, tools, stopWhen: stepCountIs(8) })).text
    }
  }
}
