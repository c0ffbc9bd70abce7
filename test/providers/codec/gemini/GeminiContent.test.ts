import { it } from "@effect/vitest"
import * as GeminiContent from "@kintsugi/providers/GeminiContent"
import { refusesOwn } from "../_support/ownFields.ts"

it("the fields that the library writes are no further fields: the refusal says what to use instead", () => {
  refusesOwn((extra) => GeminiContent.make({ provider: "gemini", model: "m", secrets: [] }, { extra }), {
    written: {
      contents: "the messages of the request",
      generation_config: "the name generationConfig",
      model: "the option model",
      systemInstruction: "the prompt of the agent",
      system_instruction: "the prompt of the agent",
      tool_config: "the name toolConfig",
      tools: "the tools of the agent, or the option providerTools"
    },
    merged: { generationConfig: "an object", toolConfig: "an object" },
    single: ["generationConfig.candidateCount", "generationConfig.candidate_count"]
  })
})
