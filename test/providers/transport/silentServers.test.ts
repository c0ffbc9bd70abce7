/** Limits of silence on a stream. The server says something only when the test does. */
import { assert, describe, it } from "@effect/vitest"
import { Agent, LlmError, Model, Recovery, Skill, Tool } from "@kintsugi/core"
import type { Transport } from "@kintsugi/providers"
import { Duration, Effect, Exit, Fiber, Schema, Stream } from "effect"
import {
  body,
  calm,
  done,
  event,
  failsWith,
  fakeNetwork,
  finishChunk,
  finished,
  openAi,
  pass,
  request,
  respond,
  respondWith,
  streamText,
  textChunk,
  type Reaction
} from "../../_support/network.ts"
import { writing } from "./_support/writing.ts"

/** A head, and nothing after it. */
const headAlone: Reaction = () => Effect.suspend(writing().reaction)

/** The text of a stream from this server, being read. */
const reading = Effect.fnUntraced(function* (transport: Transport.Options, ...script: ReadonlyArray<Reaction>) {
  const network = fakeNetwork(script)
  const reader = streamText.pipe(Effect.provide(openAi(transport)), Effect.provide(network.layer))
  const fiber = yield* Effect.forkChild(reader)
  yield* calm
  return { fiber, network }
})

/** It is still waited for, and one millisecond later it is not. */
const endsAfter = Effect.fnUntraced(function* (
  fiber: Fiber.Fiber<Effect.Success<typeof streamText>, unknown>,
  ms: number
) {
  yield* pass(ms - 1)
  assert.strictEqual(fiber.pollUnsafe(), undefined)
  yield* pass(1)
  const exit = fiber.pollUnsafe()
  assert(exit !== undefined && Exit.isSuccess(exit), "not over")
  return exit.value
})

const limits = { firstPart: "5 seconds", betweenParts: "2 seconds" } as const

const role = event({ choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] })

const callChunk = (args: string) =>
  event({
    choices: [
      { index: 0, delta: { tool_calls: [{ index: 0, id: "c1", function: { name: "look", arguments: args } }] } }
    ]
  })

describe("before the first part", () => {
  it.effect(
    "the transport waits for a server that is silent after its head, and does not resend [P505 A804 P1402]",
    () =>
      Effect.gen(function* () {
        const { fiber, network } = yield* reading(limits, headAlone)
        const { exit } = yield* endsAfter(fiber, 5000)
        const error = failsWith(exit, LlmError.RequestTimeoutError)
        assert.deepStrictEqual(error.timeout, Duration.seconds(5))
        assert.include(error.message, "The stream from api.test was silent for 5s")
        assert.strictEqual(network.sent.length, 1)
      })
  )

  it.effect(
    "comments and events without a part are signs of life; after the last the connection is closed [P505 A804]",
    () =>
      Effect.gen(function* () {
        const server = writing()
        const late: Reaction = () => Effect.delay(server.reaction(), "2 seconds")
        const { fiber, network } = yield* reading(limits, late)
        yield* pass(2000)
        yield* pass(4999)
        yield* server.say(": keep-alive\n\n", role)
        yield* pass(4999)
        yield* server.say(": keep-alive\n\n")
        const { exit, text } = yield* endsAfter(fiber, 5000)
        failsWith(exit, LlmError.RequestTimeoutError)
        assert.strictEqual(text, "")
        assert.isTrue(server.state.isClosed)
        assert.strictEqual(network.sent.length, 1)
      })
  )

  it.effect("each attempt has its own time [P505]", () =>
    Effect.gen(function* () {
      const slow: Reaction = () => Effect.delay(respond(503)(), "4 seconds")
      const { fiber, network } = yield* reading(limits, slow, headAlone)
      yield* pass(4250)
      failsWith((yield* endsAfter(fiber, 5000)).exit, LlmError.RequestTimeoutError)
      assert.deepStrictEqual(network.times(), [0, 4250])
    })
  )

  it.effect("a row for model calls may retry, invisibly [P505 P501]", () =>
    Effect.gen(function* () {
      const network = fakeNetwork([headAlone, respondWith(200, () => body([textChunk("well"), finishChunk(), done]))])
      const agent = Agent.make("patient", {}).pipe(
        Agent.onLlmError({ RequestTimeoutError: Recovery.retry({ retries: 1 }) })
      )
      const events = Stream.runCollect(agent.stream("go")).pipe(
        Effect.provide(openAi(limits)),
        Effect.provide(network.layer)
      )
      const exit = yield* finished(events, 10)
      assert(Exit.isSuccess(exit))
      assert.deepInclude(exit.value.at(-1), { type: "run-completed", output: "well" })
      assert.isFalse(exit.value.some(({ type }) => type === "attempt-discarded"))
    })
  )
})

