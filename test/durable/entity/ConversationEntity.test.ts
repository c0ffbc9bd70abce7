import { assert, it } from "@effect/vitest"
import { Agent } from "@kintsugi/core"
import { Conversations, Durable } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Effect, Schema } from "effect"
import { Sharding } from "effect/cluster"
import { talkTo, during, passing, played, talking } from "./_support/talking.ts"

const answered = (words: string) => [`user: ${words}`, `model: answer to ${words}`]

it.effect(
  "one run after the other answers, also after a minute of sleep; a message that comes twice has one [P1384]",
  () => {
    const talk = talking()
    return Effect.gen(function* () {
      const { answer, queued, said, send } = talkTo(talk)
      const { activeEntityCount } = yield* Sharding.Sharding
      const first = yield* send("1", "pay rent")
      assert.strictEqual(first._tag, "Working")
      yield* talk.begun("pay rent")
      assert.deepStrictEqual(yield* send("1", "pay rent"), first)
      talk.release("pay rent")
      assert.strictEqual(yield* answer("1"), "answer to pay rent")
      assert.deepStrictEqual(yield* send("1", "pay rent"), { ...first, _tag: "Ended" })
      assert.isAbove(yield* activeEntityCount, 0)
      yield* passing(150)
      assert.strictEqual(yield* activeEntityCount, 0)
      assert.deepStrictEqual(yield* queued, [])
      yield* send("2", "more")
      assert.strictEqual(yield* answer("2"), "answer to more")
      const paying = ["user: pay rent", "model: "]
      const paid = [...paying, "model: answer to pay rent"]
      assert.deepStrictEqual(yield* said, [...paid, ...answered("more")])
      assert.deepStrictEqual(talk.requests, [["user: pay rent"], paying, [...paid, "user: more"]])
      assert.deepStrictEqual([[...talk.prompts], talk.paid], [["Help."], ["pay rent"]])
    }).pipe(played(talk))
  }
)

it.effect(
  "messages to a conversation at work wait; they are listed, edited and withdrawn until their run begins [P1384]",
  () => {
    const talk = talking()
    return Effect.gen(function* () {
      const { answer, edit, queued, said, send, state, unanswered, withdraw } = talkTo(talk)
      yield* send("1", "pay rent")
      assert.deepStrictEqual(yield* send("2", "two"), { _tag: "Waiting", before: 1 })
      assert.deepStrictEqual(yield* send("3", "three"), { _tag: "Waiting", before: 2 })
      yield* send("4", "four")
      yield* edit("2", "two, edited")
      yield* withdraw("3")
      assert.deepStrictEqual(yield* queued, [
        { id: "1", message: "pay rent", isAtWork: true },
        { id: "2", message: "two, edited", isAtWork: false },
        { id: "4", message: "four", isAtWork: false }
      ])
      assert.strictEqual((yield* Effect.flip(edit("1", "pay less")))._tag, "UnknownMessageError")
      assert.strictEqual((yield* Effect.flip(withdraw("1")))._tag, "UnknownMessageError")
      assert.strictEqual((yield* Effect.flip(withdraw("3")))._tag, "UnknownMessageError")
      assert.strictEqual((yield* Effect.flip(state("5")))._tag, "UnknownMessageError")
      talk.release("pay rent")
      assert.strictEqual(yield* answer("4"), "answer to four")
      assert.strictEqual(yield* unanswered("3"), "withdrawn")
      // a message that was withdrawn is not sent a second time
      assert.deepStrictEqual(yield* send("3", "three"), { _tag: "Withdrawn" })
      assert.deepStrictEqual((yield* said).slice(-4), [...answered("two, edited"), ...answered("four")])
      assert.deepStrictEqual(yield* queued, [])
    }).pipe(played(talk))
  }
)

it.effect("a stop with dropQueue withdraws what waits and what the run has not read [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, interrupt, queued, say, send, state } = talkTo(talk)
    yield* send("1", "pay rent")
    yield* send("2", "two")
    yield* say("s", "and hurry")
    assert.isTrue(yield* interrupt(true))
    yield* passing(5)
    assert.deepStrictEqual(yield* queued, [])
    assert.deepStrictEqual(yield* state("2"), { _tag: "Withdrawn" })
    assert.deepStrictEqual(yield* state("s"), { _tag: "Withdrawn" })
    yield* send("3", "three")
    assert.strictEqual(yield* answer("3"), "answer to three")
    assert.strictEqual(talk.requests.length, 2)
  }).pipe(played(talk))
})

it.effect("a full queue takes no message, and says when to try again [P1384]", () => {
  const talk = talking({ capacity: 2 })
  return Effect.gen(function* () {
    const { answer, queued, send } = talkTo(talk)
    yield* send("1", "pay rent")
    yield* send("2", "two")
    yield* send("3", "three")
    const busy = yield* Effect.flip(send("4", "four"))
    assert.instanceOf(busy, ConversationEntity.ConversationBusyError)
    assert.deepInclude(busy, { conversation: "c-1", reason: "queue", retryAfter: 5000, isRetryable: true })
    // a message that waits already is no further one
    assert.strictEqual((yield* send("3", "three"))._tag, "Waiting")
    assert.strictEqual((yield* queued).length, 3)
    talk.release("pay rent")
    yield* answer("3")
    yield* send("4", "four")
    assert.strictEqual(yield* answer("4"), "answer to four")
  }).pipe(played(talk))
})

it.effect("a blank word is refused at once, and the conversation goes on [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, say, send } = talkTo(talk)
    yield* send("1", "pay rent")
    const refused = yield* Effect.exit(say("2", " "))
    assert.match(String(refused), /ConversationEntity.say to 'c-1': the message must be more than blank/)
    talk.release("pay rent")
    assert.strictEqual(yield* answer("1"), "answer to pay rent")
  }).pipe(played(talk))
})

