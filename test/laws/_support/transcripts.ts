/** Histories of any origin: of known parts in any order, and JSON that is like one, more or less. */
import { Message } from "@kintsugi/core"
import { fromEffect } from "@kintsugi/core/testing/FastCheck"
import fc from "fast-check"
import * as Arbitraries from "../../../packages/core/src/testing/Arbitraries.ts"

export const foreign: fc.Arbitrary<Message.Foreign> = fromEffect(Arbitraries.foreignMessage)

/** A part of a message, or what a message has instead. */
const part = foreign.map((message) => (message.role === "assistant" ? (message.content[0] ?? null) : message))

/** JSON that is like a history, more or less. */
export const mostly = (expected: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: expected }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) })
const word = mostly(fc.constantFrom("a", "b", "c"))
const anyPart = mostly(
  fc.record(
    {
      type: mostly(fc.constantFrom("text", "reasoning", "tool-call", "settled-call", "provider-item", "image", "file")),
      text: word,
      id: word,
      name: word,
      arguments: fc.jsonValue({ maxDepth: 2 }),
      opaque: mostly(fc.record({ provider: word, data: fc.jsonValue({ maxDepth: 1 }) })),
      call: mostly(part),
      settlement: mostly(
        fc.record({ kind: mostly(fc.constantFrom(...Message.Settlement.fields.kind.literals)), text: word })
      ),
      mediaType: word,
      url: word,
      kind: word
    },
    { requiredKeys: [] }
  )
)
export const anyMessage = mostly(
  fc.record(
    {
      role: mostly(fc.constantFrom("system", "user", "assistant", "tool")),
      content: mostly(fc.oneof(word, fc.array(fc.oneof(anyPart, part), { maxLength: 4 }))),
      text: word,
      callId: word,
      isError: mostly(fc.boolean()),
      paused: mostly(fc.boolean()),
      incomplete: mostly(fc.boolean())
    },
    { requiredKeys: ["role"] }
  )
)
