/** Histories of any origin: of known parts in any order, and JSON that is like one, more or less. */
import { Message } from "@kintsugi/core"
import fc from "fast-check"

const call = (id: string): Message.ToolCall => ({ type: "tool-call", id, name: "look", arguments: "{}" })
const said = (...content: Extract<Message.Foreign, { readonly role: "assistant" }>["content"]): Message.Foreign => ({
  role: "assistant",
  content
})
const result = (callId: string, text: string, isError: boolean): Message.Foreign => ({
  role: "tool",
  callId,
  text,
  isError
})

const id = fc.constantFrom("a", "b", "c")
const part: fc.Arbitrary<Extract<Message.Foreign, { readonly role: "assistant" }>["content"][number]> = fc.oneof(
  fc.string().map(Message.text),
  fc.string().map((text) => ({ type: "reasoning", text }) as const),
  id.map(call),
  fc
    .record({ id, kind: fc.constantFrom(...Message.Settlement.fields.kind.literals), text: fc.string() })
    .map(({ id, kind, text }) => ({ type: "settled-call", call: call(id), settlement: { kind, text } }) as const)
)
export const foreign: fc.Arbitrary<Message.Foreign> = fc.oneof(
  fc.string().map(Message.system),
  fc.string().map(Message.user),
  fc.array(part, { maxLength: 5 }).map((content) => said(...content)),
  fc.record({ id, text: fc.string(), isError: fc.boolean() }).map(({ id, isError, text }) => result(id, text, isError))
)

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
