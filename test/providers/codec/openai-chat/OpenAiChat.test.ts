/** What the codec says of itself, beside the bodies of its requests. */
import { assert, describe, it } from "@effect/vitest"
import * as Message from "@kintsugi/core/Message"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
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
