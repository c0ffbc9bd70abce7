import { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { AIMessage, type BaseMessage } from "@langchain/core/messages"
import type { ChatResult } from "@langchain/core/outputs"
import { tool } from "@langchain/core/tools"
import { createReactAgent } from "@langchain/langgraph/prebuilt"
import { z } from "zod"
import { addition, args, type Behaviour, description, isResult, nextId, type Peer, prompt, input } from "./peer.ts"

class Scripted extends BaseChatModel {
  override _llmType(): string {
    return "scripted"
  }

  override bindTools(): this {
    return this
  }

  override async _generate(messages: Array<BaseMessage>): Promise<ChatResult> {
    const last = messages.at(-1)
    const isDone = last?.getType() === "tool" && isResult(String(last.content))
    const message = isDone
      ? new AIMessage("3")
      : new AIMessage({ content: "", tool_calls: [{ id: nextId(), name: "add", args: JSON.parse(args) }] })
    return { generations: [{ text: isDone ? "3" : "", message }] }
  }
}

/** LangGraph: a tool that fails is told to the model, which calls again. */
export const langgraph = (behaviour: Behaviour): Peer => {
  const add = addition(behaviour)
  const tools = [
    tool(async (params: { a: number; b: number }) => String(add(params)), {
      name: "add",
      description,
      schema: z.strictObject({ a: z.number(), b: z.number() })
    })
  ]
  const agent = createReactAgent({ llm: new Scripted({}), tools, prompt })
  return {
    name: "@langchain/langgraph",
    run: async () => {
      const { messages } = await agent.invoke({ messages: [{ role: "user", content: input }] })
      return messages.at(-1)?.content
    }
  }
}
