import { assert, it } from "@effect/vitest"
import { Approval } from "@kintsugi/core"
import { Conversations, Durable } from "@kintsugi/durable"
import * as ConversationEntity from "@kintsugi/durable/ConversationEntity"
import { Effect, Exit, Fiber, Logger, Schema } from "effect"
import * as DurableDeferred from "effect/workflow/DurableDeferred"
import { changed, passing, played, talking, talkTo } from "./_support/talking.ts"

for (const isApproved of [false, true]) {
  const when = isApproved ? "after a person approved" : "while it waits for a person"
  it.effect(`a run that is stopped ${when} ends, and the next message is answered [P1384]`, () => {
    const talk = talking()
    return Effect.gen(function* () {
      const { answer, interrupt, send, unanswered } = talkTo(talk)
      yield* send("1", "sign lease")
      yield* send("2", "two")
      const [request] = talk.asked
      if (request === undefined) return assert.fail("the run asks a person")
      if (isApproved) yield* Durable.decide(talk.durable, request, Approval.approve)
      yield* passing(3)
      assert.deepStrictEqual(talk.paid, isApproved ? ["sign lease"] : [])
      assert.isTrue(yield* interrupt())
      yield* passing(5)
      assert.strictEqual(yield* answer("2"), "answer to two")
      assert.strictEqual(yield* unanswered("1"), "stopped")
    }).pipe(played(talk))
  })
}

it.effect("a message in the queue that is said again stays what it is [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, say, send, withdraw } = talkTo(talk)
    const first = yield* say("1", "pay rent")
    assert.deepStrictEqual(yield* say("1", "pay rent"), first)
    yield* send("2", "pay tax")
    yield* talk.begun("pay tax")
    assert.deepStrictEqual(yield* say("2", "pay tax"), { _tag: "Waiting", before: 1 })
    assert.deepStrictEqual(talk.paid, ["pay rent"])
    yield* withdraw("2")
    talk.release("pay rent")
    assert.strictEqual(yield* answer("1"), "answer to pay rent")
    yield* passing(3)
    assert.deepStrictEqual(talk.paid, ["pay rent"])
  }).pipe(played(talk))
})

const of = { conversation: "c-1", subject: "ann" }

it.effect("a conversation that is deleted and begun again has runs of its own [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, said, send } = talkTo(talk)
    const store = yield* Conversations.Conversations
    yield* send("1", "hello")
    yield* answer("1")
    yield* send("2", "pay rent")
    yield* store.removeSubject("ann")
    const first = yield* send("1", "good day")
    assert.strictEqual(first._tag, "Working")
    assert.strictEqual(yield* answer("1"), "answer to good day")
    yield* send("2", "more")
    assert.strictEqual(yield* answer("2"), "answer to more")
    // the run of the deleted conversation ends, and adds nothing to the new one
    talk.release("pay rent")
    yield* passing(8)
    assert.deepStrictEqual(yield* said, [
      "user: good day",
      "model: answer to good day",
      "user: more",
      "model: answer to more"
    ])
    assert.deepStrictEqual(yield* send("1", "good day"), { ...first, _tag: "Ended" })
    yield* store.removeSubject("ann")
    const other = talkTo(talk, { conversation: "c-1", subject: "bob" })
    yield* other.send("1", "I am bob")
    assert.strictEqual(yield* other.answer("1"), "answer to I am bob")
  }).pipe(played(talk))
})

it.effect("a message whose workflow ended without saying so does not hold up the next one [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, queued, send, state } = talkTo(talk)
    const { documents } = yield* Conversations.Conversations
    yield* send("1", "pay rent")
    const [document] = yield* documents.all({ owner: "c-1", kind: "queued" })
    if (document === undefined) return assert.fail("the message is in the queue")
    talk.release("pay rent")
    yield* answer("1")
    const forgetting = Effect.gen(function* () {
      yield* documents.put({ owner: "c-1", kind: "queued", ...document })
      yield* documents.remove({ owner: "c-1", kind: "message", name: "1" })
      assert.strictEqual((yield* queued).length, 1)
    })
    yield* forgetting
    // sent again, it begins no second run
    assert.strictEqual((yield* send("1", "pay rent"))._tag, "Ended")
    yield* forgetting
    yield* send("2", "two")
    assert.strictEqual(yield* answer("2"), "answer to two")
    assert.deepStrictEqual(yield* queued, [])
    // a client that awaits it finds out too
    yield* forgetting
    assert.strictEqual((yield* state("1"))._tag, "Ended")
    assert.strictEqual(yield* answer("1"), "answer to pay rent")
    assert.strictEqual(talk.requests.length, 3)
  }).pipe(played(talk))
})

