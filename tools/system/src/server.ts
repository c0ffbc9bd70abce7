/** The server of the scenario: it speaks all formats, refuses and breaks off by the name of the model, and can give a page. */
import { Message } from "@kintsugi/core"
import { AnyWire, Fault, type LoopbackServer } from "@kintsugi/providers/testing"
import { Effect } from "effect"
import type { Files } from "./bundle.ts"

const brain: AnyWire.Brain = ({ messages }) => {
  const last = messages.at(-1)
  return Effect.succeed({
    content:
      last?.role === "tool"
        ? [Message.text(`It is ${last.text}, grüße 🙂.`)]
        : [Message.text("Let me look."), { type: "tool-call", id: "call_1", name: "look", arguments: '{"n":1}' }]
  })
}

/** Gemini has the model in the path. */
const faultOf = ({ path, text }: Parameters<Fault.Fault>[1]): Fault.Fault => {
  const asked = `${path} ${text.slice(0, 10_000)}`
  if (/"model":\s*"limited"|models\/limited/.test(asked)) return AnyWire.failing({ type: "rate-limited" })
  if (/"model":\s*"lost"|models\/lost/.test(asked)) return Fault.cut(20, "reset")
  return Fault.split({ every: 11 })
}

/** `files` are given as they are, by their paths. */
export const handler =
  (files: Files = new Map()): Parameters<typeof LoopbackServer.make>[0] =>
  (received) => {
    const file = files.get(received.path)
    if (file !== undefined) return Effect.succeed({ headers: { "content-type": file.type }, body: file.body })
    return faultOf(received)(AnyWire.handler(brain)(received), received)
  }
