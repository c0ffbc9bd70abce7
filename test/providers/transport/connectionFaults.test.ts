/** The transport over real connections: no test waits for a time, only for events. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, Recovery } from "@kintsugi/core"
import * as LlmError from "@kintsugi/core/LlmError"
import * as Message from "@kintsugi/core/Message"
import * as Model from "@kintsugi/core/Model"
import { OpenAi, Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer } from "@kintsugi/providers/testing"
import { Cause, Deferred, Effect, Exit, Fiber, Layer, Redacted, Ref, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Agent as UndiciAgent } from "undici"
import { failsWith, key, listening, outwaiting, request, streamText } from "../../_support/network.ts"
import { content, generate, modelAt, serving } from "../_support/loopback.ts"

/** Waits of no length. */
const brisk: Transport.Options = { retry: { initialBackoff: "1 millis" } }

/** The same words, without the call. */
const speaker = AnyWire.handler(() => Effect.succeed({ content: content.slice(0, 1) }))

const collect = Effect.gen(function* () {
  const model = yield* Model.Model
  const collector = new Model.Collector()
  yield* Stream.runForEach(model.stream(request), (part) => Effect.sync(() => collector.push(part)))
  return collector.reply()
})

describe("a request that the format cannot express", () => {
  it.live("is a CapabilityMismatchError, whole and streamed, and nothing is sent", () =>
    Effect.gen(function* () {
      // a port without a server: a sent request would fail differently
      const layer = modelAt(yield* LoopbackServer.refusedUrl, { retry: false })
      const file = Message.file("application/pdf", { url: "https://example.org/a.pdf" })
      const asked = { ...request, messages: [Message.user([file])] }
      const whole = Effect.flatMap(Model.Model, (model) => model.generate(asked))
      const streamed = Effect.flatMap(Model.Model, (model) => Stream.runCollect(model.stream(asked)))
      for (const call of [Effect.asVoid(whole), Effect.asVoid(streamed)]) {
        failsWith(yield* Effect.exit(Effect.provide(call, layer)), LlmError.CapabilityMismatchError)
      }
    })
  )
})

describe("faults of the connection", () => {
  it.live("a port without a server is a NetworkError, after three attempts [A801]", () =>
    Effect.gen(function* () {
      const url = yield* LoopbackServer.refusedUrl
      const { effect, events } = listening(Effect.provide(generate, modelAt(url, brisk)))
      const error = failsWith(yield* Effect.exit(effect), LlmError.NetworkError)
      assert.match(error.message, /Connection to 127\.0\.0\.1:\d+ was refused/)
      assert.strictEqual(error.port, Number(new URL(url).port))
      assert.strictEqual(events.length, 3)
    })
  )

  it.live("a name that does not exist is a NetworkError [A801]", () =>
    Effect.gen(function* () {
      const call = Effect.provide(generate, modelAt("http://nowhere.invalid", { retry: false }))
      const error = failsWith(yield* Effect.exit(call), LlmError.NetworkError)
      assert.strictEqual(error.host, "nowhere.invalid")
    })
  )

  const lost: ReadonlyArray<readonly [string, Fault.Fault]> = [
    ["before the head", Fault.cut("nothing", "reset")],
    ["right after the head", Fault.cut(0, "reset")],
    ["in the middle of the body", Fault.cut(60, "reset")]
  ]
  for (const [where, fault] of lost) {
    it.live(`a resend heals a connection lost ${where} [A801 A808]`, () =>
      Effect.gen(function* () {
        const server = yield* serving([fault, fault])
        const reply = yield* Effect.provide(generate, modelAt(server.url, brisk))
        assert.deepStrictEqual(reply.content, content)
        assert.strictEqual((yield* server.requests).length, 3)
      })
    )

    it.live(`a connection lost ${where} every time is a NetworkError [A808]`, () =>
      Effect.gen(function* () {
        const server = yield* serving([fault, fault, fault])
        const exit = yield* Effect.exit(Effect.provide(generate, modelAt(server.url, brisk)))
        failsWith(exit, LlmError.NetworkError)
        assert.strictEqual((yield* server.requests).length, 3)
      })
    )
  }

  it.live("a head above 16 KiB is a ReplyTooLargeError, whole and streamed, sent once; undici takes more [P1401]", () =>
    Effect.gen(function* () {
      const large = Fault.status(200, "{}", { "x-large": "x".repeat(20_000) })
      const server = yield* serving(() => large)
      for (const call of [Effect.asVoid(generate), Effect.asVoid(collect)]) {
        const error = failsWith(
          yield* Effect.exit(Effect.provide(call, modelAt(server.url, brisk))),
          LlmError.ReplyTooLargeError
        )
        assert.strictEqual(error.option, "maxHeaderSize")
        assert.include(error.message, "Headers Overflow Error")
      }
      assert.strictEqual((yield* server.requests).length, 2)
      const dispatcher = yield* Effect.acquireRelease(
        Effect.sync(() => new UndiciAgent({ maxHeaderSize: 32_768 })),
        (agent) => Effect.promise(() => agent.destroy())
      )
      const wide = Layer.provide(
        OpenAi.layer({ model: "m", apiKey: Redacted.make(key), baseUrl: server.url }),
        Transport.layerUndici({ dispatcher })
      )
      failsWith(yield* Effect.exit(Effect.provide(generate, wide)), LlmError.UnknownLlmError)
    })
  )

  it.live("a 503 and then a lost connection are healed within one call [A801]", () =>
    Effect.gen(function* () {
      const server = yield* serving([AnyWire.failing({ type: "overloaded" }), Fault.cut("nothing", "reset")])
      const { effect, events } = listening(Effect.provide(generate, modelAt(server.url, brisk)))
      assert.deepStrictEqual((yield* effect).content, content)
      assert.deepStrictEqual(
        events.map((event) => (event.type === "verdict" ? event.tag : "")),
        ["ModelOverloadedError", "NetworkError"]
      )
    })
  )

  it.live("half a JSON text that ends well is an UnknownLlmError, sent once [T8]", () =>
    Effect.gen(function* () {
      const server = yield* serving([Fault.cut(60, "end")])
      failsWith(yield* Effect.exit(Effect.provide(generate, modelAt(server.url))), LlmError.UnknownLlmError)
      assert.strictEqual((yield* server.requests).length, 1)
    })
  )

  it.live("a silent server is a RequestTimeoutError, sent once [A804]", () =>
    Effect.gen(function* () {
      for (const fault of [Fault.cut("nothing", "silence"), Fault.cut(60, "silence")]) {
        const server = yield* serving([fault])
        const call = Effect.provide(generate, modelAt(server.url, { requestTimeout: "1 minute" }))
        failsWith(yield* outwaiting(server, call), LlmError.RequestTimeoutError)
        assert.strictEqual((yield* server.requests).length, 1)
        assert.strictEqual((yield* server.nextAbort).number, 1)
      }
    })
  )
})

