/** Options that a provider has no words for do not compile. */
import { Gemini, Ollama } from "@kintsugi/providers"
import { test } from "vitest"

test("options of a request are those that the provider has", () => {
  Gemini.model("gemini-2.5-flash", { reasoning: { maxTokens: 512 }, toolChoice: "required" })
  Ollama.model("llama3", { reasoning: true, numCtx: 8192 })
  // @ts-expect-error Gemini cannot be told whether to call several tools at once
  Gemini.model("gemini-2.5-flash", { parallelToolCalls: false })
  // @ts-expect-error Ollama cannot be told to call a tool
  Ollama.model("llama3", { toolChoice: "required" })
  // @ts-expect-error thoughts of Ollama's models are on or off, or of a level, but have no budget
  Ollama.model("llama3", { reasoning: { maxTokens: 512 } })
})
