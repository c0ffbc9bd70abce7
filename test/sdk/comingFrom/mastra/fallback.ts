import { Agent } from "@mastra/core/agent"

const writer = new Agent({
  id: "writer",
  name: "writer",
  model: [{ model: "openai/gpt-5.6-sol" }, { model: "openai/gpt-5.6-terra" }],
  instructions: "Answer in one sentence."
})

export const answer = async () => (await writer.generate("What is kintsugi?")).text
