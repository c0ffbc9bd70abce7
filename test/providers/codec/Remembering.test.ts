/** No turn pays for the transcript before it: each format reads a message once. */
import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@kintsugi/core"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import type * as Provider from "@kintsugi/providers/Provider"

const source: Provider.Source = { provider: "p", model: "m", secrets: [] }

const codecs: Readonly<Record<string, () => Provider.Codec>> = {
  "chat completions": () => OpenAiChat.make(source),
  responses: () => OpenAiResponses.make(source),
  "Anthropic's messages": () => AnthropicMessages.make(source),
  "Anthropic's messages with marks": () => AnthropicMessages.make(source, { promptCache: {} }),
  "Gemini's contents": () => GeminiContent.make(source),
  "Ollama's chat": () => OllamaChat.make(source)
}

/** A message, and how often its text was read. */
const counted = (value: string) => {
  const state = { reads: 0 }
  const text = {
    type: "text" as const,
    get text() {
      state.reads++
      return value
    }
  }
  const message: Message.User = { role: "user", content: [text] }
  return { message, state }
}

const countedTool = () => {
  const state = { reads: 0 }
  const spec: Message.ToolSpec = {
    name: "t",
    get description() {
      state.reads++
      return ""
    },
    get parameters() {
      state.reads++
      return { type: "object", properties: {} }
    }
  }
  return { spec, state }
}

describe("the cached encoding", () => {
  for (const [name, make] of Object.entries(codecs)) {
    it(`${name}: each message and each tool is read in its first turn only [P1110]`, () => {
      const codec = make()
      const tool = countedTool()
      const said: Array<ReturnType<typeof counted>> = []
      const first: Array<number> = []
      let ofTool: number | undefined
      for (let turn = 0; turn < 50; turn++) {
        const next = counted(`message ${turn}`)
        said.push(next)
        const messages = said.map(({ message }) => message)
        codec.encode({ messages, tools: [tool.spec], toolChoice: "auto" }, "whole")
        first.push(next.state.reads)
        ofTool ??= tool.state.reads
      }
      assert.isAtLeast(Math.min(...first), 1)
      assert.deepStrictEqual(
        said.map(({ state }) => state.reads),
        first
      )
      assert.strictEqual(tool.state.reads, ofTool)
    })
  }
})