describe("streams", () => {
  it.live("faults before the first part are healed and invisible [A810]", () =>
    Effect.gen(function* () {
      const server = yield* serving([AnyWire.failing({ type: "overloaded" }), Fault.cut(10, "reset")])
      const reply = yield* Effect.provide(collect, modelAt(server.url, brisk))
      assert.deepStrictEqual(reply?.content, content)
      assert.strictEqual((yield* server.requests).length, 3)
    })
  )

  it.live("a connection lost in the middle of a stream is a NetworkError with the text before it [A810 P504]", () =>
    Effect.gen(function* () {
      for (const fault of [Fault.cut(450, "reset"), Fault.cut(450, "end")]) {
        const server = yield* serving([fault])
        const { exit, text } = yield* Effect.provide(streamText, modelAt(server.url, brisk))
        failsWith(exit, LlmError.NetworkError)
        assert.strictEqual(text, "grüße ")
        assert.strictEqual((yield* server.requests).length, 1)
      }
    })
  )

  const lostOnTheWay = [Fault.cut(450, "reset"), Fault.cut(450, "end")]

  it.live(
    "an agent whose connection is lost after text fails with that text, which comes back from JSON [P504 P502]",
    () =>
      Effect.gen(function* () {
        for (const fault of lostOnTheWay) {
          const server = yield* serving([fault])
          const agent = Agent.make("a", {}).pipe(Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }))
          const running = Stream.runDrain(agent.stream("go")).pipe(Effect.provide(modelAt(server.url, brisk)))
          const error = yield* Effect.flip(running)
          assert(error instanceof LlmError.NetworkError)
          assert.strictEqual(error.partial, "grüße ")
          const codec = Schema.toCodecJson(LlmError.LlmError)
          const json = JSON.parse(JSON.stringify(Schema.encodeUnknownSync(codec)(error)))
          assert.deepInclude(Schema.decodeUnknownSync(codec)(json), { _tag: "NetworkError", partial: "grüße " })
          assert.strictEqual((yield* server.requests).length, 1)
        }
      })
  )

  it.live(
    "an agent whose connection is lost after text discards it, when it restarts and when a row answers [P502]",
    () =>
      Effect.gen(function* () {
        const restart = Agent.onLlmError({ orElse: Recovery.retry({ retries: 1 }) }, { onPartial: "restart" })
        const answer = Agent.onLlmError({ orElse: Recovery.respondWith("enough") })
        const plain = Agent.make("a", {})
        for (const fault of lostOnTheWay) {
          for (const [agent, output, sent] of [
            [plain.pipe(restart), "grüße 🙂, five words and more", 2],
            [plain.pipe(answer), "enough", 1]
          ] as const) {
            const server = yield* LoopbackServer.make(Fault.inFront([fault], speaker))
            const events = yield* Stream.runCollect(agent.stream("go")).pipe(Effect.provide(modelAt(server.url, brisk)))
            const discarded = events.flatMap((event) => (event.type === "attempt-discarded" ? [event.text] : []))
            assert.deepStrictEqual(discarded, ["grüße "])
            assert.deepInclude(events.at(-1), { type: "run-completed", output })
            assert.strictEqual((yield* server.requests).length, sent)
          }
        }
      })
  )

  const splits: ReadonlyArray<Parameters<typeof Fault.split>[0]> = [
    "whole",
    "event",
    "byte",
    "inside-characters",
    { every: 3 }
  ]
  for (const split of splits) {
    it.live(`a reply is the same whole and streamed, cut ${JSON.stringify(split)} [A114]`, () =>
      Effect.gen(function* () {
        const server = yield* serving(() => Fault.split(split))
        const both = Effect.all([generate, collect])
        const [whole, streamed] = yield* Effect.provide(both, modelAt(server.url))
        // the server numbers its replies
        assert.deepStrictEqual({ ...streamed, responseId: "" }, { ...whole, responseId: "" })
        assert.deepStrictEqual(whole.content, content)
      })
    )
  }

  it.live(
    "shows the first text before the server has sent the second, and requests whole replies without `stream`",
    () =>
      Effect.gen(function* () {
        const shown = yield* Deferred.make<void>()
        const server = yield* serving([Fault.gated((index) => (index < 2 ? Effect.void : Deferred.await(shown)))])
        const texts = yield* Ref.make("")
        const program = Effect.gen(function* () {
          const model = yield* Model.Model
          yield* Stream.runForEach(model.stream(request), (part) =>
            part.type === "text-delta"
              ? Effect.andThen(
                  Ref.update(texts, (text) => text + part.text),
                  Deferred.succeed(shown, undefined)
                )
              : Effect.void
          )
          yield* model.generate(request)
        })
        yield* Effect.provide(program, modelAt(server.url))
        assert.strictEqual(yield* Ref.get(texts), "grüße 🙂, five words and more")
        const [streamed, whole] = yield* server.requests
        assert.deepInclude(streamed?.body, { stream: true })
        assert.notProperty(whole?.body, "stream")
      })
  )

  it.live("closes the connection when its reader is interrupted, and resends nothing [A111]", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<void>()
      const server = yield* serving([Fault.gated((index) => (index < 2 ? Effect.void : Effect.never))])
      const reading = Effect.flatMap(Model.Model, (model) =>
        Stream.runForEach(model.stream(request), () => Deferred.succeed(started, undefined))
      )
      const fiber = yield* Effect.forkChild(Effect.provide(reading, modelAt(server.url)))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* server.nextAbort).number, 1)
      const exit = yield* Fiber.await(fiber)
      assert(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
      assert.strictEqual((yield* server.requests).length, 1)
    })
  )
})