it.effect("a conversation of another subject is answered as if it did not exist [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { queued, send } = talkTo(talk)
    yield* send("1", "pay rent")
    yield* send("2", "two")
    const asked = (conversation: string) => {
      const other = talkTo(talk, { conversation, subject: "bob" })
      return [
        other.queued,
        other.edit("2", "mine"),
        other.withdraw("2"),
        other.state("2"),
        other.answer("2"),
        other.interrupt(true)
      ]
    }
    const tell = (effect: ReturnType<typeof asked>[number]) =>
      Effect.map(Effect.flip(effect), (error) => error.message.replaceAll(/c-\d/g, "c"))
    const foreign = yield* Effect.forEach(asked("c-1"), tell)
    assert.deepStrictEqual(foreign, yield* Effect.forEach(asked("c-2"), tell))
    const other = talkTo(talk, { conversation: "c-1", subject: "bob" })
    assert.instanceOf(yield* Effect.flip(other.send("3", "mine")), Conversations.UnknownConversationError)
    assert.instanceOf(yield* Effect.flip(other.say("3", "mine")), Conversations.UnknownConversationError)
    assert.deepStrictEqual(
      (yield* queued).map(({ message }) => message),
      ["pay rent", "two"]
    )
  }).pipe(played(talk))
})

it.effect("as many runs as the option says are at work at a time, and the others wait for them [P1384]", () => {
  const talk = talking({ concurrency: 1 })
  return Effect.gen(function* () {
    const [one, two] = ["c-1", "c-2"].map((conversation) => talkTo(talk, { conversation, subject: "ann" }))
    if (one === undefined || two === undefined) return assert.fail("there are two conversations")
    yield* one.send("1", "pay rent")
    yield* two.send("1", "pay tax")
    yield* passing(5)
    assert.deepStrictEqual(talk.paid, ["pay rent"])
    talk.release("pay rent")
    talk.release("pay tax")
    assert.strictEqual(yield* two.answer("1"), "answer to pay tax")
    assert.deepStrictEqual(talk.paid, ["pay rent", "pay tax"])
    // a run that waits for its turn can be stopped
    yield* one.send("2", "pay gas")
    yield* two.send("2", "pay fine")
    assert.isTrue(yield* two.interrupt())
    assert.strictEqual(yield* two.unanswered("2"), "stopped")
    assert.deepStrictEqual((yield* two.said).at(-1), "user: pay fine")
    assert.deepStrictEqual(talk.paid, ["pay rent", "pay tax", "pay gas"])
  }).pipe(played(talk))
})

it.effect("an entity sleeps when it was not asked for the time of the option [P1384]", () => {
  const talk = talking({ maxIdleTime: "10 seconds" })
  return Effect.gen(function* () {
    const { activeEntityCount } = yield* Sharding.Sharding
    const { answer, send } = talkTo(talk)
    yield* send("1", "hello")
    yield* answer("1")
    assert.isAbove(yield* activeEntityCount, 0)
    yield* passing(25)
    assert.strictEqual(yield* activeEntityCount, 0)
  }).pipe(played(talk))
})

it.effect("refuses options that cannot be, and a workflow without inbox or events", () =>
  Effect.sync(() => {
    const { durable } = talking()
    const made = { input: ConversationEntity.turn(Schema.String), output: Schema.String, name: "n" }
    const agent = Agent.resume(Agent.make("clerk", {}))
    assert.throws(() => ConversationEntity.make(durable, { name: "n", capacity: 0 }), RangeError, "capacity")
    assert.throws(() => ConversationEntity.make(durable, { name: "n", concurrency: 0.5 }), RangeError, "concurrency")
    for (const retryAfter of ["Infinity", -1] as const)
      assert.throws(() => ConversationEntity.make(durable, { name: "n", retryAfter }), RangeError, "retryAfter")
    const deaf = Durable.workflow(agent, made)
    assert.throws(() => ConversationEntity.make(deaf, { name: "n" }), TypeError, "inbox: true")
    const silent = Durable.workflow(agent, { ...made, inbox: true, events: false })
    assert.throws(() => ConversationEntity.make(silent, { name: "n" }), TypeError, "events")
  })
)

it.effect("the other questions find a conversation that has no message yet [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { interrupt, queued, state } = talkTo(talk)
    const store = yield* Conversations.Conversations
    yield* store.append({ conversation: "c-1", subject: "ann", expected: 0, messages: [] })
    assert.deepStrictEqual(yield* queued, [])
    assert.isFalse(yield* interrupt())
    assert.strictEqual((yield* Effect.flip(state("1")))._tag, "UnknownMessageError")
    yield* during(ConversationEntity.send(talk.clerks, { conversation: "c-1", subject: "ann", id: "1", message: "hi" }))
    assert.strictEqual(yield* talkTo(talk).answer("1"), "answer to hi")
  }).pipe(played(talk))
})

it.effect("an answer whose rows were deleted is not awaited for ever [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const store = yield* Conversations.Conversations
    yield* store.append({ conversation: "c-1", subject: "ann", expected: 0, messages: [] })
    const value = { _tag: "Ended", executionId: "gone", workflow: "clerk" }
    yield* store.documents.put({ owner: "c-1", kind: "message", name: "1", value })
    const of = { conversation: "c-1", subject: "ann", id: "1" }
    const error = yield* during(Effect.flip(ConversationEntity.answer(talk.clerks, of)), 70)
    assert.deepInclude(error, { _tag: "UnansweredError", reason: "deleted" })
  }).pipe(played(talk))
})
