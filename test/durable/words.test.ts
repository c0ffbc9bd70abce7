/** The text of a streamed model call: who gets which parts, what is stored if the call breaks off, and what a replay shows of it. */
import { assert, it } from "@effect/vitest"
import { LlmError, Message, type Model, Usage } from "@kintsugi/core"
import { Cause, Deferred, Effect, Exit, Fiber, Stream } from "effect"
import { collected, failing, type ModelFailure, parts, Words, Written } from "../../packages/durable/src/words.ts"
import { calm } from "../_support/dialogue.ts"

const quiet = Effect.forEach([1, 2, 3, 4], () => calm, { discard: true })

const usage = Usage.make({ inputTokens: 10, outputTokens: 5 })
const text = (text: string): Model.Part => ({ type: "text-delta", text })
const thought = (text: string): Model.Part => ({ type: "reasoning-delta", text })
const counted = (outputTokens: number): Model.Part => ({
  type: "usage",
  usage: Usage.make({ inputTokens: 10, outputTokens })
})
const finish: Model.Part = { type: "finish", finish: "stop", usage }
const reply = (...content: Message.Reply["content"]): Message.Reply => ({ content, finish: "stop", usage })
const lost = LlmError.NetworkError.make({ host: "m", what: "lost", model: "m" })

/** What a receiver gets. */
const heard = (words: Words) => {
  const all: Array<Model.Part> = []
  const given = words.hear((part) => void all.push(part))
  return { all, given }
}

it("a receiver gets the parts so far, then each as it comes, and the last usage [P1371]", () => {
  const words = new Words()
  words.begin()
  words.push(text("a"))
  words.push(counted(1))
  words.push(counted(2))
  const first = heard(words)
  assert.deepStrictEqual(first.all, [text("a"), counted(2)])
  assert.strictEqual(first.given(), 1)
  words.push(thought("hm"))
  words.push(counted(3))
  words.push(finish)
  assert.deepStrictEqual(first.all, [text("a"), counted(2), thought("hm"), counted(3)])
  assert.strictEqual(first.given(), 2)
  // the next replay gets all of them, and the one before gets no more
  const second = heard(words)
  words.push(text("b"))
  assert.deepStrictEqual(second.all, [text("a"), thought("hm"), counted(3), text("b")])
  assert.lengthOf(first.all, 4)
})

it("a run has the words of its present step, and is at work while that step is [P1371]", () => {
  const written = new Written()
  assert.isFalse(written.isAtWork("r"))
  const words = written.of("r", "one")
  assert.strictEqual(written.of("r", "one"), words)
  assert.isFalse(written.isAtWork("r"))
  words.begin()
  assert.deepStrictEqual([written.isAtWork("r"), written.isAtWork("s")], [true, false])
  assert.notStrictEqual(written.of("s", "one"), words)
  assert.notStrictEqual(written.of("r", "two"), words)
  assert.isFalse(written.isAtWork("r"))
})

/** A call that streams these parts and then fails, if it has a failure. */
const streaming = (given: ReadonlyArray<Model.Part>, error?: LlmError.LlmError, before = "") => {
  const words = new Words()
  const rest: Stream.Stream<Model.Part, LlmError.LlmError> = error === undefined ? Stream.empty : Stream.fail(error)
  const stream = Stream.concat(Stream.fromIterable(given), rest)
  return { words, reply: collected("m", words, () => ({ before, self: Effect.succeed(stream) })) }
}

it.effect("a streamed reply is collected until it is finished, and nothing after it is waited for [P1371]", () =>
  Effect.gen(function* () {
    const words = new Words()
    const stream = Stream.concat(Stream.fromIterable([text("a"), text("b"), finish]), Stream.never)
    const collecting = yield* Effect.forkChild(
      collected("m", words, () => ({ before: "", self: Effect.succeed(stream) }))
    )
    yield* quiet
    assert.deepStrictEqual(collecting.pollUnsafe(), Exit.succeed(reply(Message.text("ab"))))
    assert.deepStrictEqual([words.isAtWork, heard(words).all], [false, [text("a"), text("b")]])
    // a part after the end is not a part of the reply
    assert.deepStrictEqual(yield* streaming([text("a"), finish, text("late")]).reply, reply(Message.text("a")))
  })
)

it.effect(
  "a call that was cut off has no parts any more, and any other end keeps them until it begins again [P1371 P1133]",
  () =>
    Effect.gen(function* () {
      const usage = { ...counted(1), cost: 0.5, isEstimated: true } as const
      const { type: _, ...stored } = usage
      const ends: ReadonlyArray<readonly [Stream.Stream<Model.Part, LlmError.LlmError>, boolean]> = [
        [Stream.never, false],
        [Stream.fail(lost), true],
        [Stream.succeed(finish), true]
      ]
      for (const [end, hasParts] of ends) {
        const words = new Words()
        const stream = Stream.concat(Stream.fromIterable([text("a"), usage]), end)
        const calling = yield* Effect.forkChild(
          collected("m", words, () => ({ before: "", self: Effect.succeed(stream) }))
        )
        assert.deepStrictEqual([words.isAtWork, words.counts], [false, {}])
        yield* quiet
        assert.deepStrictEqual([words.isAtWork, heard(words).all], [!hasParts, [text("a"), usage]])
        yield* Fiber.interrupt(calling)
        assert.isFalse(words.isAtWork)
        assert.deepStrictEqual(
          [heard(words).all, words.counts],
          hasParts ? [[text("a"), usage], { counted: stored }] : [[], {}]
        )
        words.begin()
        assert.deepStrictEqual([words.isAtWork, heard(words).all, words.counts], [true, [], {}])
      }
    })
)

