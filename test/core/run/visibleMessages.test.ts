import * as fc from "fast-check"
import { Budget, Message } from "@kintsugi/core"
import { expect, it } from "vitest"
import { RunState } from "../../../packages/core/src/run/state.ts"

type Step = (state: RunState) => void

const words = fc.record({ text: fc.string(), withheld: fc.boolean() }).map(({ text, withheld }): Message.User => {
  const message = Message.user(text)
  return withheld ? { ...message, withheld } : message
})
const transcript = fc.array(words, { maxLength: 3 })

const step: fc.Arbitrary<Step> = fc.oneof(
  words.map(
    (message): Step =>
      (state) =>
        state.add(message)
  ),
  transcript.map(
    (messages): Step =>
      (state) =>
        state.begin(messages)
  ),
  transcript.map(
    (messages): Step =>
      (state) =>
        state.compact(messages)
  ),
  transcript.map(
    (compacted): Step =>
      (state) =>
        state.takeOver({ compacted: [...compacted], inARow: 0, last: "", made: new Map(), pins: new Map() })
  ),
  words.map((after): Step => (state) => {
    const before = state.messages.find((message) => message.role === "user")
    if (before?.role === "user") state.replace(before, after)
  })
)

it("a model never reads a withheld message, whichever way it came into the conversation", () => {
  fc.assert(
    fc.property(transcript, fc.array(step, { maxLength: 8 }), (messages, steps) => {
      const state = new RunState("clerk", Budget.make(), Message.user("Hello"), [...messages])
      for (const change of steps) {
        change(state)
        expect(state.visible).toEqual(Message.withoutWithheld(state.visible))
      }
    })
  )
})
