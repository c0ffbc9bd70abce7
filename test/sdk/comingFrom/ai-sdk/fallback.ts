import { openai } from "@ai-sdk/openai"
import { ToolLoopAgent, wrapLanguageModel } from "ai"

const second = openai("gpt-5.6-terra")

const model = wrapLanguageModel({
  model: openai("gpt-5.6-sol"),
  middleware: {
    specificationVersion: "v4",
    wrapGenerate: async ({ doGenerate, params }) => {
      try {
        return await doGenerate()
      } catch {
        return await second.doGenerate(params)
      }
    }
  }
})

const writer = new ToolLoopAgent({ model, instructions: "Answer in one sentence." })

export const answer = async () => (await writer.generate({ prompt: "What is kintsugi?" })).text
