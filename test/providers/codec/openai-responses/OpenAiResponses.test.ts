/** What the codec says of itself, beside the bodies of its requests. */
import { assert, it } from "@effect/vitest"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import { refusesOwn } from "../_support/ownFields.ts"
import { source } from "./_support/responses.ts"

it("the fields that the library writes are no further fields: the refusal says what to use instead", () => {
  refusesOwn((extra) => OpenAiResponses.make(source, { extra }), {
    written: {
      input: "the messages of the request",
      model: "the option model",
      stream: "Model.stream or a streamed run",
      tool_choice: "the option toolChoice",
      tools: "the tools of the agent, or the option providerTools"
    },
    merged: { include: "a list", reasoning: "an object", text: "an object" },
    single: ["n"]
  })
})

it("responses take texts, images and files, and no audio", () => {
  const { audio, files, images } = OpenAiResponses.capabilities
  assert.deepStrictEqual([audio, files, images], [[], ["data", "url", "id"], ["data", "url", "id"]])
})
