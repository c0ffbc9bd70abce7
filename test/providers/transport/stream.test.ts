import { assert, describe, it } from "@effect/vitest"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Model from "@kintsugi/core/Model"
import type { Transport } from "@kintsugi/providers"
import { Effect, Exit, Fiber, Stream } from "effect"
import {
  body,
  done,
  event,
  failsWith,
  failureOf,
  fakeNetwork,
  finishChunk,
  finished,
  listening,
  openAi,
  pass,
  type Reaction,
  request,
  respond,
  respondWith,
  streamParts,
  streamText,
  terminated,
  textChunk,
  throwing
} from "../../_support/network.ts"

const using = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  script: ReadonlyArray<Reaction> | Reaction,
  transport?: Transport.Options
) => {
  const network = fakeNetwork(script)
  return { network, call: effect.pipe(Effect.provide(openAi(transport)), Effect.provide(network.layer)) }
}

const events = (...chunks: ReadonlyArray<string>): Reaction => respondWith(200, () => body(chunks))

/** Sends these, then breaks. */
const breaking = (...chunks: ReadonlyArray<string>): Reaction => respondWith(200, () => body(chunks, terminated()))

const hello = events(textChunk("hel"), textChunk("lo"), finishChunk(), done)

const role = event({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] })

/** The text that was streamed and the failure that ended it. */
const textAndFailure = <A, E>(exit: Exit.Exit<{ readonly text: string; readonly exit: Exit.Exit<A, E> }>) => {
  assert(Exit.isSuccess(exit))
  return { text: exit.value.text, ended: exit.value.exit }
}

describe("before the first part", () => {
  for (const [what, failing] of [
    ["a 503", respond(503)],
    ["a refused connection", throwing("ECONNREFUSED")],
    ["a connection lost before any event", breaking()],
    ["a connection lost after an event without a part", breaking(role)],
    ["a clean end before any part", events(role)],
    ["an overload as first event", events(event({ error: { type: "overloaded_error", message: "Overloaded" } }))]
  ] as const) {
    it.effect(`${what} is resent, with the same waits, invisibly [A810 P501]`, () =>
      Effect.gen(function* () {
        const { call, network } = using(streamParts, [failing, failing, hello])
        const exit = yield* finished(call)
        assert(Exit.isSuccess(exit))
        assert.deepStrictEqual(
          exit.value.flatMap((part) => (part.type === "text-delta" ? [part.text] : [])),
          ["hel", "lo"]
        )
        assert.deepStrictEqual(network.times(), [0, 250, 750])
      })
    )
  }

  it.effect("gives up after three sends, and reports as whole calls do [A810]", () =>
    Effect.gen(function* () {
      const { call, network } = using(streamParts, respond(503))
      const { effect, events } = listening(call)
      failsWith(yield* finished(effect), LlmError.ModelOverloadedError)
      assert.strictEqual(network.sent.length, 3)
      assert.deepStrictEqual(
        events.map((event) => (event.type === "verdict" ? [event.verdict, event.gaveUp] : event.type)),
        [
          ["retry", false],
          ["retry", false],
          ["retry", true]
        ]
      )
    })
  )

  it.effect("a status other than 2xx is the error of that status, never an empty stream [A811]", () =>
    Effect.gen(function* () {
      const statuses: ReadonlyArray<readonly [number, new (...args: Array<never>) => LlmError.LlmError]> = [
        [401, LlmError.AuthenticationError],
        [400, LlmError.InvalidRequestError],
        [503, LlmError.ModelOverloadedError]
      ]
      for (const [status, type] of statuses) {
        const { call, network } = using(streamParts, [respond(status, { error: { message: "no" } })], { retry: false })
        assert.strictEqual(failsWith(yield* finished(call), type).detail, "no")
        assert.strictEqual(network.sent.length, 1)
      }
    })
  )

  it.effect("the limit of time holds until the first part, over all attempts [A805]", () =>
    Effect.gen(function* () {
      const slow: Reaction = () => Effect.delay(respond(503)(), "400 millis")
      const { call, network } = using(streamParts, slow, { requestTimeout: "1 second" })
      const fiber = yield* Effect.forkChild(call)
      yield* pass(999)
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* pass(1)
      failsWith(yield* Fiber.await(fiber), LlmError.RequestTimeoutError)
      assert.deepStrictEqual(network.times(), [0, 650])
    })
  )
})