it.effect("a message that was withdrawn when its process died gets no run [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, queued, send, state, withdraw } = talkTo(talk)
    const { documents } = yield* Conversations.Conversations
    yield* send("1", "pay rent")
    yield* send("2", "two")
    const document = (yield* documents.all({ owner: "c-1", kind: "queued" })).find(({ name }) => name === "2")
    assert.isDefined(document)
    yield* withdraw("2")
    // as if its process had died before the message left the queue
    yield* documents.put({ owner: "c-1", kind: "queued", ...document })
    yield* send("3", "three")
    talk.release("pay rent")
    assert.strictEqual(yield* answer("3"), "answer to three")
    assert.deepStrictEqual(yield* state("2"), { _tag: "Withdrawn" })
    assert.deepStrictEqual(yield* queued, [])
    assert.notInclude(talk.requests.flat(), "user: two")
  }).pipe(played(talk))
})

it.effect("words to a run whose inbox is full are refused with a time, and are no message of their own [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { queued, say, send } = talkTo(talk)
    const first = yield* send("1", "pay rent")
    if (first._tag !== "Working") return assert.fail("its run is at work")
    yield* talk.begun("pay rent")
    // the rows of messages, which take less time than 64 calls of `Durable.say`
    for (let nth = 0; nth < 64; nth++) {
      const row = DurableDeferred.make(`said/${nth}`, { success: Schema.Json })
      const { workflow } = talk.durable
      const token = DurableDeferred.tokenFromExecutionId(row, { workflow, executionId: first.executionId })
      const message = { role: "user", content: [{ type: "text", text: "again" }] }
      yield* DurableDeferred.succeed(row, { token, value: { id: `m${nth}`, message } })
    }
    const busy = yield* Effect.flip(say("s", "once more"))
    assert.deepInclude(busy, { _tag: "ConversationBusyError", reason: "queue", retryAfter: 5000 })
    assert.lengthOf(yield* queued, 1)
  }).pipe(played(talk))
})

it.effect("a message whose run fails or dies, or whose workflow dies, is over, and the next one begins [P1384]", () => {
  const talk = talking()
  // the messages of a run with a call
  const broken = changed((store) => ({
    ...store,
    append: (added) => (added.messages.length > 2 ? Effect.die(new Error("no memory")) : store.append(added))
  }))
  return Effect.gen(function* () {
    const { answer, said, send } = talkTo(talk)
    yield* send("1", "pay rent")
    yield* send("2", "fail")
    yield* send("3", "die")
    yield* send("4", "four")
    talk.release("pay rent")
    // no client asks meanwhile
    yield* passing(8)
    assert.deepStrictEqual(
      talk.requests.map((lines) => lines.at(-1)),
      ["user: pay rent", "model: ", "user: fail", "user: die", "user: four"]
    )
    assert.match(String(yield* Effect.exit(answer("1"))), /no memory/)
    assert.strictEqual((yield* Effect.flip(answer("2")))._tag, "AuthenticationError")
    assert.match(String(yield* Effect.exit(answer("3"))), /Die\(Error: the model is gone/)
    assert.strictEqual(yield* answer("4"), "answer to four")
    assert.deepStrictEqual(yield* said, ["user: fail", "user: die", "user: four", "model: answer to four"])
  }).pipe(played(talk, broken))
})

it.effect("words that the store does not take are refused before the run reads them [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, edit, interrupt, queued, say, send, unanswered } = talkTo(talk)
    const first = yield* send("1", "pay rent")
    if (first._tag !== "Working") return assert.fail("its run is at work")
    yield* send("2", "two")
    const long = "x".repeat(5000)
    const refused = [
      say("x".repeat(300), "stop"),
      say("\uD800", "stop"),
      say("s", long),
      send("3", long),
      edit("2", long)
    ]
    const options = yield* Effect.forEach(refused, (one) =>
      Effect.map(Effect.flip(one), (error) => error._tag === "ConversationLimitError" && error.option)
    )
    assert.deepStrictEqual(options, ["id", "id", "maxBytes", "maxBytes", "maxBytes"])
    assert.deepStrictEqual(yield* Durable.unread(talk.durable, first.executionId), [])
    assert.strictEqual((yield* queued).length, 2)
    assert.isTrue(yield* interrupt())
    assert.strictEqual(yield* unanswered("1"), "stopped")
    assert.strictEqual(yield* answer("2"), "answer to two")
  }).pipe(played(talk, Conversations.layerMemory({ maxBytes: 2000 })))
})

