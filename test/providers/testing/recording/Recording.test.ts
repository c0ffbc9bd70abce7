/** Exchanges over real connections, recorded to files and played again without any. */
import { assert, describe, it } from "@effect/vitest"
import { type AgentEvent, LlmError, Message, Model } from "@kintsugi/core"
import { Transport } from "@kintsugi/providers"
import { AnyWire, Fault, LoopbackServer, Recording } from "@kintsugi/providers/testing"
import { ConfigProvider, Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runners } from "../../../_support/run.ts"
import { agent, folder, key, models, read, recorded, replayed, server } from "./_support/recordings.ts"
import { failsWith, request } from "../../../_support/network.ts"

const generate = Effect.flatMap(Model.Model, (model) => model.generate(request))
const ask = (words: string) =>
  Effect.flatMap(Model.Model, (model) => model.generate({ ...request, messages: [Message.user(words)] }))

/** No server listens there, so every request fails. */
const nowhere = "http://127.0.0.1:9"

describe("recordings", () => {
  for (const [format, modelAt] of Object.entries(models)) {
    for (const [way, run] of Object.entries(runners)) {
      it.live(`of ${format} replay the same replies, in any pieces, and hold no key (${way}) [P202]`, () =>
        Effect.gen(function* () {
          const file = join(yield* folder, "deep", "talk.json")
          const { requests, url } = yield* LoopbackServer.make(Fault.inFront(() => Fault.split({ every: 50 }), server))
          const said = yield* run(agent, "go").pipe(Effect.provide(modelAt(url)), Effect.provide(recorded(file)))
          assert.strictEqual(said, "It is number 1, 折り鶴, and some more words.")
          const sent = yield* requests
          assert.strictEqual(sent.length, 2)
          const { exchanges, text } = read(file)
          assert.notInclude(text, key)
          assert.deepStrictEqual(
            exchanges.map(({ request }) => [request.method, request.json]),
            sent.map(({ body, method }) => [method, body])
          )
          assert.deepStrictEqual(
            exchanges.map(({ response }) => (response?.chunks === undefined ? "whole" : "streamed")),
            [way, way]
          )
          const splits: ReadonlyArray<"byte" | undefined> = [undefined, "byte"]
          for (const split of splits) {
            const layer = replayed(file, split === undefined ? {} : { split })
            const replay = run(agent, "go").pipe(Effect.provide(modelAt(nowhere, "another")), Effect.provide(layer))
            assert.strictEqual(yield* replay, said)
          }
          assert.strictEqual((yield* requests).length, 2)
        })
      )
    }
  }

  it.live("keep the pieces of streams, characters that were cut in two among them", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "pieces.json")
      const script = [Fault.split("inside-characters")]
      const { url } = yield* LoopbackServer.make(Fault.inFront(script, server))
      const parts = Effect.flatMap(Model.Model, (model) => Stream.runCollect(model.stream(request)))
      yield* parts.pipe(Effect.provide(models["openai-chat"](url)), Effect.provide(recorded(file)))
      const [exchange] = read(file).exchanges
      const bytes = (exchange?.response?.chunks ?? []).map((chunk) =>
        typeof chunk === "string"
          ? Buffer.from(chunk)
          : Buffer.from((chunk as { readonly base64: string }).base64, "base64")
      )
      assert.include(Buffer.concat(bytes).toString("utf8"), "grüße")
      const client = Effect.flatMap(Effect.service(Transport.HttpClient), (client) =>
        Effect.flatMap(client.post(`${nowhere}/v1/chat/completions`), ({ stream }) => Stream.runCollect(stream))
      )
      const bare = {
        ...JSON.parse(readFileSync(file, "utf8")),
        exchanges: [{ ...exchange, request: { method: "POST", path: "/v1/chat/completions" } }]
      }
      writeFileSync(file, JSON.stringify(bare))
      const replay = yield* Effect.provide(client, Recording.replay(file))
      assert.deepStrictEqual(
        replay.map((piece) => Buffer.from(piece).toString("hex")),
        bytes.map((piece) => piece.toString("hex"))
      )
    })
  )

  it.live("repeat the failures of servers in their order, with their hints", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "limits.json")
      const failing = [
        AnyWire.failing({ type: "rate-limited", retryAfter: "2 seconds" }),
        AnyWire.failing({ type: "unauthorized", isKeyGiven: true }),
        undefined
      ]
      const { url } = yield* LoopbackServer.make(Fault.inFront(failing, server))
      const thrice = Effect.all(Array.from({ length: 3 }, () => Effect.exit(generate)))
      const first = yield* thrice.pipe(Effect.provide(models["openai-chat"](url)), Effect.provide(recorded(file)))
      assert.deepStrictEqual(
        read(file).exchanges.map(({ response }) => response?.status),
        [429, 401, 200]
      )
      assert.isDefined(read(file).exchanges[0]?.response?.headers["retry-after"])
      const replay = yield* thrice.pipe(Effect.provide(models["openai-chat"](nowhere)), Effect.provide(replayed(file)))
      const [limited, refused, well] = replay
      assert(limited !== undefined && refused !== undefined && well !== undefined)
      assert.isDefined(failsWith(limited, LlmError.RateLimitError).retryAfter)
      failsWith(refused, LlmError.AuthenticationError)
      assert.isTrue(Exit.isSuccess(well))
      assert.deepStrictEqual(JSON.stringify(replay), JSON.stringify(first))
    })
  )

  const lost: ReadonlyArray<readonly [string, Fault.Fault]> = [
    ["before the head", Fault.cut("nothing", "reset")],
    ["in the middle of the body", Fault.cut(300, "reset")]
  ]
  for (const [where, fault] of lost) {
    it.live(`replay a connection that was lost ${where}, with all that came before`, () =>
      Effect.gen(function* () {
        const file = join(yield* folder, "lost.json")
        const { url } = yield* LoopbackServer.make(Fault.inFront(() => Fault.all(fault, Fault.split("event")), server))
        const listen = Effect.gen(function* () {
          const model = yield* Model.Model
          const parts: Array<Model.Part> = []
          const exit = yield* Effect.exit(
            Stream.runForEach(model.stream(request), (part) => Effect.sync(() => void parts.push(part)))
          )
          const { _tag } = failsWith(exit, LlmError.NetworkError)
          return { _tag, parts }
        })
        const first = yield* listen.pipe(Effect.provide(models["openai-chat"](url)), Effect.provide(recorded(file)))
        const { exchanges } = read(file)
        assert.deepStrictEqual([...new Set(exchanges.map(({ end }) => end))], ["failed"])
        assert.isAbove(exchanges[0]?.failure?.length ?? 0, 0)
        const replay = listen.pipe(Effect.provide(models["openai-chat"](nowhere)), Effect.provide(replayed(file)))
        assert.deepStrictEqual(yield* replay, first)
      })
    )
  }

  it.live("replay a refused connection as one", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "refused.json")
      const url = yield* LoopbackServer.refusedUrl
      const first = yield* generate.pipe(
        Effect.provide(models["openai-chat"](url)),
        Effect.provide(recorded(file)),
        Effect.exit
      )
      assert.match(failsWith(first, LlmError.NetworkError).message, /was refused/)
      const replay = yield* generate.pipe(
        Effect.provide(models["openai-chat"](nowhere)),
        Effect.provide(replayed(file)),
        Effect.exit
      )
      assert.match(failsWith(replay, LlmError.NetworkError).message, /was refused/)
    })
  )

  for (const [where, fault] of [
    ["before anything came", Fault.cut("nothing", "silence")],
    ["in the middle of a stream", Fault.all(Fault.split("event"), Fault.cut(500, "silence"))]
  ] as const) {
    it.live(`go silent where the reader was interrupted ${where}`, () =>
      Effect.gen(function* () {
        const file = join(yield* folder, "left.json")
        const arrived = yield* Deferred.make<void>()
        const { url } = yield* LoopbackServer.make(
          Fault.inFront(
            [(good, received) => Effect.tap(fault(good, received), () => Deferred.succeed(arrived, undefined))],
            server
          )
        )
        /** Listens until some text has come, or until the request has, and goes. */
        const listen = (isEnough: Effect.Effect<unknown>) =>
          Effect.gen(function* () {
            const model = yield* Model.Model
            const heard = yield* Deferred.make<void>()
            let text = ""
            const fiber = yield* Effect.forkChild(
              Stream.runForEach(model.stream(request), (part) => {
                if (part.type === "text-delta") text += part.text
                return text === "" ? Effect.void : Deferred.succeed(heard, undefined)
              })
            )
            yield* where === "before anything came" ? isEnough : Deferred.await(heard)
            assert.isUndefined(fiber.pollUnsafe())
            yield* Fiber.interrupt(fiber)
            return text
          })
        const first = yield* listen(Deferred.await(arrived)).pipe(
          Effect.provide(models["openai-chat"](url)),
          Effect.provide(recorded(file))
        )
        assert.deepStrictEqual(
          read(file).exchanges.map(({ end, response }) => [end, response === undefined]),
          [["interrupted", where === "before anything came"]]
        )
        const replay = listen(Effect.repeat(Effect.yieldNow, { times: 100 })).pipe(
          Effect.provide(models["openai-chat"](nowhere)),
          Effect.provide(replayed(file))
        )
        assert.strictEqual(yield* replay, first)
      })
    )
  }

  it.live("find a request with any order of its fields, and equal ones in their order [P1105]", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "order.json")
      let count = 0
      const { url } = yield* LoopbackServer.make(
        AnyWire.handler(() => Effect.succeed({ content: [Message.text(`answer ${++count}`)] }))
      )
      const say = (words: string) => Effect.map(ask(words), Message.textOf)
      const talk = Effect.all([say("a"), say("b"), say("a")])
      const model = models["openai-chat"]
      assert.deepStrictEqual(yield* talk.pipe(Effect.provide(model(url)), Effect.provide(recorded(file))), [
        "answer 1",
        "answer 2",
        "answer 3"
      ])
      const turned: unknown = JSON.parse(readFileSync(file, "utf8"), (_, value: unknown) =>
        typeof value === "object" && value !== null && !Array.isArray(value)
          ? Object.fromEntries(Object.entries(value).toReversed())
          : value
      )
      writeFileSync(file, JSON.stringify(turned))
      const other = Effect.all([say("b"), say("a"), say("a"), Effect.flip(say("a"))])
      const [b, first, second, error] = yield* other.pipe(
        Effect.provide(model(nowhere)),
        Effect.provide(replayed(file))
      )
      assert.deepStrictEqual([b, first, second], ["answer 2", "answer 1", "answer 3"])
      assert.match(
        error.message,
        /POST \/v1\/chat\/completions is not in the recording .*: it was recorded 2 times, and all answers were already used/
      )
    })
  )

  it.live("name the request that they do not have, the nearest that they have, and where it differs [P1105]", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "unmatched.json")
      const { url } = yield* LoopbackServer.make(server)
      const talk = Effect.all([ask("one"), ask("two and more")])
      yield* talk.pipe(Effect.provide(models["openai-chat"](url)), Effect.provide(recorded(file)))
      const events: Array<AgentEvent.AgentEvent["type"]> = []
      const unknown = ask("two").pipe(
        Effect.tapError(() => Effect.sync(() => events.push("model-failed"))),
        Effect.provide(models["openai-chat"](nowhere)),
        Effect.provide(replayed(file)),
        Effect.exit
      )
      const error = failsWith(yield* unknown, LlmError.InvalidRequestError)
      assert.strictEqual(events.length, 1)
      const { cause } = error
      assert(cause instanceof Recording.UnmatchedRequestError)
      const { field, method, nearest, path } = cause
      assert.deepStrictEqual(
        { field, method, nearest, path },
        {
          field: "body.messages[0].content",
          method: "POST",
          nearest: 1,
          path: "/v1/chat/completions"
        }
      )
      assert.include(error.message, `number 1, in which body.messages[0].content is "one", and not "two"`)
      const elsewhere = yield* generate.pipe(
        Effect.provide(models["anthropic-messages"](nowhere)),
        Effect.provide(replayed(file)),
        Effect.exit
      )
      assert.include(
        failsWith(elsewhere, LlmError.InvalidRequestError).message,
        `POST /v1/messages is not in the recording`
      )
      assert.include(
        failsWith(elsewhere, LlmError.InvalidRequestError).message,
        `path is "/v1/chat/completions", and not "/v1/messages"`
      )
    })
  )
})