describe("after the first part", () => {
  it.effect(
    "a lost connection is a NetworkError, the text before it was delivered, nothing is resent [A810 P504]",
    () =>
      Effect.gen(function* () {
        const { call, network } = using(streamText, [breaking(textChunk("hel"))])
        const { ended, text } = textAndFailure(yield* finished(call))
        assert.strictEqual(text, "hel")
        assert.strictEqual(failsWith(ended, LlmError.NetworkError).host, "api.test")
        assert.strictEqual(network.sent.length, 1)
      })
  )

  it.effect("a clean end without [DONE] and without a finish reason is a NetworkError [P504]", () =>
    Effect.gen(function* () {
      const { call, network } = using(streamText, [events(textChunk("hel"), textChunk("lo"))])
      const { ended, text } = textAndFailure(yield* finished(call))
      assert.strictEqual(text, "hello")
      assert.include(failsWith(ended, LlmError.NetworkError).message, "before the reply was complete")
      assert.strictEqual(network.sent.length, 1)
    })
  )

  it.effect("a finish reason is an end, also without [DONE]; [DONE] is one, also without a finish reason [P504]", () =>
    Effect.gen(function* () {
      for (const script of [events(textChunk("x"), finishChunk()), events(textChunk("x"), done)]) {
        const exit = yield* finished(using(streamParts, [script]).call)
        assert(Exit.isSuccess(exit))
        assert.deepInclude(exit.value.at(-1), { type: "finish", finish: "stop" })
      }
    })
  )

  it.effect(
    "a complete reply whose connection breaks before [DONE] is a reply, with the usage until then [P1405 P504]",
    () =>
      Effect.gen(function* () {
        const counted = event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })
        for (const [rest, inputTokens] of [
          [[finishChunk()], 0],
          [[finishChunk(), counted], 3],
          [[finishChunk(), counted, "data: [DO"], 3]
        ] as const) {
          const { call, network } = using(streamParts, [breaking(textChunk("x"), ...rest)])
          const exit = yield* finished(call)
          assert(Exit.isSuccess(exit))
          const last = exit.value.at(-1)
          assert.deepInclude(last, { type: "finish", finish: "stop" })
          assert.strictEqual(last?.type === "finish" ? last.usage.inputTokens : -1, inputTokens)
          assert.strictEqual(network.sent.length, 1)
        }
        // what half an event would have said is unknown
        const half = yield* finished(
          using(streamText, [breaking(textChunk("x"), finishChunk(), counted.slice(0, 20))]).call
        )
        failsWith(textAndFailure(half).ended, LlmError.NetworkError)
        // before the end of the reply the connection is what it was
        const begun = yield* finished(using(streamText, [breaking(textChunk("x"))]).call)
        failsWith(textAndFailure(begun).ended, LlmError.NetworkError)
      })
  )

  it.effect("a stream cut anywhere either fails, or had its end already [P504]", () =>
    Effect.gen(function* () {
      const whole = [role, textChunk("hé"), textChunk("llo"), finishChunk(), done].join("")
      const bytes = new TextEncoder().encode(whole)
      const ends = new TextEncoder().encode(whole.slice(0, whole.indexOf(done))).length
      for (let length = 0; length < bytes.length; length++) {
        const { call } = using(streamText, [respondWith(200, () => body([bytes.subarray(0, length)]))], {
          retry: false
        })
        const { ended } = textAndFailure(yield* finished(call))
        if (length < ends) failsWith(ended, LlmError.NetworkError)
        else assert(Exit.isSuccess(ended), `cut after ${length}`)
      }
    })
  )

  it.effect("an error as a later event is its own error, after the text, and is not resent [A810]", () =>
    Effect.gen(function* () {
      const failing = events(textChunk("The "), event({ error: { code: 502, message: "Provider disconnected" } }), done)
      const { call, network } = using(streamText, [failing])
      const { ended, text } = textAndFailure(yield* finished(call))
      assert.strictEqual(text, "The ")
      const error = failsWith(ended, LlmError.ServerError)
      assert.strictEqual(error.detail, "Provider disconnected")
      assert.strictEqual(error.status, 502)
      assert.strictEqual(network.sent.length, 1)
    })
  )

  it.effect("text and an error in one piece of the network come out in that order [A810]", () =>
    Effect.gen(function* () {
      const failing = events(textChunk("The ") + event({ error: { message: "boom" } }) + textChunk("never"))
      const { ended, text } = textAndFailure(yield* finished(using(streamText, [failing]).call))
      assert.strictEqual(text, "The ")
      failsWith(ended, LlmError.UnknownLlmError)
    })
  )

  it.effect("an event that is no JSON is an UnknownLlmError [T8]", () =>
    Effect.gen(function* () {
      for (const bad of ["data: {nope\n\n", "data: 5\n\n"]) {
        const { ended } = textAndFailure(yield* finished(using(streamText, [events(textChunk("x"), bad)]).call))
        failsWith(ended, LlmError.UnknownLlmError)
      }
    })
  )

  /** Sends a chunk every nine seconds, and then breaks or ends. */
  const slowly =
    (chunks: ReadonlyArray<string>, broken?: Error): Reaction =>
    () =>
      Stream.fromIterable(chunks).pipe(
        Stream.mapEffect((chunk) => Effect.delay(Effect.succeed(new TextEncoder().encode(chunk)), "9 seconds")),
        Stream.concat(broken === undefined ? Stream.empty : Stream.fail(broken)),
        Stream.toReadableStreamEffect(),
        Effect.map((body) => new Response(body, { status: 200 }))
      )

  it.effect(
    "a stream that is alive is not ended by the limit of time, before its first part or after it [P1402 A805]",
    () =>
      Effect.gen(function* () {
        const chunks = [role, ": keep-alive\n\n", textChunk("hel"), textChunk("lo"), finishChunk(), done]
        const { call, network } = using(streamText, [slowly(chunks)], { requestTimeout: "10 seconds" })
        const { ended, text } = textAndFailure(yield* finished(call))
        assert.strictEqual(text, "hello")
        assert(Exit.isSuccess(ended))
        assert.strictEqual(network.sent.length, 1)
      })
  )

  it.effect("a stream that breaks before its first part and after the limit of time is not resent [P1402 A805]", () =>
    Effect.gen(function* () {
      const { call, network } = using(streamText, [slowly([role, role], terminated())], {
        requestTimeout: "10 seconds"
      })
      failsWith(textAndFailure(yield* finished(call)).ended, LlmError.NetworkError)
      assert.strictEqual(network.sent.length, 1)
      const early = using(streamText, [slowly([role], terminated()), hello], { requestTimeout: "10 seconds" })
      assert.strictEqual(textAndFailure(yield* finished(early.call)).text, "hello")
      const [first = 0, second = 0] = early.network.times()
      assert.strictEqual(second - first, 9250)
    })
  )

  it.effect("counts the time of the server, not that of a slow reader [A805]", () =>
    Effect.gen(function* () {
      const slowReader = Effect.gen(function* () {
        const model = yield* Model.Model
        return yield* Stream.runCollect(Stream.tap(model.stream(request), () => Effect.sleep("30 seconds")))
      })
      const chunks = [textChunk("a"), textChunk("b"), textChunk("c"), finishChunk(), done]
      const { call } = using(slowReader, [events(...chunks)], { requestTimeout: "10 seconds" })
      assert(Exit.isSuccess(yield* finished(call)))
    })
  )
})

