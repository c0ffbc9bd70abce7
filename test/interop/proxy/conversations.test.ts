/** Conversations as endpoints and procedures: the same answers and failures over both. */
import { assert, describe, it } from "@effect/vitest"
import { Approval, Message } from "@kintsugi/core"
import { Effect, Fiber, Stream } from "effect"
import { linesOf, passing, played, talking } from "../../durable/entity/_support/talking.ts"
import { ways } from "./_support/conversing.ts"

const facts = (error: unknown) => {
  const { _tag, id, reason, retryAfter, status } = Object(error)
  return Object.fromEntries(
    Object.entries({ _tag, id, reason, retryAfter, status }).filter(([, value]) => value !== undefined)
  )
}

const refused = <A>(self: Effect.Effect<A, unknown>) => Effect.map(Effect.flip(self), facts)

const notFound = (id?: string) => ({
  _tag: "ConversationNotFoundError",
  status: 404,
  ...(id === undefined ? {} : { id })
})

const answered = (id: string, words: string) => ({ _tag: "Answered" as const, run: id, output: `answer to ${words}` })

for (const [name, way] of Object.entries(ways)) {
  describe(name, () => {
    it.effect("a message is answered once however often it is sent, and the history has pages [P1853]", () => {
      const talk = talking()
      return Effect.gen(function* () {
        const ann = yield* (yield* way(talk))("ann")
        assert.deepStrictEqual(yield* ann.send("m-1", "hello"), { _tag: "Working", id: "m-1" })
        assert.deepStrictEqual({ ...(yield* ann.answer("m-1")) }, answered("m-1", "hello"))
        assert.deepStrictEqual(yield* ann.send("m-1", "hello"), { _tag: "Ended", id: "m-1" })
        yield* ann.send("m-2", "secret words")
        yield* ann.answer("m-2")
        assert.strictEqual(talk.requests.length, 2)
        const first = yield* ann.history({ limit: 3 })
        assert.deepStrictEqual([first.version, first.next], [4, 3])
        const whole = ["user: hello", "model: answer to hello", "user: secret words", "model: answer to secret words"]
        assert.deepStrictEqual(linesOf(first.messages), whole.slice(0, 3))
        const rest = yield* ann.history({ from: first.next! })
        assert.deepStrictEqual([linesOf(rest.messages), rest.next], [whole.slice(3), undefined])
        const showsMessage = (message: Message.Message) =>
          message.role !== "user" || Message.textOf(message) !== "secret words"
        const sparing = yield* (yield* way(talk, { showsMessage }))("ann")
        const page = yield* sparing.history({ limit: 3 })
        assert.deepStrictEqual([linesOf(page.messages), page.next], [whole.slice(0, 2), 3])
      }).pipe(played(talk))
    })

    it.effect("a conversation of another subject is unknown to each endpoint, in each state [P1853]", () => {
      const talk = talking()
      return Effect.gen(function* () {
        const clientOf = yield* way(talk)
        const ann = yield* clientOf("ann")
        const bob = yield* clientOf("bob")
        const unknown = (id: string): ReadonlyArray<readonly [Effect.Effect<unknown, unknown>, string?]> => [
          [bob.send(id, "hello?"), id],
          [bob.say(id, "hello?"), id],
          [bob.state(id), id],
          [bob.edit(id, "hello?"), id],
          [bob.withdraw(id), id],
          [bob.answer(id), id],
          [Stream.runDrain(bob.events(id)), id],
          [bob.decide(id, "any", Approval.approve), id],
          [bob.queued],
          [bob.interrupt(true)],
          [bob.history()]
        ]
        yield* ann.send("over", "hello")
        yield* ann.answer("over")
        yield* ann.send("works", "pay rent")
        yield* talk.begun("pay rent")
        yield* ann.send("waits", "more")
        const before = yield* ann.queued
        assert.deepStrictEqual(
          before.map(({ id, isAtWork }) => [id, isAtWork]),
          [
            ["works", true],
            ["waits", false]
          ]
        )
        for (const id of ["over", "works", "waits", "none"]) {
          for (const [request, named] of unknown(id)) assert.deepStrictEqual(yield* refused(request), notFound(named))
        }
        assert.deepStrictEqual(yield* ann.queued, before)
        assert.strictEqual((yield* ann.history()).version, 2)
        assert.deepStrictEqual(talk.paid, ["pay rent"])
      }).pipe(played(talk))
    })

    it.effect("a message that waits is edited and withdrawn, and a full queue says when to come again [P1853]", () => {
      const talk = talking({ capacity: 2 })
      return Effect.gen(function* () {
        const ann = yield* (yield* way(talk))("ann")
        yield* ann.send("m-1", "pay rent")
        assert.deepStrictEqual(yield* ann.send("m-2", "two"), { _tag: "Waiting", id: "m-2", before: 1 })
        yield* ann.send("m-3", "three")
        assert.deepStrictEqual(yield* refused(ann.send("m-4", "four")), {
          _tag: "TooBusyError",
          retryAfter: 5,
          status: 429
        })
        assert.deepStrictEqual(yield* refused(ann.decide("m-2", "any", Approval.approve)), {
          _tag: "RunConflictError",
          reason: "at-work",
          status: 409
        })
        yield* ann.edit("m-2", "two, edited")
        yield* ann.withdraw("m-3")
        assert.deepStrictEqual(yield* ann.state("m-3"), { _tag: "Withdrawn", id: "m-3" })
        const conflict = { _tag: "ConversationConflictError", id: "m-3", reason: "withdrawn", status: 409 }
        assert.deepStrictEqual(yield* refused(ann.answer("m-3")), conflict)
        assert.deepStrictEqual(yield* refused(Stream.runDrain(ann.events("m-3"))), conflict)
        assert.deepStrictEqual(yield* refused(ann.edit("m-1", "less")), notFound("m-1"))
        assert.deepStrictEqual(yield* refused(ann.withdraw("m-1")), notFound("m-1"))
        talk.release("pay rent")
        assert.deepStrictEqual({ ...(yield* ann.answer("m-2")) }, answered("m-2", "two, edited"))
      }).pipe(played(talk))
    })

    it.effect("words steer the run at work, and an interrupt stops it", () => {
      const talk = talking()
      return Effect.gen(function* () {
        const ann = yield* (yield* way(talk))("ann")
        yield* ann.send("m-1", "pay rent")
        yield* talk.begun("pay rent")
        assert.deepStrictEqual(yield* ann.say("m-2", "and smile"), { _tag: "Steered", id: "m-2" })
        yield* ann.send("m-3", "pay tax")
        assert.deepStrictEqual(yield* ann.interrupt(), { stopped: true })
        const conflict = { _tag: "ConversationConflictError", id: "m-1", reason: "stopped", status: 409 }
        assert.deepStrictEqual(yield* refused(ann.answer("m-1")), conflict)
        yield* ann.interrupt(true)
        yield* Effect.repeat(ann.queued, { until: ({ length }) => length === 0 })
        assert.deepStrictEqual(yield* ann.interrupt(), { stopped: false })
      }).pipe(played(talk))
    })

    it.effect("an answer that needs an approval waits for its decision, which counts once", () => {
      const talk = talking()
      return Effect.gen(function* () {
        const ann = yield* (yield* way(talk))("ann")
        yield* ann.send("m-1", "sign pay")
        const ending = yield* ann.answer("m-1")
        assert(ending._tag === "Waiting" && ending.waiting[0]?.type === "approval", JSON.stringify(ending))
        const { digest } = ending.waiting[0].request
        const conflict = { _tag: "RunConflictError", status: 409 }
        assert.deepStrictEqual(yield* refused(ann.decide("m-1", "another", Approval.approve)), {
          ...conflict,
          reason: "not-counted"
        })
        talk.release("sign pay")
        const decided = yield* ann.decide("m-1", digest, Approval.approve)
        assert.deepStrictEqual({ ...decided }, answered("m-1", "sign pay"))
        assert.deepStrictEqual(yield* refused(ann.decide("m-1", digest, Approval.approve)), {
          ...conflict,
          reason: "over"
        })
        assert.deepStrictEqual(talk.paid, ["sign pay"])
      }).pipe(played(talk))
    })

    it.effect("said words wait for a decision about the run that reads them, under the id of its message", () => {
      const talk = talking()
      return Effect.gen(function* () {
        const ann = yield* (yield* way(talk))("ann")
        yield* ann.send("m-1", "sign pay")
        yield* ann.answer("m-1")
        assert.deepStrictEqual(yield* ann.say("m-2", "and smile"), { _tag: "Steered", id: "m-2" })
        const reading = yield* Effect.forkChild(ann.answer("m-2"))
        yield* passing(5)
        const ending = yield* Effect.flatten(Effect.fromNullishOr(reading.pollUnsafe()))
        assert(ending._tag === "Waiting" && ending.waiting[0]?.type === "approval", JSON.stringify(ending))
        assert.strictEqual(ending.run, "m-1")
        talk.release("sign pay")
        yield* ann.decide(ending.run, ending.waiting[0].request.digest, Approval.approve)
        assert.strictEqual((yield* ann.answer("m-2"))._tag, "Answered")
      }).pipe(played(talk))
    })

    it.effect("the events of a message that waits begin with its run, and go on at a cursor", () => {
      const talk = talking()
      return Effect.gen(function* () {
        const ann = yield* (yield* way(talk))("ann")
        yield* ann.send("m-1", "pay rent")
        yield* ann.send("m-2", "hello")
        const reading = yield* Effect.forkChild(Stream.runCollect(ann.events("m-2")))
        yield* passing(2)
        assert.isUndefined(reading.pollUnsafe())
        talk.release("pay rent")
        const events = yield* Fiber.join(reading)
        const last = events.at(-1)
        assert.strictEqual(last?.type === "run-completed" ? last.output : last?.type, "answer to hello")
        const rest = yield* Stream.runCollect(ann.events("m-2", events[1]?.cursor))
        assert.deepStrictEqual(rest, events.slice(2))
        const foreign = Stream.runDrain(ann.events("m-1", events[1]?.cursor))
        assert.deepStrictEqual(yield* refused(foreign), notFound("m-1"))
      }).pipe(played(talk))
    })
  })
}
