import { assert, it } from "@effect/vitest"
import { Message, type Model } from "@kintsugi/core"
import * as OpenAiChat from "@kintsugi/providers/OpenAiChat"
import { Result } from "effect"
import * as Provenance from "../../../packages/providers/src/codec/Provenance.ts"
import type { Decoder } from "../../../packages/providers/src/transport/Decoder.ts"

const source = { provider: "p", model: "m", secrets: [] }

const tracing = (decoder: Decoder<Model.Part>) =>
  Provenance.make(
    source,
    OpenAiChat.make(source)
  )({ messages: [Message.user("hi")], tools: [], toolChoice: "auto" }).marking(decoder)

it("a decoder that marks thoughts says of itself what the one within says, or nothing", () => {
  const part: Model.Part = { type: "text-delta", text: "ho" }
  const least: Decoder<Model.Part> = {
    push: () => Result.succeed([part]),
    end: () => Result.succeed([]),
    state: () => "complete"
  }
  const of = (decoder: Decoder<Model.Part>) => {
    const { end, framing, held, model, push, state, whole } = tracing(decoder)
    return [framing, whole, held?.(), model?.(), state(), push("x"), end()]
  }
  const parts = [Result.succeed([part]), Result.succeed([])]
  assert.deepStrictEqual(of(least), [undefined, undefined, 0, undefined, "complete", ...parts])
  const whole = new Set(["done"])
  assert.deepStrictEqual(of({ ...least, framing: "ndjson", whole, held: () => 7, model: () => "n" }), [
    "ndjson",
    whole,
    7,
    "n",
    "complete",
    ...parts
  ])
})

it("thoughts of another family are left out; signed items and calls lose their signature alone [P1410]", () => {
  const of = (data: Message.Opaque["data"], family = "n"): Message.Opaque => ({ provider: "p", family, data })
  const signed = { id: "i", thoughtSignature: "s" }
  const contentOf = (opaque: (data: Message.Opaque["data"]) => Message.Opaque): Message.Assistant["content"] => [
    { type: "reasoning", text: "hm", opaque: opaque("s") },
    { type: "provider-item", kind: "redacted_thinking", opaque: opaque("s") },
    { type: "provider-item", kind: "code", opaque: opaque(signed) },
    {
      type: "settled-call",
      call: { type: "tool-call", id: "c", name: "f", arguments: {}, opaque: opaque(signed) },
      settlement: { kind: "result", text: "ok" }
    },
    Message.text("4")
  ]
  const sentOf = (content: Message.Assistant["content"]) => {
    const messages = [Message.user("hi"), { role: "assistant", content } as const]
    return Provenance.make(source, OpenAiChat.make(source))({ messages, tools: [], toolChoice: "auto" }).request
      .messages
  }
  const own = contentOf((data) => of(data, "m"))
  assert.deepStrictEqual(sentOf(own), [Message.user("hi"), { role: "assistant", content: own }])
  const bare = contentOf(() => ({ provider: "p", data: { id: "i" } })).slice(2)
  assert.deepStrictEqual(sentOf(contentOf(of)), [Message.user("hi"), { role: "assistant", content: bare }])
})