describe("framing", () => {
  const lines = [role, textChunk("grü"), textChunk("ße 🙂"), finishChunk(), done]
  const parts = using(streamParts, [events(...lines)])

  const variants: ReadonlyArray<readonly [string, string]> = [
    ["LF", lines.join("")],
    ["CRLF", lines.join("").replaceAll("\n", "\r\n")],
    ["CR", lines.join("").replaceAll("\n", "\r")],
    ["comments and blank lines", lines.map((line) => `: keep-alive\n\n\n${line}`).join("")],
    ["event names, ids and retry fields", lines.map((line) => `event: message\nid: 7\nretry: 3000\n${line}`).join("")],
    ["no blank after the colon", lines.join("").replaceAll("data: ", "data:")],
    ["a byte order mark", `\uFEFF${lines.slice(1).join("")}`],
    ["JSON that is no event at the end", `${lines.slice(0, 3).join("")}${finishChunk().slice("data: ".length)}`],
    ["a second byte order mark as part of a line", `\uFEFF\uFEFF${textChunk("never")}${lines.join("")}`],
    ["text that begins like JSON between events", `{nope\n${lines.join("[nope\n")}`]
  ]
  for (const [what, text] of variants) {
    it.effect(`reads ${what}, whole and cut at every byte`, () =>
      Effect.gen(function* () {
        const expected = yield* finished(parts.call)
        const bytes = new TextEncoder().encode(text)
        const everyByte = Array.from(bytes, (byte) => Uint8Array.of(byte))
        for (const chunks of [[bytes], everyByte]) {
          const exit = yield* finished(using(streamParts, [respondWith(200, () => body(chunks))]).call)
          assert.deepStrictEqual(exit, expected)
        }
      }).pipe(Effect.tap(() => Effect.sync(() => parts.network.sent.splice(0))))
    )
  }

  it.effect("takes no character of a text for a byte order mark, even if a piece of the network begins with it", () =>
    Effect.gen(function* () {
      const said = [role, textChunk("a\uFEFFb"), finishChunk(), done].join("")
      const cut = said.indexOf("\uFEFF")
      const { call } = using(streamText, [events(said.slice(0, cut), said.slice(cut))])
      assert.strictEqual(textAndFailure(yield* finished(call)).text, "a\uFEFFb")
    })
  )

  it.effect("reads nothing after [DONE], and does not wait for the end of the connection", () =>
    Effect.gen(function* () {
      let cancelled = false
      const lingering = () =>
        new ReadableStream<Uint8Array>({
          start: (controller) => controller.enqueue(new TextEncoder().encode([...lines, textChunk("more")].join(""))),
          cancel: () => {
            cancelled = true
          }
        })
      const exit = yield* finished(using(streamParts, [respondWith(200, lingering)]).call, 0)
      assert(Exit.isSuccess(exit))
      assert.deepStrictEqual(
        exit.value.map(({ type }) => type),
        ["text-delta", "text-delta", "finish"]
      )
      assert.isTrue(cancelled)
    })
  )

  it.effect("gives the connection back when its reader has had enough", () =>
    Effect.gen(function* () {
      let cancelled = false
      const endless = () =>
        new ReadableStream<Uint8Array>({
          pull: (controller) => controller.enqueue(new TextEncoder().encode(textChunk("x"))),
          cancel: () => {
            cancelled = true
          }
        })
      const two = Effect.flatMap(Model.Model, (model) => Stream.runCollect(Stream.take(model.stream(request), 2)))
      const exit = yield* finished(using(two, [respondWith(200, endless)]).call, 0)
      assert(Exit.isSuccess(exit))
      assert.isTrue(cancelled)
    })
  )

  it.effect("gives the connection of a failed attempt back before the next one", () =>
    Effect.gen(function* () {
      let cancelled = false
      const failing = () =>
        new ReadableStream<Uint8Array>({
          start: (controller) =>
            controller.enqueue(new TextEncoder().encode(event({ error: { type: "overloaded_error", message: "" } }))),
          cancel: () => {
            cancelled = true
          }
        })
      const second: Reaction = () => {
        assert.isTrue(cancelled)
        return hello()
      }
      assert(Exit.isSuccess(yield* finished(using(streamParts, [respondWith(200, failing), second]).call)))
    })
  )

  it.effect("starts afresh at every run of the same stream", () =>
    Effect.gen(function* () {
      const { call, network } = using(streamParts, hello)
      const first = yield* finished(call)
      assert.deepStrictEqual(yield* finished(call), first)
      assert.strictEqual(network.sent.length, 2)
    })
  )

  it.effect("fails each run of a stream that cannot be sent, typed", () =>
    Effect.gen(function* () {
      const network = fakeNetwork([])
      const call = streamParts.pipe(Effect.provide(openAi({}, { baseUrl: "" })), Effect.provide(network.layer))
      assert.strictEqual(failureOf(yield* finished(call))._tag, "InvalidRequestError")
    })
  )
})