describe("between two parts", () => {
  it.effect("a stream that falls silent ends, with its text, and its connection is closed [P505 A804]", () =>
    Effect.gen(function* () {
      const server = writing()
      const { fiber, network } = yield* reading(limits, server.reaction)
      yield* pass(4999)
      yield* server.say(role, textChunk("a"))
      yield* pass(1999)
      yield* server.say(textChunk("b"))
      yield* pass(1000)
      yield* server.say(": keep-alive\n\n")
      const { exit, text } = yield* endsAfter(fiber, 2000)
      assert.strictEqual(text, "ab")
      assert.deepStrictEqual(failsWith(exit, LlmError.RequestTimeoutError).timeout, Duration.seconds(2))
      assert.isTrue(server.state.isClosed)
      assert.strictEqual(network.sent.length, 1)
    })
  )

  it.effect("a call that comes in pieces is no silence [P505]", () =>
    Effect.gen(function* () {
      const server = writing()
      const { fiber } = yield* reading({ betweenParts: "2 seconds", firstPart: "2 seconds" }, server.reaction)
      for (const piece of ['{"a":', "1,", '"b":', "2}"]) {
        yield* pass(1500)
        yield* server.say(callChunk(piece))
      }
      yield* pass(1500)
      yield* server.say(finishChunk("tool_calls"), done)
      const exit = yield* Fiber.await(fiber)
      assert(Exit.isSuccess(exit) && Exit.isSuccess(exit.value.exit))
    })
  )

  for (const only of ["firstPart", "betweenParts"] as const) {
    it.effect(`${only} alone limits nothing else [P505]`, () =>
      Effect.gen(function* () {
        const server = writing()
        const { fiber } = yield* reading(
          { firstPart: Infinity, betweenParts: Infinity, [only]: "2 seconds" },
          server.reaction
        )
        yield* pass(only === "firstPart" ? 1999 : 60_000)
        yield* server.say(textChunk("a"))
        yield* pass(only === "firstPart" ? 60_000 : 1999)
        yield* server.say(textChunk("b"), finishChunk(), done)
        const exit = yield* Fiber.await(fiber)
        assert(Exit.isSuccess(exit) && Exit.isSuccess(exit.value.exit))
        assert.strictEqual(exit.value.text, "ab")
      })
    )
  }

  it.effect("the time of a slow reader does not count, only that in which it waits [P505]", () =>
    Effect.gen(function* () {
      const server = writing()
      const slow = Effect.flatMap(Model.Model, (model) =>
        Stream.runForEach(model.stream(request), () => Effect.sleep("30 seconds"))
      )
      const network = fakeNetwork([server.reaction])
      const fiber = yield* Effect.forkChild(
        slow.pipe(Effect.provide(openAi(limits)), Effect.provide(network.layer), Effect.exit)
      )
      yield* calm
      yield* server.say(textChunk("a"))
      yield* pass(31_999)
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* server.say(textChunk("b"))
      yield* pass(31_999)
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* pass(1)
      failsWith(yield* Fiber.join(fiber), LlmError.RequestTimeoutError)
    })
  )

  it.effect("the time of a tool does not count [P505]", () =>
    Effect.gen(function* () {
      const look = Tool.make("look", {
        description: "Looks.",
        parameters: Schema.Struct({}),
        success: Schema.String,
        run: () => Effect.delay(Effect.succeed("seen"), "1 minute")
      })
      const agent = Agent.make("worker", { skills: [Skill.make("work", { description: "Works.", tools: [look] })] })
      const network = fakeNetwork([
        respondWith(200, () => body([callChunk("{}"), finishChunk("tool_calls"), done])),
        respondWith(200, () => body([textChunk("seen"), finishChunk(), done]))
      ])
      const events = Stream.runCollect(agent.stream("go")).pipe(
        Effect.provide(openAi(limits)),
        Effect.provide(network.layer)
      )
      const exit = yield* finished(events, 100)
      assert(Exit.isSuccess(exit))
      assert.deepInclude(exit.value.at(-1), { type: "run-completed", output: "seen" })
      assert.deepStrictEqual(network.times(), [0, 60_000])
    })
  )
})

