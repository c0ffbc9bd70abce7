/** Properties of where thoughts come from, for any transcript. */
import * as assert from "node:assert/strict"
import * as Message from "@kintsugi/core/Message"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import * as AnthropicMessages from "@kintsugi/providers/AnthropicMessages"
import * as OpenAiResponses from "@kintsugi/providers/OpenAiResponses"
import * as Provenance from "../../../packages/providers/src/codec/Provenance.ts"

const models = [
  { provider: "anthropic", model: "claude-opus-5-5", make: AnthropicMessages.make },
  { provider: "openai", model: "gpt-5", make: OpenAiResponses.make }
] as const

/** A thought goes back behind the transcript that it came behind, and not behind another one, nor to another family. */
export const checkOrigins = (messages: Message.Transcript): void => {
  for (const { make, model, provider } of models) {
    const source = { provider, model, secrets: [] }
    const trace = (name: string) => Provenance.make({ ...source, model: name }, make({ ...source, model: name }))
    const traced = (name: string, transcript: Message.Transcript): Provenance.Traced =>
      trace(name)({ messages: transcript, tools: [], toolChoice: "auto" } satisfies Model.Request)
    const thought = { type: "reasoning", text: "hm", opaque: { provider, data: "signed" } } as const
    const reply: Message.Reply = { content: [thought, Message.text("a")], finish: "stop", usage: Usage.empty }
    const said = Message.settle(traced(model, messages).marked(reply), [])
    const hasThought = (name: string, transcript: Message.Transcript): boolean => {
      const last = traced(name, transcript).request.messages.at(-1)
      return last?.role === "assistant" && last.content.some(({ type }) => type === "reasoning")
    }
    assert.ok(hasThought(model, [...messages, said]), "a thought was lost")
    assert.ok(!hasThought("other", [...messages, said]), "a thought went to another family")
    assert.ok(
      !hasThought(model, [Message.user("Another beginning."), ...messages, said]),
      "a thought stayed behind an edit"
    )
    // what is written down and read again is the same beginning
    const read: Message.Transcript = JSON.parse(JSON.stringify([...messages, said]))
    assert.ok(hasThought(model, read), "a thought was lost on the way through a database")
  }
}
