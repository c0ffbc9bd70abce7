import { it } from "@effect/vitest"
import * as OllamaChat from "@kintsugi/providers/OllamaChat"
import { refusesOwn } from "../_support/ownFields.ts"

it("the fields that the library writes are no further fields: the refusal says what to use instead", () => {
  refusesOwn((extra) => OllamaChat.make({ provider: "ollama", model: "m", secrets: [] }, { extra }), {
    written: {
      messages: "the messages of the request",
      model: "the option model",
      stream: "Model.stream or a streamed run",
      tools: "the tools of the agent"
    },
    merged: { options: "an object" },
    single: []
  })
})
