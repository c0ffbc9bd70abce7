import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import * as Continued from "../../../packages/providers/src/codec/Continued.ts"

it("the request that ends with an incomplete message of the model continues it, no other does", () => {
  const begun: Message.Message = { ...Message.assistant("I will"), incomplete: true }
  const isContinued = (...messages: ReadonlyArray<Message.Message>) =>
    Continued.isContinued({ messages, tools: [], toolChoice: "auto" })
  assert.isTrue(isContinued(Message.user("hi"), begun))
  assert.isFalse(isContinued(Message.user("hi"), Message.assistant("I will")))
  assert.isFalse(isContinued(begun, Message.user("hi")))
  assert.isFalse(isContinued())
})
