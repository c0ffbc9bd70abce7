/** What the codec says of itself, beside the bodies of its requests. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { refusesOwn } from "../_support/ownFields.ts"
import { source } from "./_support/replies.ts"

const png = Message.image("image/png", { data: "AQID" })

describe("the codec", () => {
  it("takes images in results for the models of its dialect, and none where the dialect has no such models", () => {
    const of = (resultImages: RegExp) => OpenAiChat.make(source, {}, { resultImages })
    assert.isFalse("takes" in OpenAiChat.make(source))
    assert.deepStrictEqual([of(/^gpt/).takes?.(png), of(/^glm/).takes?.(png)], [true, false])
  })

  it("has tools of the provider where the dialect or a parameter says so", () => {
    const search = [{ type: "web_search" }]
    const of = (parameters: Parameters<typeof OpenAiChat.make>[1], dialect: OpenAiChat.Dialect) =>
      OpenAiChat.make(source, parameters, dialect).providerTools
    assert.isFalse(of({}, {}))
    assert.isFalse(of({ providerTools: [] }, { providerTools: false }))
    assert.isTrue(of({}, { providerTools: true }))
    assert.isTrue(of({ providerTools: search }, {}))
    assert.isTrue(of({ providerTools: search }, { providerTools: false }))
  })
})

it("the fields that the library writes are no further fields: the refusal says what to use instead", () => {
  refusesOwn((extra) => OpenAiChat.make(source, { extra }), {
    written: {
      messages: "the messages of the request",
      model: "the option model",
      stream: "Model.stream or a streamed run",
      tool_choice: "the option toolChoice",
      tools: "the tools of the agent, or the option providerTools"
    },
    merged: { stream_options: "an object" },
    single: ["n"]
  })
})
