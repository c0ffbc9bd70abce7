/** The texts of wires for what their format has no field for. */
import { Message, type Model } from "@kintsugi/core"
import { Effect, type Schema } from "effect"
import { sentBy, wires, withoutTools } from "./sending.ts"
import type { ReadText } from "./texts.ts"

const request = (given: Partial<Model.Request>): Model.Request => ({
  messages: [Message.user("hi")],
  tools: [],
  toolChoice: "auto",
  ...given
})

/** All texts in a body, each part of an array or an object by itself. */
const textsIn = (body: unknown): ReadonlyArray<string> => {
  if (typeof body === "string") return [body]
  return typeof body === "object" && body !== null ? Object.values(body).flatMap(textsIn) : []
}

/** The first text with these words, and on which wires it is sent. */
const wordsOn = (when: string, words: string, asked: Model.Request): Effect.Effect<ReadText> =>
  Effect.gen(function* () {
    const found: Array<readonly [wire: string, text: string]> = []
    for (const [name, wire] of Object.entries(wires)) {
      const text = textsIn(yield* sentBy(wire, asked)).find((text) => text.includes(words))
      if (text !== undefined) found.push([name, text])
    }
    const [first] = found
    if (first === undefined) throw new Error(`no wire says: ${words}`)
    return { when: `${when}: ${found.map(([name]) => name).join("; ")}`, text: first[1] }
  })

const tool = (jsonSchema: Schema.JsonObject): Message.ToolSpec => ({
  name: "look",
  description: "Looks.",
  parameters: jsonSchema
})

const object = (properties: Schema.JsonObject): Schema.JsonObject => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false
})

const city = object({ city: { type: "string" } })

const called: Message.Message = {
  role: "assistant",
  content: [
    {
      type: "settled-call",
      call: { type: "tool-call", id: "c1", name: "look", arguments: { city: "Oslo" } },
      settlement: { kind: "result", text: "rain" }
    }
  ]
}

/** Each with the wires that say it. */
export const ofWires: Effect.Effect<ReadonlyArray<ReadText>> = Effect.gen(function* () {
  const asked = request({
    tools: [tool(city)],
    output: { name: "answer", schema: city }
  })
  const retold = yield* sentBy(withoutTools, request({ messages: [Message.user("hi"), called, Message.user("and?")] }))
  const [said = "", answered = ""] = textsIn(retold).filter((text) => /^I called|^The tool/.test(text))
  return [
    yield* wordsOn("An answer of JSON", "Your final answer is JSON", asked),
    yield* wordsOn(
      "Parameters that are a union of objects",
      "The arguments fit one of",
      request({ tools: [tool({ anyOf: [city, object({ zip: { type: "string" } })] })] })
    ),
    yield* wordsOn(
      "Keywords that the wire does not take",
      "It fits this JSON Schema",
      request({ tools: [tool(object({ city: { type: "string", minLength: 1 } }))] })
    ),
    {
      when: "An earlier call, for a model without tools, from the assistant: Perplexity chat",
      text: said
    },
    { when: "Its result, from the user: Perplexity chat", text: answered }
  ]
})