describe("keep-alives", () => {
  /** The stream gets this as often, every 1.9 seconds. */
  const alive = (server: ReturnType<typeof writing>, keepAlive: string, times: number) =>
    Effect.forEach(Array.from({ length: times }), () => Effect.andThen(pass(1900), server.say(keepAlive)), {
      discard: true
    })

  for (const keepAlive of [
    ": keep-alive\n\n",
    'event: ping\ndata: {"type": "ping"}\n\n',
    event({ type: "keepalive", sequence_number: 7 }),
    event({ sequence_number: 7, type: "keepalive" }),
    event({ id: 1, type: "ping" }),
    event({ id: "x", object: "chat.completion.chunk", choices: [] }),
    event({ choices: [{ index: 0, delta: { content: "" }, finish_reason: null }] }),
    ": a\n",
    "\n"
  ]) {
    it.effect(`ten times betweenParts of nothing but ${JSON.stringify(keepAlive)} end a stream [P1402]`, () =>
      Effect.gen(function* () {
        const server = writing()
        const { fiber, network } = yield* reading(limits, server.reaction)
        // the first of an unknown kind is news
        yield* server.say(textChunk("a"), keepAlive)
        yield* alive(server, keepAlive, 10)
        const { exit, text } = yield* endsAfter(fiber, 1000)
        assert.strictEqual(text, "a")
        const error = failsWith(exit, LlmError.RequestTimeoutError)
        assert.deepStrictEqual(error.timeout, Duration.seconds(20))
        assert.include(error.message, "The stream from api.test held nothing but keep-alives for 20s")
        assert.isTrue(server.state.isClosed)
        assert.strictEqual(network.sent.length, 1)
      })
    )
  }

  it.effect("hold before the first part too, and begin anew with half a call [P1402]", () =>
    Effect.gen(function* () {
      const server = writing()
      const { fiber } = yield* reading(limits, server.reaction)
      yield* alive(server, ": keep-alive\n\n", 10)
      yield* server.say(callChunk('{"q"'))
      yield* alive(server, ": keep-alive\n\n", 10)
      failsWith((yield* endsAfter(fiber, 1000)).exit, LlmError.RequestTimeoutError)
    })
  )

  it.effect("never end a stream before firstPart does, or without betweenParts [P1402]", () =>
    Effect.gen(function* () {
      const patient = yield* reading({ firstPart: "1 minute", betweenParts: "1 second" }, headAlone)
      assert.deepStrictEqual(
        failsWith((yield* endsAfter(patient.fiber, 60_000)).exit, LlmError.RequestTimeoutError).timeout,
        Duration.seconds(60)
      )
      const server = writing()
      const endless = yield* reading({ ...limits, betweenParts: Infinity }, server.reaction)
      yield* alive(server, ": keep-alive\n\n", 1000)
      yield* server.say(textChunk("a"), finishChunk(), done)
      const exit = yield* Fiber.await(endless.fiber)
      assert(Exit.isSuccess(exit) && Exit.isSuccess(exit.value.exit))
    })
  )

  it.effect("of a reader that takes its time do not count [P1402]", () =>
    Effect.gen(function* () {
      const server = writing()
      const slow = Effect.flatMap(Model.Model, (model) =>
        Stream.runForEach(model.stream(request), () => Effect.sleep("1 hour"))
      )
      const network = fakeNetwork([server.reaction])
      const fiber = yield* Effect.forkChild(
        slow.pipe(Effect.provide(openAi(limits)), Effect.provide(network.layer), Effect.exit)
      )
      yield* calm
      yield* server.say(textChunk("a"))
      yield* alive(server, ": keep-alive\n\n", 20)
      yield* server.say(textChunk("b"), finishChunk(), done)
      yield* pass(3 * 3_600_000)
      assert(Exit.isSuccess(yield* Fiber.join(fiber)))
    })
  )
})

it.effect("by default 120 seconds before the first part and 60 between two [P1402]", () =>
  Effect.gen(function* () {
    const before = yield* reading({}, headAlone)
    failsWith((yield* endsAfter(before.fiber, 120_000)).exit, LlmError.RequestTimeoutError)
    const server = writing()
    const between = yield* reading({}, server.reaction)
    yield* server.say(textChunk("a"))
    failsWith((yield* endsAfter(between.fiber, 60_000)).exit, LlmError.RequestTimeoutError)
  })
)

it("refuses senseless limits at construction [P505]", () => {
  for (const limit of [0, -1, Number.NaN]) {
    assert.throws(() => openAi({ firstPart: limit }), RangeError, "firstPart must be above 0")
    assert.throws(() => openAi({ betweenParts: limit }), RangeError, "betweenParts must be above 0")
  }
})
