/** One brain behind every wire format, for clients that know nothing of this library. */
import * as Message from "@kintsugi/core/Message"
import * as Usage from "@kintsugi/core/Usage"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Effect, type Scope } from "effect"

export const key = "sk-the-right-one"

export const city = { city: "Zürich 🙂" }

export const greeting = "grüße 🙂, five words and more"

export const weatherSchema = {
  type: "object" as const,
  properties: { city: { type: "string" as const } },
  required: ["city"],
  additionalProperties: false
}

const usage = Usage.make({
  inputTokens: 20,
  outputTokens: 9,
  cachedInputTokens: 5,
  cacheWriteTokens: 3,
  reasoningTokens: 4
})

/** Greets; with a tool it thinks and calls it twice, in one reply; then it says what came back. */
export const brain: AnyWire.Brain = ({ messages, tools }) =>
  Effect.sync((): Effect.Success<ReturnType<AnyWire.Brain>> => {
    const results = messages.flatMap((message) => (message.role === "tool" ? [message.text] : []))
    if (results.length > 0) return { content: [Message.text(`It is ${results.join(" and ")}.`)], usage }
    const [tool] = tools
    if (tool === undefined) return { content: [Message.text(greeting)], usage }
    return {
      content: [
        { type: "reasoning", text: "The weather is asked for." },
        { type: "tool-call", id: "call_1", name: tool.name, arguments: JSON.stringify(city) },
        { type: "tool-call", id: "call_2", name: tool.name, arguments: { city: "Oslo" } }
      ],
      usage
    }
  })

export const serving = (
  script: Parameters<typeof Fault.inFront>[0] = []
): Effect.Effect<LoopbackServer.LoopbackServer, never, Scope.Scope> =>
  LoopbackServer.make(Fault.inFront(script, AnyWire.handler(brain, { apiKey: key, models: ["m"] })))

/** What a client throws. */
export const thrownBy = (ask: () => Promise<unknown>): Effect.Effect<unknown> =>
  Effect.promise(() =>
    ask().then(
      () => {
        throw new Error("nothing was thrown")
      },
      (error: unknown) => error
    )
  )

/** All of a stream. */
export const drain = async <A>(stream: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const each of stream) all.push(each)
  return all
}

/** What comes before a stream ends or throws. */
export const until = async <A>(stream: AsyncIterable<A>, onPart: (part: A) => void): Promise<void> => {
  for await (const each of stream) onPart(each)
}
