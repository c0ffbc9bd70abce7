import * as Chat from "effect/ai/Chat"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { addition, args, type Behaviour, description, isResult, nextId, type Peer, prompt, input } from "./peer.ts"

const Unavailable = Schema.Struct({ message: Schema.String })

const Add = Tool.make("add", {
  description,
  parameters: Schema.Struct({ a: Schema.Finite, b: Schema.Finite }),
  success: Schema.Finite,
  failure: Unavailable,
  failureMode: "return"
})

const toolkit = Toolkit.make(Add)

const usage = {
  inputTokens: { uncached: 10, total: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 5, text: 5, reasoning: 0 }
}

/** `effect/ai` has no loop: this is the shortest around its calls. What a tool fails with is told to the model, which calls again. */
export const effectAi = (behaviour: Behaviour): Peer => {
  const add = addition(behaviour)
  const handlers = toolkit.toLayer({
    add: (params) => Effect.try({ try: () => add(params), catch: (error) => ({ message: String(error) }) })
  })
  const model = LanguageModel.make({
    generateText: ({ prompt: asked }) =>
      Effect.sync(() => {
        const last = asked.content.at(-1)
        const part = last?.role === "tool" ? last.content[0] : undefined
        const isDone = part?.type === "tool-result" && isResult(JSON.stringify(part.result))
        return isDone
          ? [
              { type: "text", text: "3" },
              { type: "finish", reason: "stop", usage, response: undefined }
            ]
          : [
              { type: "tool-call", id: nextId(), name: "add", params: JSON.parse(args) },
              { type: "finish", reason: "tool-calls", usage, response: undefined }
            ]
      }),
    streamText: () => Stream.empty
  })
  const run = Effect.gen(function* () {
    const chat = yield* Chat.fromPrompt([{ role: "system", content: prompt }])
    let next: string | ReadonlyArray<never> = input
    for (let turn = 0; turn < 8; turn++) {
      const reply = yield* chat.generateText({ prompt: next, toolkit })
      if (reply.toolCalls.length === 0) return reply.text
      next = []
    }
    return yield* Effect.die(new Error("too many turns"))
  }).pipe(Effect.provide(handlers), Effect.provideServiceEffect(LanguageModel.LanguageModel, model))
  return { name: "effect/ai", run: () => Effect.runPromise(run) }
}
