/**
 * A small story that has to come to the same end in every runtime: agents with a tool over each provider, whole and streamed, and
 * failures of servers and connections. It knows nothing of Node.
 */
import { Agent, Message, Model, Recovery, Skill, Tool } from "@kintsugi/core"
import { ScriptedModel } from "@kintsugi/core/testing"
import { Anthropic, Gemini, Ollama, OpenAi, Transport } from "@kintsugi/providers"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"

export interface Checked {
  readonly what: string
  readonly isRight: boolean
  readonly said: string
}

const look = Tool.make("look", {
  description: "Looks.",
  parameters: Schema.Struct({ n: Schema.Finite }),
  success: Schema.String,
  run: ({ n }, { attempt }) => (attempt === 1 ? Effect.fail({ _tag: "Busy" } as const) : Effect.succeed(`number ${n}`))
}).pipe(Tool.onError({ Busy: Recovery.retry({ retries: 1 }) }))

const agent = Agent.make("worker", {
  prompt: "Look.",
  skills: [Skill.make("work", { description: "Looks.", tools: [look] })]
}).pipe(Agent.toolDefaults({ orElse: Recovery.tell() }))

const options = (model: string, baseUrl: string) => ({
  model,
  baseUrl,
  apiKey: Redacted.make("a-key-that-is-none"),
  transport: { retry: false } as const
})

const providers = (url: string): Readonly<Record<string, (model: string) => ReturnType<typeof OpenAi.layer>>> => ({
  Anthropic: (model) => Anthropic.layer(options(model, url)),
  "OpenAI, chat": (model) => OpenAi.layer(options(model, `${url}/v1`)),
  "OpenAI, responses": (model) => OpenAi.layerResponses(options(model, `${url}/v1`)),
  Gemini: (model) => Gemini.layer(options(model, url)),
  Ollama: (model) => Ollama.layer(options(model, url))
})

const over = (layer: ReturnType<typeof OpenAi.layer>) => Layer.provide(layer, Transport.layerFetch)

/** The text of a run, and of a streamed one how many events told of it. */
const whole = Effect.map(agent("go"), (text) => ({ text, deltas: Infinity }))
const streamed = Effect.map(Stream.runCollect(agent.stream("go")), (events) => {
  const end = events.at(-1)
  const text = end?.type === "run-completed" ? String(end.output) : `it ended with ${end?.type}`
  return { text, deltas: events.filter(({ type }) => type === "text-delta").length }
})

const answer = "It is number 1, grüße 🙂."

/** All that is tried against a server with `handler`. */
export const scenario = (url: string): Promise<ReadonlyArray<Checked>> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const all: Array<Checked> = []
      const check = (what: string, said: string, expected: string) => {
        all.push({ what, isRight: said === expected, said })
      }
      const scripted = yield* ScriptedModel.make(
        ScriptedModel.calls(ScriptedModel.call("look", '{"n": 1,}')),
        ScriptedModel.text(answer)
      )
      check("a scripted agent mends arguments", yield* Effect.provide(agent("go"), scripted.layer), answer)
      for (const [name, layerOf] of Object.entries(providers(url))) {
        for (const [way, run] of Object.entries({ whole, streamed })) {
          const { deltas, text } = yield* Effect.catchCause(Effect.provide(run, over(layerOf("m"))), (cause) =>
            Effect.succeed({ text: String(cause), deltas: 0 })
          )
          check(`${name}, ${way}`, deltas > 1 ? text : `${deltas} deltas: ${text}`, answer)
        }
        for (const [model, expected] of [
          ["limited", "RateLimitError"],
          ["lost", "NetworkError"]
        ] as const) {
          const failure = Effect.flip(Effect.flatMap(Model.Model, (service) => service.generate(request)))
          const tag = Effect.match(Effect.provide(failure, over(layerOf(model))), {
            onFailure: () => "it answered",
            onSuccess: (error) => error._tag
          })
          check(`${name}, ${model}`, yield* tag, expected)
        }
      }
      return all
    }).pipe(Effect.scoped)
  )

const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }
