/** Calls that a model repeats at once, although they may have taken effect. */
import { assert, it } from "@effect/vitest"
import { Message } from "@kintsugi/core"
import { refuses } from "../../../packages/core/src/tool/Repetition.ts"

type Site = Parameters<typeof refuses>[0]

const call = (args: Message.ToolCall["arguments"], name = "pay"): Message.ToolCall => ({
  type: "tool-call",
  id: "c1",
  name,
  arguments: args
})

const before = (...content: Message.Assistant["content"]): Message.Assistant => ({ role: "assistant", content })

const ended = (made: Message.ToolCall, settlement: Message.Settlement = Message.unknown) =>
  ({ type: "settled-call", call: made, settlement }) as const

/** What is refused, where calls of `pay` are of this tool. Only these fields are read. */
const refused = (message: Message.Message | undefined, made: Message.ToolCall) =>
  refuses({ before: message, call: made } as Site, (other) => (other.name === "pay" ? other : undefined))

it("the same call right behind one of unknown outcome is refused, with the text that was read", () => {
  const text = refused(before(Message.text("well"), ended(call({ b: 1, a: 2 }))), call({ a: 2, b: 1 }))
  assert.match(text ?? "", /^Tool 'pay' was not run: the same call has just failed, and may have taken effect\. \w/)
})

it("any other call is not refused", () => {
  const same = call({ a: 1 })
  for (const message of [
    undefined,
    Message.system("pay"),
    Message.user("pay"),
    before(),
    before(Message.text("pay")),
    before(ended(same, { kind: "result", text: "paid" })),
    before(ended(same, { kind: "told", text: "permanent: no" })),
    before(ended(call({ a: 2 }))),
    before(ended(call({ a: 1 }, "look")))
  ])
    assert.isUndefined(refused(message, same), JSON.stringify(message))
})