it.effect("a message that just fits when it waits fits when its run begins [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, send } = talkTo(talk)
    let [fits, exceeds] = [100, 420]
    while (exceeds - fits > 1) {
      const length = Math.floor((fits + exceeds) / 2)
      if (Exit.isSuccess(yield* Effect.exit(send(`${length}`, "y".repeat(length))))) fits = length
      else exceeds = length
    }
    assert.isAbove(fits, 100)
    assert.isBelow(fits, 419)
    assert.strictEqual(yield* answer(`${fits}`), `answer to ${"y".repeat(fits)}`)
  }).pipe(played(talk, Conversations.layerMemory({ maxBytes: 520 })))
})

it.effect("words that the store takes no more fail alone, and a log names them [P1384]", () => {
  const talk = talking()
  const logged: Array<unknown> = []
  const logger = Logger.make<unknown, void>(
    ({ message }) => void logged.push(Array.isArray(message) ? message[0] : message)
  )
  const low = changed((store) => ({
    ...store,
    documents: {
      ...store.documents,
      put: (document) =>
        document.kind === "queued" && document.name === "s"
          ? Effect.fail(
              Conversations.ConversationLimitError.make({ conversation: "c-1", option: "maxBytes", limit: 1 })
            )
          : store.documents.put(document)
    }
  }))
  return Effect.gen(function* () {
    const { answer, interrupt, queued, say, send, state, unanswered } = talkTo(talk)
    yield* send("1", "pay rent")
    yield* send("2", "two")
    yield* talk.begun("pay rent")
    yield* say("s", "never mind")
    yield* say("t", "really")
    assert.isTrue(yield* interrupt())
    assert.strictEqual(yield* answer("t"), "answer to really")
    assert.strictEqual(yield* answer("2"), "answer to two")
    assert.deepStrictEqual(yield* state("s"), { _tag: "Refused" })
    assert.strictEqual(yield* unanswered("s"), "refused")
    assert.deepStrictEqual(yield* queued, [])
    assert.deepStrictEqual(
      logged.filter((line) => String(line).includes("drops")),
      ["Conversation 'c-1' drops the message 's'"]
    )
  }).pipe(played(talk, low), Effect.provide(Logger.layer([logger])))
})

it.effect("the answer to words is that of the run which has read them, or their own [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { interrupt, said, say, send } = talkTo(talk)
    const answering = (id: string) => Effect.forkChild(ConversationEntity.answer(talk.clerks, { ...of, id }))
    yield* send("1", "pay rent")
    yield* talk.begun("pay rent")
    for (let nth = 0; nth < 2; nth++) {
      assert.deepStrictEqual(yield* say("s", "and hurry"), { _tag: "Steered", by: "1" })
    }
    const read = yield* answering("s")
    yield* passing(8)
    assert.isUndefined(read.pollUnsafe())
    talk.release("pay rent")
    yield* passing(8)
    assert.strictEqual(yield* Fiber.join(read), "answer to and hurry")
    assert.deepStrictEqual(
      (yield* said).filter((line) => line.startsWith("user")),
      ["user: pay rent", "user: and hurry"]
    )
    yield* send("2", "pay tax")
    yield* talk.begun("pay tax")
    yield* say("t", "never mind")
    const unread = yield* answering("t")
    yield* passing(8)
    assert.isTrue(yield* interrupt())
    yield* passing(8)
    assert.strictEqual(yield* Fiber.join(unread), "answer to never mind")
  }).pipe(played(talk))
})

it.effect("words that a stopped run has not read come next, in their order, before what waits [P1384]", () => {
  const talk = talking()
  return Effect.gen(function* () {
    const { answer, interrupt, queued, say, send } = talkTo(talk)
    yield* send("1", "pay rent")
    yield* send("2", "two")
    yield* talk.begun("pay rent")
    yield* say("s", "pay tax")
    yield* say("t", "three")
    yield* say("u", "four")
    assert.isTrue(yield* interrupt())
    yield* talk.begun("pay tax")
    assert.deepStrictEqual(
      (yield* queued).map(({ id, isAtWork }) => [id, isAtWork]),
      [
        ["s", true],
        ["t", false],
        ["u", false],
        ["2", false]
      ]
    )
    talk.release("pay tax")
    assert.strictEqual(yield* answer("2"), "answer to two")
  }).pipe(played(talk))
})
