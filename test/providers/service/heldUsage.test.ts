/** What a provider has counted of a stream of which a reader has got nothing yet. */
import { assert, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import type * as Model from "@kintsugi/core/Model"
import * as Usage from "@kintsugi/core/Usage"
import { Anthropic, Gemini, OpenAi, type Transport } from "@kintsugi/providers"
import { type Duration, Effect, Exit, Layer, Redacted, Stream } from "effect"
import { eventLog, interruptedAt, overADay } from "../../_support/dialogue.ts"
import {
  body,
  event,
  fakeNetwork,
  finished,
  generate,
  key,
  type Reaction,
  respond,
  respondWith,
  silence,
  terminated
} from "../../_support/network.ts"

type ModelLayer = Layer.Layer<Model.Model, never, Transport.HttpClient>

const common = { model: "m", apiKey: Redacted.make(key) }

const named = (type: string, data: object) => `event: ${type}\n${event({ type, ...data })}`

const start = named("message_start", { message: { id: "m1", usage: { input_tokens: 90_000, output_tokens: 1 } } })

const shown =
  named("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
  named("content_block_delta", { index: 0, delta: { type: "text_delta", text: "I look" } })

const used = { input_tokens: 7, output_tokens: 1 }
const message = {
  type: "message",
  id: "msg",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Four.", annotations: [] }]
}

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

const terminates = respondWith(200, () => body(halfCall, terminated()))

const whole = respondWith(200, () =>
  body([
    start,
    shown,
    named("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } }),
    named("message_stop", {})
  ])
)

it.effect("counts for the reply of the send that came to its end, and apart from it [P1403 P703]", () =>
  Effect.gen(function* () {
    const { log, net, run } = streaming(Anthropic.layer(common), "1 hour", terminates, terminates, whole)
    yield* overADay(run)
    assert.strictEqual(net.sent.length, 3)
    const [end] = log.of("model-end")
    assert(end !== undefined)
    for (const counted of [end.reply, end.entry]) {
      assert.deepStrictEqual(counted.usage, Usage.make({ inputTokens: 270_000, outputTokens: 7 }))
      assert.deepStrictEqual(counted.resent, Usage.make({ inputTokens: 180_000, outputTokens: 2 }))
    }
    assert.deepInclude(log.end(), { type: "run-completed", usage: end.entry.usage })
  })
)

it.effect("counts for the failure of the last send, with or without counts of its own [P1403 P703]", () =>
  Effect.gen(function* () {
    for (const [last, tokens] of [
      [terminates, 270_000],
      [respond(401), 180_000],
      [respondWith(200, () => body([start, shown], terminated())), 270_000]
    ] as const) {
      const { log, net, run } = streaming(Anthropic.layer(common), "1 hour", terminates, terminates, last)
      yield* overADay(run)
      assert.strictEqual(net.sent.length, 3)
      assert.deepStrictEqual(
        log.of("model-failed").map(({ entry }) => entry.usage.inputTokens),
        [tokens]
      )
    }
  })
)

it.effect("counts if the run is interrupted in the wait before the next send, or during it [P1403 P703]", () =>
  Effect.gen(function* () {
    for (const [millis, script, tokens] of [
      [100, [terminates], 90_000],
      [400, [terminates, silence], 90_000],
      [400, [terminates, silentBehind(halfCall)], 180_000]
    ] as const) {
      const { log, run } = streaming(Anthropic.layer(common), "1 hour", ...script)
      yield* interruptedAt(millis, run)
      assert.deepStrictEqual(
        log.of("model-interrupted").map(({ entry }) => entry.usage.inputTokens),
        [tokens]
      )
    }
  })
)

it.effect("counts for a whole reply, too [P1403 P703]", () =>
  Effect.gen(function* () {
    const answer = { status: "failed", error: { code: "server_error", message: "no" }, usage: used, output: [] }
    const done = { ...answer, status: "completed", error: null, output: [message] }
    const net = fakeNetwork([respond(200, answer), respond(200, done)])
    const layer = Layer.provide(OpenAi.layerResponses(common), net.layer)
    const reply = yield* finished(Effect.provide(generate, layer))
    assert(Exit.isSuccess(reply))
    assert.strictEqual(net.sent.length, 2)
    assert.strictEqual(reply.value.usage.inputTokens, 14)
    assert.strictEqual(reply.value.resent?.inputTokens, 7)
  })
)

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