it.effect("a reply that goes on begins with the text that was cut off, after its thoughts [P1563]", () =>
  Effect.gen(function* () {
    const { reply: whole, words } = streaming([counted(1), thought("hm"), text("lo"), finish], undefined, "Hel")
    assert.deepStrictEqual(yield* whole, reply({ type: "reasoning", text: "hm" }, Message.text("Hello")))
    assert.deepStrictEqual(heard(words).all, [thought("hm"), text("Hel"), text("lo"), counted(1)])
    // also without any text after it
    assert.deepStrictEqual(yield* streaming([finish], undefined, "Hel").reply, reply(Message.text("Hel")))
    const broken = yield* Effect.flip(streaming([], lost, "Hel").reply)
    assert.deepStrictEqual<unknown>(broken, { _tag: "Broken", error: lost, shown: { reasoning: "", text: "Hel" } })
  })
)

it.effect("a call that breaks off fails with what was shown and counted, or as it is if that is nothing [P1371]", () =>
  Effect.gen(function* () {
    const failed = (given: ReadonlyArray<Model.Part>) => Effect.flip(streaming(given, lost).reply)
    assert.strictEqual(yield* failed([]), lost)
    const broken = { _tag: "Broken", error: lost, shown: { reasoning: "", text: "" } } as const
    assert.deepStrictEqual<unknown>(yield* failed([text("a"), text("b")]), {
      ...broken,
      shown: { reasoning: "", text: "ab" }
    })
    assert.deepStrictEqual<unknown>(yield* failed([thought("h"), thought("m")]), {
      ...broken,
      shown: { reasoning: "hm", text: "" }
    })
    assert.deepStrictEqual<unknown>(yield* failed([counted(5)]), { ...broken, counted: { usage } })
    // a call is no text
    const call: Model.Part = { type: "tool-call", id: "1", name: "look", arguments: {} }
    assert.strictEqual(yield* failed([call]), lost)
  })
)

it.effect("a stream without its end is a failure of the network, and the call has ended [P1371]", () =>
  Effect.gen(function* () {
    const { reply: whole, words } = streaming([])
    const error = yield* Effect.flip(whole)
    assert.instanceOf(error, LlmError.NetworkError)
    assert.include(error.message, "The stream of model 'm' ended before its end")
    assert.strictEqual(error.host, "m")
    assert.isFalse(words.isAtWork)
  })
)

it.effect(
  "a call that failed as the time of its run ended fails so in a replay, also if something was shown [P1371]",
  () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Effect.flip(failing(undefined, lost)), lost)
      const shown = { reasoning: "", text: "a" }
      assert.strictEqual(yield* Effect.flip(failing(undefined, { _tag: "Broken", error: lost, shown })), lost)
      for (const error of [
        { _tag: "OutOfTime" },
        { _tag: "Broken", error: { _tag: "OutOfTime" }, shown }
      ] as ReadonlyArray<ModelFailure>) {
        const exit = yield* Effect.exit(failing(undefined, error))
        assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
      }
    })
)

/** What a reader gets of a recorded call, and how often it came anew. */
const shown = (recorded: Effect.Effect<Message.Reply, ModelFailure>, words = new Words()) =>
  Effect.gen(function* () {
    const all: Array<Model.Part> = []
    let anew = 0
    const stream = parts(words, undefined, recorded, () => void anew++)
    const error = yield* Stream.runForEach(stream, (part) => Effect.sync(() => void all.push(part))).pipe(
      Effect.match({ onFailure: (error) => error, onSuccess: () => undefined })
    )
    return { all, anew, error }
  })

const item: Message.ProviderItem = { type: "provider-item", kind: "job", opaque: { provider: "p", data: 1 } }

it.effect(
  "a stored reply is shown anew if it has more than items of its provider, and only its end if it has streamed here [P1371]",
  () =>
    Effect.gen(function* () {
      const error = undefined
      const whole = reply(Message.text("a"), item)
      assert.deepStrictEqual(yield* shown(Effect.succeed(whole)), { all: [text("a"), item, finish], anew: 1, error })
      assert.deepStrictEqual(yield* shown(Effect.succeed(reply(item))), { all: [item, finish], anew: 0, error })
      const words = new Words()
      const end = yield* Deferred.make<Message.Reply, ModelFailure>()
      words.begin()
      words.push(text("a"))
      const reading = yield* Effect.forkChild(shown(Deferred.await(end), words))
      yield* quiet
      words.push(text("b"))
      yield* Deferred.succeed(end, reply(Message.text("ab")))
      assert.deepStrictEqual(yield* Fiber.join(reading), { all: [text("a"), text("b"), finish], anew: 0, error })
    })
)

it.effect("a stored call that broke off shows what was counted and shown, and fails as it did [P1371]", () =>
  Effect.gen(function* () {
    const broken = (reasoning: string, text: string): ModelFailure => ({
      _tag: "Broken",
      error: lost,
      shown: { reasoning, text },
      ...(text === "" ? { counted: { usage } } : {})
    })
    const found = (error: ModelFailure) => shown(Effect.fail(error))
    assert.deepStrictEqual(yield* found(broken("hm", "")), { all: [counted(5), thought("hm")], anew: 1, error: lost })
    assert.deepStrictEqual(yield* found(broken("hm", "a")), { all: [thought("hm"), text("a")], anew: 1, error: lost })
    assert.deepStrictEqual(yield* found(broken("", "a")), { all: [text("a")], anew: 1, error: lost })
    assert.deepStrictEqual(yield* found(lost), { all: [], anew: 1, error: lost })
    // a reader in this process has had it already
    const words = new Words()
    words.begin()
    words.push(text("a"))
    assert.deepStrictEqual(yield* shown(Effect.fail(broken("hm", "a")), words), {
      all: [text("a")],
      anew: 0,
      error: lost
    })
  })
)