describe("a broken file", () => {
  const exchange = { request: { method: "POST", path: "/" }, response: { status: 200, headers: {} }, end: "complete" }
  const file = (value: object) =>
    JSON.stringify({ format: "kintsugi-recording", version: 1, exchanges: [exchange, exchange], ...value })
  const cases: ReadonlyArray<readonly [title: string, text: string, field: string, says: RegExp]> = [
    ["is not JSON", "{", "", /is not JSON/],
    ["is something else", "[]", "", /is broken/],
    ["is of another version", file({ version: 2 }), "version", /version: Expected 1, got number 2/],
    ["is of another kind", file({ format: "har" }), "format", /format: /],
    [
      "has a broken field",
      file({ exchanges: [exchange, { ...exchange, response: { status: 99, headers: {} } }] }),
      "exchanges[1].response.status",
      /exchanges\[1\]\.response\.status: .* got number 99/
    ],
    [
      "has an end of no kind",
      file({ exchanges: [{ ...exchange, end: "x" }] }),
      "exchanges[0].end",
      /exchanges\[0\]\.end/
    ]
  ]
  for (const [title, text, field, says] of cases) {
    it.effect(`is a RecordingError with the field: one that ${title}`, () =>
      Effect.gen(function* () {
        const path = join(yield* folder, "broken.json")
        writeFileSync(path, text)
        const error = yield* Effect.flip(Layer.build(Recording.replay(path)))
        assert.instanceOf(error, Recording.RecordingError)
        assert.strictEqual(error.field, field)
        assert.match(error.message, says)
        assert.include(error.message, path)
      })
    )
  }

  it.effect("is a RecordingError where there is none, or none can be", () =>
    Effect.gen(function* () {
      const path = join(yield* folder, "none.json")
      const missing = yield* Effect.flip(Layer.build(Recording.replay(path)))
      assert.match(missing.message, /none\.json': it cannot be read: ENOENT/)
      writeFileSync(path, "")
      const within = yield* Effect.flip(
        Layer.build(Layer.provide(Recording.record(join(path, "within.json")), Transport.layerFetch))
      )
      assert.match(within.message, /it cannot be written: E/)
    })
  )
})

describe("auto", () => {
  const inside = (ci?: string) =>
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(ci === undefined ? {} : { CI: ci }))
  const auto = (file: string) => Layer.provide(Recording.auto(file), Transport.layerFetch)

  it.live("records where there is no file, and replays where there is one", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "auto.json")
      const { requests, url } = yield* LoopbackServer.make(server)
      const talk = generate.pipe(Effect.provide(models["ollama-chat"](url)), Effect.provide(auto(file)), inside())
      const first = yield* talk
      assert.strictEqual((yield* requests).length, 1)
      assert.deepStrictEqual(yield* talk, first)
      assert.strictEqual((yield* requests).length, 1)
    })
  )

  it.live("records nothing in CI", () =>
    Effect.gen(function* () {
      const file = join(yield* folder, "auto.json")
      const { requests, url } = yield* LoopbackServer.make(server)
      const talk = generate.pipe(Effect.provide(models["ollama-chat"](url)), Effect.provide(auto(file)))
      const error = yield* Effect.flip(inside("true")(talk))
      assert.instanceOf(error, Recording.RecordingError)
      assert.match(error.message, /There is no recording .*auto\.json', and none is made where CI is set/)
      assert.strictEqual((yield* requests).length, 0)
      assert.isFalse(existsSync(file))
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(inside("false")(talk))))
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(inside("true")(talk))))
      assert.strictEqual((yield* requests).length, 1)
    })
  )
})
