/** Runs of the demo's agent on virtual time, so that they are the same whenever and wherever they are played. */
import { Agent, type AgentEvent } from "@kintsugi/core"
import { analyst } from "@kintsugi/examples/demo/agents"
import { standIn } from "@kintsugi/examples/demo/endpoint"
import { encode } from "@kintsugi/examples/demo/report"
import { reply } from "@kintsugi/examples/demo/standIn"
import * as OpenAiCompatible from "@kintsugi/providers/OpenAiCompatible"
import { AnyWire } from "@kintsugi/providers/testing"
import { Clock, Effect, Fiber, Layer, Random, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"

/** What the server says to a request: `undefined` is the stand-in's answer. */
export type Refusal = { readonly status: number; readonly message: string } | undefined

/** One run, and what goes wrong in it. */
export interface Story {
  readonly seed: number
  readonly input: string
  /** By the number of the request, from 1, and what it says. */
  readonly refuses: (number: number, body: unknown) => Refusal
}

const start = Date.UTC(2026, 0, 5, 9, 0, 0)

/** How long the server takes for an answer, and for a refusal. */
const latency = { answer: "420 millis", refusal: "60 millis" } as const

const answering = ({ refuses }: Story) => {
  let number = 0
  return HttpClient.make((request) =>
    Effect.gen(function* () {
      const body: unknown =
        request.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(request.body.body)) : {}
      const refusal = refuses(++number, body)
      yield* Effect.sleep(refusal === undefined ? latency.answer : latency.refusal)
      const headers = { "content-type": "application/json" }
      if (refusal !== undefined) {
        const error = { message: refusal.message, type: "server_error", code: null, param: null }
        const { message: _, status } = refusal
        return HttpClientResponse.fromWeb(request, new Response(JSON.stringify({ error }), { status, headers }))
      }
      const answered = yield* AnyWire.handler(() => Effect.sync(() => reply(body)))({
        number,
        method: "POST",
        path: "/v1/chat/completions",
        headers,
        authorization: Redacted.make("Bearer none-needed"),
        text: JSON.stringify(body),
        body,
        at: 0
      })
      return HttpClientResponse.fromWeb(
        request,
        new Response(String(answered.body), { status: answered.status ?? 200, headers })
      )
    })
  )
}

/** The events of a run, as lines. */
export const play = (story: Story): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  const write = (event: AgentEvent.AgentEvent) => Effect.sync(() => void lines.push(encode(event).trimEnd()))
  const model = Layer.provide(
    OpenAiCompatible.layer(standIn, {
      model: "stand-in",
      apiKey: Redacted.make("none-needed"),
      baseUrl: "http://stand-in.invalid/v1"
    }),
    Layer.succeed(HttpClient.HttpClient, answering(story))
  )
  const running = analyst.pipe(Agent.onEvent(write))(story.input).pipe(Effect.provide(model), Effect.exit)
  const played = Effect.gen(function* () {
    yield* TestClock.setTime(start)
    const fiber = yield* Effect.forkChild(running)
    while (fiber.pollUnsafe() === undefined) yield* TestClock.adjust("20 millis")
    yield* Fiber.join(fiber)
    return yield* Clock.currentTimeMillis
  })
  return Effect.runPromise(played.pipe(Random.withSeed(story.seed), Effect.provide(TestClock.layer()))).then(
    () => lines
  )
}
