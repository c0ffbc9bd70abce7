/** What a provider has counted of a stream of which a reader has got nothing yet. */
import { assert, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import type * as Model from "@kintsugi/core/Model"
import { Anthropic, Gemini, OpenAi, type Transport } from "@kintsugi/providers"
import { type Duration, Effect, Layer, Redacted, Stream } from "effect"
import { eventLog, interruptedAt, overADay } from "../../_support/dialogue.ts"
import { event, fakeNetwork, key, type Reaction, respondWith } from "../../_support/network.ts"

type ModelLayer = Layer.Layer<Model.Model, never, Transport.HttpClient>

const common = { model: "m", apiKey: Redacted.make(key) }

const named = (type: string, data: object) => `event: ${type}\n${event({ type, ...data })}`

const start = named("message_start", { message: { id: "m1", usage: { input_tokens: 90_000, output_tokens: 1 } } })

const halfCall = [
  start,
  named("content_block_start", { index: 0, content_block: { type: "tool_use", id: "c", name: "f", input: {} } }),
  named("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: '{"q": "folded pa' } })
]

const call = { index: 0, id: "c", function: { name: "f", arguments: '{"q"' } }

/** What counts the prompt, and shows nothing. */
const counting: ReadonlyArray<readonly [string, ModelLayer, ReadonlyArray<string>]> = [
  ["half a call of Anthropic", Anthropic.layer(common), halfCall],
  [
    "an empty thought of Gemini",
    Gemini.layer(common),
    [
      event({
        candidates: [{ content: { parts: [{ text: "", thought: true }] } }],
        usageMetadata: { promptTokenCount: 90_000 }
      })
    ]
  ],
  [
    "half a call of a server that counts with each chunk",
    OpenAi.layer(common),
    [
      event({
        choices: [{ index: 0, delta: { tool_calls: [call] } }],
        usage: { prompt_tokens: 90_000, completion_tokens: 1 }
      })
    ]
  ]
]

/** A body that falls silent behind these chunks. */
const silentBehind = (chunks: ReadonlyArray<string>): Reaction =>
  respondWith(
    200,
    () =>
      new ReadableStream({
        start: (controller) => {
          for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk))
        }
      })
  )

const streaming = (layer: ModelLayer, maxDuration: Duration.Input, ...script: ReadonlyArray<Reaction>) => {
  const log = eventLog()
  const net = fakeNetwork(script)
  const run = Stream.runDrain(Agent.make("worker", { budget: { maxDuration } }).pipe(log.listen).stream("go"))
  return { log, net, run: Effect.provide(run, Layer.provide(layer, net.layer)) }
}

for (const [what, layer, chunks] of counting) {
  it.effect(`is booked if the run is interrupted behind ${what} [P1403 P703]`, () =>
    Effect.gen(function* () {
      const { log, run } = streaming(layer, "1 hour", silentBehind(chunks))
      yield* interruptedAt(1000, run)
      assert.deepStrictEqual(
        log.of("model-interrupted").map(({ entry }) => entry.usage.inputTokens),
        [90_000]
      )
    })
  )

  it.effect(`is booked if the run reaches its deadline behind ${what} [P1403 P703]`, () =>
    Effect.gen(function* () {
      const { log, run } = streaming(layer, "3 seconds", silentBehind(chunks))
      yield* overADay(run)
      assert.deepStrictEqual(
        log.of("model-interrupted").map(({ entry }) => entry.usage.inputTokens),
        [90_000]
      )
      assert.deepInclude(log.end(), { type: "run-failed" })
    })
  )
}