describe("redirects", () => {
  it.live("send neither key nor conversation to another host", () =>
    Effect.gen(function* () {
      const other = yield* serving([])
      const server = yield* LoopbackServer.make(() =>
        Effect.succeed({ status: 307, headers: { location: `${other.url}/chat/completions` }, body: "" })
      )
      for (const call of [generate, collect]) {
        const exit = yield* Effect.exit(Effect.provide(Effect.asVoid(call), modelAt(server.url)))
        assert.include(failsWith(exit, LlmError.InvalidRequestError).message, ` to ${other.url} (status 307)`)
      }
      assert.deepStrictEqual(yield* other.requests, [])
    })
  )

  it.live("keep the key from another host also with a client that follows them", () =>
    Effect.gen(function* () {
      const other = yield* serving([])
      const server = yield* LoopbackServer.make(() =>
        Effect.succeed({ status: 307, headers: { location: `${other.url}/chat/completions` }, body: "" })
      )
      const layer = OpenAi.layer({ model: "m", apiKey: Redacted.make(key), baseUrl: server.url }).pipe(
        Layer.provide(FetchHttpClient.layer)
      )
      // which has no answer for a stranger
      failsWith(yield* Effect.exit(Effect.provide(generate, layer)), LlmError.AuthenticationError)
      const [followed] = yield* other.requests
      assert.notProperty(followed, "authorization")
    })
  )
})
