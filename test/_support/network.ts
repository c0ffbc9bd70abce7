/** A fake of the network under virtual time: what was sent when, and what comes back. */
import { assert } from "@effect/vitest"
import type * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import * as Agent from "@kintsugi/core/Agent"
import type * as AgentEvent from "@kintsugi/core/AgentEvent"
import { OpenAi, type Transport } from "@kintsugi/providers"
import type { LoopbackServer } from "@kintsugi/providers/testing"
import { Cause, Clock, Effect, Exit, Fiber, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"

/** How one send is answered: by a response, or by what the runtime throws. */
export type Reaction = () => Effect.Effect<Response, unknown>

export interface Sent {
  /** Virtual milliseconds since the start of the test. */
  readonly at: number
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A client that plays a script; a request without a step is a defect. */
export const fakeNetwork = (script: ReadonlyArray<Reaction> | Reaction) => {
  const sent: Array<Sent> = []
  const client = HttpClient.make((request, url) =>
    Effect.gen(function* () {
      const at = yield* Clock.currentTimeMillis
      const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
      sent.push({ at, url: url.href, method: request.method, headers: { ...request.headers }, body })
      const reaction = typeof script === "function" ? script : script[sent.length - 1]
      if (reaction === undefined) return yield* Effect.die(new Error(`unexpected request number ${sent.length}`))
      const response = yield* Effect.mapError(
        reaction(),
        (cause) =>
          new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      )
      return HttpClientResponse.fromWeb(request, response)
    })
  )
  return { layer: Layer.succeed(HttpClient.HttpClient, client), sent, times: () => sent.map(({ at }) => at) }
}

export const respond =
  (status: number, body: unknown = "", headers: Readonly<Record<string, string>> = {}): Reaction =>
  () =>
    Effect.sync(() => new Response(typeof body === "string" ? body : JSON.stringify(body), { status, headers }))

/** What Node's fetch throws: a `TypeError` with the real failure as its cause. */
export const throwing =
  (code: string, message = "it failed"): Reaction =>
  () =>
    Effect.fail(new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) }))

/** Never answers. */
export const silence: Reaction = () => Effect.never

/** A body that is sent chunk by chunk; `broken` ends it with a failure instead of its end. */
export const body = (chunks: ReadonlyArray<string | Uint8Array>, broken?: Error): ReadableStream<Uint8Array> => {
  const left = [...chunks]
  return new ReadableStream({
    pull(controller) {
      const chunk = left.shift()
      if (chunk !== undefined) {
        return controller.enqueue(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk)
      }
      return broken === undefined ? controller.close() : controller.error(broken)
    }
  })
}

export const respondWith =
  (status: number, make: () => ReadableStream<Uint8Array>, headers: Readonly<Record<string, string>> = {}): Reaction =>
  () =>
    Effect.sync(() => new Response(make(), { status, headers }))

/** What undici reports when the peer closes the connection in the middle of a body. */
export const terminated = () =>
  new TypeError("terminated", { cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }) })

export const completion = (text: string) => ({
  model: "m-1",
  choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
})

export const ok = respond(200, completion("ok"))

export const event = (data: unknown): string => `data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`

export const textChunk = (content: string) =>
  event({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })

export const finishChunk = (reason = "stop") => event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] })

export const done = event("[DONE]")

/** A key that no masking rule knows by its form. */
export const key = "c0rrect-H0rse-b4ttery-5taple"

export const request: Model.Request = { messages: [Message.user("hi")], tools: [], toolChoice: "auto" }

export const openAi = (transport?: Transport.Options, more: Partial<Parameters<typeof OpenAi.layer>[0]> = {}) =>
  OpenAi.layer({
    model: "gpt-x",
    apiKey: Redacted.make(key),
    baseUrl: "https://api.test/v1",
    ...(transport === undefined ? {} : { transport }),
    ...more
  })

export const generate = Effect.flatMap(Model.Model, (model) => model.generate(request))

export const streamParts = Effect.flatMap(Model.Model, (model) => Stream.runCollect(model.stream(request)))

/** The text of a stream, or what it ended with, and the text until then. */
export const streamText = Effect.gen(function* () {
  const model = yield* Model.Model
  let text = ""
  const exit = yield* Effect.exit(
    Stream.runForEach(model.stream(request), (part) =>
      Effect.sync(() => {
        if (part.type === "text-delta") text += part.text
      })
    )
  )
  return { text, exit }
})

/** Time passes, and everything that becomes possible by that happens. */
export const pass = (millis: number) => Effect.andThen(TestClock.adjust(millis), calm)

/** Lets promises settle, which a virtual clock knows nothing of. */
export const calm = Effect.repeat(Effect.yieldNow, { times: 40 })

/** A call to a server that falls silent, to its end: time passes only once the server was asked, and then by itself. */
export const outwaiting = <A, E, R>(server: LoopbackServer.LoopbackServer, call: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.exit(call))
    while ((yield* server.requests).length === 0) yield* Effect.yieldNow
    while (fiber.pollUnsafe() === undefined) yield* Effect.andThen(Effect.yieldNow, TestClock.adjust("1 second"))
    return yield* Fiber.join(fiber)
  }).pipe(Effect.provide(TestClock.layer()))

/** Runs an effect to its end, one virtual second after the other if need be. */
export const finished = <A, E, R>(effect: Effect.Effect<A, E, R>, seconds = 400) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(effect)
    yield* calm
    for (let second = 0; second < seconds && fiber.pollUnsafe() === undefined; second++) yield* pass(1000)
    const exit = fiber.pollUnsafe()
    if (exit === undefined) return yield* Effect.die(new Error(`not finished within ${seconds} virtual seconds`))
    return exit
  })

/** The typed failure of an exit that holds nothing else. */
export const failureOf = <A, E>(exit: Exit.Exit<A, E>): E => {
  assert(Exit.isFailure(exit), "expected a failure")
  assert.deepStrictEqual(
    exit.cause.reasons.map(({ _tag }) => _tag),
    ["Fail"],
    Cause.pretty(exit.cause)
  )
  const [reason] = exit.cause.reasons
  assert(reason?._tag === "Fail")
  return reason.error
}

/** The failure, as an instance of that class. */
export const failsWith = <E extends LlmError.LlmError>(
  exit: Exit.Exit<unknown, LlmError.LlmError>,
  type: new (...args: Array<never>) => E
): E => {
  const error = failureOf(exit)
  assert(error instanceof type, `expected ${type.name}, got ${error._tag}: ${error.message}`)
  return error
}

/** What the transport decides during an effect. */
export const listening = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const events: Array<AgentEvent.AgentEvent> = []
  const hear = Agent.onEvent((event) =>
    Effect.sync(() => {
      if (event.type === "verdict") events.push(event)
    })
  )
  const agent = Agent.deterministic("tester", (_input: undefined) => effect).pipe(hear)
  return { events, effect: agent(undefined) }
}
